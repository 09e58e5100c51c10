/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-command-line-program.h"

#include "proteus-attribute-watch.h"
#include "proteus-command-line-text.h"
#include "proteus-environment-options.h"
#include "proteus-heap-pages.h"
#include "proteus-option-attributes.h"
#include "proteus-rank-program.h"
#include "proteus-run-notes.h"
#include "proteus-stop-signals.h"
#include "proteus-study-run.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/global-value.h"
#include "ns3/nstime.h"
#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-packet-network.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-repetition.h"
#include "ns3/proteus-result-tables.h"
#include "ns3/proteus-scenario-report.h"
#include "ns3/proteus-warning.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param name of an attribute of PacketNetwork @return its default, whatever the command line says
Time
GetDefaultTime(const std::string& name)
{
    return ReadBuiltInDefault<TimeValue>(PacketNetwork::GetTypeId(), name).Get();
}

/// @return variables of NCCL in the environment that would change how it communicates, in
/// alphabetical order, separated by commas
std::string
ListNcclVariables()
{
    std::set<std::string> names;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    {
        const std::string text = *entry;
        if (text.compare(0, 5, "NCCL_") == 0 && text.compare(0, 10, "NCCL_DEBUG") != 0)
        {
            names.insert(text.substr(0, text.find('=')));
        }
    }
    return ListNames(names);
}

/// What packet runs do about kernels that begin at slightly different times, and about
/// communications that have been executed before.
class PacketOptions
{
  public:
    /// @param command that gets the options @param findNoPackets @param findNoJoins of the program:
    /// see there
    void AddTo(OptionList& command,
               const std::function<std::string()>& findNoPackets,
               const std::function<std::string()>& findNoJoins)
    {
        command.AddValue("repetition",
                         "what becomes of a communication that has been executed before from the "
                         "same state: on (it gets the same results without being executed), verify "
                         "(it is executed, and a difference ends the run) or off (it is executed)",
                         m_mode);
        command.AddNames("repetition", GetRepetitionModeNames());
        command.AddValue("joinWindow",
                         "kernels of a collective wait less than this time, so that each begins a "
                         "whole number of these times before the last one, and more collectives "
                         "are equal to one before; 0: each begins when it is launched; not given: "
                         "longer for a collective that takes long",
                         m_joinWindow);
        command.AddValue("joinGrid",
                         "kernels of collectives start at the next multiple of this time; 0: at "
                         "any time",
                         m_joinGrid);
        if (!command.Has("threads")) // which also says how many search by flows
        {
            command.AddValue("threads",
                             "long communications that are simulated at a time, each by a process "
                             "of its own (0: as many as the machine has cores)",
                             m_threads);
            command.AddRange("threads", 0, MOST_THREADS);
            command.AddIdle("threads", findNoPackets);
        }
        command.AddIdle("repetition", findNoPackets);
        for (const char* name : {"joinWindow", "joinGrid"})
        {
            command.AddTimeRange(name, Time(0), Seconds(1000));
            command.AddIdle(name, findNoJoins);
        }
        command.AddIdle("joinWindow", []() {
            return AreKernelsLaunchedAhead()
                       ? ""
                       : "kernels wait for each other only in launch mode stream, and if launching "
                         "them takes time";
        });
    }

    /// Makes them the defaults of what is built from now on, if packets are sent.
    /// @param given options that were given
    /// @param noPackets why no packets are sent; empty: some are
    void Set(const Configuration& given, const std::string& noPackets) const
    {
        if (!noPackets.empty())
        {
            return; // the options are named as idle, and the attributes need not be
        }
        SetTime("JoinWindow", m_joinWindow);
        if (std::any_of(given.begin(), given.end(), [](const auto& option) {
                return option.first == "joinWindow";
            }))
        {
            // The window of all collectives, long or short.
            Config::SetDefault("ns3::proteus::PacketNetwork::JoinWindowShare", DoubleValue(0));
        }
        SetTime("JoinGrid", m_joinGrid);
        const auto threads = std::find_if(given.begin(), given.end(), [](const auto& option) {
            return option.first == "threads";
        });
        if (threads != given.end())
        {
            Config::SetDefault(
                "ns3::proteus::PacketNetwork::Threads",
                UintegerValue(ToCount(std::stoll(threads->second), "threads", 0, MOST_THREADS)));
        }
        const std::string mode = m_mode;
        if (mode != "on") // which the attribute is by itself
        {
            Config::SetDefault("ns3::proteus::PacketNetwork::Repetition", StringValue(mode));
        }
    }

