/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-idle-keys.h"

#include "proteus-model-options.h"
#include "proteus-program-options.h"
#include "proteus-same-models.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-model-doubts.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// Paths of fields.
using Keys = std::vector<Json::json_pointer>;

/// A strategy with its model, what that was loaded with, and the name of its framework.
struct Job
{
    Model model;
    StrategyTree tree;
    std::string framework;
    std::map<std::string, int64_t> variables;
};

/// @param path of a model, which the run loads, too, and names what is odd in it @param variables
/// of it @param folder as LoadModel() has it @return it
Model
LoadQuietly(const std::string& path,
            const std::map<std::string, int64_t>& variables,
            const std::string& folder)
{
    return LoadModel(path, variables, folder, [](const std::string&) {});
}

/// @param json of a strategy @param text what else is known @param set variables of the
/// model @return all of it
Job
Load(const Json& json, const StrategyText& text, const std::map<std::string, int64_t>& set)
{
    std::map<std::string, int64_t> all;
    FrameworkPlan both = text.framework.LoadPlan(
        text.gpu,
        LaunchInterval(),
        [&](const FrameworkDefaults& defaults) -> TrainingPlan {
            std::istringstream input(json.dump());
            const StrategyFile file = ReadStrategyJson(input, "--strategy", defaults.plan);
            all = set;
            const auto given = file.GetVariables();
            all.insert(given.begin(), given.end());
            all.insert(text.variables.begin(), text.variables.end());
            all.insert(defaults.variables.begin(), defaults.variables.end());
            Model model = LoadQuietly(text.model, all, text.folder);
            StrategyTree tree = file.GetTree(model);
            return {std::move(model), std::move(tree), {}};
        });
    return {std::move(both.plan.model),
            std::move(both.plan.tree),
            both.framework.name,
            std::move(all)};
}

std::string
Write(const StrategyTree& tree)
{
    std::ostringstream text;
    WriteStrategyJson(tree, text);
    return text.str();
}

/// @return whether two jobs differ in what nobody needs a compiler for
bool
DifferOpenly(const Job& a, const Job& b)
{
    const auto sizes = [](const StrategyTree& tree) {
        std::multiset<uint32_t> all(tree.axisSizes.begin(), tree.axisSizes.end());
        all.erase(1); // such axes split nothing
        return all;
    };
    return sizes(a.tree) != sizes(b.tree) || a.tree.batch != b.tree.batch ||
           a.tree.schedule.microBatches != b.tree.schedule.microBatches ||
           a.tree.precision.compute != b.tree.precision.compute || a.framework != b.framework;
}

/// @param strategy with the variable @param name of it @return whether it changes nothing
bool
IsIdleVariable(const StrategyText& strategy, const std::string& name)
{
    const Json json = Json::parse(strategy.json);
    const int64_t value = strategy.variables.at(name);
    const Model model = Load(json, strategy, {}).model;
    StrategyText other = strategy;
    other.variables.erase(name);
    const Job without = Load(json, other, {});
    if (!AreSameModels(without.model, model))
    {
        return false;
    }
    if (GetModelVariable(strategy.model, without.variables, strategy.folder, name) != value)
    {
        return true; // a window that is longer than the sequence
    }
    // It may be what holds anyway, which is no mistake; then other values change the model.
    bool isKnown = false;
    for (const int64_t number : {int64_t{0}, int64_t{1}, value + 1, 2 * value})
    {
        if (number == value)
        {
            continue;
        }
        other.variables[name] = number;
        try
        {
            if (!AreSameModels(Load(json, other, {}).model, model))
            {
                return false;
            }
            isKnown = true;
        }
        catch (const std::exception&) // no value for it
        {
        }
    }
    return isKnown;
}

/// @param json of a plan @param key of it @param other where it is not there @return its value
uint64_t
GetCount(const Json& json, const char* key, uint64_t other)
{
    const auto value = json.find(key);
    return value == json.end() || !value->is_number_unsigned() ? other : value->get<uint64_t>();
}

