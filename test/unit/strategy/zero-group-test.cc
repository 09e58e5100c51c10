/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Hybrid sharding: neighbouring replicas share states, and groups of them repeat these.

#include "compile-tools.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

namespace
{

constexpr uint64_t PARAMETERS = 12 * (12 * 768 * 768 + 13 * 768) + (50304 + 2048 + 2) * 768;
using Groups = std::set<std::vector<DeviceId>>;

/// @return by collective: who runs it
std::map<Collective, Groups>
FindGroups(const ExecutionGraph& graph)
{
    std::map<Collective, Groups> found;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            const auto group = graph.GetGroup(task.place);
            found[task.collective].insert({group.begin(), group.end()});
        }
    }
    return found;
}

/// @return bytes of gradients that are reduced, by collective
std::map<Collective, uint64_t>
FindReduced(const ExecutionGraph& graph)
{
    std::map<Collective, uint64_t> reduced;
    for (const InventoryRow& row : TakeInventory(graph))
    {
        if (row.phase.rfind("gradient", 0) == 0)
        {
            reduced[row.collective] += row.bytes * row.count;
        }
    }
    return reduced;
}

} // namespace

TEST(ZeroGroup, GathersInsideAndAddsSharesUpOutside)
{
    for (const uint32_t zero : {1, 2, 3})
    {
        SCOPED_TRACE(zero);
        const ExecutionGraph graph =
            Compile("gpt3-125m",
                    R"({"dp": 4, "zeroGroup": 2, "globalBatch": 16, "zero": )" +
                        std::to_string(zero) + "}");
        const Groups inside{{0, 1}, {2, 3}};
        const Groups outside{{0, 2}, {1, 3}};
        EXPECT_EQ(FindGroups(graph),
                  (std::map<Collective, Groups>{{Collective::ALL_GATHER, inside},
                                                {Collective::REDUCE_SCATTER, inside},
                                                {Collective::ALL_REDUCE, outside}}));
        // Two groups scatter a whole gradient each, two add up a half, in every micro-batch or
        // once.
        const uint64_t times = zero == 1 ? 1 : 4;
        EXPECT_EQ(FindReduced(graph),
                  (std::map<Collective, uint64_t>{
                      {Collective::REDUCE_SCATTER, times * 2 * 4 * PARAMETERS},
                      {Collective::ALL_REDUCE, times * 2 * 4 * PARAMETERS / 2}}));
    }
}

// Each bucket's shares are added up while the next bucket is scattered.
TEST(ZeroGroup, SharesHaveAStreamOfTheirOwn)
{
    const ExecutionGraph graph =
        Compile("gpt3-125m", R"({"dp": 4, "zeroGroup": 2, "zero": 3, "globalBatch": 8})");
    std::map<Collective, std::set<std::pair<StreamId, std::string>>> places;
    std::map<Collective, uint64_t> counts;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            places[task.collective].insert({task.stream, graph.GetPhases()[task.phase].name});
            ++counts[task.collective];
        }
    }
    ASSERT_EQ(places[Collective::ALL_REDUCE].size(), 1u);
    ASSERT_EQ(places[Collective::REDUCE_SCATTER].size(), 1u);
    const auto [sumStream, sumPhase] = *places[Collective::ALL_REDUCE].begin();
    const auto [scatterStream, scatterPhase] = *places[Collective::REDUCE_SCATTER].begin();
    EXPECT_EQ(sumPhase, scatterPhase);
    EXPECT_NE(sumStream, scatterStream);
    EXPECT_EQ(counts[Collective::ALL_REDUCE], counts[Collective::REDUCE_SCATTER]);
}

TEST(ZeroGroup, KeepsWhatItsReplicasShare)
{
    const auto keeps = [](const std::string& more) {
        const std::string plan = R"({"dp": 4, "zero": 3, "zero3Shares": "fp32")" + more + "}";
        const uint64_t tokens = 3 * 2048 * 4; // of the sample, positions and labels among them
        return AccountMemory(Compile("gpt3-125m", plan))[0].persistentBytes - tokens;
    };
    EXPECT_EQ(keeps(R"(, "zeroGroup": 2)"), 2 * keeps(""));
    EXPECT_EQ(keeps(R"(, "zeroGroup": 4)"), keeps(""));
}

// Experts are shared by ep replicas of a group, and what of them these have by the others of it.
TEST(ZeroGroup, HoldsExperts)
{
    const std::map<std::string, int64_t> small{{"layers", 1}, {"hidden", 256}};
    const auto compile = [&](const std::string& more) {
        return Compile("mixtral-8x7b",
                       R"({"dp": 8, "ep": 2, "zero": 3, "globalBatch": 8)" + more + "}",
                       small);
    };
    const auto found = FindGroups(compile(R"(, "zeroGroup": 4)"));
    const Groups groups{{0, 1, 2, 3}, {4, 5, 6, 7}};
    const Groups ofExperts{{0, 2}, {1, 3}, {4, 6}, {5, 7}};
    Groups inside = groups;
    inside.insert(ofExperts.begin(), ofExperts.end());
    EXPECT_EQ(found.at(Collective::ALL_GATHER), inside);
    EXPECT_EQ(found.at(Collective::REDUCE_SCATTER), inside);
    EXPECT_EQ(found.at(Collective::ALL_REDUCE), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
    EXPECT_EQ(found.at(Collective::ALL_TO_ALL), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    // A group of all is as none.
    EXPECT_EQ(FindGroups(compile(R"(, "zeroGroup": 8)")), FindGroups(compile("")));
    const auto keeps = [&](const std::string& more) {
        return AccountMemory(compile(more))[0].persistentBytes;
    };
    EXPECT_GT(keeps(R"(, "zeroGroup": 4)"), keeps(""));
}

TEST(ZeroGroup, RefusesWhatDoesNotGoTogether)
{
    for (const std::string plan :
         {R"({"dp": 4, "zero": 3, "zeroGroup": 3})",
          R"({"dp": 4, "zeroGroup": 2})",
          R"({"dp": 4, "zero": 3, "zeroGroup": 8})",
          R"({"dp": 4, "zero": 3, "zeroGroup": 2, "representative": true})",
          R"({"dp": 4, "zero": 3, "zeroGroup": 2, "ep": 4})",
          R"({"dp": 4, "tp": 2, "zero": 3, "zeroGroup": 2, "ep": 2, "etp": 1})"})
    {
        EXPECT_THROW(
            Compile(plan.find("ep\"") == std::string::npos ? "gpt3-125m" : "mixtral-8x7b", plan),
            std::invalid_argument)
            << plan;
    }
}
