/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-calibration.h"

#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-shown-name.h"

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
constexpr uint32_t MAX_ROUNDS = MAX_FIT_ROUNDS / (HALVINGS + 1);
/// Part by which the error must shrink for a step to be taken.
constexpr double LEAST_GAIN = 1e-4;

/// Most of a link's bandwidth that a calibration may give it: what it was built from is rounded.
constexpr double MOST_EFFICIENCY = 1.05;
/// Most that flows which share a link may get of it.
constexpr double MOST_SHARING = 1;
/// Least latency that a calibration may add to a link, microseconds.
constexpr double LEAST_LATENCY_US = -1;

/// Of what a file says of its fit: largest relative error, times in seconds, number of them.
constexpr double MOST_ERROR = 1e9;
constexpr double LEAST_TIME_S = 1e-12;
constexpr double MOST_TIME_S = 1e6;
constexpr uint64_t MOST_SAMPLES = uint64_t{1} << 30;

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
        axes.push_back({technology, 0, 0.8, MOST_EFFICIENCY, 0.02});
        axes.push_back({technology, 1, 0.7, MOST_SHARING, 0.04});
        axes.push_back({technology, 2, LEAST_LATENCY_US, 5, 0.4});
    }
    return axes;
}

nlohmann::ordered_json
ToJson(const CalibrationErrors& errors)
{
    return {{"mean", errors.mean},
            {"max", errors.most},
            {"worst", errors.worst},
            {"samples", errors.samples}};
}

/// By task, when its last rank is done, seconds.
std::vector<double>
FindEnds(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::vector<double> ends(graph.GetNTasks(), 0);
    for (const Span& span : timeline.spans)
    {
        ends[span.task] =
            std::max(ends[span.task], static_cast<double>(span.endPs) / PS_PER_SECOND);
    }
    return ends;
}

/// Flow times of the measurements to be fitted, by parameters that change a little at a time.
class Trials
{
  public:
    Trials(const std::vector<Measurement>& measurements,
           const Cluster& cluster,
           const ProgramSettings& settings)
        : m_measurements(measurements),
          m_cluster(cluster),
          m_paths(cluster),
          m_settings(settings),
          m_uses(measurements.size()),
          m_errors(measurements.size())
    {
    }

    /// @return root mean square error of what is fitted
    double Begin(const FlowParameters& parameters)
    {
        for (std::size_t i = 0; i < m_measurements.size(); ++i)
        {
            if (!m_measurements[i].experiment.isHeldOut)
            {
                Run(i, parameters, m_errors[i]);
            }
        }
        m_trial = m_errors;
        return GetRootMeanSquare();
    }

    /// @return the same for parameters that differ from the last accepted ones in a technology
    double Try(const FlowParameters& parameters, LinkTechnology changed)
    {
        m_trial = m_errors;
        for (std::size_t i = 0; i < m_measurements.size(); ++i)
        {
            if (m_uses[i].count(changed) > 0)
            {
                Run(i, parameters, m_trial[i]);
            }
        }
        return GetRootMeanSquare();
    }

    /// What was tried last is where the next trials begin.
    void Accept()
    {
        m_errors = m_trial;
    }

  private:
    void Run(std::size_t i, const FlowParameters& parameters, std::vector<double>& errors)
    {
        const Measurement& measurement = m_measurements[i];
        const FlowRun run = RunFlow(measurement.experiment.graph,
                                    m_cluster,
                                    m_paths,
                                    RuntimeOptions(),
                                    parameters,
                                    m_settings);
        for (const LinkStatistics& link : run.links)
        {
            if (link.wireBytes > 0)
            {
                m_uses[i].insert(m_cluster.GetLinks()[link.link].technology);
            }
        }
        errors = FindEnds(measurement.experiment.graph, run.timeline);
        for (std::size_t task = 0; task < errors.size(); ++task)
        {
            errors[task] = errors[task] / measurement.times[task] - 1;
        }
    }

    double GetRootMeanSquare() const
    {
        double sum = 0;
        std::size_t samples = 0;
        for (const auto& errors : m_trial)
        {
            for (const double error : errors)
            {
                sum += error * error;
                ++samples;
            }
        }
        return std::sqrt(sum / static_cast<double>(samples));
    }

