/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

using namespace ns3::proteus;

TEST(ScenarioMistakes, EventsThatComeTooLate)
{
    const Folder folder;
    const auto start = [&](const std::string& at) {
        return Start(
            "run",
            Small({"--strategy=dp=8",
                   "--scenario=" + folder.Write("s.json",
                                                R"({"format": "proteus-scenario", "version": 1,
 "events": [{"kind": "slow-gpu", "gpus": ["n0.gpu0"], "factor": 2, "at": ")" +
                                                    at + "\"}]}")}));
    };
    const Outcome late = start("10s");
    EXPECT_EQ(late.code, 0) << late.error;
    EXPECT_NE(late.out.find("/events/0: has no effect: it begins at 10.000 s"), std::string::npos)
        << late.out;
    EXPECT_EQ(start("0").out.find("has no effect"), std::string::npos);
    ExpectRefusal(start(std::string(400, '9') + "us"), "/events/0/at: must be a time");
}

TEST(ScenarioMistakes, FailuresForGoodThatNoJobMeets)
{
    const Folder folder;
    const auto start = [&](const std::string& at) {
        return Start("run",
                     {MODEL,
                      "--variables=layers=1",
                      "--strategy=dp=5",
                      "--cluster=pcie-v100x4",
                      "--nodes=2",
                      "--executor=packet",
                      "--quiet",
                      "--scenario=" + folder.Write("s.json",
                                                   R"({"format": "proteus-scenario", "version": 1,
 "events": [{"kind": "nic-down", "nic": "n0.nic0", "at": ")" +
                                                       at + "\"}]}")});
    };
    const std::string cut = "s.json: failures that are never repaired cut n0.nic0 and n1.nic0 off";
    for (const std::string early : {"0", "90%", "1ms"})
    {
        const Outcome refused = start(early);
        EXPECT_EQ(refused.code, 1);
        EXPECT_NE(refused.error.find(cut), std::string::npos) << refused.error;
        EXPECT_EQ(refused.out.empty(), early != "1ms") << refused.out; // which takes a run alone
    }
    for (const std::string late : {"10s", "200%"})
    {
        const Outcome run = start(late);
        EXPECT_EQ(run.code, 0) << run.error;
        EXPECT_NE(run.out.find("/events/0: has no effect: it begins at "), std::string::npos)
            << run.out;
    }
}

TEST(ScenarioMistakes, TrafficOfAClassThatTheNetworkLacks)
{
    const Folder folder;
    const std::string file =
        folder.Write("s.json",
                     R"({"format": "proteus-scenario", "version": 1, "compare_alone": false,
 "traffic": [{"kind": "list", "traffic_class": 7, "messages":
 [{"from": "n0.gpu0", "to": "n0.gpu1", "bytes": 1000, "start": "0"}]}]})");
    const std::string packets = "--executor=packet";
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", packets, "--scenario=" + file})),
                  file + ": /traffic/0/traffic_class: is 7, but the last class of the network is ");
    const std::string classes = "--ns3::proteus::Fabric::TrafficClasses=8";
    const Outcome more =
        Start("run", Small({"--strategy=dp=8", packets, classes, "--scenario=" + file}));
    EXPECT_EQ(more.code, 0) << more.error;
}

TEST(ScenarioMistakes, EventsOnGpusWithoutAJobAndSeedsOfNothing)
{
    const Folder folder;
    const auto start = [&](const std::string& body) {
        return Start("run",
                     {MODEL,
                      "--variables=layers=2",
                      "--strategy=dp=8",
                      "--nodes=2",
                      "--executor=flow",
                      "--quiet",
                      "--scenario=" + folder.Write("s.json",
                                                   R"({"format": "proteus-scenario", "version": 1,
 "compare_alone": false, )" + body + "}")});
    };
    const auto slow = [&](const std::string& gpus) {
        return start(R"("events": [{"kind": "slow-gpu", "factor": 2, "at": "0", "gpus": [)" + gpus +
                     "]}]");
    };
    const std::string idle = "/events/0: has no effect: no job runs on a GPU that it names";
    EXPECT_NE(slow(R"("n1.gpu0", "n1.gpu7")").out.find(idle), std::string::npos);
    EXPECT_EQ(slow(R"("n1.gpu0", "n0.gpu7")").out.find(idle), std::string::npos);
    // What comes to no task.
    const std::string none = "/events/0: has no effect: no compute task that begins meanwhile";
    const auto event = [&](const std::string& rest) {
        return start(R"("events": [{"at": "0", )" + rest + "}]").out;
    };
    const std::string host = R"("kind": "slow-host", "servers": [0], "launch_interval": )";
    EXPECT_NE(event(host + R"("1ps")").find(none), std::string::npos);
    EXPECT_EQ(event(host + R"("1ms")").find("has no effect"), std::string::npos);
    const std::string gpu = R"("kind": "slow-gpu", "servers": [0], "factor": 2, "until": )";
    EXPECT_NE(event(R"("kind": "slow-gpu", "servers": [0], "factor": 1)").find(none),
              std::string::npos);
    EXPECT_EQ(event(gpu + R"("1us")").find("has no effect"), std::string::npos);
    // What nothing crosses.
    const std::string uncrossed = "/events/0: has no effect: nothing crosses its links";
    const auto packets = [&](const std::string& what, const std::string& plan = "dp=8") {
        return Start("run",
                     {MODEL,
                      "--variables=layers=1",
                      "--strategy=" + plan,
                      "--nodes=3",
                      "--quiet",
                      "--scenario=" + folder.Write("p.json",
                                                   R"({"format": "proteus-scenario", "version": 1,
 "compare_alone": false, "events": [{"at": "0", "until": "1ms", )" +
                                                       what + "}]}")})
            .out;
    };
    for (const char* idle : {R"("kind": "degraded", "rate_share": 0.5, "nic": "n0.nic0")",
                             R"("kind": "nic-down", "nic": "n0.nic0")"})
    {
        EXPECT_NE(packets(idle).find(uncrossed), std::string::npos) << idle;
    }
    const std::string down = R"("kind": "nic-down", "nic": )";
    EXPECT_NE(packets(down + R"("n2.nic0")", "dp=16").find(uncrossed), std::string::npos);
    EXPECT_EQ(packets(down + R"("n1.nic0")", "dp=16").find(uncrossed), std::string::npos);
    const auto neighbour = [&](const std::string& strategy) {
        return start(R"("jobs": [{"name": "b", "model": "gpt3-125m", "variables": "layers=2",
 "strategy": ")" + strategy +
                     "\"}]");
    };
    ExpectNote(neighbour("dp=1,zero=1"),
               "/jobs/0/strategy: zero=1 has no effect: the job is the same without it");
    EXPECT_EQ(neighbour("dp=2,zero=1").error.find("has no effect"), std::string::npos);
    ExpectNote(start(R"("name": "quiet")"),
               "has no effect: there is no job, event or traffic in it");
    const std::string seed = "/seed: has no effect: no placement or order of ranks is 'random'";
    ExpectNote(start(R"("seed": 3)"), seed);
    for (const std::string used :
         {R"("job": {"placement": {"kind": "random"}})",
          R"("job": {"placement": {"kind": "packed", "rank_order": "random"}})"})
    {
        EXPECT_EQ(start(R"("seed": 3, )" + used).error.find(seed), std::string::npos) << used;
    }
}

TEST(ScenarioMistakes, TrafficThatIsNotSentIsNamed)
{
    const Folder folder;
    const auto start = [&folder](const std::string& traffic) {
        const std::string file = folder.Write("s.json",
                                              R"({"format": "proteus-scenario", "version": 1,
 "compare_alone": false, "traffic": [{)" + traffic +
                                                  "}]}");
        return Start("run",
                     {PING,
                      "--cluster=dgx-a100:nodes=2,nic=8x200G-roce",
                      "--executor=packet",
                      "--quiet",
                      "--scenario=" + file})
            .out;
    };
    const auto has = [&start](const std::string& traffic, const std::string& note) {
        const std::string out = start(traffic);
        EXPECT_NE(out.find("s.json: /traffic/0" + note), std::string::npos) << out;
    };
    const std::string idle = "s.json: /traffic/0";
    const std::string rounds = R"("kind": "permutation", "bytes": 1000, "every": )";
    has(rounds + R"("2us", "until": "1us")",
        "/every: has no effect: traffic ends, 1.000 us after it has begun, before it would be sent "
        "again");
    has(rounds + R"("1s")", "/every: has no effect: traffic ends, ");
    EXPECT_EQ(start(rounds + R"("200ns", "until": "1us")").find(idle), std::string::npos);
    const std::string random = R"("kind": "poisson", "bytes": 1000, "messages_per_s": )";
    has(random + "0.01", ": has no effect: no message begins in the ");
    EXPECT_EQ(start(random + "1e10").find(idle), std::string::npos);
    const auto list = [](const std::string& second) {
        const std::string message = R"({"from": "n0.gpu0", "to": "n1.gpu0", "bytes": 8, "start": )";
        return R"("kind": "list", "from": "1ns", "messages": [)" + message + "\"0\"}, " + message +
               second + "}]";
    };
    EXPECT_EQ(start(list("\"1ns\"")).find(idle), std::string::npos);
    has(list("\"2s\""), ": 1 of 2 messages would begin when all jobs have ended, and are not sent");
}

// What traffic sends when all jobs have ended is no part of their time.
TEST(ScenarioMistakes, NoLinkIsBusyForLongerThanTheRun)
{
    const Folder folder;
    const std::string file =
        folder.Write("s.json",
                     R"({"format": "proteus-scenario", "version": 1, "compare_alone": false,
 "traffic": [{"kind": "incast", "to": "n0.gpu0", "bytes": 1000000, "from": "0"}]})");
    const std::string json = folder.Get() + "/r.json";
    const Outcome outcome = Start("run",
                                  {PING,
                                   "--cluster=dgx-a100:nodes=2,nic=8x10G-roce",
                                   "--executor=packet",
                                   "--quiet",
                                   "--scenario=" + file,
                                   "--json=" + json});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    std::ifstream input(json);
    const auto tables = nlohmann::json::parse(input).at("tables");
    const auto& links = tables.at("links");
    const auto& columns = links.at("columns");
    std::size_t busy = 0;
    while (columns.at(busy).at("name") != "busy_share")
    {
        ++busy;
    }
    double most = 0;
    for (const auto& row : links.at("rows"))
    {
        most = std::max(most,
                        row.is_array() ? row.at(busy).get<double>()
                                       : row.at("busy_share").get<double>());
    }
    EXPECT_GT(most, 0.5);
    EXPECT_LE(most, 1);
}
