/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto.h"

#include "proteus-input-file.h"
#include "proteus-json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
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

constexpr double PS_PER_US = 1e6;
/// Largest time in a trace, microseconds: 300 years after 1970.
constexpr double MAX_TIME_US = 1e16;
/// Longest event, microseconds; all of a trace together fit 64 bits of picoseconds.
constexpr double MAX_DURATION_US = 1e9;
/// Work that begins so much later than it could waited for something; in microseconds.
constexpr double WAIT_US = 5;
/// Stream of the host's calls.
constexpr const char* HOST_STREAM = "host";
/// Bytes of a barrier's all-reduce.
constexpr uint64_t BARRIER_BYTES = 4;

/// Something that ran on the GPU.
struct GpuEvent
{
    uint32_t name{0};
    int64_t stream{0};
    double startUs{0};
    double durationUs{0};
    int64_t correlation{-1};
    uint32_t communication{NO_ID}; //!< position in Rank::communications
    bool isCopy{false};

    double EndUs() const
    {
        return startUs + durationUs;
    }
};

/// A call of the CUDA runtime or driver.
struct HostCall
{
    /// What the call does.
    enum class Kind : uint8_t
    {
        OTHER,       //!< launches something if the correlation says so
        SYNCHRONIZE, //!< waits for the GPU
        RECORD,      //!< records an event
    };

    Kind kind{Kind::OTHER};
    double startUs{0};
    double endUs{0};
    int64_t correlation{-1};
    uint32_t name{0};
};

/// A wait, of a stream or of the host, as the profiler tells it.
struct SyncEvent
{
    bool isStreamWait{false};      //!< else the host waits
    int64_t stream{-1};            //!< that waits, or is waited for by the host
    int64_t waitedStream{-1};      //!< that is waited for
    int64_t recordCorrelation{-1}; //!< call that recorded the event waited for
    int64_t correlation{-1};       //!< call that makes it wait
    double startUs{0};
};

/// What NCCL was asked to do.
struct Communication
{
    std::string collective;
    std::string type;
    std::string group;
    std::string description;
    std::vector<DeviceId> ranks; //!< empty: look the group up, else all
    uint64_t groupSize{0};
    uint64_t inElements{0};
    uint64_t outElements{0};
    std::optional<uint64_t> source;
    std::optional<uint64_t> destination;
};

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

bool
BeginsWith(const std::string& text, const char* begin)
{
    return text.rfind(begin, 0) == 0;
}

bool
Contains(const std::string& text, const char* part)
{
    return text.find(part) != std::string::npos;
}

/// Whether a kernel is one of NCCL or RCCL that moves data.
bool
IsCommunicationKernel(const std::string& name)
{
    return BeginsWith(name, "nccl") || BeginsWith(name, "rccl");
}

/// Reads the file of a rank.
class RankReader : public JsonListReader
{
  public:
    void Begin(JsonValue /* root */) override
    {
        m_hasEvents = true;
    }

