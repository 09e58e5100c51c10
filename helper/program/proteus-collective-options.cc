/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-program.h"
#include "proteus-executors.h"
#include "proteus-name-lists.h"
#include "proteus-nccl-cluster.h"
#include "proteus-option-meanings.h"

#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-launch-mode.h"

#include <array>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Adds hints for the options of nccl-tests, by letter and by name. @param command gets them
void
AddNcclTestsHints(OptionList& command)
{
    const std::vector<std::array<const char*, 3>> hints{
        {"b", "minbytes", "it is --min"},
        {"e", "maxbytes", "it is --max"},
        {"f", "stepfactor", "it is --factor"},
        {"i", "stepbytes", "sizes grow by --factor"},
        {"g", "ngpus", "it is --gpus, of all servers together (--nodes)"},
        {"t", "nthreads", "it is --gpus, and --launchMode=one-process"},
        {"n", "iters", "it is --iterations"},
        {"w", "warmup_iters", "nothing has to warm up here"},
        {"m", "agg_iters", "every iteration is launched by itself"},
        {"d", "datatype", "--min and --max are bytes, of whatever type"},
        {"o", "op", "no time depends on sum or max; what is run is --collective"},
        {"r", "r", "it is --root"},
        {"z", "blocking", "it is --launchMode"},
        {"c", "check", "there is no data to check"},
        {"p", "parallel_init", "the time of ncclCommInit is not simulated"},
        {"cudagraph", "cudagraph", "it is not modelled"},
        {"a", "average", "every rank's time is simulated; the last one's is printed"}};
    for (const auto& [letter, name, hint] : hints)
    {
        command.AddHint(letter, hint);
        command.AddHint(name, hint);
    }
    command.AddHint("size", "it is --min and --max");
}

/// @return what can be timed: the collectives, and a barrier
std::vector<std::string>
ListTests()
{
    std::vector<std::string> names = ListCollectives();
    names.emplace_back("barrier");
    return names;
}

} // namespace

std::string
ListServed()
{
    return ListAlgorithms([](const AlgorithmTraits& traits) { return traits.hasParameterServers; });
}

std::string
FindCollectiveName(const std::string& typed)
{
    return MatchName("collective", typed, ListTests());
}

Cluster
CollectiveProgramOptions::MakeCluster(const FabricOptions& between) const
{
    const bool isOfLog = nodes == 0 && !measured.empty(); // which may be of several servers
    return MakeNcclCluster(nccl,
                           LoadCluster(FindClusterName(cluster),
                                       isOfLog ? 2 : ToCount(nodes, "nodes", 0, MAX_SERVERS),
                                       between));
}

