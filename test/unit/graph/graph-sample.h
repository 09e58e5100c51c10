/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_SAMPLE_H
#define PROTEUS_GRAPH_SAMPLE_H

#include "graph-error.h"

#include "ns3/proteus-graph.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// A graph of four devices in which a test can go wrong.
struct Sample
{
    GraphBuilder builder{4};
    StreamId compute{builder.AddStream("compute")};
    StreamId network{builder.AddStream("network")};
    PhaseId once{builder.AddPhase("once")};
    PhaseId forward{builder.AddPhase("forward", 3)};
    PhaseId backward{builder.AddPhase("backward", 3)};
    PhaseId five{builder.AddPhase("five", 5)};
    GroupId pair{builder.AddGroup({0, 1})};
    GroupId all{builder.AddGroup({3, 2, 1, 0})};

    TaskId AddKernel(const std::string& name,
                     DeviceId device = 0,
                     const std::vector<TaskId>& dependencies = {})
    {
        return builder.AddCompute(once, device, compute, name, 1, dependencies);
    }

    void ExpectBuildError(const std::vector<std::string>& parts)
    {
        ExpectError([this] { builder.Build(); }, parts);
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_SAMPLE_H
