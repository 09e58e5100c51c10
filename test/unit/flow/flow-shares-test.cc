/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "max-min-programs.h"

#include "ns3/proteus-flow-network.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

// The flow network computes anew only what a change can reach. Here everything is computed from
// scratch whenever anything changes; both have to end every part of every collective at the same
// time.

using namespace ns3::proteus;

namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double PS_PER_SECOND = 1e12;

/// A collective begins, or a device begins or stops to compute.
struct Change
{
    int64_t timePs{0};
    TaskId task{NO_ID};   //!< that all its ranks join, or NO_ID
    uint32_t instance{0}; //!< of the task
    DeviceId device{0};   //!< else: whose computation changes
    bool computes{false}; //!< from now on
};

/// Every collective of a scenario begins so often.
constexpr uint32_t INSTANCES = 8;

/// What happens to a network, and the graph with its collectives.
struct Scenario
{
    ExecutionGraph graph;
    std::vector<Change> changes; //!< in order of time
    FlowParameters parameters;
};

/// Solves a problem: linear programs, or the solver of the flow network.
using Solver = std::function<std::vector<double>(const MaxMinProblem&)>;

/// Collectives of random kinds, groups and sizes that begin at random times, many at once.
Scenario
MakeScenario(uint64_t seed, uint32_t devices, uint32_t collectives, bool hasComputing)
{
    std::mt19937_64 random(seed);
    const auto number = [&random](int64_t least, int64_t most) {
        return std::uniform_int_distribution<int64_t>(least, most)(random);
    };
    Scenario scenario;
    GraphBuilder builder(devices);
    const PhaseId phase = builder.AddPhase("all");
    const StreamId stream = builder.AddStream("communication");
    const int64_t endPs = int64_t{1800000000} * collectives * INSTANCES;
    for (uint32_t i = 0; i < collectives; ++i)
    {
        std::vector<DeviceId> group(devices);
        for (DeviceId device = 0; device < devices; ++device)
        {
            group[device] = device;
        }
        std::shuffle(group.begin(), group.end(), random);
        const Collective kind = std::vector<Collective>{Collective::SEND_RECV,
                                                        Collective::SEND_RECV,
                                                        Collective::ALL_REDUCE,
                                                        Collective::ALL_TO_ALL}[number(0, 3)];
        group.resize(kind == Collective::SEND_RECV ? 2 : number(2, devices));
        const TaskId task = builder.AddCommunication(phase,
                                                     builder.AddGroup(group),
                                                     stream,
                                                     "c" + std::to_string(i),
                                                     kind,
                                                     number(1 << 20, 1 << 26),
                                                     Parallelism::NONE);
        for (uint32_t instance = 0; instance < INSTANCES; ++instance)
        {
            scenario.changes.push_back({number(0, endPs), task, instance});
        }
    }
    for (uint32_t i = 0; hasComputing && i < 10 * collectives; ++i)
    {
        Change change;
        change.timePs = number(0, endPs);
        change.device = static_cast<DeviceId>(number(0, devices - 1));
        change.computes = number(0, 1) == 1;
        scenario.changes.push_back(change);
    }
    std::sort(scenario.changes.begin(), scenario.changes.end(), [](const auto& a, const auto& b) {
        return a.timePs < b.timePs;
    });
    scenario.graph = builder.Build();
    scenario.parameters.kernelCosts = false;
    return scenario;
}

/// @return a number for an instance of a task
std::size_t
NumberOf(TaskId task, uint32_t instance)
{
    return std::size_t{task} * INSTANCES + instance;
}

