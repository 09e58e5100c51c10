/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-trace-file.h"

#include "proteus-aicb.h"
#include "proteus-chakra-json.h"
#include "proteus-chakra.h"
#include "proteus-graph-file.h"
#include "proteus-input-file.h"
#include "proteus-kineto.h"
#include "proteus-trace-doubts.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A format of traces.
struct TraceFormat
{
    const char* name;                 //!< for messages
    std::vector<const char*> endings; //!< of the names of its files
    /// Makes a graph of files, in the order of their ranks as far as their names tell.
    ExecutionGraph (*load)(const std::vector<TraceFile>& files,
                           const std::string& name,
                           const TraceOptions& options,
                           Recording* recording);
    /// What a folder may have of them.
    enum class Files
    {
        ONE,     //!< one file
        BY_RANK, //!< one for each rank, which the name tells
        ANY,     //!< one for each rank, which the file tells
    } files;
};

/// @param name of a trace that is none of Chakra @param options that it is loaded with
/// @throw std::invalid_argument for those that only Chakra traces follow
void
CheckOptions(const std::string& name, const TraceOptions& options)
{
    const std::string own = ": belongs to Chakra traces: leave it away";
    if (!options.groupFile.empty())
    {
        throw std::invalid_argument(name + ": the file with process groups, " + options.groupFile +
                                    own);
    }
    if (options.isRoofline)
    {
        throw std::invalid_argument(name + ": computation by the roofline" + own +
                                    ", for recorded times");
    }
}

/// A native graph: one file for all ranks.
ExecutionGraph
LoadNative(const std::vector<TraceFile>& files,
           const std::string& name,
           const TraceOptions& options,
           Recording* /* recording */)
{
    CheckIsRecording(name, options);
    ExecutionGraph graph = LoadGraph(files.front().name);
    if (options.ranks != 0 && options.ranks != graph.GetNDevices())
    {
        throw std::invalid_argument(name + ": the graph has " +
                                    std::to_string(graph.GetNDevices()) + " ranks, not " +
                                    std::to_string(options.ranks));
    }
    return graph;
}

/// @return all formats; of two with the same ending, the first that a folder has files of
const std::vector<TraceFormat>&
GetFormats()
{
    static const std::vector<TraceFormat> formats{
        {"Chakra execution traces", {".et", ".et.gz"}, &ReadChakra, TraceFormat::Files::BY_RANK},
        {"PyTorch Kineto traces", {".json", ".json.gz"}, &ReadKineto, TraceFormat::Files::ANY},
        {"AICB and SimAI workloads", {".txt", ".txt.gz"}, &ReadAicb, TraceFormat::Files::ONE},
        {"execution graphs", {".pb"}, &LoadNative, TraceFormat::Files::ONE},
    };
    return formats;
}

bool
HasEnding(const TraceFormat& format, const std::string& path)
{
    return std::any_of(format.endings.begin(), format.endings.end(), [&](const char* ending) {
        return EndsWith(path, ending);
    });
}

TraceFile
MakeFile(const std::string& path)
{
    return {path, [path] { return OpenInput(path); }};
}

/// @return names of the files in a folder, sorted
std::vector<std::string>
ListFolder(const std::string& path)
{
    errno = 0;
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr)
    {
        throw std::invalid_argument(path + ": cannot be read: " + std::strerror(errno));
    }
    std::vector<std::string> names;
    while (const dirent* entry = readdir(folder))
    {
        if (entry->d_name[0] != '.')
        {
            names.emplace_back(entry->d_name);
        }
    }
    closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
}

/// @return the rank that a name has between dots, as in trace.3.et
std::optional<uint32_t>
FindRank(const std::string& name)
{
    static const std::regex dotted("(^|\\.)([0-9]{1,7})\\.(et|json)(\\.gz)?$");
    std::smatch match;
    if (std::regex_search(name, match, dotted))
    {
        return static_cast<uint32_t>(std::stoul(match[2]));
    }
    return std::nullopt;
}

/// @param name of a file that FindRank() finds a rank in @return what stands before it
std::string
GetStem(const std::string& name)
{
    static const std::regex end("\\.?[0-9]{1,7}\\.(et|json)(\\.gz)?$");
    return std::regex_replace(name, end, "");
}

