/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-report.h"

#include "proteus-tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12;
constexpr double GIGA = 1e9;

/// @return of the collectives between servers the kind that takes most time, or null
const CollectiveUse*
FindNetworkCollective(const Summary& summary)
{
    for (const CollectiveUse& use : summary.collectives)
    {
        if (use.servers > 1)
        {
            return &use;
        }
    }
    return nullptr;
}

/// @param job after a run @return its bus bandwidth between servers, bytes/s, if it has one
std::optional<double>
FindBusBandwidth(const JobOutcome& job)
{
    const CollectiveUse* const use = FindNetworkCollective(job.summary);
    return use && use->busBytesPerS > 0 ? std::optional<double>(use->busBytesPerS) : std::nullopt;
}

/// @param job after a run @return how many times as long as alone it took, if that is known
std::optional<double>
FindSlowdown(const JobOutcome& job)
{
    return job.aloneS && *job.aloneS > 0
               ? std::optional<double>(job.summary.iterationS / *job.aloneS)
               : std::nullopt;
}

Cell
ToCell(const std::optional<double>& value)
{
    return value ? Cell(*value) : Cell();
}

/// What messages of a pattern came to.
struct MessageTimes
{
    uint64_t messages{0};
    uint64_t arrived{0};
    uint64_t bytes{0};           //!< of those that arrived
    std::vector<double> seconds; //!< of those that arrived, ascending
};

MessageTimes
Collect(const TrafficOutcome& run, std::size_t pattern)
{
    MessageTimes times;
    for (const TrafficRecord& record : run.traffic)
    {
        if (record.source != pattern)
        {
            continue;
        }
        ++times.messages;
        if (record.receivedPs >= 0)
        {
            ++times.arrived;
            times.bytes += record.bytes;
            times.seconds.push_back(static_cast<double>(record.receivedPs - record.startPs) * PS);
        }
    }
    std::sort(times.seconds.begin(), times.seconds.end());
    return times;
}

/// @return the time that a part of all messages does not exceed, nothing if there is none
std::optional<double>
FindPercentile(const std::vector<double>& seconds, double part)
{
    if (seconds.empty())
    {
        return {};
    }
    const double place = part * static_cast<double>(seconds.size() - 1);
    return seconds[static_cast<std::size_t>(place + 0.5)];
}

std::string
FormatOptional(const std::optional<double>& value, int decimals)
{
    return value ? FormatNumber(*value, decimals) : "";
}

} // namespace

Table
MakeJobTable(const std::vector<JobOutcome>& jobs)
{
    Table table{
        "jobs",
        "Jobs",
        "A row per job of the scenario. Alone: on the same GPUs, without neighbours, traffic "
        "and events.",
        {{"executor", "", "who ran it"},
         {"job", "", "its name"},
         {"gpus", "", "that it has"},
         {"servers", "", "that these are in"},
         {"iterations", "", "that it ran"},
         {"start_s", "s", "when it began"},
         {"time_s", "s", "how long it took, all iterations together"},
         {"alone_s", "s", "how long it takes alone"},
         {"slowdown", "", "time over time alone"},
         {"exposed_communication_s", "s", "bytes move and nothing is computed, mean"},
         {"network_busbw_bytes_per_s",
          "B/s",
          "bus bandwidth of its collectives between servers, of the kind that takes most "
          "time"}},
        {}};
    for (const JobOutcome& job : jobs)
    {
        table.rows.push_back({job.executor,
                              job.name,
                              uint64_t{job.summary.devices},
                              uint64_t{job.servers},
                              uint64_t{job.iterations},
                              job.startS,
                              job.summary.iterationS,
                              ToCell(job.aloneS),
                              ToCell(FindSlowdown(job)),
                              job.summary.mean.exposedCommunicationS,
                              ToCell(FindBusBandwidth(job))});
    }
    return table;
}

