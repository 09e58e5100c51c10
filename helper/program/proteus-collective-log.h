/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_LOG_H
#define PROTEUS_COLLECTIVE_LOG_H

#include "proteus-collective-program.h"

#include "ns3/proteus-nccl-tests.h"

/**
 * @file
 * @ingroup proteus
 * What a log of nccl-tests says for the options of proteus-collective.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param options of the program @param log of nccl-tests @return the options, with what the log
/// says where they say nothing
/// @throw std::invalid_argument if both say something else
CollectiveProgramOptions TakeFromLog(CollectiveProgramOptions options, const NcclTestsTable& log);

/// @ingroup proteus
/// Warns of GPUs of a log that the cluster does not have.
/// @param log of nccl-tests @param cluster to simulate @param measured name of the log
void WarnOfGpus(const NcclTestsTable& log, const Cluster& cluster, const std::string& measured);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_LOG_H
