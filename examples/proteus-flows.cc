/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Plays a list of flows with dependencies on a cluster.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeFlowsProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
