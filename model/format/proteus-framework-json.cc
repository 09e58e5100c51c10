/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-framework-json.h"

#include "proteus-framework-base.h"
#include "proteus-input-file.h"
#include "proteus-sourced-value.h"
#include "proteus-strategy-json.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-enum-names.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_US = 1e6;
constexpr double MOST_US = 1e6;
/// Of a kernel, an operator or a tensor; more are other units.
constexpr double MOST_KERNEL_US = 1e4;
constexpr double LEAST_PACE = 0.01; //!< of a host, against that of the file
constexpr double MOST_PACE = 100;
constexpr double MOST_ELEMENTS = 1e4;
constexpr uint64_t MOST_KERNELS = 100000;
constexpr uint64_t MOST_GPUS = 1000000;

void
ReadTime(const JsonValue& object, const char* key, double mostUs, int64_t& picoseconds)
{
    if (const auto value = FindSourced(object, key))
    {
        picoseconds = std::llround(value->AsNumber(0, mostUs) * PS_PER_US);
    }
}

void
ReadAmount(const JsonValue& object, const char* key, double least, double most, double& amount)
{
    if (const auto value = FindSourced(object, key))
    {
        amount = value->AsNumber(least, most);
    }
}

/// Reads amounts by how the names of data sheets begin. @param object that may have them
/// @param key where they are @param least of them @param most of them @param amounts are set
void
ReadByGpu(const JsonValue& object,
          const char* key,
          double least,
          double most,
          std::map<std::string, double>& amounts)
{
    if (const auto gpus = object.Find(key))
    {
        if (gpus->GetKeys().empty())
        {
            gpus->Fail("names no GPU");
        }
        for (const std::string& gpu : gpus->GetKeys())
        {
            ReadAmount(*gpus, gpu.c_str(), least, most, amounts[gpu]);
        }
    }
}

void
ReadCount(const JsonValue& object, const char* key, uint32_t& count)
{
    if (const auto value = FindSourced(object, key))
    {
        count = static_cast<uint32_t>(value->AsWhole(0, MOST_KERNELS));
    }
}

void
ReadHost(const JsonValue& host, Framework& framework)
{
    host.AllowKeys("the host",
                   {"kernelUs",
                    "backwardKernelUs",
                    "operatorUs",
                    "blockUs",
                    "backwardBlockUs",
                    "blocksOfZero3",
                    "tensorUs",
                    "isAhead",
                    "waitsAtDispatch",
                    "waitsAtExchange",
                    "gathersBehindDispatch",
                    "issuesEveryExpert",
                    "expertKernelUs",
                    "backwardExpertKernelUs",
                    "waitsForKernels",
                    "waitsForTransfers",
                    "exchangesTransfers",
                    "paces"});
    ReadTime(host, "kernelUs", MOST_KERNEL_US, framework.kernels.hostPerKernelPs);
    ReadTime(host, "backwardKernelUs", MOST_KERNEL_US, framework.host.backwardKernelPs);
    ReadTime(host, "operatorUs", MOST_KERNEL_US, framework.host.operatorPs);
    ReadTime(host, "blockUs", MOST_US, framework.host.blockPs);
    ReadTime(host, "backwardBlockUs", MOST_US, framework.host.backwardBlockPs);
    ReadTime(host, "tensorUs", MOST_KERNEL_US, framework.host.tensorPs);
    if (const auto value = FindSourced(host, "blocksOfZero3"))
    {
        framework.host.blocksOfZero3 = value->AsBool();
        if (framework.host.blocksOfZero3 && framework.host.blockPs == 0)
        {
            value->Fail("a host that needs no time for blocks has none of ZeRO 3");
        }
    }
    if (const auto value = FindSourced(host, "isAhead"))
    {
        framework.host.isAhead = value->AsBool();
    }
    if (const auto value = FindSourced(host, "waitsAtDispatch"))
    {
        framework.host.waitsAtDispatch = value->AsBool();
        if (framework.host.waitsAtDispatch && !framework.host.isAhead)
        {
            value->Fail("a host that is not ahead has nothing to wait for");
        }
    }
    if (const auto value = FindSourced(host, "waitsAtExchange"))
    {
        framework.host.waitsAtExchange = value->AsBool();
        if (framework.host.waitsAtExchange &&
            (framework.host.waitsAtDispatch || !framework.host.isAhead))
        {
            value->Fail("a host that waits at each dispatch, or is not ahead, does so there, too");
        }
    }
    if (const auto value = FindSourced(host, "gathersBehindDispatch"))
    {
        framework.host.gathersBehindDispatch = value->AsBool();
        if (framework.host.gathersBehindDispatch && !framework.host.waitsAtDispatch)
        {
            value->Fail("a host that does not wait at a dispatch has no gathers behind it");
        }
    }
    if (const auto value = FindSourced(host, "issuesEveryExpert"))
    {
        framework.host.issuesEveryExpert = value->AsBool();
    }
    for (const auto& [name, time] :
         {std::pair{"expertKernelUs", &framework.host.expertKernelPs},
          std::pair{"backwardExpertKernelUs", &framework.host.backwardExpertKernelPs}})
    {
        ReadTime(host, name, MOST_KERNEL_US, *time);
        if (*time >= 0 && !framework.host.issuesEveryExpert)
        {
            FindSourced(host, name)
                ->Fail("a host that issues no product of each expert has no time of it");
        }
    }
    ReadByGpu(host, "paces", LEAST_PACE, MOST_PACE, framework.host.paces);
    if (const auto value = FindSourced(host, "waitsForKernels"))
    {
        framework.host.waitsForKernels = value->AsBool();
        if (framework.host.waitsForKernels && framework.host.isAhead)
        {
            value->Fail("a host that waits for every kernel is not ahead");
        }
    }
    if (const auto value = FindSourced(host, "waitsForTransfers"))
    {
        framework.host.waitsForTransfers = value->AsBool();
    }
    if (const auto value = FindSourced(host, "exchangesTransfers"))
    {
        framework.host.exchangesTransfers = value->AsBool();
        if (framework.host.exchangesTransfers && !framework.host.waitsForTransfers)
        {
            value->Fail("a host whose kernels do not wait for transfers has none that cross");
        }
    }
}

