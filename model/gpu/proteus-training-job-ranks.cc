/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stall-watch.h"
#include "proteus-training-job.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-rank-post.h"
#include "ns3/proteus-ranks.h"
#include "ns3/simulator.h"

#include <cstring>
#include <memory>
#include <set>
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

/// All devices of a rank have joined a communication.
struct JoinWord
{
    TaskInstance instance; //!< of the communication
    uint32_t devices;      //!< so many
    int64_t timePs;        //!< when the last of them did
};

} // namespace

void
TrainingJob::ShareAcrossRanks()
{
    const auto rankOf = [this](DeviceId device) {
        return m_fabric->GetRanks()
            ->GetPartition()
            .rankOf[m_fabric->GetCluster().GetGpus()[device]];
    };
    const auto post = std::make_shared<RankPost>([this](const uint8_t* data) {
        JoinWord word;
        std::memcpy(&word, data, sizeof(word));
        m_sharing->JoinElsewhere(word.instance, word.devices, word.timePs);
    });
    GpuSharing::Ranks ranks;
    ranks.isLocal = [rankOf](DeviceId device) { return rankOf(device) == GetRank(); };
    ranks.tell = [this, rankOf, post](TaskInstance instance, uint32_t devices) {
        std::set<uint32_t> others;
        for (const DeviceId device : m_graph->GetGroup(m_graph->GetTask(instance.task).place))
        {
            others.insert(rankOf(device));
        }
        others.erase(GetRank());
        const int64_t now = Simulator::Now().GetPicoSeconds();
        for (const uint32_t rank : others)
        {
            post->Tell(rank, JoinWord{instance, devices, now});
        }
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
    std::vector<int64_t> most{static_cast<int64_t>(m_fabric->GetEventCount())};
    MaxOverRanks(most);
    m_busiestEvents = static_cast<uint64_t>(most[0]);
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
