/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto.h"

#include "proteus-kineto-events.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using kineto::BeginsWith;
using kineto::Communication;
using kineto::Contains;
using kineto::GpuEvent;
using kineto::HostCall;
using kineto::SyncEvent;

constexpr double PS_PER_US = 1e6;
/// Work that begins so much later than it could waited for something; in microseconds.
constexpr double WAIT_US = 5;
/// Stream of the host's calls.
constexpr const char* HOST_STREAM = "host";
/// Bytes of a barrier's all-reduce.
constexpr uint64_t BARRIER_BYTES = 4;

/// @return bytes of an element, 0 if the type is unknown
uint64_t
SizeOf(const std::string& type)
{
    static const std::unordered_map<std::string, uint64_t> sizes{
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Short", 2},
        {"Half", 2},
        {"BFloat16", 2},
        {"Int", 4},
        {"Float", 4},
        {"Long", 8},
        {"Double", 8},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"ComplexHalf", 4},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2fnuz", 1},
        {"Float8_e4m3fnuz", 1},
        {"UInt16", 2},
        {"UInt32", 4},
        {"UInt64", 8},
    };
    const auto found = sizes.find(type);
    return found == sizes.end() ? 0 : found->second;
}

/// Makes the trace of a rank of its events.
class TraceMaker
{
  public:
    TraceMaker(kineto::Rank& events,
               TraceGraph& graph,
               std::map<std::string, StreamId>& streams,
               bool standsForAll)
        : m_events(events),
          m_graph(graph),
          m_streams(streams),
          m_standsForAll(standsForAll),
          m_trace(std::make_shared<RankTrace>())
    {
        m_trace->file = events.file;
    }

