/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-replay.h"

#include "proteus-kineto-communication.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_map>

namespace ns3
{
namespace proteus
{
namespace kineto
{

namespace
{

constexpr double PS_PER_US = 1e6;
/// Work that begins so much later than it could waited for something; in microseconds.
constexpr double WAIT_US = 5;
/// What a GPU needs at most to begin a kernel that can run; in microseconds. Of 65,000 kernels in
/// six traces (V100 and A100; doc/traces.rst) 0.8 % begin later than that.
constexpr double MOST_START_US = 20;
/// Stream of the host's calls.
constexpr const char* HOST_STREAM = "host";

/// Makes the trace of a rank of its events.
class TraceMaker
{
  public:
    TraceMaker(Rank& events,
               TraceGraph& graph,
               std::map<std::string, StreamId>& streams,
               bool standsForAll)
        : m_events(events),
          m_graph(graph),
          m_streams(streams),
          m_communications(events, graph, standsForAll),
          m_trace(std::make_shared<RankTrace>())
    {
        m_trace->file = events.file;
    }

    std::shared_ptr<RankTrace> Make()
    {
        Sort();
        AddNodes();
        OrderStreams();
        OrderHost();
        m_events.syncs.empty() ? GuessWaits() : AddWaits();
        auto& all = m_trace->dependencies;
        SortUnique(all);
        KeepPauses();
        return m_trace;
    }

  private:
    static constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

    void Sort()
    {
        auto& gpu = m_events.gpu;
        std::stable_sort(gpu.begin(), gpu.end(), [](const GpuEvent& a, const GpuEvent& b) {
            return a.startUs < b.startUs;
        });
        auto& calls = m_events.calls;
        std::stable_sort(calls.begin(), calls.end(), [](const HostCall& a, const HostCall& b) {
            return a.endUs < b.endUs;
        });
        for (std::size_t i = 0; i < calls.size(); i++)
        {
            m_callOf.emplace(calls[i].correlation, i);
        }
        m_launchOf.assign(gpu.size(), NONE);
        m_launches.resize(calls.size());
        for (std::size_t i = 0; i < gpu.size(); i++)
        {
            const auto found = m_callOf.find(gpu[i].correlation);
            if (gpu[i].correlation >= 0 && found != m_callOf.end())
            {
                m_launchOf[i] = found->second;
                m_launches[found->second].push_back(i);
            }
        }
        for (const GpuEvent& event : gpu)
        {
            m_beginUs = std::min(m_beginUs, event.startUs);
        }
        for (const HostCall& call : calls)
        {
            m_beginUs = std::min(m_beginUs, call.startUs);
        }
    }

    StreamId GetStream(const std::string& name, bool isHost)
    {
        const auto found = m_streams.emplace(name, 0);
        if (found.second)
        {
            found.first->second = m_graph.AddStream(name, StreamOrder::IN_ORDER, isHost);
        }
        m_streamNames[found.first->second] = name;
        return found.first->second;
    }

    static int64_t ToPs(double us)
    {
        return std::llround(std::max(us, 0.0) * PS_PER_US);
    }

    /// Nodes of the GPU and the host, together by time: their ids.
    void AddNodes()
    {
        const auto& gpu = m_events.gpu;
        const auto& calls = m_events.calls;
        m_gpuNode.resize(gpu.size());
        m_hostNode.assign(calls.size(), NO_ID);
        std::size_t nextCall = 0;
        double lastUs = m_beginUs;
        for (std::size_t i = 0; i <= gpu.size(); i++)
        {
            for (; nextCall < calls.size() &&
                   (i == gpu.size() || calls[nextCall].endUs <= gpu[i].startUs);
                 nextCall++)
            {
                AddCall(nextCall, lastUs);
            }
            if (i < gpu.size())
            {
                AddGpuEvent(i);
            }
        }
    }

