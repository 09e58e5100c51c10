/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-calibration.h"

#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-flow-calibration";
constexpr uint32_t VERSION = 1;
constexpr double PS_PER_SECOND = 1e12;
/// Times that the steps of the fit are halved.
constexpr uint32_t HALVINGS = 3;
/// Rounds over all parameters with one length of steps, at most.
constexpr uint32_t MAX_ROUNDS = 4;

/// Bounds and first step of a parameter; latencies in microseconds.
struct Axis
{
    LinkTechnology technology;
    int which; //!< 0: efficiency, 1: sharing, 2: latency
    double least;
    double most;
    double step;
};

double
GetValue(const FlowParameters& parameters, const Axis& axis)
{
    const FlowLinkParameters& link = parameters.Get(axis.technology);
    return axis.which == 0   ? link.efficiency
           : axis.which == 1 ? link.sharing
                             : static_cast<double>(link.latencyPs) / 1e6;
}

void
SetValue(FlowParameters& parameters, const Axis& axis, double value)
{
    FlowLinkParameters& link = parameters.links[static_cast<std::size_t>(axis.technology)];
    if (axis.which == 0)
    {
        link.efficiency = value;
    }
    else if (axis.which == 1)
    {
        link.sharing = value;
    }
    else
    {
        link.latencyPs = std::llround(value * 1e6);
    }
}

std::vector<Axis>
FindAxes(const Cluster& cluster)
{
    std::set<LinkTechnology> technologies;
    for (const Link& link : cluster.GetLinks())
    {
        technologies.insert(link.technology);
    }
    std::vector<Axis> axes;
    for (const LinkTechnology technology : technologies)
    {
        axes.push_back({technology, 0, 0.8, 1.05, 0.02});
        axes.push_back({technology, 1, 0.7, 1, 0.04});
        axes.push_back({technology, 2, -1, 5, 0.4});
    }
    return axes;
}

/// Relative errors by measurement and task.
template <typename F>
void
ForEachError(const std::vector<Measurement>& measurements,
             const std::vector<std::vector<double>>& times,
             F function)
{
    for (std::size_t i = 0; i < measurements.size(); ++i)
    {
        for (std::size_t task = 0; task < times[i].size(); ++task)
        {
            function(measurements[i].experiment, times[i][task] / measurements[i].times[task] - 1);
        }
    }
}

FlowErrors
AddUpErrors(const std::vector<Measurement>& measurements,
            const std::vector<std::vector<double>>& times,
            const std::function<bool(const MicroExperiment&)>& counts)
{
    FlowErrors errors;
    ForEachError(measurements, times, [&](const MicroExperiment& experiment, double error) {
        if (!counts(experiment))
        {
            return;
        }
        ++errors.samples;
        errors.mean += std::abs(error);
        if (std::abs(error) > errors.most)
        {
            errors.most = std::abs(error);
            errors.worst = experiment.name;
        }
    });
    errors.mean /= std::max(errors.samples, 1u);
    return errors;
}

nlohmann::ordered_json
ToJson(const FlowErrors& errors)
{
    return {{"mean", errors.mean},
            {"max", errors.most},
            {"worst", errors.worst},
            {"samples", errors.samples}};
}

} // namespace

std::vector<std::vector<double>>
RunAtFlowLevel(const std::vector<Measurement>& measurements,
               const Cluster& cluster,
               const FlowParameters& parameters,
               const ProgramSettings& settings)
{
    std::vector<std::vector<double>> times;
    for (const Measurement& measurement : measurements)
    {
        const ExecutionGraph& graph = measurement.experiment.graph;
        const FlowRun run = RunFlow(graph, cluster, RuntimeOptions(), parameters, settings);
        std::vector<double> ends(graph.GetNTasks(), 0);
        for (const Span& span : run.timeline.spans)
        {
            ends[span.task] =
                std::max(ends[span.task], static_cast<double>(span.endPs) / PS_PER_SECOND);
        }
        times.push_back(std::move(ends));
    }
    return times;
}

