/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-flow-calibration.h"
#include "ns3/proteus-flow-run.h"

#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

Cluster
MakeHosts()
{
    return MakeHostCluster(4,
                           FabricOptions(),
                           LinkTechnology::INFINIBAND,
                           10e9,
                           1000000,
                           DefaultFraming(LinkTechnology::INFINIBAND));
}

} // namespace

TEST(FlowCalibration, ExperimentsDifferAndSomeAreHeldOut)
{
    const auto experiments = DesignExperiments(MakeCluster("dgx-a100", 2), {1 << 16, 1 << 20});
    std::set<std::string> names;
    std::size_t heldOut = 0;
    std::size_t together = 0;
    for (const MicroExperiment& experiment : experiments)
    {
        EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
        heldOut += experiment.isHeldOut;
        together += experiment.graph.GetNTasks() > 1;
    }
    EXPECT_EQ(heldOut, experiments.size() / 3);
    EXPECT_GE(together, 20u);
}

TEST(FlowCalibration, FindsParametersThatMadeTheMeasurements)
{
    const Cluster cluster = MakeHosts();
    FlowParameters planted;
    planted.links[static_cast<std::size_t>(LinkTechnology::INFINIBAND)] = {0.9, 0.85, 1500000};
    std::vector<Measurement> measurements;
    for (MicroExperiment& experiment : DesignExperiments(cluster, {4096, 1 << 20, 1 << 24}))
    {
        measurements.push_back({std::move(experiment), {}});
    }
    const auto times = RunAtFlowLevel(measurements, cluster, planted, ProgramSettings());
    for (std::size_t i = 0; i < times.size(); ++i)
    {
        measurements[i].times = times[i];
    }
    const FlowCalibration found =
        FitFlow(measurements, cluster, FlowParameters(), ProgramSettings());
    EXPECT_GT(found.heldOutBefore.mean, 0.05);
    EXPECT_LT(found.heldOut.mean, 0.01);
    const FlowLinkParameters& link = found.parameters.Get(LinkTechnology::INFINIBAND);
    EXPECT_NEAR(link.efficiency, 0.9, 0.01);
    EXPECT_NEAR(link.sharing, 0.85, 0.03);
    EXPECT_NEAR(static_cast<double>(link.latencyPs) / 1e6, 1.5, 0.3);

    std::stringstream file;
    WriteFlowCalibration(found, file);
    const FlowCalibration read = ReadFlowCalibration(file, "calibration.json");
    EXPECT_EQ(read.cluster, found.cluster);
    EXPECT_EQ(read.parameters.Get(LinkTechnology::INFINIBAND).efficiency, link.efficiency);
    EXPECT_EQ(read.parameters.Get(LinkTechnology::INFINIBAND).latencyPs, link.latencyPs);
    EXPECT_EQ(read.heldOut.worst, found.heldOut.worst);
    EXPECT_EQ(read.technologies.count(LinkTechnology::INFINIBAND), 1u);
    std::stringstream wrong("{\"format\": \"proteus-flow-calibration\", \"version\": 1}");
    EXPECT_THROW(ReadFlowCalibration(wrong, "wrong.json"), std::invalid_argument);
}

TEST(FlowCalibration, LinksThatAreBeyondWhatAFitFindsAreErrors)
{
    const auto errorOf = [](const std::string& link) {
        std::istringstream file(R"({"format": "proteus-flow-calibration", "version": 1,
 "cluster": "c", "provenance": "p", "links": {"nvlink": )" +
                                link + R"(},
 "errors_held_out": {"mean": 0.1, "max": 0.2, "worst": "w", "samples": 3}})");
        std::set<LinkTechnology> technologies;
        const std::string error =
            ErrorOf([&] { technologies = ReadFlowCalibration(file, "c.json").technologies; });
        EXPECT_EQ(technologies.size(), error.empty() ? 1u : 0u);
        return error;
    };
    EXPECT_EQ(errorOf(R"({"efficiency": 1.05, "sharing": 1, "latency_us": -1})"), "");
    EXPECT_NE(errorOf(R"({"efficiency": 2, "sharing": 1, "latency_us": 0})")
                  .find("/links/nvlink/efficiency: must be"),
              std::string::npos);
    EXPECT_NE(errorOf(R"({"efficiency": 1, "sharing": 1.5, "latency_us": 0})")
                  .find("/links/nvlink/sharing: must be"),
              std::string::npos);
    EXPECT_NE(errorOf(R"({"efficiency": 1, "sharing": 1, "latency_us": -2})")
                  .find("/links/nvlink/latency_us: must be"),
              std::string::npos);
}