/// Ends in seconds by instance of a task (NumberOf()) and rank, as the flow network has them.
std::vector<std::vector<double>>
RunNetwork(const Scenario& scenario, const Cluster& cluster)
{
    const ExecutionGraph& graph = scenario.graph;
    const Paths paths(cluster);
    FlowClock clock;
    FlowNetwork network(graph, cluster, paths, clock, scenario.parameters);
    network.SetMostReplayed(0); // shares are those of mean rates
    std::vector<std::vector<double>> ends(graph.GetNTasks() * INSTANCES);
    for (const Change& change : scenario.changes)
    {
        clock.ScheduleAt(change.timePs, [&, change]() {
            if (change.task == NO_ID)
            {
                network.SetComputing(change.device, change.computes);
                return;
            }
            const auto& group = graph.GetGroup(graph.GetTask(change.task).place);
            auto& ofInstance = ends[NumberOf(change.task, change.instance)];
            ofInstance.assign(group.size(), -1);
            for (std::size_t rank = 0; rank < group.size(); ++rank)
            {
                double& end = ofInstance[rank];
                network.Join(group[rank], change.task, change.instance, [&end, &clock]() {
                    end = static_cast<double>(clock.GetTimePs()) / PS_PER_SECOND;
                });
            }
        });
    }
    clock.Run();
    EXPECT_EQ(network.CheckAtRest(), "");
    return ends;
}

/// The same, with all shares computed from scratch.
class FromScratch
{
  public:
    FromScratch(const Scenario& scenario, const Cluster& cluster, Solver solver)
        : m_scenario(scenario),
          m_paths(cluster),
          m_profiles(scenario.graph, cluster, m_paths, scenario.parameters),
          m_solver(std::move(solver)),
          m_computes(scenario.graph.GetNDevices(), false),
          m_ends(scenario.graph.GetNTasks() * INSTANCES),
          m_left(scenario.graph.GetNTasks() * INSTANCES)
    {
    }

    std::vector<std::vector<double>> Run()
    {
        // Times at which something begins; ends lie between them.
        std::multiset<std::pair<double, std::size_t>> waiting; // change, or class to begin
        std::vector<std::function<void()>> begins;
        const auto at = [&](double time, std::function<void()> begin) {
            waiting.emplace(time, begins.size());
            begins.push_back(std::move(begin));
        };
        for (const Change& change : m_scenario.changes)
        {
            const double time = static_cast<double>(change.timePs) / PS_PER_SECOND;
            if (change.task == NO_ID)
            {
                at(time, [this, change]() { m_computes[change.device] = change.computes; });
                continue;
            }
            const CollectiveProfile& profile = m_profiles.Get(change.task);
            const auto ranks = m_scenario.graph.GetGroup(GetPlace(change.task)).size();
            const std::size_t instance = NumberOf(change.task, change.instance);
            m_ends[instance].assign(ranks, -1);
            m_left[instance].assign(ranks, 0);
            for (const FlowClass& flows : profile.classes)
            {
                for (std::size_t rank = 0; rank < ranks; ++rank)
                {
                    m_left[instance][rank] += flows.afterPs[rank] >= 0;
                }
                at(time + static_cast<double>(profile.launchPs + flows.beforePs) / PS_PER_SECOND,
                   [this, &flows, task = change.task, instance]() {
                       m_live.push_back({&flows, task, instance, flows.bytes, 0, 0});
                   });
            }
        }
        double now = 0;
        while (!waiting.empty() || !m_live.empty())
        {
            double next = waiting.empty() ? INFINITE : waiting.begin()->first;
            for (const Live& live : m_live)
            {
                const auto& early = live.flows->early;
                const double until = live.nEarly < early.size() ? early[live.nEarly].left : 0;
                next = std::min(next, now + std::max(0.0, live.left - until) / live.rate);
            }
            for (Live& live : m_live)
            {
                live.left -= live.rate * (next - now);
            }
            now = next;
            EndEarly(now);
            End(now);
            while (!waiting.empty() && waiting.begin()->first <= now)
            {
                begins[waiting.begin()->second]();
                waiting.erase(waiting.begin());
            }
            Share();
        }
        return m_ends;
    }

    /// @return how often shares were computed for several classes
    uint32_t GetNAllocations() const
    {
        return m_allocations;
    }