/// @param json of a plan @return one with fewer replicas and micro-batches, where keys still act
Json
Shrink(const Json& json)
{
    Json small = json;
    const uint64_t experts = GetCount(json, "ep", 1);
    const uint64_t micro = GetCount(json, "microBatch", 1);
    const uint64_t replicas = GetCount(json, "dp", 1);
    const uint64_t fewer = std::min(replicas, 2 * experts);
    const uint64_t step = micro * replicas;
    const uint64_t batches = std::max<uint64_t>(GetCount(json, "globalBatch", step) / step, 1);
    small["dp"] = fewer;
    small["globalBatch"] = std::min(batches, GetCount(json, "pp", 1) + 1) * micro * fewer;
    return small;
}

/// Compares jobs, with a key and without it.
class KeyCheck
{
  public:
    explicit KeyCheck(const StrategyText& text)
        : m_text(text),
          m_json(Json::parse(text.json)),
          m_whole(Load(m_json, text, {})),
          m_small(Shrink(m_json))
    {
    }

    /// @param key a path of the JSON @return whether nothing changes without it, though it is not
    /// its default
    bool IsIdle(const Json::json_pointer& key) const
    {
        return Compare({key}) == Outcome::SAME;
    }

    /// A key whose absence is an error is there for another one, with which it may do nothing:
    /// every fifth of four blocks, "recompute=full,recomputeEvery=5".
    /// @param keys of a plan, none of them idle @return pairs of them without which nothing changes
    std::vector<Keys> FindIdlePairs(const Keys& keys) const
    {
        std::vector<Keys> pairs;
        for (const Json::json_pointer& key : keys)
        {
            if (Compare({key}) != Outcome::REFUSED)
            {
                continue;
            }
            for (const Json::json_pointer& other : keys)
            {
                const Keys pair{std::min(key, other, ByName), std::max(key, other, ByName)};
                if (key != other && Compare(pair) == Outcome::SAME &&
                    std::find(pairs.begin(), pairs.end(), pair) == pairs.end())
                {
                    pairs.push_back(pair);
                }
            }
        }
        return pairs;
    }

    /// @return what may be left out: fields, and those of the parts of a tree's file
    Keys ListKeys() const
    {
        Keys keys;
        for (const auto& [name, value] : m_json.items())
        {
            const Json::json_pointer key = Json::json_pointer() / name;
            if (name == "format" || name == "version" || name == "name" || name == "tree" ||
                name == "mesh")
            {
                continue;
            }
            if (!value.is_object())
            {
                keys.push_back(key);
                continue;
            }
            for (const auto& part : value.items())
            {
                keys.push_back(key / part.key());
            }
        }
        Keys ofNodes;
        if (m_json.contains("tree"))
        {
            ListNode(Json::json_pointer("/tree"), ofNodes);
        }
        if (ofNodes.size() * m_whole.model.GetOperators().size() <= MAX_NODE_WORK)
        {
            keys.insert(keys.end(), ofNodes.begin(), ofNodes.end());
        }
        return keys;
    }

    /// @return whether it is the short form
    bool IsPlan() const
    {
        return !m_json.contains("tree");
    }

    /// @param key a path of the JSON @return it with its value, "optimizer.zero=1"
    std::string Describe(const Json::json_pointer& key) const
    {
        std::string name = key.to_string().substr(1);
        std::replace(name.begin(), name.end(), '/', '.');
        const Json& value = m_json.at(key);
        return name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    }

  private:
    /// What becomes of a job without some keys.
    enum class Outcome
    {
        SAME,
        DIFFERENT,
        REFUSED
    };

    static bool ByName(const Json::json_pointer& a, const Json::json_pointer& b)
    {
        return a.to_string() < b.to_string();
    }

    /// @param keys paths of the JSON @return what becomes of the job without them; a default is as
    /// good as a difference
    Outcome Compare(const Keys& keys) const
    {
        try
        {
            return IsSameWithout(keys) ? Outcome::SAME : Outcome::DIFFERENT;
        }
        catch (const std::exception&) // they are needed
        {
            return Outcome::REFUSED;
        }
    }

    /// @param keys paths of the JSON, of a tree one @return see Compare()
    bool IsSameWithout(const Keys& keys) const
    {
        const Json::json_pointer& key = keys.front();
        const Job without = Load(Without(m_json, keys), m_text, {});
        if (DifferOpenly(without, m_whole))
        {
            return false;
        }
        if (Write(without.tree) == Write(m_whole.tree))
        {
            // Of several keys the first was an error by itself, so that it is no default.
            return !IsPlan() ? IsAlone(key) : keys.size() > 1 || !IsDefault(key);
        }
        if (!IsPlan())
        {
            return CompileModel(without.model, without.tree) == GetGraph() &&
                   (key.to_string().rfind("/tree/", 0) != 0 || IsSameWithOthers(key));
        }
        return IsSameWithFewLayers(keys) && IsSame(keys, {});
    }

