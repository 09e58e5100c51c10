/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WHOLE_NUMBER_H
#define PROTEUS_WHOLE_NUMBER_H

#include <charconv>
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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WHOLE_NUMBER_H
