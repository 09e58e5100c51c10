/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Compiles a model and a strategy to an execution graph, and says what it communicates and how much
 * memory it needs.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeCompileProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
