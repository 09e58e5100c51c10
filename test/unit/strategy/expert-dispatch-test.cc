/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "compile-tools.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-expert-dispatch.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-graph-json.h"
#include "ns3/proteus-graph-protobuf.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

namespace
{

/// @return the experts of a token, at random
std::vector<uint64_t>
Route(const ExpertRouting& routing, std::mt19937_64& random)
{
    std::vector<uint64_t> groups(routing.groups);
    std::iota(groups.begin(), groups.end(), 0);
    std::shuffle(groups.begin(), groups.end(), random);
    std::vector<uint64_t> experts;
    const uint64_t size = routing.experts / routing.groups;
    for (uint64_t i = 0; i < routing.topGroups; ++i)
    {
        for (uint64_t k = 0; k < size; ++k)
        {
            experts.push_back(groups[i] * size + k);
        }
    }
    std::shuffle(experts.begin(), experts.end(), random);
    experts.resize(routing.top);
    return experts;
}

/// @return of how many different places tokens have experts in the mean
double
CountPlaces(const ExpertRouting& routing, uint64_t places)
{
    std::mt19937_64 random(7);
    constexpr uint64_t TOKENS = 100000;
    uint64_t sum = 0;
    for (uint64_t token = 0; token < TOKENS; ++token)
    {
        std::set<uint64_t> reached;
        for (const uint64_t expert : Route(routing, random))
        {
            reached.insert(expert / (routing.experts / places));
        }
        sum += reached.size();
    }
    return static_cast<double>(sum) / TOKENS;
}

/// Bytes that all devices send to others, over the network and inside servers.
struct Sent
{
    double network{0};
    double inside{0};
};

/// @param graph a job @param domain devices of a server @return what its forward pass sends for
/// experts
Sent
CountSent(const ExecutionGraph& graph, uint32_t domain)
{
    Sent sent;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind != TaskKind::COMMUNICATION || task.parallelism != Parallelism::EXPERT ||
            graph.GetPhases()[task.phase].name != "forward")
        {
            continue;
        }
        const std::vector<DeviceId>& group = graph.GetGroup(task.place);
        const double share = static_cast<double>(task.bytes) / static_cast<double>(group.size());
        for (const DeviceId from : group)
        {
            for (const DeviceId to : group)
            {
                (from / domain == to / domain ? sent.inside : sent.network) +=
                    from == to ? 0 : share;
            }
        }
    }
    return sent;
}

constexpr ExpertRouting QWEN{128, 8, 1, 1};
constexpr ExpertRouting DEEPSEEK{256, 8, 8, 4};

} // namespace

// Two of four experts: of the six pairs, five have one of experts 0 and 1. In groups of two of
// which one counts, half of the tokens have both.
TEST(ExpertDispatch, ReachIsThatOfAllChoices)
{
    EXPECT_DOUBLE_EQ((ExpertRouting{4, 2, 1, 1}).FindReach(2), 5.0 / 6);
    EXPECT_DOUBLE_EQ((ExpertRouting{4, 2, 1, 1}).FindReach(1), 0.5);
    EXPECT_DOUBLE_EQ((ExpertRouting{4, 2, 1, 1}).FindReach(3), 1);
    EXPECT_DOUBLE_EQ((ExpertRouting{4, 2, 2, 1}).FindReach(2), 0.5);
    EXPECT_DOUBLE_EQ((ExpertRouting{4, 2, 2, 1}).FindReach(1), 0.5);
    EXPECT_DOUBLE_EQ((ExpertRouting{4, 2, 2, 1}).FindReach(4), 1);
    EXPECT_EQ(ErrorOf([] {
                  ExpertRouting{12, 2, 2, 1}.FindReach(4);
              }),
              "4 neighbouring experts of 12 neither share a group of 6 evenly nor make several");
}

TEST(ExpertDispatch, ReachAgreesWithRandomRouting)
{
    for (const ExpertRouting& routing : {QWEN, DEEPSEEK, ExpertRouting{64, 6, 1, 1}})
    {
        for (const uint64_t places : {2, 4, 8, 16, 32, 64})
        {
            const double found = CountPlaces(routing, places);
            EXPECT_NEAR(static_cast<double>(places) * routing.FindReach(routing.experts / places),
                        found,
                        0.01 * found)
                << routing.experts << " experts in " << places << " places";
        }
    }
}

// Groups of one expert each choose among all experts, however many groups there are.
TEST(ExpertDispatch, ReachOfManyGroupsIsExact)
{
    EXPECT_NEAR((ExpertRouting{4000, 4, 4000, 2000}).FindReach(2000),
                (ExpertRouting{4000, 4, 1, 1}).FindReach(2000),
                1e-9);
}