void
ReadEfficiency(const JsonValue& efficiency, KernelCostParameters& kernels)
{
    constexpr double LEAST = 1e-3;
    efficiency.AllowKeys("the efficiencies",
                         {"matrix",
                          "matrixGpus",
                          "spread",
                          "fp8Gradients",
                          "groupedProducts",
                          "memory",
                          "rows",
                          "stream",
                          "optimizer",
                          "kernelLatencyUs"});
    ReadAmount(efficiency, "matrix", LEAST, 1, kernels.matrixEfficiency);
    if (const auto value = FindSourced(efficiency, "matrixGpus"))
    {
        kernels.matrixGpus = value->AsWhole(1, MOST_GPUS);
    }
    ReadAmount(efficiency, "spread", 0, 1, kernels.gpuSpread);
    ReadAmount(efficiency, "memory", LEAST, 1, kernels.memoryEfficiency);
    ReadAmount(efficiency, "fp8Gradients", LEAST, 1, kernels.fp8GradientShare);
    ReadByGpu(efficiency, "groupedProducts", LEAST, 1, kernels.groupedShares);
    ReadAmount(efficiency, "rows", LEAST, 1, kernels.rowEfficiency);
    ReadAmount(efficiency, "stream", LEAST, 1, kernels.streamEfficiency);
    ReadAmount(efficiency, "optimizer", LEAST, 1, kernels.optimizerEfficiency);
    ReadTime(efficiency, "kernelLatencyUs", MOST_KERNEL_US, kernels.kernelLatencyPs);
}

constexpr EnumNames<ElementFormat, 4> ELEMENT_FORMATS{
    "format of what is kept",
    {{ElementFormat::COMPUTE, "compute"},
     {ElementFormat::FP32, "fp32"},
     {ElementFormat::WIDER, "wider"},
     {ElementFormat::FP32_OF_CAST, "fp32-of-cast"}}};

/// What a product in fp8 casts: none of the kinds.
constexpr RuledKind NO_KIND{""};

/// Reads elements per point. @param json the kernels of a pass @param key of the elements
/// @param what they are, for messages @param least of those in the format of activations
/// @param compute is set to these @param fp32 is set to those with 4 bytes
/// @return where they stand, if they do
std::optional<JsonValue>
ReadElements(const JsonValue& json,
             const char* key,
             const char* what,
             double least,
             double& compute,
             double& fp32)
{
    const auto elements = json.Find(key);
    if (elements)
    {
        elements->AllowKeys(what, {"compute", "fp32"});
        if (const auto field = elements->Find("compute"))
        {
            compute = field->AsNumber(least, MOST_ELEMENTS);
        }
        if (const auto field = elements->Find("fp32"))
        {
            fp32 = field->AsNumber(0, MOST_ELEMENTS);
        }
    }
    return elements;
}