Table
MakeTrafficTable(const std::vector<TrafficOutcome>& runs)
{
    Table table{"traffic",
                "Background traffic",
                "A row per source of traffic of the scenario.",
                {{"executor", "", "who ran it"},
                 {"traffic", "", "its name"},
                 {"messages", "", "that began"},
                 {"arrived", "", "of which the last byte has arrived; others had no way"},
                 {"bytes", "B", "payload of those"},
                 {"mean_s", "s", "from start to the last byte, mean"},
                 {"median_s", "s", "the same, median"},
                 {"p99_s", "s", "the same, that 99 % do not exceed"},
                 {"longest_s", "s", "the same, longest"}},
                {}};
    for (const TrafficOutcome& run : runs)
    {
        for (std::size_t i = 0; i < run.plan.traffic.size(); ++i)
        {
            const MessageTimes times = Collect(run, i);
            double sum = 0;
            for (const double seconds : times.seconds)
            {
                sum += seconds;
            }
            table.rows.push_back(
                {run.executor,
                 run.plan.traffic[i].name,
                 times.messages,
                 times.arrived,
                 times.bytes,
                 times.arrived > 0 ? Cell(sum / static_cast<double>(times.arrived)) : Cell(),
                 ToCell(FindPercentile(times.seconds, 0.5)),
                 ToCell(FindPercentile(times.seconds, 0.99)),
                 ToCell(FindPercentile(times.seconds, 1))});
        }
    }
    return table;
}

void
PrintScenario(const std::vector<JobOutcome>& jobs,
              const std::vector<TrafficOutcome>& runs,
              std::ostream& out)
{
    std::vector<std::vector<std::string>> rows{{"job",
                                                "executor",
                                                "GPUs",
                                                "servers",
                                                "start",
                                                "time",
                                                "alone",
                                                "slow-down",
                                                "busbw GB/s"}};
    for (const JobOutcome& job : jobs)
    {
        const auto busBandwidth = FindBusBandwidth(job);
        rows.push_back({job.name,
                        job.executor,
                        std::to_string(job.summary.devices),
                        std::to_string(job.servers),
                        FormatTime(job.startS),
                        FormatTime(job.summary.iterationS),
                        job.aloneS ? FormatTime(*job.aloneS) : "",
                        FormatOptional(FindSlowdown(job), 4),
                        busBandwidth ? FormatNumber(*busBandwidth / GIGA, 2) : ""});
    }
    out << "\nJobs (alone: on the same GPUs, without neighbours, traffic and events; busbw: of the "
           "collectives\nbetween servers that take most time)\n"
        << FormatTable(rows, "llr");
    const Table traffic = MakeTrafficTable(runs);
    if (traffic.rows.empty())
    {
        return;
    }
    rows = {{"traffic",
             "executor",
             "messages",
             "arrived",
             "payload",
             "mean",
             "median",
             "99 %",
             "longest"}};
    const auto time = [](const Cell& cell) {
        const auto* seconds = std::get_if<double>(&cell);
        return seconds ? FormatTime(*seconds) : std::string();
    };
    for (const auto& row : traffic.rows)
    {
        rows.push_back({std::get<std::string>(row[1]),
                        std::get<std::string>(row[0]),
                        FormatCount(std::get<uint64_t>(row[2])),
                        FormatCount(std::get<uint64_t>(row[3])),
                        FormatBytes(static_cast<double>(std::get<uint64_t>(row[4]))),
                        time(row[5]),
                        time(row[6]),
                        time(row[7]),
                        time(row[8])});
    }
    out << "\nBackground traffic, times from a message's start to its last byte\n"
        << FormatTable(rows, "llr");
}

std::string
AddToSummary(const std::string& summary,
             const std::vector<Table>& tables,
             const std::string& executor)
{
    using Json = nlohmann::ordered_json;
    if (tables.empty())
    {
        return summary;
    }
    Json json = Json::parse(summary);
    for (const Table& table : tables)
    {
        Json list = Json::array();
        for (const auto& row : table.rows)
        {
            Json object = Json::object();
            bool isOwn = false;
            for (std::size_t i = 0; i < row.size(); ++i)
            {
                std::visit(
                    [&](const auto& value) {
                        using Value = std::decay_t<decltype(value)>;
                        if constexpr (std::is_same_v<Value, std::monostate>)
                        {
                            object[table.columns[i].name] = nullptr;
                        }
                        else
                        {
                            object[table.columns[i].name] = value;
                        }
                    },
                    row[i]);
                isOwn = isOwn || (table.columns[i].name == "executor" &&
                                  object[table.columns[i].name] == executor);
            }
            object.erase("executor");
            if (isOwn)
            {
                list.push_back(std::move(object));
            }
        }
        json[table.name] = std::move(list);
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace proteus
} // namespace ns3
