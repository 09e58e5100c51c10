/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-meant-names.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-other-names.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(NearestName, IsSuggested)
{
    const std::vector<std::string> names{"bert-base", "bert-large", "gpt2"};
    EXPECT_EQ(Suggest("bert_bsae", names), "did you mean bert-base?");
    EXPECT_EQ(Suggest("BERT", names), "did you mean bert-base or bert-large?");
    EXPECT_EQ(Suggest("bert", {"bart", "bert1", "bert2"}), "did you mean bert1 or bert2?");
    EXPECT_EQ(Suggest("resnet", names), "there are bert-base, bert-large, gpt2");
    EXPECT_EQ(Suggest("", names), "there are bert-base, bert-large, gpt2");
    const std::vector<std::string> servers{"dgx2", "dgx-h100", "hgx-h800", "hgx-h100"};
    EXPECT_EQ(Suggest("H100", servers), "did you mean dgx-h100 or hgx-h100?");
    EXPECT_EQ(Suggest("h20", servers), "there are dgx2, dgx-h100, hgx-h800, hgx-h100");
    EXPECT_EQ(Suggest("spine-leaf", {"leaf-spine", "fat-tree"}), "did you mean leaf-spine?");
    EXPECT_EQ(Suggest("gpt3-6.7B", {"2.7B", "6.7B"}), "did you mean 6.7B?");
    EXPECT_EQ(Suggest("-", {"alpha", "beta"}), "there are alpha, beta");
    EXPECT_EQ(FindAlias("GPT-2", names), "gpt2");
    EXPECT_EQ(FindAlias("gpt3", names), "");
    EXPECT_EQ(FindAlias("gpt2\u00e9", names), "");
    EXPECT_EQ(Suggest("gpt2\u00e9", names), "did you mean gpt2?");
    EXPECT_EQ(Suggest("gpt2", {}), "");
    EXPECT_EQ(FindMeant("bert_1", {"bert-12", "bert-1"}), std::vector<std::string>{"bert-1"});
    EXPECT_TRUE(FindMeant("resnet", names).empty());
}

TEST(NearestName, WhatOthersSayIsKnown)
{
    EXPECT_EQ(Suggest("bfloat16", {"fp16", "bf16"}), "did you mean bf16?");
    EXPECT_EQ(Suggest("half", {"fp16", "bf16"}), "did you mean fp16?");
    EXPECT_EQ(Suggest("half", {"bf16"}), "there are bf16");
    EXPECT_EQ(FindByOtherName("train_batch_size", {"dp", "globalBatch"}), "globalBatch");
    EXPECT_EQ(FindByOtherName("globalBatch", {"dp", "globalBatch"}), "");
    EXPECT_TRUE(ListOtherNames("nothing").empty());
}

TEST(NearestName, WhatOthersHaveIsSaidNotToBeThere)
{
    EXPECT_EQ(FindMissingCause("optimizer", "Distributed_Shampoo").substr(0, 30),
              "products with matrices of each");
    EXPECT_EQ(FindMissingCause("optimizer", "paged_adamw_8bit").substr(0, 32),
              "of moments of less than 16 bits ");
    EXPECT_EQ(FindMissingCause("optimizer", "Muon"), "");
    EXPECT_EQ(FindByOtherName("adamw_bnb_8bit", {"adam", "adam8bit"}), "adam8bit");
    EXPECT_EQ(FindByOtherName("adamw_torch", {"adam", "adam-foreach"}), "adam-foreach");
    EXPECT_EQ(FindByOtherName("adamw_torch_fused", {"adam", "adam-fused"}), "adam-fused");
    EXPECT_EQ(FindMissingCause("a plan", "num_micro_batches"),
              "a replica has globalBatch / (dp x microBatch) micro-batches; globalBatch sets their "
              "number");
    EXPECT_EQ(FindMissingCause("data type", "muon"), "");
    EXPECT_EQ(FindMissingCause("optimizer", "adam"), "");
}
