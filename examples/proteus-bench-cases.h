/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BENCH_CASES_H
#define PROTEUS_BENCH_CASES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-list.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What proteus-bench measures: networks, and the flows on them.
 */

namespace ns3
{
namespace proteus
{

constexpr double RATE = 50e9;        //!< 400 Gb/s
constexpr int64_t DELAY_PS = 500000; //!< of every link

/// Names and values of attributes of the fabric.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// What is measured.
struct Case
{
    std::string name;                                 //!< for the tables
    std::function<Cluster()> makeCluster;             //!< where
    std::function<std::vector<FlowSpec>()> makeFlows; //!< what
    Settings fabric;                                  //!< attributes
    bool stock{false};                                //!< next to stock devices
    bool perPair{false};        //!< one queue pair for all flows between two hosts
    uint64_t allReduceBytes{0}; //!< instead of flows, one all-reduce of all GPUs as NCCL does it
    bool throughFlows{false};   //!< by the flow executor, not by packets
    bool onlySetUp{false};      //!< the all-reduce is ready to begin, and does not
};

/// @return framing of RoCEv2
inline LinkFraming
RoceFraming()
{
    return DefaultFraming(LinkTechnology::ROCE);
}

/// @param hosts in a fat tree @return the cluster
inline Cluster
MakeFatTree(uint32_t hosts)
{
    FabricOptions options;
    options.kind = "fat-tree";
    return MakeHostCluster(hosts, options, LinkTechnology::ROCE, RATE, DELAY_PS, RoceFraming());
}

/// @param hosts on one switch @return the cluster
inline Cluster
MakeSwitch(uint32_t hosts)
{
    return MakeHostCluster(hosts,
                           FabricOptions(),
                           LinkTechnology::ROCE,
                           RATE,
                           DELAY_PS,
                           RoceFraming());
}

/// @param source rank @param destination rank @param bytes payload @return a flow
inline FlowSpec
MakeFlow(uint32_t source, uint32_t destination, uint64_t bytes)
{
    FlowSpec flow;
    flow.id = std::to_string(source) + "-" + std::to_string(destination);
    flow.source = source;
    flow.destination = destination;
    flow.bytes = bytes;
    return flow;
}

/// @param hosts each sends to the one half-way round @param bytes each @return the flows
inline std::vector<FlowSpec>
MakePermutation(uint32_t hosts, uint64_t bytes)
{
    std::vector<FlowSpec> flows;
    for (uint32_t i = 0; i < hosts; ++i)
    {
        flows.push_back(MakeFlow(i, (i + hosts / 2) % hosts, bytes));
    }
    return flows;
}

/// @param hosts all but rank 0 send to rank 0 @param bytes each @return the flows
inline std::vector<FlowSpec>
MakeIncast(uint32_t hosts, uint64_t bytes)
{
    std::vector<FlowSpec> flows;
    for (uint32_t i = 1; i < hosts; ++i)
    {
        flows.push_back(MakeFlow(i, 0, bytes));
    }
    return flows;
}

/// @param hosts in a ring @param bytes of a step @param steps that are played @return the flows
inline std::vector<FlowSpec>
MakeRing(uint32_t hosts, uint64_t bytes, uint32_t steps)
{
    std::vector<FlowSpec> flows;
    for (uint32_t step = 0; step < steps; ++step)
    {
        for (uint32_t i = 0; i < hosts; ++i)
        {
            flows.push_back(MakeFlow(i, (i + 1) % hosts, bytes));
            if (step > 0)
            {
                flows.back().after.push_back((step - 1) * hosts + (i + hosts - 1) % hosts);
            }
        }
    }
    return flows;
}

/// @param ranks each sends to each @param bytes of each flow @return the flows
inline std::vector<FlowSpec>
MakeAllToAll(uint32_t ranks, uint64_t bytes)
{
    std::vector<FlowSpec> flows;
    for (uint32_t i = 0; i < ranks; ++i)
    {
        for (uint32_t j = 1; j < ranks; ++j)
        {
            flows.push_back(MakeFlow(i, (i + j) % ranks, bytes));
        }
    }
    return flows;
}

/// @param name of the case @param gpus of DGX A100, rail-optimised @param bytes of the all-reduce
/// @return the case
inline Case
MakeAllReduceCase(const std::string& name, uint32_t gpus, uint64_t bytes)
{
    Case result;
    result.name = name;
    result.makeCluster = [gpus] {
        FabricOptions options;
        options.kind = "rail-optimised";
        return MakeCluster("dgx-a100", gpus / 8, options);
    };
    result.allReduceBytes = bytes;
    result.throughFlows = name == "set-up-flow";
    result.onlySetUp = name == "set-up-packets";
    return result;
}

/// @param quick fewer packets @param large also those that take minutes @return what is measured
inline std::vector<Case>
MakeCases(bool quick, bool large)
{
    const uint64_t unit = RoceFraming().unitBytes;
    const uint64_t scale = quick ? 1 : 10;
    const uint64_t mebibyte = 1 << 20;
    std::vector<Case> cases{{"switch-permutation",
                             [] { return MakeSwitch(8); },
                             [=] { return MakePermutation(8, 1000 * scale * unit); },
                             {},
                             true},
                            {"fat-tree-permutation",
                             [] { return MakeFatTree(128); },
                             [=] { return MakePermutation(128, 100 * scale * unit); },
                             {},
                             true},
                            {"fat-tree-permutation",
                             [] { return MakeFatTree(1024); },
                             [=] { return MakePermutation(1024, 30 * scale * unit); },
                             {},
                             true},
                            {"incast",
                             [] { return MakeSwitch(16); },
                             [=] { return MakeIncast(16, 400 * scale * unit); },
                             {},
                             true},
                            {"ring-all-reduce",
                             [] { return MakeFatTree(128); },
                             [=] { return MakeRing(128, 16 * unit, 2 * 127); },
                             {},
                             true,
                             true},
                            MakeAllReduceCase("nccl-all-reduce", 128, (quick ? 1 : 16) * mebibyte),
                            MakeAllReduceCase("set-up-flow", 1024, mebibyte)};
    if (large)
    {
        cases.push_back({"fat-tree-permutation",
                         [] { return MakeFatTree(8192); },
                         [=] { return MakePermutation(8192, 5 * scale * unit); },
                         {},
                         true});
        cases.push_back(MakeAllReduceCase("nccl-all-reduce", 1024, 16 * mebibyte));
        for (const uint32_t gpus : {1024, 2048, 4096, 8192})
        {
            cases.push_back(MakeAllReduceCase("set-up-packets", gpus, mebibyte));
        }
        for (const uint32_t gpus : {2048, 4096, 8192})
        {
            cases.push_back(MakeAllReduceCase("set-up-flow", gpus, mebibyte));
        }
    }
    return cases;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BENCH_CASES_H
