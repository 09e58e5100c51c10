/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-boxing.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-layout.h"
#include "ns3/proteus-mesh.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

MeshPtr
MakeMesh(const std::vector<uint32_t>& sizes)
{
    uint32_t n = 1;
    for (const uint32_t size : sizes)
    {
        n *= size;
    }
    std::vector<DeviceId> devices(n);
    std::iota(devices.begin(), devices.end(), 0);
    return std::make_shared<DeviceMesh>(sizes, devices);
}

/// Coordinates of a device, worked out here.
std::vector<uint32_t>
Coordinates(const std::vector<uint32_t>& sizes, uint32_t position)
{
    std::vector<uint32_t> coordinates(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0;)
    {
        coordinates[i] = position % sizes[i];
        position /= sizes[i];
    }
    return coordinates;
}

/// Whether a device owns an element (in part, for P) under a layout in words, by definition.
bool
Owns(const std::vector<uint32_t>& sizes,
     const std::vector<std::string>& states,
     const std::vector<uint64_t>& shape,
     const std::vector<uint64_t>& element,
     uint32_t device)
{
    const std::vector<uint32_t> at = Coordinates(sizes, device);
    for (std::size_t dimension = 0; dimension < shape.size(); ++dimension)
    {
        uint64_t begin = 0;
        uint64_t end = shape[dimension];
        for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        {
            if (states[axis] == "S" + std::to_string(dimension))
            {
                const uint64_t size = (end - begin) / sizes[axis]; // shapes here divide
                begin += at[axis] * size;
                end = begin + size;
            }
        }
        if (element[dimension] < begin || element[dimension] >= end)
        {
            return false;
        }
    }
    return true;
}

std::vector<std::string>
Words(const std::string& text)
{
    std::vector<std::string> words(1);
    for (const char c : text)
    {
        if (c == ' ')
        {
            words.emplace_back();
        }
        else
        {
            words.back() += c;
        }
    }
    return words;
}

/// Messages of one element each that no algorithm can do without: per element and set of devices
/// whose partial sums belong together, one fewer than there are summands to bring them together,
/// and one for every device that wants the element and neither has it nor is where the sum is.
uint64_t
CountMessages(const std::vector<uint32_t>& sizes,
              const std::string& from,
              const std::string& to,
              const std::vector<uint64_t>& shape)
{
    const std::vector<std::string> a = Words(from);
    const std::vector<std::string> b = Words(to);
    uint32_t nDevices = 1;
    for (const uint32_t size : sizes)
    {
        nDevices *= size;
    }
    uint64_t nElements = 1;
    for (const uint64_t size : shape)
    {
        nElements *= size;
    }
    uint64_t messages = 0;
    for (uint64_t number = 0; number < nElements; ++number)
    {
        std::vector<uint64_t> element(shape.size());
        uint64_t rest = number;
        for (std::size_t i = shape.size(); i-- > 0;)
        {
            element[i] = rest % shape[i];
            rest /= shape[i];
        }
        // Sets of holders that add up to the value, by their coordinates off the partial axes.
        std::map<std::vector<uint32_t>, std::set<uint32_t>> sums;
        std::map<std::vector<uint32_t>, std::set<uint32_t>> wanted;
        bool isPartial = false;
        for (uint32_t device = 0; device < nDevices; ++device)
        {
            std::vector<uint32_t> key = Coordinates(sizes, device);
            for (std::size_t axis = 0; axis < sizes.size(); ++axis)
            {
                isPartial = isPartial || a[axis] == "P";
                key[axis] = a[axis] == "P" ? 0 : key[axis];
            }
            if (Owns(sizes, a, shape, element, device))
            {
                sums[key].insert(device);
            }
            if (Owns(sizes, b, shape, element, device))
            {
                wanted[key].insert(device);
            }
        }
        if (!isPartial)
        {
            for (const auto& [key, devices] : wanted)
            {
                for (const uint32_t device : devices)
                {
                    messages += sums.count(key) && sums.at(key).count(device) ? 0 : 1;
                }
            }
            continue;
        }
        for (const auto& [key, devices] : wanted)
        {
            EXPECT_TRUE(sums.count(key));
            messages += sums.at(key).size() - 1 + devices.size() - 1;
        }
    }
    return messages;
}

constexpr double MIB = 1 << 20;

/// Checks the volume against ownership on a small tensor, and returns that of 64 MiB.
BoxingVolume
CheckedVolume(const std::vector<uint32_t>& sizes, const std::string& from, const std::string& to)
{
    const std::vector<uint64_t> small{16, 16, 8};
    const MeshPtr mesh = MakeMesh(sizes);
    auto volume = [&](const Shape& shape) {
        return GetBoxingVolume(ParseLayout(mesh, 3, from), ParseLayout(mesh, 3, to), shape);
    };
    EXPECT_EQ(volume(small).total, CountMessages(sizes, from, to, small)) << from << " to " << to;
    BoxingVolume large = volume({1024, 1024, 64});
    large.perDevice /= MIB;
    large.total /= MIB;
    return large;
}

} // namespace

