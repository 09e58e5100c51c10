/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-breakdown.h"

#include "proteus-report-input.h"

#include "ns3/proteus-graph-representative.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a device does at a moment, what counts first first. Behind MOVING and WAITING there is one
/// activity for every Parallelism, in the order of EXPOSURE_PRIORITY.
enum Activity : uint8_t
{
    COMPUTING = 0,
    MOVING = 1,
    WAITING = MOVING + N_PARALLELISMS,
    STAGE_WAITING = WAITING + N_PARALLELISMS, //!< for another stage of a pipeline
    ON_HOST,
    N_CAUSES,                        //!< of time
    COMMUNICATION_KERNEL = N_CAUSES, //!< a profiler sees one; besides one of those above
    N_ACTIVITIES
};

/// A moment at which a device has one activity of a kind more or less.
struct Change
{
    int64_t timePs;
    uint8_t activity;
    bool begins;

    bool operator<(const Change& other) const
    {
        return timePs < other.timePs;
    }
};

/// @return by Parallelism, its position in EXPOSURE_PRIORITY
std::array<uint8_t, N_PARALLELISMS>
RankParallelisms()
{
    std::array<uint8_t, N_PARALLELISMS> ranks{};
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        ranks[static_cast<std::size_t>(EXPOSURE_PRIORITY[i])] = static_cast<uint8_t>(i);
    }
    return ranks;
}

/// When the last rank joined each communication; of those that some rank had not joined when the
/// run was stopped, the stop.
class LastJoins
{
  public:
    LastJoins(const ExecutionGraph& graph, const Timeline& timeline)
    {
        m_begins.reserve(graph.GetNTasks() + 1);
        std::size_t count = 0;
        for (const Task& task : graph.GetTasks())
        {
            m_begins.push_back(count);
            count += task.kind == TaskKind::COMMUNICATION ? graph.GetNInstances(task) : 0;
        }
        m_timesPs.resize(count);
        for (const Span& span : timeline.spans)
        {
            if (graph.GetTask(span.task).kind == TaskKind::COMMUNICATION)
            {
                Join(span);
            }
        }
        std::unordered_map<TaskInstance, std::size_t> missing;
        for (const Span& span : timeline.open)
        {
            const Task& task = graph.GetTask(span.task);
            if (task.kind == TaskKind::COMMUNICATION)
            {
                Join(span);
                const std::size_t ranks = graph.GetGroup(task.place).size();
                --missing.emplace(span.GetInstance(), ranks).first->second;
            }
        }
        for (const auto& [instance, ranks] : missing)
        {
            if (ranks > 0)
            {
                Get(instance) = timeline.endPs;
            }
        }
    }

    /// @param span of a communication @return when its last rank joined
    int64_t Find(const Span& span) const
    {
        return m_timesPs[m_begins[span.task] + span.microBatch];
    }

  private:
    int64_t& Get(const TaskInstance& instance)
    {
        return m_timesPs[m_begins[instance.task] + instance.microBatch];
    }

    void Join(const Span& span)
    {
        int64_t& last = Get(span.GetInstance());
        last = std::max(last, span.startPs);
    }

    std::vector<std::size_t> m_begins; //!< by task, among the times
    std::vector<int64_t> m_timesPs;    //!< by micro-batch of a communication
};

/// @return whether stages of a pipeline hand something over in a graph
bool
HasPipeline(const ExecutionGraph& graph)
{
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION && task.parallelism == Parallelism::PIPELINE)
        {
            return true;
        }
    }
    return false;
}

/// Adds up what a device does.
class Account
{
  public:
    /// @param hasPipeline whether a device without work waits for other stages
    /// @param endsPs of the pieces of the timeline
    Account(bool hasPipeline, const std::vector<int64_t>& endsPs)
        : m_hasPipeline(hasPipeline),
          m_endsPs(endsPs)
    {
    }

    /// @param changes of one device, put in order here @return where the time goes, by piece
    std::vector<DeviceBreakdown> Divide(std::vector<Change>& changes)
    {
        // Order at equal times does not matter: no time passes between.
        std::sort(changes.begin(), changes.end());
        for (const Change& change : changes)
        {
            Reach(change.timePs);
            change.begins ? ++m_active[change.activity] : --m_active[change.activity];
        }
        Reach(std::numeric_limits<int64_t>::max());
        return m_pieces;
    }

  private:
    /// @param from @param until activities @return the first of them that is active, or `until`
    std::size_t FindFirst(std::size_t from, std::size_t until) const
    {
        for (std::size_t i = from; i < until; ++i)
        {
            if (m_active[i] > 0)
            {
                return i;
            }
        }
        return until;
    }

