/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-job-composition.h"
#include "ns3/proteus-job-placement.h"
#include "ns3/proteus-scenario-idle.h"
#include "ns3/proteus-scenario-json.h"
#include "ns3/proteus-scenario.h"
#include "ns3/proteus-traffic-source.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t MS = 1000000000;

/// @return four DGX H100 behind two leaves and two spines
const Cluster&
GetCluster()
{
    static const Cluster cluster = [] {
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.serversPerLeaf = 2;
        fabric.spines = 2;
        return MakeCluster("dgx-h100", 4, fabric);
    }();
    return cluster;
}

/// @return what a scenario says of that cluster
Scenario
Read(const std::string& body)
{
    std::istringstream input(R"({"format": "proteus-scenario", "version": 1)" + body + "}");
    return ReadScenarioJson(input, "s.json", GetCluster());
}

/// @return two devices that compute and then reduce, times in milliseconds
ExecutionGraph
MakeGraph(int64_t computeMs, const std::string& name)
{
    GraphBuilder builder(2);
    WorkloadFacts facts;
    facts.name = name;
    facts.tokensPerIteration = 10;
    builder.SetFacts(facts);
    const StreamId compute = builder.AddStream("compute");
    const StreamId communication = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("all");
    const TaskId a = builder.AddCompute(phase, 0, compute, "a", computeMs * MS);
    const TaskId b = builder.AddCompute(phase, 1, compute, "b", computeMs * MS);
    builder.AddCommunication(phase,
                             builder.AddGroup({0, 1}),
                             communication,
                             "reduce",
                             Collective::ALL_REDUCE,
                             1 << 20,
                             Parallelism::DATA,
                             {a, b});
    return builder.Build();
}

/// A wrong file, and what the one line about it has to say.
struct Wrong
{
    std::string body;
    std::string hint;
};

