/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include <algorithm>
#include <cmath>
#include <limits>

/**
 * @file
 * @ingroup proteus
 * When ranks of communications begin that have been launched.
 */

namespace ns3
{
namespace proteus
{

void
PacketWire::SetStartRule(TaskId id,
                         const CollectiveProgram& program,
                         const ProgramFacts& facts,
                         KernelStarts::Communication& communication)
{
    const Task& task = m_graph.GetTask(id);
    const bool isBetween = communication.newsPs > 0;
    // Every rank waits for the last one of an all-reduce, and in a server loses little by it in an
    // all-to-all.
    const bool isLate = task.collective == Collective::ALL_REDUCE ||
                        (task.collective == Collective::ALL_TO_ALL && !isBetween);
    communication.rule = m_starts.HasWindow() ? FindStartRule(task, program) : StartRule::APART;
    if (!program.groups.empty() && isBetween)
    {
        // Trees of switches in several servers take longer or shorter, by no rule that was found.
        communication.rule = StartRule::APART;
    }
    if (communication.rule == StartRule::WINDOW && isLate)
    {
        // One all-gather after the other gains from ranks that are late by a hop each.
        communication.windowPs = std::llround(m_windowShare * GetLeastPs(id, program, facts));
    }
    if (communication.rule == StartRule::WINDOW && isBetween && communication.windowPs == 0)
    {
        // Between servers, who comes when decides who meets whom at a link; of an all-reduce, all
        // of which the last rank has to do, too, that is little beside what it takes.
        communication.rule = StartRule::APART;
    }
}

double
PacketWire::GetLeastPs(TaskId id, const CollectiveProgram& program, const ProgramFacts& facts)
{
    constexpr double PS_PER_S = 1e12;
    const Cluster& cluster = m_fabric->GetCluster();
    const std::vector<VertexId> gpus = GetGpus(m_graph.GetTask(id).place);
    double slowest = std::numeric_limits<double>::infinity();
    double outsideS = 0;
    for (uint32_t rank = 0; rank < gpus.size(); ++rank)
    {
        double nvlink = 0;
        double other = 0;
        for (const Port& port : cluster.GetPorts(gpus[rank]))
        {
            const Link& link = cluster.GetLinks()[port.link];
            (link.technology == LinkTechnology::NVLINK ? nvlink : other) += link.bytesPerSecond;
        }
        slowest = std::min(slowest, nvlink > 0 ? nvlink : other);
        const uint64_t bytes = GetNetworkBytes(id, program, facts, rank);
        outsideS = std::max(outsideS, bytes == 0 ? 0 : static_cast<double>(bytes) / other);
    }
    return std::max(static_cast<double>(facts.mostSentBytes) / slowest, outsideS) * PS_PER_S;
}

uint64_t
PacketWire::GetNetworkBytes(TaskId id,
                            const CollectiveProgram& program,
                            const ProgramFacts& facts,
                            uint32_t rank)
{
    const ProtocolTraits& traits = GetTraits(program.protocol);
    uint64_t bytes = 0;
    for (const ThreadBlock& block : program.ranks[rank].blocks)
    {
        if (block.sendPeer == NO_RANK ||
            m_pairs.GetHopKind(
                GetQueuePair(id, program, facts, block.channel, rank, block.sendPeer)) !=
                HopKind::NETWORK)
        {
            continue;
        }
        for (const Step& step : block.steps)
        {
            bytes += Sends(step.kind) ? traits.WireBytes(step.bytes) : 0;
        }
    }
    return bytes;
}

void
PacketWire::Launch(uint32_t id, const KernelStarts::Communication& communication)
{
    const PacketRank& rank = m_machine.GetRank(id);
    const TaskId task = rank.traffic.task;
    const KernelStarts::Rank launched{id,
                                      rank.startPs,
                                      Simulator::Now().GetPicoSeconds(),
                                      IsReceiver(rank.program->ranks[rank.rank])};
    TellLaunch({task, rank.microBatch, communication, launched});
    const KernelStarts::Launch launch =
        m_starts.Add({task, rank.microBatch}, communication, launched);
    if (launch.wait != NO_ID)
    {
        CallOf(rank, launch.untilPs, EXPIRE, launch.wait);
    }
    CallStarts(launch.begins);
}

void
PacketWire::CallStarts(const std::vector<KernelStarts::Begin>& begins)
{
    for (const KernelStarts::Begin& begin : begins)
    {
        m_machine.GetRank(begin.rank).startPs = begin.timePs;
        CallStart(begin.rank);
    }
}

} // namespace proteus
} // namespace ns3
