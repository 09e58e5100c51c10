/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-table.h"

#include "ns3/proteus-credit-window.h"
#include "ns3/proteus-tables.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part by which an iteration is below its bound at least.
constexpr double ROUNDING = 1e-6;

/// @param bytes a size @param most stands for none @return the size, or nothing
Cell
MakeSize(uint64_t bytes, uint64_t most)
{
    return bytes == most ? Cell() : Cell(bytes);
}

/// @param ps picoseconds @return seconds
double
ToSeconds(int64_t ps)
{
    return static_cast<double>(ps) * 1e-12;
}

/// What stands in a row of the table.
struct ScheduleRow
{
    const ScheduleResult& row;   //!< of a policy
    const ScheduleResult& first; //!< of the first policy of the same executor
    const ScheduledWork& work;   //!< the job
};

/// @param amount of an iteration @param s its time @return how much in a second; nothing for 0
Cell
MakeRate(uint64_t amount, double s)
{
    return amount > 0 && s > 0 ? Cell(static_cast<double>(amount) / s) : Cell();
}

/// A column of the table, and its head where it is printed; empty: it is not.
struct ScheduleColumn
{
    const char* head;
    Field<ScheduleRow> field;
};

/// @return the columns
const std::vector<ScheduleColumn>&
GetScheduleColumns()
{
    using R = ScheduleRow;
    static const std::vector<ScheduleColumn> columns{
        {"Executor",
         {"executor", "", "how time was found", [](const R& r) { return r.row.executor; }}},
        {"Policy",
         {"policy",
          "",
          "order of communications",
          [](const R& r) { return r.row.settings.policy; }}},
        {"Part",
         {"partition_bytes",
          "B",
          "largest part of a communication",
          [](const R& r) { return MakeSize(r.row.settings.partBytes, ScheduleSettings::WHOLE); }}},
        {"Credit",
         {"credit_bytes",
          "B",
          "bytes under way",
          [](const R& r) {
              return MakeSize(r.row.settings.creditBytes, CreditWindow::UNLIMITED);
          }}},
        {"Classes",
         {"wire_classes",
          "",
          "traffic classes on the wire; 0: the sender alone decides",
          [](const R& r) { return uint64_t{r.row.wireClasses}; }}},
        {"Iteration",
         {"iteration_s",
          "s",
          "median of the iterations after the first",
          [](const R& r) { return ToSeconds(r.row.times.steadyPs); }}},
        {"Speed-up",
         {"speedup",
          "",
          "over the first policy of the executor",
          [](const R& r) {
              return ToSeconds(r.first.times.steadyPs) / ToSeconds(r.row.times.steadyPs);
          }}},
        {"Bound",
         {"bound_s",
          "s",
          "least time of any order, by bandwidth alone",
          [](const R& r) { return r.work.boundS; }}},
        {"Exposed",
         {"exposed_communication_s",
          "s",
          "of an iteration, in which bytes move and a GPU computes nothing; mean over the GPUs",
          [](const R& r) { return r.row.exposedS; }}},
        {"Idle",
         {"link_idle_share",
          "share",
          "of the busiest link, of the run",
          [](const R& r) { return r.row.idle ? Cell(*r.row.idle) : Cell(); }}},
        {"Samples/s",
         {"samples_per_s",
          "1/s",
          "samples of an iteration / iteration_s",
          [](const R& r) {
              return MakeRate(r.work.iteration.samplesPerIteration,
                              ToSeconds(r.row.times.steadyPs));
          }}},
        {"",
         {"tokens_per_s",
          "1/s",
          "tokens of an iteration / iteration_s",
          [](const R& r) {
              return MakeRate(r.work.iteration.tokensPerIteration, ToSeconds(r.row.times.steadyPs));
          }}},
        {"",
         {"linear_samples_per_s",
          "1/s",
          "the same if kernels were all: what as many GPUs alone come to together",
          [](const R& r) {
              return MakeRate(r.work.iteration.samplesPerIteration, r.work.computeS);
          }}},
        {"",
         {"linear_tokens_per_s",
          "1/s",
          "the same for tokens",
          [](const R& r) {
              return MakeRate(r.work.iteration.tokensPerIteration, r.work.computeS);
          }}},
    };
    return columns;
}

/// @param cell to show @param unit of its column @return it as people read it
std::string
Show(const Cell& cell, const std::string& unit)
{
    if (const auto* text = std::get_if<std::string>(&cell))
    {
        return *text;
    }
    if (const auto* number = std::get_if<uint64_t>(&cell))
    {
        return unit == "B" ? FormatBytes(static_cast<double>(*number)) : std::to_string(*number);
    }
    const auto* number = std::get_if<double>(&cell);
    return number == nullptr ? "-"
           : unit == "s"     ? FormatTime(*number)
           : unit == "share" ? FormatPercent(*number, 3)
           : unit == "1/s"   ? FormatNumber(*number, 0)
                             : FormatNumber(*number, 3);
}

} // namespace

Table
MakeScheduleTable(const ScheduledWork& work, const std::vector<ScheduleResult>& rows)
{
    TableLayout<ScheduleRow> layout{"schedules",
                                    "Schedules",
                                    "Steady iteration time by policy.",
                                    {}};
    for (const ScheduleColumn& column : GetScheduleColumns())
    {
        layout.fields.push_back(column.field);
    }
    std::vector<ScheduleRow> shown;
    const ScheduleResult* first = nullptr;
    for (const ScheduleResult& row : rows)
    {
        if (!first || first->executor != row.executor)
        {
            first = &row;
        }
        shown.push_back({row, *first, work});
    }
    return layout.Make(shown);
}

std::vector<std::string>
ListBelowBound(const ScheduledWork& work, const std::vector<ScheduleResult>& results)
{
    std::vector<std::string> executors;
    for (const ScheduleResult& row : results)
    {
        if (!row.idle && ToSeconds(row.times.steadyPs) < work.boundS * (1 - ROUNDING) &&
            std::find(executors.begin(), executors.end(), row.executor) == executors.end())
        {
            executors.push_back(row.executor);
        }
    }
    std::vector<std::string> notes;
    notes.reserve(executors.size());
    for (const std::string& executor : executors)
    {
        notes.push_back(executor + ": some iterations take less than the bound, as communications "
                                   "that are under way together do not share links there");
    }
    return notes;
}

void
PrintScheduleTable(const Table& table, std::ostream& out)
{
    std::vector<std::vector<std::string>> lines(1);
    for (const ScheduleColumn& column : GetScheduleColumns())
    {
        if (*column.head != '\0')
        {
            lines[0].emplace_back(column.head);
        }
    }
    for (const auto& row : table.rows)
    {
        lines.emplace_back();
        for (std::size_t i = 0; i < lines[0].size(); ++i) // those with a head stand first
        {
            lines.back().push_back(Show(row[i], table.columns[i].unit));
        }
    }
    out << FormatTable(lines, "llrrrrrrrrr");
}

} // namespace proteus
} // namespace ns3
