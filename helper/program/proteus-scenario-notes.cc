/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-notes.h"

#include "ns3/proteus-network-links.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-scenario-idle.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12;

} // namespace

void
ScenarioNotes::NoteTooLate(int64_t alonePs, RunRecord& record) const
{
    const auto note = [&](const std::string& place, const ScenarioTime& time) {
        const double beginPs =
            time.isShare ? time.share * static_cast<double>(alonePs) : static_cast<double>(time.ps);
        if (!record.isPartial && beginPs >= static_cast<double>(record.timeline.endPs))
        {
            record.notes.push_back(m_file + ": " + place + ": has no effect: it begins at " +
                                   FormatTime(beginPs * PS) + ", when all jobs have ended");
        }
    };
    for (std::size_t i = 0; i < m_scenario.events.size(); ++i)
    {
        note("/events/" + std::to_string(i), m_scenario.events[i].at);
    }
    for (std::size_t i = 0; i < m_scenario.traffic.size(); ++i)
    {
        note("/traffic/" + std::to_string(i), m_scenario.traffic[i].from);
    }
}

void
ScenarioNotes::NoteUnsentTraffic(int64_t alonePs, RunRecord& record) const
{
    if (record.isPartial)
    {
        return;
    }
    const int64_t endPs = record.timeline.endPs;
    for (std::size_t i = 0; i < m_scenario.traffic.size(); ++i)
    {
        const ScenarioTraffic& traffic = m_scenario.traffic[i];
        const TrafficPattern& pattern = traffic.pattern;
        const int64_t fromPs = traffic.from.Resolve(alonePs);
        if (fromPs >= endPs)
        {
            continue; // NoteTooLate()
        }
        const auto note = [&](const std::string& text) {
            record.notes.push_back(m_file + ": /traffic/" + std::to_string(i) + text);
        };
        const int64_t untilPs =
            traffic.until ? std::min(endPs, traffic.until->Resolve(alonePs)) : endPs;
        const auto isSent = [i](const TrafficRecord& message) { return message.source == i; };
        const auto sent = static_cast<std::size_t>(
            std::count_if(record.traffic.begin(), record.traffic.end(), isSent));
        if (pattern.kind == TrafficPattern::Kind::LIST && sent < pattern.messages.size())
        {
            note(": " + std::to_string(pattern.messages.size() - sent) + " of " +
                 FormatThings(pattern.messages.size(), "message") +
                 " would begin when all jobs have ended, and are not sent");
        }
        else if (pattern.kind == TrafficPattern::Kind::POISSON && sent == 0)
        {
            note(": has no effect: no message begins in the " +
                 FormatTime(static_cast<double>(untilPs - fromPs) * PS) + " that it lasts");
        }
        else if (pattern.kind == TrafficPattern::Kind::ROUNDS &&
                 pattern.everyPs >= untilPs - fromPs)
        {
            note("/every: has no effect: traffic ends, " +
                 FormatTime(static_cast<double>(untilPs - fromPs) * PS) +
                 " after it has begun, before it would be sent again");
        }
    }
}

bool
ScenarioNotes::SlowsATask(const ScenarioEvent& event,
                          int64_t alonePs,
                          const Timeline& timeline) const
{
    constexpr int64_t SOME_PS = 1000000; // of a task whose time the run has found
    Scenario lone;
    lone.events.push_back(event);
    const ScenarioPlan plan = MakeScenarioPlan(lone, m_ranked, m_graph.GetNDevices(), alonePs);
    return std::any_of(timeline.spans.begin(), timeline.spans.end(), [&](const Span& span) {
        const Task& task = m_graph.GetTask(span.task);
        const int64_t ownPs = task.durationPs < 0 ? SOME_PS : task.durationPs;
        return task.kind == TaskKind::COMPUTE &&
               (task.durationPs < 0 && event.kind == ScenarioEvent::Kind::SLOW_HOST
                    ? plan.Stretch(span.device, span.startPs, 0) > 0
                    : plan.Stretch(span.device, span.startPs, ownPs) != ownPs);
    });
}

bool
ScenarioNotes::IsUncrossed(const ScenarioEvent& event, const RunRecord& record) const
{
    const auto isOfNetwork = [this](LinkId link) { return IsOfNetwork(m_ranked.GetLinks()[link]); };
    const bool fails = event.kind == ScenarioEvent::Kind::DOWN;
    if (event.links.empty() || record.links.empty() ||
        (fails && !std::all_of(event.links.begin(), event.links.end(), isOfNetwork)))
    {
        return false;
    }
    return std::none_of(record.links.begin(), record.links.end(), [&](const LinkStatistics& use) {
        return use.wireBytes > 0 &&
               (fails ? isOfNetwork(use.link)
                      : std::count(event.links.begin(), event.links.end(), use.link) > 0);
    });
}

bool
ScenarioNotes::IsOfIdleServers(const ScenarioEvent& event, const std::set<VertexId>& busy) const
{
    const auto isIdle = [&](VertexId end) {
        const Vertex& vertex = m_ranked.GetVertices()[end];
        return (vertex.kind == VertexKind::NIC || vertex.kind == VertexKind::GPU) &&
               std::none_of(busy.begin(), busy.end(), [&](VertexId gpu) {
                   return m_ranked.GetVertices()[gpu].server == vertex.server;
               });
    };
    return event.kind == ScenarioEvent::Kind::DOWN && m_scenario.traffic.empty() &&
           !event.links.empty() &&
           std::all_of(event.links.begin(), event.links.end(), [&](LinkId link) {
               return isIdle(m_ranked.GetLinks()[link].a) || isIdle(m_ranked.GetLinks()[link].b);
           });
}

void
ScenarioNotes::NoteIdleEvents(int64_t alonePs, RunRecord& record) const
{
    const uint32_t nDevices = m_graph.GetNDevices();
    const auto begin = m_ranked.GetGpus().begin();
    const std::set<VertexId> busy(begin, begin + nDevices);
    Scenario others = m_scenario;
    for (std::size_t i = 0; i < m_scenario.events.size(); ++i)
    {
        const std::vector<VertexId>& gpus = m_scenario.events[i].gpus;
        const auto isIdle = [&busy](VertexId gpu) { return busy.count(gpu) == 0; };
        if (!gpus.empty() && std::all_of(gpus.begin(), gpus.end(), isIdle))
        {
            record.notes.push_back(m_file + ": /events/" + std::to_string(i) +
                                   ": has no effect: no job runs on a GPU that it names");
            others.events[i].gpus.clear(); // which is no event any more
        }
        else if (!gpus.empty() && !record.isPartial &&
                 m_scenario.events[i].at.Resolve(alonePs) < record.timeline.endPs &&
                 !SlowsATask(m_scenario.events[i], alonePs, record.timeline))
        {
            record.notes.push_back(m_file + ": /events/" + std::to_string(i) +
                                   ": has no effect: no compute task that begins meanwhile on "
                                   "its GPUs takes longer");
            others.events[i].gpus.clear();
        }
        else if (!record.isPartial && (IsUncrossed(m_scenario.events[i], record) ||
                                       IsOfIdleServers(m_scenario.events[i], busy)))
        {
            record.notes.push_back(m_file + ": /events/" + std::to_string(i) +
                                   ": has no effect: nothing crosses its links");
            others.events[i].links.clear();
        }
    }
    for (const std::string& line : FindIdleEvents(others, m_ranked, nDevices, alonePs))
    {
        record.notes.push_back(m_file + ": " + line);
    }
}

} // namespace proteus
} // namespace ns3
