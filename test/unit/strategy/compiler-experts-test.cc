/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

// Two all-to-alls per layer and pass; experts are replicated over what is left of the replicas.
TEST(Plan, ExpertParallelExchangesTokens)
{
    for (const bool isSequenceParallel : {false, true})
    {
        SCOPED_TRACE(isSequenceParallel);
        const ExecutionGraph graph =
            Compile("mixtral-8x7b",
                    isSequenceParallel ? R"({"dp": 4, "ep": 2, "tp": 2, "sequenceParallel": true})"
                                       : R"({"dp": 4, "ep": 2, "tp": 2})",
                    {{"layers", 2}});
        // A device has 4096 tokens, each for 2 of 8 experts, and gives half of them away; with
        // sequence parallelism it has half as many.
        const std::string share =
            " 2 " + std::to_string(2 * 2 * 4096 / (isSequenceParallel ? 2 : 1) * 4096 / 2);
        const std::map<std::string, uint64_t> counts = Count(graph);
        EXPECT_EQ(counts.at("forward all-to-all" + share), 2u * 2 * 4);
        EXPECT_EQ(counts.at("backward all-to-all" + share), 2u * 2 * 4);
        for (const auto& [text, count] : counts)
        {
            EXPECT_EQ(text.find("send-recv"), std::string::npos) << text;
        }
    }
}

namespace
{

/// What a folded plan of Mixtral communicates for its experts.
struct ExpertTraffic
{
    std::set<std::vector<uint32_t>> exchangeGroups;
    std::set<uint64_t> exchangeBytes;
    uint64_t exchanges{0};
    uint64_t gradientBytes{0}; //!< that those which have the same experts as device 0 reduce
};

ExpertTraffic
FindExpertTraffic(const ExecutionGraph& graph, const std::vector<uint32_t>& replicas)
{
    ExpertTraffic traffic;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMMUNICATION)
        {
            continue;
        }
        EXPECT_NE(task.collective, Collective::SEND_RECV) << graph.GetName(task);
        const auto& group = graph.GetGroup(task.place);
        const std::vector<uint32_t> ranks(group.begin(), group.end());
        if (task.collective == Collective::ALL_TO_ALL)
        {
            EXPECT_EQ(task.parallelism, Parallelism::EXPERT);
            traffic.exchangeGroups.insert(ranks);
            traffic.exchangeBytes.insert(task.bytes);
            ++traffic.exchanges;
        }
        else if (graph.GetName(task).rfind("gradients.", 0) == 0 && ranks == replicas)
        {
            traffic.gradientBytes += task.bytes;
        }
    }
    return traffic;
}

} // namespace