TEST(Layout, PartsAreEvenWithTheRemainderFirst)
{
    const std::vector<Interval> ten{{0, 4}, {4, 7}, {7, 10}};
    for (uint64_t i = 0; i < 3; ++i)
    {
        EXPECT_EQ(GetPart(10, 3, i), ten[i]);
    }
    EXPECT_EQ(GetPart(2, 3, 2).Size(), 0u);
    const Layout layout = ParseLayout(MakeMesh({2, 2}), 2, "S0 S1");
    const std::vector<Box> boxes{{{0, 4}, {0, 5}},
                                 {{0, 4}, {5, 10}},
                                 {{4, 7}, {0, 5}},
                                 {{4, 7}, {5, 10}}};
    for (uint32_t i = 0; i < 4; ++i)
    {
        EXPECT_EQ(layout.GetBox({7, 10}, i), boxes[i]);
    }
}

// AutoDDL B1: T = 64 MiB.
TEST(Boxing, VolumesOnOneAxis)
{
    struct Row
    {
        uint32_t p;
        double allToAll, gather, scatter, allReduce; // MiB per device
    };

    for (const Row& row : {Row{2, 16, 32, 32, 64}, Row{4, 12, 48, 48, 96}, Row{8, 7, 56, 56, 112}})
    {
        const std::vector<uint32_t> sizes{row.p};
        const std::vector<std::pair<std::pair<const char*, const char*>, double>> cases{
            {{"S0", "S1"}, row.allToAll},
            {{"S0", "R"}, row.gather},
            {{"P", "S0"}, row.scatter},
            {{"P", "R"}, row.allReduce},
            {{"R", "S0"}, 0},
            {{"R", "R"}, 0},
        };
        for (const auto& [layouts, each] : cases)
        {
            const BoxingVolume volume = CheckedVolume(sizes, layouts.first, layouts.second);
            EXPECT_DOUBLE_EQ(volume.perDevice, each);
            EXPECT_DOUBLE_EQ(volume.total, each * row.p);
        }
    }
}

// AutoDDL B2.
TEST(Boxing, VolumesOnTwoAxes)
{
    struct Row
    {
        const char* from;
        const char* to;
        double each, total;
    };

    for (const Row& row : {Row{"P S0", "R S0", 16, 128},
                           Row{"S0 R", "R R", 32, 256},
                           Row{"S0 P", "S0 R", 48, 384},
                           Row{"S0 S1", "S0 R", 24, 192},
                           Row{"P S1", "S0 S1", 8, 64},
                           Row{"R P", "R S0", 48, 384},
                           Row{"S0 S2", "S1 S2", 4, 32}})
    {
        const BoxingVolume volume = CheckedVolume({2, 4}, row.from, row.to);
        EXPECT_DOUBLE_EQ(volume.perDevice, row.each) << row.from << " to " << row.to;
        EXPECT_DOUBLE_EQ(volume.total, row.total) << row.from << " to " << row.to;
    }
}

// AutoDDL B3: the fraction of the tensor that moves from (R, S0) to (S0, S0).
TEST(Boxing, NestedSplitsMoveByOwnership)
{
    const std::map<std::vector<uint32_t>, double> fractions{{{2, 2}, 0.5},
                                                            {{2, 4}, 0.75},
                                                            {{4, 2}, 0.5},
                                                            {{3, 3}, 2.0 / 3},
                                                            {{2, 8}, 0.875}};
    for (const auto& [sizes, fraction] : fractions)
    {
        const std::vector<uint64_t> shape{144, 4};
        const MeshPtr mesh = MakeMesh(sizes);
        const BoxingVolume volume =
            GetBoxingVolume(ParseLayout(mesh, 2, "R S0"), ParseLayout(mesh, 2, "S0 S0"), shape);
        EXPECT_DOUBLE_EQ(volume.total / (144 * 4), fraction);
        EXPECT_EQ(volume.total, CountMessages(sizes, "R S0", "S0 S0", shape));
    }
}

