/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-calibration-run.h"

#include "proteus-executors.h"
#include "proteus-progress.h"
#include "proteus-stop-signals.h"

#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Communications that are listed as the worst.
constexpr std::size_t N_WORST = 8;

/// Runs an experiment packet by packet.
Measurement
Measure(const ProgramOptions& options, const Cluster& cluster, const MicroExperiment& experiment)
{
    ProgramOptions quiet = options;
    quiet.quiet = true;
    std::ostringstream unheard;
    const RunRecord result = RunWhole(quiet, "packet", cluster, experiment.graph, unheard);
    Measurement measurement{experiment, std::vector<double>(experiment.graph.GetNTasks(), 0)};
    for (const Span& span : result.timeline.spans)
    {
        double& time = measurement.times[span.task];
        time = std::max(time, static_cast<double>(span.endPs) * 1e-12);
    }
    return measurement;
}

/// Bytes that an experiment moves, about: what its time at packet level goes with.
double
GetWork(const MicroExperiment& experiment)
{
    double work = 0;
    for (TaskId id = 0; id < experiment.graph.GetNTasks(); ++id)
    {
        const Task& task = experiment.graph.GetTask(id);
        work += static_cast<double>(task.bytes) *
                static_cast<double>(experiment.graph.GetGroup(task.place).size());
    }
    return work;
}

std::vector<std::string>
MakeErrorRow(const std::string& what,
             const FlowCalibration& calibration,
             const std::function<bool(const CalibrationSample&)>& counts)
{
    const CalibrationErrors before = AddUpErrors(calibration.samples, false, counts);
    const CalibrationErrors after = AddUpErrors(calibration.samples, true, counts);
    return {what,
            std::to_string(after.samples),
            FormatPercent(before.mean, 2),
            FormatPercent(before.most, 2),
            FormatPercent(after.mean, 2),
            FormatPercent(after.most, 2),
            "  " + after.worst};
}

void
PrintParameters(const FlowCalibration& calibration, const Cluster& cluster, std::ostream& out)
{
    std::set<LinkTechnology> technologies;
    for (const Link& link : cluster.GetLinks())
    {
        technologies.insert(link.technology);
    }
    std::vector<std::vector<std::string>> rows{{"Links", "efficiency", "sharing", "latency"}};
    for (const LinkTechnology technology : technologies)
    {
        const FlowLinkParameters& link = calibration.parameters.Get(technology);
        rows.push_back({ToString(technology),
                        FormatNumber(link.efficiency, 4),
                        FormatNumber(link.sharing, 4),
                        FormatNumber(static_cast<double>(link.latencyPs) * 1e-6, 3) + " us"});
    }
    out << '\n' << FormatTable(rows, "lr");
}

void
PrintWorst(const FlowCalibration& calibration, std::ostream& out)
{
    std::vector<CalibrationSample> samples = calibration.samples;
    std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
        return std::abs(a.GetError(true)) > std::abs(b.GetError(true));
    });
    samples.resize(std::min(samples.size(), N_WORST));
    std::vector<std::vector<std::string>> rows{
        {"Largest errors", "packet", "before", "error", "after", "error", ""}};
    for (const CalibrationSample& sample : samples)
    {
        rows.push_back({sample.experiment + ", part " + std::to_string(sample.task),
                        FormatTime(sample.packetS),
                        FormatTime(sample.beforeS),
                        FormatPercent(sample.GetError(false), 2),
                        FormatTime(sample.afterS),
                        FormatPercent(sample.GetError(true), 2),
                        sample.isHeldOut ? "held out" : "fitted"});
    }
    out << '\n' << FormatTable(rows, "lr");
}

} // namespace

std::string
DescribeStep(const std::string& step, double done, double elapsedS)
{
    std::string text = step + ", " + FormatNumber(elapsedS, 0) + " s";
    if (done > 0.01 && done < 1)
    {
        text += ", about " + FormatNumber(std::ceil(elapsedS * (1 - done) / done), 0) + " s left";
    }
    return text;
}

std::vector<uint64_t>
GetCalibrationSizes(bool isQuick)
{
    return isQuick ? std::vector<uint64_t>{65536, 4194304}
                   : std::vector<uint64_t>{16384, 262144, 2097152, 16777216};
}

FlowCalibration
RunCalibration(const ProgramOptions& options,
               const Cluster& cluster,
               const std::vector<uint64_t>& sizes,
               uint32_t maxRounds)
{
    const std::vector<MicroExperiment> experiments = DesignExperiments(cluster, sizes);
    double work = 0;
    for (const MicroExperiment& experiment : experiments)
    {
        work += GetWork(experiment);
    }
    std::vector<Measurement> measurements;
    {
        ProgressLine progress("calibration");
        double done = 0;
        for (const MicroExperiment& experiment : experiments)
        {
            if (!options.quiet)
            {
                progress.Say(DescribeStep("experiment " + std::to_string(measurements.size() + 1) +
                                              " of " + std::to_string(experiments.size()) + ", " +
                                              experiment.name,
                                          done / work,
                                          progress.GetElapsedSeconds()));
            }
            measurements.push_back(Measure(options, cluster, experiment));
            done += GetWork(experiment);
        }
    }
    const ExecutorSettings settings = MakeExecutorSettings(options);
    ProgressLine progress("calibration");
    const EndAtOnce nothingIsLost; // without its parameters, a fit has no result
    FlowCalibration calibration = FitFlow(
        measurements,
        cluster,
        MakeFlowParameters(settings, false),
        settings.collectives,
        [&](uint32_t round, uint32_t rounds, double error) {
            if (!options.quiet)
            {
                progress.Say(DescribeStep(
                    "fit: round " + std::to_string(round) + " of " + std::to_string(rounds) +
                        " at most, root mean square error " + FormatPercent(error, 2),
                    static_cast<double>(round) / rounds,
                    progress.GetElapsedSeconds()));
            }
        },
        maxRounds);
    calibration.server = options.cluster;
    calibration.servers = cluster.GetNServers();
    calibration.provenance = options.information.command + "; proteus " +
                             options.information.version + ", ns-3 " +
                             options.information.ns3Version;
    return calibration;
}

void
PrintCalibration(const FlowCalibration& calibration, const Cluster& cluster, std::ostream& out)
{
    std::set<std::string> names;
    std::vector<std::string> kinds;
    for (const CalibrationSample& sample : calibration.samples)
    {
        if (names.insert(sample.kind).second)
        {
            kinds.push_back(sample.kind);
        }
    }
    std::vector<std::vector<std::string>> rows{
        {"Error against packet level", "times", "before", "max", "after", "max", "  largest at"}};
    rows.push_back(MakeErrorRow("all", calibration, [](const CalibrationSample&) { return true; }));
    rows.push_back(MakeErrorRow("fitted", calibration, [](const CalibrationSample& sample) {
        return !sample.isHeldOut;
    }));
    rows.push_back(MakeErrorRow("held out", calibration, [](const CalibrationSample& sample) {
        return sample.isHeldOut;
    }));
    for (const std::string& kind : kinds)
    {
        rows.push_back(MakeErrorRow("  " + kind, calibration, [&](const CalibrationSample& sample) {
            return sample.kind == kind;
        }));
    }
    PrintParameters(calibration, cluster, out);
    out << '\n' << FormatTable(rows, "lrrrrrl");
    PrintWorst(calibration, out);
}

} // namespace proteus
} // namespace ns3
