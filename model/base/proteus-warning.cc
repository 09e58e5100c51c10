/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-warning.h"

#include "proteus-output-follower.h"

#include <iostream>

namespace ns3
{
namespace proteus
{

void
Warn(const std::string& text)
{
    if (!OutputFollower::IsThere())
    {
        std::cerr << "warning: " << text << std::endl;
    }
}

} // namespace proteus
} // namespace ns3
