/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../strategy/compile-tools.h"

#include "ns3/proteus-graph-dot.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

TEST(GraphDot, DrawsEveryTaskAndDependency)
{
    const ExecutionGraph graph =
        Compile("alexnet", R"({"dp": 2, "dataType": "fp32", "buckets": "whole"})");
    std::ostringstream text;
    WriteGraphDot(graph, text);
    std::size_t nArrows = 0;
    std::size_t nDependencies = 0;
    for (std::size_t at = text.str().find(" -> "); at != std::string::npos;
         at = text.str().find(" -> ", at + 1))
    {
        ++nArrows;
    }
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        nDependencies += graph.GetDependencies(id).size();
    }
    EXPECT_EQ(nArrows, nDependencies);
    EXPECT_EQ(text.str().rfind("digraph \"AlexNet\" {", 0), 0u);
    EXPECT_NE(text.str().find("label=\"gradients.bucket0.all-reduce 244403360 B {0 1}\""),
              std::string::npos);
}
