/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Simulates the measured tables of collectives and prints how far off the simulation is.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeValidateProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