/// @return the files of a trace in the order of their ranks
std::vector<TraceFile>
SortByRank(const std::string& folder, const std::vector<std::string>& names)
{
    std::map<uint32_t, std::string> byRank;
    std::vector<TraceFile> files;
    for (const std::string& name : names)
    {
        const auto rank = FindRank(name);
        if (!rank)
        {
            if (names.size() > 1)
            {
                throw std::invalid_argument(folder + "/" + name +
                                            ": the name does not tell the rank; call the files of "
                                            "a trace NAME.0.ENDING, NAME.1.ENDING, ...");
            }
            return {MakeFile(folder + "/" + name)};
        }
        const auto added = byRank.emplace(*rank, name);
        if (!added.second)
        {
            throw std::invalid_argument(folder + ": both " + added.first->second + " and " + name +
                                        " are of rank " + std::to_string(*rank) +
                                        "; a folder must have the files of one trace");
        }
    }
    bool isNamed = false;
    for (const auto& entry : byRank)
    {
        if (byRank.size() > 1 && entry.first != files.size())
        {
            throw std::invalid_argument(folder + ": there is no file of rank " +
                                        std::to_string(files.size()) + "; the next is " +
                                        entry.second);
        }
        files.push_back(MakeFile(folder + "/" + entry.second));
        const std::string& first = byRank.begin()->second;
        if (!isNamed && GetStem(entry.second) != GetStem(first))
        {
            isNamed = true;
            Warn(folder + ": the files of ranks have different names (" + first + ", " +
                 entry.second + "), and are taken for those of one job");
        }
    }
    return files;
}

/// @return the first characters of a file
std::string
ReadBegin(const std::string& path)
{
    InputFile file(path);
    std::string begin(200, '\0');
    const auto n = file.GetStream().rdbuf()->sgetn(&begin[0], 200);
    begin.resize(static_cast<std::size_t>(n));
    return begin;
}

/// @param begin of a JSON file @return whether it is a graph of this library: it says so in its
/// first field
bool
IsNativeJson(const std::string& begin)
{
    static const std::regex native("^\\s*\\{\\s*\"format\"\\s*:\\s*\"proteus-graph\"");
    return std::regex_search(begin, native);
}

/// @param path of a folder @param names of JSON files in it
/// @return those that are Chakra traces
std::vector<std::string>
ListChakra(const std::string& path, const std::vector<std::string>& names)
{
    std::vector<std::string> chakra;
    for (const std::string& name : names)
    {
        if (IsChakraJson(ReadBegin(path + "/" + name)))
        {
            chakra.push_back(name);
        }
    }
    return chakra;
}

/// Traces of Chakra in JSON, and a file with their process groups if there is one more.
/// @param path of the folder @param names of its JSON files @param chakra those that are traces
/// @param options of the user @return the graph
ExecutionGraph
LoadChakraFolder(const std::string& path,
                 const std::vector<std::string>& names,
                 const std::vector<std::string>& chakra,
                 const TraceOptions& options,
                 Recording* recording)
{
    TraceOptions effective = options;
    std::vector<std::string> others;
    std::error_code unknown; // of a file that is not there, which its reader says
    for (const std::string& name : names)
    {
        const std::string file = path + "/" + name;
        const bool isGroups = !options.groupFile.empty() &&
                              std::filesystem::equivalent(file, options.groupFile, unknown);
        if (std::find(chakra.begin(), chakra.end(), name) == chakra.end() && !isGroups)
        {
            others.push_back(file);
        }
    }
    if (others.size() > (options.groupFile.empty() ? 1 : 0))
    {
        throw std::invalid_argument(others.front() + ": is no Chakra trace, as " + path + "/" +
                                    chakra.front() +
                                    " is; a folder has those of one job, and one file with its "
                                    "process groups");
    }
    if (!others.empty())
    {
        effective.groupFile = others.front();
    }
    return ReadChakra(SortByRank(path, chakra), path, effective, recording);
}

/// Names the files of a folder that belong to no trace.
/// @param path of the folder @param names of all in it @param read those that are read
/// @param options of the user
void
WarnOfUnread(const std::string& path,
             const std::vector<std::string>& names,
             const std::vector<std::string>& read,
             const TraceOptions& options)
{
    std::vector<std::string> unread;
    for (const std::string& name : names)
    {
        std::error_code none; // of a file that is not there, which its reader says
        const bool isGroups =
            !options.groupFile.empty() &&
            std::filesystem::equivalent(path + "/" + name, options.groupFile, none);
        if (!isGroups && std::find(read.begin(), read.end(), name) == read.end())
        {
            unread.push_back(name);
        }
    }
    if (!unread.empty())
    {
        Warn(path + ": not read: " + ListSome(unread));
    }
}