  private:
    struct Live
    {
        const FlowClass* flows;
        TaskId task;
        std::size_t instance;
        double left;
        double rate;
        std::size_t nEarly; //!< of FlowClass::early, that have ended
    };

    /// Ranks whose part of a class is done end.
    void EndEarly(double now)
    {
        for (Live& live : m_live)
        {
            const auto& early = live.flows->early;
            const double left = live.left - 1e-9 * live.flows->bytes;
            for (; live.nEarly < early.size() && early[live.nEarly].left >= left; ++live.nEarly)
            {
                const uint32_t rank = early[live.nEarly].rank;
                if (--m_left[live.instance][rank] == 0)
                {
                    m_ends[live.instance][rank] = now;
                }
            }
        }
    }

    uint32_t GetPlace(TaskId task) const
    {
        return m_scenario.graph.GetTask(task).place;
    }

    /// Takes away what has nothing left.
    void End(double now)
    {
        for (const Live& live : m_live)
        {
            for (std::size_t rank = 0; IsDone(live) && rank < live.flows->afterPs.size(); ++rank)
            {
                const int64_t after = live.flows->afterPs[rank];
                const auto& early = live.flows->early;
                const bool isEarly =
                    std::any_of(early.begin(), early.end(), [rank](const EarlyRank& one) {
                        return one.rank == rank;
                    });
                if (after >= 0 && !isEarly && --m_left[live.instance][rank] == 0)
                {
                    m_ends[live.instance][rank] = now + static_cast<double>(after) / PS_PER_SECOND;
                }
            }
        }
        m_live.erase(std::remove_if(m_live.begin(), m_live.end(), &IsDone), m_live.end());
    }

    static bool IsDone(const Live& live)
    {
        return live.left <= 1e-9 * live.flows->bytes;
    }

    void Share()
    {
        if (m_live.empty())
        {
            return;
        }
        const auto& resources = m_profiles.GetResources();
        std::vector<uint32_t> users(resources.size(), 0);
        for (const Live& live : m_live)
        {
            for (const FlowUse& use : live.flows->uses)
            {
                ++users[use.resource];
            }
        }
        MaxMinProblem problem;
        std::vector<std::vector<double>> first; // what comes first, by flow and resource
        std::vector<std::size_t> place(resources.size());
        for (std::size_t i = 0; i < resources.size(); ++i)
        {
            place[i] = problem.capacities.size();
            if (users[i] > 0)
            {
                problem.capacities.push_back(resources[i].capacity *
                                             (users[i] > 1 ? resources[i].sharing : 1));
            }
        }
        for (const Live& live : m_live)
        {
            const auto& group = m_scenario.graph.GetGroup(GetPlace(live.task));
            const bool isSlowed = std::any_of(group.begin(), group.end(), [this](DeviceId device) {
                return m_computes[device];
            });
            problem.limits.push_back(
                live.flows->rate /
                (isSlowed ? 1 + m_scenario.parameters.communicationSlowdown : 1));
            problem.amounts.emplace_back(problem.capacities.size(), 0);
            first.emplace_back(problem.capacities.size(), 0);
            for (const FlowUse& use : live.flows->uses)
            {
                auto& amounts = use.comesFirst ? first : problem.amounts;
                amounts.back()[place[use.resource]] += use.amount;
            }
        }
        // Of the order of one, which linear programs need.
        const double scale =
            *std::max_element(problem.capacities.begin(), problem.capacities.end());
        for (auto* values : {&problem.capacities, &problem.limits})
        {
            for (double& value : *values)
            {
                value /= scale;
            }
        }
        const auto rates = SolveLeftovers(problem, first);
        for (std::size_t i = 0; i < m_live.size(); ++i)
        {
            m_live[i].rate = rates[i] * scale;
        }
        m_allocations += m_live.size() > 1;
    }