const std::vector<Wrong> WRONG{
    {R"(, "event": [])", "event"},
    {R"(, "seed": -1)", "/seed"},
    {R"(, "events": [{"kind": "link-dwon", "at": "1ms"}])",
     "/events/0/kind: unknown kind of event 'link-dwon'; did you mean link-down? known are "
     "link-down, switch-down"},
    {R"(, "events": [{"kind": "link-down", "link": ["leaf0", "spine0"]}])", "at"},
    {R"(, "events": [{"kind": "link-down", "link": ["leaf0", "spine9"], "at": "1ms"}])",
     "/events/0/link/1: there is no vertex 'spine9'"},
    {R"(, "events": [{"kind": "link-down", "link": ["leaf0", "leaf1"], "at": "1ms"}])",
     "/events/0/link: there is no link between leaf0 and leaf1"},
    {R"(, "events": [{"kind": "link-down", "link": ["leaf0"], "at": "1ms"}])",
     "/events/0/link: must be the names of both ends"},
    {R"(, "events": [{"kind": "switch-down", "switch": "n0.nic0", "at": "1ms"}])",
     "/events/0/switch: 'n0.nic0' is no switch"},
    {R"(, "events": [{"kind": "nic-down", "nic": "n0.gpu0", "at": "1ms"}])",
     "/events/0/nic: 'n0.gpu0' is no NIC or host"},
    {R"(, "events": [{"kind": "nic-down", "nic": "n0.nic0", "at": "5"}])",
     "/events/0/at: must be a time with its unit"},
    {R"(, "events": [{"kind": "nic-down", "nic": "n0.nic0", "at": "5ms", "until": "4ms"}])",
     "/events/0/until: must be later than 'at'"},
    {R"(, "events": [{"kind": "nic-down", "nic": "n0.nic0", "at": 5}])", "/events/0/at"},
    {R"(, "events": [{"kind": "degraded", "nic": "n0.nic0", "at": "0"}])",
     "/events/0: needs 'rate_share', 'loss_probability' or 'bit_error_rate'"},
    {R"(, "events": [{"kind": "degraded", "nic": "n0.nic0", "at": "0", "rate_share": 0}])",
     "/events/0/rate_share: must be above 0"},
    {R"(, "events": [{"kind": "degraded", "nic": "n0.nic0", "at": "0", "loss_probability": 2}])",
     "/events/0/loss_probability"},
    {R"(, "events": [{"kind": "pfc-storm", "nic": "n0.nic0", "at": "0", "until": "1ms"}])",
     "/events/0/nic: its link is infiniband, which has credits and no PFC"},
    {R"(, "events": [{"kind": "slow-gpu", "factor": 2, "at": "0"}])", "servers"},
    {R"(, "events": [{"kind": "slow-gpu", "servers": [4], "factor": 2, "at": "0"}])",
     "/events/0/servers/0: there is no server 4: the cluster has 4"},
    {R"(, "events": [{"kind": "slow-gpu", "servers": ["0-1", 1], "factor": 2, "at": "0"}])",
     "/events/0/servers/1: server 1 is there twice"},
    {R"(, "events": [{"kind": "slow-gpu", "gpus": ["n0.gpu0"], "factor": 0, "at": "0"}])",
     "/events/0/factor"},
    {R"(, "events": [{"kind": "slow-host", "servers": [0], "at": "0"}])", "launch_interval"},
    {R"(, "events": [{"kind": "slow-gpu", "gpus": [], "factor": 2, "at": "0"}])",
     "/events/0/gpus: needs at least one GPU"},
    {R"(, "events": [{"kind": "slow-host", "servers": [0], "at": "0", "launch_interval": "5%"}])",
     R"(/events/0/launch_interval: must be a time with its unit, such as "12.5us" or "3ms", not '5%')"},
    {R"(, "job": {"placement": {"kind": "dense"}})",
     "/job/placement/kind: unknown placement 'dense'; known are packed, spread, random, list"},
    {R"(, "job": {"placement": {"kind": "packed", "rank_order": "sorted"}})",
     "/job/placement/rank_order: unknown order of ranks 'sorted'; known are rail-aligned"},
    {R"(, "job": {"placement": {"kind": "list", "gpus": ["n0.gpu0", "n0.gpu0"]}})",
     "/job/placement/gpus/1: stands in the list twice"},
    {R"(, "job": {"placement": {"kind": "packed", "gpus": ["n0.gpu0"]}})",
     "/job/placement/gpus: belongs to the kind 'list'"},
    {R"(, "jobs": [{"model": "gpt3-125m", "strategy": "dp=2"}])", "name"},
    {R"(, "jobs": [{"name": "b", "model": "gpt3-125m"}])", "strategy"},
    {R"(, "jobs": [{"name": "b"}])", "/jobs/0: needs either 'model' and 'strategy', or 'graph'"},
    {R"(, "jobs": [{"name": "job", "graph": "g.json"}])",
     "/jobs/0/name: another job has this name"},
    {R"(, "jobs": [{"name": "b", "graph": "g.json", "iterations": 0}])", "/jobs/0/iterations"},
    {R"(, "jobs": [{"name": "b", "graph": "g.json", "start": "10%"}])",
     "/jobs/0/start: must be a time with its unit"},
    {R"(, "traffic": [{"kind": "list", "messages": []}])",
     "/traffic/0/messages: needs at least one message"},
    {R"(, "traffic": [{"kind": "burst"}])",
     "/traffic/0/kind: unknown kind of traffic 'burst'; known are all-to-all, incast"},
    {R"(, "traffic": [{"kind": "poisson", "bytes": 1000}])", "/traffic/0: needs either 'load'"},
    {R"(, "traffic": [{"kind": "poisson", "load": 0.1}])", "/traffic/0: needs either 'bytes'"},
    {R"(, "traffic": [{"kind": "poisson", "servers": [1], "bytes": 9, "load": 0.1}])",
     "/traffic/0: needs GPUs of two servers or more"},
    {R"(, "traffic": [{"kind": "poisson", "sizes": "none.csv", "load": 0.1}])", "none.csv"},
    {R"(, "traffic": [{"kind": "poisson", "bytes": 9, "load": 1.5}])",
     "/traffic/0/load: is more than these NICs carry"},
    {R"(, "traffic": [{"kind": "incast", "servers": [1], "bytes": 9}])", "to"},
    {R"(, "traffic": [{"kind": "permutation", "bytes": 9, "shift": 32}])", "/traffic/0/shift"},
    {R"(, "traffic": [{"kind": "all-to-all", "bytes": 0}])", "/traffic/0/bytes"},
    {R"(, "traffic": [{"kind": "list", "messages": [{"from": "n0.gpu0", "to": "n0.gpu0", )"
     R"("bytes": 5}]}])",
     "/traffic/0/messages/0: 'from' and 'to' must be two GPUs"},
    {R"(, "traffic": [{"kind": "all-to-all", "bytes": 9, "until": "1ms"}])",
     "/traffic/0/until: belongs to traffic that goes on"}};

} // namespace

