/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-result.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-gpu-sharing.h"
#include "ns3/proteus-graph-kinds.h"
#include "ns3/proteus-plural.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// A column of a summary, and where it is there.
struct SummaryColumn
{
    Column column;
    std::function<Cell(const Json&)> find;
};

/// @return a value of a summary as a cell
Cell
ToCell(const Json& json)
{
    switch (json.type())
    {
    case Json::value_t::string:
        return json.get<std::string>();
    case Json::value_t::number_unsigned:
        return json.get<uint64_t>();
    case Json::value_t::number_integer:
        return json.get<int64_t>();
    case Json::value_t::number_float:
        return json.get<double>();
    case Json::value_t::boolean:
        return std::string(json.get<bool>() ? "true" : "false");
    default:
        return {};
    }
}

/// @return a column that stands in the summary under its own name
SummaryColumn
Plain(const std::string& name, const std::string& unit, const std::string& meaning)
{
    return {{name, unit, meaning},
            [name](const Json& json) { return json.contains(name) ? ToCell(json[name]) : Cell(); }};
}

/// @return a column that stands in an object of the summary
SummaryColumn
Inner(const std::string& object, const std::string& name, const std::string& meaning)
{
    return {{name, "", meaning}, [object, name](const Json& json) {
                return json.contains(object) && json[object].contains(name)
                           ? ToCell(json[object][name])
                           : Cell();
            }};
}

/// @return a column of the first element of a list of the summary
SummaryColumn
First(const std::string& list, const std::string& key, const Column& column)
{
    return {column, [list, key](const Json& json) {
                return json.contains(list) && !json[list].empty() && json[list][0].contains(key)
                           ? ToCell(json[list][0][key])
                           : Cell();
            }};
}

/// @return the collective that takes most time, in words
Cell
NameCollective(const Json& json)
{
    if (!json.contains("collectives") || json["collectives"].empty())
    {
        return {};
    }
    const Json& use = json["collectives"][0];
    const auto parallelism = use.at("parallelism").get<std::string>();
    return use.at("collective").get<std::string>() +
           (parallelism == ToString(Parallelism::NONE) ? "" : " for " + parallelism) + ", " +
           use.at("bytes").dump() + " B, " + FormatThings(use.at("ranks").get<uint64_t>(), "rank") +
           " in " + FormatThings(use.at("servers").get<uint64_t>(), "server");
}

/// @return a column that has the least or the greatest value among the jobs of a scenario
SummaryColumn
Extreme(const std::string& key, bool isMost, const Column& column)
{
    return {column, [key, isMost](const Json& json) {
                std::vector<double> values;
                for (const Json& job : json.value("jobs", Json::array()))
                {
                    const Json value = job.value(key, Json());
                    if (value.is_number())
                    {
                        values.push_back(value.get<double>());
                    }
                }
                if (values.empty())
                {
                    return Cell();
                }
                const auto [least, most] = std::minmax_element(values.begin(), values.end());
                return Cell(isMost ? *most : *least);
            }};
}

/// @param json summary of a run @param notes get its own, and of what does not fit or was lost
void
AddNotesOfSummary(const Json& json, std::set<std::string>& notes)
{
    const auto found = json.find("notes");
    for (const Json& note : found == json.end() ? Json::array() : *found)
    {
        if (note.is_string() && !IsSharingNote(note.get<std::string>()))
        {
            notes.insert(note.get<std::string>());
        }
    }
    if (json.value("out_of_memory", Json()) == true)
    {
        notes.insert("a GPU needs more memory than it has (column out_of_memory)");
    }
    const Json losses = json.value("losses", Json::object());
    const std::vector<const char*> kinds{"lost_packets",
                                         "dropped_packets",
                                         "repeated_packets",
                                         "timeouts"};
    std::string lost;
    for (const char* kind : kinds)
    {
        const Json number = losses.is_object() ? losses.value(kind, Json()) : Json();
        if (number.is_number() && number != 0)
        {
            AppendName(lost, kind);
        }
    }
    if (!lost.empty())
    {
        notes.insert("packets did not arrive, or were sent again (columns " + lost + ")");
    }
}

/// @param tables of a program @param notes get all that stand there: in a table of notes, or as
/// facts on the run
void
AddNotesOfTables(const Json& tables, std::set<std::string>& notes)
{
    for (const auto& [name, table] : tables.items())
    {
        const Json rows = table.is_object() ? table.value("rows", Json::array()) : Json::array();
        for (const Json& row : rows)
        {
            if (!row.is_object())
            {
                continue;
            }
            const bool isFact = std::any_of(row.begin(), row.end(), [](const Json& cell) {
                return cell == "note";
            });
            const Json note = row.value(isFact ? "value" : "note", Json());
            if (note.is_string() && (name == "notes" || isFact))
            {
                notes.insert(note.get<std::string>());
            }
        }
    }
}