void
CollectiveProgramOptions::AddTo(OptionList& command)
{
    command.Usage(
        "Prints the table that nccl-tests prints on the real machine: a collective at many sizes,\n"
        "each simulated packet by packet with NCCL's algorithms, protocols, channels and chunks.\n"
        "\n"
        "For example:\n"
        "  proteus-collective --cluster=dgx-a100 --collective=all-reduce --min=8 --max=1G\n"
        "  proteus-collective --cluster=hgx-b200 --nodes=2 --collective=send-recv\n"
        "                     --networkChannels=2 --min=1M --max=64M\n"
        "  proteus-collective --cluster=dgx-a100 --nodes=2 --concurrent=8 --min=64M --max=64M");
    command.AddValue("cluster",
                     "server preset, or a file: cluster JSON, NCCL topology, text topology",
                     cluster);
    command.AddMeaning("cluster", GetClusterMeaning);
    command.AddValue("nodes",
                     "servers of a preset (0: what a file says, with --measured as many as the log "
                     "has, two of a preset with changes but for servers of cards, or one)",
                     nodes);
    command.AddValue(
        "gpus",
        "GPUs of the collective, in equal parts from all servers (0: all, with --measured as many "
        "as the log has ranks)",
        gpus);
    const auto loadThis = [this]() { return MakeCluster(fabric.GetOptions()); };
    fabric.AddTo(command, [this](const FabricOptions& between) {
        return DescribeNetwork(MakeCluster(between));
    });
    command.AddValue(
        "collective",
        "all-reduce, all-gather, reduce-scatter, broadcast, reduce, gather, scatter, "
        "all-to-all, send-recv (every rank to the next) or barrier (empty: all-reduce, "
        "with --measured that of the log)",
        collective);
    command.AddNames("collective", ListTests());
    command.AddValue("min",
                     "first size in bytes, as nccl-tests counts it; K, M and G may follow (empty: "
                     "8, with --measured the first of the log)",
                     min);
    command.AddValue("max", "last size (empty: 128M, with --measured the last of the log)", max);
    command.AddValue("measured",
                     "log of nccl-tests, or a CSV table of such times: the sizes are those of the "
                     "log, and measured times are printed beside simulated ones",
                     measured);
    command.AddInput("measured");
    command.AddOutput("measuredCsv",
                      "write the log to this file as a CSV table, as in workloads/measurements/",
                      measuredCsv,
                      ".csv");
    command.AddValue("logVariables",
                     "whether variables of NCCL's environment that the log says are taken over "
                     "(on or off)",
                     logVariables);
    command.AddNames("logVariables", {"on", "off"});
    command.AddIdle("logVariables",
                    [this]() { return measured.empty() ? "there is no log, --measured" : ""; });
    command.AddValue("factor", "from one size to the next, above 1", factor);
    for (const char* name : {"min", "max", "factor"})
    {
        command.AddIdle(name, [this]() {
            return FindAlias(collective, {"barrier"}).empty() ? "" : "a barrier has no size";
        });
    }
    command.AddIdle("factor",
                    [this]() { return measured.empty() ? "" : "the sizes are those of the log"; });
    command.AddIdle("factor", [this]() {
        const std::string first = min;
        return !first.empty() && first == std::string(max) ? "there is one size" : "";
    });
    AddNcclTestsHints(command);
    command.AddValue("root", "rank, of collectives that have one", root);
    nccl.AddTo(command, loadThis);
    command.AddIdle("networkChannels", [this]() -> std::string {
        const std::string none = measured.empty() ? ToString(Collective::ALL_REDUCE) : "";
        const std::string name =
            collective.empty() ? none : FindAlias(collective, ListCollectives());
        return name.empty() ? "" : FindNoMessages(CollectiveFromString(name));
    });
    command.AddValue("launchMode",
                     "who launches kernels: process-per-gpu, one-process (a host thread for all "
                     "GPUs of a server) or stream (launching costs nothing) (empty: "
                     "process-per-gpu, with --measured as the log's nGpus says)",
                     launchMode);
    command.AddNames("launchMode", GetLaunchModeNames());
    command.AddIdle("joinWindow", [this]() {
        return std::string(launchMode) == "stream"
                   ? ""
                   : "kernels wait for each other only in launch mode stream";
    });
    command.Add("pluginLatency",
                "what the plug-in of the network takes for a chunk longer than --netPlugin says, a "
                "time or microseconds",
                OptionKind::MICROSECONDS,
                pluginLatency);
    costs.AddTo(command, loadThis);
    command.AddIdle("pluginLatency", [loadThis]() { return FindNoNetwork(loadThis()); });
    command.AddValue("concurrent", "how many groups run the collective at once", concurrent);
    command.AddValue("grouping",
                     "stride: ranks i, i + groups, ... make a group; block: those that follow "
                     "each other",
                     grouping);
    command.AddNames("grouping", {"stride", "block"});
    command.AddIdle("grouping", [this]() { return concurrent == 1 ? "there is one group" : ""; });
    command.AddValue("msccl", "run this MSCCL schedule (XML)", msccl);
    command.AddInput("msccl");
    command.AddFileOption("algorithm", "msccl");
    for (const char* name :
         {"algorithm", "protocol", "channels", "networkChannels", "nccl", "root"})
    {
        command.AddIdle(name, [this]() {
            return msccl.empty() ? "" : "the schedule of --msccl says it";
        });
    }
    command.AddValue("splits",
                     "all-to-all with unequal splits: a file with a line for every rank and in it "
                     "its shares for every rank; the largest line is the size",
                     splits);
    command.AddInput("splits");
    command.AddValue("parameterServers",
                     "ranks, from the first one on, that algorithm " + ListServed() + " pushes to",
                     parameterServers);
    command.AddValue("topology",
                     "print what the topology search has found: channels, rings and trees",
                     topology);
    AddTestExecutors(command, executor);
    command.AddValue("iterations",
                     "how often each size is timed (0: as often as is needed)",
                     iterations);
    command.AddValue("stream",
                     "random stream that decides which of several equal paths a flow takes",
                     stream);
    command.AddOutput("csv",
                      "write size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels "
                      "to this file",
                      csv,
                      ".csv");
    tables.AddTo(command);
    plot.AddTo(command);
    command.AddValue("quiet", "no progress line", quiet);
}

} // namespace proteus
} // namespace ns3