    /// @param problem without what comes first @param first amounts of that, by flow and resource
    /// @return rates that agree with what is left for them
    std::vector<double> SolveLeftovers(const MaxMinProblem& problem,
                                       const std::vector<std::vector<double>>& first) const
    {
        const bool hasFirst = std::any_of(first.begin(), first.end(), [](const auto& amounts) {
            return *std::max_element(amounts.begin(), amounts.end()) > 0;
        });
        std::vector<double> rates(problem.limits.size(), 0);
        for (int turn = 0; turn < (hasFirst ? 40 : 1); ++turn)
        {
            MaxMinProblem left = problem;
            for (std::size_t flow = 0; flow < rates.size(); ++flow)
            {
                for (std::size_t i = 0; i < left.capacities.size(); ++i)
                {
                    left.capacities[i] -= first[flow][i] * rates[flow];
                }
            }
            rates = m_solver(left);
        }
        return rates;
    }

    const Scenario& m_scenario;
    const Paths m_paths;
    FlowProfiles m_profiles;
    const Solver m_solver;
    std::vector<bool> m_computes;
    std::vector<std::vector<double>> m_ends;
    std::vector<std::vector<uint32_t>> m_left; //!< classes by instance and rank
    std::vector<Live> m_live;
    uint32_t m_allocations{0};
};

/// Both ways to the same ends. @return allocations that were compared
uint32_t
Compare(const Scenario& scenario, const Cluster& cluster, const Solver& solver)
{
    const auto ends = RunNetwork(scenario, cluster);
    FromScratch scratch(scenario, cluster, solver);
    const auto expected = scratch.Run();
    for (std::size_t i = 0; i < ends.size(); ++i)
    {
        EXPECT_EQ(ends[i].size(), expected[i].size());
        for (std::size_t rank = 0; rank < ends[i].size(); ++rank)
        {
            EXPECT_GE(ends[i][rank], 0);
            // A thousandth of the latency of a link; a share that is wrong by 1 % shifts ends of
            // milliseconds ten thousand times as much.
            EXPECT_NEAR(ends[i][rank], expected[i][rank], 1e-9)
                << "instance " << i << ", rank " << rank;
        }
    }
    return scratch.GetNAllocations();
}

/// Hosts behind leaves with half of the capacity beyond them.
Cluster
MakeNarrowHosts()
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 3;
    fabric.spines = 2;
    fabric.oversubscription = 2;
    return MakeHostCluster(9,
                           fabric,
                           LinkTechnology::INFINIBAND,
                           10e9,
                           1000000,
                           DefaultFraming(LinkTechnology::INFINIBAND));
}

} // namespace

TEST(FlowShares, AreThoseOfLinearProgramsAfterEveryChange)
{
    const Cluster cluster = MakeNarrowHosts();
    uint32_t allocations = 0;
    for (uint64_t seed = 1; seed <= 4; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Scenario scenario = MakeScenario(seed, 9, 20, false);
        if (seed % 2 == 0)
        {
            scenario.parameters.links[static_cast<std::size_t>(LinkTechnology::INFINIBAND)] = {0.9,
                                                                                               0.8,
                                                                                               0};
        }
        allocations += Compare(scenario, cluster, &SolveByPrograms);
    }
    EXPECT_GE(allocations, 1000u) << "cases";
    RecordProperty("allocations", static_cast<int>(allocations));
}

TEST(FlowShares, AreThoseFromScratchInServers)
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 1;
    fabric.oversubscription = 4;
    for (const char* preset : {"dgx1-v100", "dgx-a100", "titanxp-pcie"})
    {
        SCOPED_TRACE(preset);
        const Cluster cluster = MakeCluster(preset, 2, fabric);
        Compare(MakeScenario(5, 16, 10, false), cluster, &SolveByFilling);
    }
}

TEST(FlowShares, FollowWhatDevicesCompute)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    for (uint64_t seed = 1; seed <= 2; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Scenario scenario = MakeScenario(seed, 16, 10, true);
        scenario.parameters.communicationSlowdown = 0.3;
        Compare(scenario, cluster, &SolveByFilling);
    }
}