  private:
    static constexpr int64_t MOST_THREADS = 1024;

    /// @param attribute that an option is @param time of the option
    static void SetTime(const std::string& attribute, const Time& time)
    {
        if (time != GetDefaultTime(attribute))
        {
            Config::SetDefault("ns3::proteus::PacketNetwork::" + attribute, TimeValue(time));
        }
    }

    int64_t m_threads{0};                            //!< see PacketNetwork
    CommandLineText m_mode{"on"};                    //!< of repetition
    Time m_joinWindow{GetDefaultTime("JoinWindow")}; //!< see PacketNetwork
    Time m_joinGrid{GetDefaultTime("JoinGrid")};     //!< see PacketNetwork
};

/// @param command whose options name files @param body whose errors get the options, where they are
/// about one of these files
void
WithOptions(const OptionList& command, const std::function<void()>& body)
{
    try
    {
        body();
    }
    catch (const OutputError& error)
    {
        throw std::invalid_argument(command.Describe(error));
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(command.DescribeInput(error.what()));
    }
}

/// @param tables of a program @return what the files of --tables are called, see AddParts()
std::string
MakeTablePattern(const std::vector<Table>& tables)
{
    std::string names = "[a-z]+_over_time";
    for (const Table& table : tables)
    {
        names += "|" + table.name;
    }
    return "/(" + names + ")\\.csv";
}

/// @param program name @param arguments of main(), the program first @param environment options
/// @return what has to be the same on all ranks, a text each
std::vector<std::string>
ListWords(const std::string& program,
          const std::vector<std::string>& arguments,
          const std::vector<EnvironmentOption>& environment)
{
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin() + 1, arguments.end());
    for (const EnvironmentOption& option : environment)
    {
        words.push_back(option.variable + ": " + option.name + "=" + option.value);
    }
    return words;
}

/// @param idle lines on options without effect @param text of a warning
/// @return whether it is about one of them, with another reason: one is enough
bool
HasOtherReason(const std::vector<std::string>& idle, const std::string& text)
{
    const std::string mark = " has no effect: ";
    const std::size_t at = text.find(mark);
    return at != std::string::npos &&
           std::any_of(idle.begin(), idle.end(), [&](const std::string& line) {
               return line != text &&
                      line.compare(0, at + mark.size(), text, 0, at + mark.size()) == 0;
           });
}

/// @param configuration of a command line @param workloads folder
/// @return what has to be the same on all ranks, a text each: files that options name
std::vector<std::string>
ListFiles(const Configuration& configuration, const std::string& workloads)
{
    std::vector<std::string> files;
    if (GetNRanks() > 1)
    {
        const StudyOptions options(configuration.begin(), configuration.end());
        for (const auto& [name, digest] : DigestFiles(options, "", workloads))
        {
            files.push_back("--" + name + "=" + options.at(name) + " with content " + digest);
        }
    }
    return files;
}

/// @param runsOnRanks whether a program runs on several MPI ranks
/// @throw std::invalid_argument if there are several and it does not
void
RequireOneProcess(bool runsOnRanks)
{
    if (GetNRanks() > 1 && !runsOnRanks)
    {
        throw std::invalid_argument("it runs as one process only, not on " +
                                    std::to_string(GetNRanks()) +
                                    " MPI ranks; proteus-flows, proteus-collective, proteus-run "
                                    "and proteus-gpt3 can");
    }
}

/// Names variables of the environment that are taken as options, and those without effect.
/// @param environment options from there @param hasCollectives whether the program has options of
/// NCCL's choices @param hasIdleLog see TakeIdleLog()
void
WarnOfEnvironment(const std::vector<EnvironmentOption>& environment,
                  bool hasCollectives,
                  bool hasIdleLog)
{
    for (const EnvironmentOption& option : environment)
    {
        Warn("the environment variable " + option.variable + " is taken as --" + option.name + "=" +
             option.value + ", which an option of that name would replace");
    }
    const std::string names = ListNcclVariables();
    if (hasCollectives && !names.empty())
    {
        Warn("variables of NCCL in the environment have no effect: nothing of NCCL runs here; "
             "--nccl takes those that are modelled (" +
             names + ")");
    }
    if (hasIdleLog)
    {
        Warn("the environment variable NS_LOG has no effect: this build of ns-3 has no logs; one "
             "for debugging has (./ns3 configure --build-profile=debug)");
    }
}

