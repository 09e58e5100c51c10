/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-operator-cost.h"

#include <gtest/gtest.h>

using namespace ns3::proteus;

TEST(Presets, GpusAreThoseOfTheDataSheets)
{
    for (const std::string& preset : GetServerPresets())
    {
        const Cluster cluster = MakeCluster(preset, 1);
        for (VertexId gpu : cluster.GetGpus())
        {
            const Vertex& vertex = cluster.GetVertices()[gpu];
            EXPECT_DOUBLE_EQ(vertex.memoryBytesPerSecond,
                             FindGpuDatasheet(vertex.model).memoryBytesPerSecond)
                << preset << " " << vertex.model;
        }
    }
    FabricOptions options;
    options.kind = "single-switch";
    const Cluster hosts = MakeHostCluster(2,
                                          options,
                                          LinkTechnology::ROCE,
                                          1e9,
                                          0,
                                          DefaultFraming(LinkTechnology::ROCE));
    EXPECT_NO_THROW(FindGpuDatasheet(hosts.GetVertices()[0].model));
}
