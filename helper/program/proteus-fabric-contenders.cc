/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-contenders.h"

#include "proteus-executors.h"
#include "proteus-name-lists.h"

#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-readable-file.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the parts of --fabrics; clusters in short form have commas of their own, so that ";"
/// separates where there is one
/// @throw std::invalid_argument for a part that is empty, or there twice
std::vector<std::string>
SplitFabrics(const std::string& text)
{
    return SplitOnce("--fabrics=" + text, text, text.find(';') == std::string::npos ? ',' : ';');
}

/// @return NICs of a server of --cluster
uint32_t
CountNics(const FabricsOptions& options)
{
    FabricVariant all;
    all.name = all.fabric.kind;
    const Cluster cluster = MakeTextVariant(options.cluster, 2, all);
    const auto& vertices = cluster.GetVertices();
    return static_cast<uint32_t>(
        std::count_if(vertices.begin(), vertices.end(), [](const Vertex& vertex) {
            return vertex.kind == VertexKind::NIC && vertex.server == 0;
        }));
}

/// @param nics of a server of --cluster @return one part of --fabrics
Contender
ParseContender(const std::string& text,
               const FabricOptions& base,
               const FabricsOptions& options,
               uint32_t nics)
{
    Contender contender;
    std::error_code error;
    const std::string preset = FindServerPreset(text);
    if (IsClusterText(text) || std::filesystem::is_regular_file(GetClusterPath(text), error) ||
        !preset.empty())
    {
        contender.cluster = preset.empty() ? text : preset;
        contender.variant.name = contender.cluster;
        return contender;
    }
    if (text.substr(0, text.find_first_of(":+")).find_first_of("/.") != std::string::npos)
    {
        throw std::invalid_argument(
            "--fabrics: " + text + ": cannot be read: " + DescribeUnreadable(GetClusterPath(text)));
    }
    contender.variant = ReadNamed("--fabrics=" + std::string(options.fabrics), [&]() {
        return FitSpines(ParseFabricVariant(text, base), nics);
    });
    if (!KnowRouting(options, contender.variant.routing))
    {
        throw std::invalid_argument("--fabrics: " + text + ": the executor " + options.executor +
                                    " does not know this routing; take --executor=packet");
    }
    return contender;
}

} // namespace

std::vector<std::string>
ListExecutors(const FabricsOptions& options)
{
    return ParseExecutors(options.executor, options.htae, options.calibration);
}

bool
KnowRouting(const FabricsOptions& options, const std::string& routing)
{
    const std::vector<std::string> executors = ListExecutors(options);
    const bool isSpread = routing == "Spray" || routing == "Adaptive";
    return routing == "Ecmp" ||
           std::all_of(executors.begin(), executors.end(), [&](const std::string& executor) {
               const ExecutorTraits& traits = FindExecutor(executor).GetTraits();
               return traits.hasPackets || (traits.hasCongestion && isSpread);
           });
}

std::vector<Contender>
ListContenders(const FabricsOptions& options, const FabricOptions& sizes)
{
    if (sizes.kind != FabricOptions().kind || sizes.oversubscription != 1)
    {
        throw std::invalid_argument("--fabric and --oversubscription: kinds and ratios of all "
                                    "fabrics are said in --fabrics, e.g. "
                                    "--fabrics=fat-tree,leaf-spine:2");
    }
    if (IsChanged(FindAttribute(Fabric::GetTypeId(), "Routing")))
    {
        throw std::invalid_argument("--ns3::proteus::Fabric::Routing: how switches choose is said "
                                    "in --fabrics, e.g. --fabrics=leaf-spine+spray");
    }
    const FabricOptions base =
        FitFabricOptions(sizes, ToCount(options.nodes, "nodes", 2, MAX_SERVERS));
    const uint32_t nics = CountNics(options);
    std::vector<Contender> contenders;
    if (!options.fabrics.empty())
    {
        for (const std::string& text : SplitFabrics(options.fabrics))
        {
            contenders.push_back(ParseContender(text, base, options, nics));
        }
        return contenders;
    }
    for (const std::string& text : GetUsualFabricVariants())
    {
        const FabricVariant variant = FitSpines(ParseFabricVariant(text, base), nics);
        if (KnowRouting(options, variant.routing))
        {
            contenders.push_back({variant, ""});
        }
    }
    return contenders;
}