/// Says which global values of ns-3, and streams of random numbers, change nothing.
/// @param command of the program @param run its options, or null
/// @param findNoSimulation why nothing is simulated, or empty
/// @param findNoPackets why no packets are sent, or empty
void
AddIdleGlobals(OptionList& command,
               const ProgramOptions* run,
               const std::function<std::string()>& findNoSimulation,
               const std::function<std::string()>& findNoPackets)
{
    command.AddIdle("ChecksumEnabled", []() { return "packets have no checksums here"; });
    for (auto value = GlobalValue::Begin(); value != GlobalValue::End(); ++value)
    {
        command.AddIdle((*value)->GetName(), findNoSimulation);
    }
    if (run)
    {
        for (const char* name : {"stream", "RngSeed", "RngRun"})
        {
            command.AddIdle(name, [run]() { return run->FindNoPaths(); });
        }
    }
    for (const char* name : {"SchedulerType", "SimulatorImplementationType"})
    {
        command.AddIdle(name, findNoPackets);
    }
    command.AddIdle("SchedulerType", []() { return "fabrics set ns3::proteus::HorizonScheduler"; });
}

/// While it lives, keeps what readers of files warn of, each once, as files may be read several
/// times. It belongs into the results.
class HeardWarnings
{
  public:
    /// @param run what gets the notes, or null
    explicit HeardWarnings(ProgramOptions* run)
        : m_run(run),
          m_listener([this](const std::string& text) { return Hear(text); })
    {
    }

    HeardWarnings(const HeardWarnings&) = delete;
    HeardWarnings& operator=(const HeardWarnings&) = delete;

    /// @param idle lines about options that do nothing, which begin the notes of the run
    void SetIdle(const std::vector<std::string>& idle)
    {
        m_idle = idle;
        if (m_run)
        {
            auto& notes = m_run->information.notes;
            notes.insert(notes.begin(), idle.begin(), idle.end());
        }
    }

    /// @return what SetIdle() was told
    const std::vector<std::string>& GetIdle() const
    {
        return m_idle;
    }

    /// @return the warnings that were new
    const std::vector<std::string>& GetHeard() const
    {
        return m_heard;
    }

  private:
    /// @param text of a warning @return whether it is new
    bool Hear(const std::string& text)
    {
        if (std::find(m_heard.begin(), m_heard.end(), text) != m_heard.end() ||
            HasOtherReason(m_idle, text))
        {
            return false;
        }
        m_heard.push_back(text);
        if (m_run)
        {
            m_run->information.notes.push_back(text);
        }
        return true;
    }

    ProgramOptions* m_run; //!< or null
    std::vector<std::string> m_heard;
    std::vector<std::string> m_idle;
    const WarningListener m_listener; //!< the last member: the others are there before and after
};

} // namespace

CommandLineProgram::CommandLineProgram(std::string workloads)
    : m_workloads(std::move(workloads))
{
    if (Time::GetResolution() != Time::PS) // ns-3 takes it once
    {
        Time::SetResolution(Time::PS);
    }
}

ProgramOptions*
CommandLineProgram::GetRunOptions()
{
    return nullptr;
}

std::string
CommandLineProgram::FindNoPackets()
{
    const ProgramOptions* options = GetRunOptions();
    return options ? options->FindNoPackets() : "";
}

std::string
CommandLineProgram::FindNoJoins()
{
    const ProgramOptions* options = GetRunOptions();
    return options ? options->FindNoJoins() : FindNoPackets();
}

const FabricFlags*
CommandLineProgram::GetFabric() const
{
    return nullptr;
}

std::function<Cluster(const FabricOptions&)>
CommandLineProgram::GetClusterMaker() const
{
    return {};
}

std::vector<Table>
CommandLineProgram::DescribeTables()
{
    std::vector<Table> tables;
    if (GetRunOptions())
    {
        tables = DescribeResultTables();
        tables.push_back(MakeJobTable({}));
        tables.push_back(MakeTrafficTable({}));
    }
    return tables;
}

