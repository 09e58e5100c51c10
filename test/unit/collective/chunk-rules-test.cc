/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-choice.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

using namespace ns3::proteus;

TEST(ChunkRules, BuffersOfSimpleAreShortOnArm)
{
    // By preset and version: KiB of a chunk of a ring of 1 GiB, four of eight slots.
    for (const auto& [preset, kibs] : std::map<std::string, std::map<uint32_t, uint64_t>>{
             {"quad-gh200", {{206, 2048}, {207, 512}, {218, 512}, {219, 2048}, {230, 2048}}},
             {"dgx-h100", {{206, 2048}, {207, 2048}, {218, 2048}, {219, 2048}}}})
    {
        const Cluster cluster = MakeCluster(preset, 2);
        const Paths paths(cluster);
        for (const auto& [version, kib] : kibs)
        {
            CollectivePreferences preferences;
            preferences.ncclVersion = version;
            preferences.algorithm = "ring";
            preferences.protocol = "Simple";
            for (const bool isSaid : {false, true})
            {
                if (isSaid)
                {
                    preferences.variables.bufferBytes[static_cast<std::size_t>(Protocol::SIMPLE)] =
                        8 << 20;
                }
                CollectiveRequest request;
                request.vertices = cluster.GetGpus();
                request.bytes = 1 << 30;
                CollectiveChooser(cluster, paths, preferences).Complete(request);
                EXPECT_EQ(request.chunkBytes * request.stepsPerChunk, (isSaid ? 4096 : kib) << 10)
                    << preset << " by " << version;
            }
        }
    }
}
