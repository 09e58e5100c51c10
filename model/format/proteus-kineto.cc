/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto.h"

#include "proteus-kineto-communication.h"
#include "proteus-kineto-doubts.h"
#include "proteus-kineto-events.h"
#include "proteus-trace-doubts.h"

#include "ns3/proteus-nccl-releases.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cctype>
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

using kineto::Contains;
using kineto::GpuEvent;
using kineto::HostCall;
using kineto::SyncEvent;

constexpr double PS_PER_US = 1e6;
/// Work that begins so much later than it could waited for something; in microseconds.
constexpr double WAIT_US = 5;
/// Stream of the host's calls.
constexpr const char* HOST_STREAM = "host";

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
          m_communications(events, graph, standsForAll),
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
            m_communications.Set(event, node);
        }
        m_gpuNode[i] = AddNode(node);
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

    kineto::Rank& m_events;
    TraceGraph& m_graph;
    std::map<std::string, StreamId>& m_streams;
    kineto::CommunicationMaker m_communications;
    std::shared_ptr<RankTrace> m_trace;
    double m_beginUs{kineto::MAX_TIME_US};
    std::unordered_map<int64_t, std::size_t> m_callOf; //!< by correlation
    std::vector<std::size_t> m_launchOf;               //!< by GPU event: its call
    std::vector<std::vector<std::size_t>> m_launches;  //!< by call: its GPU events
    std::vector<std::size_t> m_before;                 //!< by GPU event: the one before it
    std::vector<uint32_t> m_gpuNode;                   //!< by GPU event
    std::vector<uint32_t> m_hostNode;                  //!< by call, NO_ID if it has none
};

/// Files of a trace.
struct KinetoRanks
{
    std::vector<kineto::Rank> ranks;        //!< by file
    std::map<uint32_t, std::size_t> byRank; //!< file
    uint32_t worldSize{0};                  //!< 0: no file says it
};

/// @param files to read @param name of the trace @return what they say
KinetoRanks
ReadRanks(const std::vector<TraceFile>& files, const std::string& name)
{
    KinetoRanks all;
    all.ranks.resize(files.size());
    std::map<std::string, std::string> misspelt;
    for (std::size_t i = 0; i < files.size(); i++)
    {
        all.ranks[i] = kineto::ReadRank(files[i]);
        // Before what is refused since a key is not there.
        for (const auto& [key, meant] : all.ranks[i].misspelt)
        {
            if (misspelt.emplace(key, meant).second)
            {
                Warn(name + ": the key " + QuotedText(key) + " is not read; did you mean " + meant +
                     "?");
            }
        }
        const uint32_t size = all.ranks[i].worldSize;
        if (size != 0 && all.worldSize != 0 && size != all.worldSize)
        {
            const auto other =
                std::find_if(all.ranks.begin(), all.ranks.end(), [](const kineto::Rank& rank) {
                    return rank.worldSize != 0;
                });
            throw std::invalid_argument(files[i].name + ": /distributedInfo/world_size: is " +
                                        std::to_string(size) + ", but " +
                                        std::to_string(all.worldSize) + " in " + other->file +
                                        "; give files of one job");
        }
        all.worldSize = size != 0 ? size : all.worldSize;
        const uint32_t rank = all.ranks[i].rank.value_or(static_cast<uint32_t>(i));
        const auto added = all.byRank.emplace(rank, i);
        if (!added.second)
        {
            throw std::invalid_argument(name + ": both " + files[added.first->second].name +
                                        " and " + files[i].name + " are of rank " +
                                        std::to_string(rank));
        }
    }
    if (files.empty())
    {
        throw std::invalid_argument(name + ": the trace has no files");
    }
    const auto unsaid = std::find_if(all.ranks.begin(),
                                     all.ranks.end(),
                                     [](const kineto::Rank& rank) { return !rank.rank; });
    if (files.size() > 1 && unsaid != all.ranks.end())
    {
        Warn(name +
             ": files that do not say their rank (distributedInfo) are taken in the order "
             "of their names, " +
             unsaid->file + " for rank " + std::to_string(unsaid - all.ranks.begin()));
    }
    return all;
}

