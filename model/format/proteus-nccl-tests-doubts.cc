/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests-doubts.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// What is simulated: nccl-tests' default, and others of its size.
const std::set<std::string> FOUR_BYTES{"", "float", "int32", "uint32"};

/// @param bytes of a row @param timing of it @return whether it is said to be as fast as it is, as
/// far as the digits that are printed tell
bool
IsConsistent(uint64_t bytes, const std::optional<NcclTestsTiming>& timing)
{
    constexpr double DIGITS = 0.01;    // two behind the point
    constexpr double TOLERANCE = 0.02; // times of three digits
    if (!timing || !timing->algbwGBps)
    {
        return true;
    }
    const double expected = static_cast<double>(bytes) / timing->timeUs * 1e-3;
    return std::isfinite(expected) &&
           std::abs(*timing->algbwGBps - expected) <= DIGITS + TOLERANCE * expected;
}

/// A bandwidth of a line.
struct LineBandwidth
{
    uint64_t bytes{0};      //!< of the line
    double expectedGBps{0}; //!< size over time
    double busGBps{0};      //!< as the line says
};

/// @param table that was read @return bus bandwidths of its lines, those of the fastest first
std::vector<LineBandwidth>
ListBusBandwidths(const NcclTestsTable& table)
{
    std::vector<LineBandwidth> list;
    for (const NcclTestsRow& row : table.rows)
    {
        for (const auto* timing : {&row.outOfPlace, &row.inPlace})
        {
            if (*timing && (*timing)->busbwGBps && (*timing)->timeUs > 0)
            {
                list.push_back({row.bytes,
                                static_cast<double>(row.bytes) / (*timing)->timeUs * 1e-3,
                                *(*timing)->busbwGBps});
            }
        }
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.expectedGBps > b.expectedGBps;
    });
    return list;
}

/// Bus bandwidth is as many times the size over the time as the collective and the number of ranks
/// say, (n - 1) / n to 2 (n - 1) / n, in every line; with one rank it is 0.
/// @param table that was read @return a doubt if one line says otherwise, or empty
std::string
FindOddBusBandwidth(const NcclTestsTable& table)
{
    constexpr double LEAST = 0.5; // of two ranks
    constexpr double MOST = 2;
    constexpr double DIGITS = 0.01; // two behind the point
    constexpr double TOLERANCE = 0.03;
    const std::vector<LineBandwidth> list = ListBusBandwidths(table);
    // The faster half, in which digits count less.
    std::vector<double> factors;
    for (std::size_t i = 0; i < (list.size() + 1) / 2 && list[i].expectedGBps > 0; ++i)
    {
        factors.push_back(list[i].busGBps / list[i].expectedGBps);
    }
    if (factors.empty())
    {
        return "";
    }
    std::nth_element(factors.begin(),
                     factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2),
                     factors.end());
    const double factor = factors[factors.size() / 2];
    const std::string cause = ": numbers are in another unit, or the file was edited; times are "
                              "taken as microseconds";
    const LineBandwidth& fastest = list.front();
    const double slack = DIGITS / fastest.expectedGBps; // of the factor
    if (factor > MOST * (1 + TOLERANCE) + slack ||
        (factor > 0 && factor < LEAST * (1 - TOLERANCE) - slack))
    {
        std::ostringstream text;
        text << std::setprecision(4) << "busbw is " << factor
             << " times the size over the time, and of no collective above 2 or below 0.5" << cause;
        return text.str();
    }
    std::set<uint64_t> odd;
    for (const LineBandwidth& line : list)
    {
        const double expected = factor * line.expectedGBps;
        if (!std::isfinite(expected) ||
            std::abs(line.busGBps - expected) > DIGITS + TOLERANCE * expected)
        {
            odd.insert(line.bytes);
        }
    }
    return odd.empty()
               ? ""
               : "in " + FormatThings(odd.size(), "line") + ", the first that of " +
                     std::to_string(*odd.begin()) +
                     " bytes, busbw does not follow from size and time as in the others" + cause;
}

