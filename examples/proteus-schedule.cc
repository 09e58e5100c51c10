/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * One training job whose communication is scheduled by several policies, and how long it takes.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeScheduleProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