TEST(Boxing, StepsAreTheCollectives)
{
    const MeshPtr mesh = MakeMesh({2, 4});
    const Shape shape{16, 16};
    auto steps = [&](const char* from, const char* to) {
        std::string text;
        for (const BoxingStep& step :
             PlanBoxing(ParseLayout(mesh, 2, from), ParseLayout(mesh, 2, to), shape))
        {
            AppendName(text, ToString(step.collective));
            if (step.collective != Collective::SEND_RECV)
            {
                const BoxingGroup group = GetBoxingGroups(step, shape)[0];
                text += " of " + std::to_string(group.elements) + " in";
                for (const DeviceId device : group.devices)
                {
                    text += " " + std::to_string(device);
                }
            }
        }
        return text;
    };
    EXPECT_EQ(steps("R S0", "R S0"), "");
    EXPECT_EQ(steps("R R", "S1 S0"), "");
    EXPECT_EQ(steps("P P", "R R"), "all-reduce of 256 in 0 1 2 3 4 5 6 7");
    EXPECT_EQ(steps("P S0", "R S0"), "all-reduce of 64 in 0 4");
    // The slice comes first, then the scatter, then the reduction of what is left.
    EXPECT_EQ(steps("P P", "R S0"), "reduce-scatter of 256 in 0 1 2 3, all-reduce of 64 in 0 4");
    EXPECT_EQ(steps("R P", "S0 R"), "all-reduce of 128 in 0 1 2 3");
    EXPECT_EQ(steps("S0 S1", "S0 R"), "all-gather of 128 in 0 1 2 3");
    EXPECT_EQ(steps("R S0", "R S1"), "all-to-all of 64 in 0 1 2 3");
    EXPECT_EQ(steps("S0 R", "S1 R"), "send-recv"); // two devices: a pair of transfers
    EXPECT_EQ(steps("R S0", "S0 S0"), "send-recv");
    EXPECT_EQ(steps("R S0", "S0 R"), "send-recv");
    // First the sum, then the exchange; the slice for the first axis comes last.
    EXPECT_EQ(steps("P S0", "S0 S1"), "all-reduce of 64 in 0 4, all-to-all of 64 in 0 1 2 3");
}

TEST(Boxing, UnevenPartsMoveByOwnership)
{
    // 10 in 2 and in 4 parts do not nest: [0,5) [5,10) and [0,3) [3,6) [6,8) [8,10).
    const MeshPtr mesh = MakeMesh({2, 2});
    Layout from = ParseLayout(mesh, 1, "S0 R");
    Layout to = ParseLayout(mesh, 1, "S0 S0");
    const std::vector<BoxingStep> steps = PlanBoxing(from, to, {10});
    ASSERT_EQ(steps.size(), 1u);
    uint64_t moved = 0;
    uint64_t all = 0;
    for (const BoxingTransfer& transfer : GetBoxingTransfers(steps[0], {10}))
    {
        all += transfer.elements;
        moved += transfer.from == transfer.to ? 0 : transfer.elements;
    }
    EXPECT_EQ(all, 10u);
    EXPECT_EQ(moved, 1u); // element 5
}

TEST(Boxing, PartialSumsCannotBeMade)
{
    const MeshPtr mesh = MakeMesh({2});
    EXPECT_THROW(PlanBoxing(ParseLayout(mesh, 1, "R"), ParseLayout(mesh, 1, "P"), {4}),
                 std::invalid_argument);
}

TEST(Mesh, MeshesOverTheSameDevicesShareOne)
{
    MeshTable table;
    const DeviceMesh flat({4}, {0, 1, 2, 3});
    const DeviceMesh square({2, 2}, {0, 1, 2, 3}, {"dp", "tp"});
    const DeviceMesh transposed({2, 2}, {0, 2, 1, 3});
    const DeviceMesh shuffled({4}, {0, 3, 1, 2});
    for (const DeviceMesh* mesh : {&flat, &square, &transposed, &shuffled})
    {
        table.Add(*mesh);
    }
    const RefinedMesh a = table.Refine(flat);
    const RefinedMesh b = table.Refine(square);
    const RefinedMesh c = table.Refine(transposed);
    EXPECT_EQ(a.mesh, b.mesh);
    EXPECT_EQ(a.mesh, c.mesh);
    EXPECT_EQ(a.mesh->GetSizes(), (std::vector<uint32_t>{2, 2}));
    EXPECT_EQ(a.mesh->GetNames(), (std::vector<std::string>{"dp", "tp"}));
    EXPECT_EQ(a.axes, (std::vector<std::vector<MeshAxis>>{{0, 1}}));
    EXPECT_EQ(b.axes, (std::vector<std::vector<MeshAxis>>{{0}, {1}}));
    EXPECT_EQ(c.axes, (std::vector<std::vector<MeshAxis>>{{1}, {0}}));
    EXPECT_NE(table.Refine(shuffled).mesh, a.mesh);
    EXPECT_EQ(table.Refine(shuffled).mesh, table.Refine(shuffled).mesh);
}

TEST(Mesh, RefusesWhatIsNoGrid)
{
    EXPECT_THROW(DeviceMesh({2, 2}, {0, 1, 2}), std::invalid_argument);
    EXPECT_THROW(DeviceMesh({2}, {1, 1}), std::invalid_argument);
    EXPECT_THROW(DeviceMesh({0}, {}), std::invalid_argument);
    EXPECT_THROW(DeviceMesh({2}, {0, 1}, {"a", "b"}), std::invalid_argument);
}