TEST(Scenario, WrongFilesAreRefusedInOneLineWithTheirPlace)
{
    for (const Wrong& wrong : WRONG)
    {
        try
        {
            Read(wrong.body);
            FAIL() << "taken: " << wrong.body;
        }
        catch (const std::invalid_argument& error)
        {
            const std::string what = error.what();
            EXPECT_NE(what.find(wrong.hint), std::string::npos) << what << "\n" << wrong.body;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        }
    }
}

TEST(Scenario, ValuesAreSetByTheirPlace)
{
    const std::string file =
        R"({"format": "proteus-scenario", "version": 1, "seed": 3, "compare_alone": true,
            "jobs": [{"name": "b", "graph": "g.json", "start": "1ms",
                      "placement": {"kind": "packed", "servers": [1]}}]})";
    const auto change = [&](const std::string& changes) {
        std::istringstream input(file);
        return ChangeScenarioJson(input, "s.json", changes);
    };
    std::istringstream changed(change("/jobs/0/start=2.5ms;/seed=7;/compare_alone=false;"
                                      "/jobs/0/placement/servers=[2,3]"));
    const Scenario scenario = ReadScenarioJson(changed, "s.json", GetCluster());
    EXPECT_EQ(scenario.jobs.at(0).startPs, 5 * MS / 2);
    EXPECT_EQ(scenario.seed, 7u);
    EXPECT_FALSE(scenario.comparesAlone);
    EXPECT_EQ(scenario.jobs[0].placement.servers, (std::vector<int32_t>{2, 3}));
    for (const Wrong& wrong :
         {Wrong{"seed=7", "must be /PLACE=VALUE"},
          Wrong{"/seed", "must be /PLACE=VALUE"},
          Wrong{"/seed=7;", "must be /PLACE=VALUE"},
          Wrong{"/jobs/1/start=2ms", "there is no '/jobs/1/start' in s.json"},
          Wrong{"/jobs/x=2", "there is no '/jobs/x' in s.json"},
          Wrong{"/jobs/0/iterations=2", "there is no '/jobs/0/iterations' in s.json"},
          Wrong{"/seed=2;/jobs/0/start=2ms;/seed=3", "/seed=3: this place is set twice"},
          Wrong{"/seed=many", "must be of the kind that is there, number"},
          Wrong{"/seed=[1]", "must be of the kind that is there, number"},
          Wrong{"/jobs/0/placement/servers=1", "must be of the kind that is there, array"}})
    {
        try
        {
            change(wrong.body);
            FAIL() << "taken: " << wrong.body;
        }
        catch (const std::invalid_argument& error)
        {
            const std::string what = error.what();
            EXPECT_EQ(what.find("--scenarioSet="), 0u) << what;
            EXPECT_NE(what.find(wrong.hint), std::string::npos) << what;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        }
    }
}

TEST(Scenario, TimesHaveUnitsOrAreParts)
{
    EXPECT_EQ(ParseScenarioTime("1.5ms").ps, 3 * MS / 2);
    EXPECT_EQ(ParseScenarioTime("0").ps, 0);
    EXPECT_EQ(ParseScenarioTime("7 us").ps, 7000000);
    EXPECT_EQ(ParseScenarioTime("30%").Resolve(10 * MS), 3 * MS);
    EXPECT_EQ(ParseScenarioTime("150 %").Resolve(10 * MS), 15 * MS);
    for (const char* text :
         {"", "ms", "1", "-1ms", "1.2.3s", "1h", "1 2ms", ".", "1e3us", "99999999999s"})
    {
        EXPECT_THROW(ParseScenarioTime(text), std::invalid_argument) << text;
    }
}

