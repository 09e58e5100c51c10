/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-nccl-releases.h"

#include <gtest/gtest.h>

using namespace ns3::proteus;

TEST(NcclReleases, NamesWhatIsNotSimulated)
{
    EXPECT_EQ(DescribeUnlikeRelease("2.29.7"),
              "NCCL 2.29.7 is simulated as 2.29.3: to its tuner rings of LL128 on Blackwell count "
              "as 40 GB/s for a channel, not 34.5; --ncclVersion=2.30 has that");
    EXPECT_EQ(DescribeUnlikeRelease("22907"), DescribeUnlikeRelease("2.29.7+cuda13.0"));
    EXPECT_EQ(DescribeUnlikeRelease("2.29.10-1").substr(0, 12), "NCCL 2.29.10");
    for (const char* unlike : {"2.18.1", "2.27.3", "2.28.3", "2.28.9"})
    {
        EXPECT_NE(DescribeUnlikeRelease(unlike), "") << unlike;
    }
    for (const char* alike :
         {"", "2.18.3", "2.27.5", "2.28.7", "2.29.3", "2.29", "229", "2.30.7", "2708", "2.7.8"})
    {
        EXPECT_EQ(DescribeUnlikeRelease(alike), "") << alike;
    }
}

TEST(NcclReleases, WritesCodesAsPeopleDo)
{
    EXPECT_EQ(FormatNcclRelease("23003"), "2.30.3");
    EXPECT_EQ(FormatNcclRelease("2708"), "2.7.8");
    for (const char* same : {"", "2.30.3", "2.27.3+cuda12.9", "2.18", "229"})
    {
        EXPECT_EQ(FormatNcclRelease(same), same);
    }
}
