/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t FOREVER = SCENARIO_END_PS;

/// From when to when something goes on.
struct Interval
{
    int64_t fromPs{0};
    int64_t untilPs{FOREVER};
};

/// Turns events into changes of links and devices.
class Planner
{
  public:
    Planner(const Scenario& scenario, const Cluster& cluster, uint32_t nDevices, int64_t alonePs)
        : m_scenario(scenario),
          m_cluster(cluster),
          m_nDevices(nDevices),
          m_alonePs(alonePs)
    {
    }

    ScenarioPlan Make()
    {
        for (std::size_t i = 0; i < m_scenario.events.size(); ++i)
        {
            const ScenarioEvent& event = m_scenario.events[i];
            m_place = "/events/" + std::to_string(i) + ": ";
            const Interval when = Resolve(event.name, event.at, event.until);
            switch (event.kind)
            {
            case ScenarioEvent::Kind::DOWN:
                AddSwitched(event, when, LinkChange::Kind::DOWN, m_down);
                break;
            case ScenarioEvent::Kind::PFC_STORM:
                AddSwitched(event, when, LinkChange::Kind::STORM_BEGIN, m_storms);
                break;
            case ScenarioEvent::Kind::DEGRADED:
                AddDegraded(event, when);
                break;
            case ScenarioEvent::Kind::SLOW_GPU:
            case ScenarioEvent::Kind::SLOW_HOST:
                AddSlow(event, when);
                break;
            }
        }
        Switch(m_down, LinkChange::Kind::DOWN, LinkChange::Kind::UP);
        Switch(m_storms, LinkChange::Kind::STORM_BEGIN, LinkChange::Kind::STORM_END);
        std::stable_sort(
            m_plan.changes.begin(),
            m_plan.changes.end(),
            [](const LinkChange& a, const LinkChange& b) { return a.timePs < b.timePs; });
        for (std::size_t i = 0; i < m_scenario.traffic.size(); ++i)
        {
            m_place = "/traffic/" + std::to_string(i) + ": ";
            AddTraffic(m_scenario.traffic[i], i);
        }
        return std::move(m_plan);
    }

  private:
    Interval Resolve(const std::string& name,
                     const ScenarioTime& from,
                     const std::optional<ScenarioTime>& until) const
    {
        const Interval when{from.Resolve(m_alonePs), until ? until->Resolve(m_alonePs) : FOREVER};
        if (when.untilPs <= when.fromPs)
        {
            throw std::invalid_argument(m_place + name + " ends at " +
                                        std::to_string(static_cast<double>(when.untilPs) * 1e-6) +
                                        " us, before it begins at " +
                                        std::to_string(static_cast<double>(when.fromPs) * 1e-6) +
                                        " us");
        }
        return when;
    }

    /// @return whether the end of a link that is paused by a storm of a vertex is Link::a
    bool IsPausedAtA(const ScenarioEvent& event, LinkId link) const
    {
        return m_cluster.GetLinks()[link].b == event.storming;
    }

    /// Notes when links are down, or stormed; several events may overlap.
    void AddSwitched(const ScenarioEvent& event,
                     const Interval& when,
                     LinkChange::Kind kind,
                     std::map<std::pair<LinkId, bool>, std::vector<Interval>>& intervals) const
    {
        for (const LinkId link : event.links)
        {
            const bool isFromA = kind == LinkChange::Kind::STORM_BEGIN && IsPausedAtA(event, link);
            intervals[{link, isFromA}].push_back(when);
        }
    }