TEST(Scenario, EventsBecomeChangesAndTheirOpposites)
{
    const Scenario scenario = Read(
        R"(, "events": [
        {"kind": "switch-down", "switch": "spine0", "at": "2ms", "until": "5ms"},
        {"kind": "link-down", "link": ["leaf0", "spine0"], "at": "4ms", "until": "8ms"},
        {"kind": "degraded", "nic": "n1.nic2", "rate_share": 0.25, "at": "10%", "until": "20%"},
        {"kind": "degraded", "nic": "n1.nic3", "bit_error_rate": 1e-9, "at": "1ms"},
        {"kind": "slow-gpu", "gpus": ["n0.gpu1"], "factor": 2, "at": "0", "until": "3ms"},
        {"kind": "slow-host", "servers": [0], "launch_interval": "5us", "at": "1ms"}])");
    EXPECT_TRUE(scenario.NeedsAlone());
    const ScenarioPlan plan = MakeScenarioPlan(scenario, GetCluster(), 16, 100 * MS);
    std::map<std::string, int> counts;
    int64_t last = 0;
    for (const LinkChange& change : plan.changes)
    {
        EXPECT_GE(change.timePs, last);
        last = change.timePs;
        const Link& link = GetCluster().GetLinks()[change.link];
        const auto& vertices = GetCluster().GetVertices();
        ++counts[std::to_string(static_cast<int>(change.kind)) + " " +
                 std::to_string(change.timePs / MS) + " " + vertices[link.a].name + " " +
                 vertices[link.b].name];
        if (change.kind == LinkChange::Kind::RATE)
        {
            EXPECT_EQ(change.bytesPerSecond,
                      link.bytesPerSecond * (change.timePs == 10 * MS ? 0.25 : 1));
        }
    }
    // leaf0 - spine0 is down once, from the first cause to the last; the other leaf until 5 ms.
    const std::map<std::string, int> expected{{"0 2 leaf0 spine0", 1},
                                              {"0 2 leaf1 spine0", 1},
                                              {"1 5 leaf1 spine0", 1},
                                              {"1 8 leaf0 spine0", 1},
                                              {"2 10 n1.nic2 leaf0", 1},
                                              {"2 20 n1.nic2 leaf0", 1},
                                              {"3 1 n1.nic3 leaf0", 1}};
    EXPECT_EQ(counts, expected);
    EXPECT_EQ(plan.Stretch(1, 2 * MS, 1000), 5000000); // twice as long, but the host is slower
    EXPECT_EQ(plan.Stretch(1, 2 * MS, 10 * MS), 20 * MS);
    EXPECT_EQ(plan.Stretch(1, 3 * MS, 10 * MS), 10 * MS); // it is over
    EXPECT_EQ(plan.Stretch(8, 2 * MS, 1000), 1000);       // another server
    EXPECT_EQ(plan.Stretch(2, 0, 1000), 1000);            // not yet
    EXPECT_EQ(
        plan.ListParts(),
        (std::vector<std::string>{"link losses", "link failures", "link rates", "slow devices"}));
}

TEST(Scenario, ARateIsTheShareThatIsRead)
{
    const Scenario scenario = Read(R"(, "events": [
        {"kind": "degraded", "nic": "n1.nic2", "rate_share": 1e-300, "at": "1ms"}])");
    const ScenarioPlan plan = MakeScenarioPlan(scenario, GetCluster(), 16, 0);
    ASSERT_FALSE(plan.changes.empty());
    for (const LinkChange& change : plan.changes) // of which the fabric says that it is too slow
    {
        EXPECT_DOUBLE_EQ(change.bytesPerSecond,
                         1e-300 * GetCluster().GetLinks()[change.link].bytesPerSecond);
    }
}

TEST(Scenario, TheSameOfALinkChangesOneAfterTheOther)
{
    const std::string one = R"({"kind": "degraded", "nic": "n0.nic0", "rate_share": 0.5, "at": )";
    const auto plan = [&](const std::string& events) {
        MakeScenarioPlan(Read(R"(, "events": [)" + events + "]"), GetCluster(), 16, 0);
    };
    EXPECT_NO_THROW(plan(one + R"("1ms", "until": "2ms"}, )" + one + R"("2ms"})"));
    try
    {
        plan(one + R"("1ms", "until": "3ms"}, )" + one + R"("2ms"})");
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()).find("/events/1: degraded n0.nic0 overlaps"), 0u);
    }
}

