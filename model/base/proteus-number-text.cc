/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-number-text.h"

#include <cstddef>

namespace ns3
{
namespace proteus
{

std::string
FormatCount(uint64_t count)
{
    std::string text = std::to_string(count);
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3)
    {
        text.insert(static_cast<std::size_t>(i), 1, ',');
    }
    return text;
}

} // namespace proteus
} // namespace ns3
