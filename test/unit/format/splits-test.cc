/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../collective/collective-clusters.h"

#include "ns3/proteus-program.h"
#include "ns3/proteus-splits.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// A file of splits that is gone again after the test.
class SplitsFile : public testing::Test
{
  protected:
    ~SplitsFile() override
    {
        std::filesystem::remove(m_name);
    }

    /// @param text of the file @return what it holds
    SplitTable Load(const std::string& text) const
    {
        std::ofstream(m_name) << text;
        return LoadSplits(m_name);
    }

    /// @param text of the file @return what is wrong with it
    std::string Error(const std::string& text) const
    {
        try
        {
            Load(text);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    }

    const std::string m_name{testing::TempDir() + "proteus-splits-test.txt"};
};

} // namespace

TEST_F(SplitsFile, AreSharesOfTheLargestLine)
{
    const SplitTable table = Load("1, 1, 6\n\n 0\t1 3\n2;2;2\n");
    EXPECT_EQ(table.ranks, 3u);
    EXPECT_EQ(ScaleSplits(table, 800, 4),
              (std::vector<uint64_t>{100, 100, 600, 0, 100, 300, 200, 200, 200}));
    // Rounded down to whole elements, so that no line is larger than the size.
    EXPECT_EQ(ScaleSplits(table, 101, 4),
              (std::vector<uint64_t>{12, 12, 72, 0, 12, 36, 24, 24, 24}));
    const Cluster cluster = MakeReducingCluster(1, 3);
    CollectiveRequest request;
    request.collective = Collective::ALL_TO_ALL;
    request.vertices = cluster.GetGpus();
    request.bytes = 800;
    request.splits = ScaleSplits(table, request.bytes, 4);
    const auto program = MakeProgram(cluster, Paths(cluster), request);
    EXPECT_EQ(CheckProgram(program, request), "");
    EXPECT_EQ(SentBytes(program.ranks[0]), 700u);
    EXPECT_EQ(SentBytes(program.ranks[1]), 300u);
    EXPECT_EQ(SentBytes(program.ranks[2]), 400u);
}

TEST_F(SplitsFile, SayWhatIsWrong)
{
    EXPECT_NE(Error("1 1\n1\n").find(":2: a table of splits has as many lines"), std::string::npos);
    EXPECT_NE(Error("1 1\n1 1\n1 1\n").find(":3: "), std::string::npos);
    EXPECT_NE(Error("1 1\n").find("as many lines as numbers"), std::string::npos);
    EXPECT_NE(Error("{\n \"traceEvents\": []}\n").find(":1: this is a trace of PyTorch's profiler"),
              std::string::npos);
    EXPECT_NE(Error("1 -1\n1 1\n").find(":1: share"), std::string::npos) << Error("1 -1\n1 1\n");
    EXPECT_NE(Error("0 0\n0 0\n").find("not all of them are zero"), std::string::npos);
    EXPECT_NE(Error("").find("as many lines"), std::string::npos);
    EXPECT_THROW(LoadSplits("/no/such/file"), std::invalid_argument);
}
