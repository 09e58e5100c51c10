/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_OPTIONS_H
#define PROTEUS_PROGRAM_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-fabric-flags.h"
#include "proteus-framework-option.h"
#include "proteus-nccl-options.h"
#include "proteus-option-list.h"
#include "proteus-packet-trace-options.h"
#include "proteus-result-options.h"
#include "proteus-schedule-options.h"

#include "ns3/nstime.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-run-information.h"
#include "ns3/proteus-scenario-plan.h"

#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the example programs have in common: options, a run with progress and report, errors.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The least time that the host takes to issue an operator or a kernel.
struct LaunchInterval
{
    Time value;          //!< of an operator of a graph; default: that of RooflineModel
    bool isGiven{false}; //!< on the command line
};

/// @ingroup proteus
/// The value is a time.
template <>
inline constexpr OptionKind OPTION_KIND<LaunchInterval> = OptionKind::TIME;

/// @ingroup proteus
/// @param input the text @param interval is set and marked as given @return input
std::istream& operator>>(std::istream& input, LaunchInterval& interval);
/// @ingroup proteus
/// @param output where to @param interval is written as a time @return output
std::ostream& operator<<(std::ostream& output, const LaunchInterval& interval);

/// @ingroup proteus
/// @param command to add --launchInterval to @param help what it is @param interval to set
void AddLaunchInterval(OptionList& command, const std::string& help, LaunchInterval& interval);

/**
 * @ingroup proteus
 * Options of the programs that run a graph on a cluster.
 */
struct ProgramOptions
{
    ProgramOptions();

    CommandLineText cluster{"dgx-a100"}; //!< server preset or JSON file
    int64_t nodes{0};                    //!< servers of a preset; 0: two
    FabricFlags fabric;                  //!< how servers of a preset are joined
    std::string bundles{"whole"};        //!< of cables between switches: "whole" or "cables"
    int64_t stream{1};                   //!< random stream of path choice
    LaunchInterval launchInterval;       //!< the host's pace
    FrameworkOption framework;           //!< of a model that is compiled here
    Time computeTime;                    //!< see FitComputation(); 0: kernels keep their times
    ResultOptions results;               //!< what is written about the results
    RunInformation information;          //!< how the program was called
    std::string executor{"packet"};      //!< as ParseExecutors() reads it
    std::string htae{"flow"};            //!< what "flow" stands for: "flow" or "classic"
    CommandLineText calibration;         //!< file with parameters of the flow network, or empty
    /// Of a program that takes --calibrations in the place of --calibration: the folder, or empty.
    std::optional<CommandLineText> calibrations;
    std::string gpuSharing{"on"};    //!< RuntimeOptions::sharesGpu, "on" or "off"
    double overlapFactor{-1};        //!< ExecutorSettings::overlapFactor
    std::string linkSharing{"on"};   //!< ExecutorSettings::sharesLinks, "on" or "off"
    double computeSlowdown{0};       //!< FlowParameters::computeSlowdown
    double communicationSlowdown{0}; //!< FlowParameters::communicationSlowdown
    NcclOptions nccl;                //!< of all collectives
    PacketTraceOptions traces;       //!< what happens on the links
    ScheduleOptions communication;   //!< iterations, and the order of communications
    /// Of the communication schedule, once it is known what runs; see RuntimeOptions.
    std::function<std::unique_ptr<StartControl>(const ExecutionGraph&, Clock&)> startControl;
    CommandLineText scenario; //!< file of what happens besides the job, or empty
    std::string scenarioSet;  //!< values of that file to set, or empty
    std::shared_ptr<const ScenarioPlan> scenarioPlan; //!< of the scenario, once it is known
    bool quiet{false};                                //!< no progress
    bool ignoreMemory{false};                         //!< run also what does not fit
    std::string runName{"simulating"};                //!< of several runs, for their progress
    /// Options whose values may be files that are read; programs add theirs.
    std::set<std::string> inputs{"cluster",
                                 "calibration",
                                 "communicationSchedule",
                                 "config",
                                 "framework",
                                 "scenario"};

    /// @return what ParseExecutors() makes of --executor, --htae and the calibration
    /// @throw std::invalid_argument as it does
    std::vector<std::string> ListExecutors() const;

    /// @param command to add all options to
    void AddTo(OptionList& command);

    /// @param command to add --cluster, --nodes, --stream and those of fabrics to
    void AddClusterTo(OptionList& command);

    /// @param command to add --launchInterval to
    void AddLaunchTo(OptionList& command);

