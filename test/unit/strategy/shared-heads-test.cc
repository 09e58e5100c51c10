/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

// Tensor parallelism over more devices than there are heads of keys and values.

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

namespace
{

constexpr int64_t TOKENS = 512;
constexpr int64_t HIDDEN = 1024;
constexpr int64_t HEADS = 16;

/// @param kvHeads heads of keys and values @param others variables @return those of a small Llama
std::map<std::string, int64_t>
MakeVariables(int64_t kvHeads, const std::map<std::string, int64_t>& others = {})
{
    std::map<std::string, int64_t> variables{{"layers", 2},
                                             {"hidden", HIDDEN},
                                             {"heads", HEADS},
                                             {"kvHeads", kvHeads},
                                             {"feedForward", 2048},
                                             {"sequence", TOKENS},
                                             {"sharesHeads", 1}};
    for (const auto& [name, value] : others)
    {
        variables[name] = value;
    }
    return variables;
}

/// @param extents factors @return their product
double
Multiply(const Shape& extents)
{
    return std::accumulate(extents.begin(), extents.end(), 1.0, std::multiplies<>());
}

/// @param tp devices @param variables of the model @return its parameters, and operations of the
/// forward passes of its attention
std::map<std::string, double>
Measure(int tp, const std::map<std::string, int64_t>& variables)
{
    const StrategyFile file = ReadStrategy(R"({"tp": )" + std::to_string(tp) + "}");
    const Model model = LoadFor("llama", file, variables);
    std::map<std::string, double> measured;
    for (const ModelTensor& tensor : model.GetTensors())
    {
        if (tensor.role == TensorRole::PARAMETER)
        {
            measured["parameters"] += Multiply(tensor.shape);
        }
    }
    for (const ModelOperator& op : model.GetOperators())
    {
        if (op.kind == "attention")
        {
            Shape extents;
            for (const IterationAxis axis : op.forward.flops.at(0).extents)
            {
                extents.push_back(op.dimensions[axis].extent);
            }
            measured["attention"] += op.forward.flops.at(0).perPoint * Multiply(extents);
        }
    }
    return measured;
}

/// @param tp devices @param variables of the model @return what is wrong with it
std::string
GetError(int tp, const std::map<std::string, int64_t>& variables)
{
    try
    {
        Compile("llama", R"({"tp": )" + std::to_string(tp) + "}", variables);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(SharedHeads, AllOfQueriesKeysAndValuesIsGathered)
{
    // Where there is a head for each device nothing is gathered.
    const std::string strategy = R"({"tp": 4})";
    EXPECT_TRUE(
        CountBytes(Compile("llama", strategy, MakeVariables(4)), Collective::ALL_GATHER).empty());
    // Queries, and two heads of keys and of values, of 64 numbers in 16 bits; two layers.
    const ExecutionGraph graph = Compile("llama", strategy, MakeVariables(2));
    const uint64_t bytes = 2 * TOKENS * (HIDDEN + 2 * 2 * 64) * 2;
    const std::map<std::string, uint64_t> gathered = CountBytes(graph, Collective::ALL_GATHER);
    const std::map<std::string, uint64_t> scattered = CountBytes(graph, Collective::REDUCE_SCATTER);
    EXPECT_EQ(gathered, (std::map<std::string, uint64_t>{{"forward", bytes}}));
    EXPECT_EQ(scattered, (std::map<std::string, uint64_t>{{"backward", bytes}}));
    // With sequences split, too, this comes beside what is gathered for the products.
    const std::string split = R"({"tp": 4, "sequenceParallel": true})";
    const auto whole =
        CountBytes(Compile("llama", split, MakeVariables(4)), Collective::ALL_GATHER);
    auto shared = CountBytes(Compile("llama", split, MakeVariables(2)), Collective::ALL_GATHER);
    EXPECT_EQ(shared["forward"] - whole.at("forward"), bytes);
}

TEST(SharedHeads, ParametersAndScoresAreThose)
{
    EXPECT_EQ(Measure(8, MakeVariables(2)), Measure(1, MakeVariables(2)));
    EXPECT_EQ(Measure(4, MakeVariables(1)), Measure(1, MakeVariables(1)));
}

TEST(SharedHeads, AreRefusedWhereTheyDoNotFit)
{
    // Frameworks that do not say so, products of their own, and adapters.
    const std::string parts = "cannot be split into 4 equal parts (tp = 4)";
    for (const char* name : {"sharesHeads", "separate", "adapterRank"})
    {
        const int64_t value = std::string(name) == "sharesHeads" ? 0 : 1;
        const std::string error = GetError(4, MakeVariables(2, {{name, value}}));
        EXPECT_NE(error.find(parts), std::string::npos) << name << ": " << error;
    }
    const std::string error = GetError(8, MakeVariables(3, {{"heads", 24}, {"hidden", 1536}}));
    EXPECT_NE(error.find("8 devices cannot share 24 heads with 3 heads of keys and values: they "
                         "must be a multiple of these, and divide those"),
              std::string::npos)
        << error;
    EXPECT_NE(GetError(32, MakeVariables(2)), "");
}
