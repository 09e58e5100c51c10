/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-doubts.h"

#include "proteus-trace-doubts.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace kineto
{

namespace
{

/// @return how much work of a rank's GPU no call of the host launched, as far as its file says
uint64_t
CountUnlaunched(const Rank& rank)
{
    std::unordered_set<int64_t> launches;
    for (const HostCall& call : rank.calls)
    {
        launches.insert(call.correlation);
    }
    return static_cast<uint64_t>(
        std::count_if(rank.gpu.begin(), rank.gpu.end(), [&launches](const GpuEvent& event) {
            return event.correlation < 0 || launches.count(event.correlation) == 0;
        }));
}

/// @return launches of kernels by a rank's host, and those of which its file has no kernel
std::pair<uint64_t, uint64_t>
CountLaunches(const Rank& rank)
{
    std::unordered_set<int64_t> kernels;
    for (const GpuEvent& event : rank.gpu)
    {
        kernels.insert(event.correlation);
    }
    std::pair<uint64_t, uint64_t> counts{0, 0};
    for (const HostCall& call : rank.calls)
    {
        if (call.correlation >= 0 && Contains(rank.names[call.name], "LaunchKernel"))
        {
            ++counts.first;
            counts.second += kernels.count(call.correlation) == 0 ? 1 : 0;
        }
    }
    return counts;
}

/// @param name of an operation @return whether it is a message, of which a trace may have but one
/// of both sizes
bool
IsMessage(const std::string& name)
{
    return Contains(name, "send") || Contains(name, "recv");
}

/// @return an operation of a rank whose input and output have one size, and have two in the file;
/// null if there is none
const Communication*
FindContradiction(const Rank& rank)
{
    const auto found =
        std::find_if(rank.communications.begin(),
                     rank.communications.end(),
                     [](const Communication& it) {
                         const bool isAlike =
                             Contains(it.collective, "allreduce") ||
                             Contains(it.collective, "all_reduce") ||
                             Contains(it.collective, "broadcast") ||
                             (IsMessage(it.collective) && it.inElements > 0 && it.outElements > 0);
                         return isAlike && it.inElements != it.outElements;
                     });
    return found == rank.communications.end() ? nullptr : &*found;
}

/// @param kernel name of one @return what its name says that NCCL does, "AllReduce"; or empty
std::string
FindOperation(const std::string& kernel)
{
    for (const std::string begin : {"ncclDevKernel_", "ncclKernel_"})
    {
        if (BeginsWith(kernel, begin.c_str()))
        {
            return kernel.substr(begin.size(), kernel.find('_', begin.size()) - begin.size());
        }
    }
    return "";
}

/// @param operation of a kernel's name @param collective as PyTorch calls it
/// @return whether the one cannot do the other. PyTorch has broadcasts for a gather of unequal
/// parts and reductions for a scatter, and messages for all without a kernel of their own.
bool
Contradicts(const std::string& operation, const std::string& collective)
{
    static const std::map<std::string, std::vector<const char*>> known{
        {"AllReduce", {"allreduce", "all_reduce", "barrier"}},
        {"AllGather", {"allgather", "all_gather"}},
        {"ReduceScatter", {"reduce_scatter", "reducescatter"}},
        {"Broadcast", {"broadcast", "allgather", "all_gather"}},
        {"Reduce", {"reduce"}},
        {"SendRecv", {"send", "recv", "all_to_all", "alltoall", "gather", "scatter", "coalesced"}}};
    static const std::vector<const char*> all = [] {
        std::vector<const char*> parts;
        for (const auto& [name, ofName] : known)
        {
            parts.insert(parts.end(), ofName.begin(), ofName.end());
        }
        return parts;
    }();
    const auto has = [&collective](const char* part) { return Contains(collective, part); };
    const auto found = known.find(operation);
    return found != known.end() && std::any_of(all.begin(), all.end(), has) &&
           std::none_of(found->second.begin(), found->second.end(), has);
}

/// @param rank any @param example gets the first that there is, in words
/// @return kernels whose names say another operation than what is written of them
uint64_t
CountMisnamed(const Rank& rank, std::string& example)
{
    uint64_t count = 0;
    for (const GpuEvent& event : rank.gpu)
    {
        if (event.communication == NO_ID)
        {
            continue;
        }
        const std::string& kernel = rank.names[event.name];
        const std::string& collective = rank.communications[event.communication].collective;
        if (Contradicts(FindOperation(kernel), collective))
        {
            example = ++count == 1 && example.empty()
                          ? ShownName(kernel) + " of " + ShownName(collective)
                          : example;
        }
    }
    return count;
}

/// @return whether a rank launches or begins work of the GPU from one time to another, us
bool
HasWork(const Rank& rank, double fromUs, double toUs)
{
    const auto isWithin = [&](const auto& event) {
        return event.startUs >= fromUs && event.startUs < toUs;
    };
    return std::any_of(rank.gpu.begin(), rank.gpu.end(), isWithin) ||
           std::any_of(rank.calls.begin(), rank.calls.end(), isWithin);
}

/// @param rank any @return what its host waits for most of the time, while the GPU does nothing,
/// in words: a call that sets CUDA up, as the first of a process do; empty if there is none
std::string
DescribeSetUp(const Rank& rank)
{
    constexpr double LEAST_SHARE = 0.5; // of what the file spans
    if (rank.calls.empty())
    {
        return "";
    }
    double startUs = rank.calls.front().startUs;
    double endUs = 0;
    const HostCall* longest = nullptr;
    for (const HostCall& call : rank.calls)
    {
        startUs = std::min(startUs, call.startUs);
        endUs = std::max(endUs, call.endUs);
        const bool isLonger =
            longest == nullptr || call.endUs - call.startUs > longest->endUs - longest->startUs;
        longest = call.kind == HostCall::Kind::OTHER && isLonger ? &call : longest;
    }
    for (const GpuEvent& event : rank.gpu)
    {
        startUs = std::min(startUs, event.startUs);
        endUs = std::max(endUs, event.EndUs());
    }
    if (longest == nullptr || longest->endUs - longest->startUs < LEAST_SHARE * (endUs - startUs) ||
        std::any_of(rank.gpu.begin(), rank.gpu.end(), [longest](const GpuEvent& event) {
            return event.startUs < longest->endUs && event.EndUs() > longest->startUs;
        }))
    {
        return "";
    }
    return ShownName(rank.names[longest->name]) + " takes the host " +
           FormatTime((longest->endUs - longest->startUs) * 1e-6) + " of " +
           FormatTime((endUs - startUs) * 1e-6) +
           ", in which the GPU does nothing, and which is simulated: if that is CUDA's set-up, "
           "record after some steps, schedule(wait=1, warmup=1, active=1)";
}

/// Adds versions of NCCL that are none, or several, and backends of torch.distributed without NCCL
/// ("cpu:gloo,cuda:nccl" has it).
/// @param ranks of a trace @param doubts gets them
void
AddLibraryDoubts(const std::vector<Rank>& ranks, std::vector<std::string>& doubts)
{
    std::set<std::string> versions;
    std::set<std::string> backends;
    for (const Rank& rank : ranks)
    {
        versions.insert(rank.ncclVersion);
        backends.insert(rank.backend);
    }
    versions.erase(""); // which say nothing
    backends.erase("");
    if (versions.size() > 1)
    {
        std::vector<std::string> names;
        for (const std::string& version : versions)
        {
            names.push_back(QuotedText(version));
        }
        doubts.push_back("its files say " + FormatThings(versions.size(), "version") +
                         " of NCCL (nccl_version), " + ListSome(names) + ", and a job has one");
    }
    for (const std::string& version : versions)
    {
        try
        {
            ParseNcclVersion(version);
        }
        catch (const std::invalid_argument&)
        {
            doubts.push_back("nccl_version " + QuotedText(version) +
                             " is no version of NCCL: it is not heeded");
        }
    }
    for (const std::string& backend : backends)
    {
        if (backend.find("nccl") == std::string::npos)
        {
            doubts.push_back("was recorded with the backend " + QuotedText(backend) +
                             " of torch.distributed; simulated is NCCL");
        }
    }
}

/// Of the work of GPUs, or of the host's calls: the part from which on it is said.
constexpr double LEAST_UNLAUNCHED = 0.01;

/// What is odd in the files of all ranks.
struct Findings
{
    std::set<std::string> steps;            //!< of the profiler, with work
    uint64_t nForeign{0};                   //!< kernels of other libraries than NCCL
    std::string foreign;                    //!< one of them
    double overlapUs{0};                    //!< in which kernels of one stream ran at the same time
    double kernelUs{0};                     //!< of all kernels that do not communicate
    uint64_t nWork{0};                      //!< kernels and copies
    uint64_t nUnlaunched{0};                //!< of these, without a launch in the file
    std::pair<uint64_t, uint64_t> launches; //!< of kernels; of these, without a kernel
    std::set<std::string> schemas;          //!< versions of the format
    const Communication* odd{nullptr};      //!< a communication that contradicts itself, or null
    std::map<std::string, uint64_t> unread; //!< events by unknown category
    uint64_t nAnnotated{0};                 //!< communications whose sizes annotations tell
    uint64_t nUntold{0};                    //!< kernels of NCCL that nothing tells the sizes of
    uint64_t nEmpty{0};                     //!< collectives without elements
    uint64_t nRootless{0};                  //!< collectives that do not say their root
    uint64_t nUneven{0};                    //!< all-to-alls of unequal splits
    uint64_t nOddSizes{0};                  //!< collectives whose sizes do not fit their group
    std::string oddSize;                    //!< the first of them
    uint64_t nOthers{0};                    //!< messages of another rank than that of the file
    std::string other;                      //!< the first of them
    uint64_t nMisnamed{0};                  //!< kernels named after another operation
    std::string misnamed;                   //!< the first of them
    uint64_t nKindless{0};                  //!< events without a category
    uint64_t nPartGroups{0};                //!< process groups without a name or ranks
    uint64_t nOddGroups{0};                 //!< communications of other ranks than their group
    std::string oddGroup;                   //!< one of these groups
    std::pair<uint64_t, uint64_t> syncs;    //!< waits; of these, not understood
    uint64_t nPauses{0};                    //!< before kernels and copies
    double pausesUs{0};                     //!< how long these last
    double lastBeginUs{0};                  //!< the latest begin of a rank

    /// @param rank to look at, too; must outlive this object
    void Add(const Rank& rank)
    {
        lastBeginUs = std::max(lastBeginUs, rank.beginUs);
        for (const auto& [category, count] : rank.unread)
        {
            unread[category] += count;
        }
        nKindless += rank.nKindless;
        nPauses += rank.nPauses;
        pausesUs += rank.pausesUs;
        nPartGroups += rank.nPartGroups;
        nOddGroups += rank.nOddGroups;
        oddGroup = rank.nOddGroups > 0 ? rank.oddGroup : oddGroup;
        syncs.first += rank.nSyncs;
        syncs.second += rank.nLostSyncs;
        nAnnotated += rank.nAnnotated;
        nUntold += rank.nUntold;
        nEmpty += rank.nEmpty;
        nRootless += rank.nRootless;
        nUneven += rank.nUneven;
        oddSize = nOddSizes == 0 ? rank.exampleOddSize : oddSize;
        nOddSizes += rank.nOddSizes;
        other = nOthers == 0 ? rank.exampleOther : other;
        nOthers += rank.nOthers;
        nMisnamed += CountMisnamed(rank, misnamed);
        nWork += rank.gpu.size();
        nUnlaunched += CountUnlaunched(rank);
        const auto [all, lost] = CountLaunches(rank);
        launches.first += all;
        launches.second += lost;
        schemas.insert(rank.schema);
        odd = odd ? odd : FindContradiction(rank);
        for (const auto& [step, time] : rank.steps)
        {
            if (HasWork(rank, time.first, time.second))
            {
                steps.insert(step);
            }
        }
        nForeign += rank.nForeign;
        foreign = rank.nForeign > 0 ? rank.exampleForeign : foreign;
        overlapUs += rank.overlapUs;
        for (const GpuEvent& event : rank.gpu)
        {
            kernelUs += event.communication == NO_ID ? event.durationUs : 0;
        }
    }
};

/// Adds what is odd in times and launches.
/// @param found in all ranks @param ranks these @param doubts gets them
void
AddTimeDoubts(const Findings& found,
              const std::vector<Rank>& ranks,
              std::vector<std::string>& doubts)
{
    constexpr double LEAST_OVERLAP = 0.01; // of the kernels, from which on it is said
    for (const Rank& rank : ranks)
    {
        if (std::string setUp = DescribeSetUp(rank); !setUp.empty())
        {
            doubts.push_back(std::move(setUp));
            break;
        }
    }
    if (std::string ofSteps = DescribeProfilerSteps(found.steps); !ofSteps.empty())
    {
        doubts.push_back(std::move(ofSteps));
    }
    if (found.overlapUs > LEAST_OVERLAP * found.kernelUs)
    {
        const double nRanks = static_cast<double>(ranks.size());
        doubts.push_back("kernels of one stream ran at the same time for " +
                         FormatTime(found.overlapUs * 1e-6 / nRanks) + " of a rank's " +
                         FormatTime(found.kernelUs * 1e-6 / nRanks) +
                         ", and run one after the other here");
    }
    if (found.lastBeginUs > 0)
    {
        doubts.push_back("its ranks began up to " + FormatTime(found.lastBeginUs * 1e-6) +
                         " after each other, as the ends of their first collectives tell: kept as "
                         "recorded, as time of the host");
    }
    if (found.nPauses > 0)
    {
        const double nRanks = static_cast<double>(ranks.size());
        doubts.push_back(FormatThings(found.nPauses, "pause") + " before kernels and copies, " +
                         FormatTime(found.pausesUs * 1e-6 / nRanks) +
                         " of a rank, that nothing in the file explains, such as that another "
                         "kernel has the GPU: kept as recorded, as time of the host");
    }
    if (static_cast<double>(found.nUnlaunched) >
        LEAST_UNLAUNCHED * static_cast<double>(found.nWork))
    {
        doubts.push_back(FormatCount(found.nUnlaunched) + " of its " + FormatCount(found.nWork) +
                         " kernels and copies have no launch in the file (a call of the host with "
                         "their correlation): "
                         "they do not wait for the host; record the activities of the CPU, too");
    }
    if (static_cast<double>(found.launches.second) >
        LEAST_UNLAUNCHED * static_cast<double>(found.launches.first))
    {
        doubts.push_back(FormatCount(found.launches.second) + " of its " +
                         FormatCount(found.launches.first) +
                         " launches have no kernel in the file: work of the GPU was lost, cut out, "
                         "or only captured into a graph, and is not run");
    }
}

/// Adds what communications and kernels say of themselves in two ways.
/// @param found in all ranks @param doubts gets them
void
AddSizeDoubts(const Findings& found, std::vector<std::string>& doubts)
{
    if (found.odd)
    {
        doubts.push_back(
            ShownName(found.odd->collective) + " has " + FormatCount(found.odd->inElements) +
            " elements (In msg nelems) and results in " + FormatCount(found.odd->outElements) +
            " (Out msg nelems), which should be as many; the " +
            (IsMessage(found.odd->collective) ? "larger"
             : found.odd->inElements > 0      ? "first"
                                              : "second") +
            " number is taken");
    }
    if (found.nOddSizes > 0)
    {
        doubts.push_back(FormatThings(found.nOddSizes, "collective") +
                         " whose elements (In msg nelems, Out msg nelems) do not fit the size of "
                         "their group, the first " +
                         found.oddSize + " is taken");
    }
    if (found.nOthers > 0)
    {
        doubts.push_back(FormatThings(found.nOthers, "message") +
                         " whose own end is another rank than that of their file, which counts; "
                         "the first " +
                         found.other);
    }
    if (found.nMisnamed > 0)
    {
        doubts.push_back(FormatThings(found.nMisnamed, "kernel") +
                         " named after another operation than their Collective name says, the "
                         "first " +
                         found.misnamed + "; the latter counts");
    }
}

/// Adds what was not read, or not understood.
/// @param found in all ranks @param doubts gets them
void
AddFormatDoubts(const Findings& found, std::vector<std::string>& doubts)
{
    std::set<std::string> versions = found.schemas;
    versions.erase("1");
    if (!versions.empty())
    {
        doubts.push_back("is of version " + ShownName(*versions.begin()) +
                         " of the format (schemaVersion), and is read as version 1");
    }
    for (const auto& [category, count] : found.unread)
    {
        if (count > 0)
        {
            doubts.push_back(FormatThings(count, "event") + " on streams of the category " +
                             ShownName(category) +
                             ", which is not known, not read; those of GPUs are kernel, "
                             "gpu_memcpy and gpu_memset");
        }
    }
    if (found.nKindless > 0)
    {
        doubts.push_back(FormatThings(found.nKindless, "event") +
                         " with a duration (dur) and no category (cat), or of another phase (ph) "
                         "than X, not read");
    }
    if (found.nPartGroups > 0)
    {
        doubts.push_back(FormatThings(found.nPartGroups, "process group") +
                         " (pg_config) without a name or ranks, not read");
    }
    if (found.nOddGroups > 0)
    {
        doubts.push_back(FormatThings(found.nOddGroups, "communication") +
                         " whose ranks (Process Group Ranks) are others, or in another order, than "
                         "those of their group in pg_config, such as group " +
                         QuotedText(found.oddGroup) + ": the former count");
    }
    if (static_cast<double>(found.syncs.second) >
        LEAST_UNLAUNCHED * static_cast<double>(found.syncs.first))
    {
        doubts.push_back(FormatThings(found.syncs.second, "wait") + " (cuda_sync) of " +
                         FormatCount(found.syncs.first) +
                         " that do not say who waits for what (stream, wait_on_stream, "
                         "correlation), or of a call that is not in the file: not heeded");
    }
    if (found.nAnnotated > 0)
    {
        doubts.push_back(FormatThings(found.nAnnotated, "communication") +
                         " whose sizes only the annotations nccl:... around the launches tell, as "
                         "PyTorch before 2.2 writes them: these say no process groups, so that "
                         "each is taken for one of all ranks, and no roots");
    }
    if (found.nUntold > 0)
    {
        doubts.push_back(FormatThings(found.nUntold, "kernel") +
                         " of NCCL that were launched before the recording began, so that nothing "
                         "tells what they send: these last as long as recorded");
    }
}

/// Adds what collectives and kernels do not say.
/// @param found in all ranks @param doubts gets them
void
AddCollectiveDoubts(const Findings& found, std::vector<std::string>& doubts)
{
    if (found.nEmpty > 0)
    {
        doubts.push_back("moves nothing for " + FormatThings(found.nEmpty, "collective") +
                         " without elements (In msg nelems, Out msg nelems)");
    }
    if (found.nRootless > 0)
    {
        doubts.push_back(FormatThings(found.nRootless, "collective") +
                         " with a root that do not say which (Src Rank), as PyTorch writes them: "
                         "the first rank of the group counts");
    }
    if (found.nUneven > 0)
    {
        doubts.push_back(FormatThings(found.nUneven, "all-to-all") +
                         " of unequal splits (In split size, Out split size): equal ones of the "
                         "same sum count");
    }
    if (found.nForeign > 0)
    {
        doubts.push_back(FormatThings(found.nForeign, "kernel") +
                         " of other libraries than NCCL, such as " + ShownName(found.foreign) +
                         ", last as long as recorded, whatever the network is");
    }
}

} // namespace

std::vector<std::string>
FindDoubts(const std::vector<Rank>& ranks)
{
    Findings found;
    for (const Rank& rank : ranks)
    {
        found.Add(rank);
    }
    std::vector<std::string> doubts;
    AddTimeDoubts(found, ranks, doubts);
    AddSizeDoubts(found, doubts);
    AddFormatDoubts(found, doubts);
    AddCollectiveDoubts(found, doubts);
    AddLibraryDoubts(ranks, doubts);
    return doubts;
}

std::string
DescribeEarlyWork(const std::vector<Rank>& ranks)
{
    uint64_t count = 0;
    double mostUs = 0;
    std::string example;
    for (const Rank& rank : ranks)
    {
        std::unordered_map<int64_t, double> launchedUs;
        for (const HostCall& call : rank.calls)
        {
            launchedUs.emplace(call.correlation, call.startUs);
        }
        for (const GpuEvent& event : rank.gpu)
        {
            const auto launch = launchedUs.find(event.correlation);
            const bool isLaunched = event.correlation >= 0 && launch != launchedUs.end();
            const double earlyUs = isLaunched ? launch->second - event.startUs : 0;
            count += earlyUs > 0 ? 1 : 0;
            if (earlyUs > mostUs)
            {
                mostUs = earlyUs;
                example = ShownName(rank.names[event.name], 60) + " with correlation " +
                          std::to_string(event.correlation);
            }
        }
    }
    return count == 0 ? ""
                      : "; " + FormatThings(count, "kernel") +
                            " would begin before the host launches it, " + example + " by " +
                            std::to_string(std::llround(std::ceil(mostUs))) +
                            " us: the clocks of host and GPU differ, or times were changed";
}

} // namespace kineto

} // namespace proteus
} // namespace ns3
