/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-search-options.h"

#include "proteus-option-list.h"
#include "proteus-search-experts.h"

#include "ns3/proteus-graph-kinds.h"
#include "ns3/proteus-plan-search.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// What can be varied, besides tensor, pipeline and data parallelism.
const std::vector<std::string> CHOICES{"context",
                                       "experts",
                                       "microBatch",
                                       "zero",
                                       "zeroGroup",
                                       "recompute",
                                       "sequence",
                                       "buckets",
                                       "schedule",
                                       "mapping",
                                       "virtualStages",
                                       "layouts"};

} // namespace

std::set<std::string>
SearchOptions::GetChoices() const
{
    if (vary == "all")
    {
        return {CHOICES.begin(), CHOICES.end()};
    }
    std::set<std::string> choices;
    for (const std::string& choice : SplitOnce("--vary=" + vary, vary == "none" ? "" : vary))
    {
        if (std::find(CHOICES.begin(), CHOICES.end(), choice) == CHOICES.end())
        {
            std::string known;
            for (const std::string& one : CHOICES)
            {
                known += one + ", ";
            }
            throw std::invalid_argument("--vary=" + vary + ": must be all, none, or of " + known +
                                        "separated by commas");
        }
        choices.insert(choice);
    }
    return choices;
}

void
SearchOptions::AddTo(OptionList& command)
{
    model.AddModelTo(command);
    command.AddValue("variables",
                     "variables of the model's file to set, e.g. layers=4,fusedAttention=1",
                     model.variables);
    AddClusterTo(command);
    command.StartGroup("Search");
    AddLaunchTo(command);
    command.Add("memory",
                "GB of a GPU that may be used (0: all of it)",
                OptionKind::GIGABYTES,
                memory);
    command.AddCheck("memory", [](const std::string& gigabytes) {
        constexpr double MOST = 1e6;
        if (std::stod(gigabytes) < 0 || std::stod(gigabytes) > MOST)
        {
            throw std::invalid_argument("must be 0 to 1e6 GB");
        }
    });
    command.AddValue("globalBatch", "samples per iteration", globalBatch);
    command.AddValue("dataType", "number format of matrix products", dataType);
    command.AddNames("dataType", GetDataTypeNames());
    command.AddValue("optimizer",
                     "sgd, momentum, adam, adamw (which takes as long) or lamb",
                     optimizer);
    command.AddNames("optimizer", GetOptimizerKindNames());
    command.AddValue("objective",
                     "time (shortest iteration on all GPUs), throughput-per-GPU or cost (rent of "
                     "whole servers per sample, see --prices); the latter two with fewer GPUs, too",
                     objective);
    command.AddNames("objective", GetSearchObjectiveNames());
    command.AddValue("prices", "table with rents of GPUs, a JSON file", prices);
    command.AddInput("prices");
    command.Add("budget",
                "seconds, or a time with its unit, after which nothing new is begun (0: none): "
                "half of it for formulas, the rest for runs",
                OptionKind::SECONDS,
                budget);
    command.AddValue("reduced",
                     "plans, the best by formula, for each of which a small job that stands for "
                     "it is run by flows, for large clusters: fewer replicas and micro-batches; "
                     "layouts and files of strategies have none (0: no such runs)",
                     reduced);
    command.AddValue("flows",
                     "strategies that are run by flows, the best by formula or, with --reduced, by "
                     "reduced runs; with these it may be 0",
                     flows);
    command.AddValue("packets",
                     "strategies that are run by packets, the best by flows (and the best of "
                     "experts')",
                     packets);
    command.AddValue(
        "threads",
        "threads that run strategies by flows; for runs by packets, what --threads of proteus-run "
        "is",
        threads);
    command.AddValue("mostTensor",
                     "most GPUs that share a layer (0: those of a server)",
                     mostTensor);
    command.AddValue("mostContext",
                     "most GPUs that share a sequence (0: one per 2048 tokens, up to 8)",
                     mostContext);
    command.AddValue("mostMicroBatch", "most samples of a micro-batch", mostMicroBatch);
    command.AddValue(
        "vary",
        "what is searched besides tensor, pipeline and data parallelism: all, none, "
        "or of context, experts, microBatch, zero, zeroGroup (states shared by the replicas of a "
        "server alone), recompute, sequence, buckets, "
        "schedule, mapping (pipelines inside or across servers), virtualStages, layouts (of "
        "every operator, in stages of up to 64 GPUs), separated by commas",
        vary);
    std::vector<std::string> choices = CHOICES;
    choices.insert(choices.end(), {"all", "none"});
    command.AddNames("vary", choices, NameUse::LIST);
    command.AddValue("layoutPlans",
                     "plans, the best by formula and unlike each other, in whose stages layouts "
                     "are searched",
                     layoutPlans);
    command.AddValue("experts",
                     "strategies to compare with, JSON files as --strategy has them, separated by "
                     "commas",
                     experts);
    command.AddCheck("experts", [](const std::string& files) { SplitExperts(files); });
    command.AddValue("sensitivity",
                     "say what changes with half and twice the network bandwidth and twice the "
                     "memory",
                     isSensitivityWanted);
    command.AddOutput("csv", "write a line per strategy that was run to this file", csv, ".csv");
    command.AddFolder("saveStrategies",
                      "write the strategies to this folder, 1.json the best, for --strategy",
                      output);
    command.AddParts("saveStrategies", R"(/\d+\.json)");
    command.AddAlias("output", "saveStrategies");
    command.AddOutput("report", "write a page with the table, and time against memory", report);
    plot.AddTo(command);
    command.AddValue("plotOf",
                     "what --plot draws: times (of the best strategies), or front (time against "
                     "memory of all that were run, and those that nothing beats in both)",
                     plotOf);
    command.AddNames("plotOf", {"times", "front"});
    command.AddOutput("log",
                      "keep the results of runs in this file; a search that was stopped goes on "
                      "from it",
                      log);
    command.AddValue("quiet", "no progress line", quiet);
    for (const auto& [name, least] : {std::make_pair("mostTensor", 0),
                                      std::make_pair("mostContext", 0),
                                      std::make_pair("mostMicroBatch", 1),
                                      std::make_pair("layoutPlans", 0),
                                      std::make_pair("reduced", 0),
                                      std::make_pair("packets", 0),
                                      std::make_pair("globalBatch", 1)})
    {
        command.AddRange(name, least);
    }
    command.AddRange("threads", 1, 1024);
    AddIdleTo(command);
}

