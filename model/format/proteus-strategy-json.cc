/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-json.h"

#include "proteus-input-file.h"
#include "proteus-plan-json.h"
#include "proteus-strategy-tree-json.h"

#include "ns3/proteus-json.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-placement.h"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-strategy";
constexpr std::size_t MAX_BYTES = std::size_t{64} << 20; //!< of a file

/// @param root of a tree @param node somewhere in it @param pointer JSON pointer of the root
/// @return that of the node; empty if it is not there
std::string
FindPlace(const StrategyNode& root, const StrategyNode* node, const std::string& pointer)
{
    std::string place = &root == node ? pointer : "";
    for (std::size_t i = 0; i < root.children.size() && place.empty(); ++i)
    {
        place = FindPlace(root.children[i], node, pointer + "/children/" + std::to_string(i));
    }
    return place;
}

} // namespace

std::map<std::string, int64_t>
StrategyFile::GetVariables() const
{
    if (plan)
    {
        try
        {
            plan->GetNMicroBatches(); // checks the sizes
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument(name + ": " + error.what());
        }
        return GetModelVariables(*plan);
    }
    std::map<std::string, int64_t> variables{{"batch", static_cast<int64_t>(tree.batch)}};
    for (std::size_t i = 0; i < tree.axisNames.size(); ++i)
    {
        if (GetLayerRole(tree.axisNames[i]) == "tp")
        {
            int64_t& size = variables.emplace("tensorParallel", 1).first->second;
            size *= tree.axisSizes[i];
        }
    }
    return variables;
}

StrategyTree
StrategyFile::GetTree(const Model& model) const
{
    try
    {
        if (plan)
        {
            return ExpandPlan(model, *plan);
        }
        PlaceModel(model, tree); // what is wrong with a node is said here, with its place
        return tree;
    }
    catch (const StrategyNodeError& error)
    {
        throw std::invalid_argument(name + ": " + FindPlace(tree.root, error.node, "/tree") + ": " +
                                    error.what());
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(name + ": " + error.what());
    }
}

namespace
{

/// Names a "tree" that is misspelt, rather than what else of a tree a plan has not.
/// @param root of the file, without "tree"
void
CheckIsPlan(const JsonValue& root)
{
    for (const std::string& key : root.GetKeys())
    {
        if (!FindNearest(key, {"tree"}).empty())
        {
            root.Get(key.c_str()).Fail("unknown field; did you mean tree?");
        }
    }
}

} // namespace

StrategyFile
ReadStrategyJson(std::istream& input,
                 const std::string& fileName,
                 const std::map<std::string, std::string>& plan)
{
    const std::string text = ReadWhole(input, fileName, MAX_BYTES);
    std::istringstream copy(text);
    const JsonDocument document(copy, fileName, MAX_TREE_JSON_DEPTH);
    const JsonValue root = document.GetRoot();
    if (root.Has("format") || root.Has("tree"))
    {
        document.CheckFormat(FORMAT, 1);
    }
    else if (const auto version = root.Find("version"))
    {
        version->AsWhole(1, 1);
    }
    StrategyFile file;
    file.name = fileName;
    if (root.Has("tree"))
    {
        file.tree = ReadTreeJson(root);
    }
    else
    {
        CheckIsPlan(root);
        nlohmann::json whole = nlohmann::json::parse(text);
        for (const auto& [field, value] : plan)
        {
            if (!whole.contains(field))
            {
                whole[field] = nlohmann::json::parse(value);
            }
        }
        file.plan = ReadPlanJson(JsonDocument(fileName, "", std::move(whole)).GetRoot());
    }
    return file;
}

StrategyFile
LoadStrategy(const std::string& path, const std::map<std::string, std::string>& plan)
{
    InputFile file(path);
    return ReadStrategyJson(file.GetStream(), path, plan);
}

} // namespace proteus
} // namespace ns3