    /// Time passes, until a moment, through the pieces before it.
    void Reach(int64_t untilPs)
    {
        while (m_pieces.size() < m_endsPs.size() && m_endsPs[m_pieces.size()] <= untilPs)
        {
            Pass(m_endsPs[m_pieces.size()]);
            m_result.totalPs = m_nowPs - m_beginPs;
            m_result.activityPs = std::max<int64_t>(m_lastPs - m_firstPs, 0);
            m_pieces.push_back(m_result);
            m_result = DeviceBreakdown();
            m_beginPs = m_nowPs;
            m_firstPs = std::numeric_limits<int64_t>::max();
            m_lastPs = 0;
        }
        if (m_pieces.size() < m_endsPs.size())
        {
            Pass(untilPs);
        }
    }

    /// Time passes within a piece, until a moment.
    void Pass(int64_t untilPs)
    {
        const int64_t lengthPs = untilPs - m_nowPs;
        const int64_t sincePs = m_nowPs;
        m_nowPs = untilPs;
        if (lengthPs == 0)
        {
            return;
        }
        m_result.communicationPs += FindFirst(MOVING, WAITING) < WAITING ? lengthPs : 0;
        const bool isCommunicating = m_active[COMMUNICATION_KERNEL] > 0;
        m_result.communicationKernelPs += isCommunicating ? lengthPs : 0;
        m_result.overlapPs += isCommunicating && m_active[COMPUTING] > 0 ? lengthPs : 0;
        if (isCommunicating || m_active[COMPUTING] > 0)
        {
            m_result.occupiedPs += lengthPs;
            m_firstPs = std::min(m_firstPs, sincePs);
            m_lastPs = untilPs;
        }
        GetPart(FindFirst(0, N_CAUSES)) += lengthPs;
    }

    /// @param activity what counts, N_CAUSES for nothing @return what its time is added to
    int64_t& GetPart(std::size_t activity)
    {
        const auto of = [](std::array<int64_t, N_PARALLELISMS> & parts, std::size_t rank) -> auto&
        {
            return parts[static_cast<std::size_t>(EXPOSURE_PRIORITY[rank])];
        };
        return activity == COMPUTING       ? m_result.computePs
               : activity < WAITING        ? of(m_result.exposedPs, activity - MOVING)
               : activity < STAGE_WAITING  ? of(m_result.waitingPs, activity - WAITING)
               : activity == STAGE_WAITING ? m_result.bubblePs
               : activity == ON_HOST       ? m_result.hostPs
               : m_hasPipeline             ? m_result.bubblePs
                                           : m_result.idlePs;
    }

    const bool m_hasPipeline;
    const std::vector<int64_t>& m_endsPs;
    std::vector<DeviceBreakdown> m_pieces; //!< those that are over
    DeviceBreakdown m_result;              //!< of the present piece
    std::array<uint32_t, N_ACTIVITIES> m_active{};
    int64_t m_nowPs{0};
    int64_t m_beginPs{0};                                   //!< of the present piece
    int64_t m_firstPs{std::numeric_limits<int64_t>::max()}; //!< begin of the first kernel in it
    int64_t m_lastPs{0};                                    //!< end of the last one
};

/// The spans of a timeline by device, whatever is done and then whatever is open, as positions:
/// changes of all devices at once would take several times the memory of the spans.
class SpansOfDevices
{
  public:
    SpansOfDevices(const Timeline& timeline, std::size_t nDevices)
        : m_timeline(timeline),
          m_begins(nDevices + 1)
    {
        const std::size_t nSpans = timeline.spans.size() + timeline.open.size();
        if (nSpans > std::numeric_limits<uint32_t>::max())
        {
            throw std::length_error("timeline: " + std::to_string(nSpans) + " spans are too many");
        }
        for (std::size_t i = 0; i < nSpans; ++i)
        {
            ++m_begins[Get(i).device + 1];
        }
        std::partial_sum(m_begins.begin(), m_begins.end(), m_begins.begin());
        m_positions.resize(nSpans);
        std::vector<std::size_t> next = m_begins;
        for (std::size_t i = 0; i < nSpans; ++i)
        {
            m_positions[next[Get(i).device]++] = static_cast<uint32_t>(i);
        }
    }

    /// @param device one of them @param visit gets its spans, in the order of the timeline
    template <class Visit>
    void ForEach(std::size_t device, const Visit& visit) const
    {
        for (std::size_t i = m_begins[device]; i < m_begins[device + 1]; ++i)
        {
            visit(Get(m_positions[i]));
        }
    }

  private:
    const Span& Get(std::size_t position) const
    {
        const std::size_t nDone = m_timeline.spans.size();
        return position < nDone ? m_timeline.spans[position] : m_timeline.open[position - nDone];
    }

