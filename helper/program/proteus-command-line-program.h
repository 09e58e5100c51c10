/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMAND_LINE_PROGRAM_H
#define PROTEUS_COMMAND_LINE_PROGRAM_H

#include "proteus-option-list.h"
#include "proteus-program-options.h"

#include "ns3/proteus-table.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What the programs of examples/ have in common: options are added and read, the program runs, and
 * an error becomes one line. From the construction on, the resolution of simulated time is a
 * picosecond.
 */
class CommandLineProgram
{
  public:
    /// @param workloads the folder workloads/, with models, measurements and so on
    explicit CommandLineProgram(std::string workloads);
    virtual ~CommandLineProgram() = default;

    CommandLineProgram(const CommandLineProgram&) = delete;
    CommandLineProgram& operator=(const CommandLineProgram&) = delete;

    /// The body of main(). @param argc its argument @param argv its argument @return the exit code
    int Main(int argc, char* argv[]);

    /// For what runs programs: adds the program's options to a list, whose variables are those of
    /// this object. @param command to add to
    void AddOptionsTo(OptionList& command)
    {
        AddTo(command);
    }

  protected:
    /// @return name of the program, e.g. "proteus-run"
    virtual std::string GetName() const = 0;
    /// @param command to say the usage to, and to add all options to
    virtual void AddTo(OptionList& command) = 0;
    /// @return the options that remember the command line for reports, or null
    virtual ProgramOptions* GetRunOptions();
    /// @return how servers are joined, of a program that sends packets without GetRunOptions(), or
    /// null
    virtual const FabricFlags* GetFabric() const;
    /// @return makes the cluster of such a program with other options of fabrics, or is empty
    virtual std::function<Cluster(const FabricOptions&)> GetClusterMaker() const;
    /// @return the tables that --json and --tables write, without rows: --columns prints what their
    /// columns mean; none of a program that has no such option
    virtual std::vector<Table> DescribeTables();

    /// @return whether it may execute communication packet by packet, so that it has --repetition
    virtual bool SendsPackets() const
    {
        return true;
    }

    /// @return why this run sends no packets; empty: it sends some
    virtual std::string FindNoPackets();

    /// @return why kernels of this run do not wait for each other; empty: they may
    virtual std::string FindNoJoins();

    /// @return why it runs no simulation itself, so that global values of ns-3 do nothing; empty:
    /// it runs some
    virtual std::string FindNoSimulation() const
    {
        return "";
    }

    /// @return whether its results have the notes of each run; else what executors say of options
    /// that they do not honour is said in the end
    virtual bool PrintsNotes() const
    {
        return false;
    }

    /// @return whether it prints what OptionList::GetNotes() says; else what is to be expected of
    /// its runs is printed in the end
    virtual bool ListsNotes() const
    {
        return PrintsNotes();
    }

    /// @return whether several processes (MPI ranks) can run it together
    virtual bool RunsOnRanks() const
    {
        return false;
    }

    /// Does what the options say.
    virtual void Run() = 0;

    /// @return the folder workloads/
    const std::string& GetWorkloads() const
    {
        return m_workloads;
    }

  private:
    /// Runs the program, and says what came of everything that was typed. @param command with the
    /// options, which have been read @param environment options of that @param hasIdleLog whether
    /// NS_LOG was set, and this build has no logs @param begin no file that this run writes
    /// is older
    void RunTyped(OptionList& command,
                  const std::vector<EnvironmentOption>& environment,
                  bool hasIdleLog,
                  std::filesystem::file_time_type begin);

    std::string m_workloads; //!< folder
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMAND_LINE_PROGRAM_H