/// @param type of elements, as nccl-tests calls it @return bytes of one, 0 if it is not known
uint64_t
GetElementBytes(const std::string& type)
{
    static const std::map<std::string, uint64_t> sizes{{"int8", 1},
                                                       {"uint8", 1},
                                                       {"fp8_e4m3", 1},
                                                       {"fp8_e5m2", 1},
                                                       {"f8e4m3", 1},
                                                       {"f8e5m2", 1},
                                                       {"half", 2},
                                                       {"bfloat16", 2},
                                                       {"int32", 4},
                                                       {"uint32", 4},
                                                       {"float", 4},
                                                       {"int64", 8},
                                                       {"uint64", 8},
                                                       {"double", 8}};
    const auto found = sizes.find(type);
    return found == sizes.end() ? 0 : found->second;
}

/// @param row of a table @return whether its size is that of its elements, of one rank or of all of
/// a whole number of them
bool
HasItsElements(const NcclTestsRow& row)
{
    const uint64_t element = GetElementBytes(row.type);
    if (!row.count || element == 0 || *row.count == 0)
    {
        return true;
    }
    const uint64_t count = row.bytes / element;
    return row.bytes % element == 0 && count >= *row.count && count % *row.count == 0;
}

/// @param table that was read @return a doubt if a size, of the same elements and operation, is
/// there twice; or empty
std::string
FindRepeated(const NcclTestsTable& table)
{
    std::set<std::tuple<uint64_t, std::string, std::string, int64_t>> known;
    std::set<uint64_t> repeated;
    for (const NcclTestsRow& row : table.rows)
    {
        // Sizes of less than an element for each rank are all printed as 0.
        if (row.bytes > 0 &&
            !known.emplace(row.bytes, row.type, row.redop, row.root.value_or(-1)).second)
        {
            repeated.insert(row.bytes);
        }
    }
    return repeated.empty() ? ""
                            : "has more than one line of " + FormatThings(repeated.size(), "size") +
                                  ", the least " + std::to_string(*repeated.begin()) +
                                  " bytes: several runs in one file? Each line counts";
}

/// @param table that was read @param average bus bandwidth of its lines, as the file says
/// @return a doubt if they have another, or empty
std::string
FindOtherAverage(const NcclTestsTable& table, double average)
{
    constexpr double TOLERANCE = 0.02; // of lines of three digits
    constexpr double DIGITS = 0.01;
    double sum = 0;
    uint64_t n = 0;
    for (const NcclTestsRow& row : table.rows)
    {
        for (const auto* timing : {&row.outOfPlace, &row.inPlace})
        {
            if (*timing && (*timing)->busbwGBps)
            {
                sum += *(*timing)->busbwGBps;
                ++n;
            }
        }
    }
    if (n == 0 || std::abs(sum / static_cast<double>(n) - average) <= DIGITS + TOLERANCE * average)
    {
        return "";
    }
    std::ostringstream text;
    text << std::setprecision(4) << "says that busbw is " << average
         << " GB/s in the mean, and its "
         << "lines have " << sum / static_cast<double>(n)
         << ": lines are missing, or the file was edited";
    return text.str();
}

/// @param table that was read @param doubts gets what is wrong in its lines
void
FindInRows(const NcclTestsTable& table, std::vector<std::string>& doubts)
{
    uint64_t inconsistent = 0;
    uint64_t first = 0;
    uint64_t empty = 0;
    const NcclTestsRow* odd = nullptr; // the first whose elements have another size
    std::set<std::string> types;
    for (const NcclTestsRow& row : table.rows)
    {
        if (!IsConsistent(row.bytes, row.outOfPlace) || !IsConsistent(row.bytes, row.inPlace))
        {
            first = inconsistent == 0 ? row.bytes : first;
            ++inconsistent;
        }
        empty += row.bytes == 0 || (!row.outOfPlace && !row.inPlace) ? 1 : 0;
        odd = !odd && !HasItsElements(row) ? &row : odd;
        if (FOUR_BYTES.count(row.type) == 0)
        {
            types.insert(row.type);
        }
    }
    if (inconsistent > 0)
    {
        doubts.push_back("in " + FormatThings(inconsistent, "line") + ", the first that of " +
                         std::to_string(first) +
                         " bytes, algbw is not the size over the time: times are in another unit, "
                         "or the file was edited; times are taken as microseconds");
    }
    else if (const std::string odd = FindOddBusBandwidth(table); !odd.empty())
    {
        doubts.push_back(odd);
    }
    if (odd)
    {
        doubts.push_back("in its line of " + std::to_string(odd->bytes) + " bytes there are " +
                         std::to_string(*odd->count) + " elements of type " + odd->type +
                         ", which have another size: sizes are in another unit, or the file was "
                         "edited; they are taken as bytes");
    }
    if (empty > 0 && empty < table.rows.size()) // of nothing else is refused
    {
        doubts.push_back("has " + FormatThings(empty, "line") +
                         " of 0 bytes or without a time, left out here");
    }
    if (const std::string repeated = FindRepeated(table); !repeated.empty())
    {
        doubts.push_back(repeated);
    }
    for (const std::string& type : types)
    {
        doubts.push_back("is of elements of type " + type +
                         ", simulated are those of float, of 4 bytes");
    }
}