void
SearchOptions::AddIdleTo(OptionList& command) const
{
    command.AddIdleParts(
        "variables",
        [this]() {
            try
            {
                return model.ListIdleVariables(framework, FindGpu());
            }
            catch (const std::exception&) // which the search reports
            {
                return std::vector<std::string>();
            }
        },
        "the model is the same without it");
    command.AddIdle("prices", [this] {
        return objective == "cost" ? "" : "rents count with --objective=cost only";
    });
    command.AddIdle("plotOf", [this] { return !plot.path.empty() ? "" : "there is no --plot"; });
    command.AddIdle("layoutPlans", [this] {
        return GetChoices().count("layouts") > 0 ? ""
                                                 : "no layouts are searched; add --vary=layouts";
    });
    command.AddIdle("layoutPlans", [this] {
        return reduced > 0 ? "layouts have no small jobs that --reduced runs" : "";
    });
    command.AddIdle("mostContext", [this] {
        return GetChoices().count("context") > 0 ? ""
                                                 : "no GPUs share a sequence; add --vary=context";
    });
    command.AddIdle("mostMicroBatch", [this] {
        return GetChoices().count("microBatch") > 0
                   ? ""
                   : "micro-batches are of one sample; add --vary=microBatch";
    });
}

} // namespace proteus
} // namespace ns3
