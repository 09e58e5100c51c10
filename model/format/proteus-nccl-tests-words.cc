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
    const std::string byEnvironment = " set by environment to ";
    std::vector<std::string> settings;
    std::size_t end = 0;
    for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix, end))
    {
        end = at;
        while (end < line.size() && IsOfName(line[end]))
        {
            ++end;
        }
        const std::string name = line.substr(at, end - at);
        std::size_t value = end;
        if (end < line.size() && line[end] == '=')
        {
            value = end + 1;
        }
        else if (line.compare(end, byEnvironment.size(), byEnvironment) == 0)
        {
            value = end + byEnvironment.size();
        }
        const bool isWhole = at == 0 || !IsOfName(line[at - 1]);
        // Which ranks run an operation of their own at the same time is no matter of printing.
        const bool isSplit = name.rfind("NCCL_TESTS_SPLIT", 0) == 0;
        const bool isTimeless =
            !isSplit &&
            std::any_of(std::begin(TIMELESS), std::end(TIMELESS), [&](const char* beginning) {
                return name.rfind(beginning, 0) == 0;
            });
        if (value > end && isWhole && !isTimeless)
        {
            const std::size_t last = line.find_first_of(" \t\r\"',;.", value);
            settings.push_back(name + "=" + line.substr(value, last - value));
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
