/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests-run.h"

#include "proteus-nccl-tests-words.h"
#include "proteus-nccl-tests.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>

namespace ns3
{
namespace proteus
{

namespace
{

/// Most variables of the environment that are named.
constexpr std::size_t MOST_SETTINGS = 64;

/// @param word of a comment @param number is set if it is one
void
ReadNumber(const std::string& word, uint32_t& number)
{
    constexpr std::size_t MOST_DIGITS = 9;
    if (!word.empty() && word.size() <= MOST_DIGITS &&
        word.find_first_not_of("0123456789") == std::string::npos)
    {
        number = static_cast<uint32_t>(std::stoul(word));
    }
}

/// @param setting of the environment @return whether nccl-tests reads it, and not NCCL
bool
IsOfTests(const std::string& setting)
{
    return setting.rfind("NCCL_TESTS_", 0) == 0;
}

} // namespace

std::set<std::string>
NcclTestsRun::GetVariables() const
{
    std::set<std::string> variables;
    std::remove_copy_if(settings.begin(),
                        settings.end(),
                        std::inserter(variables, variables.end()),
                        IsOfTests);
    return variables;
}

void
NcclTestsRun::NoteSettings(const std::string& line)
{
    for (const std::string& setting : FindSettings(line))
    {
        if (settings.size() < MOST_SETTINGS)
        {
            settings.insert(setting);
        }
    }
    // mpirun --bind-to none and -bind-to-none, srun --cpu-bind=none and --cpu_bind
    for (const char* option : {"-bind-to", "--cpu-bind", "--cpu_bind"})
    {
        saysBinding = saysBinding || line.find(option) != std::string::npos;
    }
}

void
NcclTestsRun::NoteDevice(const std::vector<std::string>& words)
{
    constexpr uint32_t MOST_RANKS = 1 << 20;
    constexpr std::size_t GROUP = 3; // "#", "Rank", its number, "Group", its number
    uint32_t rank = MOST_RANKS;
    ReadNumber(words.at(2), rank);
    if (rank < MOST_RANKS && ranks.size() < MOST_RANKS)
    {
        ++ranks[rank];
    }
    if (words.size() > GROUP + 1 && words[GROUP] == "Group" && groups.size() < MOST_SETTINGS)
    {
        groups.insert(words[GROUP + 1]);
    }
    const auto after = [&words](const char* name) -> std::string {
        const auto found = std::find(words.begin(), words.end(), name);
        return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
    };
    if (!after("Pid").empty() && !after("on").empty() && places.size() < MOST_RANKS)
    {
        const std::string process = after("on") + ", Pid " + after("Pid");
        ++processes[process];
        const auto bus = std::find_if(words.begin(), words.end(), [](const std::string& word) {
            return word[0] == '[';
        });
        const std::string place =
            process + ", device " + after("device") + (bus == words.end() ? "" : " " + *bus);
        if (!places.insert(place).second)
        {
            sharedPlace = place;
        }
    }
}

void
NcclTestsRun::ReadSizes(const std::vector<std::string>& words)
{
    constexpr std::size_t MOST_DIGITS = 18;
    const auto read = [](const std::string& text, uint64_t& number) -> std::string {
        const std::size_t end = text.find_first_not_of("0123456789");
        const std::string digits = text.substr(0, end);
        number = digits.empty() || digits.size() > MOST_DIGITS ? number : std::stoull(digits);
        return end == std::string::npos ? "" : text.substr(end);
    };
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
    {
        if (words[i] == "minBytes")
        {
            read(words[i + 1], minBytes);
        }
        else if (words[i] == "maxBytes")
        {
            // "# Reducing maxBytes to 17179869184 due to memory limitation"
            const bool isReduced = words[i + 1] == "to" && i + 2 < words.size();
            read(words[isReduced ? i + 2 : i + 1], maxBytes);
        }
        else if (words[i] == "step:") // "2(factor)", "1048576(bytes)"
        {
            uint64_t step = 0;
            const std::string unit = read(words[i + 1], step);
            (unit == "(factor)" ? stepFactor : stepBytes) = step;
        }
    }
}

void
NcclTestsRun::NoteFailure(const std::string& line)
{
    for (const char* begin : {"Test NCCL failure", "Test CUDA failure", "Test failure"})
    {
        const std::size_t at = line.find(begin);
        if (failure.empty() && at != std::string::npos)
        {
            failure = line.substr(at);
        }
    }
}

uint32_t
NcclTestsRun::CountRanks() const
{
    return ranks.empty() ? 0 : ranks.rbegin()->first + 1;
}

void
NcclTestsRun::Read(const std::vector<std::string>& words)
{
    ReadSizes(words);
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
    {
        if (words[i] == "iters:")
        {
            ReadNumber(words[i + 1],
                       words[i - 1] == "warmup" ? warmUps
                       : words[i - 1] == "agg"  ? aggregated
                                                : iterations);
        }
        else if (words[i] == "graph:")
        {
            ReadNumber(words[i + 1], graphs);
        }
        else if (words[i] == "unalign:")
        {
            ReadNumber(words[i + 1], unaligned);
        }
        isBlocking = isBlocking || (words[i] == "Blocking" && words[i + 1] == "Enabled:");
    }
    // "# Avg bus bandwidth : 77.4"
    constexpr std::size_t AVERAGE = 5;
    if (words.size() > AVERAGE && words[1] == "Avg" && words[2] == "bus")
    {
        char* end = nullptr;
        const double value = std::strtod(words[AVERAGE].c_str(), &end);
        if (*end == '\0' && value >= 0 && value <= NcclTestsTiming::MOST_GBPS)
        {
            averageGBps = value;
        }
    }
    const bool isOfResults = words.size() > 3 && words[1] == "Out" && words[3] == "bounds";
    failed = failed || (isOfResults && words.back() == "FAILED");
}

} // namespace proteus
} // namespace ns3
