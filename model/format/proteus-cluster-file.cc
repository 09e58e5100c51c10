/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-file.h"

#include "proteus-cluster-json.h"
#include "proteus-input-file.h"
#include "proteus-nccl-topology.h"

#include "ns3/proteus-cluster-text.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a file may be.
enum class ClusterFormat
{
    UNKNOWN,
    JSON,
    NCCL,
    HPCC,
};

/// @param path of a file @param suffix of files @return whether it has that
bool
HasSuffix(const std::string& path, const std::string& suffix)
{
    return path.size() > suffix.size() &&
           path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// @param path of a file @param input its text; not moved on @return what it is
ClusterFormat
FindFormat(const std::string& path, std::istream& input)
{
    if (HasSuffix(path, ".json"))
    {
        return ClusterFormat::JSON;
    }
    if (HasSuffix(path, ".xml"))
    {
        return ClusterFormat::NCCL;
    }
    char first = 0;
    input >> std::ws;
    const bool isEmpty = !input.get(first);
    input.clear();
    input.seekg(0);
    if (isEmpty)
    {
        return ClusterFormat::UNKNOWN;
    }
    if (first == '{' || first == '[')
    {
        return ClusterFormat::JSON;
    }
    if (first == '<')
    {
        return ClusterFormat::NCCL;
    }
    return first == '#' || (first >= '0' && first <= '9') ? ClusterFormat::HPCC
                                                          : ClusterFormat::UNKNOWN;
}

} // namespace

std::string
GetClusterPath(const std::string& nameOrPath)
{
    const std::string end = ".xml";
    const std::size_t at = nameOrPath.rfind(end + ":");
    return at == std::string::npos ? nameOrPath : nameOrPath.substr(0, at + end.size());
}

Cluster
LoadCluster(const std::string& nameOrPath,
            uint32_t servers,
            const FabricOptions& fabric,
            const HpccTopologyOptions& hpcc)
{
    const auto presets = GetServerPresets();
    if (std::find(presets.begin(), presets.end(), nameOrPath) != presets.end())
    {
        return MakeCluster(nameOrPath, std::max(servers, 1u), fabric);
    }
    if (IsClusterText(nameOrPath))
    {
        return MakeTextCluster(nameOrPath, servers, fabric);
    }
    const std::string path = GetClusterPath(nameOrPath);
    if (path.size() < nameOrPath.size())
    {
        const NcclTopologyOptions options =
            ParseNcclTopologyOptions(nameOrPath.substr(path.size() + 1));
        std::ifstream topology(path, std::ios::binary);
        if (!topology)
        {
            throw std::invalid_argument(path + ": cannot be read");
        }
        return ReadNcclTopology(topology, path, std::max(servers, 1u), fabric, options);
    }
    std::ifstream file(nameOrPath, std::ios::binary);
    if (!file || file.peek() == std::ifstream::traits_type::eof())
    {
        std::string message =
            "there is neither a preset nor a readable file '" + nameOrPath + "'; presets:";
        const char* separator = " ";
        for (const std::string& preset : presets)
        {
            message += separator + preset;
            separator = ", ";
        }
        throw std::invalid_argument(message);
    }
    const ClusterFormat format = FindFormat(nameOrPath, file);
    if (format == ClusterFormat::NCCL)
    {
        return ReadNcclTopology(file, nameOrPath, std::max(servers, 1u), fabric);
    }
    if (format == ClusterFormat::UNKNOWN)
    {
        throw std::invalid_argument(nameOrPath +
                                    ": is none of a cluster JSON file, an NCCL topology XML file "
                                    "and a text topology that begins with 'nodes switches links'");
    }
    InputFile whole(file, nameOrPath); // refuses what has no end
    Cluster cluster = format == ClusterFormat::JSON
                          ? ReadClusterJson(whole.GetStream(), nameOrPath)
                          : ReadHpccTopology(whole.GetStream(), nameOrPath, hpcc);
    if (servers != 0 && servers != cluster.GetNServers())
    {
        throw std::invalid_argument(nameOrPath + ": has " + std::to_string(cluster.GetNServers()) +
                                    " servers, but " + std::to_string(servers) +
                                    " are asked for; ask for as many, or leave the number out");
    }
    return cluster;
}

} // namespace proteus
} // namespace ns3
