/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-classic-cost.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

// What proteus.md, section 5.2 and B6, B7, B9, has from the published program.

using namespace ns3::proteus;

namespace
{

using Devices = std::vector<DeviceId>;

Devices
First(uint32_t n)
{
    Devices devices(n);
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
}

constexpr uint64_t MB = 1000000;

/// A row of the table of reference values.
struct Row
{
    const char* cluster;
    uint32_t servers;
    Devices devices;
    NcclPath type;
    uint32_t channels;
    double speed, reduceRate, reduceUs, gatherRate, gatherUs, chainRate, chainUs;
};

} // namespace

TEST(Classic, TheReferenceValuesOfNccl2103)
{
    const NcclPath nvl = NcclPath::NVL;
    const NcclPath sys = NcclPath::SYS;
    const std::vector<Row> rows{
        {"titanxp", 1, {0, 1}, NcclPath::PIX, 1, 12, 12, 19.8, 24, 14.1, 12, 14.1},
        {"titanxp", 1, {0, 2}, NcclPath::PHB, 1, 10, 10, 19.8, 20, 14.1, 10, 14.1},
        {"titanxp", 1, {0, 4}, sys, 1, 6, 6, 19.8, 12, 14.1, 6, 14.1},
        {"titanxp", 1, First(4), NcclPath::PHB, 1, 10, 4.6667, 42.6, 9.3333, 25.5, 7, 14.1},
        {"titanxp", 1, {0, 2, 4, 6}, sys, 1, 6, 2.8, 42.6, 5.6, 25.5, 4.2, 14.1},
        {"titanxp", 1, First(8), sys, 1, 6, 4.2, 88.2, 6.85714, 48.3, 6, 14.1},
        {"dgx1_1ib", 1, {0, 1}, nvl, 1, 22, 22, 15.2, 44, 11.8, 22, 11.8},
        {"dgx1_1ib", 1, {0, 2}, nvl, 2, 22, 44, 15.2, 88, 11.8, 44, 11.8},
        {"dgx1_1ib", 1, {0, 4}, sys, 1, 9, 9, 19.8, 18, 14.1, 9, 14.1},
        {"dgx1_1ib", 1, First(4), nvl, 4, 22, 41.0667, 28.8, 82.1333, 18.6, 61.6, 120.4},
        {"dgx1_2ib", 1, First(4), nvl, 4, 22, 41.0667, 28.8, 82.1333, 18.6, 61.6, 120.4},
        {"dgx1_1ib", 1, First(8), nvl, 6, 22, 75.42857, 56, 150.85715, 32.2, 132, 232.4},
        {"dgx1_2ib", 1, First(8), nvl, 6, 22, 75.42857, 56, 150.85715, 32.2, 132, 232.4},
        {"dgx1_1ib", 2, First(16), nvl, 1, 10, 5.33333, 122.8, 10.6667, 65.6, 10, 18},
        {"dgx1_1ib", 4, First(32), nvl, 1, 10, 5.16129, 256.4, 10.3226, 132.4, 10, 18},
        {"dgx1_1ib", 8, First(64), nvl, 1, 10, 5.07937, 523.6, 10.1587, 266, 10, 18},
        {"dgx1_2ib", 2, First(16), nvl, 2, 10, 10.66667, 122.8, 21.3333, 65.6, 20, 456.4},
        {"dgx1_2ib", 4, First(32), nvl, 2, 10, 10.32258, 256.4, 20.6452, 132.4, 20, 904.4},
        {"dgx1_2ib", 8, First(64), nvl, 2, 10, 10.15873, 523.6, 20.3175, 266, 20, 1800.4},
        {"1080_1ib", 2, First(16), sys, 1, 6, 3.2, 187.2, 6.4, 97.8, 6, 18},
        {"1080_1ib", 4, First(32), sys, 1, 6, 3.09677, 385.2, 6.19355, 196.8, 6, 18},
        {"1080_1ib", 8, First(64), sys, 1, 6, 3.04762, 781.2, 6.09524, 394.8, 6, 18},
        {"dgx1_1ib", 2, {0, 8}, NcclPath::LOC, 1, 9, 9, 27.6, 18, 18, 9, 18},
        {"dgx1_2ib", 2, {0, 8}, NcclPath::LOC, 1, 6, 6, 27.6, 12, 18, 6, 18},
    };
    for (const Row& row : rows)
    {
        SCOPED_TRACE(std::string(row.cluster) + ", " + std::to_string(row.devices.size()) +
                     " GPUs, last " + std::to_string(row.devices.back()));
        const Cluster cluster = MakeClassicCluster(row.cluster, row.servers);
        std::vector<VertexId> gpus;
        for (const DeviceId device : row.devices)
        {
            gpus.push_back(cluster.GetGpus()[device]);
        }
        const NcclPattern ring = SearchClassicRing(cluster, gpus);
        EXPECT_EQ(ring.channels, row.channels);
        EXPECT_DOUBLE_EQ(ring.intraGBps, row.speed);
        EXPECT_EQ(ring.typeIntra, row.type) << ToString(ring.typeIntra);
        const ClassicCostModel model(cluster);
        auto expect = [&](Collective collective, double rate, double us) {
            const ClassicCost cost = model.GetCost(collective, 8, row.devices);
            EXPECT_NEAR(cost.gigabytesPerSecond, rate, 5e-5) << ToString(collective);
            EXPECT_NEAR(cost.latencyUs, us, 1e-9) << ToString(collective);
        };
        expect(Collective::ALL_REDUCE, row.reduceRate, row.reduceUs);
        expect(Collective::ALL_GATHER, row.gatherRate, row.gatherUs);
        expect(Collective::REDUCE_SCATTER, row.gatherRate, row.gatherUs);
        expect(Collective::BROADCAST, row.chainRate, row.chainUs);
        if (row.servers > 1)
        {
            EXPECT_NEAR(model.GetCost(Collective::ALL_REDUCE, 100 * MB, row.devices).latencyUs,
                        row.reduceUs * 1.9,
                        1e-9);
        }
    }
}

