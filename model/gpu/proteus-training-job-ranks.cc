/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stall-watch.h"
#include "proteus-training-job.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-ranks.h"
#include "ns3/simulator.h"

#include <stdexcept>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Training jobs that several processes (MPI ranks) run: each has the whole graph and executes the
 * devices of its own servers. Devices know of each other by communication only.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// A MemorySample, and whose it is.
struct SampleOfDevice
{
    DeviceId device;     //!< whose
    MemorySample sample; //!< what
};

} // namespace

void
TrainingJob::ShareAcrossRanks()
{
    m_network->SetJoinReport([this](const JoinsOfRank& joins) {
        m_sharing->JoinElsewhere(joins.instance, joins.devices, joins.timePs);
    });
    GpuSharing::Ranks ranks;
    ranks.isLocal = [this](DeviceId device) {
        return m_fabric->IsLocal(m_fabric->GetCluster().GetGpus()[device]);
    };
    ranks.tell = [this](TaskInstance instance, uint32_t devices) {
        m_network->TellJoins({instance, devices, Simulator::Now().GetPicoSeconds()});
    };
    m_sharing->SetRanks(std::move(ranks));
}

void
TrainingJob::RunRanks()
{
    if (RankSession::Agree(true) != RankSession::ALL_WELL)
    {
        throw RanksGone();
    }
    try
    {
        // A circle of ports may go through several ranks: none is looked for.
        StallWatch::Run(m_fabric, Time(0));
        m_network->Settle(true);
        std::vector<int64_t> isHeld{m_network->ExecuteHeld()};
        MaxOverRanks(isHeld);
        if (isHeld[0] != 0)
        {
            // As Run(): what the others do meanwhile says who waits for what.
            StallWatch::Run(m_fabric, Time(0));
            m_network->Settle(true);
        }
    }
    catch (const std::exception& error)
    {
        throw RankFailure(error.what());
    }
    if (m_rankProgress)
    {
        m_rankProgress->Finish();
    }
    Gather();
    const std::string rest = GetFirstTextOfRanks(DescribeRest());
    if (!rest.empty())
    {
        throw std::runtime_error(rest);
    }
}

void
TrainingJob::Gather()
{
    m_network->Gather();
    m_gathered = MakeTimeline(JoinRecordsOfRanks(m_spans), GetRuntimes());
    std::vector<SampleOfDevice> samples;
    for (DeviceId device = 0; device < m_gathered->memory.size(); ++device)
    {
        for (const MemorySample& sample : m_gathered->memory[device])
        {
            samples.push_back({device, sample});
        }
        m_gathered->memory[device].clear();
    }
    for (const SampleOfDevice& it : JoinRecordsOfRanks(samples))
    {
        m_gathered->memory[it.device].push_back(it.sample);
    }
    SumOverRanks(m_gathered->peakMemoryBytes); // 0 for devices of other ranks
    const SharingStatistics before = GetSharing();
    std::vector<uint64_t> sums{static_cast<uint64_t>(before.besidePs),
                               static_cast<uint64_t>(before.addedPs)};
    SumOverRanks(sums);
    m_sharingOfOthers.besidePs = static_cast<int64_t>(sums[0]) - before.besidePs;
    m_sharingOfOthers.addedPs = static_cast<int64_t>(sums[1]) - before.addedPs;
}

} // namespace proteus
} // namespace ns3
