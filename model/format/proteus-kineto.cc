/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto.h"

#include "proteus-kineto-begins.h"
#include "proteus-kineto-doubts.h"
#include "proteus-kineto-events.h"
#include "proteus-kineto-replay.h"
#include "proteus-trace-doubts.h"

#include "ns3/proteus-nccl-releases.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Files of a trace.
struct KinetoRanks
{
    std::vector<kineto::Rank> ranks;        //!< by file
    std::map<uint32_t, std::size_t> byRank; //!< file
    uint32_t worldSize{0};                  //!< 0: no file says it
};

/// @param files to read @param name of the trace @param options of the user @return what they say
KinetoRanks
ReadRanks(const std::vector<TraceFile>& files, const std::string& name, const TraceOptions& options)
{
    KinetoRanks all;
    all.ranks.resize(files.size());
    std::map<std::string, std::string> misspelt;
    for (std::size_t i = 0; i < files.size(); i++)
    {
        all.ranks[i] = kineto::ReadRank(files[i], options.isCommunicationRecorded);
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

/// @param gpu name of a GPU as a trace has it @return whether it is one of AMD, whose collectives
/// are RCCL's: it calls itself NCCL, of the release that it follows
bool
HasRccl(const std::string& gpu)
{
    return gpu.rfind("AMD ", 0) == 0;
}

/// @param recorded version of NCCL that a trace says, or empty @param simulated version, or 0
/// @param isRccl see HasRccl() @param name of the trace
void
WarnOfVersion(const std::string& recorded, uint32_t simulated, bool isRccl, const std::string& name)
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
    if (version != 0 && simulated != 0 && (version != simulated || isRccl))
    {
        Warn(name + ": was recorded with " + (isRccl ? "RCCL, which follows NCCL " : "NCCL ") +
             recorded + "; simulated is " + (isRccl ? "NCCL " : "") + FormatNcclVersion(simulated) +
             (version == simulated
                  ? ""
                  : ", and with --ncclVersion=" + recorded + " that of the trace"));
    }
    const std::string unlike = DescribeUnlikeRelease(recorded);
    if (version == simulated && !unlike.empty())
    {
        Warn(name + ": " + unlike);
    }
}

/// @param all what the files of several ranks say; these get when they began
/// @param graph gets the ranks @param streams of the graph, by name
/// @return what is not known of when they began, or empty
std::string
ReplayRanks(KinetoRanks& all, TraceGraph& graph, std::map<std::string, StreamId>& streams)
{
    std::vector<const kineto::Rank*> ranks;
    std::vector<std::shared_ptr<RankTrace>> traces;
    for (const auto& [rank, place] : all.byRank)
    {
        traces.push_back(kineto::MakeReplay(all.ranks[place], graph, streams, false));
        ranks.push_back(&all.ranks[place]);
    }
    const kineto::Begins begins = kineto::FindBegins(ranks);
    for (const auto& [rank, place] : all.byRank)
    {
        if (begins.laterUs[rank] > kineto::LEAST_BEGIN_US)
        {
            all.ranks[place].beginUs = begins.laterUs[rank];
            kineto::BeginLater(*traces[rank], begins.laterUs[rank], graph, streams);
        }
        graph.SetRank(rank, traces[rank]);
    }
    const bool hasMessages = std::any_of(ranks.begin(), ranks.end(), [](const kineto::Rank* rank) {
        return rank->hasMessages;
    });
    return begins.nApart > 1 && hasMessages
               ? "only messages connect " + std::to_string(begins.nApart) +
                     " parts of the job, which do not tell when the ranks began: these parts begin "
                     "at once"
               : "";
}

} // namespace

ExecutionGraph
ReadKineto(const std::vector<TraceFile>& files,
           const std::string& name,
           const TraceOptions& options,
           Recording* recording)
{
    KinetoRanks all = ReadRanks(files, name, options);
    const uint32_t nRanks = FindNRanks(all, name, options);
    TraceGraph graph(nRanks, name);
    std::map<std::string, StreamId> streams;
    std::string unknownBegins;
    if (all.ranks.size() == 1)
    {
        const auto trace = kineto::MakeReplay(all.ranks[0], graph, streams, nRanks > 1);
        for (DeviceId rank = 0; rank < nRanks; rank++)
        {
            graph.SetRank(rank, trace);
        }
    }
    else
    {
        unknownBegins = ReplayRanks(all, graph, streams);
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
    if (recording)
    {
        *recording = graph.GetRecording();
        recording->isOneForAll =
            all.ranks.size() == 1 && nRanks > 1 && !options.isCommunicationRecorded;
        for (const kineto::Rank& rank : all.ranks)
        {
            recording->lengthS =
                std::max(recording->lengthS, (rank.beginUs + rank.recordedUs) * 1e-6);
        }
    }
    uint64_t nRecorded = 0;
    for (const kineto::Rank& rank : all.ranks)
    {
        nRecorded += rank.nRecorded;
    }
    WarnOfNoRecorded(name, options, nRecorded);
    if (!unknownBegins.empty())
    {
        Warn(name + ": " + unknownBegins);
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
            WarnOfVersion(rank.ncclVersion, options.ncclVersion, HasRccl(rank.gpuModel), name);
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