    /// Makes changes of intervals, those that overlap as one.
    void Switch(std::map<std::pair<LinkId, bool>, std::vector<Interval>>& intervals,
                LinkChange::Kind begin,
                LinkChange::Kind end)
    {
        for (auto& [link, list] : intervals)
        {
            std::sort(list.begin(), list.end(), [](const Interval& a, const Interval& b) {
                return a.fromPs < b.fromPs;
            });
            for (std::size_t i = 0; i < list.size();)
            {
                Interval all = list[i];
                for (++i; i < list.size() && list[i].fromPs <= all.untilPs; ++i)
                {
                    all.untilPs = std::max(all.untilPs, list[i].untilPs);
                }
                LinkChange change;
                change.link = link.first;
                change.isFromA = link.second;
                change.kind = begin;
                change.timePs = all.fromPs;
                m_plan.changes.push_back(change);
                if (all.untilPs != FOREVER)
                {
                    change.kind = end;
                    change.timePs = all.untilPs;
                    m_plan.changes.push_back(change);
                }
            }
        }
    }

    void AddDegraded(const ScenarioEvent& event, const Interval& when)
    {
        for (const LinkId id : event.links)
        {
            const Link& link = m_cluster.GetLinks()[id];
            if (event.rateShare)
            {
                LinkChange change;
                change.kind = LinkChange::Kind::RATE;
                change.link = id;
                change.bytesPerSecond = *event.rateShare * link.bytesPerSecond;
                AddPair(event, when, change, link);
            }
            if (event.lossProbability || event.bitErrorRate)
            {
                LinkChange change;
                change.kind = LinkChange::Kind::LOSS;
                change.link = id;
                change.lossProbability = event.lossProbability.value_or(link.lossProbability);
                change.bitErrorRate = event.bitErrorRate.value_or(link.bitErrorRate);
                AddPair(event, when, change, link);
            }
        }
    }

    /// Adds a change of a link, and later the opposite.
    void AddPair(const ScenarioEvent& event,
                 const Interval& when,
                 LinkChange change,
                 const Link& link)
    {
        auto& others = m_degraded[{change.link, change.kind}];
        for (const Interval& other : others)
        {
            if (other.fromPs < when.untilPs && when.fromPs < other.untilPs)
            {
                throw std::invalid_argument(m_place + event.name +
                                            " overlaps another event that changes the same of "
                                            "the link " +
                                            m_cluster.GetVertices()[link.a].name + " - " +
                                            m_cluster.GetVertices()[link.b].name +
                                            ": make them one after the other");
            }
        }
        others.push_back(when);
        change.timePs = when.fromPs;
        m_plan.changes.push_back(change);
        if (when.untilPs != FOREVER)
        {
            change.timePs = when.untilPs;
            change.bytesPerSecond = link.bytesPerSecond;
            change.lossProbability = link.lossProbability;
            change.bitErrorRate = link.bitErrorRate;
            m_plan.changes.push_back(change);
        }
    }

    void AddSlow(const ScenarioEvent& event, const Interval& when)
    {
        for (DeviceId device = 0; device < m_nDevices; ++device)
        {
            const VertexId gpu = m_cluster.GetGpus()[device];
            if (std::find(event.gpus.begin(), event.gpus.end(), gpu) != event.gpus.end())
            {
                m_plan.slow.push_back(
                    {device, when.fromPs, when.untilPs, event.factor, event.launchIntervalPs});
            }
        }
    }

    void AddTraffic(const ScenarioTraffic& traffic, std::size_t number)
    {
        const Interval when =
            Resolve("traffic " + traffic.pattern.name, traffic.from, traffic.until);
        TrafficPattern pattern = traffic.pattern;
        pattern.fromPs = when.fromPs;
        pattern.untilPs = when.untilPs;
        pattern.seed = m_scenario.seed * 1000003 + number;
        for (TrafficMessage& message : pattern.messages)
        {
            message.startPs += when.fromPs;
        }
        m_plan.traffic.push_back(std::move(pattern));
    }

    const Scenario& m_scenario;
    const Cluster& m_cluster;
    const uint32_t m_nDevices;
    const int64_t m_alonePs;
    ScenarioPlan m_plan;
    std::string m_place; //!< in the file, of what is planned now
    std::map<std::pair<LinkId, bool>, std::vector<Interval>> m_down;
    std::map<std::pair<LinkId, bool>, std::vector<Interval>> m_storms; //!< by link and direction
    std::map<std::pair<LinkId, LinkChange::Kind>, std::vector<Interval>> m_degraded;
};

