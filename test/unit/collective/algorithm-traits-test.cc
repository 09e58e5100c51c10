/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithm-traits.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param has what to look for @return names of the algorithms that have it
std::set<std::string>
NamesOf(bool (*has)(const AlgorithmTraits&))
{
    std::set<std::string> names;
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        if (has(traits))
        {
            names.insert(traits.name);
        }
    }
    return names;
}

} // namespace

TEST(AlgorithmTraits, EveryCollectiveHasADefaultAndNoNameIsTakenTwice)
{
    std::set<std::string> names;
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
        EXPECT_FALSE(traits.makers.empty()) << traits.name;
        EXPECT_EQ(&GetAlgorithmTraits(traits.name), &traits);
        for (const auto& entry : traits.makers)
        {
            EXPECT_EQ(FindAlgorithm(entry.first, traits.name), entry.second);
        }
    }
    // What NCCL does by itself is the default.
    for (const Collective collective : {Collective::ALL_REDUCE,
                                        Collective::ALL_GATHER,
                                        Collective::REDUCE_SCATTER,
                                        Collective::BROADCAST,
                                        Collective::REDUCE})
    {
        EXPECT_EQ(GetAlgorithms(collective).front(), "ring");
        EXPECT_FALSE(IsPointToPoint(collective));
    }
    for (const Collective collective :
         {Collective::GATHER, Collective::SCATTER, Collective::ALL_TO_ALL, Collective::SEND_RECV})
    {
        EXPECT_EQ(GetAlgorithms(collective).front(), "direct");
        EXPECT_TRUE(IsPointToPoint(collective));
    }
    EXPECT_THROW(AlgorithmRegistration(GetAllAlgorithms().front()), std::logic_error);
}

TEST(AlgorithmTraits, WhatNcclsTunerKnowsIsThereOnceEach)
{
    std::multiset<NcclAlgorithm> tunable;
    for (const AlgorithmTraits& traits : GetAllAlgorithms())
    {
        if (traits.tunable)
        {
            tunable.insert(*traits.tunable);
        }
    }
    const std::multiset<NcclAlgorithm> expected{NcclAlgorithm::TREE,
                                                NcclAlgorithm::RING,
                                                NcclAlgorithm::COLLNET_DIRECT,
                                                NcclAlgorithm::NVLS,
                                                NcclAlgorithm::NVLS_TREE,
                                                NcclAlgorithm::PAT};
    EXPECT_EQ(tunable, expected);
}

TEST(AlgorithmTraits, SetAlgorithmsApart)
{
    using Names = std::set<std::string>;
    EXPECT_EQ(NamesOf([](const AlgorithmTraits& traits) { return traits.hasNvlsChannels; }),
              (Names{"nvls", "nvls-tree"}));
    EXPECT_EQ(NamesOf([](const AlgorithmTraits& traits) { return traits.hasCommonChunks; }),
              (Names{"nvls", "nvls-tree", "sharp-chain", "tree"}));
    EXPECT_EQ(NamesOf([](const AlgorithmTraits& traits) { return traits.hasTreeSteps; }),
              (Names{"sharp-chain", "tree"}));
    EXPECT_EQ(NamesOf([](const AlgorithmTraits& traits) { return traits.hasSwitchChannels; }),
              (Names{"sharp", "sharp-chain"}));
    EXPECT_EQ(NamesOf([](const AlgorithmTraits& traits) { return traits.isLaunchedByPeer; }),
              (Names{"direct", "pxn"}));
    EXPECT_EQ(NamesOf([](const AlgorithmTraits& traits) { return traits.keepsRails; }),
              (Names{"pxn"}));
    EXPECT_EQ(
        ListAlgorithms([](const AlgorithmTraits& traits) { return traits.hasParameterServers; }),
        "parameter-server or host-parameter-server");
    EXPECT_EQ(ListAlgorithms([](const AlgorithmTraits& traits) { return traits.hasNvlsChannels; }),
              "nvls or nvls-tree");
    // A schedule from a file may be called whatever it likes.
    EXPECT_EQ(GetAlgorithmTraits("a schedule of mine").name, "");
    EXPECT_FALSE(GetAlgorithmTraits("a schedule of mine").isLaunchedByPeer);
}
