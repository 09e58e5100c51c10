/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-words.h"

#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-other-names.h"

namespace ns3
{
namespace proteus
{

const std::vector<OptionWords>&
GetOptionWords()
{
    static const std::vector<OptionWords> WORDS{
        {{"servers", "hosts", "machines", "nnodes", "numNodes", "numServers"}, {"nodes"}, {}, ""},
        {{"gpus", "ranks", "worldSize", "devices", "numGpus", "ngpus", "nproc", "nprocPerNode"},
         {"gpus", "gpu"},
         {},
         "all GPUs of the cluster are used; --nodes is the number of its servers"},
        {{"system", "preset", "machine", "hardware"}, {"cluster"}, {}, ""},
        {{"topology", "topo", "network"},
         {"fabric"},
         {},
         "--cluster=FILE reads a topology, --fabric builds the network between servers"},
        {{"bandwidth",
          "linkRate",
          "linkBandwidth",
          "linkSpeed",
          "nic",
          "nicRate",
          "rate",
          "speed",
          "latency",
          "linkLatency",
          "linkDelay",
          "delay",
          "mtu",
          "packetSize"},
         {},
         {},
         "--cluster=PRESET:nic=4x200G-roce,mtu=4096 changes NICs; any link is a line of a cluster "
         "file, which proteus-cluster --output=FILE.json writes"},
        {{"routing", "loadBalancing", "ecmp", "adaptiveRouting", "spray"},
         {},
         {"ns3::proteus::Fabric::Routing"},
         ""},
        {{"congestionControl", "congestion", "cc", "dcqcn", "hpcc", "timely"},
         {"congestionControl"},
         {"ns3::proteus::Transport::CongestionControl"},
         ""},
        {{"ecn"}, {}, {"ns3::proteus::Fabric::Ecn"}, ""},
        {{"pfc"}, {}, {"ns3::proteus::Fabric::Pfc"}, ""},
        {{"buffer", "bufferSize", "switchBuffer", "bufferBytes"},
         {},
         {"ns3::proteus::Fabric::SwitchBuffer", "ns3::proteus::Fabric::InfinibandBuffer"},
         ""},
        {{"backend", "executor", "engine", "simulator", "fidelity"},
         {"executor"},
         {},
         "this program has one way to run; --executor is an option of proteus-run and "
         "proteus-gpt3"},
        {ListOtherNames("dataType"), {"dataType"}, {}, ""},
        {{"seed", "randomSeed", "rngSeed"},
         {"stream"},
         {},
         "ns-3's own seed of all streams is --RngSeed"},
        {{"html", "page"}, {"report", "html"}, {}, ""},
        {{"out", "output", "outputFile", "results"}, {"json", "csv"}, {}, ""},
        {{"silent", "noProgress"}, {"quiet"}, {}, ""},
        {{"jobs", "cores", "cpus"}, {"threads", "jobs"}, {}, ""}};
    return WORDS;
}

namespace
{

/// Fields of a strategy that other programs have as options.
const std::vector<std::string> STRATEGY_FIELDS{"globalBatch",
                                               "microBatch",
                                               "tp",
                                               "pp",
                                               "dp",
                                               "cp",
                                               "ep",
                                               "etp",
                                               "virtualStages",
                                               "sequenceParallel",
                                               "zero",
                                               "zeroGroup",
                                               "recompute",
                                               "offloadOptimizer"};

/// @return the field of a strategy that a word stands for, by its own name too; empty for none
std::string
FindStrategyField(const std::string& word)
{
    const std::string own = FindAlias(word, STRATEGY_FIELDS);
    return own.empty() ? FindByOtherName(word, STRATEGY_FIELDS) : own;
}

} // namespace

std::string
FindOptionWord(const std::string& word,
               const std::function<bool(const std::string& name)>& hasOption)
{
    for (const OptionWords& entry : GetOptionWords())
    {
        if (FindAlias(word, entry.words).empty())
        {
            continue;
        }
        for (const std::string& option : entry.options)
        {
            if (hasOption(option))
            {
                return "it is --" + option;
            }
        }
        std::string names;
        for (const std::string& attribute : entry.attributes)
        {
            names += (names.empty() ? "it is --" : " or --") + attribute + "=VALUE";
        }
        return names.empty() ? entry.hint : names;
    }
    if (const std::string field = FindStrategyField(word); !field.empty())
    {
        const std::string inStrategy = "--strategy=...," + field + "=...";
        return hasOption(field)        ? "it is --" + field
               : hasOption("strategy") ? "it is part of the strategy, " + inStrategy
                                       : "strategies of jobs have it, proteus-run " + inStrategy;
    }
    return FindMissingCause("a plan", word);
}

} // namespace proteus
} // namespace ns3
