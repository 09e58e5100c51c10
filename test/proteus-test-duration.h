/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEST_DURATION_H
#define PROTEUS_TEST_DURATION_H

#include "ns3/proteus-config.h" // generated
#include "ns3/test.h"

namespace ns3
{
namespace proteus
{

/// @ingroup proteus-tests
/// How long a test case takes: TestDuration::EXTENSIVE and so on. ns-3 renamed it in 3.42.
#if PROTEUS_NS3_VERSION >= 342
using TestDuration = TestCase::Duration;
#else
using TestDuration = TestCase::TestDuration;
#endif

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEST_DURATION_H