/// Which vertices of the network are joined.
class Islands
{
  public:
    explicit Islands(const Cluster& cluster, const std::vector<bool>& isDown)
        : m_parent(cluster.GetVertices().size())
    {
        std::iota(m_parent.begin(), m_parent.end(), 0);
        for (LinkId id = 0; id < cluster.GetLinks().size(); ++id)
        {
            const Link& link = cluster.GetLinks()[id];
            const bool isNetwork = cluster.GetVertices()[link.a].kind == VertexKind::SWITCH ||
                                   cluster.GetVertices()[link.b].kind == VertexKind::SWITCH;
            if (isNetwork && !isDown[id])
            {
                m_parent[Find(link.a)] = Find(link.b);
            }
        }
    }

    VertexId Find(VertexId vertex)
    {
        while (m_parent[vertex] != vertex)
        {
            m_parent[vertex] = m_parent[m_parent[vertex]];
            vertex = m_parent[vertex];
        }
        return vertex;
    }

  private:
    std::vector<VertexId> m_parent;
};

} // namespace

int64_t
ScenarioTime::Resolve(int64_t alonePs) const
{
    return isShare ? std::llround(share * static_cast<double>(alonePs)) : ps;
}

bool
Scenario::NeedsAlone() const
{
    const auto isShare = [](const auto& entry, const ScenarioTime& from) {
        return from.isShare || (entry.until && entry.until->isShare);
    };
    return std::any_of(events.begin(),
                       events.end(),
                       [&](const ScenarioEvent& event) { return isShare(event, event.at); }) ||
           std::any_of(traffic.begin(), traffic.end(), [&](const ScenarioTraffic& entry) {
               return isShare(entry, entry.from);
           });
}

bool
Scenario::IsRandom() const
{
    const auto isRandom = [](const ScenarioJob& entry) {
        return entry.placement.kind == PlacementKind::RANDOM ||
               entry.placement.order == RankOrder::RANDOM;
    };
    return isRandom(job) || std::any_of(jobs.begin(), jobs.end(), isRandom) ||
           std::any_of(traffic.begin(), traffic.end(), [](const ScenarioTraffic& entry) {
               return entry.pattern.kind == TrafficPattern::Kind::POISSON;
           });
}

ScenarioPlan
MakeScenarioPlan(const Scenario& scenario,
                 const Cluster& cluster,
                 uint32_t nDevices,
                 int64_t alonePs)
{
    return Planner(scenario, cluster, nDevices, alonePs).Make();
}

std::string
FindCutOff(const ScenarioPlan& plan, const Cluster& cluster, uint32_t nDevices)
{
    std::vector<bool> isDown(cluster.GetLinks().size(), false);
    for (const LinkChange& change : plan.changes) // the last one of a link counts
    {
        if (change.kind == LinkChange::Kind::DOWN || change.kind == LinkChange::Kind::UP)
        {
            isDown[change.link] = change.kind == LinkChange::Kind::DOWN;
        }
    }
    if (std::find(isDown.begin(), isDown.end(), true) == isDown.end())
    {
        return "";
    }
    Islands before(cluster, std::vector<bool>(cluster.GetLinks().size(), false));
    Islands after(cluster, isDown);
    std::map<VertexId, VertexId> first; // of an island before: one of its NICs
    for (DeviceId device = 0; device < nDevices; ++device)
    {
        const VertexId gpu = cluster.GetGpus()[device];
        const VertexId nic = cluster.GetNic(gpu) == Cluster::NO_VERTEX ? gpu : cluster.GetNic(gpu);
        const VertexId other = first.emplace(before.Find(nic), nic).first->second;
        if (after.Find(other) != after.Find(nic))
        {
            return cluster.GetVertices()[other].name + " and " + cluster.GetVertices()[nic].name;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
