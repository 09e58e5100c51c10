/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-doubts.h"

#include "proteus-trace-doubts.h"

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

/// @return an operation of a rank whose input and output have one size, and have two in the file;
/// null if there is none
const Communication*
FindContradiction(const Rank& rank)
{
    const auto found = std::find_if(rank.communications.begin(),
                                    rank.communications.end(),
                                    [](const Communication& it) {
                                        const bool isAlike =
                                            Contains(it.collective, "allreduce") ||
                                            Contains(it.collective, "all_reduce") ||
                                            Contains(it.collective, "broadcast");
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

/// Adds versions of NCCL that are none, and backends of torch.distributed without NCCL
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

} // namespace

std::vector<std::string>
FindDoubts(const std::vector<Rank>& ranks)
{
    constexpr double LEAST_OVERLAP = 0.01;    // of the kernels, from which on it is said
    constexpr double LEAST_UNLAUNCHED = 0.01; // of the work of GPUs, from which on it is said
    std::set<std::string> steps;
    uint64_t nForeign = 0;
    std::string example;
    double overlapUs = 0;
    double kernelUs = 0;
    uint64_t nWork = 0;
    uint64_t nUnlaunched = 0;
    std::pair<uint64_t, uint64_t> launches{0, 0};
    std::set<std::string> schemas;
    const Communication* odd = nullptr;
    std::map<std::string, uint64_t> unread;
    uint64_t nAnnotated = 0;
    uint64_t nUntold = 0;
    uint64_t nEmpty = 0;
    uint64_t nRootless = 0;
    uint64_t nUneven = 0;
    uint64_t nOddSizes = 0;
    std::string oddSize;
    uint64_t nOthers = 0;
    std::string other;
    uint64_t nMisnamed = 0;
    std::string misnamed;
    uint64_t nKindless = 0;
    uint64_t nPartGroups = 0;
    uint64_t nOddGroups = 0;
    std::string oddGroup;
    std::pair<uint64_t, uint64_t> syncs{0, 0};
    uint64_t nPauses = 0;
    double pausesUs = 0;
    double lastBeginUs = 0;
    for (const Rank& rank : ranks)
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
        example = rank.nForeign > 0 ? rank.exampleForeign : example;
        overlapUs += rank.overlapUs;
        for (const GpuEvent& event : rank.gpu)
        {
            kernelUs += event.communication == NO_ID ? event.durationUs : 0;
        }
    }
    std::vector<std::string> doubts;
    for (const Rank& rank : ranks)
    {
        if (std::string setUp = DescribeSetUp(rank); !setUp.empty())
        {
            doubts.push_back(std::move(setUp));
            break;
        }
    }
    if (std::string ofSteps = DescribeProfilerSteps(steps); !ofSteps.empty())
    {
        doubts.push_back(std::move(ofSteps));
    }
    if (overlapUs > LEAST_OVERLAP * kernelUs)
    {
        const double nRanks = static_cast<double>(ranks.size());
        doubts.push_back("kernels of one stream ran at the same time for " +
                         FormatTime(overlapUs * 1e-6 / nRanks) + " of a rank's " +
                         FormatTime(kernelUs * 1e-6 / nRanks) +
                         ", and run one after the other here");
    }
    if (lastBeginUs > 0)
    {
        doubts.push_back("its ranks began up to " + FormatTime(lastBeginUs * 1e-6) +
                         " after each other, as the ends of their first collectives tell: kept as "
                         "recorded, as time of the host");
    }
    if (nPauses > 0)
    {
        const double nRanks = static_cast<double>(ranks.size());
        doubts.push_back(FormatThings(nPauses, "pause") + " before kernels and copies, " +
                         FormatTime(pausesUs * 1e-6 / nRanks) +
                         " of a rank, that nothing in the file explains, such as that another "
                         "kernel has the GPU: kept as recorded, as time of the host");
    }
    if (static_cast<double>(nUnlaunched) > LEAST_UNLAUNCHED * static_cast<double>(nWork))
    {
        doubts.push_back(FormatCount(nUnlaunched) + " of its " + FormatCount(nWork) +
                         " kernels and copies have no launch in the file (a call of the host with "
                         "their correlation): "
                         "they do not wait for the host; record the activities of the CPU, too");
    }
    if (static_cast<double>(launches.second) >
        LEAST_UNLAUNCHED * static_cast<double>(launches.first))
    {
        doubts.push_back(FormatCount(launches.second) + " of its " + FormatCount(launches.first) +
                         " launches have no kernel in the file: work of the GPU was lost, cut out, "
                         "or only captured into a graph, and is not run");
    }
    if (odd)
    {
        doubts.push_back(ShownName(odd->collective) + " has " + FormatCount(odd->inElements) +
                         " elements (In msg nelems) and results in " +
                         FormatCount(odd->outElements) +
                         " (Out msg nelems), which should be as many; the " +
                         (odd->inElements > 0 ? "first" : "second") + " number is taken");
    }
    if (nOddSizes > 0)
    {
        doubts.push_back(FormatThings(nOddSizes, "collective") +
                         " whose elements (In msg nelems, Out msg nelems) do not fit the size of "
                         "their group, the first " +
                         oddSize + " is taken");
    }
    if (nOthers > 0)
    {
        doubts.push_back(FormatThings(nOthers, "message") +
                         " whose own end is another rank than that of their file, which counts; "
                         "the first " +
                         other);
    }
    if (nMisnamed > 0)
    {
        doubts.push_back(FormatThings(nMisnamed, "kernel") +
                         " named after another operation than their Collective name says, the "
                         "first " +
                         misnamed + "; the latter counts");
    }
    schemas.erase("1");
    if (!schemas.empty())
    {
        doubts.push_back("is of version " + ShownName(*schemas.begin()) +
                         " of the format (schemaVersion), and is read as version 1");
    }
    for (const auto& [category, count] : unread)
    {
        if (count > 0)
        {
            doubts.push_back(FormatThings(count, "event") + " on streams of the category " +
                             ShownName(category) +
                             ", which is not known, not read; those of GPUs are kernel, "
                             "gpu_memcpy and gpu_memset");
        }
    }
    if (nKindless > 0)
    {
        doubts.push_back(FormatThings(nKindless, "event") +
                         " with a duration (dur) and no category (cat), or of another phase (ph) "
                         "than X, not read");
    }
    if (nPartGroups > 0)
    {
        doubts.push_back(FormatThings(nPartGroups, "process group") +
                         " (pg_config) without a name or ranks, not read");
    }
    if (nOddGroups > 0)
    {
        doubts.push_back(FormatThings(nOddGroups, "communication") +
                         " whose ranks (Process Group Ranks) are others than those of their group "
                         "in pg_config, such as group " +
                         QuotedText(oddGroup) + ": the former count");
    }
    if (static_cast<double>(syncs.second) > LEAST_UNLAUNCHED * static_cast<double>(syncs.first))
    {
        doubts.push_back(FormatThings(syncs.second, "wait") + " (cuda_sync) of " +
                         FormatCount(syncs.first) +
                         " that do not say who waits for what (stream, wait_on_stream, "
                         "correlation), or of a call that is not in the file: not heeded");
    }
    if (nAnnotated > 0)
    {
        doubts.push_back(FormatThings(nAnnotated, "communication") +
                         " whose sizes only the annotations nccl:... around the launches tell, as "
                         "PyTorch before 2.2 writes them: these say no process groups, so that "
                         "each is taken for one of all ranks, and no roots");
    }
    if (nUntold > 0)
    {
        doubts.push_back(FormatThings(nUntold, "kernel") +
                         " of NCCL that were launched before the recording began, so that nothing "
                         "tells what they send: these last as long as recorded");
    }
    if (nEmpty > 0)
    {
        doubts.push_back("moves nothing for " + FormatThings(nEmpty, "collective") +
                         " without elements (In msg nelems, Out msg nelems)");
    }
    if (nRootless > 0)
    {
        doubts.push_back(FormatThings(nRootless, "collective") +
                         " with a root that do not say which (Src Rank), as PyTorch writes them: "
                         "the first rank of the group counts");
    }
    if (nUneven > 0)
    {
        doubts.push_back(FormatThings(nUneven, "all-to-all") +
                         " of unequal splits (In split size, Out split size): equal ones of the "
                         "same sum count");
    }
    if (nForeign > 0)
    {
        doubts.push_back(FormatThings(nForeign, "kernel") +
                         " of other libraries than NCCL, such as " + ShownName(example) +
                         ", last as long as recorded, whatever the network is");
    }
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