/// @param all what the files say @param name of the trace @param options of the user
/// @return how many ranks the job has
uint32_t
FindNRanks(const KinetoRanks& all, const std::string& name, const TraceOptions& options)
{
    const auto nFiles = static_cast<uint32_t>(all.ranks.size());
    if (nFiles == 1)
    {
        const uint32_t known = options.ranks != 0 ? options.ranks : all.worldSize;
        return known != 0 ? known : static_cast<uint32_t>(GuessRanks(options, name));
    }
    const uint32_t last = all.byRank.rbegin()->first;
    if ((all.worldSize != 0 && all.worldSize != nFiles) || last >= nFiles ||
        (options.ranks != 0 && options.ranks != nFiles))
    {
        const uint32_t wanted = options.ranks != 0   ? options.ranks
                                : all.worldSize != 0 ? all.worldSize
                                                     : last + 1;
        throw std::invalid_argument(name + ": there are traces of " + std::to_string(nFiles) +
                                    " ranks, but the job has " + std::to_string(wanted) +
                                    "; give those of all, or that of one");
    }
    return nFiles;
}

/// @param device as CUDA calls it, e.g. "NVIDIA A100-SXM4-40GB" @param model name of a data sheet,
/// e.g. "A100-SXM4-80GB" @return whether both are of one chip, by the first word with a number
bool
IsOfModel(const std::string& device, const std::string& model)
{
    const auto split = [](const std::string& text) {
        std::vector<std::string> words(1);
        for (const char c : text)
        {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            {
                words.back() += c;
            }
            else
            {
                words.emplace_back();
            }
        }
        return words;
    };
    const std::vector<std::string> words = split(model);
    const auto chip = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.find_first_of("0123456789") != std::string::npos;
    });
    const std::vector<std::string> known = split(device);
    return std::find(known.begin(), known.end(), chip == words.end() ? words.front() : *chip) !=
           known.end();
}

/// @param recorded version of NCCL that a trace says, or empty @param simulated version, or 0
/// @param name of the trace
void
WarnOfVersion(const std::string& recorded, uint32_t simulated, const std::string& name)
{
    uint32_t version = 0;
    try
    {
        version = ParseNcclVersion(recorded);
    }
    catch (const std::invalid_argument&)
    {
        return; // that of another library, which is named
    }
    if (version != 0 && simulated != 0 && version != simulated)
    {
        Warn(name + ": was recorded with NCCL " + recorded + "; simulated is " +
             FormatNcclVersion(simulated) + ", and with --ncclVersion=" + recorded +
             " that of the trace");
    }
    const std::string unlike = DescribeUnlikeRelease(recorded);
    if (version == simulated && !unlike.empty())
    {
        Warn(name + ": " + unlike);
    }
}

} // namespace

ExecutionGraph
ReadKineto(const std::vector<TraceFile>& files,
           const std::string& name,
           const TraceOptions& options)
{
    KinetoRanks all = ReadRanks(files, name);
    const uint32_t nRanks = FindNRanks(all, name, options);
    TraceGraph graph(nRanks, name);
    std::map<std::string, StreamId> streams;
    if (all.ranks.size() == 1)
    {
        const auto trace = TraceMaker(all.ranks[0], graph, streams, nRanks > 1).Make();
        for (DeviceId rank = 0; rank < nRanks; rank++)
        {
            graph.SetRank(rank, trace);
        }
    }
    else
    {
        for (const auto& [rank, place] : all.byRank)
        {
            graph.SetRank(rank, TraceMaker(all.ranks[place], graph, streams, false).Make());
        }
    }
    // Before doubts: what is refused is one message.
    ExecutionGraph result;
    try
    {
        result = graph.Build();
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(error.what() + kineto::DescribeEarlyWork(all.ranks));
    }
    for (const std::string& doubt : kineto::FindDoubts(all.ranks))
    {
        Warn(name + ": " + doubt);
    }
    if (all.worldSize != 0 && all.worldSize != nRanks)
    {
        Warn(name + ": is of a job of " + FormatThings(all.worldSize, "rank") +
             ", and --ranks=" + std::to_string(nRanks) + " counts");
    }
    std::set<std::string> versions;
    std::set<std::string> models;
    for (const kineto::Rank& rank : all.ranks)
    {
        if (versions.insert(rank.ncclVersion).second)
        {
            WarnOfVersion(rank.ncclVersion, options.ncclVersion, name);
        }
        const std::string& recorded = rank.gpuModel;
        if (models.insert(recorded).second && !recorded.empty() && !options.gpuModel.empty() &&
            !IsOfModel(recorded, options.gpuModel))
        {
            Warn(name + ": was recorded on " + recorded +
                 ", whose times kernels keep; the cluster has " + options.gpuModel);
        }
    }
    return result;
}

} // namespace proteus
} // namespace ns3