TEST(Scenario, EventsThatChangeNothingAreFound)
{
    const auto find = [](const std::string& events) {
        const Scenario scenario = Read(R"(, "events": [)" + events + "]");
        return FindIdleEvents(scenario, GetCluster(), 16, 10 * MS);
    };
    const auto idle = [](const std::string& number) {
        return std::vector<std::string>{
            "/events/" + number + ": has no effect: all links and GPUs are the same without it"};
    };
    const std::string down = R"({"kind": "nic-down", "nic": "n0.nic0", "at": "1ms", "until": )";
    const std::string slow = R"({"kind": "slow-gpu", "gpus": ["n0.gpu1"], "at": "1ms", "factor": )";
    const std::string host = R"({"kind": "slow-host", "servers": [0], "launch_interval": )";
    // Twice the same, and what another one covers.
    EXPECT_EQ(find(down + R"("50%"}, )" + down + R"("5ms"})"), idle("1"));
    EXPECT_EQ(find(down + R"("2ms"}, )" + down + R"("3ms"})"), idle("0"));
    EXPECT_EQ(find(R"({"kind": "switch-down", "switch": "spine0", "at": "0"},
                      {"kind": "link-down", "link": ["leaf0", "spine0"], "at": "1ms"})"),
              idle("1"));
    EXPECT_EQ(find(host + R"("9us", "at": "0"}, )" + host + R"("5us", "at": "1ms"})"), idle("1"));
    // While a link is down, neither its rate nor its losses count.
    const std::string worse = R"({"kind": "degraded", "nic": "n0.nic0", "rate_share": 0.5,
                                  "loss_probability": 0.1, "at": "2ms")";
    EXPECT_EQ(find(down + R"("5ms"}, )" + worse + R"(, "until": "4ms"})"), idle("1"));
    EXPECT_TRUE(find(down + R"("5ms"}, )" + worse + R"(, "until": "6ms"})").empty());
    EXPECT_TRUE(find(down + R"("5ms"}, )" + worse + "}").empty());
    EXPECT_EQ(find(R"({"kind": "nic-down", "nic": "n0.nic0", "at": "1ms"}, )" + worse + "}"),
              idle("1"));
    // Nothing by itself.
    EXPECT_EQ(find(slow + "1}"), idle("0"));
    EXPECT_EQ(find(R"({"kind": "degraded", "nic": "n1.nic2", "rate_share": 1, "at": "1ms"})"),
              idle("0"));
    EXPECT_EQ(find(R"({"kind": "degraded", "nic": "n1.nic2", "loss_probability": 0, "at": "0"})"),
              idle("0"));
    // Each of them changes something.
    EXPECT_TRUE(
        find(down + R"("2ms"}, {"kind": "nic-down", "nic": "n0.nic0", "at": "3ms"})").empty());
    EXPECT_TRUE(find(host + R"("5us", "at": "0"}, )" + host + R"("9us", "at": "1ms"})").empty());
    EXPECT_TRUE(find(slow + "2}, " + slow + "3}").empty());
    EXPECT_TRUE(
        find(R"({"kind": "degraded", "nic": "n1.nic2", "rate_share": 0.5, "at": "1ms"})").empty());
    // Slower and slower, which may not be meant.
    EXPECT_EQ(find(slow + "2}, " + slow + "2}"),
              std::vector<std::string>{
                  "/events/1: is the same as /events/0: the factors of both multiply"});
}

TEST(Scenario, FailuresForGoodThatCutAJobAreFound)
{
    const auto find = [](const std::string& event) {
        const Scenario scenario = Read(R"(, "events": [)" + event + "]");
        return FindCutOff(MakeScenarioPlan(scenario, GetCluster(), 32, 0), GetCluster(), 32);
    };
    EXPECT_NE(find(R"({"kind": "nic-down", "nic": "n3.nic0", "at": "0"})"), "");
    EXPECT_EQ(find(R"({"kind": "nic-down", "nic": "n3.nic0", "at": "0", "until": "1ms"})"), "");
    EXPECT_EQ(find(R"({"kind": "switch-down", "switch": "spine0", "at": "0"})"), "");
    EXPECT_NE(find(R"({"kind": "switch-down", "switch": "leaf1", "at": "0"})"), "");
    EXPECT_NE(find(R"({"kind": "switch-down", "switch": "spine0", "at": "0"},
                      {"kind": "switch-down", "switch": "spine1", "at": "1ms"})"),
              "");
}

