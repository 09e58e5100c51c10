/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-name-lists.h"

#include "proteus-cloud-machines.h"
#include "proteus-option-values.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-classic-ring.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-readable-file.h"
#include "ns3/proteus-run-information.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return how ns-3 was built
std::string
GetBuildProfile()
{
#if defined(NS3_BUILD_PROFILE_DEBUG)
    return "debug";
#elif defined(NS3_BUILD_PROFILE_RELEASE)
    return "release";
#elif defined(NS3_BUILD_PROFILE_OPTIMIZED)
    return "optimized";
#elif defined(NS3_ASSERT_ENABLE)
    return "with assertions";
#else
    return "without assertions";
#endif
}

void
PrintLines(const std::vector<std::string>& lines, std::ostream& out)
{
    for (const std::string& line : lines)
    {
        out << line << '\n';
    }
}

} // namespace

std::vector<std::string>
ListJsonFiles(const std::string& folder)
{
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    {
        if (entry.path().extension() == ".json")
        {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string>
ListClusters()
{
    std::vector<std::string> names = GetServerPresets();
    for (const std::string& name : GetClassicClusters())
    {
        names.push_back("classic:" + name);
    }
    return names;
}

std::vector<std::string>
ListCollectives()
{
    std::vector<std::string> names;
    for (const Collective collective : GetCollectives())
    {
        names.emplace_back(ToString(collective));
    }
    return names;
}

std::vector<std::string>
ListAlgorithmNames()
{
    std::set<std::string> names;
    for (const Collective collective : GetCollectives())
    {
        const auto algorithms = GetAlgorithms(collective);
        names.insert(algorithms.begin(), algorithms.end());
    }
    return {names.begin(), names.end()};
}

namespace
{

/// @param text typed where a name belongs @return whether it is the path of a file, or has an
/// ending of files: a point and some letters
bool
IsPathLike(const std::string& text)
{
    const std::string ending = std::filesystem::path(text).extension().string();
    return text.find('/') != std::string::npos ||
           (ending.size() > 1 && ending.find_first_of("0123456789 ") == std::string::npos);
}

/// @param text typed where a name belongs @param names that there are
/// @return what it is, if it is a file or looks like one; else empty
std::string
DescribeFile(const std::string& text, const std::vector<std::string>& names)
{
    if (!IsPathLike(text) || IsFolder(text))
    {
        return "";
    }
    if (!IsReadable(text))
    {
        return "there is no such name, and no such file: " + Suggest(text, names);
    }
    InputFile file(text);
    const std::string what = DescribeForeignFile(ListTextKeys(file.GetStream()));
    return "a name belongs here, and this is a file" + (what.empty() ? "" : "; " + what);
}

/// @param name any @return whether it is a preset's, or a machine's of a cloud
bool
IsServer(const std::string& name)
{
    return !FindServerPreset(name).empty() || !DescribeCloudMachine(name).empty();
}

/// @param text as "2xdgx-a100", "2 dgx-a100", "dgx-a100*2" or "dgx-a100:2"
/// @return how many servers, and of what, as that is written; both empty if it is no such text
std::pair<std::string, std::string>
FindCounted(const std::string& text)
{
    static const std::regex before("([1-9][0-9]{0,5})(?: *[x*] *| +)([a-z].*)", std::regex::icase);
    static const std::regex behind("(.*[^ x*:,])(?: *[x*:,] *| +)([1-9][0-9]{0,5})",
                                   std::regex::icase);
    const std::string servers = text.substr(0, text.find(':'));
    std::smatch parts;
    if (std::regex_match(servers, parts, before) && IsServer(parts[2]))
    {
        const std::string changes = text.substr(servers.size());
        return {parts[1], parts[2].str() + changes + (changes.empty() ? ":" : ",")};
    }
    if (std::regex_match(text, parts, behind) && !IsServer(text) && IsServer(parts[1]))
    {
        return {parts[2], parts[1].str() + ":"};
    }
    return {};
}

/// @param name of a data sheet, or empty @return whether it is of a PCI Express card
bool
IsCard(const std::string& name)
{
    return !name.empty() && !FindGpuModel(name).isCpu && GetCardGeneration(name) > 0;
}

/// Refuses servers of cards that cannot be made, of which FindServerPreset() knows nothing.
/// @param text of --cluster @param servers its part before what is changed, e.g. "64xL40S",
/// "8x4090", "8*L40S", "L40Sx8" @throw std::invalid_argument that says what is wrong, if it counts
/// GPUs
void
RefuseCards(const std::string& text, const std::string& servers)
{
    static const std::regex counted("([0-9]+)x(?:[0-9]+x)?([a-z0-9][^./]*)", std::regex::icase);
    static const std::regex spaced("([0-9]+)(?: *[x*] *| +)([a-z].*)", std::regex::icase);
    static const std::regex behind("([a-z].*[^ x*])(?: *[x*] *| +)([0-9]+)", std::regex::icase);
    const std::string start = "--cluster=" + text + ": ";
    std::smatch parts;
    const std::vector<std::string> models = GetGpuModels();
    if (!std::regex_match(servers, parts, counted))
    {
        const bool isBehind = !std::regex_match(servers, parts, spaced);
        if (isBehind && !std::regex_match(servers, parts, behind))
        {
            return;
        }
        const std::string card = FindAlias(parts[isBehind ? 1 : 2], models);
        if (IsCard(card))
        {
            throw std::invalid_argument(start + "write " + parts[isBehind ? 2 : 1].str() + "x" +
                                        card);
        }
        return;
    }
    const std::string known = FindAlias(parts[2], models);
    if (IsCard(known))
    {
        throw std::invalid_argument(start + "a CPU has 1 to 16 cards, and a server 1, 2, 4 or 8 " +
                                    "CPUs (2x8x" + known + "); nodes is the number of servers: 8x" +
                                    known + ":nodes=8");
    }
    if (!known.empty())
    {
        throw std::invalid_argument(start + known +
                                    " is no PCI Express card; servers of others are presets, "
                                    "which --clusters lists, and PRESET:gpu=" +
                                    known + " changes their GPUs");
    }
    std::vector<std::string> cards;
    std::copy_if(models.begin(), models.end(), std::back_inserter(cards), IsCard);
    throw std::invalid_argument(start + "of cards " + parts[2].str() +
                                " nothing is known: " + Suggest(parts[2], cards));
}

} // namespace

std::string
MatchName(const std::string& option,
          const std::string& name,
          const std::vector<std::string>& names,
          const std::string& fileOption)
{
    const std::string alias = FindAlias(name, names);
    if (alias.empty())
    {
        const std::string file = DescribeFile(name, names);
        throw std::invalid_argument(
            "--" + option + "=" + name + ": " + (file.empty() ? Suggest(name, names) : file) +
            (file.empty() || fileOption.empty() ? "" : "; --" + fileOption + "=FILE takes files"));
    }
    return alias;
}

std::string
FindClusterName(const std::string& text)
{
    std::error_code none; // a text that is no path is no file
    const bool isFile = std::filesystem::exists(GetClusterPath(text), none);
    const auto [count, counted] = FindCounted(text);
    if (!isFile && !counted.empty())
    {
        throw std::invalid_argument("--cluster=" + text + ": how many servers there are is said " +
                                    "by nodes: " + counted + "nodes=" + count);
    }
    if (isFile || IsClusterText(text))
    {
        return text;
    }
    const std::string alias = FindAlias(text, ListClusters());
    if (!alias.empty())
    {
        return alias;
    }
    const std::size_t colon = text.find(':'); // behind which changes of a preset stand
    const std::string preset = FindServerPreset(text.substr(0, colon));
    if (!preset.empty())
    {
        return preset + (colon == std::string::npos ? "" : text.substr(colon));
    }
    const std::string rented = DescribeCloudMachine(text.substr(0, colon));
    if (!rented.empty())
    {
        throw std::invalid_argument("--cluster=" + text + ": " + rented);
    }
    const std::string card = FindAlias(text.substr(0, colon), GetGpuModels());
    if (IsCard(card))
    {
        throw std::invalid_argument("--cluster=" + text + ": is a GPU; --cluster=8x" + card +
                                    " is eight of them at one CPU, 2x4x" + card +
                                    " on two sockets (doc/cluster.rst)");
    }
    static const std::regex ofAmd("(.*[^a-z]|.*[0-9]x)?mi[1-4][0-9]{2}[ax]?([^a-z0-9].*)?",
                                  std::regex::icase);
    if (std::regex_match(text, ofAmd))
    {
        throw std::invalid_argument("--cluster=" + text +
                                    ": GPUs of AMD, and RCCL, are not modelled");
    }
    RefuseCards(text, text.substr(0, colon));
    const std::size_t end = text.find_last_of(":,", text.find('='));
    if (end != std::string::npos && std::filesystem::is_regular_file(text.substr(0, end), none))
    {
        throw std::invalid_argument("--cluster=" + text + ": " + text.substr(0, end) +
                                    " is a file, and changes behind its name are of presets: "
                                    "change a copy of the file");
    }
    if (text.find_first_of("/.") != std::string::npos)
    {
        throw std::invalid_argument(
            "--cluster=" + text + ": cannot be read: " + DescribeUnreadable(GetClusterPath(text)));
    }
    const bool isClassic = text.compare(0, 8, "classic:") == 0;
    const std::string near = Suggest(isClassic ? text : text.substr(0, colon), ListClusters());
    throw std::invalid_argument("--cluster=" + text + ": " + near +
                                (near.back() == '?' ? ""
                                                    : "; servers of PCI Express cards are written "
                                                      "8xL40S, or 2x4xL40S on two sockets"));
}

bool
PrintNames(const std::string& list, const std::string& workloads, std::ostream& out)
{
    if (list == "version")
    {
        const RunInformation run = DescribeRun({"proteus"}, {});
        out << "proteus " << run.version << ", ns-3 " << run.ns3Version << ", compiler "
            << __VERSION__ << ", " << GetBuildProfile() << '\n';
    }
    else if (list == "models")
    {
        PrintLines(ListJsonFiles(workloads + "/models"), out);
    }
    else if (list == "clusters")
    {
        PrintLines(ListClusters(), out);
        for (const std::string& name : ListJsonFiles(workloads + "/clusters"))
        {
            out << workloads << "/clusters/" << name << ".json\n";
        }
    }
    else if (list == "frameworks")
    {
        PrintLines(ListJsonFiles(workloads + "/frameworks"), out);
    }
    else if (list == "strategies")
    {
        out << "tp=N,pp=N,dp=N,... (the short form)\n";
        for (const std::string& name : ListJsonFiles(workloads + "/strategies"))
        {
            out << workloads << "/strategies/" << name << ".json\n";
        }
    }
    else if (list == "algorithms")
    {
        for (const Collective collective : GetCollectives())
        {
            out << ToString(collective) << ": " << ListNames(GetAlgorithms(collective)) << '\n';
        }
    }
    else
    {
        return false;
    }
    return true;
}

} // namespace proteus
} // namespace ns3