    std::shared_ptr<const RankTrace> Make()
    {
        Sort();
        AddNodes();
        OrderStreams();
        OrderHost();
        m_events.syncs.empty() ? GuessWaits() : AddWaits();
        auto& all = m_trace->dependencies;
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
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

    StreamId GetStream(const std::string& name)
    {
        const auto found = m_streams.emplace(name, 0);
        if (found.second)
        {
            found.first->second =
                m_graph.AddStream(name, StreamOrder::IN_ORDER, name == HOST_STREAM);
        }
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

    uint32_t AddNode(TraceNode node)
    {
        node.id = m_trace->nodes.size();
        m_trace->nodes.push_back(node);
        return static_cast<uint32_t>(node.id);
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
        node.stream = GetStream(HOST_STREAM);
        node.name = m_graph.AddName(m_events.names[call.name]);
        node.durationPs = ToPs((isBlocking ? call.startUs : call.endUs) - lastUs);
        m_hostNode[i] = AddNode(node);
        lastUs = std::max(lastUs, call.endUs);
    }

    /// Whether a copy ended before the call that launched it returned.
    bool IsBlockingCopy(std::size_t call) const
    {
        for (const std::size_t i : m_launches[call])
        {
            const GpuEvent& event = m_events.gpu[i];
            if (event.isCopy && event.EndUs() <= m_events.calls[call].endUs)
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
        node.stream = GetStream("stream " + std::to_string(event.stream));
        node.name = m_graph.AddName(m_events.names[event.name]);
        if (event.communication == NO_ID)
        {
            node.kind = TraceNode::Kind::COMPUTE;
            node.durationPs = ToPs(event.durationUs);
        }
        else
        {
            SetCommunication(event, m_events.communications[event.communication], node);
        }
        m_gpuNode[i] = AddNode(node);
    }

    [[noreturn]] void FailKernel(const GpuEvent& event, const std::string& cause) const
    {
        throw std::invalid_argument(
            m_events.file + ": kernel " + m_events.names[event.name].substr(0, 60) +
            " with correlation " + std::to_string(event.correlation) + ": " + cause);
    }

    void SetCommunication(const GpuEvent& event, const Communication& it, TraceNode& node)
    {
        static const std::vector<std::pair<const char*, Collective>> names{
            // The longer ones first: a name is known by how it begins, after underscores.
            {"allreduce", Collective::ALL_REDUCE},
            {"all_reduce", Collective::ALL_REDUCE},
            {"barrier", Collective::ALL_REDUCE},
            {"allgather", Collective::ALL_GATHER},
            {"all_gather", Collective::ALL_GATHER},
            {"reduce_scatter", Collective::REDUCE_SCATTER},
            {"all_to_all", Collective::ALL_TO_ALL},
            {"alltoall", Collective::ALL_TO_ALL},
            {"broadcast", Collective::BROADCAST},
            {"reduce", Collective::REDUCE},
            {"gather", Collective::GATHER},
            {"scatter", Collective::SCATTER},
            {"send", Collective::SEND_RECV},
            {"recv", Collective::SEND_RECV},
        };
        const std::string name = it.collective.substr(
            std::min(it.collective.find_first_not_of('_'), it.collective.size()));
        const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
            return BeginsWith(name, entry.first);
        });
        if (found == names.end())
        {
            FailKernel(event,
                       "the unknown collective '" + it.collective.substr(0, 40) +
                           "'; known are allreduce, allgather, reduce_scatter, all_to_all, "
                           "broadcast, reduce, gather, scatter, barrier, send and recv");
        }
        const uint64_t size = SizeOf(it.type);
        if (size == 0 && it.inElements + it.outElements > 0)
        {
            FailKernel(event, "the unknown dtype '" + it.type.substr(0, 40) + "'");
        }
        const uint64_t inBytes = it.inElements * size;
        const uint64_t outBytes = it.outElements * size;
        node.collective = found->second;
        if (node.collective == Collective::SEND_RECV)
        {
            SetMessage(event, it, name[0] == 's', std::max(inBytes, outBytes), node);
            return;
        }
        std::vector<DeviceId> ranks = FindRanks(event, it);
        const uint64_t n = ranks.size();
        switch (node.collective)
        {
        case Collective::ALL_GATHER:
        case Collective::GATHER:
            node.bytes = inBytes * n;
            break;
        case Collective::SCATTER:
            node.bytes = outBytes * n;
            break;
        default:
            node.bytes = inBytes > 0 ? inBytes : outBytes;
            break;
        }
        if (node.bytes == 0)
        {
            if (name.rfind("barrier", 0) != 0)
            {
                node.kind = TraceNode::Kind::JOIN; // nothing to move
                return;
            }
            node.bytes = BARRIER_BYTES;
        }
        node.kind = TraceNode::Kind::COLLECTIVE;
        node.root = ranks.front();
        node.peer = m_graph.AddGroup(it.group, ranks, ParallelismFromDescription(it.description));
    }

    std::vector<DeviceId> FindRanks(const GpuEvent& event, const Communication& it) const
    {
        std::vector<DeviceId> ranks = it.ranks;
        if (ranks.empty())
        {
            const auto group = m_events.groups.find(it.group);
            ranks = group == m_events.groups.end() ? ranks : group->second;
        }
        if (ranks.empty())
        {
            const uint64_t size = it.groupSize == 0 ? m_graph.GetNRanks() : it.groupSize;
            if (size != m_graph.GetNRanks())
            {
                FailKernel(event,
                           "its process group '" + it.group.substr(0, 40) + "' has " +
                               std::to_string(size) + " of " + std::to_string(m_graph.GetNRanks()) +
                               " ranks, but the trace does not tell which (Process Group Ranks, "
                               "or pg_config in distributedInfo)");
            }
            for (DeviceId rank = 0; rank < m_graph.GetNRanks(); rank++)
            {
                ranks.push_back(rank);
            }
        }
        if (m_standsForAll && ranks.size() != m_graph.GetNRanks())
        {
            FailKernel(event,
                       "its process group has " + std::to_string(ranks.size()) + " of " +
                           std::to_string(m_graph.GetNRanks()) +
                           " ranks; the trace of one rank can stand for all only if every "
                           "collective is among all");
        }
        return ranks;
    }

    void SetMessage(const GpuEvent& event,
                    const Communication& it,
                    bool isSend,
                    uint64_t bytes,
                    TraceNode& node)
    {
        const auto peer = isSend ? it.destination : it.source;
        if (!peer)
        {
            FailKernel(event,
                       isSend ? "it does not tell where it sends to (Dst Rank)"
                              : "it does not tell where it receives from (Src Rank)");
        }
        if (m_standsForAll)
        {
            FailKernel(event,
                       "it is a message; the trace of one rank can stand for all only if it has "
                       "none");
        }
        if (bytes == 0)
        {
            node.kind = TraceNode::Kind::JOIN;
            return;
        }
        node.kind = isSend ? TraceNode::Kind::SEND : TraceNode::Kind::RECEIVE;
        node.peer = static_cast<uint32_t>(*peer);
        node.bytes = bytes;
    }

    void Depend(uint32_t after, uint32_t before)
    {
        m_trace->dependencies.emplace_back(after, before);
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
                const int64_t only = sync == told.end()                ? -1
                                     : sync->second->waitedStream >= 0 ? sync->second->waitedStream
                                     : Contains(m_events.names[calls[i].name], "StreamSync")
                                         ? sync->second->stream
                                         : -1;
                for (const auto& [stream, event] : launched)
                {
                    const bool hadEnded = m_events.gpu[event].EndUs() <= calls[i].endUs;
                    if ((only < 0 || stream == only) && hadEnded)
                    {
                        waits.push_back(m_gpuNode[event]);
                    }
                }
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

    /// What the profiler tells of streams that wait for others.
    void AddWaits()
    {
        const auto byStream = SortByLaunch();
        for (const SyncEvent& sync : m_events.syncs)
        {
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

    kineto::Rank& m_events;
    TraceGraph& m_graph;
    std::map<std::string, StreamId>& m_streams;
    const bool m_standsForAll;
    std::shared_ptr<RankTrace> m_trace;
    double m_beginUs{kineto::MAX_TIME_US};
    std::unordered_map<int64_t, std::size_t> m_callOf; //!< by correlation
    std::vector<std::size_t> m_launchOf;               //!< by GPU event: its call
    std::vector<std::vector<std::size_t>> m_launches;  //!< by call: its GPU events
    std::vector<std::size_t> m_before;                 //!< by GPU event: the one before it
    std::vector<uint32_t> m_gpuNode;                   //!< by GPU event
    std::vector<uint32_t> m_hostNode;                  //!< by call, NO_ID if it has none
};

} // namespace

ExecutionGraph
ReadKineto(const std::vector<TraceFile>& files,
           const std::string& name,
           const TraceOptions& options)
{
    const auto fail = [&](const std::string& cause) {
        throw std::invalid_argument(name + ": " + cause);
    };
    std::vector<kineto::Rank> ranks(files.size());
    std::map<uint32_t, std::size_t> byRank;
    uint32_t worldSize = 0;
    for (std::size_t i = 0; i < files.size(); i++)
    {
        ranks[i] = kineto::ReadRank(files[i]);
        worldSize = std::max(worldSize, ranks[i].worldSize);
        const uint32_t rank = ranks[i].rank.value_or(static_cast<uint32_t>(i));
        const auto added = byRank.emplace(rank, i);
        if (!added.second)
        {
            fail("both " + files[added.first->second].name + " and " + files[i].name +
                 " are of rank " + std::to_string(rank));
        }
    }
    if (files.empty())
    {
        fail("the trace has no files");
    }
    const auto nFiles = static_cast<uint32_t>(files.size());
    const bool standsForAll = nFiles == 1;
    uint32_t nRanks = nFiles;
    if (standsForAll)
    {
        nRanks = options.ranks != 0 ? options.ranks
                 : worldSize != 0   ? worldSize
                                    : std::max(options.availableRanks, 1U);
    }
    else if ((worldSize != 0 && worldSize != nFiles) || byRank.rbegin()->first >= nFiles ||
             (options.ranks != 0 && options.ranks != nFiles))
    {
        const uint32_t wanted = options.ranks != 0 ? options.ranks
                                : worldSize != 0   ? worldSize
                                                   : byRank.rbegin()->first + 1;
        fail("there are traces of " + std::to_string(nFiles) + " ranks, but the job has " +
             std::to_string(wanted) + "; give those of all, or that of one");
    }
    TraceGraph graph(nRanks, name);
    std::map<std::string, StreamId> streams;
    if (standsForAll)
    {
        const auto trace = TraceMaker(ranks[0], graph, streams, nRanks > 1).Make();
        for (DeviceId rank = 0; rank < nRanks; rank++)
        {
            graph.SetRank(rank, trace);
        }
    }
    else
    {
        for (const auto& [rank, place] : byRank)
        {
            graph.SetRank(rank, TraceMaker(ranks[place], graph, streams, false).Make());
        }
    }
    ranks.clear();
    return graph.Build();
}

} // namespace proteus
} // namespace ns3
