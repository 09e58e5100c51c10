/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-values.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

ChakraNumber
FromReal(double value)
{
    ChakraNumber number;
    number.real = value;
    number.isNegative = value < 0;
    const double magnitude = std::fabs(value);
    number.isWhole = magnitude < 0x1p64 && magnitude == std::floor(magnitude);
    number.magnitude = number.isWhole ? static_cast<uint64_t>(magnitude) : 0;
    return number;
}

ChakraNumber
FromUnsigned(uint64_t value)
{
    return {false, true, value, static_cast<double>(value)};
}

ChakraNumber
FromSigned(int64_t value)
{
    const uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : value;
    return {value < 0, true, magnitude, static_cast<double>(value)};
}

} // namespace

std::optional<ChakraNumber>
ToChakraNumber(const pb::ChakraAttribute& attribute)
{
    switch (attribute.value_case())
    {
    case pb::ChakraAttribute::kDoubleVal:
        return FromReal(attribute.double_val());
    case pb::ChakraAttribute::kFloatVal:
        return FromReal(attribute.float_val());
    case pb::ChakraAttribute::kInt32Val:
        return FromSigned(attribute.int32_val());
    case pb::ChakraAttribute::kInt64Val:
        return FromSigned(attribute.int64_val());
    case pb::ChakraAttribute::kUint32Val:
        return FromUnsigned(attribute.uint32_val());
    case pb::ChakraAttribute::kUint64Val:
        return FromUnsigned(attribute.uint64_val());
    case pb::ChakraAttribute::kSint32Val:
        return FromSigned(attribute.sint32_val());
    case pb::ChakraAttribute::kSint64Val:
        return FromSigned(attribute.sint64_val());
    case pb::ChakraAttribute::kFixed32Val:
        return FromUnsigned(attribute.fixed32_val());
    case pb::ChakraAttribute::kFixed64Val:
        return FromUnsigned(attribute.fixed64_val());
    case pb::ChakraAttribute::kSfixed32Val:
        return FromSigned(attribute.sfixed32_val());
    case pb::ChakraAttribute::kSfixed64Val:
        return FromSigned(attribute.sfixed64_val());
    case pb::ChakraAttribute::kBoolVal:
        return FromUnsigned(attribute.bool_val());
    case pb::ChakraAttribute::kStringVal: {
        const std::string& text = attribute.string_val();
        if (!text.empty() && text.size() < 20 &&
            text.find_first_not_of("0123456789") == std::string::npos)
        {
            return FromUnsigned(std::stoull(text));
        }
        return std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

std::optional<std::string>
ToChakraText(const pb::ChakraAttribute& attribute)
{
    switch (attribute.value_case())
    {
    case pb::ChakraAttribute::kStringVal:
        return attribute.string_val();
    case pb::ChakraAttribute::kBytesVal:
        return attribute.bytes_val();
    case pb::ChakraAttribute::VALUE_NOT_SET:
        return "";
    default:
        break;
    }
    const auto number = ToChakraNumber(attribute);
    if (!number || !number->isWhole)
    {
        return std::nullopt;
    }
    return (number->isNegative ? "-" : "") + std::to_string(number->magnitude);
}

} // namespace proteus
} // namespace ns3