    /// @param node path of one @param keys gets what it and those below it may do without
    void ListNode(const Json::json_pointer& node, Keys& keys) const
    {
        for (const auto& [name, value] : m_json.at(node).items())
        {
            const Json::json_pointer key = node / name;
            if (name == "children" && !value.empty())
            {
                for (std::size_t i = 0; i < value.size(); ++i)
                {
                    ListNode(key / i, keys);
                }
            }
            else if (name == "items")
            {
                for (const auto& item : value.items())
                {
                    ListNode(key / item.key(), keys);
                }
            }
            else if (name == "split" && value.size() > 1)
            {
                for (const auto& dimension : value.items())
                {
                    keys.push_back(key / dimension.key());
                }
            }
            else if (name != "name")
            {
                keys.push_back(key);
            }
        }
    }

    /// @param value of a key of a node @return other values for it
    std::vector<Json> ListOthers(const Json& value) const
    {
        if (value.is_boolean())
        {
            return {!value.get<bool>()};
        }
        if (value.is_number_unsigned())
        {
            return {value.get<uint64_t>() + 1};
        }
        if (value.empty())
        {
            return {{{"0", 2}}};
        }
        std::vector<Json> others{value.is_array() ? Json::array() : Json::object()};
        for (const std::string& axis : m_whole.tree.axisNames)
        {
            if (value.is_object() && value.begin()->is_string())
            {
                others.push_back({{value.begin().key(), axis}}); // a split over another axis
            }
        }
        return others;
    }

    /// @param key of a node @return whether it has no other value: children that are none, or
    /// splits of what is on one device
    bool IsAlone(const Json::json_pointer& key) const
    {
        const Json& node = m_json.at(key.parent_pointer());
        const auto mesh = node.find("mesh");
        const bool isOneDevice = mesh != node.end() && mesh->is_array() && mesh->size() == 1;
        return m_json.at(key).empty() &&
               (key.back() == "children" || (key.back() == "split" && isOneDevice));
    }

    /// Nodes often say what would be inferred, which is no mistake.
    /// @param key of a node, without which nothing changes @return whether nothing changes with
    /// other values, either
    /// @throw std::invalid_argument if that cannot be, so that the key is heeded
    bool IsSameWithOthers(const Json::json_pointer& key) const
    {
        if (IsAlone(key))
        {
            return true;
        }
        const std::vector<Json> others = ListOthers(m_json.at(key));
        return std::all_of(others.begin(), others.end(), [&](const Json& other) {
            Json json = m_json;
            json.at(key) = other;
            const Job job = Load(json, m_text, {});
            return CompileModel(job.model, job.tree) == GetGraph();
        });
    }

    /// @return the job as it is
    const ExecutionGraph& GetGraph() const
    {
        if (!m_graph)
        {
            m_graph.emplace(CompileModel(m_whole.model, m_whole.tree));
        }
        return *m_graph;
    }

    /// @param key of a plan that is written out to the same tree without it
    /// @return whether that is because it says what holds anyway: then it changes no plan, not even
    /// one with parallelism of several kinds
    bool IsDefault(const Json::json_pointer& key) const
    {
        for (const char* plan : {R"({"dp": 4, "tp": 2, "pp": 2, "globalBatch": 16})",
                                 R"({"dp": 4, "tp": 2, "globalBatch": 16})",
                                 R"({"dp": 4, "zero": 2, "globalBatch": 16})",
                                 R"({"dp": 4, "globalBatch": 16})"})
        {
            Json usual = Json::parse(plan);
            for (const char* decides : {"virtualStages", "immediateUpdates"})
            {
                // What holds for other keys follows from these.
                if (m_json.contains(decides) && key.back() != decides)
                {
                    usual.emplace(decides, m_json.at(decides));
                }
            }
            Json with = usual;
            with.emplace(key.back(), m_json.at(key)); // sizes stay as they are
            const auto isSame = AreSameTrees(usual, with, m_text);
            if (!isSame.value_or(AreSameTrees(usual, with, GetTransformer()).value_or(true)))
            {
                return false;
            }
        }
        return true;
    }

