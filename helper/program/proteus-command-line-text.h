/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMAND_LINE_TEXT_H
#define PROTEUS_COMMAND_LINE_TEXT_H

#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Options of programs that may have spaces in them.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A string for CommandLine::AddValue() that is read whole, by the operator below. The operator of
 * std::string stops at the first space, which cuts JSON and names of files short.
 */
struct CommandLineText : public std::string
{
    using std::string::string;
    using std::string::operator=;

    /// @param text any
    CommandLineText(const std::string& text)
        : std::string(text)
    {
    }
};

/// @ingroup proteus
/// @param input the value of an option @param text takes all of it @return input
inline std::istream&
operator>>(std::istream& input, CommandLineText& text)
{
    return std::getline(input, static_cast<std::string&>(text), '\0');
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMAND_LINE_TEXT_H
