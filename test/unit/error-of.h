/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ERROR_OF_H
#define PROTEUS_ERROR_OF_H

#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

// What tests of errors have in common.

namespace ns3
{
namespace proteus
{

/// The message of the std::invalid_argument that a function throws, or "" if it throws none.
inline std::string
ErrorOf(const std::function<void()>& function)
{
    try
    {
        function();
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/// A text with the first of its parts that reads `what` exchanged for `with`; one must be there.
inline std::string
Exchange(std::string text, const std::string& what, const std::string& with)
{
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ERROR_OF_H
