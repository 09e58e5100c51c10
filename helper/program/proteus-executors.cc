/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-executors.h"

#include "proteus-progress.h"
#include "proteus-run-notes.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-distsim.h"
#include "ns3/proteus-executor-packet.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-flow-calibration.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Shows progress, connects files to what happens on links, and passes remarks on.
class ProgramObserver : public PacketObserver
{
  public:
    /// @param options of the program @param traits of the executor @param out for remarks
    ProgramObserver(const ProgramOptions& options, const ExecutorTraits& traits, std::ostream& out)
        : m_options(options),
          m_traits(traits),
          m_out(out),
          m_progress(options.runName)
    {
    }

    void OnProgress(const RunProgress& progress) override
    {
        if (!m_options.quiet)
        {
            m_progress.Update(progress);
        }
    }

    void OnStep(const std::string& step) override
    {
        if (!m_options.quiet)
        {
            m_progress.Say(step);
        }
    }

    bool IsStopWanted() const override
    {
        return StopSignals::Obey();
    }

    void OnRemark(const std::string& remark) override
    {
        m_out << remark << '\n';
    }

    void OnInstall(Ptr<Fabric> fabric, Ptr<Transport> transport) override
    {
        if (m_traits.isExact) // files are of the whole run
        {
            EndAtOnce::Cancel(); // these files have something to lose
            m_files = m_options.traces.Enable(fabric, transport);
        }
    }

    /// @throw std::invalid_argument if a file about links is not whole
    void FinishFiles()
    {
        m_files.FinishFiles();
    }

  private:
    const ProgramOptions& m_options;
    const ExecutorTraits& m_traits;
    std::ostream& m_out;
    ProgressLine m_progress;
    FabricHelper m_files; //!< about links
};

bool
Has(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// @param names with repetitions @return them, each once, where it was first
std::vector<std::string>
KeepFirst(const std::vector<std::string>& names)
{
    std::vector<std::string> once;
    for (const std::string& name : names)
    {
        if (!Has(once, name))
        {
            once.push_back(name);
        }
    }
    return once;
}

/// @param text names, separated by commas @return them
/// @throw std::invalid_argument if one is none of an executor, or stands there twice
std::vector<std::string>
ListExecutors(const std::string& text)
{
    std::vector<std::string> executors;
    std::vector<std::string> names = SplitOnce("--executor=" + text, text);
    if (names.empty())
    {
        names.emplace_back(); // which is no executor
    }
    for (const std::string& name : names)
    {
        const auto known = GetExecutors();
        if (std::none_of(known.begin(), known.end(), [&name](const Executor* executor) {
                return executor->GetTraits().name == name;
            }))
        {
            throw std::invalid_argument("--executor=" + text + ": must be of " +
                                        ListExecutorNames() +
                                        ", several separated by commas, or both");
        }
        executors.push_back(name);
    }
    return executors;
}

/// Puts the executor that HTAE is to stand for in the place of the others of its kind.
/// @param htae its name @param executors to change
void
ChooseHtae(const std::string& htae, std::vector<std::string>& executors)
{
    const auto isOther = [&htae](const std::string& name) {
        return name != htae && FindExecutor(name).GetTraits().isHtae;
    };
    if (std::none_of(executors.begin(), executors.end(), isOther))
    {
        return;
    }
    executors.erase(std::remove(executors.begin(), executors.end(), htae), executors.end());
    std::replace_if(executors.begin(), executors.end(), isOther, htae);
    executors = KeepFirst(executors);
}

/// Puts the calibrated forms of executors in their place, or beside them.
/// @param isGiven whether there is a calibration @param option that gives it
/// @param text of --executor @param executors to change
void
ChooseCalibrated(bool isGiven,
                 const std::string& option,
                 const std::string& text,
                 std::vector<std::string>& executors)
{
    bool isUsed = false;
    for (const Executor* executor : GetExecutors())
    {
        const ExecutorTraits& traits = executor->GetTraits();
        if (!traits.needsCalibration)
        {
            continue;
        }
        const bool isThere = Has(executors, traits.name);
        if (isThere && !isGiven)
        {
            throw std::invalid_argument("--executor=" + text + ": " + traits.name + " needs " +
                                        option + ", which proteus-calibrate writes");
        }
        isUsed = isUsed || isThere;
        if (!isGiven || isThere || !Has(executors, traits.refines))
        {
            continue;
        }
        isUsed = true;
        if (executors.size() == 1)
        {
            executors.clear();
        }
        executors.push_back(traits.name);
    }
    if (isGiven && !isUsed)
    {
        throw std::invalid_argument(option.substr(0, option.find('=')) +
                                    " belongs to the flow network: add --executor=flow or "
                                    "--executor=both");
    }
}

/// @param options of a run with a calibration @return it
FlowCalibration
LoadCalibration(const ProgramOptions& options)
{
    InputFile file(options.calibration);
    return ReadFlowCalibration(file.GetStream(), options.calibration);
}

/// @param calibration that was read @param cluster of a run
/// @return technologies of its links of which the calibration says nothing
std::set<LinkTechnology>
FindUncalibrated(const FlowCalibration& calibration, const Cluster& cluster)
{
    std::set<LinkTechnology> missing;
    for (const Link& link : cluster.GetLinks())
    {
        if (calibration.technologies.count(link.technology) == 0)
        {
            missing.insert(link.technology);
        }
    }
    return missing;
}

} // namespace