// Groups as Megatron-Core has them: device = tp + TP (cp + CP dp) for layers without experts, and
// etp + ETP (ep + EP edp) for experts. A device has its own tokens, each for 2 of 8 experts.
TEST(Plan, ExpertsFoldOverTensorContextAndData)
{
    struct Case
    {
        std::string plan;
        uint64_t nDevices;
        std::vector<uint32_t> exchange; //!< with device 0
        std::vector<uint32_t> replicas; //!< of the experts of device 0
        uint64_t ep;
        uint64_t etp;
    };

    const std::vector<Case> cases{
        {R"("dp": 2, "tp": 2, "ep": 4, "etp": 1)", 4, {0, 1, 2, 3}, {0}, 4, 1},
        {R"("dp": 4, "tp": 2, "ep": 4, "etp": 1)", 8, {0, 1, 2, 3}, {0, 4}, 4, 1},
        {R"("dp": 6, "tp": 2, "ep": 4, "etp": 1)", 12, {0, 1, 2, 3}, {0, 4, 8}, 4, 1},
        {R"("dp": 1, "tp": 4, "ep": 2, "etp": 1)", 4, {0, 1}, {0, 2}, 2, 1},
        {R"("dp": 2, "cp": 2, "ep": 4)", 4, {0, 1, 2, 3}, {0}, 4, 1},
        {R"("dp": 6, "cp": 2, "ep": 4, "etp": 1)", 12, {0, 1, 2, 3}, {0, 4, 8}, 4, 1},
        {R"("dp": 2, "cp": 2, "tp": 4, "ep": 4, "etp": 2)", 16, {0, 2, 4, 6}, {0, 8}, 4, 2},
        {R"("dp": 2, "cp": 2, "tp": 2, "ep": 8, "etp": 1)", 8, {0, 1, 2, 3, 4, 5, 6, 7}, {0}, 8, 1},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.plan);
        for (const int zero : {0, 1})
        {
            const ExecutionGraph graph =
                Compile("mixtral-8x7b",
                        "{" + one.plan + R"(, "sequenceParallel": true, "buckets": "whole",)" +
                            R"( "zero": )" + std::to_string(zero) + "}",
                        {{"layers", 2}});
            ASSERT_EQ(graph.GetNDevices(), one.nDevices);
            const ExpertTraffic traffic = FindExpertTraffic(graph, one.replicas);
            EXPECT_EQ(traffic.exchangeGroups.size(), one.nDevices / one.ep);
            EXPECT_EQ(traffic.exchangeGroups.count(one.exchange), 1u);
            // Layers, there and back, forward and backward, in each group.
            EXPECT_EQ(traffic.exchanges, 2u * 2 * 2 * one.nDevices / one.ep);
            const uint64_t dp = one.plan[6] - '0';
            const uint64_t tokens = dp * 4096 / one.nDevices;
            EXPECT_EQ(traffic.exchangeBytes, std::set<uint64_t>{2 * tokens * 2 * 4096});
            // fp32 gradients of three products of 4096 x 14336, of 2 layers.
            const uint64_t gradients = uint64_t{4} * 2 * 3 * 4096 * 14336 * 8 / one.ep / one.etp;
            EXPECT_EQ(traffic.gradientBytes, one.replicas.size() > 1 ? gradients : 0);
        }
    }
}

// With a grid of their own, experts are kept by who computes them, and updated by their replicas.
TEST(Plan, FoldedExpertsAreKeptOnce)
{
    const auto persistent = [](const std::string& plan) {
        return AccountMemory(
                   Compile("mixtral-8x7b",
                           R"({"tp": 4, "zero": 1, "sequenceParallel": true, )" + plan + "}",
                           {{"layers", 2}}))[0]
            .persistentBytes;
    };
    const uint64_t experts = uint64_t{2} * 3 * 4096 * 14336 * 8; // of two layers
    // Parameter and gradient (6 bytes) of a quarter or a half of the experts; their states (12) are
    // on one of 4 devices, or of 2 that have the same experts: also a quarter of all.
    EXPECT_EQ(persistent(R"("ep": 2, "etp": 1)") - persistent(R"("ep": 4, "etp": 1)"),
              6 * (experts / 2 - experts / 4));
}

TEST(Plan, ExpertsThatDoNotFoldAreRefused)
{
    const auto error = [](const std::string& plan) -> std::string {
        try
        {
            Compile("mixtral-8x7b", plan, {{"layers", 2}});
        }
        catch (const std::invalid_argument& refused)
        {
            return refused.what();
        }
        return "";
    };
    EXPECT_EQ(
        error(R"({"dp": 4, "ep": 3})"),
        "s.json: plan: experts of etp x ep = 1 x 3 devices do not divide the 4 = tp x cp x dp "
        "devices of a stage");
    EXPECT_EQ(error(R"({"dp": 4, "tp": 2, "ep": 8, "etp": 4})"),
              "s.json: plan: etp = 4 is more than tp = 2");
    EXPECT_EQ(error(R"({"dp": 2, "tp": 2, "ep": 4, "etp": 1})"),
              "s.json: plan: ep = 4 with etp = 1 spans devices of a tensor-parallel group, each of "
              "which needs tokens of its own; add sequenceParallel");
    EXPECT_EQ(error(R"({"dp": 2, "tp": 3, "ep": 2, "etp": 1, "sequenceParallel": true})"),
              "s.json: plan: the groups of experts (etp 1, ep 2) and those of the other layers (tp "
              "3, cp 1, dp 2) do not lie in each other");
    EXPECT_EQ(error(R"({"dp": 2, "tp": 2, "pp": 2, "ep": 4, "etp": 1, "sequenceParallel": true,
                        "mapping": "tp-pp-dp"})"),
              "s.json: plan: mapping tp-pp-dp needs as many replicas of the experts (1) as of the "
              "other layers (dp = 2)");
    // With as many replicas, stages may be nearer than these.
    EXPECT_EQ(error(R"({"dp": 2, "tp": 2, "pp": 2, "ep": 2, "etp": 1, "sequenceParallel": true,
                        "mapping": "tp-pp-dp"})"),
              "");
}