    /// @param node to add @param beginUs when it began in the recording @param endUs when it ended
    uint32_t AddNode(TraceNode node, double beginUs, double endUs)
    {
        node.id = m_trace->nodes.size();
        m_trace->nodes.push_back(node);
        m_recorded.push_back({beginUs, endUs});
        m_events.recordedUs = std::max(m_events.recordedUs, endUs - m_beginUs);
        return static_cast<uint32_t>(node.id);
    }

    /// What began later than it could. A GPU needs some microseconds from one kernel to the next,
    /// and a call to return: these belong to what is late. What is longer has a cause that is not
    /// in the trace, and is kept as a pause before it.
    void KeepPauses()
    {
        std::vector<double> couldBeginUs(m_recorded.size(), m_beginUs);
        for (const auto& [after, before] : m_trace->dependencies)
        {
            couldBeginUs[after] = std::max(couldBeginUs[after], m_recorded[before].endUs);
        }
        std::unordered_map<uint32_t, uint32_t> pauses; // by what is late
        for (uint32_t i = 0; i < m_recorded.size(); i++)
        {
            TraceNode& node = m_trace->nodes[i];
            const double lateUs = m_recorded[i].beginUs - couldBeginUs[i];
            const bool isHost = node.stream == m_hostStream;
            // A receive waits for nothing, so that nothing can be put before it.
            if (lateUs <= MOST_START_US || isHost || node.kind == TraceNode::Kind::RECEIVE)
            {
                node.durationPs += node.kind == TraceNode::Kind::COMPUTE ? ToPs(lateUs) : 0;
            }
            else
            {
                pauses.emplace(i, AddPause(i, lateUs));
            }
        }
        // A pause begins when what is late could have begun.
        auto& all = m_trace->dependencies;
        const std::size_t n = all.size();
        for (std::size_t i = 0; i < n; i++)
        {
            const auto found = pauses.find(all[i].first);
            if (found != pauses.end())
            {
                const uint32_t before = all[i].second;
                all.emplace_back(found->second, before);
            }
        }
        for (const auto& [late, pause] : pauses)
        {
            all.emplace_back(late, pause);
        }
        std::sort(all.begin(), all.end());
    }

    /// @param late node @param pauseUs how late it is @return a node for the pause before it
    uint32_t AddPause(uint32_t late, double pauseUs)
    {
        TraceNode pause;
        pause.kind = TraceNode::Kind::COMPUTE;
        pause.id = late; // its turn is that of what is late
        pause.stream =
            GetStream("pauses of " + m_streamNames.at(m_trace->nodes[late].stream), true);
        pause.name = m_graph.AddName("pause");
        pause.durationPs = ToPs(pauseUs);
        m_trace->nodes.push_back(pause);
        ++m_events.nPauses;
        m_events.pausesUs += pauseUs;
        return static_cast<uint32_t>(m_trace->nodes.size() - 1);
    }

    void AddCall(std::size_t i, double& lastUs)
    {
        const HostCall& call = m_events.calls[i];
        const bool isSync = call.kind == HostCall::Kind::SYNCHRONIZE;
        if (!isSync && m_launches[i].empty())
        {
            return; // its time counts to the next one
        }
        // What the host does before; a call that waits takes no time besides.
        const bool isBlocking = isSync || IsBlockingCopy(i);
        TraceNode node;
        node.kind = TraceNode::Kind::COMPUTE;
        node.stream = m_hostStream = GetStream(HOST_STREAM, true);
        node.name = m_graph.AddName(m_events.names[call.name]);
        const double endUs = std::max(isBlocking ? call.startUs : call.endUs, lastUs);
        node.durationPs = ToPs(endUs - lastUs);
        m_hostNode[i] = AddNode(node, lastUs, endUs);
        lastUs = std::max(lastUs, call.endUs);
        if (isBlocking && !isSync)
        {
            // The next call waits for it, so that what the host does then begins no earlier.
            for (const std::size_t event : m_launches[i])
            {
                lastUs = std::max(lastUs, m_events.gpu[event].EndUs());
            }
        }
    }