std::vector<std::string>
ListHtae()
{
    std::vector<std::string> names;
    for (const Executor* executor : GetExecutors())
    {
        if (executor->GetTraits().isHtae)
        {
            names.push_back(executor->GetTraits().name);
        }
    }
    return names;
}

void
AddExecutorNames(OptionList& command)
{
    std::vector<std::string> names{"both"};
    for (const Executor* executor : GetExecutors())
    {
        names.push_back(executor->GetTraits().name);
    }
    command.AddNames("executor", names, NameUse::LIST);
}

void
AddTestExecutors(OptionList& command, CommandLineText& executor)
{
    std::vector<std::string> names;
    std::string meanings;
    for (const Executor* each : GetExecutors())
    {
        const ExecutorTraits& traits = each->GetTraits();
        // One that is told what NCCL chooses, and runs all of a graph.
        const bool knowsNccl = traits.hasPackets || traits.collectiveFields.count("Algorithm") > 0;
        if (knowsNccl && traits.repeats.empty() && !traits.needsCalibration)
        {
            names.push_back(traits.name);
            AppendName(meanings, traits.name + " (" + traits.description + ")");
        }
    }
    command.AddValue("executor", "what runs the collectives: " + meanings, executor);
    command.AddNames("executor", names);
}

std::string
DescribeApproximation(const std::string& executor)
{
    const ExecutorTraits& traits = FindExecutor(executor).GetTraits();
    return traits.isExact
               ? ""
               : ", executor " + traits.name + ": an approximation, " + traits.description;
}

std::string
FindNoPackets(const std::string& executor)
{
    return FindExecutor(executor).GetTraits().hasPackets
               ? ""
               : "executor " + executor + " sends no packets";
}

std::vector<std::string>
ParseExecutors(const std::string& text,
               const std::string& htae,
               const std::string& calibration,
               const std::string& option)
{
    const std::vector<std::string> kinds = ListHtae();
    if (std::find(kinds.begin(), kinds.end(), htae) == kinds.end())
    {
        throw std::invalid_argument("--htae=" + htae + ": " + Suggest(htae, kinds));
    }
    // The default is not what somebody wants who asks for a kind of HTAE.
    const ProgramOptions defaults;
    const bool isDefault = text == defaults.executor && htae != defaults.htae;
    std::vector<std::string> executors =
        isDefault        ? std::vector<std::string>{htae}
        : text == "both" ? std::vector<std::string>{defaults.executor, defaults.htae}
                         : ListExecutors(text);
    if (htae != defaults.htae)
    {
        ChooseHtae(htae, executors);
    }
    ChooseCalibrated(!calibration.empty(), option, text, executors);
    return executors;
}

std::string
DescribeExecutors()
{
    std::string text;
    for (const Executor* executor : GetExecutors())
    {
        const ExecutorTraits& traits = executor->GetTraits();
        AppendName(text, traits.name + " (" + traits.description + ")");
    }
    const ProgramOptions defaults;
    return text + "; both is " + defaults.executor + "," + defaults.htae;
}