/// @return the remarks of a run, one after the other
Cell
JoinNotes(const Json& json)
{
    std::string notes;
    for (const Json& note : json.value("notes", Json::array()))
    {
        notes += (notes.empty() ? "" : "; ") + note.get<std::string>();
    }
    return notes;
}

/// @return what is taken from a summary. Wall time is not: it differs from run to run.
const std::vector<SummaryColumn>&
GetSummaryLayout()
{
    static const std::vector<SummaryColumn> columns{
        Plain("iteration_s", "s", "from the start of the run to the end of the last task"),
        Plain("tokens_per_s", "1/s", "tokens per second"),
        Plain("samples_per_s", "1/s", "samples per second"),
        Plain("model_flop_utilisation", "share", "model FLOPs over the peak of all GPUs"),
        Plain("devices", "", "GPUs that the job uses"),
        Plain("compute_s", "s", "a compute task runs, mean of the GPUs"),
        Plain("exposed_communication_s", "s", "bytes move and nothing is computed, mean"),
        Plain("waiting_for_peers_s", "s", "other ranks are waited for, mean"),
        Plain("bubble_s", "s", "another pipeline stage is waited for, mean"),
        Plain("host_s", "s", "the host is waited for, mean"),
        Plain("idle_s", "s", "none of these, mean"),
        Plain("communication_s", "s", "some communication is under way, mean"),
        Plain("peak_memory_bytes", "B", "of the fullest GPU"),
        Plain("out_of_memory", "", "whether a GPU needs more memory than it has"),
        Plain("packets", "", "data packets sent; packet level"),
        Plain("packet_hops", "", "links crossed by packets; packet level"),
        Inner("losses", "lost_packets", "packets lost on links"),
        Inner("losses", "dropped_packets", "packets dropped by switches"),
        Inner("losses", "repeated_packets", "packets sent again"),
        Inner("losses", "timeouts", "retransmission timers that ran out"),
        Inner("losses", "pauses", "pauses of PFC"),
        Inner("losses", "marked_packets", "packets with a congestion mark"),
        First("busiest_links", "name", {"busiest_link", "", "the link with most to do"}),
        First("busiest_links",
              "utilisation",
              {"busiest_link_share", "share", "part of the time that it is busy"}),
        {{"longest_collective", "", "the kind of collective that takes most time"}, NameCollective},
        First("collectives", "count", {"longest_collective_count", "", "how many of it"}),
        First("collectives", "mean_s", {"longest_collective_mean_s", "s", "time of one, mean"}),
        First("collectives",
              "busbw_bytes_per_s",
              {"longest_collective_busbw_bytes_per_s", "B/s", "its bus bandwidth"}),
        First("jobs",
              "slowdown",
              {"job_slowdown", "", "of a scenario: time of the program's job over that alone"}),
        Extreme(
            "slowdown",
            true,
            {"worst_slowdown", "", "of a scenario: the same, of the job that is slowed down most"}),
        First("jobs",
              "network_busbw_bytes_per_s",
              {"job_busbw_bytes_per_s",
               "B/s",
               "of a scenario: bus bandwidth of the program's job between servers"}),
        Extreme("network_busbw_bytes_per_s",
                false,
                {"least_job_busbw_bytes_per_s",
                 "B/s",
                 "of a scenario: the same, of the job that has least"}),
        Extreme("network_busbw_bytes_per_s",
                true,
                {"most_job_busbw_bytes_per_s",
                 "B/s",
                 "of a scenario: the same, of the job that has most"}),
        Plain("congestion", "", "which link is to blame"),
        {{"notes", "", "what was set and not honoured"}, JoinNotes}};
    return columns;
}

/// What a program wrote, row by row: the executor, and a cell per column.
struct Output
{
    std::vector<Column> columns;
    std::vector<std::pair<std::string, std::vector<Cell>>> rows;
};

/// @return rows of a summary, or of several by executor
Output
ReadSummary(const Json& json, const StudyPoint& point)
{
    Output output;
    output.columns = GetSummaryColumns();
    const auto add = [&](const std::string& executor, const Json& summary) {
        std::vector<Cell> cells;
        for (const SummaryColumn& column : GetSummaryLayout())
        {
            cells.push_back(column.find(summary));
        }
        output.rows.emplace_back(executor, std::move(cells));
    };
    if (json.contains("iteration_s"))
    {
        const auto executor = point.options.find("executor");
        add(executor == point.options.end() ? "packet" : executor->second, json);
        return output;
    }
    for (const auto& [executor, summary] : json.items())
    {
        add(executor, summary);
    }
    return output;
}

