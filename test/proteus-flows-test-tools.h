/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOWS_TEST_TOOLS_H
#define PROTEUS_FLOWS_TEST_TOOLS_H

#include "ns3/pointer.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * What the tests of flows share.
 */

namespace ns3
{
namespace proteus
{
namespace flowtest
{

/// Names and values of attributes.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// What to play, on what, and how.
struct Scenario
{
    std::shared_ptr<const Cluster> cluster; //!< where
    std::vector<FlowSpec> flows;            //!< what
    Settings fabric;                        //!< attributes of the fabric
    Settings transport;                     //!< attributes of the transport
    bool perPair{false};                    //!< FlowPlayer::QueuePairPerPair
    int64_t stream{1};                      //!< first random stream
    bool batches{true};                     //!< with a HorizonScheduler
};

/// A scenario that is set up; taken down again when this goes.
class FlowRun
{
  public:
    /// @param scenario to set up
    explicit FlowRun(const Scenario& scenario)
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
        fabric = CreateObject<Fabric>();
        player = CreateObject<FlowPlayer>();
        for (const auto& [name, value] : scenario.fabric)
        {
            fabric->SetAttribute(name, StringValue(value));
        }
        for (const auto& [name, value] : scenario.transport)
        {
            player->GetTransport()->SetAttribute(name, StringValue(value));
        }
        player->SetAttribute("QueuePairPerPair", StringValue(scenario.perPair ? "true" : "false"));
        fabric->SetCluster(scenario.cluster);
        if (scenario.batches)
        {
            ObjectFactory scheduler;
            scheduler.SetTypeId("ns3::proteus::HorizonScheduler");
            scheduler.Set("Horizon", PointerValue(fabric->GetHorizon()));
            Simulator::SetScheduler(scheduler);
        }
        player->AssignStreams(fabric, scenario.stream);
        player->Install(fabric, scenario.flows);
    }

    ~FlowRun()
    {
        player->Dispose();
        fabric->Dispose();
        Simulator::Destroy();
    }

    FlowRun(const FlowRun&) = delete;
    FlowRun& operator=(const FlowRun&) = delete;

    /// @return the sum of a counter over all links
    uint64_t Sum(uint64_t LinkStatistics::*counter) const
    {
        uint64_t sum = 0;
        for (const LinkStatistics& link : fabric->GetLinkStatistics())
        {
            sum += link.*counter;
        }
        return sum;
    }

    /// @return what the run throws, "" if nothing
    std::string Play()
    {
        try
        {
            player->Run();
        }
        catch (const std::exception& error)
        {
            return error.what();
        }
        return "";
    }

    Ptr<Fabric> fabric;     //!< what is played on
    Ptr<FlowPlayer> player; //!< who plays
};

/// 400 Gb/s in bytes per second.
constexpr double RATE_400G = 50e9;
/// Picoseconds of a byte at 400 Gb/s.
constexpr int64_t PS_PER_BYTE = 20;
/// 0.5 us in picoseconds.
constexpr int64_t DELAY_PS = 500000;

/**
 * @param payload of a packet @param overhead of it @param control bytes of an acknowledgement
 * @return framing with one header per packet
 */
inline LinkFraming
Packets(uint32_t payload, uint32_t overhead, uint32_t control = 64)
{
    LinkFraming framing;
    framing.unitBytes = payload;
    framing.packetBytes = payload;
    framing.packetHeaderBytes = overhead;
    framing.controlBytes = control;
    return framing;
}

/**
 * @param hosts on one switch @param framing of all links @param technology of all links
 * @param bytesPerSecond of all links
 * @return the cluster; links of 0.5 us
 */
inline std::shared_ptr<const Cluster>
OneSwitch(uint32_t hosts,
          const LinkFraming& framing,
          LinkTechnology technology = LinkTechnology::ROCE,
          double bytesPerSecond = RATE_400G)
{
    return std::make_shared<const Cluster>(
        MakeHostCluster(hosts, FabricOptions(), technology, bytesPerSecond, DELAY_PS, framing));
}

/// @param source rank @param destination rank @param bytes payload @param after positions of flows
/// @return the flow
inline FlowSpec
Flow(uint32_t source, uint32_t destination, uint64_t bytes, std::vector<uint32_t> after = {})
{
    FlowSpec flow;
    flow.id = std::to_string(source) + "-" + std::to_string(destination);
    flow.source = source;
    flow.destination = destination;
    flow.bytes = bytes;
    flow.after = std::move(after);
    return flow;
}

/// @param senders ranks 1 to this send to rank 0 @param bytes each @return the flows
inline std::vector<FlowSpec>
Incast(uint32_t senders, uint64_t bytes)
{
    std::vector<FlowSpec> flows;
    for (uint32_t i = 1; i <= senders; ++i)
    {
        flows.push_back(Flow(i, 0, bytes));
    }
    return flows;
}

/// @param hosts in the ring @param bytes to reduce @return ring all-reduce in 2 (n - 1) steps
inline std::vector<FlowSpec>
RingAllReduce(uint32_t hosts, uint64_t bytes)
{
    std::vector<FlowSpec> flows;
    for (uint32_t step = 0; step < 2 * (hosts - 1); ++step)
    {
        for (uint32_t rank = 0; rank < hosts; ++rank)
        {
            // What goes on is what came from the neighbour in the step before.
            std::vector<uint32_t> after;
            if (step > 0)
            {
                after.push_back((step - 1) * hosts + (rank + hosts - 1) % hosts);
            }
            flows.push_back(Flow(rank, (rank + 1) % hosts, bytes / hosts, after));
        }
    }
    return flows;
}

} // namespace flowtest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOWS_TEST_TOOLS_H
