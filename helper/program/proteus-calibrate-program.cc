/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-calibration-run.h"
#include "proteus-collective-sizes.h"
#include "proteus-command-line-program.h"
#include "proteus-option-values.h"
#include "proteus-program-options.h"
#include "proteus-programs.h"

#include "ns3/proteus-output-file.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Fits the flow network to the packet network on a cluster.
 */

namespace ns3
{
namespace proteus
{

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
    for (const std::string& part : SplitOnce("--sizes=" + text, text))
    {
        const uint64_t bytes = ParseSize(part, "sizes");
        if (std::find(sizes.begin(), sizes.end(), bytes) != sizes.end())
        {
            throw std::invalid_argument("--sizes=" + text + ": " + part + " stands there twice");
        }
        sizes.push_back(bytes);
    }
    return sizes;
}

/// The program.
class CalibrateProgram : public CommandLineProgram
{
  public:
    using CommandLineProgram::CommandLineProgram;

  private:
    std::string GetName() const override
    {
        return "proteus-calibrate";
    }

    void AddTo(OptionList& command) override
    {
        command.Usage(
            "Runs micro-experiments packet by packet on a cluster, fits the parameters of the\n"
            "flow network to two thirds of them, and says how well the others agree.\n"
            "\n"
            "For example:\n"
            "  proteus-calibrate --cluster=dgx-a100 --nodes=2 --saveCalibration=a100.json\n"
            "  proteus-run --cluster=dgx-a100 --nodes=2 --model=gpt2 --strategy='{\"dp\": 16}'\n"
            "      --executor=both --calibration=a100.json");
        command.AddValue(
            "sizes",
            "sizes of the communications in bytes, separated by commas; K, M and G may follow "
            "(default " +
                PrintSizes(GetCalibrationSizes(false)) + ")",
            m_sizes);
        command.AddValue("quick",
                         "fewer sizes, " + PrintSizes(GetCalibrationSizes(true)) +
                             ": less time, larger errors",
                         m_isQuick);
        command.AddValue(
            "rounds",
            "rounds of the fit over all parameters, at most; 0: no fit, only the errors",
            m_rounds);
        command.AddRange("rounds", 0);
        command.AddOutput("saveCalibration",
                          "calibration file to write, for --calibration",
                          m_output,
                          ".json");
        command.AddHint("output", "it is --saveCalibration");
        // What else a run can be told would have no part in experiments of communication alone.
        m_options.AddClusterTo(command);
        command.StartGroup("Collectives");
        m_options.nccl.AddTo(command, [this]() { return m_options.BuildCluster(); });
        command.StartGroup("Run");
        command.AddValue("quiet", "no progress line", m_options.quiet);
    }

    ProgramOptions* GetRunOptions() override
    {
        return &m_options;
    }

    std::vector<Table> DescribeTables() override
    {
        return {};
    }

    void Run() override
    {
        if (m_isQuick && !m_sizes.empty())
        {
            throw std::invalid_argument("--quick and --sizes: give one of them");
        }
        m_options.Check();
        CheckWritable(m_output);
        const std::vector<uint64_t> chosen =
            m_sizes.empty() ? GetCalibrationSizes(m_isQuick) : ParseSizes(m_sizes);
        const Cluster cluster = m_options.BuildCluster();
        CheckBufferSize(*std::max_element(chosen.begin(), chosen.end()), cluster, "--sizes");
        const std::size_t nExperiments = DesignExperiments(cluster, chosen).size();
        if (nExperiments == 0)
        {
            throw std::invalid_argument("cluster '" + cluster.GetName() +
                                        "': a calibration needs GPUs that communicate, two or "
                                        "more");
        }
        std::cout << nExperiments << " experiments on " << cluster.GetName() << std::endl;
        const FlowCalibration calibration =
            RunCalibration(m_options, cluster, chosen, ToCount(m_rounds, "rounds", 0));
        PrintCalibration(calibration, cluster, std::cout);
        WriteFile(m_output, [&](std::ostream& out) { WriteFlowCalibration(calibration, out); });
        std::cout << "\nWritten to " << m_output << ": use it with --calibration=" << m_output
                  << '\n';
    }

    ProgramOptions m_options;
    std::string m_sizes;
    CommandLineText m_output{"calibration.json"};
    bool m_isQuick{false};
    int64_t m_rounds{MAX_FIT_ROUNDS};
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeCalibrateProgram(const std::string& workloads)
{
    return std::make_unique<CalibrateProgram>(workloads);
}

} // namespace proteus
} // namespace ns3