FlowCalibration
FitFlow(const std::vector<Measurement>& measurements,
        const Cluster& cluster,
        const FlowParameters& start,
        const ProgramSettings& settings,
        const std::function<void(uint32_t, double)>& tell)
{
    std::vector<Measurement> fitted;
    for (const Measurement& measurement : measurements)
    {
        if (!measurement.experiment.isHeldOut)
        {
            fitted.push_back(measurement);
        }
    }
    if (fitted.empty() || fitted.size() == measurements.size())
    {
        throw std::invalid_argument("calibration: there must be experiments to fit, and some held "
                                    "out");
    }
    const auto score = [&](const FlowParameters& parameters) {
        double sum = 0;
        uint32_t samples = 0;
        ForEachError(fitted,
                     RunAtFlowLevel(fitted, cluster, parameters, settings),
                     [&](const MicroExperiment&, double error) {
                         sum += error * error;
                         ++samples;
                     });
        return std::sqrt(sum / samples);
    };
    FlowCalibration calibration;
    calibration.cluster = cluster.GetName();
    calibration.parameters = start;
    double best = score(start);
    uint32_t rounds = 0;
    const std::vector<Axis> axes = FindAxes(cluster);
    for (uint32_t halving = 0; halving <= HALVINGS; ++halving)
    {
        bool improved = true;
        for (uint32_t round = 0; round < MAX_ROUNDS && improved; ++round)
        {
            improved = false;
            ++rounds;
            for (const Axis& axis : axes)
            {
                for (const double sign : {1.0, -1.0})
                {
                    FlowParameters trial = calibration.parameters;
                    const double value = GetValue(trial, axis) +
                                         sign * axis.step / static_cast<double>(1u << halving);
                    SetValue(trial, axis, std::clamp(value, axis.least, axis.most));
                    const double reached = score(trial);
                    if (reached < best * (1 - 1e-6))
                    {
                        best = reached;
                        calibration.parameters = trial;
                        improved = true;
                        break;
                    }
                }
            }
            if (tell)
            {
                tell(rounds, best);
            }
        }
    }
    const auto before = RunAtFlowLevel(measurements, cluster, start, settings);
    const auto after = RunAtFlowLevel(measurements, cluster, calibration.parameters, settings);
    const auto all = [](const MicroExperiment&) { return true; };
    const auto held = [](const MicroExperiment& experiment) { return experiment.isHeldOut; };
    const auto used = [](const MicroExperiment& experiment) { return !experiment.isHeldOut; };
    calibration.before = AddUpErrors(measurements, before, all);
    calibration.fitted = AddUpErrors(measurements, after, used);
    calibration.heldOut = AddUpErrors(measurements, after, held);
    calibration.heldOutBefore = AddUpErrors(measurements, before, held);
    return calibration;
}

void
WriteFlowCalibration(const FlowCalibration& calibration, std::ostream& output)
{
    nlohmann::ordered_json links = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < N_LINK_TECHNOLOGIES; ++i)
    {
        const FlowLinkParameters& link = calibration.parameters.links[i];
        links[ToString(static_cast<LinkTechnology>(i))] = {
            {"efficiency", link.efficiency},
            {"sharing", link.sharing},
            {"latency_us", static_cast<double>(link.latencyPs) / 1e6}};
    }
    const nlohmann::ordered_json root{
        {"format", FORMAT},
        {"version", VERSION},
        {"cluster", calibration.cluster},
        {"provenance", calibration.provenance},
        {"links", links},
        {"errors_uncalibrated", ToJson(calibration.before)},
        {"errors_fitted", ToJson(calibration.fitted)},
        {"errors_held_out", ToJson(calibration.heldOut)},
        {"errors_held_out_uncalibrated", ToJson(calibration.heldOutBefore)}};
    output << root.dump(1) << '\n';
}

FlowCalibration
ReadFlowCalibration(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    root.AllowKeys("a calibration",
                   {"format",
                    "version",
                    "cluster",
                    "provenance",
                    "links",
                    "errors_uncalibrated",
                    "errors_fitted",
                    "errors_held_out",
                    "errors_held_out_uncalibrated"});
    FlowCalibration calibration;
    calibration.cluster = root.Get("cluster").AsString();
    calibration.provenance = root.Get("provenance").AsString();
    const JsonValue links = root.Get("links");
    for (const std::string& key : links.GetKeys())
    {
        const JsonValue json = links.Get(key.c_str());
        const LinkTechnology technology = json.Check([&] { return LinkTechnologyFromString(key); });
        FlowLinkParameters& link =
            calibration.parameters.links[static_cast<std::size_t>(technology)];
        json.AllowKeys("a link", {"efficiency", "sharing", "latency_us"});
        link.efficiency = json.Get("efficiency").AsNumber(0.01, 10);
        link.sharing = json.Get("sharing").AsNumber(0.01, 10);
        link.latencyPs = std::llround(json.Get("latency_us").AsNumber(-1e6, 1e6) * 1e6);
    }
    const JsonValue errors = root.Get("errors_held_out");
    calibration.heldOut.mean = errors.Get("mean").AsNumber(0, 1e9);
    calibration.heldOut.most = errors.Get("max").AsNumber(0, 1e9);
    calibration.heldOut.worst = errors.Get("worst").AsString();
    calibration.heldOut.samples = static_cast<uint32_t>(errors.Get("samples").AsWhole(0, 1 << 30));
    return calibration;
}

} // namespace proteus
} // namespace ns3
