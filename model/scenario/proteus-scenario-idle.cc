/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-idle.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a plan comes to: what is new of a link, or of a device, from some time on.
struct Effect
{
    /// By link, time and kind.
    std::set<std::tuple<LinkId, int64_t, LinkChange::Kind, bool, double, double, double>> links;
    /// By device and time: the factor, and the least time.
    std::map<std::pair<DeviceId, int64_t>, std::pair<double, int64_t>> devices;

    bool operator==(const Effect& other) const
    {
        return links == other.links && devices == other.devices;
    }
};

/// Finds what changes of links come to.
class LinkEffects
{
  public:
    /// @param cluster of the links @param effect gets what happens to them
    LinkEffects(const Cluster& cluster, Effect& effect)
        : m_cluster(cluster),
          m_effect(effect)
    {
    }

    /// @param change the next one in time. Of the rate and the losses of a link that is down counts
    /// what they are when it works again.
    void Add(const LinkChange& change)
    {
        const bool isOfLink =
            change.kind == LinkChange::Kind::RATE || change.kind == LinkChange::Kind::LOSS;
        if (isOfLink && m_held.count(change.link) > 0)
        {
            m_held[change.link][change.kind] = change;
            return;
        }
        if (!isOfLink || Changes(change))
        {
            Keep(change);
        }
        if (change.kind == LinkChange::Kind::DOWN)
        {
            m_held.emplace(change.link, Held());
        }
        else if (change.kind == LinkChange::Kind::UP && m_held.count(change.link) > 0)
        {
            const Held held = m_held[change.link];
            m_held.erase(change.link);
            for (auto [kind, last] : held)
            {
                last.timePs = change.timePs;
                Add(last);
            }
        }
    }

  private:
    /// The last changes of a link while it is down.
    using Held = std::map<LinkChange::Kind, LinkChange>;

    /// @param change of a rate or of losses @return whether they are others than before
    bool Changes(const LinkChange& change)
    {
        const Link& link = m_cluster.GetLinks()[change.link];
        if (change.kind == LinkChange::Kind::RATE)
        {
            double& rate = m_rates.emplace(change.link, link.bytesPerSecond).first->second;
            return std::exchange(rate, change.bytesPerSecond) != change.bytesPerSecond;
        }
        auto& loss =
            m_losses.emplace(change.link, std::pair{link.lossProbability, link.bitErrorRate})
                .first->second;
        const std::pair<double, double> next{change.lossProbability, change.bitErrorRate};
        return std::exchange(loss, next) != next;
    }

    void Keep(const LinkChange& change)
    {
        m_effect.links.emplace(change.link,
                               change.timePs,
                               change.kind,
                               change.isFromA,
                               change.bytesPerSecond,
                               change.lossProbability,
                               change.bitErrorRate);
    }

    const Cluster& m_cluster;
    Effect& m_effect;
    std::map<LinkId, double> m_rates; //!< that are not the link's own
    std::map<LinkId, std::pair<double, double>> m_losses;
    std::map<LinkId, Held> m_held; //!< links that are down
};

/// @param plan of a scenario @param effect gets what happens to devices
void
AddDevices(const ScenarioPlan& plan, Effect& effect)
{
    std::map<DeviceId, std::vector<SlowDevice>> byDevice;
    for (const SlowDevice& slow : plan.slow)
    {
        byDevice[slow.device].push_back(slow);
    }
    for (const auto& [device, entries] : byDevice)
    {
        std::set<int64_t> times;
        for (const SlowDevice& slow : entries)
        {
            times.insert({slow.fromPs, slow.untilPs});
        }
        std::pair<double, int64_t> before{1, 0};
        for (const int64_t time : times)
        {
            std::pair<double, int64_t> now{1, 0};
            for (const SlowDevice& slow : entries)
            {
                if (slow.fromPs <= time && time < slow.untilPs)
                {
                    now.first *= slow.factor;
                    now.second = std::max(now.second, slow.leastPs);
                }
            }
            if (now != before)
            {
                effect.devices[{device, time}] = now;
                before = now;
            }
        }
    }
}

/// @param a an event @param b an event @return whether a link or a GPU has both
bool
Meet(const ScenarioEvent& a, const ScenarioEvent& b)
{
    const auto share = [](const auto& x, const auto& y) {
        return std::any_of(x.begin(), x.end(), [&y](const auto& id) {
            return std::find(y.begin(), y.end(), id) != y.end();
        });
    };
    return share(a.links, b.links) || share(a.gpus, b.gpus);
}