    void Add(JsonValue element) override
    {
        if (++m_nEvents > MAX_TRACE_TASKS)
        {
            element.Fail("is one too many; a trace has at most " + std::to_string(MAX_TRACE_TASKS) +
                         " events");
        }
        const auto phase = element.Find("ph");
        const auto category = element.Find("cat");
        if (!phase || phase->AsString() != "X" || !category)
        {
            return; // an instant, an arrow, a name
        }
        const std::string& kind = category->AsString();
        if (kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset")
        {
            AddGpuEvent(element, kind == "gpu_memcpy");
        }
        else if (kind == "cuda_runtime" || kind == "cuda_driver" || kind == "hip_runtime")
        {
            AddCall(element);
        }
        else if (kind == "cuda_sync")
        {
            AddSync(element);
        }
        else if (kind == "cpu_op" && element.Get("name").AsString() == "record_param_comms")
        {
            const auto arguments = element.Find("args");
            const auto id = arguments ? arguments->Find("External id") : std::nullopt;
            if (id && arguments->Has("Collective name"))
            {
                m_parameters[ToInteger(*id)] = ReadCommunication(*arguments);
            }
        }
    }

    /// Reads what stands beside the events.
    void Finish(JsonValue root)
    {
        if (!m_hasEvents)
        {
            root.FailMissing("traceEvents", "this is no trace of PyTorch's profiler");
        }
        const auto info = root.Find("distributedInfo");
        if (info)
        {
            const auto rank = info->Find("rank");
            const auto size = info->Find("world_size");
            if (rank)
            {
                m_rank = static_cast<uint32_t>(rank->AsUnsigned(0, MAX_DEVICES - 1));
            }
            if (size)
            {
                m_worldSize = static_cast<uint32_t>(size->AsUnsigned(1, MAX_DEVICES));
            }
            const auto groups = info->Find("pg_config");
            for (std::size_t i = 0; groups && i < groups->Size(); i++)
            {
                ReadGroup(groups->At(i));
            }
        }
        // Kernels that do not say what they do: the operator that launched them may.
        for (const auto& [event, id] : m_unexplained)
        {
            const auto found = m_parameters.find(id);
            if (found == m_parameters.end())
            {
                throw std::invalid_argument(
                    m_file + ": kernel " + m_names[m_gpu[event].name].substr(0, 60) +
                    " tells neither its size nor its process group (Collective name, In msg "
                    "nelems, ...); newer versions of PyTorch write them");
            }
            m_gpu[event].communication = static_cast<uint32_t>(m_communications.size());
            m_communications.push_back(found->second);
        }
    }

    void SetFile(const std::string& file)
    {
        m_file = file;
    }

    const std::string& GetFile() const
    {
        return m_file;
    }

    std::optional<uint32_t> GetRank() const
    {
        return m_rank;
    }

    uint32_t GetWorldSize() const
    {
        return m_worldSize;
    }

    /// @return what the rank did @param graph that it is for @param streams made so far, by name
    std::shared_ptr<const RankTrace> MakeTrace(TraceGraph& graph,
                                               std::map<std::string, StreamId>& streams,
                                               bool standsForAll);

  private:
    friend class TraceMaker;

    static int64_t ToInteger(JsonValue value)
    {
        return static_cast<int64_t>(value.AsNumber(-9e15, 9e15));
    }

    static int64_t FindInteger(JsonValue object, const char* key, int64_t otherwise)
    {
        const auto value = object.Find(key);
        return value ? ToInteger(*value) : otherwise;
    }

    static double ReadStart(JsonValue element)
    {
        return element.Get("ts").AsNumber(-MAX_TIME_US, MAX_TIME_US);
    }

    static double ReadDuration(JsonValue element)
    {
        return element.Get("dur").AsNumber(0, MAX_DURATION_US);
    }

    uint32_t ToName(const std::string& name)
    {
        const auto found = m_nameIndex.emplace(name, static_cast<uint32_t>(m_names.size()));
        if (found.second)
        {
            m_names.push_back(name);
        }
        return found.first->second;
    }

    void AddGpuEvent(JsonValue element, bool isCopy)
    {
        const std::string& name = element.Get("name").AsString();
        const JsonValue arguments = element.Get("args");
        GpuEvent event;
        event.name = ToName(name);
        event.startUs = ReadStart(element);
        event.durationUs = ReadDuration(element);
        event.stream = ToInteger(arguments.Get("stream"));
        event.correlation = FindInteger(arguments, "correlation", -1);
        event.isCopy = isCopy;
        if (IsCommunicationKernel(name))
        {
            if (arguments.Has("Collective name"))
            {
                event.communication = static_cast<uint32_t>(m_communications.size());
                m_communications.push_back(ReadCommunication(arguments));
            }
            else
            {
                m_unexplained.emplace_back(m_gpu.size(), FindInteger(arguments, "External id", -1));
            }
        }
        m_gpu.push_back(event);
    }

    void AddCall(JsonValue element)
    {
        const std::string& name = element.Get("name").AsString();
        const auto arguments = element.Find("args");
        HostCall call;
        call.kind = Contains(name, "Synchronize")   ? HostCall::Kind::SYNCHRONIZE
                    : Contains(name, "EventRecord") ? HostCall::Kind::RECORD
                                                    : HostCall::Kind::OTHER;
        call.startUs = ReadStart(element);
        call.endUs = call.startUs + ReadDuration(element);
        call.correlation = arguments ? FindInteger(*arguments, "correlation", -1) : -1;
        call.name = ToName(name);
        m_calls.push_back(call);
    }

    void AddSync(JsonValue element)
    {
        const auto arguments = element.Find("args");
        if (!arguments)
        {
            return;
        }
        const auto kind = arguments->Find("cuda_sync_kind");
        const std::string& name = kind ? kind->AsString() : element.Get("name").AsString();
        SyncEvent sync;
        sync.isStreamWait = Contains(name, "Stream Wait Event");
        sync.stream = FindInteger(*arguments, "stream", -1);
        sync.waitedStream = FindInteger(*arguments, "wait_on_stream", -1);
        sync.recordCorrelation = FindInteger(*arguments, "wait_on_cuda_event_record_corr_id", -1);
        sync.correlation = FindInteger(*arguments, "correlation", -1);
        sync.startUs = ReadStart(element);
        m_syncs.push_back(sync);
    }

    static std::optional<uint64_t> FindCount(JsonValue object, const char* key)
    {
        const auto value = object.Find(key);
        if (!value)
        {
            return std::nullopt;
        }
        constexpr uint64_t MOST = 1ULL << 53;
        return value->AsWhole(0, MOST);
    }

    static Communication ReadCommunication(JsonValue arguments)
    {
        Communication result;
        result.collective = arguments.Get("Collective name").AsString();
        result.inElements = FindCount(arguments, "In msg nelems").value_or(0);
        result.outElements = FindCount(arguments, "Out msg nelems").value_or(0);
        result.groupSize = FindCount(arguments, "Group size").value_or(0);
        result.source = FindRank(arguments, "Src Rank");
        result.destination = FindRank(arguments, "Dst Rank");
        const auto type = arguments.Find("dtype");
        result.type = type ? type->AsString() : "";
        const auto group = arguments.Find("Process Group Name");
        result.group = group ? group->AsString() : "";
        const auto description = arguments.Find("Process Group Description");
        result.description = description ? description->AsString() : "";
        if (const auto ranks = arguments.Find("Process Group Ranks"))
        {
            result.ranks = ReadRanks(*ranks);
        }
        return result;
    }

    static std::optional<uint64_t> FindRank(JsonValue arguments, const char* key)
    {
        const auto value = arguments.Find(key);
        if (!value || value->AsNumber(-1, MAX_DEVICES) < 0) // -1: it has none
        {
            return std::nullopt;
        }
        return value->AsWhole(0, MAX_DEVICES - 1);
    }

    /// Ranks as a list, or as text "[0, 1]"; nothing where the text leaves some out.
    static std::vector<DeviceId> ReadRanks(JsonValue value)
    {
        std::vector<DeviceId> ranks;
        if (!value.IsString())
        {
            for (std::size_t i = 0; i < value.Size(); i++)
            {
                ranks.push_back(static_cast<DeviceId>(value.At(i).AsUnsigned(0, MAX_DEVICES - 1)));
            }
            return ranks;
        }
        const std::string& text = value.AsString();
        if (Contains(text, "..."))
        {
            return {};
        }
        bool isInNumber = false;
        for (const char c : text)
        {
            if (c < '0' || c > '9')
            {
                isInNumber = false;
                continue;
            }
            if (!isInNumber)
            {
                ranks.push_back(0);
            }
            isInNumber = true;
            ranks.back() = 10 * ranks.back() + static_cast<DeviceId>(c - '0');
            if (ranks.back() >= MAX_DEVICES)
            {
                value.Fail("has a rank that is too large");
            }
        }
        return ranks;
    }

    void ReadGroup(JsonValue group)
    {
        const auto name = group.Find("pg_name");
        const auto ranks = group.Find("ranks");
        if (!name || !ranks)
        {
            return;
        }
        // Older versions have an object {"0": 0, ...} of ranks to places.
        std::vector<DeviceId> list;
        if (ranks->IsObject())
        {
            for (const std::string& key : ranks->GetKeys())
            {
                if (key.empty() || key.size() > 7 ||
                    key.find_first_not_of("0123456789") != std::string::npos)
                {
                    ranks->Fail("has the rank " + key.substr(0, 20) + ", which is none");
                }
                list.push_back(static_cast<DeviceId>(std::stoul(key)));
            }
            std::sort(list.begin(), list.end());
        }
        else
        {
            list = ReadRanks(*ranks);
        }
        m_groups[name->AsString()] = list;
    }

    std::string m_file;
    std::optional<uint32_t> m_rank;
    uint32_t m_worldSize{0};
    bool m_hasEvents{false};
    uint64_t m_nEvents{0};
    std::vector<std::string> m_names;
    std::unordered_map<std::string, uint32_t> m_nameIndex;
    std::vector<GpuEvent> m_gpu;
    std::vector<HostCall> m_calls;
    std::vector<SyncEvent> m_syncs;
    std::vector<Communication> m_communications;
    std::unordered_map<int64_t, Communication> m_parameters;    //!< by External id
    std::vector<std::pair<std::size_t, int64_t>> m_unexplained; //!< GPU event, External id
    std::map<std::string, std::vector<DeviceId>> m_groups;      //!< pg_config
};

/// Makes the trace of a rank of its events.
class TraceMaker
{
  public:
    TraceMaker(RankReader& events,
               TraceGraph& graph,
               std::map<std::string, StreamId>& streams,
               bool standsForAll)
        : m_events(events),
          m_graph(graph),
          m_streams(streams),
          m_standsForAll(standsForAll),
          m_trace(std::make_shared<RankTrace>())
    {
        m_trace->file = events.m_file;
    }