    const std::vector<Measurement>& m_measurements;
    const Cluster& m_cluster;
    const Paths m_paths;
    const ProgramSettings& m_settings;
    std::vector<std::set<LinkTechnology>> m_uses; //!< by measurement
    std::vector<std::vector<double>> m_errors;    //!< by measurement and task, accepted
    std::vector<std::vector<double>> m_trial;     //!< the same, of the last trial
};

/// Descends along one axis after the other. @return the best parameters
FlowParameters
Descend(Trials& trials,
        const Cluster& cluster,
        const FlowParameters& start,
        const std::function<void(uint32_t, uint32_t, double)>& tell,
        uint32_t maxRounds)
{
    FlowParameters best = start;
    double least = trials.Begin(start);
    const std::vector<Axis> axes = FindAxes(cluster);
    const auto tryStep = [&](const Axis& axis, double step) {
        FlowParameters trial = best;
        const double value = std::clamp(GetValue(trial, axis) + step, axis.least, axis.most);
        if (value == GetValue(trial, axis))
        {
            return false;
        }
        SetValue(trial, axis, value);
        const double reached = trials.Try(trial, axis.technology);
        if (reached >= least * (1 - LEAST_GAIN))
        {
            return false;
        }
        least = reached;
        best = trial;
        trials.Accept();
        return true;
    };
    const uint32_t rounds = std::min((HALVINGS + 1) * MAX_ROUNDS, maxRounds);
    uint32_t all = 0;
    for (uint32_t halving = 0; halving <= HALVINGS; ++halving)
    {
        bool improved = true;
        for (uint32_t round = 0; round < MAX_ROUNDS && improved && all < rounds; ++round)
        {
            improved = false;
            ++all;
            for (const Axis& axis : axes)
            {
                const double step = axis.step / static_cast<double>(1u << halving);
                improved |= tryStep(axis, step) || tryStep(axis, -step);
            }
            if (tell)
            {
                tell(all, rounds, least);
            }
        }
    }
    return best;
}

} // namespace

CalibrationErrors
AddUpErrors(const std::vector<CalibrationSample>& samples,
            bool isCalibrated,
            const std::function<bool(const CalibrationSample&)>& counts)
{
    CalibrationErrors errors;
    for (const CalibrationSample& sample : samples)
    {
        if (!counts(sample))
        {
            continue;
        }
        const double error = std::abs(sample.GetError(isCalibrated));
        ++errors.samples;
        errors.mean += error;
        if (error > errors.most)
        {
            errors.most = error;
            errors.worst = sample.experiment;
        }
    }
    errors.mean /= std::max(errors.samples, 1u);
    return errors;
}

std::vector<std::vector<double>>
RunAtFlowLevel(const std::vector<Measurement>& measurements,
               const Cluster& cluster,
               const FlowParameters& parameters,
               const ProgramSettings& settings)
{
    const Paths paths(cluster);
    std::vector<std::vector<double>> times;
    for (const Measurement& measurement : measurements)
    {
        const ExecutionGraph& graph = measurement.experiment.graph;
        times.push_back(FindEnds(
            graph,
            RunFlow(graph, cluster, paths, RuntimeOptions(), parameters, settings).timeline));
    }
    return times;
}