TEST(FlowCalibration, WhatAFileSaysOfItsFitIsCompared)
{
    const auto errorOf = [](const std::string& cluster, const std::string& more) {
        std::istringstream file(R"({"format": "proteus-flow-calibration", "version": 1,
 "cluster": ")" + cluster + R"(", "provenance": "p", "links": {},
 "errors_held_out": {"mean": 0.1, "max": 0.2, "worst": "b", "samples": 2})" +
                                more + "}");
        return ErrorOf([&] { ReadFlowCalibration(file, "c.json"); });
    };
    const auto experiment = [](const std::string& name, double calibratedS, bool isHeldOut) {
        return R"({"kind": "k", "experiment": ")" + name +
               R"(", "task": 0, "packet_s": 1, "uncalibrated_s": 1.5, "calibrated_s": )" +
               std::to_string(calibratedS) + R"(, "held_out": )" + (isHeldOut ? "true}" : "false}");
    };
    const std::string two = "2 x dgx-a100, leaf-spine";
    EXPECT_EQ(errorOf(two, R"(, "servers": 2)"), "");
    EXPECT_EQ(errorOf("x marks", R"(, "servers": 3)"), "");
    EXPECT_NE(errorOf(two, R"(, "servers": 0)").find("/servers: must be"), std::string::npos);
    EXPECT_NE(errorOf(two, R"(, "servers": 3)").find("/servers: is not the number of the cluster"),
              std::string::npos);
    EXPECT_EQ(errorOf(two, R"(, "server": "dgx-a100")"), "");
    EXPECT_EQ(errorOf(two, R"(, "server": "my.json")"), "");
    EXPECT_EQ(errorOf("my own", R"(, "server": "dgx-h100")"), "");
    EXPECT_NE(errorOf(two, R"(, "server": "dgx-h100")").find("/server: is not that of the cluster"),
              std::string::npos);
    EXPECT_NE(errorOf("", "").find("/cluster: must be the name"), std::string::npos);
    const std::string all = R"(, "experiments": [)" + experiment("a", 1, true) + ", " +
                            experiment("b", 1.2, true) + ", " + experiment("c", 1.3, false) + "]";
    EXPECT_EQ(errorOf(two, all), "");
    EXPECT_EQ(errorOf(two, all + R"(, "errors_fitted": {"mean": 0.3, "max": 0.3, "worst": "c",
 "samples": 1})"),
              "");
    EXPECT_NE(errorOf(two, all + R"(, "errors_fitted": {"mean": 0.03, "max": 0.3, "worst": "c",
 "samples": 1})")
                  .find("/errors_fitted: is not that of 'experiments'"),
              std::string::npos);
    EXPECT_NE(errorOf(two, R"(, "experiments": [)" + experiment("a", 1, true) + "]")
                  .find("/errors_held_out: is not that of 'experiments', of which there are 1"),
              std::string::npos);
    EXPECT_NE(errorOf(two, R"(, "experiments": [{"kind": "k"}])").find("/experiments/0"),
              std::string::npos);
    EXPECT_NE(errorOf(two, R"(, "errors_fitted": {"mean": 2, "max": 1, "worst": "", "samples": 1})")
                  .find("/errors_fitted/mean: is above the largest"),
              std::string::npos);
}

TEST(Breakdown, AddsUpToTheIterationOnEveryDeviceOfARun)
{
    GraphBuilder builder(4);
    const PhaseId phase = builder.AddPhase("all", 3);
    const StreamId compute = builder.AddStream("compute");
    const StreamId communication = builder.AddStream("communication");
    const GroupId all = builder.AddGroup({0, 1, 2, 3});
    for (int layer = 0; layer < 3; ++layer)
    {
        std::vector<TaskId> before;
        for (DeviceId device = 0; device < 4; ++device)
        {
            before.push_back(
                builder.AddCompute(phase, device, compute, "c", int64_t{300000000} * (device + 1)));
        }
        builder.AddCommunication(phase,
                                 all,
                                 communication,
                                 "r",
                                 Collective::ALL_REDUCE,
                                 1 << 20,
                                 Parallelism::DATA,
                                 before);
    }
    const ExecutionGraph graph = builder.Build();
    const Timeline timeline = RunFlow(graph, MakeHosts()).timeline;
    const auto accounts = BreakDown(graph, timeline);
    ASSERT_EQ(accounts.size(), 4u);
    for (DeviceId device = 0; device < 4; ++device)
    {
        EXPECT_EQ(accounts[device].totalPs, timeline.endPs);
        EXPECT_EQ(accounts[device].computePs, int64_t{2700000000} * (device + 1));
        EXPECT_GT(accounts[device].GetExposedPs(), 0);
    }
    // The fastest device waits for the slowest one, and that for nobody.
    EXPECT_GT(accounts[0].GetWaitingPs(), accounts[2].GetWaitingPs());
    EXPECT_EQ(accounts[3].GetWaitingPs(), 0);
}
