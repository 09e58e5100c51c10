/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Runs an execution graph, a trace of another program, or a model with a strategy on a cluster.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeRunInputProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
