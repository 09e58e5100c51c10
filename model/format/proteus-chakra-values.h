/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_VALUES_H
#define PROTEUS_CHAKRA_VALUES_H

#include "ns3/proteus-chakra.pb.h"

#include <cstdint>
#include <optional>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Internal to ChakraReader: values of attributes. Programs that write traces take any numeric type
 * for any attribute.
 */

namespace ns3
{
namespace proteus
{

/// A number of any type that an attribute may have.
struct ChakraNumber
{
    bool isNegative{false}; //!< whether it is below 0
    bool isWhole{true};     //!< whether it has no fraction and fits 64 bits
    uint64_t magnitude{0};  //!< if whole
    double real{0};         //!< its value
};

/// @param attribute of a node @return the number that it is, also in digits; nothing otherwise
std::optional<ChakraNumber> ToChakraNumber(const pb::ChakraAttribute& attribute);

/// @param attribute of a node @return the text that it is, or that stands for the whole number that
/// it is; nothing otherwise
std::optional<std::string> ToChakraText(const pb::ChakraAttribute& attribute);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_VALUES_H
