/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests-words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// The programs of nccl-tests, and what they run.
constexpr std::pair<const char*, const char*> PROGRAMS[] = {
    {"all_reduce_perf", "all-reduce"},
    {"all_gather_perf", "all-gather"},
    {"reduce_scatter_perf", "reduce-scatter"},
    {"broadcast_perf", "broadcast"},
    {"reduce_perf", "reduce"},
    {"alltoall_perf", "all-to-all"},
    {"sendrecv_perf", "send-recv"},
    {"gather_perf", "gather"},
    {"scatter_perf", "scatter"},
};

/// Beginnings of variables that say what is printed, where NCCL lies, and how its processes and
/// adapters find each other.
constexpr const char* TIMELESS[] = {"NCCL_DEBUG",
                                    "NCCL_TESTS",
                                    "NCCL_SOCKET_IFNAME",
                                    "NCCL_SOCKET_FAMILY",
                                    "NCCL_IB_GID_INDEX",
                                    "NCCL_IB_TIMEOUT",
                                    "NCCL_IB_RETRY_CNT",
                                    "NCCL_CONF",
                                    "NCCL_DIR",
                                    "NCCL_HOME",
                                    "NCCL_INCLUDE",
                                    "NCCL_LIB",
                                    "NCCL_PATH",
                                    "NCCL_ROOT",
                                    "NCCL_VERSION"};

/// @param c a character @return whether names of variables have such
bool
IsOfName(char c)
{
    return std::isupper(static_cast<unsigned char>(c)) != 0 ||
           std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// @param line of a log @param at where a name begins @return where it ends
std::size_t
FindNameEnd(const std::string& line, std::size_t at)
{
    while (at < line.size() && IsOfName(line[at]))
    {
        ++at;
    }
    return at;
}

/// @param line of a log @param comma in it @return whether the next setting follows the comma, as
/// in srun --export=ALL,NCCL_ALGO=Ring,NCCL_PROTO=LL; otherwise it is one of a list of values
bool
BeginsSetting(const std::string& line, std::size_t comma)
{
    const std::size_t end = FindNameEnd(line, comma + 1);
    return end > comma + 1 && end < line.size() && line[end] == '=';
}

/// @param line of a log @param begin where a value begins, of a word of a shell's or a sentence's
/// @return it, up to what ends such a word
std::string
ReadWord(const std::string& line, std::size_t begin)
{
    std::size_t end = begin;
    while (end < line.size() && std::string(" \t\r\"'`;|&)").find(line[end]) == std::string::npos &&
           !(line[end] == ',' && BeginsSetting(line, end)))
    {
        ++end;
    }
    while (end > begin && std::string(".,:\\").find(line[end - 1]) != std::string::npos)
    {
        --end;
    }
    return line.substr(begin, end - begin);
}

/// @param line of a log @param at where the name of a variable begins @param end where it ends
/// @return the value that the line gives it, or none
std::optional<std::string>
FindValue(const std::string& line, std::size_t at, std::size_t end)
{
    const std::string byEnvironment = " set by environment to ";
    const std::string quotes = "\"'";
    std::string value;
    if (line.compare(end, byEnvironment.size(), byEnvironment) == 0)
    {
        // NCCL prints the rest of the line, whatever is in it, and a full stop.
        value = line.substr(end + byEnvironment.size());
        value.erase(std::min(value.size(), value.find_last_not_of(" \t\r") + 1));
        if (!value.empty() && value.back() == '.')
        {
            value.pop_back();
        }
    }
    else if (end < line.size() && line[end] == '=')
    {
        const char before = at > 0 ? line[at - 1] : ' ';
        const char after = end + 1 < line.size() ? line[end + 1] : ' ';
        // NCCL_ALGO="Ring;Tree", and 'NCCL_ALGO=Ring;Tree' as a whole
        const bool isAfter = quotes.find(after) != std::string::npos;
        const bool isAround = quotes.find(before) != std::string::npos;
        const std::size_t begin = end + (isAfter ? 2 : 1);
        const std::size_t close =
            isAfter || isAround ? line.find(isAfter ? after : before, begin) : std::string::npos;
        value =
            close != std::string::npos ? line.substr(begin, close - begin) : ReadWord(line, begin);
    }
    return value.empty() ? std::nullopt : std::make_optional(value);
}

} // namespace

std::string
FindCollective(const std::string& line)
{
    for (const auto& [program, collective] : PROGRAMS)
    {
        const std::size_t at = line.find(program);
        // "reduce_perf" is also the end of another name.
        if (at != std::string::npos &&
            (at == 0 ||
             (std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0 && line[at - 1] != '_')))
        {
            return collective;
        }
    }
    return "";
}

std::vector<std::string>
FindSettings(const std::string& line)
{
    const std::string prefix = "NCCL_";
    std::vector<std::string> settings;
    std::size_t end = 0;
    for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix, end))
    {
        end = FindNameEnd(line, at);
        const std::string name = line.substr(at, end - at);
        const bool isWhole = at == 0 || !IsOfName(line[at - 1]);
        // Which ranks run an operation of their own at the same time is no matter of printing.
        const bool isSplit = name.rfind("NCCL_TESTS_SPLIT", 0) == 0;
        const bool isTimeless =
            !isSplit &&
            std::any_of(std::begin(TIMELESS), std::end(TIMELESS), [&](const char* beginning) {
                return name.rfind(beginning, 0) == 0;
            });
        if (const auto value = FindValue(line, at, end); value && isWhole && !isTimeless)
        {
            settings.push_back(name + "=" + *value);
        }
    }
    return settings;
}

std::string
StripColours(const std::string& line)
{
    constexpr char ESCAPE = '\x1b';
    std::string plain;
    for (std::size_t i = 0; i < line.size(); ++i)
    {
        if (line[i] != ESCAPE)
        {
            plain += line[i];
            continue;
        }
        while (++i < line.size() && std::isalpha(static_cast<unsigned char>(line[i])) == 0)
        {
        }
    }
    return plain;
}

bool
HasLostItsHash(const std::vector<std::string>& words)
{
    // "size count type", "nThread 1 nGpus", "Rank 0 Group", "Rank 0 Pid", "Out of bounds", "Avg bus
    // bandwidth"
    static const std::array<std::array<const char*, 3>, 6> beginnings{{{"size", "count", ""},
                                                                       {"nThread", "", "nGpus"},
                                                                       {"Rank", "", "Group"},
                                                                       {"Rank", "", "Pid"},
                                                                       {"Out", "of", "bounds"},
                                                                       {"Avg", "bus", ""}}};
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& beginning) {
        bool isEqual = words.size() >= beginning.size();
        for (std::size_t i = 0; isEqual && i < beginning.size(); ++i)
        {
            isEqual = *beginning[i] == '\0' || words[i] == beginning[i];
        }
        return isEqual;
    });
}

} // namespace proteus
} // namespace ns3
