/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-study-idle.h"
#include "ns3/proteus-study.h"
#include "ns3/proteus-table.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param name of an axis @param labels of its values @return it
StudyAxis
MakeAxis(const std::string& name, const std::vector<std::string>& labels)
{
    StudyAxis axis;
    axis.name = name;
    for (const std::string& label : labels)
    {
        axis.values.push_back({label, {}});
    }
    return axis;
}

/// @param times seconds by spines (2, 4, 8) and size (s, l), spines first; below 0: failed
/// @return what is said of them
std::vector<std::string>
FindIdle(const std::vector<double>& times)
{
    Study study;
    study.axes = {MakeAxis("spines", {"2", "4", "8"}), MakeAxis("size", {"s", "l"})};
    Table table;
    table.columns = {{"spines", "", ""},
                     {"size", "", ""},
                     {"executor", "", ""},
                     {"iteration_s", "s", ""}};
    for (std::size_t i = 0; i < times.size(); ++i)
    {
        table.rows.push_back({study.axes[0].values[i / 2].label,
                              study.axes[1].values[i % 2].label,
                              std::string("flow"),
                              times[i] < 0 ? Cell() : Cell(times[i])});
    }
    return FindIdleValues(study, table);
}

/// @param axis of a line @param values that it lists @return it
std::string
Line(const std::string& axis, const std::string& values)
{
    return "the axis " + axis + ": iteration_s is the same with " + values +
           ", to the last digit, wherever all else is alike";
}

} // namespace

TEST(StudyIdle, ValuesThatGiveTheSameAreNamed)
{
    using Lines = std::vector<std::string>;
    EXPECT_EQ(FindIdle({1, 2, 3, 4, 5, 6}), Lines());
    EXPECT_EQ(FindIdle({1, 2, 1, 2, 1, 2}), (Lines{Line("spines", "2, 4, 8")}));
    EXPECT_EQ(FindIdle({1, 2, 3, 4, 1, 2}), (Lines{Line("spines", "2, 8")}));
    EXPECT_EQ(FindIdle({1, 2, 1, 2.0000000001, 3, 4}), Lines()); // but for one size
    EXPECT_EQ(FindIdle({1, 1, 2, 2, 3, 3}), (Lines{Line("size", "s, l")}));
    EXPECT_EQ(FindIdle({1, 1, 1, 1, 1, 1}),
              (Lines{Line("spines", "2, 4, 8"), Line("size", "s, l")}));
}

TEST(StudyIdle, WhatFailedDoesNotCount)
{
    using Lines = std::vector<std::string>;
    EXPECT_EQ(FindIdle({1, -1, 1, 2, 3, 4}), (Lines{Line("spines", "2, 4")}));
    EXPECT_EQ(FindIdle({1, -1, -1, 1, 3, 4}), Lines()); // they are nowhere beside each other
    EXPECT_EQ(FindIdle({-1, -1, -1, -1, -1, -1}), Lines());
}

} // namespace proteus
} // namespace ns3