ExecutorSettings
MakeExecutorSettings(const ProgramOptions& options)
{
    ExecutorSettings settings = ReadExecutorSettings(ToCount(options.stream, "stream", 0));
    settings.runtime.roofline.launchIntervalPs = options.launchInterval.value.GetPicoSeconds();
    settings.runtime.sharesGpu = ToSwitch(options.gpuSharing, "gpuSharing");
    settings.overlapFactor = options.overlapFactor;
    settings.sharesLinks = ToSwitch(options.linkSharing, "linkSharing");
    settings.flow.computeSlowdown = options.computeSlowdown;
    settings.flow.communicationSlowdown = options.communicationSlowdown;
    if (!options.calibration.empty())
    {
        settings.calibration = LoadCalibration(options).parameters;
    }
    settings.runtime.startControl = options.startControl;
    settings.scenario = options.scenarioPlan;
    if (settings.scenario && !settings.scenario->slow.empty())
    {
        settings.runtime.stretch =
            [plan = settings.scenario](DeviceId device, int64_t startPs, int64_t durationPs) {
                return plan->Stretch(device, startPs, durationPs);
            };
    }
    settings.recordsSeries = options.results.NeedsSeries();
    settings.recordsChannels = options.results.NeedsChannels();
    return settings;
}

bool
IsFittedElsewhere(const FlowCalibration& made, const std::string& server, const Cluster& cluster)
{
    const bool hasOne = made.servers == 1 || (made.servers > 1 && cluster.GetNServers() == 1);
    return made.cluster != cluster.GetName() && !(hasOne && made.server == server);
}

RunRecord
RunExecutor(const ProgramOptions& options,
            const std::string& executor,
            const Cluster& cluster,
            const ExecutionGraph& graph,
            std::ostream& out)
{
    const Executor& found = FindExecutor(executor);
    ProgramObserver observer(options, found.GetTraits(), out);
    const ExecutorSettings settings = MakeExecutorSettings(options);
    RunRecord record = found.Run(graph, cluster, settings, &observer);
    observer.FinishFiles();
    if (found.GetTraits().needsCalibration)
    {
        const FlowCalibration calibration = LoadCalibration(options);
        if (IsFittedElsewhere(calibration, options.cluster, cluster))
        {
            record.notes.push_back(executor + ": parameters were fitted on another cluster, " +
                                   ShownName(calibration.cluster));
        }
        for (const LinkTechnology technology : FindUncalibrated(calibration, cluster))
        {
            record.notes.push_back(executor + ": " + options.calibration +
                                   " says nothing of links " + ToString(technology) +
                                   ", which are as without calibration");
        }
    }
    RunNotes::Hear(options, found, settings, cluster, graph, record);
    return record;
}

RunRecord
RunWhole(const ProgramOptions& options,
         const std::string& executor,
         const Cluster& cluster,
         const ExecutionGraph& graph,
         std::ostream& out)
{
    RunRecord record = RunExecutor(options, executor, cluster, graph, out);
    RequireWhole(record);
    return record;
}

void
PrintContention(const RunRecord& replay,
                const RunRecord& whole,
                const ExecutionGraph& graph,
                std::ostream& out)
{
    const std::vector<double> errors =
        GetActivityErrors(replay.timeline, whole.timeline, graph.GetNDevices());
    const auto worst = std::max_element(errors.begin(), errors.end());
    const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) /
                        static_cast<double>(std::max<std::size_t>(errors.size(), 1));
    const int64_t missing = whole.timeline.endPs - replay.timeline.endPs;
    out << "\nContention, and the waits that follow from it (" << whole.executor << " against "
        << replay.executor << "): " << FormatTime(missing * 1e-12) << " of "
        << FormatTime(whole.timeline.endPs * 1e-12) << "\n"
        << FormatTable(
               {{"batch-time error",
                 FormatNumber(100 * GetBatchTimeError(replay.timeline.endPs, whole.timeline.endPs),
                              3) +
                     " %"},
                {"activity error, mean of the GPUs", FormatPercent(mean, 3)},
                {"activity error, GPU " + std::to_string(worst - errors.begin()),
                 FormatNumber(100 * *worst, 3) + " %, the largest"}},
               "lr");
}

} // namespace proteus
} // namespace ns3