TEST(Scenario, ExecutorsRefuseByNameWhatTheyDoNotModel)
{
    const ExecutionGraph graph = MakeGraph(1, "g");
    ExecutorSettings settings;
    auto plan = std::make_shared<ScenarioPlan>();
    LinkChange change;
    plan->changes = {change};
    settings.scenario = plan;
    for (const char* name : {"flow", "alpha-beta", "ideal", "classic", "distsim"})
    {
        try
        {
            FindExecutor(name).Run(graph, GetCluster(), settings);
            FAIL() << name;
        }
        catch (const std::invalid_argument& error)
        {
            EXPECT_NE(std::string(error.what()).find("does not model link failures"),
                      std::string::npos)
                << error.what();
        }
    }
}

TEST(Scenario, SlowDevicesAreKnownToTheFlowLevel)
{
    const ExecutionGraph graph = MakeGraph(4, "g");
    const int64_t usual = FindExecutor("flow").Run(graph, GetCluster()).timeline.endPs;
    ExecutorSettings settings;
    auto plan = std::make_shared<ScenarioPlan>();
    plan->slow = {{1, 0, SCENARIO_END_PS, 1.5, 0}};
    settings.scenario = plan;
    settings.runtime.stretch = [plan](DeviceId device, int64_t startPs, int64_t durationPs) {
        return plan->Stretch(device, startPs, durationPs);
    };
    const int64_t slow = FindExecutor("flow").Run(graph, GetCluster(), settings).timeline.endPs;
    EXPECT_EQ(slow - usual, 2 * MS); // the reduction waits for the slow one
}

TEST(Placement, PackedSpreadListAndOrders)
{
    const Cluster& cluster = GetCluster();
    const auto names = [&](const std::vector<VertexId>& gpus) {
        std::string text;
        for (const VertexId gpu : gpus)
        {
            text += cluster.GetVertices()[gpu].name + " ";
        }
        return text;
    };
    PlacementRequest one{"one", 16, {}};
    PlacementRequest two{"two", 3, {}};
    auto places = PlaceJobs(cluster, {one, two}, 1);
    EXPECT_EQ(names({places[0].front(), places[0].back()}), "n0.gpu0 n1.gpu7 ");
    EXPECT_EQ(names(places[1]), "n2.gpu0 n2.gpu1 n2.gpu2 ");

    one.placement.kind = PlacementKind::SPREAD; // servers 0 and 1 are on the first leaf
    places = PlaceJobs(cluster, {one, two}, 1);
    EXPECT_EQ(names({places[0].front(), places[0].back()}), "n0.gpu0 n2.gpu7 ");
    EXPECT_EQ(names(places[1]), "n1.gpu0 n1.gpu1 n1.gpu2 ");

    one.placement.order = RankOrder::ROTATED;
    EXPECT_EQ(names({PlaceJobs(cluster, {one}, 1)[0][8]}), "n2.gpu1 ");
    one.placement.order = RankOrder::ROUND_ROBIN;
    places = PlaceJobs(cluster, {one}, 1);
    EXPECT_EQ(names({places[0][0], places[0][1], places[0][2]}), "n0.gpu0 n2.gpu0 n0.gpu1 ");

    two.placement.kind = PlacementKind::LIST;
    two.placement.gpus = {cluster.FindVertex("n0.gpu5"),
                          cluster.FindVertex("n3.gpu0"),
                          cluster.FindVertex("n0.gpu0")};
    one.placement = {};
    places = PlaceJobs(cluster, {one, two}, 1);
    EXPECT_EQ(places[1], two.placement.gpus);
    EXPECT_EQ(names({places[0].front(), places[0].back()}), "n0.gpu1 n2.gpu1 "); // packed around it

    // Random: another seed, another place; the same seed, the same. All different GPUs.
    one.placement.kind = PlacementKind::RANDOM;
    one.placement.order = RankOrder::RANDOM;
    std::set<std::vector<VertexId>> seen;
    for (uint64_t seed = 0; seed < 8; ++seed)
    {
        const auto place = PlaceJobs(cluster, {one}, seed)[0];
        EXPECT_EQ(place, PlaceJobs(cluster, {one}, seed)[0]);
        EXPECT_EQ(std::set<VertexId>(place.begin(), place.end()).size(), 16u);
        seen.insert(place);
    }
    EXPECT_EQ(seen.size(), 8u);

    one.nDevices = 33;
    EXPECT_THROW(PlaceJobs(cluster, {one}, 1), std::invalid_argument);
    one.nDevices = 30;
    EXPECT_THROW(PlaceJobs(cluster, {one, two}, 1), std::invalid_argument); // whole servers only
}