// B6.
TEST(Classic, AlphaBetaWithRingFormulas)
{
    const Cluster dgx1 = MakeClassicCluster("dgx1_1ib", 1);
    const Cluster two = MakeClassicCluster("dgx1_2ib", 2);
    const ClassicCostModel one(dgx1);
    const ClassicCostModel pair(two);
    auto ms = [](const ClassicCostModel& model, Collective kind, uint64_t bytes, const Devices& d) {
        return model.GetCost(kind, bytes, d).GetMs();
    };
    const Collective reduce = Collective::ALL_REDUCE;
    const std::vector<std::pair<uint64_t, double>> buckets{{16388000, 0.273265},
                                                           {67125248, 0.945918},
                                                           {151011328, 2.058044},
                                                           {9878784, 0.186969}};
    for (const auto& [bytes, expected] : buckets)
    {
        EXPECT_NEAR(ms(one, reduce, bytes, First(8)), expected, 5e-7);
    }
    EXPECT_NEAR(ms(one, reduce, 100 * MB, First(8)), 1.381758, 5e-7);
    EXPECT_NEAR(ms(one, Collective::ALL_GATHER, 100 * MB, First(8)), 0.695079, 5e-7);
    EXPECT_NEAR(ms(one, Collective::REDUCE_SCATTER, 100 * MB, First(8)), 0.695079, 5e-7);
    EXPECT_NEAR(ms(one, Collective::BROADCAST, 100 * MB, First(8)), 0.989976, 5e-7);
    EXPECT_NEAR(ms(pair, reduce, 100 * MB, First(16)), 9.60832, 5e-6);
    EXPECT_NEAR(ms(pair, Collective::ALL_GATHER, 100 * MB, First(16)), 4.7531, 5e-5);
    EXPECT_NEAR(ms(pair, Collective::BROADCAST, 100 * MB, First(16)), 5.4564, 5e-5);
    EXPECT_NEAR(ms(one, reduce, 100 * MB, {0, 1}), 4.560655, 5e-7);
    EXPECT_NEAR(ms(one, Collective::SEND_RECV, 100 * MB, {0, 1}), 4.557255, 5e-7);
    EXPECT_NEAR(ms(pair, reduce, 100 * MB, {0, 8}), 16.719107, 5e-7);
    EXPECT_NEAR(ms(pair, Collective::SEND_RECV, 100 * MB, {8, 0}), 16.684667, 5e-7);
}

