/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Fits the flow network to the packet network on a cluster.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeCalibrateProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
