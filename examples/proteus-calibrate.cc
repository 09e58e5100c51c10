/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup proteus
 * Fits the flow network to the packet network on a cluster.
 */

#include "ns3/proteus-flow-calibration.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-program-options.h"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// @param text sizes in bytes, separated by commas @return them
std::vector<uint64_t>
ParseSizes(const std::string& text)
{
    std::vector<uint64_t> sizes;
    std::istringstream input(text);
    for (std::string part; std::getline(input, part, ',');)
    {
        char* end = nullptr;
        const unsigned long long bytes = std::strtoull(part.c_str(), &end, 10);
        if (part.empty() || part.front() == '-' || *end != '\0' || bytes == 0)
        {
            throw std::invalid_argument("--sizes=" + text +
                                        ": must be bytes, separated by commas, e.g. 65536,1048576");
        }
        sizes.push_back(bytes);
    }
    return sizes;
}

/// Runs an experiment packet by packet.
Measurement
Measure(const ProgramOptions& options, const Cluster& cluster, const MicroExperiment& experiment)
{
    const RunResult result = RunPacketLevel(options, cluster, experiment.graph);
    Measurement measurement{experiment, std::vector<double>(experiment.graph.GetNTasks(), 0)};
    for (const Span& span : result.timeline.spans)
    {
        double& time = measurement.times[span.task];
        time = std::max(time, static_cast<double>(span.endPs) * 1e-12);
    }
    return measurement;
}

void
PrintErrors(const char* what, const FlowErrors& errors)
{
    std::printf("  %-28s %5u times   mean %6.2f %%   max %6.2f %%   %s\n",
                what,
                errors.samples,
                100 * errors.mean,
                100 * errors.most,
                errors.worst.c_str());
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    ProgramOptions options;
    options.quiet = true;
    std::string sizes{"16384,262144,2097152,16777216"};
    std::string output{"calibration.json"};
    CommandLine command(__FILE__);
    command.Usage(
        "Runs micro-experiments packet by packet on a cluster, fits the parameters of the\n"
        "flow network to two thirds of them, and says how well the others agree.");
    command.AddValue("sizes", "sizes of the communications in bytes", sizes);
    command.AddValue("output", "calibration file to write", output);
    options.AddTo(command);
    options.Parse(command, argc, argv);
    return RunProgram("proteus-calibrate", [&]() {
        options.Check();
        CheckWritable(output);
        const Cluster cluster = options.BuildCluster();
        std::vector<Measurement> measurements;
        for (const MicroExperiment& experiment : DesignExperiments(cluster, ParseSizes(sizes)))
        {
            measurements.push_back(Measure(options, cluster, experiment));
        }
        std::cout << measurements.size() << " experiments on " << cluster.GetName() << std::endl;
        FlowParameters start;
        FollowPacketNetwork(start, ToCount(options.stream, "stream", 0));
        FlowCalibration calibration = FitFlow(measurements,
                                              cluster,
                                              start,
                                              GetPacketProgramSettings(),
                                              [](uint32_t round, double error) {
                                                  std::cerr << "round " << round
                                                            << ": root mean square error "
                                                            << 100 * error << " %" << std::endl;
                                              });
        calibration.provenance = options.information.command + "; proteus " +
                                 options.information.version + ", ns-3 " +
                                 options.information.ns3Version;
        PrintErrors("uncalibrated, all", calibration.before);
        PrintErrors("uncalibrated, held out", calibration.heldOutBefore);
        PrintErrors("calibrated, fitted", calibration.fitted);
        PrintErrors("calibrated, held out", calibration.heldOut);
        WriteFile(output, [&](std::ostream& out) { WriteFlowCalibration(calibration, out); });
    });
}
