/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-output-follower.h"

#include <atomic>

namespace ns3
{
namespace proteus
{

namespace
{

/// How many live.
std::atomic<int> g_followers{0};

} // namespace

OutputFollower::OutputFollower()
{
    ++g_followers;
}

OutputFollower::~OutputFollower()
{
    --g_followers;
}

bool
OutputFollower::IsThere()
{
    return g_followers > 0;
}

} // namespace proteus
} // namespace ns3