TEST(Placement, WhatChangesNothingIsNamed)
{
    const Cluster& cluster = GetCluster(); // servers 0 and 1 are on the first leaf
    const auto find = [&](const std::vector<JobPlacement>& placements) {
        std::vector<PlacementRequest> requests;
        for (const JobPlacement& placement : placements)
        {
            requests.push_back({"job" + std::to_string(requests.size()), 16, placement});
            requests.back().placement.isAsked = true;
        }
        std::string text;
        const auto places = PlaceJobs(cluster, requests, 1);
        for (const std::string& line : FindIdlePlacements(cluster, requests, 1, places))
        {
            text += line.substr(0, line.find(':')) + ' ';
        }
        return text;
    };
    JobPlacement first;
    first.servers = {0, 1};
    JobPlacement last;
    last.servers = {2, 3};
    EXPECT_EQ(find({JobPlacement()}), "/job/placement ");
    EXPECT_EQ(find({first, last}), "/job/placement /jobs/0/placement ");
    EXPECT_EQ(find({last}), "");
    last.kind = PlacementKind::SPREAD; // of one leaf
    EXPECT_EQ(find({last}), "/job/placement/kind ");
    last.order = RankOrder::ROTATED;
    EXPECT_EQ(find({last}), "/job/placement/kind ");
    JobPlacement spread;
    spread.kind = PlacementKind::SPREAD;
    EXPECT_EQ(find({spread}), "");
    // Of two that stand for each other one has to be there.
    EXPECT_EQ(find({last, first}), "/job/placement/kind /jobs/0/placement ");
    JobPlacement list;
    list.kind = PlacementKind::LIST;
    for (VertexId gpu = 0; gpu < 16; ++gpu)
    {
        list.gpus.push_back(cluster.GetGpus()[gpu]);
    }
    EXPECT_EQ(find({list}), "/job/placement ");
    std::swap(list.gpus[0], list.gpus[1]);
    EXPECT_EQ(find({list}), "");
}

TEST(Placement, RanksChangeAndNicsStay)
{
    Cluster cluster = GetCluster();
    const VertexId gpu = cluster.FindVertex("n0.gpu3");
    const VertexId nic = GetCluster().GetNic(gpu);
    cluster.RankGpus({gpu, cluster.FindVertex("n2.gpu0")});
    EXPECT_EQ(cluster.GetGpus()[0], gpu);
    EXPECT_EQ(cluster.GetGpus()[2], GetCluster().GetGpus()[0]);
    EXPECT_EQ(cluster.GetGpus().size(), 32u);
    EXPECT_EQ(cluster.GetNic(gpu), nic);
    EXPECT_THROW(cluster.RankGpus({gpu, gpu}), std::invalid_argument);
    EXPECT_THROW(cluster.RankGpus({nic}), std::invalid_argument);
}

TEST(Composition, JobsRunAsIfAlone)
{
    const ExecutionGraph a = MakeGraph(3, "a");
    const ExecutionGraph b = MakeGraph(5, "b");
    const ComposedJobs jobs = ComposeJobs({{&a, "a", 0}, {&b, "b", 7 * MS}});
    EXPECT_EQ(jobs.graph.GetNDevices(), 4u);
    EXPECT_EQ(jobs.graph.GetFacts().tokensPerIteration, 20u);
    const RunRecord record = FindExecutor("flow").Run(jobs.graph, GetCluster());
    // In one server with NVSwitches the jobs do not meet.
    const RunRecord alone = FindExecutor("flow").Run(a, GetCluster());
    const Timeline first = ExtractTimeline(record.timeline, jobs.parts[0]);
    EXPECT_EQ(first.spans, alone.timeline.spans);
    EXPECT_EQ(first.endPs, alone.timeline.endPs);
    const Timeline second = ExtractTimeline(record.timeline, jobs.parts[1]);
    EXPECT_EQ(second.spans.size(), 4u); // its start is none of its own tasks
    EXPECT_EQ(second.spans.front().startPs, 0);
    EXPECT_EQ(second.endPs, alone.timeline.endPs + 2 * MS);
    EXPECT_EQ(record.timeline.endPs, second.endPs + 7 * MS);
    EXPECT_EQ(ComposeJobs({{&a, "a", 0}}).graph, a);
}

