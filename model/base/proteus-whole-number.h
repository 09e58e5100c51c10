/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WHOLE_NUMBER_H
#define PROTEUS_WHOLE_NUMBER_H

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads a whole number strictly.
 * @tparam T an integer type
 * @param text in decimal
 * @return the number; none if the text is anything else, or has more in it, or T cannot hold it
 */
template <typename T>
std::optional<T>
ParseWholeNumber(const std::string& text)
{
    T number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end ? std::optional<T>(number) : std::nullopt;
}

/// @ingroup proteus
/// @param a a number @param b above 0 @return a / b, rounded up
constexpr uint64_t
DivideUp(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

/// @ingroup proteus
/// @param value a number up to 2^31 @return the first power of two that is no less
constexpr uint32_t
RoundUpToPowerOfTwo(uint32_t value)
{
    uint32_t power = 1;
    while (power < value)
    {
        power *= 2;
    }
    return power;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WHOLE_NUMBER_H