    /// Whether a copy ended before the call that launched it returned, or ran for most of its time
    /// before that: copies of pageable memory are done, or staged, when their call returns (CUDA
    /// Driver API, "API synchronization behavior"), and the clocks of host and GPU differ by some
    /// tens of microseconds (34 in et_replay/tests/inputs/resnet_kineto.json.gz of
    /// facebookresearch/param).
    bool IsBlockingCopy(std::size_t call) const
    {
        for (const std::size_t i : m_launches[call])
        {
            const GpuEvent& event = m_events.gpu[i];
            const HostCall& host = m_events.calls[call];
            const double together = std::min(event.EndUs(), host.endUs) - event.startUs;
            if (event.isCopy && (event.EndUs() <= host.endUs || 2 * together > event.durationUs))
            {
                return true;
            }
        }
        return false;
    }

    void AddGpuEvent(std::size_t i)
    {
        const GpuEvent& event = m_events.gpu[i];
        TraceNode node;
        node.stream = GetStream("stream " + std::to_string(event.stream), false);
        node.name = m_graph.AddName(m_events.names[event.name]);
        if (event.communication == NO_ID)
        {
            node.kind = TraceNode::Kind::COMPUTE;
            node.durationPs = ToPs(event.durationUs);
        }
        else
        {
            m_communications.Set(event, node);
            node.recordedPs = ToPs(event.durationUs);
            m_events.hasMessages |= node.kind != TraceNode::Kind::COLLECTIVE;
            if (node.kind == TraceNode::Kind::COLLECTIVE)
            {
                m_events.firstEndUs.emplace(node.peer, event.EndUs() - m_beginUs);
            }
        }
        m_gpuNode[i] = AddNode(node, event.startUs, event.EndUs());
    }

    void Depend(uint32_t after, uint32_t before)
    {
        m_trace->dependencies.emplace_back(after, before);
    }

    /// Counts for how long two kernels that follow each other on a stream ran together.
    void NoteOverlap(const GpuEvent& before, const GpuEvent& event)
    {
        if (before.communication == NO_ID && event.communication == NO_ID)
        {
            const double end = std::min(before.EndUs(), event.EndUs());
            m_events.overlapUs += std::max(end - event.startUs, 0.0);
        }
    }

    void OrderStreams()
    {
        std::unordered_map<int64_t, std::size_t> last;
        m_before.assign(m_events.gpu.size(), NONE);
        for (std::size_t i = 0; i < m_events.gpu.size(); i++)
        {
            const auto found = last.emplace(m_events.gpu[i].stream, i);
            if (!found.second)
            {
                m_before[i] = found.first->second;
                NoteOverlap(m_events.gpu[m_before[i]], m_events.gpu[i]);
                Depend(m_gpuNode[i], m_gpuNode[m_before[i]]);
                found.first->second = i;
            }
            if (m_launchOf[i] != NONE)
            {
                Depend(m_gpuNode[i], m_hostNode[m_launchOf[i]]);
            }
        }
    }

    /// The host's calls one after the other, and what those that wait wait for.
    void OrderHost()
    {
        const auto& calls = m_events.calls;
        std::unordered_map<int64_t, const SyncEvent*> told; // by correlation
        for (const SyncEvent& sync : m_events.syncs)
        {
            if (!sync.isStreamWait && sync.correlation >= 0)
            {
                told.emplace(sync.correlation, &sync);
            }
        }
        std::map<int64_t, std::size_t> launched; // last work by stream
        std::vector<uint32_t> waits;             // what the next call waits for
        uint32_t last = NO_ID;
        for (std::size_t i = 0; i < calls.size(); i++)
        {
            if (m_hostNode[i] == NO_ID)
            {
                continue;
            }
            if (last != NO_ID)
            {
                Depend(m_hostNode[i], last);
            }
            for (const uint32_t before : waits)
            {
                Depend(m_hostNode[i], before);
            }
            waits.clear();
            last = m_hostNode[i];
            for (const std::size_t event : m_launches[i])
            {
                auto& latest = launched.emplace(m_events.gpu[event].stream, event).first->second;
                latest = std::max(latest, event);
            }
            if (calls[i].kind == HostCall::Kind::SYNCHRONIZE)
            {
                const auto sync = told.find(calls[i].correlation);
                waits = FindEnded(calls[i], sync == told.end() ? nullptr : sync->second, launched);
            }
            else if (IsBlockingCopy(i))
            {
                for (const std::size_t event : m_launches[i])
                {
                    waits.push_back(m_gpuNode[event]);
                }
            }
        }
    }

