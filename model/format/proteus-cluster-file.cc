/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-file.h"

#include "proteus-cluster-json.h"
#include "proteus-htsim-topology.h"
#include "proteus-input-file.h"
#include "proteus-nccl-topology.h"
#include "proteus-rate-doubts.h"

#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-server-preset.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <streambuf>
#include <system_error>

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
    HTSIM,
};

/// @param path of a file @param suffix of files @return whether it has that
bool
HasSuffix(const std::string& path, const std::string& suffix)
{
    return path.size() > suffix.size() &&
           path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// @param input a file; not moved on @param skipsComments whether lines that begin with # do not
/// count @return its first letters or digits, or its first character if that is neither, of those
/// that are neither white space nor a byte order mark; "" if there is none
std::string
FindFirst(std::istream& input, bool skipsComments = false)
{
    std::streambuf& buffer = *input.rdbuf();
    buffer.sgetc(); // so that a part of the file is there
    const std::streamsize most = buffer.in_avail();
    const std::string ignored = " \t\r\n\xef\xbb\xbf";
    const auto isOfWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    std::string first;
    bool isComment = false;
    bool isWhole = false;
    std::streamsize n = 0;
    while (!isWhole && n < most)
    {
        const auto character = static_cast<char>(buffer.sbumpc());
        n++;
        if (!first.empty())
        {
            isWhole = !isOfWord(character);
            first += isWhole ? "" : std::string(1, character);
            continue;
        }
        isComment = skipsComments && (isComment ? character != '\n' : character == '#');
        if (!isComment && ignored.find(character) == std::string::npos)
        {
            first = character;
            isWhole = !isOfWord(character);
        }
    }
    for (; n > 0; --n)
    {
        buffer.sungetc();
    }
    return first;
}

/// @param path of a file @param input its text; not moved on @return what it is
ClusterFormat
FindFormat(const std::string& path, std::istream& input)
{
    const std::string begin = FindFirst(input);
    const char first = begin.empty() ? 0 : begin.front();
    if (first == '\xff' || first == '\xfe')
    {
        throw std::invalid_argument(path + ":1:1: the file is UTF-16: save it as UTF-8");
    }
    if (first == 0)
    {
        throw std::invalid_argument(path + ": there is nothing in the file");
    }
    if (HasSuffix(path, ".json"))
    {
        return ClusterFormat::JSON;
    }
    if (HasSuffix(path, ".xml"))
    {
        return ClusterFormat::NCCL;
    }
    if (first == '{' || first == '[')
    {
        return ClusterFormat::JSON;
    }
    if (first == '<')
    {
        return ClusterFormat::NCCL;
    }
    // Scripts and configurations of other programs, too, begin with comments.
    const std::string word = first == '#' ? FindFirst(input, true) : begin;
    if (IsHtsimTopologyWord(word))
    {
        return ClusterFormat::HTSIM;
    }
    return word.empty() || (word[0] >= '0' && word[0] <= '9') ? ClusterFormat::HPCC
                                                              : ClusterFormat::UNKNOWN;
}

/// Warns of rates that look as if they were in another unit, or that bound each other.
/// @param name where they stand @param cluster with them @param isMade whether its network follows
/// from options of fabrics, of which RunNotes says what is odd
void
WarnOfRates(const std::string& name, const Cluster& cluster, bool isMade)
{
    for (const std::string& doubt : FindRateDoubts(cluster))
    {
        if (isMade && doubt.rfind("network", 0) == 0)
        {
            continue;
        }
        const bool isOfRate = doubt.find("GB/s") != std::string::npos;
        Warn(name + ": " + doubt +
             (isOfRate ? "; rates are 1e9 bytes per second and direction" : ""));
    }
}

/// Names NICs of a file without a link out of their server, where others have one: nothing goes
/// through them. @param path of the file @param cluster of it
void
WarnOfDeadNics(const std::string& path, const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    std::string dead;
    bool hasOthers = false;
    for (VertexId nic = 0; nic < vertices.size(); ++nic)
    {
        if (vertices[nic].kind != VertexKind::NIC)
        {
            continue;
        }
        if (HasNetwork(cluster, nic))
        {
            hasOthers = true;
        }
        else
        {
            AppendName(dead, vertices[nic].name);
        }
    }
    if (hasOthers && !dead.empty())
    {
        Warn(path +
             ": without a link to a network, so that nothing goes through it: " + ShownName(dead));
    }
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
    if (!nameOrPath.empty() && FindServerPreset(nameOrPath) == nameOrPath)
    {
        return MakeCluster(nameOrPath, std::max(servers, 1u), fabric);
    }
    if (IsClusterText(nameOrPath))
    {
        const Cluster cluster = MakeTextCluster(nameOrPath, servers, fabric);
        WarnOfRates("--cluster=" + nameOrPath, cluster, true);
        return cluster;
    }
    const std::string path = GetClusterPath(nameOrPath);
    if (path.size() < nameOrPath.size())
    {
        const NcclTopologyOptions options =
            ParseNcclTopologyOptions(nameOrPath.substr(path.size() + 1));
        InputFile topology(path);
        return ReadNcclTopology(topology.GetStream(), path, std::max(servers, 1u), fabric, options);
    }
    std::error_code none; // a name that is no path is no file
    if (!std::filesystem::exists(nameOrPath, none))
    {
        const bool isClassic = nameOrPath.rfind("classic:", 0) == 0;
        throw std::invalid_argument(
            "there is neither a preset nor a file '" + nameOrPath + "'; " +
            (isClassic ? "clusters of the published Proteus are taken by programs that run jobs "
                         "(proteus-run); "
                       : "") +
            "presets: " + ListNames(GetServerPresets()));
    }
    InputFile file(nameOrPath);
    const ClusterFormat format = FindFormat(nameOrPath, file.GetStream());
    if (format == ClusterFormat::NCCL)
    {
        return ReadNcclTopology(file.GetStream(), nameOrPath, std::max(servers, 1u), fabric);
    }
    if (format == ClusterFormat::UNKNOWN)
    {
        const std::string foreign = DescribeForeignFile(ListTextKeys(file.GetStream()));
        throw std::invalid_argument(
            nameOrPath + ": " +
            (foreign.empty() ? "is none of a cluster JSON file, an NCCL topology XML file, a "
                               "text topology that begins with 'nodes switches links', and a "
                               "topology of htsim that begins with 'Nodes N'"
                             : foreign));
    }
    Cluster cluster = format == ClusterFormat::JSON ? ReadClusterJson(file.GetStream(), nameOrPath)
                      : format == ClusterFormat::HTSIM
                          ? ReadHtsimTopology(file.GetStream(), nameOrPath, hpcc)
                          : ReadHpccTopology(file.GetStream(), nameOrPath, hpcc);
    if (servers != 0 && servers != cluster.GetNServers())
    {
        throw std::invalid_argument(nameOrPath + ": has " + std::to_string(cluster.GetNServers()) +
                                    " servers, but nodes = " + std::to_string(servers) +
                                    "; say as many, or leave it out");
    }
    WarnOfRates(nameOrPath, cluster, false);
    WarnOfDeadNics(nameOrPath, cluster);
    return cluster;
}

} // namespace proteus
} // namespace ns3