// A rail has the same device of every server.
TEST(ExpertDispatch, PlansRailsAndServers)
{
    const DispatchPlan plan = PlanDispatch(QWEN, {8, 10, 12, 14, 16, 18, 20, 22}, 8);
    using Groups = std::vector<std::vector<DeviceId>>;
    EXPECT_EQ(plan.inside.groups, (Groups{{8, 10, 12, 14}, {16, 18, 20, 22}}));
    EXPECT_EQ(plan.network.groups, (Groups{{8, 16}, {10, 18}, {12, 20}, {14, 22}}));
    EXPECT_DOUBLE_EQ(plan.network.copies, 2 * QWEN.FindReach(64));
    EXPECT_DOUBLE_EQ(plan.inside.copies, 8 * QWEN.FindReach(16));
    EXPECT_TRUE(PlanDispatch(QWEN, {0, 1, 2, 3}, 8).network.groups.empty());
    EXPECT_TRUE(PlanDispatch(QWEN, {0, 8, 16, 24}, 8).inside.groups.empty());
    const std::string cause = " are not the same ones of several servers of 8 (expertDomain)";
    EXPECT_EQ(ErrorOf([] {
                  PlanDispatch(QWEN, {4, 5, 6, 7, 8, 9, 10, 11}, 8);
              }),
              "expertDispatch: the 8 devices that share experts with device 4" + cause);
    EXPECT_EQ(ErrorOf([] {
                  PlanDispatch(QWEN, {0, 8, 1, 9}, 8);
              }),
              "expertDispatch: the 4 devices that share experts with device 0" + cause);
    EXPECT_EQ(ErrorOf([] {
                  PlanDispatch(QWEN, {0, 1, 2}, 8);
              }),
              "expertDispatch: 3 devices cannot share 128 experts evenly");
}

// What a layer sends is what tokens, each routed at random, are worth: once over the network to
// each other server of a token's experts, and once to each other device there than the one that it
// comes to.
TEST(ExpertDispatch, BytesAreThoseOfRandomRouting)
{
    const struct
    {
        const char* model;
        ExpertRouting routing;
        double hidden;
        uint64_t devices;
    } cases[] = {
        {"qwen3-30b-a3b", QWEN, 2048, 32},
        {"deepseek-v3", DEEPSEEK, 7168, 64},
    };

    for (const auto& test : cases)
    {
        SCOPED_TRACE(test.model);
        const std::string n = std::to_string(test.devices);
        const std::map<std::string, int64_t> variables =
            test.model == std::string("deepseek-v3")
                ? std::map<std::string, int64_t>{{"layers", 2}, {"denseLayers", 1}}
                : std::map<std::string, int64_t>{{"layers", 1}};
        const std::string plan = R"({"dp": )" + n + R"(, "ep": )" + n;
        const ExecutionGraph graph =
            Compile(test.model, plan + R"(, "expertDispatch": "deepep"})", variables);
        const Sent sent = CountSent(graph, 8);
        std::mt19937_64 random(11);
        constexpr uint64_t TOKENS = 100000;
        uint64_t network = 0;
        uint64_t inside = 0;
        for (uint64_t token = 0; token < TOKENS; ++token)
        {
            const uint64_t source = token % test.devices;
            std::set<uint64_t> servers;
            std::set<uint64_t> devices;
            for (const uint64_t expert : Route(test.routing, random))
            {
                devices.insert(expert / (test.routing.experts / test.devices));
                servers.insert(expert / (test.routing.experts / test.devices) / 8);
            }
            network += servers.size() - servers.count(source / 8);
            for (const uint64_t device : devices)
            {
                inside += device % 8 != source % 8 ? 1 : 0;
            }
        }
        // 4096 tokens of 2 bytes a number on each device; there and back.
        const double bytes = 2 * 2 * test.hidden * 4096 * static_cast<double>(test.devices);
        EXPECT_NEAR(sent.network / bytes, static_cast<double>(network) / TOKENS, 0.02);
        EXPECT_NEAR(sent.inside / bytes, static_cast<double>(inside) / TOKENS, 0.03);
        // An all-to-all sends each of the eight copies to its own device.
        const Sent whole = CountSent(Compile(test.model, plan + "}", variables), 8);
        EXPECT_NEAR(whole.network / bytes,
                    8 * (1 - 8.0 / static_cast<double>(test.devices)),
                    0.001);
        EXPECT_LT(sent.network, 0.6 * whole.network);
    }
}

