/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MISTAKE_TEST_TOOLS_H
#define PROTEUS_MISTAKE_TEST_TOOLS_H

#include "ns3/proteus-program-options.h"
#include "ns3/proteus-warning.h"
#include "ns3/test.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * Tests of what is refused.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus-tests
/// Bad input ends in one line on stderr with the cause, and exit code 1.
class MistakeTestCase : public TestCase
{
  protected:
    using TestCase::TestCase;

    /// @param body that must fail @param cause that the message must have
    void ExpectFailure(const std::function<void()>& body, const std::string& cause)
    {
        // Suites run at the simulator's own resolution, too.
        const WarningListener listener([](const std::string& text) {
            return text.rfind("the simulator's resolution ", 0) != 0;
        });
        std::ostringstream captured;
        std::streambuf* const original = std::cerr.rdbuf(captured.rdbuf());
        const int code = RunProgram("program", body);
        std::cerr.rdbuf(original);
        const std::string message = captured.str();
        NS_TEST_EXPECT_MSG_EQ(code, 1, "exit code for " << cause);
        NS_TEST_EXPECT_MSG_EQ(std::count(message.begin(), message.end(), '\n'),
                              1,
                              "one line: " << message);
        NS_TEST_EXPECT_MSG_EQ(message.rfind("program: error: ", 0), 0, message);
        NS_TEST_EXPECT_MSG_NE(message.find(cause),
                              std::string::npos,
                              "'" << cause << "' is not in: " << message);
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MISTAKE_TEST_TOOLS_H