/// @param json the kernels of a pass @param pass its name @param rule to fill
void
ReadMemory(const JsonValue& json, const std::string& pass, KernelRule& rule)
{
    if (const auto keeps = json.Find("keeps"))
    {
        if (pass != "forward")
        {
            keeps->Fail("only the forward pass keeps something for the backward pass");
        }
        const auto add = [&rule](const JsonValue& name) {
            rule.kept.push_back(name.Check([&] { return ELEMENT_FORMATS.Parse(name.AsName()); }));
        };
        if (keeps->IsString())
        {
            add(*keeps);
        }
        else
        {
            for (std::size_t i = 0; i < keeps->Size(); ++i)
            {
                add(keeps->At(i));
            }
        }
    }
    const auto holds = ReadElements(json,
                                    "holds",
                                    "what kernels hold",
                                    -1,
                                    rule.heldComputeElements,
                                    rule.heldFp32Elements);
    if (holds && (rule.GetHeldBytes(2) < 0 || rule.GetHeldBytes(4) < 0))
    {
        holds->Fail("is less than nothing");
    }
}

/// @param rules of an operator @param pass its name @param kind of the operator
/// @return the kernels of the pass, none where nothing is said
std::optional<KernelRule>
ReadRule(const JsonValue& rules, const char* pass, const RuledKind& kind = NO_KIND)
{
    const auto json = rules.Find(pass);
    if (!json)
    {
        return std::nullopt;
    }
    std::vector<const char*>
        keys{"kernels", "compute", "fp32", "bytes", "casts", "keeps", "holds", "source"};
    if (&kind != &NO_KIND && !kind.isOfUpdate)
    {
        keys.push_back("stacks");
        keys.push_back("hostUs");
        keys.push_back("waits");
    }
    if (kind.hasExperts)
    {
        keys.push_back("expertUs");
    }
    if (kind.hasHeads)
    {
        keys.push_back("headCopies");
    }
    if (kind.isOfBias) // they are part of a product, which holds and waits
    {
        keys = {"kernels", "expertKernels", "compute", "fp32", "bytes", "source"};
    }
    json->AllowKeys("the kernels of a pass", keys);
    KernelRule rule;
    rule.kernels = static_cast<uint32_t>(json->Get("kernels").AsWhole(0, MOST_KERNELS));
    const auto read = [&](const char* key, double& amount) {
        if (const auto field = json->Find(key))
        {
            amount = field->AsNumber(0, MOST_ELEMENTS);
        }
    };
    read("compute", rule.computeElements);
    read("fp32", rule.fp32Elements);
    read("bytes", rule.bytes);
    if (const auto casts = json->Find("casts"))
    {
        const double elements = std::min(rule.computeElements, rule.fp32Elements);
        const auto most = static_cast<uint64_t>(std::min<double>(rule.kernels, elements));
        rule.casts = static_cast<uint32_t>(casts->AsWhole(0, most));
    }
    ReadMemory(*json, pass, rule);
    ReadElements(*json,
                 "stacks",
                 "what a loop over blocks moves",
                 0,
                 rule.stackedComputeElements,
                 rule.stackedFp32Elements);
    if (const auto host = kind.hasExperts ? json->Find("expertUs") : std::nullopt)
    {
        rule.hostPerExpertPs = std::llround(host->AsNumber(0, MOST_US) * PS_PER_US);
    }
    if (const auto kernels = kind.isOfBias ? json->Find("expertKernels") : std::nullopt)
    {
        rule.expertKernels = static_cast<uint32_t>(kernels->AsWhole(0, MOST_KERNELS));
    }
    if (const auto waits = json->Find("waits"))
    {
        rule.isAwaited = waits->AsBool();
    }
    if (const auto host = json->Find("hostUs"))
    {
        rule.hostPs = std::llround(host->AsNumber(0, MOST_US) * PS_PER_US);
    }
    if (const auto copies = kind.hasHeads ? json->Find("headCopies") : std::nullopt)
    {
        rule.headCopies = static_cast<uint32_t>(copies->AsWhole(0, rule.kernels));
    }
    if (json->Get("source").AsName().empty())
    {
        json->Get("source").Fail("is empty: say where the kernels are from");
    }
    return rule;
}

