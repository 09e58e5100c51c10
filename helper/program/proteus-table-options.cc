/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-table-options.h"

#include "proteus-stop-signals.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-output-follower.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <filesystem>
#include <set>
#include <system_error>

namespace ns3
{
namespace proteus
{

void
MakeFolder(const std::string& folder)
{
    if (OutputFollower::IsThere())
    {
        return; // whoever writes into it makes it
    }
    OutputPlan::AddFolder(folder); // gone again if the program ends and nothing is in it
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder))
    {
        throw OutputError(folder,
                          "no folder can be made of that name" +
                              (error ? ": " + error.message() : ""));
    }
}

void
TableOptions::AddTo(OptionList& command)
{
    m_command = &command;
    command.AddOutput("json", "write all results to this file, as tables in JSON", json, ".json");
    command.AddFolder("tables", "write all results to this folder, a CSV file per table", folder);
    command.AddParts("tables", R"(/[^/]+\.csv)"); // of a program that does not list them
}

void
TableOptions::Check() const
{
    if (!json.empty())
    {
        CheckWritable(json);
    }
    if (!folder.empty())
    {
        MakeFolder(folder);
        CheckWritable(GetPath("run"));
    }
}

std::string
TableOptions::GetPath(const std::string& name) const
{
    return (std::filesystem::path(folder.c_str()) / (name + ".csv")).string();
}

Table
TableOptions::MakeNotes(const std::vector<std::string>& more) const
{
    std::vector<std::string> notes = m_command ? m_command->GetNotes() : std::vector<std::string>();
    notes.insert(notes.end(), more.begin(), more.end());
    return MakeNoteTable(notes);
}

void
TableOptions::Write(const std::vector<Table>& tables) const
{
    if (!json.empty())
    {
        const std::string partial =
            StopSignals::IsObeyed() ? "ended by " + StopSignals::GetName() : "";
        WriteFile(json, [&](std::ostream& out) {
            WriteTablesJson(tables,
                            out,
                            partial,
                            m_command ? m_command->GetConfiguration() : Configuration());
        });
    }
    if (folder.empty())
    {
        return;
    }
    for (const Table& table : tables)
    {
        WriteCsvFile(GetPath(table.name), [&](std::ostream& out) { WriteTableCsv(table, out); });
    }
    WarnOfOlder();
}

void
TableOptions::WarnOfOlder() const
{
    std::set<std::string> older;
    std::error_code none; // what cannot be looked at is not named
    for (const auto& entry : std::filesystem::directory_iterator(folder.c_str(), none))
    {
        const auto written = entry.last_write_time(none);
        if (!none && entry.path().extension() == ".csv" && written < m_begin)
        {
            older.insert(entry.path().filename().string());
        }
    }
    if (older.empty())
    {
        return;
    }
    std::string names;
    for (const std::string& name : older)
    {
        AppendName(names, ShownName(name));
    }
    Warn("--tables=" + folder + ": not of this run, and left as before: " + names);
}

Table
MakeQuantityTable(const std::string& name,
                  const std::string& title,
                  const std::string& description,
                  const std::vector<Quantity>& quantities)
{
    using Q = Quantity;
    const TableLayout<Q> layout{
        name,
        title,
        description,
        {{"quantity", "", "what", [](const Q& q) { return q.name; }},
         {"value", "", "a number, or text", [](const Q& q) { return q.value; }},
         {"unit", "", "of the number", [](const Q& q) { return q.unit; }}}};
    return layout.Make(quantities);
}

Table
MakeNoteTable(const std::vector<std::string>& notes)
{
    const TableLayout<std::string> layout{
        "notes",
        "Notes",
        "What is approximated, warned of, and set but not honoured.",
        {{"note", "", "in words", [](const std::string& note) { return note; }}}};
    return layout.Make(notes);
}

} // namespace proteus
} // namespace ns3
