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

#include "ns3/proteus-collective-program.h"

using namespace ns3;
using namespace ns3::proteus;

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    CollectiveProgramOptions options;
    CommandLine command(__FILE__);
    options.AddTo(command);
    command.Parse(argc, argv);
    return RunProgram("proteus-collective", [&options]() { RunCollectiveProgram(options); });
}
