/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOWS_RANDOM_H
#define PROTEUS_FLOWS_RANDOM_H

#include "proteus-flows-test-tools.h"

#include <random>

/**
 * @file
 * @ingroup proteus-tests
 * Random experiments with flows: networks, loads, settings, failures.
 */

namespace ns3
{
namespace proteus
{
namespace flowtest
{

/// A link that fails and is repaired, at random times.
struct Failure
{
    LinkId link{0};
    int64_t downPs{0};
    int64_t upPs{0};
};

/// A random experiment.
struct Experiment
{
    Scenario scenario;
    std::string text;              //!< what it is, for messages
    std::vector<Failure> failures; //!< during the run
    bool loses{false};             //!< links lose units
};

/// Draws experiments. The numbers of std::mt19937 are the same everywhere; those of the standard
/// distributions are not.
class Dice
{
  public:
    explicit Dice(uint32_t seed)
        : m_generator(seed)
    {
    }

    /// @param n number of sides @return 0 to n - 1
    uint32_t Roll(uint32_t n)
    {
        return m_generator() % n;
    }

    /// @param of values @return one of them
    template <typename T>
    T Pick(std::initializer_list<T> of)
    {
        return *(of.begin() + Roll(static_cast<uint32_t>(of.size())));
    }

  private:
    std::mt19937 m_generator;
};

/// @param dice to draw with @param hosts how many @param technology of all links
/// @param cyclic set to whether shortest paths have circles @return a topology
inline std::shared_ptr<const Cluster>
DrawCluster(Dice& dice, uint32_t hosts, LinkTechnology technology, bool& cyclic, std::string& text)
{
    FabricOptions options;
    options.kind = dice.Pick<const char*>(
        {"single-switch", "leaf-spine", "fat-tree", "dragonfly+", "torus-2d", "rail-optimised"});
    options.serversPerLeaf = 1 + dice.Roll(4);
    options.spines = 1 + dice.Roll(3);
    options.serversPerGroup = 1 + dice.Roll(4);
    options.leavesPerGroup = 1 + dice.Roll(2);
    options.spinesPerGroup = 1 + dice.Roll(2);
    options.oversubscription =
        options.kind == "single-switch" ? 1 : dice.Pick({1.0, 1.0, 2.0, 4.0});
    cyclic = options.kind == "torus-2d" || options.kind == "dragonfly+";
    const uint32_t payload = dice.Pick({256U, 1000U, 1024U, 4096U});
    const double rate = dice.Pick({12.5e9, 25e9, 50e9, 100e9});
    const int64_t delayPs = dice.Pick({1000, 130000, 500000, 999999});
    text += options.kind + ", " + std::to_string(hosts) + " hosts, " + ToString(technology) + ", " +
            std::to_string(payload) + " bytes, " + std::to_string(delayPs) + " ps";
    return std::make_shared<const Cluster>(MakeHostCluster(hosts,
                                                           options,
                                                           technology,
                                                           rate,
                                                           delayPs,
                                                           Packets(payload, 36 + dice.Roll(50))));
}

/// @param dice to draw with @param hosts of the cluster @param most bytes of a flow @return flows
inline std::vector<FlowSpec>
DrawFlows(Dice& dice, uint32_t hosts, uint32_t most)
{
    std::vector<FlowSpec> flows;
    const uint32_t n = 1 + dice.Roll(24);
    const uint32_t sink = dice.Roll(3) == 0 ? dice.Roll(hosts) : hosts; // an incast, perhaps
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint32_t to = sink < hosts ? sink : dice.Roll(hosts);
        const uint32_t from = (to + 1 + dice.Roll(hosts - 1)) % hosts;
        FlowSpec flow = Flow(from, to, 1 + dice.Roll(most));
        flow.id = std::to_string(i);
        flow.startPs = dice.Roll(2) == 0 ? 0 : dice.Roll(20000000);
        for (uint32_t before = i; before-- > 0 && flow.after.size() < 2;)
        {
            if (dice.Roll(8) == 0)
            {
                flow.after.push_back(before);
            }
        }
        flows.push_back(flow);
    }
    return flows;
}

/// @param seed which one @param troubled whether links fail or lose units @return an experiment
inline Experiment
DrawExperiment(uint32_t seed, bool troubled)
{
    Dice dice(seed);
    Experiment experiment;
    experiment.text = "seed " + std::to_string(seed) + ": ";
    Scenario& scenario = experiment.scenario;
    const LinkTechnology technology = dice.Pick({LinkTechnology::ROCE, LinkTechnology::INFINIBAND});
    const uint32_t hosts = 2 + dice.Roll(15);
    bool cyclic = false;
    scenario.cluster = DrawCluster(dice, hosts, technology, cyclic, experiment.text);
    scenario.flows = DrawFlows(dice, hosts, 60000);
    scenario.perPair = dice.Roll(2) == 0;
    scenario.stream = seed;
    // Where shortest paths go in circles, only routes without them cannot block for ever.
    const std::string routing =
        cyclic ? "UpDown"
               : dice.Pick<const char*>({"Ecmp", "Spray", "Adaptive", "ForwardingTable", "UpDown"});
    scenario.fabric = {{"Routing", routing},
                       {"RerouteDelay", "5us"},
                       {"InfinibandBuffer", dice.Pick<const char*>({"9000", "20000", "131072"})},
                       {"RoceCutThrough", dice.Pick<const char*>({"true", "false"})},
                       {"InfinibandCutThrough", dice.Pick<const char*>({"true", "false"})},
                       {"SwitchBuffer", dice.Pick<const char*>({"32000000", "8000000"})},
                       {"EcnMinBytes", dice.Pick<const char*>({"1000", "100000"})},
                       {"ThresholdShift", dice.Pick<const char*>({"3", "10", "12"})}};
    std::string control =
        dice.Pick<const char*>({"none", "dcqcn", "hpcc", "timely", "swift", "dctcp", "tcp"});
    if (technology == LinkTechnology::INFINIBAND && dice.Roll(2) == 0)
    {
        control = "none";
    }
    scenario.transport = {
        {"CongestionControl", control},
        {"Reliability", dice.Pick<const char*>({"GoBackN", "SelectiveRepeat"})},
        {"WindowProducts", dice.Pick<const char*>({"0", "1", "3"})},
        {"AckEveryPackets", dice.Pick<const char*>({"0", "1", "7"})},
        {"FirstSequence", dice.Pick<const char*>({"0", "4294967290", "2147483640"})},
        {"NakInterval", "20us"},
        {"RetransmissionTimeout", "150us"},
        {"RetryLimit", "30"}};
    experiment.text += ", " + routing + ", " + control;
    for (const auto& [name, value] : scenario.transport)
    {
        experiment.text += ", " + value;
    }
    if (troubled)
    {
        const auto nLinks = static_cast<uint32_t>(scenario.cluster->GetLinks().size());
        const uint32_t kinds = 1 + dice.Roll(3); // bit 0: failures, bit 1: losses
        if ((kinds & 1) != 0)
        {
            for (uint32_t i = 0; i <= dice.Roll(3); ++i)
            {
                Failure failure;
                failure.link = dice.Roll(nLinks);
                failure.downPs = dice.Roll(30000000);
                failure.upPs = failure.downPs + 1 + dice.Roll(200000000);
                experiment.failures.push_back(failure);
            }
        }
        experiment.loses = (kinds & 2) != 0;
    }
    return experiment;
}

/// @param experiment to prepare @param run of its scenario, before Play(): links fail and lose
inline void
Trouble(const Experiment& experiment, FlowRun& run)
{
    for (const Failure& failure : experiment.failures)
    {
        ScheduleFunction(PicoSeconds(failure.downPs),
                         [&run, failure] { run.fabric->SetLinkUp(failure.link, false); });
        ScheduleFunction(PicoSeconds(failure.upPs),
                         [&run, failure] { run.fabric->SetLinkUp(failure.link, true); });
    }
    for (LinkId link = 0; experiment.loses && link < run.fabric->GetNPorts() / 2; ++link)
    {
        run.fabric->SetLinkLoss(link, link % 3 == 0 ? 0.01 : 0, link % 2 == 0 ? 1e-7 : 0);
    }
}

} // namespace flowtest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOWS_RANDOM_H
