/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-options.h"

#include "proteus-idle-keys.h"
#include "proteus-name-lists.h"
#include "proteus-option-meanings.h"
#include "proteus-plan-warnings.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-model-config.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-other-names.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-plan-json.h"
#include "ns3/proteus-profile-json.h"
#include "ns3/proteus-readable-file.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-strategy-error.h"
#include "ns3/proteus-strategy-json.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double GBYTE = 1e9;
/// A longer strategy takes too long to be compiled again and again.
constexpr std::size_t MAX_STRATEGY_BYTES = std::size_t{1} << 20;

/// @param name of a model that is not there @param error of MatchName() for it
/// @return what it may be instead, behind what it is not; empty: nothing is known of it
std::string
DescribeUnknownModel(const std::string& name, const std::string& error)
{
    const std::optional<ModelFamily> family = FindModelFamily(name);
    const std::size_t found = error.find("did you mean ");
    const std::string meant = found == std::string::npos ? "" : "; " + error.substr(found);
    if (!family)
    {
        return meant;
    }
    if (!family->cause.empty())
    {
        return ": " + family->cause;
    }
    return (meant.empty() ? ";" : meant) +
           " Hugging Face's config.json of it is read, if it is given as --model=FILE "
           "(model_type " +
           family->type + ")";
}

/// @return the path of a model: as it stands, or one of the folder
std::string
FindModelFile(const std::string& name, const std::string& folder)
{
    if (IsReadable(name))
    {
        return name;
    }
    // Behind a name of whose it is, such as meta-llama/Llama-3.1-8B on Hugging Face.
    const std::size_t slash = name.rfind('/');
    const std::string own = slash == std::string::npos ? name : name.substr(slash + 1);
    const std::vector<std::string> names = ListJsonFiles(folder);
    if (slash != std::string::npos)
    {
        const std::string alias = FindAlias(own, names);
        const bool isFile = std::filesystem::path(own).extension() == ".json";
        const std::string meant = !alias.empty() ? "; did you mean " + alias + "?"
                                  : isFile       ? ""
                                                 : DescribeUnknownModel(own, Suggest(own, names));
        throw std::invalid_argument("--model=" + name +
                                    ": cannot be read: " + DescribeUnreadable(name) + meant);
    }
    if (names.empty())
    {
        throw std::invalid_argument("--model=" + name +
                                    ": there is no such file, and no model in " + folder +
                                    ", where those are that have a name");
    }
    try
    {
        return folder + "/" + MatchName("model", name, names) + ".json";
    }
    catch (const std::invalid_argument& error)
    {
        const std::string start = "--model=" + name + ": there is no model of this name";
        const std::string said = error.what();
        if (FindModelFamily(name))
        {
            throw std::invalid_argument(start + DescribeUnknownModel(name, said));
        }
        const std::size_t list = said.find("there are ");
        if (said.find("did you mean ") != std::string::npos || list == std::string::npos)
        {
            throw;
        }
        throw std::invalid_argument(start +
                                    "; of many that are on Hugging Face, config.json is "
                                    "read, if it is given as --model=FILE; " +
                                    said.substr(list));
    }
}

/// @param text of a value @return whether it is a number that JSON has
bool
IsJsonNumber(const std::string& text)
{
    static const std::regex number(R"(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)");
    return std::regex_match(text, number);
}

/// @param value of NAME=VALUE @return it as JSON: a number, true or false as it stands, numbers
/// with + between them as a list, else a string
std::string
ToJson(const std::string& value)
{
    static const std::regex numbers(R"(\d+(\+\d+)+)");
    if (std::regex_match(value, numbers))
    {
        return '[' + std::regex_replace(value, std::regex(R"(\+)"), ", ") + ']';
    }
    return IsJsonNumber(value) || value == "true" || value == "false" ? value : '"' + value + '"';
}

