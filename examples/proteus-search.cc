/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Finds strategies for a model on a cluster.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeSearchProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