/// @return the name of a quantity as a column has it
std::string
ToColumnName(const std::string& quantity, const std::string& unit)
{
    std::string name = quantity + (unit.empty() ? "" : " " + unit);
    std::replace_if(
        name.begin(),
        name.end(),
        [](char c) { return c == ' ' || c == '-' || c == '/'; },
        '_');
    return name;
}

/// @return a table of quantities as one row
Output
Transpose(const Json& rows)
{
    Output output;
    std::vector<Cell> cells;
    for (const Json& row : rows)
    {
        if (row.at("quantity") == "wall time")
        {
            continue; // differs from run to run
        }
        const std::string unit = ToText(ToCell(row.at("unit")));
        const std::string quantity = row.at("quantity").get<std::string>();
        output.columns.push_back({ToColumnName(quantity, unit), unit, quantity});
        cells.push_back(ToCell(row.at("value")));
    }
    output.rows.emplace_back("", std::move(cells));
    return output;
}

/// @return whether a row has all values of a filter
bool
HasAll(const Json& row, const StudyFilter& filter)
{
    return std::all_of(filter.begin(), filter.end(), [&row](const auto& wanted) {
        return row.contains(wanted.first) && ToText(ToCell(row[wanted.first])) == wanted.second;
    });
}

/// @param study whose 'row' names columns @param columns that there are
/// @throw std::invalid_argument if it names others
void
CheckRowColumns(const Study& study, const std::vector<Column>& columns)
{
    Table table;
    table.columns = columns;
    for (const auto& [name, value] : study.row)
    {
        try
        {
            FindColumn(table, name);
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument("'row' of the study: " + std::string(error.what()));
        }
    }
}

/// @return the row of a table that a study asks for
Output
ReadTable(const Json& json, const Study& study)
{
    const Json& tables = json.at("tables");
    if (!tables.contains(study.table))
    {
        std::string names;
        for (const auto& [name, table] : tables.items())
        {
            AppendName(names, name);
        }
        throw std::invalid_argument("it has no table '" + study.table + "', but " + names);
    }
    const Json& table = tables[study.table];
    Output output;
    for (const Json& column : table.at("columns"))
    {
        output.columns.push_back({column.at("name"), column.at("unit"), column.at("description")});
    }
    if (study.row.empty() && output.columns.size() == 3 && output.columns[0].name == "quantity")
    {
        return Transpose(table.at("rows"));
    }
    CheckRowColumns(study, output.columns);
    for (const Json& row : table.at("rows"))
    {
        if (!HasAll(row, study.row))
        {
            continue;
        }
        std::vector<Cell> cells;
        for (const Column& column : output.columns)
        {
            cells.push_back(ToCell(row.at(column.name)));
        }
        output.rows.emplace_back("", std::move(cells));
    }
    if (output.rows.size() != 1)
    {
        throw std::invalid_argument("its table '" + study.table + "' has " +
                                    std::to_string(output.rows.size()) +
                                    " rows as 'row' of the study wants it, not one");
    }
    return output;
}

/// @return what a program wrote
Output
ReadOutput(const Study& study, const StudyPoint& point, const StudyResult& result)
{
    try
    {
        const Json json = Json::parse(result.output);
        return study.table.empty() ? ReadSummary(json, point) : ReadTable(json, study);
    }
    catch (const std::exception& error)
    {
        throw std::invalid_argument("point " + std::to_string(point.number) + ": result of " +
                                    study.program + ": " + error.what());
    }
}

/// Appends the first cells of a row: point, axes, executor, status, error.
void
AddRow(Table& table, const StudyPoint& point, const std::string& executor, const std::string& error)
{
    std::vector<Cell> row{uint64_t{point.number}};
    row.insert(row.end(), point.labels.begin(), point.labels.end());
    row.emplace_back(executor);
    row.emplace_back(std::string(error.empty() ? "ok" : "failed"));
    row.emplace_back(error);
    table.rows.push_back(std::move(row));
}

/// What programs wrote at all points. One point may have quantities that another lacks.
struct Cells
{
    std::vector<Column> columns; //!< of any point
    std::vector<std::pair<std::size_t, std::vector<Cell>>>
        rows; //!< position of the point, and its
              //!< cells; it may lack the last ones

    /// @param point its position @param names columns of its cells @param row the cells
    void Add(std::size_t point, const std::vector<Column>& names, const std::vector<Cell>& row)
    {
        std::vector<Cell> ordered(columns.size());
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            const auto place = std::find_if(columns.begin(), columns.end(), [&](const Column& c) {
                return c.name == names[i].name;
            });
            const auto position = static_cast<std::size_t>(place - columns.begin());
            if (place == columns.end())
            {
                columns.push_back(names[i]);
                ordered.resize(columns.size());
            }
            ordered[position] = row[i];
        }
        rows.emplace_back(point, std::move(ordered));
    }
};