    const Timeline& m_timeline;
    std::vector<std::size_t> m_begins; //!< by device, among the positions; the last is the end
    std::vector<uint32_t> m_positions; //!< among what is done and open, by device
};

int64_t
Sum(const std::array<int64_t, N_PARALLELISMS>& parts)
{
    return std::accumulate(parts.begin(), parts.end(), int64_t{0});
}

} // namespace

int64_t
DeviceBreakdown::GetExposedPs() const
{
    return Sum(exposedPs);
}

int64_t
DeviceBreakdown::GetWaitingPs() const
{
    return Sum(waitingPs);
}

std::vector<DeviceBreakdown>
BreakDown(const ExecutionGraph& graph, const Timeline& timeline)
{
    return std::move(BreakDown(graph, timeline, {timeline.endPs}).front());
}

std::vector<std::vector<DeviceBreakdown>>
BreakDown(const ExecutionGraph& graph, const Timeline& timeline, const std::vector<int64_t>& endsPs)
{
    RequireTimelineOf(graph, timeline);
    Sends(graph, timeline); // each has both of its sides
    const LastJoins joins(graph, timeline);
    const auto ranks = RankParallelisms();
    std::vector<Change> changes; // of one device
    const auto count = [&](const Span& span) {
        const auto add = [&](std::size_t activity, int64_t startPs, int64_t endPs) {
            if (startPs < endPs)
            {
                const auto kind = static_cast<uint8_t>(activity);
                changes.push_back({startPs, kind, true});
                changes.push_back({endPs, kind, false});
            }
        };
        const Task& task = graph.GetTask(span.task);
        if (task.kind != TaskKind::COMMUNICATION)
        {
            add(graph.IsHostStream(task.stream) ? ON_HOST : COMPUTING, span.startPs, span.endPs);
            return;
        }
        const std::size_t rank = ranks[static_cast<std::size_t>(task.parallelism)];
        const int64_t joinedPs = std::min(joins.Find(span), span.endPs);
        add(task.parallelism == Parallelism::PIPELINE ? std::size_t{STAGE_WAITING} : WAITING + rank,
            span.startPs,
            joinedPs);
        add(MOVING + rank, joinedPs, span.endPs);
        add(COMMUNICATION_KERNEL, IsReceive(graph, span) ? joinedPs : span.startPs, span.endPs);
    };
    const SpansOfDevices spans(timeline, graph.GetNDevices());
    const bool hasPipeline = HasPipeline(graph);
    std::vector<std::vector<DeviceBreakdown>> result(endsPs.size());
    for (std::size_t device = 0; device < graph.GetNDevices(); ++device)
    {
        changes.clear();
        spans.ForEach(device, count);
        const auto pieces = Account(hasPipeline, endsPs).Divide(changes);
        for (std::size_t i = 0; i < pieces.size(); ++i)
        {
            result[i].push_back(pieces[i]);
        }
    }
    if (HasRepresentative(graph))
    {
        for (auto& devices : result)
        {
            std::fill(devices.begin() + 1, devices.end(), devices.front());
        }
    }
    return result;
}

MeanBreakdown
MeanOf(const std::vector<DeviceBreakdown>& breakdowns)
{
    MeanBreakdown mean;
    if (breakdowns.empty())
    {
        return mean;
    }
    constexpr double PS_PER_S = 1e12;
    const auto average = [&](auto get) {
        double sum = 0; // picoseconds of a million devices can exceed 63 bits
        for (const DeviceBreakdown& breakdown : breakdowns)
        {
            sum += static_cast<double>(get(breakdown));
        }
        return sum / static_cast<double>(breakdowns.size()) / PS_PER_S;
    };
    using B = DeviceBreakdown;
    mean.computeS = average([](const B& b) { return b.computePs; });
    mean.exposedCommunicationS = average([](const B& b) { return b.GetExposedPs(); });
    mean.waitingForPeersS = average([](const B& b) { return b.GetWaitingPs(); });
    mean.bubbleS = average([](const B& b) { return b.bubblePs; });
    mean.hostS = average([](const B& b) { return b.hostPs; });
    mean.idleS = average([](const B& b) { return b.idlePs; });
    mean.totalS = average([](const B& b) { return b.totalPs; });
    mean.communicationS = average([](const B& b) { return b.communicationPs; });
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        mean.exposedS[i] = average([i](const B& b) { return b.exposedPs[i]; });
        mean.waitingS[i] = average([i](const B& b) { return b.waitingPs[i]; });
    }
    return mean;
}

} // namespace proteus
} // namespace ns3
