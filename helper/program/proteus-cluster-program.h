/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_PROGRAM_H
#define PROTEUS_CLUSTER_PROGRAM_H

#include "proteus-command-line-program.h"

#include <memory>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param workloads the folder workloads/ @return proteus-cluster: checks a cluster, says what its
/// network carries and costs, draws it, and writes it to a file
std::unique_ptr<CommandLineProgram> MakeClusterProgram(const std::string& workloads);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_PROGRAM_H
