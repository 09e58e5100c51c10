/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-events.h"

#include "proteus-input-file.h"
#include "proteus-kineto-annotations.h"
#include "proteus-kineto-lists.h"
#include "proteus-kineto-others.h"
#include "proteus-trace-doubts.h"

#include "ns3/proteus-json.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace kineto
{

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

namespace
{

/// Longest event, microseconds; all of a trace together fit 64 bits of picoseconds.
constexpr double MAX_DURATION_US = 1e9;

/// Whether a kernel is one of NCCL or RCCL that moves data.
bool
IsCommunicationKernel(const std::string& name)
{
    return BeginsWith(name, "nccl") || BeginsWith(name, "rccl");
}

/// Whether a kernel is one of another library that moves data between GPUs, as far as names tell.
bool
IsForeignCommunication(const std::string& name)
{
    static const std::vector<const char*> parts{"nvshmem",
                                                "msccl",
                                                "rcclGenericKernel",
                                                "deep_ep",
                                                "cross_device_reduce",
                                                "one_shot_all_reduce",
                                                "two_shot_all_reduce",
                                                "multimem_all_"};
    return std::any_of(parts.begin(), parts.end(), [&name](const char* part) {
        return Contains(name, part);
    });
}

/// @param category of an event @return as versions of PyTorch from 1.13 on call it
const std::string&
ModernCategory(const std::string& category)
{
    static const std::map<std::string, std::string> old{{"Kernel", "kernel"},
                                                        {"Memcpy", "gpu_memcpy"},
                                                        {"Memset", "gpu_memset"},
                                                        {"Runtime", "cuda_runtime"},
                                                        {"Operator", "cpu_op"}};
    const auto found = old.find(category);
    return found == old.end() ? category : found->second;
}

/// @param category of an event @return whether it is a call that launches work or waits for it
bool
IsRuntime(const std::string& category)
{
    return category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime";
}

/// @param category of an event @return whether it is one of the host, or tells what others do
bool
IsBesideGpu(const std::string& category)
{
    static const std::set<std::string> known{"cpu_op",
                                             "user_annotation",
                                             "gpu_user_annotation",
                                             "python_function",
                                             "overhead",
                                             "Trace",
                                             "cuda_event",
                                             "cuda_profiler_range"};
    return known.count(category) != 0;
}

/// Reads the file of a rank.
class RankReader : public JsonListReader
{
  public:
    /// @param rank gets what the file says
    /// @param isCommunicationRecorded whether kernels of NCCL are kernels like others
    RankReader(Rank& rank, bool isCommunicationRecorded)
        : m_out(rank),
          m_isCommunicationRecorded(isCommunicationRecorded)
    {
    }

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
        if (!phase || !category)
        {
            // A name; but what has a duration was meant to be an event.
            NoteMisspelt(element, {"ph", "cat"});
            m_out.nKindless += element.Has("dur") ? 1 : 0;
            return;
        }
        const std::string& kind = ModernCategory(category->AsString());
        const bool isOfGpu = kind == "kernel" || kind == "gpu_memcpy" || kind == "gpu_memset";
        const bool isOfHost = IsRuntime(kind);
        if ((isOfGpu || isOfHost) && (phase->AsString() == "B" || phase->AsString() == "E"))
        {
            element.Fail(std::string("is the begin or the end of ") +
                         (isOfGpu ? "work of a GPU: work of a GPU" : "a call: a call") +
                         " must be one event, of phase \"X\" with \"dur\"");
        }
        if (phase->AsString() != "X")
        {
            m_out.nKindless += element.Has("dur") ? 1 : 0;
            return; // an instant, an arrow
        }
        if (isOfGpu)
        {
            AddGpuEvent(element, kind == "gpu_memcpy");
        }
        else if (isOfHost)
        {
            AddCall(element);
        }
        else if (kind == "cuda_sync")
        {
            AddSync(element);
        }
        else if (kind == "user_annotation" &&
                 NcclAnnotations::IsOne(element.Get("name").AsString()))
        {
            m_annotations.Add(element, ReadStart(element), FindThread(element));
        }
        else if (kind == "user_annotation" && IsProfilerStep(element.Get("name").AsString()))
        {
            const double begin = ReadStart(element);
            m_out.steps[element.Get("name").AsString()] = {begin, begin + ReadDuration(element)};
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
        else if (!IsBesideGpu(kind))
        {
            const auto arguments = element.Find("args");
            m_out.unread[kind] +=
                arguments && (arguments->Has("stream") || arguments->Has("correlation")) ? 1 : 0;
        }
    }

    /// Reads what stands beside the events.
    void Finish(JsonValue root)
    {
        if (!m_hasEvents)
        {
            FailWithoutEvents(root, m_out.file);
        }
        if (const auto schema = root.Find("schemaVersion"))
        {
            m_out.schema = schema->Shown();
        }
        NoteMisspelt(root, {"schemaVersion", "distributedInfo", "deviceProperties"});
        const auto info = root.Find("distributedInfo");
        if (info)
        {
            NoteMisspelt(*info, {"rank", "world_size", "nccl_version", "backend", "pg_config"});
            const auto rank = info->Find("rank");
            const auto size = info->Find("world_size");
            if (rank)
            {
                m_out.rank = static_cast<uint32_t>(rank->AsUnsigned(0, MAX_DEVICES - 1));
            }
            if (size)
            {
                m_out.worldSize = static_cast<uint32_t>(size->AsUnsigned(1, MAX_DEVICES));
            }
            if (rank && size && m_out.rank >= m_out.worldSize)
            {
                rank->Fail("is none of the " + std::to_string(m_out.worldSize) +
                           " ranks of its job (world_size)");
            }
            if (const auto version = info->Find("nccl_version"))
            {
                m_out.ncclVersion = version->AsString();
            }
            if (const auto backend = info->Find("backend"))
            {
                m_out.backend = backend->AsString();
            }
            const auto groups = info->Find("pg_config");
            for (std::size_t i = 0; groups && i < groups->Size(); i++)
            {
                ReadGroup(groups->At(i));
            }
        }
        const auto devices = root.Find("deviceProperties");
        if (devices && devices->Size() > 0)
        {
            NoteMisspelt(devices->At(0), {"name"});
            if (const auto model = devices->At(0).Find("name"))
            {
                m_out.gpuModel = model->AsString();
            }
        }
        if (m_out.gpu.empty())
        {
            throw std::invalid_argument(m_out.file + ": none of its " + std::to_string(m_nEvents) +
                                        " events is of a GPU (category kernel, gpu_memcpy or "
                                        "gpu_memset), so that there is nothing to run; record "
                                        "with ProfilerActivity.CUDA");
        }
        ExplainKernels();
        NameGroups();
    }

  private:
    /// Communications that say the number of their group get its name, or the number as one.
    void NameGroups()
    {
        for (Communication& it : m_out.communications)
        {
            if (it.group.empty() && !it.groupId.empty())
            {
                const auto name = m_out.groupNames.find(it.groupId);
                it.group = name == m_out.groupNames.end() ? it.groupId : name->second;
            }
        }
    }

    /// Kernels that do not say what they do: the operator that launched them may, or the annotation
    /// around their launch.
    void ExplainKernels()
    {
        std::unordered_map<int64_t, const HostCall*> launches;
        for (const HostCall& call : m_out.calls)
        {
            launches.emplace(call.correlation, &call);
        }
        for (const auto& [place, id] : m_unexplained)
        {
            GpuEvent& event = m_out.gpu[place];
            const auto found = m_parameters.find(id);
            const auto launch = launches.find(event.correlation);
            const bool isLaunched = event.correlation >= 0 && launch != launches.end();
            if (found == m_parameters.end() && !isLaunched && m_annotations.HasAny())
            {
                ++m_out.nUntold;
                continue;
            }
            std::optional<Communication> told;
            if (found == m_parameters.end() && isLaunched)
            {
                const std::string name = m_out.file + ": kernel " +
                                         ShownName(m_out.names[event.name], 60) +
                                         " with correlation " + std::to_string(event.correlation);
                told = m_annotations.Take(launch->second->thread, launch->second->startUs, name);
                m_out.nAnnotated += told ? 1 : 0;
            }
            if (found == m_parameters.end() && !told)
            {
                throw std::invalid_argument(
                    m_out.file + ": kernel " + m_out.names[event.name].substr(0, 60) +
                    " tells neither its size nor its process group (Collective name, In msg "
                    "nelems, ...), which PyTorch from 2.2 on writes, nor does an annotation "
                    "nccl:... around its launch; --traceCommunication=recorded needs neither");
            }
            event.communication = static_cast<uint32_t>(m_out.communications.size());
            m_out.communications.push_back(told ? *told : found->second);
        }
    }

    /// @param element an event of the host @return number of its thread
    uint32_t FindThread(JsonValue element)
    {
        std::string name;
        for (const char* key : {"pid", "tid"})
        {
            const auto value = element.Find(key);
            name += (value ? value->Shown() : "") + ' ';
        }
        return m_threads.emplace(name, static_cast<uint32_t>(m_threads.size())).first->second;
    }

    /// Notes keys that stand where one that is read may be meant. @param object that has them
    /// @param read keys that are read
    void NoteMisspelt(JsonValue object, const std::vector<std::string>& read)
    {
        std::vector<std::string> missing;
        for (const std::string& key : read)
        {
            if (!object.Has(key.c_str()))
            {
                missing.push_back(key);
            }
        }
        if (missing.empty())
        {
            return;
        }
        for (const std::string& key : object.GetKeys())
        {
            const bool isRead = std::find(read.begin(), read.end(), key) != read.end();
            const std::string meant = isRead ? "" : FindNearest(key, missing);
            if (!meant.empty())
            {
                m_out.misspelt.emplace(key, meant);
            }
        }
    }

    static int64_t ToInteger(JsonValue value)
    {
        const double number = value.AsNumber(-9e15, 9e15);
        if (number != std::floor(number))
        {
            value.Fail("must be a whole number, not " + value.Shown());
        }
        return static_cast<int64_t>(number);
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
        const auto found = m_nameIndex.emplace(name, static_cast<uint32_t>(m_out.names.size()));
        if (found.second)
        {
            m_out.names.push_back(name);
        }
        return found.first->second;
    }

    void AddGpuEvent(JsonValue element, bool isCopy)
    {
        const std::string& name = element.Get("name").AsString();
        const JsonValue arguments = element.Get("args");
        NoteMisspelt(arguments, {"device", "stream", "correlation"});
        GpuEvent event;
        event.name = ToName(name);
        event.startUs = ReadStart(element);
        event.durationUs = ReadDuration(element);
        event.stream = ToInteger(arguments.Get("stream"));
        event.correlation = FindInteger(arguments, "correlation", -1);
        event.isCopy = isCopy;
        CheckDevice(arguments);
        if (!m_kernels
                 .emplace(event.stream,
                          event.startUs,
                          event.durationUs,
                          event.correlation,
                          event.name)
                 .second)
        {
            element.Fail("is there twice: " + ShownName(name) +
                         ", with the time, stream and "
                         "correlation of an event before it");
        }
        const bool isTold =
            arguments.Has("Collective name") && (Contains(name, "nccl") || Contains(name, "rccl"));
        if (m_isCommunicationRecorded)
        {
            // Its time is all that counts.
            const bool isOne =
                isTold || IsCommunicationKernel(name) || IsForeignCommunication(name);
            m_out.nRecorded += isOne ? 1 : 0;
        }
        else if (IsForeignCommunication(name) && !isTold)
        {
            ++m_out.nForeign;
            m_out.exampleForeign = name;
        }
        else if (isTold || IsCommunicationKernel(name))
        {
            if (arguments.Has("Collective name"))
            {
                event.communication = static_cast<uint32_t>(m_out.communications.size());
                m_out.communications.push_back(ReadCommunication(arguments));
            }
            else
            {
                m_unexplained.emplace_back(m_out.gpu.size(),
                                           FindInteger(arguments, "External id", -1));
            }
        }
        m_out.gpu.push_back(event);
    }

    /// A file is of a rank, which has one GPU. @param arguments of work of a GPU
    void CheckDevice(JsonValue arguments)
    {
        const auto value = arguments.Find("device");
        if (!value)
        {
            return;
        }
        const int64_t device = ToInteger(*value);
        if (device != m_device.value_or(device))
        {
            value->Fail("is GPU " + std::to_string(device) + ", after work of GPU " +
                        std::to_string(*m_device) +
                        ": a process with several GPUs is not known; record one with a GPU for "
                        "each process");
        }
        m_device = device;
    }

    void AddCall(JsonValue element)
    {
        const std::string& name = element.Get("name").AsString();
        NoteMisspelt(element, {"args"});
        const auto arguments = element.Find("args");
        if (arguments)
        {
            NoteMisspelt(*arguments, {"correlation"});
        }
        HostCall call;
        call.kind = Contains(name, "Synchronize")   ? HostCall::Kind::SYNCHRONIZE
                    : Contains(name, "EventRecord") ? HostCall::Kind::RECORD
                                                    : HostCall::Kind::OTHER;
        call.startUs = ReadStart(element);
        call.endUs = call.startUs + ReadDuration(element);
        call.correlation = arguments ? FindInteger(*arguments, "correlation", -1) : -1;
        call.name = ToName(name);
        call.thread = FindThread(element);
        m_out.calls.push_back(call);
    }

    void AddSync(JsonValue element)
    {
        NoteMisspelt(element, {"args"});
        const auto arguments = element.Find("args");
        if (!arguments)
        {
            ++m_out.nSyncs;
            ++m_out.nLostSyncs;
            return;
        }
        NoteMisspelt(*arguments,
                     {"cuda_sync_kind",
                      "stream",
                      "wait_on_stream",
                      "wait_on_cuda_event_record_corr_id",
                      "correlation"});
        const auto kind = arguments->Find("cuda_sync_kind");
        const std::string& name = kind ? kind->AsString() : element.Get("name").AsString();
        SyncEvent sync;
        sync.isStreamWait = Contains(name, "Stream Wait Event");
        sync.stream = FindInteger(*arguments, "stream", -1);
        sync.waitedStream = FindInteger(*arguments, "wait_on_stream", -1);
        sync.recordCorrelation = FindInteger(*arguments, "wait_on_cuda_event_record_corr_id", -1);
        sync.correlation = FindInteger(*arguments, "correlation", -1);
        sync.startUs = ReadStart(element);
        m_out.syncs.push_back(sync);
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

    Communication ReadCommunication(JsonValue arguments)
    {
        NoteMisspelt(arguments,
                     {"Collective name",
                      "In msg nelems",
                      "Out msg nelems",
                      "Group size",
                      "Src Rank",
                      "Dst Rank",
                      "dtype",
                      "Process Group Name",
                      "Process Group ID",
                      "Process Group Description",
                      "In split size",
                      "Out split size",
                      "Process Group Ranks"});
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
        if (const auto id = arguments.Find("Process Group ID"); id && !group)
        {
            result.groupId = id->Shown();
        }
        const auto description = arguments.Find("Process Group Description");
        result.description = description ? description->AsString() : "";
        for (const char* key : {"In split size", "Out split size"})
        {
            const auto split = arguments.Find(key);
            result.isUneven |= split && HasUnequal(*split);
        }
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

    void ReadGroup(JsonValue group)
    {
        NoteMisspelt(group, {"pg_name", "ranks", "pg_size", "uid"});
        const auto name = group.Find("pg_name");
        const auto ranks = group.Find("ranks");
        if (!name || !ranks)
        {
            ++m_out.nPartGroups;
            return;
        }
        const std::vector<DeviceId> list = ReadGroupRanks(*ranks);
        const auto size = group.Find("pg_size");
        if (size && !list.empty() && size->AsUnsigned(0, MAX_DEVICES) != list.size())
        {
            size->Fail("is " + size->Shown() + ", but " + FormatThings(list.size(), "rank") + " " +
                       (list.size() == 1 ? "is" : "are") + " listed (ranks)");
        }
        const auto [known, isNew] = m_out.groups.emplace(name->AsString(), list);
        if (!isNew && !known->first.empty() && known->second != list)
        {
            name->Fail("is there twice, of different ranks");
        }
        if (const auto id = group.Find("uid"))
        {
            m_out.groupNames.emplace(id->Shown(), name->AsString());
        }
    }

    Rank& m_out;
    const bool m_isCommunicationRecorded;
    std::optional<int64_t> m_device; //!< GPU of all work so far
    /// Of all work so far: stream, start, duration, correlation, name.
    std::set<std::tuple<int64_t, double, double, int64_t, uint32_t>> m_kernels;
    bool m_hasEvents{false};
    uint64_t m_nEvents{0};
    std::unordered_map<std::string, uint32_t> m_nameIndex;
    std::unordered_map<std::string, uint32_t> m_threads; //!< by process and thread
    NcclAnnotations m_annotations;
    std::unordered_map<int64_t, Communication> m_parameters;    //!< by External id
    std::vector<std::pair<std::size_t, int64_t>> m_unexplained; //!< GPU event, External id
};

} // namespace

Rank
ReadRank(const TraceFile& file, bool isCommunicationRecorded)
{
    Rank rank;
    rank.file = file.name;
    RankReader reader(rank, isCommunicationRecorded);
    const auto in = file.open();
    InputFile input(*in, file.name);
    const JsonDocument document(input.GetStream(), file.name, "traceEvents", reader);
    reader.Finish(document.GetRoot());
    return rank;
}

} // namespace kineto

} // namespace proteus
} // namespace ns3
