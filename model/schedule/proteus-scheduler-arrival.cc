/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-scheduler.h"

#include "ns3/proteus-other-names.h"

namespace ns3
{
namespace proteus
{

namespace
{

const OtherNamesRegistry::Registration WORDS("arrival", {{"fifo", "baseline"}});

const SchedulingPolicyRegistration REGISTRATION(
    {"arrival",
     "the order of the streams, one after the other as they become ready",
     nullptr,
     nullptr,
     nullptr});

} // namespace

} // namespace proteus
} // namespace ns3