void
CommandLineProgram::RunTyped(OptionList& command,
                             const std::vector<EnvironmentOption>& environment,
                             bool hasIdleLog,
                             std::filesystem::file_time_type begin)
{
    HeardWarnings heard(GetRunOptions());
    WarnOfEnvironment(environment, command.Has("algorithm"), hasIdleLog);
    WithOptions(command, [&]() {
        const EndAtOnce nothingDone; // it may take long to look at a large job
        heard.SetIdle(command.NoteIdle());
    });
    const FabricFlags* fabric = GetFabric();
    TypedNetwork typed{fabric ? fabric->GetOptions() : FabricOptions(),
                       command.GetConfiguration(),
                       heard.GetIdle(),
                       GetClusterMaker()};
    const RunNotes runs(std::move(typed), m_workloads);
    const auto list = [&]() { // what the runs did not come to
        std::vector<std::string> notes = PrintsNotes() ? runs.ListOfJobs() : runs.List();
        const auto unread = FindIdleAttributes(command.GetConfiguration(),
                                               SendsPackets() ? AttributeReaders::EXECUTORS
                                                              : AttributeReaders::NOBODY);
        notes.insert(notes.end(), unread.begin(), unread.end());
        return notes;
    };
    command.SetNotes([&]() {
        std::vector<std::string> notes = heard.GetHeard();
        for (const auto& more :
             {list(), PrintsNotes() ? std::vector<std::string>() : runs.ListExpected()})
        {
            notes.insert(notes.end(), more.begin(), more.end());
        }
        return notes;
    });
    WithOptions(command, [&]() { Run(); });
    for (const auto& lines : {heard.GetIdle(), list(), command.FindOlderParts(begin)})
    {
        for (const std::string& line : lines)
        {
            Warn(line);
        }
    }
    for (const std::string& line : ListsNotes() ? std::vector<std::string>() : runs.ListExpected())
    {
        std::cout << "Note: " << line << '\n';
    }
}

int
CommandLineProgram::Main(int argc, char* argv[])
{
    UseHugePagesForHeap();
    // A file that grows beyond "ulimit -f" cannot be written, as on a full disk: say so.
    std::signal(SIGXFSZ, SIG_IGN);
    const std::vector<std::string> arguments(argv, argv + argc);
    const std::vector<EnvironmentOption> environment = TakeEnvironmentOptions();
    const bool hasIdleLog = TakeIdleLog();
    return RunOnRanks(GetName(), argc, argv, [&]() {
        RequireSameOnRanks(ListWords(GetName(), arguments, environment));
        RequireOneProcess(RunsOnRanks());
        const OutputPlan plan;
        // Times of files lag behind the clock by a tick of the system.
        const auto begin =
            std::filesystem::file_time_type::clock::now() - std::chrono::milliseconds(20);
        OptionList command(GetName(), m_workloads);
        command.SetEnvironment(environment);
        AddTo(command);
        const std::vector<Table> tables = DescribeTables();
        bool printsColumns = false;
        if (!tables.empty())
        {
            if (command.Has("tables"))
            {
                command.AddParts("tables", MakeTablePattern(tables));
            }
            command.AddValue("columns",
                             "print what the columns of --json and --tables mean, and end",
                             printsColumns);
        }
        if (ProgramOptions* options = GetRunOptions())
        {
            options->information = DescribeRun(arguments, options->inputs);
        }
        AddIdleGlobals(
            command,
            GetRunOptions(),
            [this]() { return FindNoSimulation(); },
            [this]() { return FindNoPackets(); });
        PacketOptions packets;
        if (SendsPackets())
        {
            command.StartGroup("Packets");
            packets.AddTo(
                command,
                [this]() { return FindNoPackets(); },
                [this]() { return FindNoJoins(); });
        }
        if (!command.Parse(arguments, std::cout))
        {
            return;
        }
        RequireSameOnRanks(ListFiles(command.GetConfiguration(), m_workloads));
        RequireOneOfEach(command.GetConfiguration());
        if (ProgramOptions* options = GetRunOptions())
        {
            options->information.configuration = command.GetConfiguration();
            options->nccl.SetDefaults();
        }
        packets.Set(command.GetConfiguration(), SendsPackets() ? FindNoPackets() : "");
        WatchAttributes(command.GetConfiguration());
        if (printsColumns)
        {
            PrintColumns(tables, std::cout);
            return;
        }
        RunTyped(command, environment, hasIdleLog, begin);
    });
}

} // namespace proteus
} // namespace ns3