/// @return the columns of a study before those of its program
std::vector<Column>
GetPointColumns(const Study& study)
{
    std::vector<Column> columns{{"point", "", "number of the point in the study"}};
    for (const StudyAxis& axis : study.axes)
    {
        columns.push_back({axis.name, "", "value of the axis " + axis.name});
    }
    columns.push_back({"executor", "", "how finely time is resolved, where the program has them"});
    columns.push_back({STUDY_STATUS, "", "ok, or failed: the program refused the point"});
    columns.push_back({"error", "", "why it did"});
    return columns;
}

} // namespace

std::vector<Column>
GetBillColumns()
{
    return {{"network_switches", "", "network switches"},
            {"network_ports", "", "ports of them in use, of the rate of a NIC"},
            {"network_cables", "", "cables of the network, of the rate of a NIC"},
            {"network_price", "", "of network and NICs, in the currency of the table of prices"},
            {"network_power_w", "W", "of network and NICs"}};
}

std::vector<Column>
GetSummaryColumns()
{
    std::vector<Column> columns;
    for (const SummaryColumn& column : GetSummaryLayout())
    {
        columns.push_back(column.column);
    }
    return columns;
}

NoteCounts
CountNotes(const std::vector<StudyResult>& results)
{
    NoteCounts counts;
    for (const StudyResult& result : results)
    {
        const Json output = Json::parse(result.output, nullptr, false);
        if (!output.is_object())
        {
            continue; // it has not run, or names no notes
        }
        std::set<std::string> notes;
        AddNotesOfSummary(output, notes);
        for (const auto& [executor, summary] : output.items()) // of several, one each
        {
            if (executor == "tables" && summary.is_object())
            {
                AddNotesOfTables(summary, notes);
            }
            else if (summary.is_object())
            {
                AddNotesOfSummary(summary, notes);
            }
        }
        for (const std::string& note : notes)
        {
            counts.Add(note);
        }
    }
    return counts;
}

Table
MakeStudyTable(const Study& study,
               const std::vector<StudyPoint>& points,
               const std::vector<StudyResult>& results)
{
    Table table{"points", study.name, "A row per point and executor.", {}, {}};
    Cells cells;
    if (study.table.empty())
    {
        cells.columns = GetSummaryColumns();
    }
    for (std::size_t i = 0; i < points.size(); ++i)
    {
        const StudyResult& result = results[i];
        if (!result.isDone)
        {
            continue;
        }
        if (!result.error.empty())
        {
            AddRow(table, points[i], "", result.error);
            cells.rows.emplace_back(i, std::vector<Cell>());
            continue;
        }
        Output output = ReadOutput(study, points[i], result);
        for (auto& [executor, row] : output.rows)
        {
            AddRow(table, points[i], executor, "");
            cells.Add(i, output.columns, row);
        }
    }
    table.columns = GetPointColumns(study);
    table.columns.insert(table.columns.end(), cells.columns.begin(), cells.columns.end());
    const std::vector<Column> bill = GetBillColumns();
    table.columns.insert(table.columns.end(), bill.begin(), bill.end());
    for (std::size_t r = 0; r < cells.rows.size(); ++r)
    {
        auto& [point, found] = cells.rows[r];
        found.resize(cells.columns.size());
        std::vector<Cell>& row = table.rows[r];
        row.insert(row.end(), found.begin(), found.end());
        std::vector<Cell> amounts = results[point].bill;
        amounts.resize(bill.size());
        row.insert(row.end(), amounts.begin(), amounts.end());
    }
    return table;
}

std::size_t
FindColumn(const Table& table, const std::string& name)
{
    std::string names;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
    {
        if (table.columns[i].name == name)
        {
            return i;
        }
        AppendName(names, table.columns[i].name);
    }
    throw std::invalid_argument("there is no column '" + name + "'; there are " + names);
}

std::optional<double>
ToNumber(const Cell& cell)
{
    if (const auto* real = std::get_if<double>(&cell))
    {
        return *real;
    }
    if (const auto* whole = std::get_if<uint64_t>(&cell))
    {
        return static_cast<double>(*whole);
    }
    if (const auto* signedWhole = std::get_if<int64_t>(&cell))
    {
        return static_cast<double>(*signedWhole);
    }
    return {};
}

std::string
ToText(const Cell& cell)
{
    return std::visit(
        [](const auto& value) -> std::string {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>)
            {
                return "";
            }
            else if constexpr (std::is_same_v<Value, std::string>)
            {
                return value;
            }
            else
            {
                return Json(value).dump();
            }
        },
        cell);
}

} // namespace proteus
} // namespace ns3
