/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ERROR_OF_H
#define PROTEUS_ERROR_OF_H

#include <functional>
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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ERROR_OF_H
