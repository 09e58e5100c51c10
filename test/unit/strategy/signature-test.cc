/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-signature.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

ModelOperator
MakeOperator(const std::string& kind,
             const std::vector<Shape>& shapes,
             const OperatorAttributes& attributes = {})
{
    ModelBuilder builder("m");
    std::vector<TensorId> inputs;
    for (const Shape& shape : shapes)
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < shape.size(); ++i)
        {
            names.push_back("d" + std::to_string(i));
        }
        inputs.push_back(builder.AddInput("x" + std::to_string(inputs.size()), shape, names));
    }
    builder.Add(kind, "op", inputs, attributes);
    return builder.Build().GetOperator(0);
}

/// "S0,R->S0"
std::set<std::string>
Show(const ModelOperator& op)
{
    std::set<std::string> all;
    for (const Signature& signature : GetSignatures(op))
    {
        std::string text;
        for (const std::string& state : signature.reads)
        {
            text += (text.empty() ? "" : ",") + state;
        }
        all.insert(text + "->" + signature.writes[0]);
    }
    return all;
}

} // namespace

// AutoDDL B9 and the table of B.1.
TEST(Signature, MatmulHasFive)
{
    const ModelOperator matmul = MakeOperator("matmul", {{8, 4}, {4, 16}});
    EXPECT_EQ(Show(matmul),
              (std::set<std::string>{"S0,R->S0", "R,S1->S1", "S1,S0->P", "P,R->P", "R,P->P"}));
}

TEST(Signature, OthersFollowTheTable)
{
    EXPECT_EQ(Show(MakeOperator("relu", {{8, 4}})), (std::set<std::string>{"S0->S0", "S1->S1"}));
    EXPECT_EQ(Show(MakeOperator("add", {{8, 4}, {8, 4}})),
              (std::set<std::string>{"S0,S0->S0", "S1,S1->S1", "P,P->P"}));
    EXPECT_EQ(Show(MakeOperator("softmax", {{8, 4}})), (std::set<std::string>{"S0->S0"}));
    EXPECT_EQ(Show(MakeOperator("layer-norm", {{8, 4}})), (std::set<std::string>{"S0,R,R->S0"}));
    OperatorAttributes table;
    table.numbers = {{"rows", {100}}, {"width", {8}}};
    EXPECT_EQ(Show(MakeOperator("embedding", {{8}}, table)),
              (std::set<std::string>{"S0,R->S0", "R,S0->P", "R,S1->S1"}));
    // With a bias the partial sums of an input do not pass: every device would add it.
    OperatorAttributes linear;
    linear.numbers = {{"outputs", {16}}};
    EXPECT_EQ(Show(MakeOperator("linear", {{8, 4}}, linear)),
              (std::set<std::string>{"S0,R,R->S0", "R,S0,S0->S1", "S1,S1,R->P"}));
    linear.numbers["bias"] = {0};
    EXPECT_EQ(GetSignatures(MakeOperator("linear", {{8, 4}}, linear)).size(), 5u);
}