    /**
     * @param call that waits for the GPU
     * @param sync what the profiler tells of it, or null
     * @param launched last work so far, by stream
     * @return nodes of what it waits for
     */
    std::vector<uint32_t> FindEnded(const HostCall& call,
                                    const SyncEvent* sync,
                                    const std::map<int64_t, std::size_t>& launched) const
    {
        constexpr int64_t ALL = -1;
        const int64_t only = sync == nullptr           ? ALL
                             : sync->waitedStream >= 0 ? sync->waitedStream
                             : Contains(m_events.names[call.name], "StreamSync") ? sync->stream
                                                                                 : ALL;
        std::vector<uint32_t> nodes;
        for (const auto& [stream, event] : launched)
        {
            const bool hadEnded = m_events.gpu[event].EndUs() <= call.endUs;
            if ((only < 0 || stream == only) && hadEnded)
            {
                nodes.push_back(m_gpuNode[event]);
            }
        }
        return nodes;
    }

    /// Work of a stream, by when it was launched.
    struct Launched
    {
        std::size_t call;
        std::size_t event;
    };

    /// @return by stream, its work that has a call, in the order of the calls
    std::map<int64_t, std::vector<Launched>> SortByLaunch() const
    {
        std::map<int64_t, std::vector<Launched>> byStream;
        for (std::size_t i = 0; i < m_events.gpu.size(); i++)
        {
            if (m_launchOf[i] != NONE)
            {
                byStream[m_events.gpu[i].stream].push_back({m_launchOf[i], i});
            }
        }
        for (auto& entry : byStream)
        {
            std::stable_sort(entry.second.begin(),
                             entry.second.end(),
                             [](const Launched& a, const Launched& b) { return a.call < b.call; });
        }
        return byStream;
    }

    static bool ComesBefore(const Launched& it, std::size_t call)
    {
        return it.call < call;
    }

    /// Counts a wait that does not say who waits for what.
    void NoteLost(const SyncEvent& sync)
    {
        const bool isKnown = m_callOf.count(sync.correlation) > 0;
        const bool isWhole = sync.isStreamWait
                                 ? sync.stream >= 0 && sync.waitedStream >= 0
                                 : !isKnown || m_events.calls[m_callOf.at(sync.correlation)].kind ==
                                                   HostCall::Kind::SYNCHRONIZE;
        ++m_events.nSyncs;
        m_events.nLostSyncs += isKnown && isWhole ? 0 : 1;
    }

    /// What the profiler tells of streams that wait for others.
    void AddWaits()
    {
        const auto byStream = SortByLaunch();
        for (const SyncEvent& sync : m_events.syncs)
        {
            NoteLost(sync);
            const auto waiting = byStream.find(sync.stream);
            const auto waited = byStream.find(sync.waitedStream);
            const auto call = m_callOf.find(sync.correlation);
            if (!sync.isStreamWait || waiting == byStream.end() || waited == byStream.end() ||
                waiting == waited || call == m_callOf.end())
            {
                continue;
            }
            const auto next = std::lower_bound(waiting->second.begin(),
                                               waiting->second.end(),
                                               call->second,
                                               &ComesBefore);
            // The work before the event was recorded; where that call is not in the trace, before
            // this one.
            const auto record = m_callOf.find(sync.recordCorrelation);
            const std::size_t recorded = record == m_callOf.end() || sync.recordCorrelation < 0
                                             ? call->second
                                             : record->second;
            const auto last = std::lower_bound(waited->second.begin(),
                                               waited->second.end(),
                                               recorded,
                                               &ComesBefore);
            if (next != waiting->second.end() && last != waited->second.begin())
            {
                Depend(m_gpuNode[next->event], m_gpuNode[std::prev(last)->event]);
            }
        }
    }

