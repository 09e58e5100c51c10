/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TOGETHER_TEST_TOOLS_H
#define PROTEUS_TOGETHER_TEST_TOOLS_H

#include "ns3/proteus-executors.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Collectives of several groups at once.
 */

namespace ns3
{
namespace proteus
{

/// @param cluster with the GPUs @param groups of them @param collective that every group begins at
/// once @param bytes of each @param executor that runs them
/// @return the run
inline RunRecord
RunTogether(const Cluster& cluster,
            const std::vector<std::vector<DeviceId>>& groups,
            Collective collective,
            uint64_t bytes,
            const std::string& executor)
{
    GraphBuilder builder(static_cast<uint32_t>(cluster.GetGpus().size()));
    const PhaseId phase = builder.AddPhase("iteration", 1);
    const StreamId stream = builder.AddStream("collective");
    for (const std::vector<DeviceId>& devices : groups)
    {
        builder.AddCommunication(phase,
                                 builder.AddGroup(devices),
                                 stream,
                                 ToString(collective),
                                 collective,
                                 bytes,
                                 Parallelism::NONE);
    }
    ProgramOptions options;
    options.quiet = true;
    std::ostringstream text;
    return RunExecutor(options, executor, cluster, builder.Build(), text);
}

/// @param record of a run @return when it ends, microseconds
inline double
GetEndUs(const RunRecord& record)
{
    return 1e-6 * static_cast<double>(record.timeline.endPs);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TOGETHER_TEST_TOOLS_H
