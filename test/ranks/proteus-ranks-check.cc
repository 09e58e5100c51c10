/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus-tests
 * Plays one random experiment, and prints all that came out: the same bytes as one process and as
 * several (mpirun). Argument: the seed; an odd one has failures and losses.
 */

#include "../proteus-flows-random.h"

#include "ns3/proteus-ranks.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::flowtest;

namespace
{

/// Leaves flows that begin elsewhere than where those before them end to their times: such a start
/// takes no time, which only one process can do. @param flows to change
void
KeepLocalDependencies(std::vector<FlowSpec>& flows)
{
    for (FlowSpec& flow : flows)
    {
        const auto isElsewhere = [&](uint32_t before) {
            return flows[before].destination != flow.source;
        };
        flow.after.erase(std::remove_if(flow.after.begin(), flow.after.end(), isElsewhere),
                         flow.after.end());
    }
}

/// Prints times of flows, and what links have carried. @param run that has ended
void
Print(const FlowRun& run)
{
    for (const FlowTimes& times : run.player->GetTimes())
    {
        std::cout << times.startPs << ' ' << times.receivedPs << ' ' << times.acknowledgedPs
                  << '\n';
    }
    for (const LinkStatistics& link : run.fabric->GetLinkStatistics())
    {
        std::cout << link.link << ' ' << link.forward << ' ' << link.packets << ' '
                  << link.payloadBytes << ' ' << link.wireBytes << ' ' << link.receivedPackets
                  << ' ' << link.receivedPayloadBytes << ' ' << link.busyPs << ' '
                  << link.maxQueueBytes << ' ' << link.creditStallPs << ' ' << link.lostPackets
                  << ' ' << link.droppedPackets << ' ' << link.markedPackets << ' ' << link.pauses
                  << ' ' << link.pausedPs << '\n';
    }
    const NetworkStatistics work = run.player->GetStatistics();
    std::cout << work.packets << ' ' << work.controlPackets << ' ' << work.packetHops << ' '
              << work.messages << ' ' << work.dropped << ' ' << work.repeated << ' ' << work.pauses
              << ' ' << work.marked << ' ' << work.timeouts << '\n';
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    const RankSession session(argc, argv);
    const uint32_t seed = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 1;
    Experiment experiment = DrawExperiment(seed, seed % 2 == 1);
    KeepLocalDependencies(experiment.scenario.flows);
    const std::size_t hosts = experiment.scenario.cluster->GetGpus().size();
    std::cout << experiment.text << '\n';
    if (hosts < GetNRanks())
    {
        std::cout << "too few hosts\n";
        return 0;
    }
    FlowRun run(experiment.scenario);
    Trouble(experiment, run);
    std::cout << run.Play() << '\n';
    Print(run);
    std::cout.flush();
    return 0;
}
