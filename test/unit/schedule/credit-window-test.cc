/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-credit-window.h"
#include "ns3/proteus-partition.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

using namespace ns3::proteus;

namespace
{

using Sizes = std::vector<uint64_t>;

} // namespace

TEST(Partition, BytesAddUp)
{
    EXPECT_EQ(PartitionBytes(10, 4), (Sizes{4, 4, 2}));
    EXPECT_EQ(PartitionBytes(8, 4), (Sizes{4, 4}));
    EXPECT_EQ(PartitionBytes(3, 4), Sizes{3});
    EXPECT_EQ(PartitionBytes(5, UINT64_MAX), Sizes{5});
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i)
    {
        const uint64_t size = 1 + random() % 100000;
        const uint64_t part = 1 + random() % 5000;
        const Sizes bytes = PartitionBytes(size, part);
        EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}), size);
        EXPECT_EQ(bytes.size(), (size + part - 1) / part);
    }
}

TEST(Partition, RefusesNothing)
{
    EXPECT_THROW(PartitionBytes(10, 0), std::invalid_argument);
    EXPECT_THROW(PartitionBytes(0, 10), std::invalid_argument);
}

TEST(CreditWindow, StartsWhileAnyCreditIsLeft)
{
    // Acceptance case C8: (credit, part, parts in flight).
    const std::vector<std::vector<uint64_t>> cases{{4000000, 1000000, 4},
                                                   {4500000, 1000000, 5},
                                                   {4000000, 3000000, 2},
                                                   {1, 1000000, 1}};
    for (const auto& known : cases)
    {
        EXPECT_EQ(CountInFlight(known[0], known[1]), known[2]);
        CreditWindow window(known[0]);
        uint64_t started = 0;
        for (; window.IsOpen(); ++started)
        {
            window.Take(known[1]);
        }
        EXPECT_EQ(started, known[2]);
        EXPECT_EQ(window.GetInFlightBytes(), known[2] * known[1]);
        window.Return(known[1]);
        // One that is done lets one start, unless the window was overshot by more than it.
        EXPECT_EQ(window.IsOpen(), (known[2] - 1) * known[1] < known[0]);
    }
}

TEST(CreditWindow, Limits)
{
    EXPECT_THROW(CreditWindow(0), std::invalid_argument);
    EXPECT_THROW(CountInFlight(0, 1), std::invalid_argument);
    EXPECT_THROW(CountInFlight(1, 0), std::invalid_argument);
    CreditWindow window(CreditWindow::UNLIMITED);
    for (int i = 0; i < 1000; ++i)
    {
        window.Take(uint64_t{1} << 40);
    }
    EXPECT_TRUE(window.IsOpen());
    CreditWindow small(10);
    small.Take(5);
    EXPECT_THROW(small.Return(6), std::logic_error);
}