// B7.
TEST(Classic, LatencyPlateauAndSpecialFactors)
{
    const Cluster two = MakeClassicCluster("dgx1_2ib", 2);
    const Cluster titan = MakeClassicCluster("titanxp", 1);
    const ClassicCostModel pair(two);
    const ClassicCostModel titans(titan);
    const ClassicCost below = pair.GetCost(Collective::ALL_REDUCE, 65535, First(16));
    const ClassicCost above = pair.GetCost(Collective::ALL_REDUCE, 65536, First(16));
    EXPECT_NEAR(below.latencyUs, 122.8, 1e-9);
    EXPECT_NEAR(below.GetMs(), 0.128944, 5e-7);
    EXPECT_NEAR(above.latencyUs, 233.32, 1e-9);
    EXPECT_NEAR(above.GetMs(), 0.239464, 5e-7);
    EXPECT_NEAR(titans.GetCost(Collective::ALL_REDUCE, 100 * MB, First(8)).GetMs(),
                23.897724,
                5e-7);
    // All-to-all: the share of a rank is 32768 bytes.
    EXPECT_NEAR(pair.GetCost(Collective::ALL_TO_ALL, 8 * 32768, First(8)).GetMs(), 0.164418, 5e-7);
    const ClassicCost across = pair.GetCost(Collective::ALL_TO_ALL, 16 * 32768, First(16));
    EXPECT_NEAR(across.gigabytesPerSecond, 5, 1e-9);
    EXPECT_NEAR(across.latencyUs, 228.2, 1e-9);
    EXPECT_NEAR(across.GetMs(), 3.521304, 5e-7);
}

namespace
{

/// 100 MB all-reduces that run together.
std::vector<double>
Together(const ClassicCostModel& model, const std::vector<Devices>& groups, ClassicRules rules)
{
    std::vector<ClassicCost> costs;
    for (const Devices& group : groups)
    {
        costs.push_back(model.GetCost(Collective::ALL_REDUCE, 100 * MB, group));
    }
    const std::vector<double> rates = ShareClassicBandwidth(model, costs, rules);
    std::vector<double> times;
    for (std::size_t i = 0; i < costs.size(); ++i)
    {
        times.push_back(costs[i].GetMs(rates[i]));
    }
    return times;
}

} // namespace

// B9.
TEST(Classic, BandwidthIsSharedByStep)
{
    struct Case
    {
        const char* cluster;
        uint32_t servers;
        std::vector<Devices> groups;
        double alone, together; //!< ms; 0: not published
    };

    const std::vector<Case> cases{
        {"titanxp", 1, {{0, 2}, {1, 3}, {4, 6}, {5, 7}}, 10.0198, 20.0198},
        {"titanxp", 1, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 16.68647, 33.35313},
        {"titanxp", 1, {{0, 4}, {1, 5}}, 16.68647, 16.68647},
        {"titanxp", 1, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, 8.353133, 8.353133},
        {"dgx1_1ib", 2, {{0, 8}, {1, 9}}, 11.16355, 22.27466},
        {"dgx1_1ib",
         2,
         {{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}, {6, 14}, {7, 15}},
         11.16355,
         88.94133},
        {"dgx1_1ib",
         2,
         {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}},
         0,
         66.76243},
        {"dgx1_1ib",
         2,
         {{0, 2, 4, 6, 8, 10, 12, 14}, {1, 3, 5, 7, 9, 11, 13, 15}},
         22.0574,
         43.9324},
    };
    for (const Case& test : cases)
    {
        SCOPED_TRACE(std::string(test.cluster) + ": " + std::to_string(test.groups.size()) +
                     " groups of " + std::to_string(test.groups[0].size()) + ", first " +
                     std::to_string(test.groups[0][1]));
        const Cluster cluster = MakeClassicCluster(test.cluster, test.servers);
        const ClassicCostModel model(cluster);
        if (test.alone > 0)
        {
            EXPECT_NEAR(Together(model, {test.groups[0]}, ClassicRules::PUBLISHED)[0],
                        test.alone,
                        5e-6);
        }
        for (const double time : Together(model, test.groups, ClassicRules::PUBLISHED))
        {
            EXPECT_NEAR(time, test.together, 5e-6);
        }
    }
}

