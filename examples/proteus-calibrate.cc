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

#include "ns3/proteus-calibration-run.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-program-options.h"

#include <iostream>
#include <sstream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// @param sizes in bytes @return as --sizes takes them
std::string
PrintSizes(const std::vector<uint64_t>& sizes)
{
    std::string text;
    for (const uint64_t bytes : sizes)
    {
        text += (text.empty() ? "" : ",") + std::to_string(bytes);
    }
    return text;
}

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

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    ProgramOptions options;
    std::string sizes;
    std::string output{"calibration.json"};
    bool isQuick = false;
    int64_t rounds = MAX_FIT_ROUNDS;
    CommandLine command(__FILE__);
    command.Usage(
        "Runs micro-experiments packet by packet on a cluster, fits the parameters of the\n"
        "flow network to two thirds of them, and says how well the others agree.\n"
        "\n"
        "For example:\n"
        "  proteus-calibrate --cluster=dgx-a100 --nodes=2 --output=a100.json\n"
        "  proteus-run --cluster=dgx-a100 --nodes=2 --model=gpt2 --strategy='{\"dp\": 16}'\n"
        "      --executor=both --calibration=a100.json");
    command.AddValue("sizes",
                     "sizes of the communications in bytes, separated by commas (default " +
                         PrintSizes(GetCalibrationSizes(false)) + ")",
                     sizes);
    command.AddValue("quick",
                     "fewer sizes, " + PrintSizes(GetCalibrationSizes(true)) +
                         ": less time, larger errors",
                     isQuick);
    command.AddValue("rounds",
                     "rounds of the fit over all parameters, at most; 0: no fit, only the errors",
                     rounds);
    command.AddValue("output", "calibration file to write", output);
    options.AddTo(command);
    options.Parse(command, argc, argv);
    return RunProgram("proteus-calibrate", [&]() {
        if (isQuick && !sizes.empty())
        {
            throw std::invalid_argument("--quick and --sizes: give one of them");
        }
        options.Check();
        CheckWritable(output);
        const std::vector<uint64_t> chosen =
            sizes.empty() ? GetCalibrationSizes(isQuick) : ParseSizes(sizes);
        const Cluster cluster = options.BuildCluster();
        const std::size_t nExperiments = DesignExperiments(cluster, chosen).size();
        std::cout << nExperiments << " experiments on " << cluster.GetName() << std::endl;
        const FlowCalibration calibration =
            RunCalibration(options, cluster, chosen, ToCount(rounds, "rounds", 0));
        PrintCalibration(calibration, cluster, std::cout);
        WriteFile(output, [&](std::ostream& out) { WriteFlowCalibration(calibration, out); });
        std::cout << "\nWritten to " << output << ": use it with --calibration=" << output << '\n';
    });
}
