/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dimension-names.h"

namespace ns3
{
namespace proteus
{

const std::set<std::string>&
GetOwnDimensionNames()
{
    static const std::set<std::string> names{
        "buckets", "classes", "experts",       "features",     "heads",   "height", "in",
        "k",       "keys",    "kernel-height", "kernel-width", "lookups", "m",      "n",
        "out",     "pairs",   "rows",          "shared",       "tokens",  "width"};
    return names;
}

} // namespace proteus
} // namespace ns3