/// @param field of a short form @param value of it as JSON @return why it cannot be, or empty
std::string
FindPlanError(const std::string& field, const std::string& value)
{
    try
    {
        std::istringstream input("{\"" + field + "\": " + value + "}");
        ReadPlanJson(JsonDocument(input, "").GetRoot());
        return "";
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
}

/// @param field of a short form, without a value @return what to write
std::string
DescribeBareField(const std::string& field)
{
    const std::string cause = FindPlanError(field, "true");
    if (cause.empty())
    {
        return "write " + field + "=" + (FindPlanError(field, "\"x\"").empty() ? "VALUE" : "true");
    }
    for (const auto& [mark, by] : {std::pair("known are ", "one of "), std::pair("must be ", "")})
    {
        const std::size_t at = cause.find(mark);
        if (at != std::string::npos)
        {
            const std::size_t begin = at + std::string(mark).size();
            return "write " + field + "=VALUE, " + by +
                   cause.substr(begin, cause.rfind(", not true") - begin);
        }
    }
    return "write " + field + "=VALUE";
}

/// @param text of a short form
/// @throw std::invalid_argument if a field stands there without a value
void
RequireValues(const std::string& text)
{
    const auto& fields = ListPlanFields();
    const std::vector<std::string> names(fields.begin(), fields.end());
    for (const std::string& item : SplitList(text))
    {
        const std::string field = Trim(item);
        if (std::find(names.begin(), names.end(), field) != names.end())
        {
            throw std::invalid_argument("--strategy=" + text + ": " + field +
                                        " has no value: " + DescribeBareField(field));
        }
    }
}

/// @param text NAME=VALUE, ... @return the same as JSON
std::string
ConvertPlan(const std::string& text)
{
    RequireValues(text);
    std::string json;
    for (const auto& [name, value] : SplitSettings("--strategy=" + text, text, "tp=8"))
    {
        if ((name + value).find_first_of("\"\\") != std::string::npos)
        {
            throw std::invalid_argument("--strategy=" + text + ": \"" + name + "=" + value +
                                        "\" is not NAME=VALUE, e.g. tp=8");
        }
        json += (json.empty() ? "{\"" : ", \"") + name + "\": " + ToJson(value);
    }
    return json + "}";
}

/// @param text of --strategy @return whether it is the strategy itself, not a file
bool
IsShortForm(const std::string& text)
{
    return (!text.empty() && text[0] == '{') ||
           (text.find('=') != std::string::npos && !IsReadable(text));
}

/// @param text of --strategy in the short form @return it as JSON
std::string
ToStrategyJson(const std::string& text)
{
    return text[0] == '{' ? text : ConvertPlan(text);
}

/// @param plan what the short form has where it says nothing
/// @return the strategy: a file, or the short form itself
StrategyFile
ReadStrategy(const std::string& text, const std::map<std::string, std::string>& plan)
{
    if (IsShortForm(text))
    {
        std::istringstream input(ToStrategyJson(text));
        return ReadStrategyJson(input, "--strategy", plan);
    }
    std::error_code none; // a text that is no path is no file
    if (text.find_first_of("./") == std::string::npos && !std::filesystem::exists(text, none))
    {
        RequireValues(text);
        throw std::invalid_argument("--strategy=" + text +
                                    ": there is no such file, and it is not "
                                    "NAME=VALUE,..., e.g. tp=8,dp=2");
    }
    return LoadStrategy(text, plan);
}

/// @param text of --variables @param variables gets them
void
ParseVariables(const std::string& text, std::map<std::string, int64_t>& variables)
{
    for (const auto& [name, number] : SplitSettings("--variables=" + text, text, "layers=4"))
    {
        std::istringstream input(number);
        int64_t value = 0;
        if (!(input >> value) || !input.eof() || value < 0)
        {
            throw std::invalid_argument("--variables=" + text + ": \"" + name + "=" + number +
                                        "\" is not NAME=NUMBER, e.g. layers=4");
        }
        variables[name] = value;
    }
}

/// @param path of measured times, or empty @return them, if there are some
std::optional<ProfileTable>
LoadProfile(const std::string& path)
{
    if (path.empty())
    {
        return {};
    }
    InputFile file(path);
    return ReadProfileJson(file.GetStream(), path);
}

/// @param plan to compile @param compile what compiles it
/// @return the graph @throw std::invalid_argument for what is wrong with the strategy, after its
/// source
template <typename F>
ExecutionGraph
WithSource(const TrainingPlan& plan, F compile)
{
    try
    {
        return compile();
    }
    catch (const StrategyError& error)
    {
        throw std::invalid_argument((plan.source.empty() ? "" : plan.source + ": ") + error.what());
    }
}

} // namespace

