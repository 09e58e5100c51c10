/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * One training job on several fabrics: how long an iteration takes, and what each fabric takes.
 */

#include "ns3/proteus-programs.h"

int
main(int argc, char* argv[])
{
    return ns3::proteus::MakeFabricsProgram(PROTEUS_SOURCE_DIR "/workloads")->Main(argc, argv);
}
