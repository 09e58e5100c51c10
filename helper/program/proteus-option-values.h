/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPTION_VALUES_H
#define PROTEUS_OPTION_VALUES_H

#include "ns3/proteus-nearest-name.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What is typed on command lines: values are taken whole or refused, and names that are nearly
 * right are recognised or suggested.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the value of an option has to be.
enum class OptionKind : uint8_t
{
    TEXT,         //!< anything
    FLAG,         //!< nothing, true or false
    WHOLE,        //!< a whole number
    NUMBER,       //!< a number
    RATIO,        //!< a number, "2:1" or "10%"
    SIZE,         //!< bytes; K, M, G, T may follow, powers of 1024
    TIME,         //!< a number with a unit
    SECONDS,      //!< a number of seconds, or a time with its unit
    MICROSECONDS, //!< a number of microseconds, or a time with its unit
    GIGABYTES,    //!< a number of 1e9 bytes, or with another unit: 40GiB, 512MB
    OUTPUT,       //!< a file or folder to write
};

/// @ingroup proteus
/// @param kind of an option @return what stands for its value in help, e.g. "NUMBER"; empty: a flag
std::string GetPlaceholder(OptionKind kind);

/// @ingroup proteus
/// @param text a time as ns3::Time prints it, e.g. "+1e+07ps"
/// @return it as one types it, in the largest unit that leaves it at least 1, e.g. "10us"
std::string PrintTime(const std::string& text);

/**
 * @ingroup proteus
 * @param kind of the option
 * @param option with its dashes, for messages
 * @param text its value
 * @return the value as ns-3's CommandLine reads it
 * @throw std::invalid_argument that says what was expected
 */
std::string NormaliseValue(OptionKind kind, const std::string& option, const std::string& text);

/**
 * @ingroup proteus
 * @param text of a size, e.g. 8, 512K, 8MiB or 1G; letters stand for powers of 1024, as in
 * nccl-tests
 * @param option for the message
 * @return bytes
 * @throw std::invalid_argument if it is no whole number of bytes from 1 to 1e15
 */
uint64_t ParseSize(const std::string& text, const std::string& option);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPTION_VALUES_H
