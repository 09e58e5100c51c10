/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../temporary-file.h"
#include "small-job.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param arguments of proteus-run @return what it prints
std::string
RunSmall(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(),
                     {MODEL,
                      "--strategy=dp=8,globalBatch=8,buckets=whole",
                      "--variables=layers=1",
                      "--cluster=pcie-v100x4",
                      "--quiet"});
    const Outcome outcome = Start("run", arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return outcome.out;
}

/// @param out of a program @param line that it says, or does not
void
ExpectSaid(const std::string& out, const std::string& line, bool isSaid = true)
{
    EXPECT_EQ(out.find(line) != std::string::npos, isSaid) << line << "\n" << out;
}

/// @param parts of a scenario, beside its head @return the text of its file
std::string
MakeScenario(const std::string& parts)
{
    return R"({"format": "proteus-scenario", "version": 1, )" + parts + "}";
}

/// @param file of a scenario @return the option that names it
std::string
Name(const TemporaryFile& file)
{
    return "--scenario=" + file.GetPath();
}

} // namespace

// Whoever does not say what links carry is asked for the ways that the job comes to.
TEST(IdleScenario, ExecutorsWithoutLinksNameWaysThatNothingChooses)
{
    const std::string stream = "--stream=3";
    const std::string routing = FABRIC + "Routing=Adaptive";
    const std::string paths = " has no effect: no two paths are equal";
    const std::string alone = "--executor=distsim-flow";
    ExpectSaid(RunSmall({alone, stream}), "distsim-flow: " + stream + paths);
    ExpectSaid(RunSmall({alone, routing}), "distsim-flow: " + routing + paths);
    const std::string leaves = "--fabric=leaf-spine";
    const std::string each = "--serversPerLeaf=1";
    ExpectSaid(RunSmall({alone, stream, leaves, each}), stream + paths, false);
    ExpectSaid(RunSmall({alone, routing, leaves, each}), routing + paths, false);
    ExpectSaid(RunSmall({"--executor=alpha-beta", leaves, "--spines=8"}),
               "alpha-beta: --spines=8 has no effect: nothing goes from one switch of the network");
    ExpectSaid(RunSmall({"--executor=alpha-beta", leaves, "--spines=8", each}),
               "--spines=8 has no effect",
               false);
    ExpectSaid(RunSmall({"--executor=ideal", leaves, "--spines=8", each}),
               "ideal: --spines=8 is not modelled: of the network, the links of servers count");
}

// A scenario that leaves the links as they are chooses no ways, and one without traffic needs no
// servers beside those of the jobs.
TEST(IdleScenario, OptionsBesideAScenarioAreNamed)
{
    const TemporaryFile slowFile("-slow.json", MakeScenario(R"("events": [
        {"kind": "slow-gpu", "gpus": ["n0.gpu3"], "at": "0ms", "factor": 2}])"));
    const TemporaryFile downFile("-down.json", MakeScenario(R"("events": [
        {"kind": "nic-down", "nic": "n0.nic0", "at": "1ms", "until": "1.1ms"}])"));
    const TemporaryFile trafficFile("-traffic.json", MakeScenario(R"("traffic": [
        {"kind": "permutation", "servers": [0, 2], "bytes": 65536, "from": "0ms"}])"));
    const std::string slow = Name(slowFile);
    const std::string down = Name(downFile);
    const std::string stream = "--stream=3";
    const std::string paths = " has no effect: no two paths are equal";
    const std::string flow = "--executor=flow";
    const std::string packet = "--executor=packet";
    ExpectSaid(RunSmall({flow, stream, slow}), "flow: " + stream + paths);
    ExpectSaid(RunSmall({packet, stream, slow}), "packet: " + stream + paths);
    ExpectSaid(RunSmall({packet, stream, down}), stream + paths, false);
    const std::string delay = FABRIC + "RerouteDelay=50us";
    ExpectSaid(RunSmall({packet, delay, slow}), delay + " has no effect: no link fails");
    ExpectSaid(RunSmall({packet, delay, down}), delay + " has no effect", false);
    const std::string idle = "--nodes=3: the job has 8 GPUs of 2 servers";
    ExpectSaid(RunSmall({flow, "--nodes=3", slow}), idle);
    ExpectSaid(RunSmall({packet, "--nodes=3", Name(trafficFile)}), idle, false);
}

// A slow host waits longer than the pace of --launchInterval, which times no kernel that has a
// time already; a neighbour's kernels have none.
TEST(IdleScenario, LaunchIntervalsOfTimedGraphsAreNamed)
{
    const TemporaryFile host("-host.json", MakeScenario(R"("events": [
        {"kind": "slow-host", "servers": [0], "at": "0ms", "launch_interval": "150us"}])"));
    const TemporaryFile neighbour("-neighbour.json", MakeScenario(R"("jobs": [
        {"name": "second", "model": "gpt3-125m", "strategy": "dp=4,globalBatch=4",
         "variables": "layers=1", "placement": {"kind": "packed", "servers": [1]}}])"));
    const auto run = [](const std::string& scenario) {
        const Outcome outcome = Start("run",
                                      {"--graph=" + WORKLOADS + "/graphs/ping.json",
                                       "--cluster=dgx-a100",
                                       "--executor=flow",
                                       "--launchInterval=50us",
                                       "--quiet",
                                       scenario});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    const std::string idle = "--launchInterval=50.000 us has no effect: the file has the times";
    ExpectSaid(run(Name(host)), idle);
    ExpectSaid(run(Name(neighbour)), idle, false);
}