FlowCalibration
FitFlow(const std::vector<Measurement>& measurements,
        const Cluster& cluster,
        const FlowParameters& start,
        const ProgramSettings& settings,
        const std::function<void(uint32_t, uint32_t, double)>& tell,
        uint32_t maxRounds)
{
    const auto nHeldOut =
        std::count_if(measurements.begin(), measurements.end(), [](const Measurement& measurement) {
            return measurement.experiment.isHeldOut;
        });
    if (nHeldOut == 0 || static_cast<std::size_t>(nHeldOut) == measurements.size())
    {
        throw std::invalid_argument("calibration: there must be experiments to fit, and some held "
                                    "out");
    }
    Trials trials(measurements, cluster, settings);
    FlowCalibration calibration;
    calibration.cluster = cluster.GetName();
    calibration.parameters = Descend(trials, cluster, start, tell, maxRounds);
    const auto before = RunAtFlowLevel(measurements, cluster, start, settings);
    const auto after = RunAtFlowLevel(measurements, cluster, calibration.parameters, settings);
    for (std::size_t i = 0; i < measurements.size(); ++i)
    {
        const MicroExperiment& experiment = measurements[i].experiment;
        for (uint32_t task = 0; task < before[i].size(); ++task)
        {
            calibration.samples.push_back({experiment.kind,
                                           experiment.name,
                                           task,
                                           experiment.isHeldOut,
                                           measurements[i].times[task],
                                           before[i][task],
                                           after[i][task]});
        }
    }
    const auto all = [](const CalibrationSample&) { return true; };
    const auto held = [](const CalibrationSample& sample) { return sample.isHeldOut; };
    const auto used = [](const CalibrationSample& sample) { return !sample.isHeldOut; };
    calibration.before = AddUpErrors(calibration.samples, false, all);
    calibration.fitted = AddUpErrors(calibration.samples, true, used);
    calibration.heldOut = AddUpErrors(calibration.samples, true, held);
    calibration.heldOutBefore = AddUpErrors(calibration.samples, false, held);
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
    nlohmann::ordered_json samples = nlohmann::ordered_json::array();
    for (const CalibrationSample& sample : calibration.samples)
    {
        samples.push_back({{"kind", sample.kind},
                           {"experiment", sample.experiment},
                           {"task", sample.task},
                           {"held_out", sample.isHeldOut},
                           {"packet_s", sample.packetS},
                           {"uncalibrated_s", sample.beforeS},
                           {"calibrated_s", sample.afterS}});
    }
    nlohmann::ordered_json root{
        {"format", FORMAT},
        {"version", VERSION},
        {"cluster", calibration.cluster},
    };
    if (calibration.servers > 0) // else nobody has said it
    {
        root["server"] = calibration.server;
        root["servers"] = calibration.servers;
    }
    root.update({{"provenance", calibration.provenance},
                 {"links", links},
                 {"errors_uncalibrated", ToJson(calibration.before)},
                 {"errors_fitted", ToJson(calibration.fitted)},
                 {"errors_held_out", ToJson(calibration.heldOut)},
                 {"errors_held_out_uncalibrated", ToJson(calibration.heldOutBefore)},
                 {"experiments", samples}});
    output << root.dump(1) << '\n';
}