// The backward pass sends as much as the forward pass, each way; the two all-to-alls of an exchange
// run at the same time; and what the experts compute waits for both.
TEST(ExpertDispatch, BothStagesRunTogether)
{
    const ExecutionGraph graph = Compile("mixtral-8x7b",
                                         R"({"dp": 8, "ep": 8, "expertDispatch": "hybridep",
                                             "expertDomain": 4})",
                                         {{"layers", 1}});
    const ExpertRouting mixtral{8, 2, 1, 1};
    const double token = 2.0 * 4096 * 4096;
    const auto network = static_cast<uint64_t>(token * 2 * mixtral.FindReach(4) + 0.5);
    const auto inside = static_cast<uint64_t>(token * 8 * mixtral.FindReach(1) + 0.5);
    std::map<std::string, uint64_t> counts = CountKinds(graph);
    EXPECT_EQ(counts.at("forward all-to-all 2"), 2 * 4u);
    EXPECT_EQ(counts.at("forward all-to-all 4"), 2 * 2u);
    EXPECT_EQ(counts.at("backward all-to-all 2"), 2 * 4u);
    EXPECT_EQ(counts.at("backward all-to-all 4"), 2 * 2u);
    std::set<std::string> streams;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION && task.parallelism == Parallelism::EXPERT)
        {
            const bool isInside = graph.GetGroup(task.place).size() == 4;
            EXPECT_NEAR(static_cast<double>(task.bytes),
                        static_cast<double>(isInside ? inside : network),
                        8);
            streams.insert(graph.GetStreams()[task.stream]);
            EXPECT_EQ(task.threadBlocks, GetMultiprocessors(ExpertDispatch::HYBRIDEP) / 2);
            for (const TaskId before : graph.GetDependencies(id))
            {
                EXPECT_NE(graph.GetTask(before).kind, TaskKind::COMMUNICATION);
            }
        }
        const std::string& name = graph.GetName(task);
        if (task.kind == TaskKind::COMPUTE && name == "layer0.gate-up")
        {
            std::set<std::size_t> groups;
            for (const TaskId buffer : graph.GetDependencies(id))
            {
                for (const TaskId before : graph.GetDependencies(buffer))
                {
                    if (graph.GetTask(before).kind == TaskKind::COMMUNICATION)
                    {
                        groups.insert(graph.GetGroup(graph.GetTask(before).place).size());
                    }
                }
            }
            EXPECT_EQ(groups, (std::set<std::size_t>{2, 4}));
        }
    }
    EXPECT_EQ(streams, (std::set<std::string>{"communication", "forwarding"}));
}

// A product of 1,320 blocks takes ten waves on 132 multiprocessors, and thirteen on those that a
// communication with thirty blocks leaves.
TEST(ExpertDispatch, KernelsBesideItHaveTheOtherMultiprocessors)
{
    const Cluster cluster = MakeCluster("dgx-h100", 1);
    std::map<uint32_t, int64_t> ends;
    for (const uint32_t blocks : {0, 1, 30})
    {
        GraphBuilder builder(2);
        const StreamId compute = builder.AddStream("compute");
        const StreamId communication = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("iteration");
        Task product;
        product.durationPs = 1000000000;
        product.flops = 1e9;
        product.bytes = 1000;
        product.threadBlocks = 1320;
        product.stream = compute;
        product.phase = phase;
        builder.AddTask(product, "product");
        Task exchange;
        exchange.kind = TaskKind::COMMUNICATION;
        exchange.collective = Collective::ALL_TO_ALL;
        exchange.stream = communication;
        exchange.phase = phase;
        exchange.place = builder.AddGroup({0, 1});
        exchange.bytes = 2000000000;
        exchange.threadBlocks = blocks;
        builder.AddTask(exchange, "exchange");
        const FlowRun run = RunFlow(builder.Build(), cluster);
        for (const Span& span : run.timeline.spans)
        {
            ends[blocks] = span.task == 0 ? span.endPs : ends[blocks];
        }
    }
    EXPECT_GT(ends[1], 1000000000);
    EXPECT_NEAR(static_cast<double>(ends[30]) / static_cast<double>(ends[1]), 1.3 / 1.1, 0.02);
    EXPECT_GT(ends[0], ends[1]); // NCCL's blocks are more than one
}