void
ReadOperators(const JsonValue& operators, Framework& framework)
{
    const std::vector<RuledKind>& known = GetRuledKinds();
    for (const std::string& name : operators.GetKeys())
    {
        const JsonValue rules = operators.Get(name.c_str());
        const auto kind = std::find_if(known.begin(), known.end(), [&](const RuledKind& it) {
            return name == it.name;
        });
        if (kind == known.end())
        {
            std::string names;
            for (const RuledKind& it : known)
            {
                AppendName(names, it.name);
            }
            rules.Fail("there are no rules for this kind of operator; known: " + names);
        }
        rules.AllowKeys("an operator", {"forward", "backward"});
        if (rules.GetKeys().empty())
        {
            rules.Fail(
                "says nothing: give the kernels of 'forward' or 'backward', or leave it out");
        }
        const OperatorRule rule{ReadRule(rules, "forward", *kind),
                                ReadRule(rules, "backward", *kind)};
        if (!framework.host.isAhead && ((rule.forward && rule.forward->isAwaited) ||
                                        (rule.backward && rule.backward->isAwaited)))
        {
            rules.Fail("the host waits in it, but is not ahead of the GPU (/host/isAhead)");
        }
        framework.operators[name] = rule;
    }
}

/// @param weights the field @param framework to fill
void
ReadWeights(const JsonValue& weights, Framework& framework)
{
    weights.AllowKeys("the weights",
                      {"forwardBytes",
                       "gatheredBytes",
                       "backwardBytes",
                       "reducedElements",
                       "reducedKernels",
                       "statisticsKernels",
                       "castsGradients",
                       "biasKernels",
                       "biasBackwardKernels"});
    ReadAmount(weights, "forwardBytes", 0, MOST_ELEMENTS, framework.weightForwardBytes);
    ReadAmount(weights, "gatheredBytes", 0, MOST_ELEMENTS, framework.weightGatheredBytes);
    ReadAmount(weights, "backwardBytes", 0, MOST_ELEMENTS, framework.weightBackwardBytes);
    ReadAmount(weights, "reducedElements", 0, MOST_ELEMENTS, framework.reducedElements);
    ReadAmount(weights, "reducedKernels", 0, MOST_ELEMENTS, framework.reducedKernels);
    ReadCount(weights, "statisticsKernels", framework.statisticsKernels);
    if (const auto value = FindSourced(weights, "castsGradients"))
    {
        framework.castsGradients = value->AsBool();
    }
    ReadCount(weights, "biasKernels", framework.biasKernels);
    ReadCount(weights, "biasBackwardKernels", framework.biasBackwardKernels);
}

/// @param stacks the field @param cost to fill
void
ReadStacks(const JsonValue& stacks, StackCost& cost)
{
    stacks.AllowKeys("the stacks",
                     {"weightForwardBytes",
                      "weightBackwardBytes",
                      "resultForwardElements",
                      "resultBackwardElements"});
    ReadAmount(stacks, "weightForwardBytes", 0, MOST_ELEMENTS, cost.weightForwardBytes);
    ReadAmount(stacks, "weightBackwardBytes", 0, MOST_ELEMENTS, cost.weightBackwardBytes);
    ReadAmount(stacks, "resultForwardElements", 0, MOST_ELEMENTS, cost.resultForwardElements);
    ReadAmount(stacks, "resultBackwardElements", 0, MOST_ELEMENTS, cost.resultBackwardElements);
}

/// @param float8 the field "fp8" @param rules to fill
void
ReadFloat8(const JsonValue& float8, Float8Rules& rules)
{
    float8.AllowKeys("fp8",
                     {"input", "gradient", "weightForward", "weightBackward", "gathersWeights"});
    rules.input = ReadRule(float8, "input");
    rules.gradient = ReadRule(float8, "gradient");
    rules.weightForward = ReadRule(float8, "weightForward");
    rules.weightBackward = ReadRule(float8, "weightBackward");
    for (const auto& [key, rule] :
         {std::pair{"input", &rules.input}, {"gradient", &rules.gradient}})
    {
        if (*rule && (*rule)->kernels == 0)
        {
            float8.Get(key).Get("kernels").Fail("an operand is cast by one kernel or more");
        }
    }
    if (const auto value = FindSourced(float8, "gathersWeights"))
    {
        rules.gathersWeights = value->AsBool();
    }
}

