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
        {ListOtherNames("globalBatch"),
         {"globalBatch"},
         {},
         "it is part of the strategy, --strategy=...,globalBatch=..."},
        {ListOtherNames("microBatch"),
         {"microBatch"},
         {},
         "it is part of the strategy, --strategy=...,microBatch=..."},
        {ListOtherNames("tp"), {"tp"}, {}, "it is part of the strategy, --strategy=tp=..."},
        {ListOtherNames("pp"), {"pp"}, {}, "it is part of the strategy, --strategy=pp=..."},
        {ListOtherNames("dp"), {"dp"}, {}, "it is part of the strategy, --strategy=dp=..."},
        {ListOtherNames("recompute"),
         {"recompute"},
         {},
         "it is part of the strategy, --strategy=...,recompute=..."},
        {{"zero",
          "zeroStage",
          "fsdp",
          "expertParallel",
          "contextParallel",
          "sequenceParallel",
          "ep",
          "cp",
          "sp"},
         {},
         {},
         "it is part of a strategy, proteus-run --strategy=..."},
        {{"layers",
          "numLayers",
          "hidden",
          "hiddenSize",
          "heads",
          "numAttentionHeads",
          "sequence",
          "seqLength",
          "seqLen",
          "sequenceLength",
          "contextLength",
          "vocab"},
         {},
         {},
         "it is part of the model: proteus-run --model=FILE --variables=NAME=VALUE"},
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
    return FindMissingCause("a plan", word);
}

} // namespace proteus
} // namespace ns3