/// Adds that Open MPI binds each of up to two processes to a core, unless it is told otherwise
/// (mpirun(1), 1.8 to 5.0, "--bind-to"): the proxies of all GPUs of a process share it then.
/// @param run how a table came about @param doubts gets it, where two servers have a process each
void
FindSharedCores(const NcclTestsRun& run, std::vector<std::string>& doubts)
{
    std::set<std::string> hosts;
    for (const auto& [process, ranks] : run.processes)
    {
        hosts.insert(process.substr(0, process.find(", Pid ")));
    }
    const bool areTwo = run.processes.size() == 2 && hosts.size() == 2;
    if (areTwo && run.ofProcess > 1 && !run.saysBinding)
    {
        doubts.push_back("is of two processes of " + std::to_string(run.ofProcess) +
                         " GPUs each, and does not say what they are bound to: Open MPI binds each "
                         "of two to one core unless told otherwise (--bind-to none), which all "
                         "their proxies share; logs of such runs have up to six times the time. "
                         "--netPlugin=ib-one-core simulates that");
    }
}

/// @param run how a table came about @param doubts gets what its lines of devices contradict
void
FindInProcesses(const NcclTestsRun& run, std::vector<std::string>& doubts)
{
    const std::string ofProcess =
        FormatThings(run.ofProcess, "GPU") + " of each process (nThread, nGpus)";
    const auto larger =
        std::find_if(run.processes.begin(), run.processes.end(), [&run](const auto& process) {
            return run.ofProcess > 0 && process.second > run.ofProcess;
        });
    if (larger != run.processes.end())
    {
        doubts.push_back("says " + ofProcess + ", and lists " + std::to_string(larger->second) +
                         " of " + larger->first + ": of another run? Those that are listed count");
    }
    else if (!run.ranks.empty() && run.CountRanks() < run.ofProcess)
    {
        doubts.push_back("says " + ofProcess + ", and lists " + std::to_string(run.CountRanks()) +
                         " in all: lines are missing; its ranks are taken for " +
                         std::to_string(run.ofProcess));
    }
    if (!run.sharedPlace.empty())
    {
        doubts.push_back("has several ranks on " + run.sharedPlace +
                         ": they share a GPU; simulated are ranks with a GPU each");
    }
    FindSharedCores(run, doubts);
}

/// @param table that was read @param run how it came about
/// @return a doubt if sizes that were asked for are not there, or empty
std::string
FindLostSizes(const NcclTestsTable& table, const NcclTestsRun& run)
{
    if (table.rows.empty())
    {
        return "";
    }
    const auto [least, most] =
        std::minmax_element(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
            return a.bytes < b.bytes;
        });
    if (run.minBytes > 0 && least->bytes > run.minBytes)
    {
        return "has sizes from " + std::to_string(least->bytes) + " bytes on, and says minBytes " +
               std::to_string(run.minBytes) + ": lines are missing, or the file was edited";
    }
    // Sizes are rounded down to 16 bytes of every rank. A log without an average was stopped.
    constexpr uint64_t GRAIN = 16;
    const uint64_t rounding = GRAIN * std::max<uint64_t>(run.CountRanks(), 1);
    const uint64_t factor = std::max<uint64_t>(run.stepFactor, 1);
    const double next =
        (static_cast<double>(most->bytes + rounding) * static_cast<double>(factor)) +
        static_cast<double>(run.stepBytes);
    if (run.averageGBps && factor + run.stepBytes > 1 && run.maxBytes > 0 &&
        next <= static_cast<double>(run.maxBytes))
    {
        return "has sizes up to " + std::to_string(most->bytes) + " bytes, and says maxBytes " +
               std::to_string(run.maxBytes) + ": lines are missing, or the file was edited";
    }
    return "";
}

} // namespace