void
ModelOptions::AddModelTo(OptionList& command)
{
    command.AddValue("model",
                     "model: a name in workloads/models/, e.g. gpt3-6.7b, or a JSON file: one of "
                     "those, or a config.json of Hugging Face",
                     model);
    command.AddChoices("model", ListJsonFiles(folder));
    command.AddMeaning("model", [this](const std::string& name) {
        return FindRealPath(FindModelFile(name, folder));
    });
}

void
ModelOptions::AddIdleTo(OptionList& command, const std::function<std::string()>& reason) const
{
    // Without a model --strategy is refused.
    for (const char* name : {"variables", "firstStageBlocks", "lastStageBlocks", "framework"})
    {
        command.AddIdle(name, reason);
    }
}

void
ModelOptions::AddTo(OptionList& command,
                    const FrameworkOption& framework,
                    const std::function<std::string()>& gpu)
{
    AddModelTo(command);
    command.AddValue("strategy",
                     "strategy: a JSON file, or the short form itself, e.g. tp=8,dp=2,zero=1 or "
                     "{\"tp\": 8, \"dp\": 2}",
                     strategy);
    command.AddMeaning("strategy", GetStrategyMeaning);
    const auto find = [this, &framework, gpu](const auto& among) {
        return [this, &framework, gpu, among]() {
            try
            {
                return among(GetText(framework, gpu()));
            }
            catch (const std::exception&) // which the run reports
            {
                return std::vector<std::string>();
            }
        };
    };
    command.AddIdleParts("strategy", find(FindIdleKeys), "the job is the same without it");
    command.AddValue("variables",
                     "variables of the model's file to set, e.g. layers=4,fusedAttention=1",
                     variables);
    command.AddIdleParts("variables", find(FindIdleVariables), "the model is the same without it");
    command.AddValue("firstStageBlocks",
                     "blocks of the model on the first device group of the pipeline, in the place "
                     "of the strategy's (0: what it says, or an equal share)",
                     firstStageBlocks);
    command.AddValue("lastStageBlocks", "the same for the last device group", lastStageBlocks);
    for (const std::string field : ListPlanFields())
    {
        std::vector<std::string> words = ListOtherNames(field);
        words.push_back(field);
        for (const std::string& word : words)
        {
            command.AddHint(word, "it is part of the strategy, --strategy=...," + field + "=...");
        }
    }
}

TrainingPlan
ModelOptions::Load(const FrameworkDefaults& defaults) const
{
    if (model.empty() || strategy.empty())
    {
        throw std::invalid_argument(
            "--model=NAME and --strategy=FILE are needed, e.g. --model=gpt3-6.7b "
            "--strategy=tp=8,dp=2");
    }
    const std::string path = FindModelFile(model, folder);
    StrategyFile file = ReadStrategy(strategy, defaults.plan);
    if (firstStageBlocks != 0 || lastStageBlocks != 0)
    {
        if (!file.plan)
        {
            throw std::invalid_argument("--firstStageBlocks and --lastStageBlocks belong to the "
                                        "short form of a strategy; a tree has stages of its own");
        }
        const uint32_t first = ToCount(firstStageBlocks, "firstStageBlocks", 0);
        const uint32_t last = ToCount(lastStageBlocks, "lastStageBlocks", 0);
        file.plan->firstStageBlocks = first > 0 ? first : file.plan->firstStageBlocks;
        file.plan->lastStageBlocks = last > 0 ? last : file.plan->lastStageBlocks;
    }
    std::map<std::string, int64_t> values;
    ParseVariables(variables, values);
    const std::map<std::string, int64_t> typed = values;
    for (const auto& [name, value] : file.GetVariables())
    {
        if (!values.emplace(name, value).second)
        {
            throw std::invalid_argument("--variables=" + variables + ": " + name +
                                        " is not set here: it follows from the strategy, " +
                                        std::to_string(value));
        }
    }
    values.insert(defaults.variables.begin(), defaults.variables.end());
    Model loaded = [&] {
        try
        {
            return LoadModel(path, values, folder);
        }
        catch (const UnknownVariable& error) // which is none of a strategy's
        {
            throw std::invalid_argument(typed.count(error.GetName()) > 0
                                            ? "--variables=" + variables + ": " + error.what()
                                            : error.what());
        }
    }();
    StrategyTree tree = file.GetTree(loaded);
    return {std::move(loaded), std::move(tree), ListModelFiles(path, folder), file.name};
}

