/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Says what a cluster is, what its network carries and costs, draws it, and writes it to a file.
 */

#include "ns3/proteus-cluster-program.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeClusterProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
