/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Prints the table that nccl-tests prints on the real machine.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeNcclTestsProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
