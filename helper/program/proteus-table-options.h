/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TABLE_OPTIONS_H
#define PROTEUS_TABLE_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"

#include "ns3/proteus-table.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Options of all programs with results: tables as one JSON file, and as CSV files.
 */
struct TableOptions
{
    CommandLineText json;   //!< file for all tables, if not empty
    CommandLineText folder; //!< for all tables, if not empty

    /// @param command to add --json and --tables to
    void AddTo(OptionList& command);

    /// @return whether there is nothing to write
    bool IsEmpty() const
    {
        return json.empty() && folder.empty();
    }

    /// @throw std::invalid_argument if a file cannot be written
    void Check() const;

    /**
     * @param name of a table
     * @return path of its CSV file in the folder
     */
    std::string GetPath(const std::string& name) const;

    /// @param more that the program has to say
    /// @return what is approximated, warned of, or not honoured, in the run until now, as a table
    Table MakeNotes(const std::vector<std::string>& more = {}) const;

    /**
     * Writes the files that are asked for, and warns of CSV files that were in the folder before
     * and are still as they were.
     * @param tables all there are; those that somebody else writes are there already
     * @throw std::invalid_argument if a file cannot be written
     */
    void Write(const std::vector<Table>& tables) const;

  private:
    /// See Write().
    void WarnOfOlder() const;

    const OptionList* m_command{nullptr}; //!< that has them; it knows the configuration of the run
    /// Begin of the run; times of files lag behind the clock by a tick of the system.
    std::filesystem::file_time_type m_begin{std::filesystem::file_time_type::clock::now() -
                                            std::chrono::milliseconds(20)};
};

/**
 * @ingroup proteus
 * @param folder to be there from now on
 * @throw std::invalid_argument if it cannot
 */
void MakeFolder(const std::string& folder);

/// @ingroup proteus
/// A single value.
struct Quantity
{
    std::string name; //!< what, e.g. "last byte"
    Cell value;       //!< a number, or text
    std::string unit; //!< of the number
};

/**
 * @ingroup proteus
 * A table of single values.
 * @param name as files write it
 * @param title e.g. "Summary"
 * @param description a sentence
 * @param quantities the rows
 * @return the table: quantity, value, unit
 */
Table MakeQuantityTable(const std::string& name,
                        const std::string& title,
                        const std::string& description,
                        const std::vector<Quantity>& quantities = {});

/// @ingroup proteus
/// @param notes on the job, options and files @return them as a table
Table MakeNoteTable(const std::vector<std::string>& notes = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TABLE_OPTIONS_H
