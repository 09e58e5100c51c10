/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * One training iteration of a GPT-3 model, simulated packet by packet.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeGpt3Program(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