// Multi-head latent attention as in Megatron-Core: up-projections are split by heads, and gather
// the latents; down-projections are on every device, of its own part of the sequence under sequence
// parallelism.
TEST(Plan, LatentAttentionSplitsItsUpProjections)
{
    const uint64_t s = 4096;
    const std::map<std::string, int64_t> oneLayer{{"layers", 1}, {"denseLayers", 1}};
    const auto bytes = [&](uint64_t width) { return std::to_string(2 * s * width); };
    const std::map<std::string, uint64_t> sequence =
        Count(Compile("deepseek-v3",
                      R"({"tp": 4, "sequenceParallel": true, "buckets": "whole"})",
                      oneLayer));
    for (const uint64_t width : {1536, 512, 64}) // queries, keys and values, what heads share
    {
        EXPECT_EQ(sequence.at("forward all-gather 4 " + bytes(width)), 1u) << width;
        EXPECT_EQ(sequence.at("backward reduce-scatter 4 " + bytes(width)), 1u) << width;
    }
    EXPECT_EQ(sequence.at("forward all-gather 4 " + bytes(7168)), 2u); // feed-forward, head
    EXPECT_EQ(sequence.at("forward reduce-scatter 4 " + bytes(7168)), 3u);
    // Down-projections and norms are summed over the devices.
    EXPECT_EQ(sequence.at("gradients all-reduce 4 " +
                          std::to_string(4 * (7168 * (1536 + 576) + 1536 + 512 + 3 * 7168))),
              1u);
    const std::map<std::string, uint64_t> tensor =
        Count(Compile("deepseek-v3", R"({"tp": 4, "buckets": "whole"})", oneLayer));
    EXPECT_EQ(tensor.at("forward all-reduce 4 " + bytes(7168)), 3u);
    for (const uint64_t width : {1536, 512, 64})
    {
        EXPECT_EQ(tensor.at("backward all-reduce 4 " + bytes(width)), 1u) << width;
    }
    // Keys of 192 and values of 128 per head go around in context parallelism.
    const std::map<std::string, uint64_t> context =
        Count(Compile("deepseek-v3", R"({"cp": 2, "tp": 4})", oneLayer));
    EXPECT_EQ(context.at("forward all-gather 2 " + bytes(128 * 192 / 4)), 4u);
    EXPECT_EQ(context.at("forward all-gather 2 " + bytes(128 * 128 / 4)), 4u);
}

// What the backward pass of latent attention keeps: the inputs of the projections, latents before
// and behind their norms, queries, keys, values and the result.
TEST(Plan, LatentAttentionKeepsLatents)
{
    const auto activations = [](uint64_t layers) {
        const StrategyFile file = ReadStrategy("{}");
        const Model model = LoadFor("deepseek-v3",
                                    file,
                                    {{"layers", static_cast<int64_t>(layers)},
                                     {"denseLayers", static_cast<int64_t>(layers)}});
        return AccountMemory(CompileModel(model, file.GetTree(model)))[0];
    };
    const uint64_t s = 4096;
    const uint64_t h = 7168;
    const uint64_t heads = 128;
    const uint64_t attention = 2 * s *
                                   (2 * h                         // input of the norm, its result
                                    + 2 * 1536 + 2 * 512          // latents, and normalised
                                    + heads * (2 * 192 + 2 * 128) // queries, keys, values, result
                                    ) +
                               4 * s * heads;                 // statistics
    const uint64_t feedForward = 2 * s * (2 * h + 3 * 18432); // before and behind the norm
    const auto one = activations(1);
    const auto three = activations(3);
    EXPECT_NEAR(static_cast<double>((three.peakBytes - three.persistentBytes) -
                                    (one.peakBytes - one.persistentBytes)) /
                    static_cast<double>(2 * (attention + feedForward)),
                1,
                0.02);
}