    /// @param a a strategy @param b another one @param text whose model and framework they have
    /// @return whether they are written out alike; nothing if the model has no such parallelism
    static std::optional<bool> AreSameTrees(const Json& a, const Json& b, const StrategyText& text)
    {
        try
        {
            return Write(Load(a, text, {}).tree) == Write(Load(b, text, {}).tree);
        }
        catch (const std::exception&)
        {
            return {};
        }
    }

    /// @return the strategy for a model that has parallelism of all kinds but experts, if it is in
    /// the folder
    StrategyText GetTransformer() const
    {
        constexpr const char* MODEL = "gpt3-125m.json"; // a small one of workloads/models
        StrategyText text = m_text;
        const std::filesystem::path folder = text.folder.empty()
                                                 ? std::filesystem::path(text.model).parent_path()
                                                 : std::filesystem::path(text.folder);
        text.model = (folder / MODEL).string();
        text.variables.clear();
        return text;
    }

    static Json Without(Json json, const Keys& keys)
    {
        for (const Json::json_pointer& key : keys)
        {
            json.at(key.parent_pointer()).erase(key.back());
        }
        return json;
    }

    /// @param keys of the small job @param set variables of the model @return whether it compiles
    /// to the same graph without the keys
    bool IsSame(const Keys& keys, const std::map<std::string, int64_t>& set) const
    {
        auto known = m_smallGraphs.find(set);
        if (known == m_smallGraphs.end())
        {
            const Job with = Load(m_small, m_text, set);
            known = m_smallGraphs.emplace(set, CompileModel(with.model, with.tree)).first;
        }
        const Job without = Load(Without(m_small, keys), m_text, set);
        return CompileModel(without.model, without.tree) == known->second;
    }

    /// IsSame() with two layers for every stage, if the model has more and its file calls them so;
    /// else what it would say is not known. @return whether it may be
    bool IsSameWithFewLayers(const Keys& keys) const
    {
        const uint64_t few = 2 * GetCount(m_small, "pp", 1) * GetCount(m_small, "virtualStages", 1);
        try
        {
            return CountBlocks(m_whole.model) <= few ||
                   IsSame(keys, {{"layers", static_cast<int64_t>(few)}});
        }
        catch (const std::exception&) // it is no variable, or stages are unequal
        {
            return true;
        }
    }

    const StrategyText& m_text;
    Json m_json;
    Job m_whole;
    Json m_small; //!< Shrink() of the strategy, which has been read
    mutable std::optional<ExecutionGraph> m_graph; //!< of it, once it was needed
    /// Of the small job, by variables of the model, once they were needed.
    mutable std::map<std::map<std::string, int64_t>, ExecutionGraph> m_smallGraphs;
};

} // namespace

bool
CompileAlike(const std::string& model, const ParallelPlan& a, const ParallelPlan& b)
{
    const auto compile = [&model](const ParallelPlan& plan) {
        const Model loaded = LoadQuietly(model, GetModelVariables(plan), "");
        return CompileModel(loaded, ExpandPlan(loaded, plan));
    };
    return compile(a) == compile(b);
}

std::vector<std::string>
FindIdleVariables(const StrategyText& strategy)
{
    std::vector<std::string> idle;
    try
    {
        for (const auto& [name, value] : strategy.variables)
        {
            if (IsIdleVariable(strategy, name))
            {
                idle.push_back(name + "=" + std::to_string(value));
            }
        }
    }
    catch (const std::exception&) // which the run reports
    {
    }
    return idle;
}

std::vector<std::string>
FindIdleKeys(const StrategyText& strategy)
{
    std::vector<std::string> idle;
    try
    {
        const KeyCheck check(strategy);
        Keys others;
        for (const Json::json_pointer& key : check.ListKeys())
        {
            if (check.IsIdle(key))
            {
                idle.push_back(check.Describe(key));
            }
            else
            {
                others.push_back(key);
            }
        }
        if (check.IsPlan())
        {
            for (const Keys& pair : check.FindIdlePairs(others))
            {
                idle.push_back(check.Describe(pair.front()) + "," + check.Describe(pair.back()));
            }
        }
    }
    catch (const std::exception&) // which the run reports
    {
    }
    return idle;
}

} // namespace proteus
} // namespace ns3