    std::shared_ptr<const RankTrace> Make()
    {
        Sort();
        AddNodes();
        OrderStreams();
        OrderHost();
        m_events.m_syncs.empty() ? GuessWaits() : AddWaits();
        auto& all = m_trace->dependencies;
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return m_trace;
    }

  private:
    static constexpr std::size_t NONE = std::numeric_limits<std::size_t>::max();

    void Sort()
    {
        auto& gpu = m_events.m_gpu;
        std::stable_sort(gpu.begin(), gpu.end(), [](const GpuEvent& a, const GpuEvent& b) {
            return a.startUs < b.startUs;
        });
        auto& calls = m_events.m_calls;
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
        const auto& gpu = m_events.m_gpu;
        const auto& calls = m_events.m_calls;
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
        const HostCall& call = m_events.m_calls[i];
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
        node.name = m_graph.AddName(m_events.m_names[call.name]);
        node.durationPs = ToPs((isBlocking ? call.startUs : call.endUs) - lastUs);
        m_hostNode[i] = AddNode(node);
        lastUs = std::max(lastUs, call.endUs);
    }

    /// Whether a copy ended before the call that launched it returned.
    bool IsBlockingCopy(std::size_t call) const
    {
        for (const std::size_t i : m_launches[call])
        {
            const GpuEvent& event = m_events.m_gpu[i];
            if (event.isCopy && event.EndUs() <= m_events.m_calls[call].endUs)
            {
                return true;
            }
        }
        return false;
    }