    /// Waits between streams as the times suggest them.
    void GuessWaits()
    {
        const auto& gpu = m_events.gpu;
        // By end, since what ended last before something began is what it waited for.
        std::vector<std::size_t> byEnd(gpu.size());
        for (std::size_t i = 0; i < gpu.size(); i++)
        {
            byEnd[i] = i;
        }
        std::stable_sort(byEnd.begin(), byEnd.end(), [&](std::size_t a, std::size_t b) {
            return gpu[a].EndUs() < gpu[b].EndUs();
        });
        std::map<int64_t, std::size_t> ended; // by stream, what ended last so far
        std::size_t next = 0;
        for (std::size_t i = 0; i < gpu.size(); i++)
        {
            for (; next < byEnd.size() && gpu[byEnd[next]].EndUs() <= gpu[i].startUs; next++)
            {
                ended[gpu[byEnd[next]].stream] = byEnd[next];
            }
            double couldBegin = m_beginUs;
            if (m_before[i] != NONE)
            {
                couldBegin = std::max(couldBegin, gpu[m_before[i]].EndUs());
            }
            if (m_launchOf[i] != NONE)
            {
                couldBegin = std::max(couldBegin, m_events.calls[m_launchOf[i]].endUs);
            }
            const bool isCommunication = gpu[i].communication != NO_ID;
            std::size_t waited = NONE;
            for (const auto& [stream, event] : ended)
            {
                const bool isLater = waited == NONE || gpu[event].EndUs() > gpu[waited].EndUs();
                // Only what was launched before can have been waited for.
                const bool isLaunched = m_launchOf[i] == NONE || m_launchOf[event] == NONE ||
                                        m_launchOf[event] < m_launchOf[i];
                if (stream != gpu[i].stream && isLater && isLaunched && event < i)
                {
                    waited = event;
                }
            }
            if (waited != NONE && (isCommunication || (gpu[i].startUs - couldBegin > WAIT_US &&
                                                       gpu[waited].EndUs() > couldBegin)))
            {
                Depend(m_gpuNode[i], m_gpuNode[waited]);
            }
        }
    }

    Rank& m_events;
    TraceGraph& m_graph;
    std::map<std::string, StreamId>& m_streams;
    CommunicationMaker m_communications;
    std::shared_ptr<RankTrace> m_trace;

    /// When something began and ended in the recording.
    struct Recorded
    {
        double beginUs;
        double endUs;
    };

    double m_beginUs{MAX_TIME_US};
    std::vector<Recorded> m_recorded;                  //!< by node, but for pauses
    std::map<StreamId, std::string> m_streamNames;     //!< of this rank
    StreamId m_hostStream{NO_STREAM};                  //!< once the host has done something
    std::unordered_map<int64_t, std::size_t> m_callOf; //!< by correlation
    std::vector<std::size_t> m_launchOf;               //!< by GPU event: its call
    std::vector<std::vector<std::size_t>> m_launches;  //!< by call: its GPU events
    std::vector<std::size_t> m_before;                 //!< by GPU event: the one before it
    std::vector<uint32_t> m_gpuNode;                   //!< by GPU event
    std::vector<uint32_t> m_hostNode;                  //!< by call, NO_ID if it has none
};

} // namespace

std::shared_ptr<RankTrace>
MakeReplay(Rank& events,
           TraceGraph& graph,
           std::map<std::string, StreamId>& streams,
           bool standsForAll)
{
    return TraceMaker(events, graph, streams, standsForAll).Make();
}

} // namespace kineto
} // namespace proteus
} // namespace ns3