/// @param a an event @param b an event @param alonePs time of the first job alone
/// @return whether they say the same of slow GPUs
bool
AreSameSlowGpus(const ScenarioEvent& a, const ScenarioEvent& b, int64_t alonePs)
{
    const auto end = [alonePs](const ScenarioEvent& event) {
        return event.until ? event.until->Resolve(alonePs) : SCENARIO_END_PS;
    };
    return a.kind == ScenarioEvent::Kind::SLOW_GPU && b.kind == a.kind && a.gpus == b.gpus &&
           a.factor == b.factor && a.at.Resolve(alonePs) == b.at.Resolve(alonePs) &&
           end(a) == end(b);
}

} // namespace

std::vector<std::string>
FindIdleEvents(const Scenario& scenario, const Cluster& cluster, uint32_t nDevices, int64_t alonePs)
{
    const std::vector<ScenarioEvent>& events = scenario.events;
    std::vector<bool> isIdle(events.size(), false);
    const auto isSame = [&](std::size_t number) {
        Scenario with;
        Scenario without;
        for (std::size_t i = 0; i < events.size(); ++i)
        {
            if (!isIdle[i] && Meet(events[i], events[number]))
            {
                with.events.push_back(events[i]);
                if (i != number)
                {
                    without.events.push_back(events[i]);
                }
            }
        }
        const auto find = [&](const Scenario& part) {
            const ScenarioPlan plan = MakeScenarioPlan(part, cluster, nDevices, alonePs);
            Effect effect;
            LinkEffects links(cluster, effect);
            for (const LinkChange& change : plan.changes)
            {
                links.Add(change);
            }
            AddDevices(plan, effect);
            return effect;
        };
        return find(with) == find(without);
    };
    for (std::size_t i = events.size(); i-- > 0;)
    {
        const bool isEvent = !events[i].links.empty() || !events[i].gpus.empty();
        isIdle[i] = isEvent && isSame(i);
    }
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < events.size(); ++i)
    {
        const std::string place = "/events/" + std::to_string(i) + ": ";
        if (isIdle[i])
        {
            lines.push_back(place + "has no effect: all links and GPUs are the same without it");
            continue;
        }
        for (std::size_t j = 0; j < i; ++j)
        {
            if (AreSameSlowGpus(events[i], events[j], alonePs))
            {
                lines.push_back(place + "is the same as /events/" + std::to_string(j) +
                                ": the factors of both multiply");
                break;
            }
        }
    }
    return lines;
}

std::vector<std::string>
FindIdlePlacements(const Cluster& cluster,
                   std::vector<PlacementRequest> requests,
                   uint64_t seed,
                   const std::vector<std::vector<VertexId>>& places)
{
    constexpr std::size_t MOST_WORK = 100000000; // vertices that are looked at
    std::vector<std::string> lines;
    if (requests.size() * requests.size() * cluster.GetVertices().size() > MOST_WORK)
    {
        return lines;
    }
    const auto isSame = [&](std::size_t job, const JobPlacement& other) {
        std::vector<PlacementRequest> others = requests;
        others[job].placement = other;
        try
        {
            return PlaceJobs(cluster, others, seed) == places;
        }
        catch (const std::invalid_argument&) // there is no room
        {
            return false;
        }
    };
    for (std::size_t i = requests.size(); i-- > 0;)
    {
        JobPlacement& own = requests[i].placement;
        if (!own.isAsked)
        {
            continue;
        }
        const std::string place =
            (i == 0 ? "/job" : "/jobs/" + std::to_string(i - 1)) + "/placement";
        const std::string effect = ": has no effect: all jobs have the same GPUs without it";
        if (isSame(i, JobPlacement()))
        {
            lines.push_back(place + effect);
            own = JobPlacement();
            continue;
        }
        // A field that is at its default says what it does; one that is not has to do something.
        const auto check = [&](const std::string& field, bool isSet, auto&& reset) {
            JobPlacement other = own;
            reset(other);
            if (isSet && isSame(i, other))
            {
                lines.push_back(place + '/' + field + effect);
            }
        };
        const bool isList = own.kind == PlacementKind::LIST;
        check("kind", !isList && own.kind != PlacementKind::PACKED, [](JobPlacement& other) {
            other.kind = PlacementKind::PACKED;
        });
        check("servers", !own.servers.empty(), [](JobPlacement& other) { other.servers.clear(); });
        check("rank_order", own.order != RankOrder::RAIL_ALIGNED, [](JobPlacement& other) {
            other.order = RankOrder::RAIL_ALIGNED;
        });
    }
    std::reverse(lines.begin(), lines.end());
    return lines;
}

} // namespace proteus
} // namespace ns3