    void AddGpuEvent(std::size_t i)
    {
        const GpuEvent& event = m_events.m_gpu[i];
        TraceNode node;
        node.stream = GetStream("stream " + std::to_string(event.stream));
        node.name = m_graph.AddName(m_events.m_names[event.name]);
        if (event.communication == NO_ID)
        {
            node.kind = TraceNode::Kind::COMPUTE;
            node.durationPs = ToPs(event.durationUs);
        }
        else
        {
            SetCommunication(event, m_events.m_communications[event.communication], node);
        }
        m_gpuNode[i] = AddNode(node);
    }

    [[noreturn]] void FailKernel(const GpuEvent& event, const std::string& cause) const
    {
        throw std::invalid_argument(
            m_events.m_file + ": kernel " + m_events.m_names[event.name].substr(0, 60) +
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
            const auto group = m_events.m_groups.find(it.group);
            ranks = group == m_events.m_groups.end() ? ranks : group->second;
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
        m_before.assign(m_events.m_gpu.size(), NONE);
        for (std::size_t i = 0; i < m_events.m_gpu.size(); i++)
        {
            const auto found = last.emplace(m_events.m_gpu[i].stream, i);
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
        const auto& calls = m_events.m_calls;
        std::unordered_map<int64_t, const SyncEvent*> told; // by correlation
        for (const SyncEvent& sync : m_events.m_syncs)
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
                auto& latest = launched.emplace(m_events.m_gpu[event].stream, event).first->second;
                latest = std::max(latest, event);
            }
            if (calls[i].kind == HostCall::Kind::SYNCHRONIZE)
            {
                const auto sync = told.find(calls[i].correlation);
                const int64_t only = sync == told.end()                ? -1
                                     : sync->second->waitedStream >= 0 ? sync->second->waitedStream
                                     : Contains(m_events.m_names[calls[i].name], "StreamSync")
                                         ? sync->second->stream
                                         : -1;
                for (const auto& [stream, event] : launched)
                {
                    const bool hadEnded = m_events.m_gpu[event].EndUs() <= calls[i].endUs;
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
        for (std::size_t i = 0; i < m_events.m_gpu.size(); i++)
        {
            if (m_launchOf[i] != NONE)
            {
                byStream[m_events.m_gpu[i].stream].push_back({m_launchOf[i], i});
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
        for (const SyncEvent& sync : m_events.m_syncs)
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
        const auto& gpu = m_events.m_gpu;
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
                couldBegin = std::max(couldBegin, m_events.m_calls[m_launchOf[i]].endUs);
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

    RankReader& m_events;
    TraceGraph& m_graph;
    std::map<std::string, StreamId>& m_streams;
    const bool m_standsForAll;
    std::shared_ptr<RankTrace> m_trace;
    double m_beginUs{MAX_TIME_US};
    std::unordered_map<int64_t, std::size_t> m_callOf; //!< by correlation
    std::vector<std::size_t> m_launchOf;               //!< by GPU event: its call
    std::vector<std::vector<std::size_t>> m_launches;  //!< by call: its GPU events
    std::vector<std::size_t> m_before;                 //!< by GPU event: the one before it
    std::vector<uint32_t> m_gpuNode;                   //!< by GPU event
    std::vector<uint32_t> m_hostNode;                  //!< by call, NO_ID if it has none
};

std::shared_ptr<const RankTrace>
RankReader::MakeTrace(TraceGraph& graph,
                      std::map<std::string, StreamId>& streams,
                      bool standsForAll)
{
    return TraceMaker(*this, graph, streams, standsForAll).Make();
}

} // namespace

ExecutionGraph
ReadKineto(const std::vector<TraceFile>& files,
           const std::string& name,
           const TraceOptions& options)
{
    const auto fail = [&](const std::string& cause) {
        throw std::invalid_argument(name + ": " + cause);
    };
    std::vector<RankReader> ranks(files.size());
    std::map<uint32_t, std::size_t> byRank;
    uint32_t worldSize = 0;
    for (std::size_t i = 0; i < files.size(); i++)
    {
        const auto in = files[i].open();
        InputFile file(*in, files[i].name);
        ranks[i].SetFile(files[i].name);
        const JsonDocument document(file.GetStream(), files[i].name, "traceEvents", ranks[i]);
        ranks[i].Finish(document.GetRoot());
        worldSize = std::max(worldSize, ranks[i].GetWorldSize());
        const uint32_t rank = ranks[i].GetRank().value_or(static_cast<uint32_t>(i));
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
        const auto trace = ranks[0].MakeTrace(graph, streams, nRanks > 1);
        for (DeviceId rank = 0; rank < nRanks; rank++)
        {
            graph.SetRank(rank, trace);
        }
    }
    else
    {
        for (const auto& [rank, place] : byRank)
        {
            graph.SetRank(rank, ranks[place].MakeTrace(graph, streams, false));
        }
    }
    ranks.clear();
    return graph.Build();
}

} // namespace proteus
} // namespace ns3
