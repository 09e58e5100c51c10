/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-sensitivity.h"

#include "proteus-stop-signals.h"

#include "ns3/proteus-warning.h"

#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t MOST_FLOWS = 5; // strategies that are run for every change

/// @return whether a link is part of the network: outside servers, or between them
bool
IsNetwork(const Cluster& cluster, const Link& link)
{
    const std::vector<Vertex>& vertices = cluster.GetVertices();
    const bool isInside =
        vertices[link.a].server >= 0 && vertices[link.a].server == vertices[link.b].server;
    return !isInside && link.technology != LinkTechnology::NVLINK;
}

/// @return what is best on another cluster
SensitivityRow
SearchAgain(const SearchOptions& options, const SearchSubject& subject, const std::string& change)
{
    SensitivityRow row;
    row.change = change;
    try
    {
        const SearchOutcome outcome = RunSearch(options, subject);
        for (std::size_t i = 0; i < outcome.order.size(); ++i)
        {
            const SearchCandidate& candidate = outcome.candidates[outcome.order[i]];
            const double seconds = candidate.flow.seconds;
            const double value = outcome.objective.GetValue(seconds, candidate.devices);
            if (i == 0)
            {
                row.best = candidate.strategy;
                row.bestSeconds = seconds;
                row.bestValue = value;
            }
            if (candidate.name == subject.pinned.at(0).name)
            {
                row.todaySeconds = seconds;
                row.todayValue = value;
            }
        }
    }
    catch (const std::invalid_argument&)
    {
        row.best.clear(); // nothing fits
    }
    return row;
}

} // namespace

Cluster
ScaleNetwork(const Cluster& cluster, double factor)
{
    Cluster scaled(cluster.GetName());
    for (const Vertex& vertex : cluster.GetVertices())
    {
        scaled.AddVertex(vertex);
    }
    for (Link link : cluster.GetLinks())
    {
        link.bytesPerSecond *= IsNetwork(cluster, link) ? factor : 1;
        scaled.AddLink(link);
    }
    scaled.RankGpus(cluster.GetGpus());
    return scaled;
}

std::vector<SensitivityRow>
FindSensitivity(const SearchOptions& options,
                const SearchSubject& subject,
                const SearchOutcome& outcome)
{
    SearchOptions again = options;
    again.log = "";
    again.experts.clear();
    again.flows = MOST_FLOWS;
    again.reduced = 0;
    again.packets = 0;
    again.layoutPlans = 0;
    SearchSubject other = subject;
    other.pinned = {outcome.candidates[outcome.order.at(0)]};
    other.pinned[0].name = "today's best";
    other.pinned[0].analyticS = 0; // was for today
    other.pinned[0].plan.reset();
    other.pinned[0].flow = SearchRun();
    other.pinned[0].packet = SearchRun();
    std::vector<SensitivityRow> rows;
    if (subject.cluster.GetNServers() < 2)
    {
        Warn("--sensitivity: one server has no network, whose bandwidth could be half or twice");
    }
    for (const auto& [change, factor] : {std::pair("half the network bandwidth", 0.5),
                                         std::pair("twice the network bandwidth", 2.0)})
    {
        if (StopSignals::IsObeyed() || subject.cluster.GetNServers() < 2)
        {
            break;
        }
        other.cluster = ScaleNetwork(subject.cluster, factor);
        rows.push_back(SearchAgain(again, other, change));
    }
    if (!StopSignals::IsObeyed())
    {
        other.cluster = subject.cluster;
        other.memoryBytes = 2 * subject.memoryBytes;
        rows.push_back(SearchAgain(again, other, "twice the memory"));
    }
    return rows;
}

} // namespace proteus
} // namespace ns3
