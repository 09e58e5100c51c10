/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Runs a list of workloads by several executors, and says how far they are from the packet level.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeEvaluateProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
