/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-comma-list.h"

namespace ns3
{
namespace proteus
{

void
AppendName(std::string& list, std::string_view name)
{
    if (!list.empty())
    {
        list += ", ";
    }
    list += name;
}

} // namespace proteus
} // namespace ns3
