/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_ERROR_H
#define PROTEUS_GRAPH_ERROR_H

#include "../error-of.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

// What the tests of graphs and schedules have in common.

namespace ns3
{
namespace proteus
{

/// Expects an error whose message is one line and has all the parts.
inline void
ExpectError(const std::function<void()>& function, const std::vector<std::string>& parts)
{
    const std::string message = ErrorOf(function);
    EXPECT_NE(message, "") << "no error";
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const auto& part : parts)
    {
        EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' in: " << message;
    }
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_ERROR_H
