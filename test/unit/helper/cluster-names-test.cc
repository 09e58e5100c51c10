/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-name-lists.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <utility>

using namespace ns3::proteus;

TEST(ClusterNames, ServersThatAreNotKnownAreAnsweredByWhatIsNear)
{
    for (const auto& [text, answer] :
         {std::pair("2x4xRTX-PRO-4500:nic=2x200G", "of cards RTX-PRO-4500 nothing is known"),
          {"8xL40T", "did you mean L40"},
          {"4xdgx-h100", "said by nodes: dgx-h100:nodes=4"},
          {"4xdgx-h100:nic=4x400G", "said by nodes: dgx-h100:nic=4x400G,nodes=4"},
          {"2 dgx-a100", "said by nodes: dgx-a100:nodes=2"},
          {"2 * dgx-a100", "said by nodes: dgx-a100:nodes=2"},
          {"dgx-a100x2", "said by nodes: dgx-a100:nodes=2"},
          {"dgx-a100 x 16", "said by nodes: dgx-a100:nodes=16"},
          {"dgx-a100:2", "said by nodes: dgx-a100:nodes=2"},
          {"2xp4d.24xlarge", "said by nodes: p4d.24xlarge:nodes=2"},
          {"8xMI300X", "GPUs of AMD"}})
    {
        try
        {
            FindClusterName(text);
            ADD_FAILURE() << text;
        }
        catch (const std::invalid_argument& error)
        {
            EXPECT_NE(std::string(error.what()).find(answer), std::string::npos) << error.what();
        }
    }
    EXPECT_EQ(FindClusterName("2x4xL40S:nic=2x200G"), "2x4xL40S:nic=2x200G");
    EXPECT_EQ(FindClusterName("pcie-v100x4"), "pcie-v100x4"); // a preset
}