StrategyText
ModelOptions::GetText(const FrameworkOption& framework, const std::string& gpu) const
{
    StrategyText text;
    text.model = FindModelFile(model, folder);
    text.folder = folder;
    text.framework = framework;
    text.gpu = gpu;
    ParseVariables(variables, text.variables);
    if (IsShortForm(strategy))
    {
        text.json = ToStrategyJson(strategy);
    }
    else
    {
        InputFile file(strategy);
        text.json = ReadWhole(file.GetStream(), strategy, MAX_STRATEGY_BYTES);
    }
    return text;
}

std::vector<std::string>
ModelOptions::ListIdleVariables(const FrameworkOption& framework, const std::string& gpu) const
{
    ModelOptions any = *this;
    any.strategy = strategy.empty() ? "dp=1" : strategy;
    return FindIdleVariables(any.GetText(framework, gpu));
}

std::vector<std::string>
ModelOptions::FindIdle(const FrameworkOption& framework, const std::string& gpu) const
{
    const StrategyText text = GetText(framework, gpu);
    std::vector<std::string> idle = FindIdleKeys(text);
    for (const std::string& variable : FindIdleVariables(text))
    {
        idle.push_back(variable);
    }
    return idle;
}

TrainingPlan
LoadTrainingPlan(const std::string& path,
                 const ParallelPlan& plan,
                 const std::map<std::string, int64_t>& variables,
                 const std::string& folder)
{
    std::map<std::string, int64_t> values = GetModelVariables(plan);
    values.insert(variables.begin(), variables.end());
    Model model = LoadModel(path, values, folder);
    StrategyTree tree = ExpandPlan(model, plan);
    return {std::move(model), std::move(tree), ListModelFiles(path, folder)};
}

TrainingPlan
LoadTrainingPlan(const std::string& model, const std::string& strategy, const std::string& folder)
{
    ModelOptions options;
    options.model = model;
    options.strategy = strategy;
    options.folder = folder;
    return options.Load();
}

ExecutionGraph
CompileForGpu(const TrainingPlan& plan,
              const GpuDatasheet& gpu,
              const Framework& framework,
              const std::string& profile)
{
    const auto measured = LoadProfile(profile);
    ExecutionGraph graph = WithSource(plan, [&] {
        return Compile(plan.model, plan.tree, gpu, framework, measured ? &*measured : nullptr);
    });
    WarnOfProfile(measured, profile);
    WarnOfPlan(plan, gpu, framework);
    return graph;
}

ExecutionGraph
CompileForCluster(const TrainingPlan& plan,
                  const Cluster& cluster,
                  const Framework& framework,
                  const std::string& profile,
                  std::vector<CarriedDependency>* carried)
{
    const auto measured = LoadProfile(profile);
    ExecutionGraph graph = WithSource(plan, [&] {
        return Compile(plan.model,
                       plan.tree,
                       cluster,
                       framework,
                       measured ? &*measured : nullptr,
                       carried);
    });
    const GpuDatasheet& gpu =
        FindGpuDatasheet(cluster.GetVertices()[cluster.GetGpus().at(0)].model);
    WarnOfProfile(measured, profile);
    WarnOfPlan(plan, gpu, framework);
    return graph;
}

void
PrintMemory(const std::vector<MemoryAccount>& accounts, const GpuDatasheet& gpu, std::ostream& out)
{
    const std::size_t device = FindFullest(accounts);
    const MemoryAccount& fullest = accounts[device];
    std::ostringstream text;
    text << std::fixed << std::setprecision(3) << "Memory\n  peak "
         << static_cast<double>(fullest.peakBytes) / GBYTE << " GB on device " << device << " ("
         << fullest.peakTask << "), " << static_cast<double>(fullest.persistentBytes) / GBYTE
         << " GB of it persistent; " << gpu.model << " has "
         << static_cast<double>(gpu.memoryBytes) / GBYTE << " GB\n  ";
    for (std::size_t use = 0; use < N_MEMORY_USES; ++use)
    {
        text << (use == 0 ? "" : ", ") << FormatUse(static_cast<MemoryUse>(use)) << " "
             << static_cast<double>(fullest.bytesAtPeak[use]) / GBYTE;
    }
    text << "\n";
    const std::string verdict = FindOutOfMemory(accounts, gpu.memoryBytes);
    text << "  " << (verdict.empty() ? "fits" : verdict) << "\n";
    out << text.str();
}

} // namespace proteus
} // namespace ns3