namespace
{

/// @param json errors of a file @return them
CalibrationErrors
ReadErrors(const JsonValue& json)
{
    json.AllowKeys("errors", {"mean", "max", "worst", "samples"});
    CalibrationErrors errors;
    errors.mean = json.Get("mean").AsNumber(0, MOST_ERROR);
    errors.most = json.Get("max").AsNumber(0, MOST_ERROR);
    errors.worst = json.Get("worst").AsString();
    errors.samples = static_cast<uint32_t>(json.Get("samples").AsWhole(0, MOST_SAMPLES));
    if (errors.mean > errors.most * (1 + 1e-9)) // both are rounded
    {
        json.Get("mean").Fail("is above the largest, max: " + json.Get("max").Shown());
    }
    return errors;
}

/// @param json an experiment of a file @return it
CalibrationSample
ReadSample(const JsonValue& json)
{
    json.AllowKeys(
        "an experiment",
        {"kind", "experiment", "task", "held_out", "packet_s", "uncalibrated_s", "calibrated_s"});
    CalibrationSample sample;
    sample.kind = json.Get("kind").AsString();
    sample.experiment = json.Get("experiment").AsString();
    sample.task = static_cast<uint32_t>(json.Get("task").AsWhole(0, MOST_SAMPLES));
    sample.isHeldOut = json.Get("held_out").AsBool();
    sample.packetS = json.Get("packet_s").AsNumber(LEAST_TIME_S, MOST_TIME_S);
    sample.beforeS = json.Get("uncalibrated_s").AsNumber(0, MOST_TIME_S);
    sample.afterS = json.Get("calibrated_s").AsNumber(0, MOST_TIME_S);
    return sample;
}

/// @param json its number of servers @param calibration with it
/// @throw JsonError if the cluster's name has another one, as "2 x dgx-a100"
void
CheckServers(const JsonValue& json, const FlowCalibration& calibration)
{
    const std::size_t end = calibration.cluster.find(" x ");
    const std::string number = calibration.cluster.substr(0, end);
    if (end != std::string::npos && end > 0 &&
        number.find_first_not_of("0123456789") == std::string::npos &&
        number != std::to_string(calibration.servers))
    {
        json.Fail("is not the number of the cluster, " + ShownName(calibration.cluster));
    }
}

/// @param json its server @param calibration with it
/// @throw JsonError if the cluster's name has another preset, as "2 x dgx-a100"
void
CheckServer(const JsonValue& json, const FlowCalibration& calibration)
{
    const std::string separator = " x ";
    const std::size_t at = calibration.cluster.find(separator);
    const std::size_t begin = at == std::string::npos ? 0 : at + separator.size();
    const std::string named =
        calibration.cluster.substr(begin, calibration.cluster.find(',', begin) - begin);
    const std::vector<std::string> presets = GetServerPresets();
    const auto isPreset = [&presets](const std::string& name) {
        return std::find(presets.begin(), presets.end(), name) != presets.end();
    };
    if (isPreset(named) && isPreset(calibration.server) && named != calibration.server)
    {
        json.Fail("is not that of the cluster, " + ShownName(calibration.cluster));
    }
}

/// @param root of a file with experiments @param calibration that was read
/// @throw JsonError if its errors are not those of the experiments
void
CheckErrors(const JsonValue& root, const FlowCalibration& calibration)
{
    const auto all = [](const CalibrationSample&) { return true; };
    const auto held = [](const CalibrationSample& sample) { return sample.isHeldOut; };
    const auto used = [](const CalibrationSample& sample) { return !sample.isHeldOut; };
    const auto check =
        [&](const char* key, const CalibrationErrors& written, const CalibrationErrors& found) {
            const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-6 * (1 + b); };
            if (root.Has(key) &&
                (differ(written.mean, found.mean) || differ(written.most, found.most) ||
                 written.samples != found.samples || written.worst != found.worst))
            {
                root.Get(key).Fail("is not that of 'experiments', of which there are " +
                                   std::to_string(found.samples) + ", mean " +
                                   std::to_string(found.mean) + ", max " +
                                   std::to_string(found.most) + " of " + ShownName(found.worst));
            }
        };
    const auto& samples = calibration.samples;
    check("errors_uncalibrated", calibration.before, AddUpErrors(samples, false, all));
    check("errors_fitted", calibration.fitted, AddUpErrors(samples, true, used));
    check("errors_held_out", calibration.heldOut, AddUpErrors(samples, true, held));
    check("errors_held_out_uncalibrated",
          calibration.heldOutBefore,
          AddUpErrors(samples, false, held));
}

} // namespace

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
                    "server",
                    "servers",
                    "provenance",
                    "links",
                    "errors_uncalibrated",
                    "errors_fitted",
                    "errors_held_out",
                    "errors_held_out_uncalibrated",
                    "experiments"});
    FlowCalibration calibration;
    calibration.cluster = root.Get("cluster").AsString();
    if (calibration.cluster.empty())
    {
        root.Get("cluster").Fail("must be the name of the cluster that was fitted");
    }
    if (const auto server = root.Find("server"))
    {
        calibration.server = server->AsString();
        CheckServer(*server, calibration);
    }
    if (const auto servers = root.Find("servers"))
    {
        calibration.servers = static_cast<uint32_t>(servers->AsWhole(1, MAX_DEVICES));
        CheckServers(*servers, calibration);
    }
    calibration.provenance = root.Get("provenance").AsString();
    const JsonValue links = root.Get("links");
    for (const std::string& key : links.GetKeys())
    {
        const JsonValue json = links.Get(key.c_str());
        const LinkTechnology technology = json.Check([&] { return LinkTechnologyFromString(key); });
        FlowLinkParameters& link =
            calibration.parameters.links[static_cast<std::size_t>(technology)];
        json.AllowKeys("a link", {"efficiency", "sharing", "latency_us"});
        link.efficiency = json.Get("efficiency").AsNumber(0.01, MOST_EFFICIENCY);
        link.sharing = json.Get("sharing").AsNumber(0.01, MOST_SHARING);
        link.latencyPs = std::llround(json.Get("latency_us").AsNumber(LEAST_LATENCY_US, 1e6) * 1e6);
        calibration.technologies.insert(technology);
    }
    calibration.heldOut = ReadErrors(root.Get("errors_held_out"));
    for (const auto& [key, errors] :
         {std::make_pair("errors_uncalibrated", &calibration.before),
          std::make_pair("errors_fitted", &calibration.fitted),
          std::make_pair("errors_held_out_uncalibrated", &calibration.heldOutBefore)})
    {
        if (const auto json = root.Find(key))
        {
            *errors = ReadErrors(*json);
        }
    }
    if (const auto experiments = root.Find("experiments"))
    {
        for (std::size_t i = 0; i < experiments->Size(); ++i)
        {
            calibration.samples.push_back(ReadSample(experiments->At(i)));
        }
        CheckErrors(root, calibration);
    }
    return calibration;
}

} // namespace proteus
} // namespace ns3