// Defects 9.2-1 to 9.2-3, kept and mended.
TEST(Classic, MendedRulesShareByLink)
{
    const Cluster cluster = MakeClassicCluster("dgx1_1ib", 2);
    const ClassicCostModel model(cluster);
    const ClassicCost slow = model.GetCost(Collective::ALL_REDUCE, 100 * MB, {2, 10});
    EXPECT_NEAR(slow.gigabytesPerSecond, 5, 1e-9);
    EXPECT_NEAR(slow.latencyUs, 52.44, 1e-9);
    EXPECT_NEAR(Together(model, {{0, 1}, {2, 10}}, ClassicRules::PUBLISHED)[1], 4.598, 5e-4);
    EXPECT_NEAR(Together(model, {{0, 1}, {2, 10}}, ClassicRules::MENDED)[1], 20.052, 5e-4);
    EXPECT_NEAR(Together(model, {{0, 1}, {2, 3}}, ClassicRules::PUBLISHED)[0], 2.288, 5e-4);
    EXPECT_NEAR(Together(model, {{0, 1}, {2, 3}}, ClassicRules::MENDED)[0], 4.5607, 5e-4);

    const Cluster two = MakeClassicCluster("1080_1ib", 2);
    const ClassicCostModel pcie(two);
    auto count = [&](DeviceId first, ClassicRules rules) {
        std::vector<ClassicCost> costs;
        for (const DeviceId i : {first, first + 1, first + 4, first + 5})
        {
            costs.push_back(pcie.GetCost(Collective::ALL_REDUCE, MB, {i, i + 2}));
        }
        return CountClassicSharers(pcie, costs, rules);
    };
    EXPECT_EQ(count(0, ClassicRules::PUBLISHED), std::vector<double>(4, 2));
    EXPECT_EQ(count(8, ClassicRules::PUBLISHED), std::vector<double>(4, 4));
    EXPECT_EQ(count(0, ClassicRules::MENDED), std::vector<double>(4, 2));
    EXPECT_EQ(count(8, ClassicRules::MENDED), std::vector<double>(4, 2));

    // Beside two pairs across servers, a pair on NVLink keeps its rate.
    const std::vector<Devices> groups{{2, 3}, {0, 8}, {1, 9}};
    std::vector<ClassicCost> costs;
    for (const Devices& group : groups)
    {
        costs.push_back(model.GetCost(Collective::ALL_REDUCE, MB, group));
    }
    EXPECT_EQ(CountClassicSharers(model, costs, ClassicRules::PUBLISHED),
              (std::vector<double>{2, 2, 2}));
    EXPECT_EQ(CountClassicSharers(model, costs, ClassicRules::MENDED),
              (std::vector<double>{1, 2, 2}));
}

TEST(Classic, WrongInput)
{
    EXPECT_THROW(MakeClassicCluster("dgx1", 1), std::invalid_argument);
    EXPECT_THROW(MakeClassicCluster("titanxp", 0), std::invalid_argument);
    EXPECT_THROW(MakeClassicCluster("titanxp", 1, 3), std::invalid_argument);
    const Cluster cluster = MakeClassicCluster("titanxp", 1, 4);
    EXPECT_THROW(SearchClassicRing(cluster, {cluster.GetGpus()[0]}), std::invalid_argument);
    const ClassicCostModel model(cluster);
    EXPECT_THROW(model.GetCost(Collective::ALL_REDUCE, MB, {0, 4}), std::invalid_argument);
    EXPECT_EQ(model.GetCost(Collective::ALL_REDUCE, MB, {0}).GetMs(), 0);
}