std::string
GetName(const Contender& contender)
{
    return contender.cluster.empty() ? contender.variant.name : contender.cluster;
}

bool
TakesNodes(const Contender& contender)
{
    const std::string& cluster = contender.cluster;
    const auto presets = GetServerPresets();
    return cluster.empty() || std::find(presets.begin(), presets.end(), cluster) != presets.end() ||
           (IsClusterText(cluster) && cluster.find("nodes=") == std::string::npos);
}

Cluster
MakeContenderCluster(const FabricsOptions& options, const Contender& contender)
{
    const uint32_t nodes = ToCount(options.nodes, "nodes", 2, MAX_SERVERS);
    return contender.cluster.empty()
               ? MakeTextVariant(options.cluster, nodes, contender.variant)
               : LoadCluster(contender.cluster, TakesNodes(contender) ? nodes : 0);
}

void
WarnOfSame(const FabricsOptions& options, const std::vector<Contender>& contenders)
{
    std::map<std::string, std::string> met;
    std::set<std::string> firstModels;
    for (const Contender& contender : contenders)
    {
        const Cluster cluster = MakeContenderCluster(options, contender);
        std::set<std::string> models;
        for (const VertexId gpu : cluster.GetGpus())
        {
            models.insert(cluster.GetVertices()[gpu].model);
        }
        firstModels = met.empty() ? models : firstModels;
        if (models != firstModels)
        {
            Warn("--fabrics: " + GetName(contender) + " has GPUs of " + ListNames(models) + ", " +
                 GetName(contenders.front()) + " of " + ListNames(firstModels) +
                 ": their times differ by more than the network");
        }
        std::ostringstream text;
        WriteClusterJson(cluster, text);
        const std::string json = text.str();
        const auto [first, isNew] =
            met.emplace(contender.variant.routing + json.substr(json.find("\"vertices\"")),
                        GetName(contender));
        if (!isNew)
        {
            Warn("--fabrics: " + GetName(contender) + " is the same network as " + first->second +
                 ", switched alike");
        }
    }
}

void
WarnOfFitted(const FabricsOptions& options, const std::vector<Contender>& contenders)
{
    std::map<std::string, std::string> first; // contender, by line
    for (const Contender& contender : contenders)
    {
        const auto lines = contender.cluster.empty()
                               ? options.fabric.ListFitted(contender.variant.fabric)
                               : std::vector<std::string>();
        for (const std::string& line : lines)
        {
            first.emplace(line, contender.variant.name);
        }
    }
    for (const auto& [line, name] : first)
    {
        Warn(line + " in " + name +
             ": leaves have at most half of the servers, groups no more than there are, and there "
             "are no more spines than a leaf has cables up");
    }
}

bool
DoesNoneTake(const FabricsOptions& options, const std::function<bool(const Contender&)>& takes)
{
    try
    {
        const auto contenders = ListContenders(options, options.fabric.GetOptions());
        return std::none_of(contenders.begin(), contenders.end(), takes);
    }
    catch (const std::invalid_argument&) // which the run reports
    {
        return false;
    }
}

std::string
DescribeNetworks(const FabricsOptions& options, const FabricOptions& sizes)
{
    std::string networks;
    for (const Contender& contender : ListContenders(options, sizes))
    {
        networks += DescribeNetwork(MakeContenderCluster(options, contender)) + '\n';
    }
    return networks;
}

} // namespace proteus
} // namespace ns3