/// @param fields an object that must say where its fields are from
void
CheckSource(const JsonValue& fields)
{
    if (fields.Get("source").AsName().empty())
    {
        fields.Get("source").Fail("is empty: say where the fields are from");
    }
}

/// @param fuses the field @param framework to fill
void
ReadFuses(const JsonValue& fuses, Framework& framework)
{
    fuses.AllowKeys("what is fused", {"source", "attention", "loss"});
    CheckSource(fuses);
    const auto read = [&](const char* key, const char* variable) {
        if (const auto value = fuses.Find(key))
        {
            framework.defaults.variables[variable] = value->AsBool() ? 1 : 0;
        }
    };
    read("attention", "fusesAttention");
    read("loss", "fusesLoss");
}

/// @param shares the field @param framework to fill
void
ReadShares(const JsonValue& shares, Framework& framework)
{
    shares.AllowKeys("what devices share", {"source", "heads"});
    CheckSource(shares);
    framework.defaults.variables["sharesHeads"] = shares.Get("heads").AsBool() ? 1 : 0;
}

/// @param plan the field @param framework to fill
void
ReadPlan(const JsonValue& plan, Framework& framework)
{
    CheckSource(plan);
    for (const std::string& key : plan.GetKeys())
    {
        if (key != "source")
        {
            framework.defaults.plan[key] = plan.Get(key.c_str()).Dump();
        }
    }
    std::istringstream nothing("{}"); // so that what is wrong with it is known here
    plan.Check([&] { return ReadStrategyJson(nothing, "as a strategy", framework.defaults.plan); });
}

/// @param document without a base @return the framework
Framework
ReadDocument(const JsonDocument& document)
{
    const JsonValue root = document.GetRoot();
    root.AllowKeys("a framework",
                   {"format",
                    "version",
                    "name",
                    "description",
                    "host",
                    "efficiency",
                    "attention",
                    "images",
                    "weights",
                    "fp8",
                    "stacks",
                    "operators",
                    "fuses",
                    "shares",
                    "plan"});
    Framework framework;
    framework.name = root.Get("name").AsName();
    if (framework.name.empty())
    {
        root.Get("name").Fail("is empty: results name the framework by it");
    }
    framework.description = root.Get("description").AsName();
    if (const auto host = root.Find("host"))
    {
        ReadHost(*host, framework);
    }
    if (const auto efficiency = root.Find("efficiency"))
    {
        ReadEfficiency(*efficiency, framework.kernels);
    }
    if (const auto attention = FindSourced(root, "attention"))
    {
        const std::string& name = attention->AsName();
        framework.kernels.attention =
            attention->Check([&] { return AttentionKernelFromString(name); });
    }
    if (const auto images = FindSourced(root, "images"))
    {
        const std::string& name = images->AsName();
        framework.kernels.images = images->Check([&] { return ImageLayoutFromString(name); });
    }
    if (const auto weights = root.Find("weights"))
    {
        ReadWeights(*weights, framework);
    }
    if (const auto float8 = root.Find("fp8"))
    {
        ReadFloat8(*float8, framework.float8);
    }
    if (const auto stacks = root.Find("stacks"))
    {
        ReadStacks(*stacks, framework.stacks);
    }
    if (const auto operators = root.Find("operators"))
    {
        ReadOperators(*operators, framework);
    }
    if (const auto fuses = root.Find("fuses"))
    {
        ReadFuses(*fuses, framework);
    }
    if (const auto shares = root.Find("shares"))
    {
        ReadShares(*shares, framework);
    }
    if (const auto plan = root.Find("plan"))
    {
        ReadPlan(*plan, framework);
    }
    return framework;
}

} // namespace

Framework
ReadFrameworkJson(std::istream& input, const std::string& fileName, const std::string& folder)
{
    return ReadDocument(*ReadWithBase(input, fileName, folder, &ReadDocument));
}

Framework
LoadFramework(const std::string& path, const std::string& folder)
{
    InputFile file(path);
    return ReadFrameworkJson(file.GetStream(), path, folder);
}

} // namespace proteus
} // namespace ns3