std::vector<std::string>
FindDoubts(const NcclTestsTable& table, const NcclTestsRun& run)
{
    std::vector<std::string> doubts;
    for (const NcclTestsRow& row : table.rows)
    {
        const double wrong = (row.outOfPlace ? row.outOfPlace->wrong.value_or(0) : 0) +
                             (row.inPlace ? row.inPlace->wrong.value_or(0) : 0);
        if (run.countsWrong && wrong > 0)
        {
            std::ostringstream text;
            text << "the run of " << row.bytes << " bytes had " << wrong
                 << " wrong elements: what was timed did not work";
            doubts.push_back(text.str());
        }
    }
    if (run.failed)
    {
        doubts.emplace_back("says 'Out of bounds values ... FAILED': what was timed did not work");
    }
    if (!run.failure.empty())
    {
        doubts.push_back("says " + QuotedText(run.failure) + ": what was timed did not work");
    }
    for (const auto& [rank, lines] : run.ranks)
    {
        if (lines > 1)
        {
            doubts.push_back("has " + std::to_string(lines) + " devices of rank " +
                             std::to_string(rank) + ": lines of several runs?");
            break;
        }
    }
    if (run.ranks.size() < run.CountRanks())
    {
        doubts.push_back("lists " + std::to_string(run.ranks.size()) + " of " +
                         std::to_string(run.CountRanks()) +
                         " ranks: lines are missing; its ranks are taken for " +
                         std::to_string(run.CountRanks()));
    }
    FindInProcesses(run, doubts);
    if (run.groups.size() > 1)
    {
        doubts.push_back("is split into " + std::to_string(run.groups.size()) +
                         " groups (NCCL_TESTS_SPLIT), which run at once, each of a part of the "
                         "ranks; --gpus, --concurrent and --grouping say so");
    }
    if (run.warmUps == 0)
    {
        doubts.emplace_back("is without a warm-up (warmup iters: 0): the first iteration also set "
                            "up connections, which is not simulated");
    }
    if (run.aggregated > 1)
    {
        doubts.push_back("has groups of " + std::to_string(run.aggregated) +
                         " operations (agg iters), launched together; simulated is one by one");
    }
    if (run.isBlocking)
    {
        doubts.emplace_back("waits for each operation before it launches the next (-z, Blocking "
                            "Enabled); simulated are launches one after the other");
    }
    if (run.unaligned > 0)
    {
        doubts.emplace_back("has buffers that are not aligned (unalign), which is slower; those "
                            "that are simulated are");
    }
    if (run.graphs > 0)
    {
        doubts.emplace_back("was launched as a CUDA graph, which takes the host less than what is "
                            "simulated; --launchMode=stream is a host that costs nothing");
    }
    const std::set<std::string> variables = run.GetVariables();
    std::string ofTests; // not read by NCCL, but by nccl-tests
    for (const std::string& setting : run.settings)
    {
        if (variables.count(setting) == 0)
        {
            AppendName(ofTests, ShownName(setting));
        }
    }
    if (!ofTests.empty())
    {
        doubts.push_back("was run with " + ofTests + ", which is not taken over");
    }
    for (const std::string& column : run.unread)
    {
        doubts.push_back("has a column " + ShownName(column) + ", which is not read");
    }
    FindInRows(table, doubts);
    if (const std::string lost = FindLostSizes(table, run); !lost.empty())
    {
        doubts.push_back(lost);
    }
    if (run.averageGBps)
    {
        if (const std::string other = FindOtherAverage(table, *run.averageGBps); !other.empty())
        {
            doubts.push_back(other);
        }
    }
    return doubts;
}

std::string
FindMismatch(const NcclTestsTable& table, double busFactor, bool hasSums)
{
    constexpr double LEAST_GBPS = 1;   // whose two digits behind the point are enough
    constexpr double TOLERANCE = 0.03; // of numbers of three digits
    for (const NcclTestsRow& row : table.rows)
    {
        if (hasSums && row.redop == "none")
        {
            return "redop is none in its lines";
        }
        const auto& timing = row.outOfPlace;
        if (!timing || timing->algbwGBps.value_or(0) < LEAST_GBPS || !timing->busbwGBps)
        {
            continue;
        }
        const double factor = *timing->busbwGBps / *timing->algbwGBps;
        if (std::abs(factor - busFactor) > TOLERANCE * busFactor)
        {
            std::ostringstream text;
            text << std::setprecision(3) << "busbw is " << factor << " times algbw in its line of "
                 << row.bytes << " bytes, not " << busFactor << " times";
            return text.str();
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