// Where every device has what the busiest one has, experts and exchanges grow, and nothing else;
// the FLOPs of the model are of the tokens that there are.
TEST(ExpertDispatch, AllWaitForTheBusiest)
{
    struct Work
    {
        double experts{0};
        double others{0};
        uint64_t exchanged{0};
        double model{0};
    };

    const auto compile = [](int64_t busiest, const std::string& plan) {
        const ExecutionGraph graph =
            Compile("mixtral-8x7b", plan, {{"layers", 1}, {"busiest", busiest}});
        Work work;
        for (const Task& task : graph.GetTasks())
        {
            const std::string name = graph.GetName(task);
            const bool isExpert = name.find(".gate-up") != std::string::npos ||
                                  name.find(".down") != std::string::npos ||
                                  name.find(".swiglu") != std::string::npos;
            (isExpert ? work.experts : work.others) +=
                task.kind == TaskKind::COMPUTE ? task.flops : 0;
            work.exchanged +=
                task.collective == Collective::ALL_TO_ALL && task.kind == TaskKind::COMMUNICATION
                    ? task.bytes
                    : 0;
        }
        work.model = graph.GetFacts().modelFlopsPerIteration;
        return work;
    };
    for (const std::string plan : {R"({"dp": 4, "ep": 4})",
                                   R"({"dp": 4, "ep": 2, "tp": 2})",
                                   R"({"dp": 4, "ep": 4, "expertDispatch": "deepep"})"})
    {
        SCOPED_TRACE(plan);
        const Work mean = compile(100, plan);
        const Work busy = compile(150, plan);
        EXPECT_GT(mean.experts, mean.others);
        EXPECT_DOUBLE_EQ(busy.experts, 1.5 * mean.experts);
        EXPECT_NEAR(busy.others, mean.others, 1e-9 * mean.others);
        EXPECT_NEAR(busy.exchanged, 1.5 * mean.exchanged, 1e-6 * mean.exchanged);
        EXPECT_NEAR(busy.model, mean.model, 1e-9 * mean.model);
        EXPECT_NEAR(compile(133, plan).experts / mean.experts, 1.33, 1.0 / 128);
    }
    for (const auto& [busiest, plan, cause] :
         std::vector<std::tuple<int64_t, const char*, const char*>>{
             {99, R"({"dp": 4, "ep": 4})", "busiest = 99 percent"},
             {401, R"({"dp": 4, "ep": 4})", "are not 100 to 400"},
             {150, R"({"dp": 4})", "without ep every device has all experts"}})
    {
        const std::string error = ErrorOf([&, b = busiest, p = plan] { compile(b, p); });
        EXPECT_NE(error.find(cause), std::string::npos) << error;
    }
}

TEST(ExpertDispatch, MistakesAreNamed)
{
    EXPECT_EQ(
        ErrorOf([] { ReadStrategy(R"({"ep": 8, "expertDispatch": "deepEP"})"); }).substr(0, 24),
        "s.json: /expertDispatch:");
    const StrategyFile file =
        ReadStrategy(R"({"dp": 8, "ep": 8, "expertDispatch": "deepep", "expertDomain": 8})");
    const Model model = LoadFor("mixtral-8x7b", file, {{"layers", 1}});
    const Cluster cluster = MakeCluster("pcie-v100x4", 2);
    EXPECT_EQ(ErrorOf([&] { Compile(model, file.GetTree(model), cluster); }),
              "expertDomain = 8: GPUs 0 and 4 of cluster '" + cluster.GetName() +
                  "' are not joined by NVLink; take a divisor of the GPUs of a server");
    for (const auto& [variables, cause] :
         std::vector<std::pair<std::map<std::string, int64_t>, std::string>>{
             {{{"groups", 7}}, "256 experts cannot make 7 equal groups"},
             {{{"topGroups", 9}}, "topGroups = 9 is not 1 to groups = 8"},
             {{{"groups", 128}, {"topGroups", 2}},
              "top = 8 is not 1 to the 4 experts that a token may get"}})
    {
        const std::string error =
            ErrorOf([&] { LoadFor("deepseek-v3", ReadStrategy("{}"), variables); });
        EXPECT_NE(error.find(cause), std::string::npos) << error;
    }
}

TEST(ExpertDispatch, FilesKeepIt)
{
    const StrategyFile file =
        ReadStrategy(R"({"dp": 8, "ep": 8, "expertDispatch": "deepep", "expertDomain": 4})");
    EXPECT_NE(FormatPlan(*file.plan).find("expertDispatch=deepep,expertDomain=4"),
              std::string::npos);
    const Model model = LoadFor("mixtral-8x7b", file, {{"layers", 1}});
    const StrategyTree tree = file.GetTree(model);
    std::stringstream text;
    WriteStrategyJson(tree, text);
    const StrategyFile again = ReadStrategyJson(text, "s.json");
    EXPECT_EQ(again.tree.schedule.expertDispatch, ExpertDispatch::DEEPEP);
    EXPECT_EQ(again.tree.schedule.expertDomain, 4u);
    const ExecutionGraph graph = CompileModel(model, tree);
    EXPECT_EQ(graph, CompileModel(model, again.tree));
    std::stringstream json;
    WriteGraphJson(graph, json);
    EXPECT_EQ(ReadGraphJson(json, "g.json"), graph);
    std::stringstream binary;
    WriteGraphProtobuf(graph, binary);
    EXPECT_EQ(ReadGraphProtobuf(binary, "g.pb"), graph);
}