    /// @param command to add --computeTime to
    void AddComputeTimeTo(OptionList& command);

    /// @param command to add --launchInterval, --computeTime, --executor and --calibration to
    void AddTimeTo(OptionList& command);

    /// @return the cluster that the options name
    /// @throw std::invalid_argument that says which option is wrong and how
    Cluster BuildCluster() const
    {
        return BuildCluster(fabric.GetOptions());
    }

    /// @param fabricOptions in the place of what the options say @return see BuildCluster()
    Cluster BuildCluster(const FabricOptions& fabricOptions) const;

    /// @return name of the data sheet of the first GPU
    /// @throw std::invalid_argument as BuildCluster()
    std::string FindGpu() const;

    /// @param command to add --fabric and its sizes to, for programs that run on BuildCluster()
    void AddFabricTo(OptionList& command);

    /// @return empty, or why options of packets do nothing
    std::string FindNoPackets() const;
    /// @return empty, or why it makes no difference when the ranks of a communication join
    std::string FindNoJoins() const;
    /// @return empty, or why the random streams of paths and packets do nothing
    std::string FindNoPaths() const;

    /**
     * @param graph to run @param cluster with the GPUs
     * @throw std::invalid_argument if the graph needs more memory than a GPU has, unless that is to
     * be ignored
     */
    void CheckMemory(const ExecutionGraph& graph, const Cluster& cluster) const;

    /**
     * Gives the kernels of a job what was measured, if --computeTime says so: see
     * StretchComputation().
     * @param graph one iteration of the job
     * @param notes get a line that says by how much
     * @return the graph to run
     * @throw std::invalid_argument if its kernels cannot be scaled
     */
    ExecutionGraph FitComputation(ExecutionGraph graph, std::vector<std::string>& notes) const;

    /**
     * Notes how far times of published iterations are off that were computed as this job is. It
     * says nothing where kernels or hosts take what was typed.
     * @param framework that times the job @param cluster with the GPUs, the first stands for all
     * @param notes of the job
     */
    void NotePublishedErrors(const Framework& framework,
                             const Cluster& cluster,
                             std::vector<std::string>& notes) const;

    /**
     * Checks what can be known to be wrong before a graph is there.
     * @throw std::invalid_argument if the interval or --computeTime is negative, std::runtime_error
     * if a file cannot be written
     */
    void Check() const;

  private:
    /// @param fabricOptions how servers are joined @return as BuildCluster(), with whole bundles
    Cluster BuildWholeCluster(const FabricOptions& fabricOptions) const;
};

/// @ingroup proteus
/// @param text "on" or "off" @param name of the option @return whether it is on
/// @throw std::invalid_argument for another text
bool ToSwitch(const std::string& text, const std::string& name);

/**
 * @ingroup proteus
 * @param value from the command line
 * @param name of the option
 * @param least that is allowed
 * @param most that is allowed
 * @return the value
 * @throw std::invalid_argument if it is less or more
 */
uint32_t ToCount(int64_t value, const std::string& name, int64_t least, int64_t most = INT32_MAX);

/**
 * @ingroup proteus
 * Runs a graph by the executors that the options name, prints the report on stdout, and writes the
 * files that the options name.
 * @param options of the program
 * @param cluster to run on
 * @param graph to run
 * @param dataType whose peak rate the model FLOP utilisation refers to
 * @param carried what tasks need of the iteration before, where that is known; may be null
 * @throw std::invalid_argument, std::runtime_error as CheckMemory(), before anything runs, as
 * Install() and TrainingJob::Run(), or if a
 * file cannot be written
 */
void RunAndReport(const ProgramOptions& options,
                  const Cluster& cluster,
                  const ExecutionGraph& graph,
                  DataType dataType,
                  const std::vector<CarriedDependency>* carried = nullptr);

/**
 * @ingroup proteus
 * The body of main(). An exception becomes one message on stderr and exit code 1. SIGINT and
 * SIGTERM are noted for the body, see StopSignals; then the exit code is 128 plus the number of the
 * signal.
 * @param program name for the message
 * @param body what the program does
 * @return the exit code
 */
int RunProgram(const std::string& program, const std::function<void()>& body);

/// @ingroup proteus
/// Notes that devices share work equally, where they exchange tokens for experts.
/// @param model that is trained @param graph made of it @param notes of the job
void NoteBalancedExperts(const Model& model,
                         const ExecutionGraph& graph,
                         std::vector<std::string>& notes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_OPTIONS_H
