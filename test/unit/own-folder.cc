/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace
{

/// Tests of several processes may run at a time, and write files of the same names: TempDir() is a
/// folder of this one, which is gone when all tests have ended.
class OwnFolder : public testing::Environment
{
  public:
    void SetUp() override
    {
        constexpr const char* NAME = "PROTEUS_TESTS_FOLDER";
        if (std::getenv(NAME))
        {
            return; // a death test: this process is a part of another one's
        }
        m_folder = testing::TempDir() + "proteus-tests-" + std::to_string(getpid());
        std::filesystem::create_directories(m_folder);
        setenv("TEST_TMPDIR", m_folder.c_str(), 1);
        setenv(NAME, m_folder.c_str(), 1);
    }

    void TearDown() override
    {
        if (!m_folder.empty())
        {
            std::filesystem::remove_all(m_folder);
        }
    }

  private:
    std::string m_folder; //!< empty: another process has it
};

const testing::Environment* const g_ownFolder =
    testing::AddGlobalTestEnvironment(new OwnFolder); //!< registers itself

} // namespace
