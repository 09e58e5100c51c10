/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-warning.h"

#include <iostream>

namespace ns3
{
namespace proteus
{

namespace
{

/// LeaveWarningsToOthers() was called.
bool g_isLeftToOthers = false;

} // namespace

void
Warn(const std::string& text)
{
    if (!g_isLeftToOthers)
    {
        std::cerr << "warning: " << text << std::endl;
    }
}

void
LeaveWarningsToOthers()
{
    g_isLeftToOthers = true;
}

} // namespace proteus
} // namespace ns3