TEST(Traffic, PoissonHasItsRateAndSizes)
{
    TrafficPattern pattern;
    pattern.kind = TrafficPattern::Kind::POISSON;
    pattern.servers = {{0, 1}, {2, 3}, {4}};
    pattern.sizes = {{100, 0.5}, {300, 1}};
    pattern.messagesPerSecond = 1e6;
    pattern.untilPs = 20 * MS;
    pattern.seed = 5;
    TrafficSource source(pattern);
    TrafficSource same(pattern);
    double bytes = 0;
    uint32_t count = 0;
    int64_t last = 0;
    while (const auto message = source.Next())
    {
        const auto other = same.Next();
        ASSERT_TRUE(other && other->bytes == message->bytes && other->startPs == message->startPs);
        EXPECT_NE(message->from / 2, message->to / 2);
        EXPECT_GE(message->startPs, last);
        last = message->startPs;
        bytes += static_cast<double>(message->bytes);
        ++count;
    }
    // 20,000 are expected; four standard deviations are 570.
    EXPECT_NEAR(count, 20000, 570);
    EXPECT_EQ(FindMeanSize(pattern.sizes), 150); // half are 100, half 100 to 300
    EXPECT_NEAR(bytes / count, 150, 4 * 70 / std::sqrt(20000.0));
    EXPECT_EQ(FindSize(pattern.sizes, 0), 100u);
    EXPECT_EQ(FindSize(pattern.sizes, 0.75), 200u);
    EXPECT_EQ(FindSize(pattern.sizes, 1), 300u);
}

TEST(Traffic, RoundsComeAgain)
{
    const Scenario scenario = Read(
        R"(, "traffic": [{"kind": "permutation", "servers": [0, 1], "bytes": 5, "every": "2ms",)"
        R"( "from": "1ms", "until": "6ms"}, {"kind": "incast", "to": "n0.gpu0", "servers": [1],)"
        R"( "bytes": 7}, {"kind": "all-to-all", "servers": [2], "bytes": 1}])");
    const ScenarioPlan plan = MakeScenarioPlan(scenario, GetCluster(), 32, 0);
    std::vector<std::vector<TrafficMessage>> messages(3);
    for (std::size_t i = 0; i < 3; ++i)
    {
        TrafficSource source(plan.traffic[i]);
        while (const auto message = source.Next())
        {
            messages[i].push_back(*message);
        }
    }
    ASSERT_EQ(messages[0].size(), 48u); // 16 at 1, 3 and 5 ms
    EXPECT_EQ(messages[0][16].startPs, 3 * MS);
    EXPECT_EQ(GetCluster().GetVertices()[messages[0][0].to].name, "n1.gpu0");
    EXPECT_EQ(messages[1].size(), 8u);
    EXPECT_EQ(messages[2].size(), 56u);
}

TEST(Traffic, DistributionsOfSizesAreRead)
{
    const auto read = [](const std::string& text) {
        std::istringstream input(text);
        return ReadSizeDistribution(input, "sizes.csv");
    };
    EXPECT_EQ(read("bytes,part\n# comment\n10,0.5\n20,1\n").size(), 2u);
    EXPECT_EQ(read("\xef\xbb\xbf"
                   "bytes,part\r\n10,0.5\r\n20,1\r\n")
                  .size(),
              2u);
    // As the generators of traffic of the HPCC simulator and its successors have them.
    EXPECT_EQ(read("0 0\n10000 15\n20000 100\n"),
              (SizeDistribution{{0, 0}, {10000, 0.15}, {20000, 1}}));
    EXPECT_EQ(read("100 0\n180 0.085\n250 1"),
              (SizeDistribution{{100, 0}, {180, 0.085}, {250, 1}}));
    EXPECT_EQ(FindSize(read("0 0\n10000 100\n"), 0.5), 5000u);
    EXPECT_EQ(FindSize(read("0 0\n10000 100\n"), 0), 1u);
    for (const char* text : {"",
                             "10,0.5\n",
                             "0,0\n0,0\n10,1\n",
                             "10,15\n20,99\n",
                             "10,1 x\n",
                             "10,,1\n",
                             "10\n",
                             "10,2\n",
                             "0,1\n",
                             "20,0.5\n10,1\n",
                             "1,1,1\n",
                             "10,0.9\n20,0.5\n30,1\n",
                             "x,1\n"})
    {
        EXPECT_THROW(read(text), std::invalid_argument) << text;
    }
}
