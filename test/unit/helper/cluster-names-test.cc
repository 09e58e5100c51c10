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
          {"4xdgx-h100:nic=4x400G", "dgx-h100:nodes=4"},
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
}