ExecutionGraph
LoadFolder(const std::string& path, const TraceOptions& options, Recording* recording)
{
    const std::vector<std::string> names = ListFolder(path);
    for (const TraceFormat& format : GetFormats())
    {
        std::vector<std::string> own;
        std::vector<std::string> json;
        for (const std::string& name : names)
        {
            if (HasEnding(format, name))
            {
                own.push_back(name);
            }
            if (EndsWith(name, ".json"))
            {
                json.push_back(name);
            }
        }
        if (own.empty())
        {
            continue;
        }
        if (format.files == TraceFormat::Files::ONE && own.size() > 1)
        {
            throw std::invalid_argument(path + ": there are several " + format.name + ", such as " +
                                        own[0] + " and " + own[1] + "; name the one to run");
        }
        TraceOptions effective = options;
        if (format.load == &ReadChakra && options.groupFile.empty() && json.size() == 1)
        {
            effective.groupFile = path + "/" + json.front();
        }
        // What is no Chakra trace among JSON files is groups, or refused.
        WarnOfUnread(path, names, own, effective);
        if (format.files == TraceFormat::Files::BY_RANK)
        {
            return format.load(SortByRank(path, own), path, effective, recording);
        }
        const std::vector<std::string> chakra = ListChakra(path, own);
        if (format.load == &ReadKineto && !chakra.empty())
        {
            return LoadChakraFolder(path, own, chakra, options, recording);
        }
        CheckOptions(path, options);
        std::vector<TraceFile> files;
        for (const std::string& name : own)
        {
            files.push_back(MakeFile(path + "/" + name));
        }
        return format.load(files, path, effective, recording);
    }
    throw std::invalid_argument(path + ": there is no trace in this folder; known are " +
                                DescribeTraceFormats());
}

} // namespace

namespace
{

/// @param path of a file @return its format, by the ending of its name or, where that is none of a
/// trace, by how it begins; null if neither tells it
const TraceFormat*
FindFormat(const std::string& path)
{
    const auto& formats = GetFormats();
    auto found = std::find_if(formats.begin(), formats.end(), [&path](const TraceFormat& format) {
        return HasEnding(format, path);
    });
    if (found == formats.end())
    {
        MakeFile(path).open(); // if it is not there, that is the better message
        const std::string begin = ReadBegin(path);
        const std::size_t first = begin.find_first_not_of(" \t\r\n");
        found = first == std::string::npos || begin[first] != '{'
                    ? formats.end()
                    : std::find_if(formats.begin(), formats.end(), [](const TraceFormat& format) {
                          return format.load == &ReadKineto;
                      });
    }
    return found == formats.end() ? nullptr : &*found;
}

/// @param path of a file that is no trace @throw std::invalid_argument
[[noreturn]] void
FailUnknown(const std::string& path)
{
    std::string what = DescribeForeignName(path);
    if (what.empty())
    {
        InputFile file(path);
        what = DescribeForeignFile(ListTextKeys(file.GetStream()));
    }
    throw std::invalid_argument(
        path + ": " +
        (what.empty() ? "is no trace: neither the ending of its name nor its begin is that of one"
                      : what) +
        "; traces are " + DescribeTraceFormats());
}

/// @return the graph of a trace, whatever it may be
ExecutionGraph
LoadAny(const std::string& path, const TraceOptions& options, Recording* recording)
{
    if (IsFolder(path))
    {
        return LoadFolder(path, options, recording);
    }
    const TraceFormat* format = FindFormat(path);
    if (format == nullptr)
    {
        FailUnknown(path);
    }
    if (format->load == &ReadKineto)
    {
        const std::string begin = ReadBegin(path);
        if (IsNativeJson(begin))
        {
            CheckOptions(path, options);
            return LoadNative({MakeFile(path)}, path, options, recording);
        }
        if (IsChakraJson(begin))
        {
            return ReadChakra({MakeFile(path)}, path, options, recording);
        }
    }
    if (format->load != &ReadChakra)
    {
        CheckOptions(path, options);
    }
    return format->load({MakeFile(path)}, path, options, recording);
}

} // namespace

ExecutionGraph
LoadTrace(const std::string& path, const TraceOptions& options, Recording* recording)
{
    ExecutionGraph graph = LoadAny(path, options, recording);
    if (graph.GetNTasks() == 0)
    {
        throw std::invalid_argument(path + ": has no tasks, so that there is nothing to run");
    }
    for (const std::string& doubt : FindTraceDoubts(graph))
    {
        Warn(path + ": " + doubt);
    }
    return graph;
}

std::string
DescribeTraceFormats()
{
    std::string text;
    for (const TraceFormat& format : GetFormats())
    {
        AppendName(text, std::string(format.name) + " (" + ListNames(format.endings) + ")");
    }
    return text;
}

} // namespace proteus
} // namespace ns3
