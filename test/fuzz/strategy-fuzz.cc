/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for strategies, and for the compiler. It is no part of the build; see graph-fuzz.cc
 * for what it needs. By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/strategy
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/strategy-fuzz test/fuzz/strategy-fuzz.cc \
 *         model/{base,graph,cluster,record,cost,collective,strategy}/proteus-*.cc \
 *         model/format/proteus-{expression,input-file,model-json,strategy-json*}.cc -lz
 *     fuzz/strategy-fuzz -max_total_time=600 fuzz/strategy workloads/strategies
 *
 * Strategies that can be read are compiled for a small model, which they may not fit; what compiles
 * can be written out as a tree, which reads back to the same graph.
 */

#include "fuzz-target.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <cctype>
#include <sstream>
#include <string>

namespace
{

/// More take too long.
constexpr uint64_t MOST_DEVICES = 16;

/// Two transformer layers, with what every kind of parallelism needs.
const char* const MODEL = R"({"format": "proteus-model", "version": 1, "name": "small",
 "inputs": [{"name": "tokens", "shape": ["batch", 64], "element": "index"},
            {"name": "labels", "shape": ["batch", 64], "element": "index"}],
 "blocks": {"layer": [
  {"op": "layer-norm", "name": "norm1"},
  {"op": "linear", "name": "qkv", "outputs": [64, 64, 64], "groups": 8, "tensorParallel": "out"},
  {"op": "attention", "name": "attention", "in": ["qkv.0", "qkv.1", "qkv.2"], "heads": 8,
   "dropout": 1},
  {"op": "linear", "name": "projection", "outputs": 64, "tensorParallel": "in"},
  {"op": "dropout-add", "name": "dropout-add1", "in": ["projection", "input"]},
  {"op": "linear", "name": "fc1", "outputs": 256, "tensorParallel": "out"},
  {"op": "gelu", "name": "gelu"},
  {"op": "linear", "name": "fc2", "outputs": 64, "tensorParallel": "in"}]},
 "layers": [
  {"op": "embedding", "name": "embedding.word", "in": "tokens", "rows": 512, "width": 64,
   "tensorParallel": "rows"},
  {"block": "layer", "name": "layer", "repeat": 2},
  {"op": "linear", "name": "output", "outputs": 512, "bias": 0,
   "share": {"weight": "embedding.word.weight"}, "tensorParallel": "out"},
  {"op": "cross-entropy", "name": "loss", "in": ["output", "labels"]}]})";

/// @return whether a number has three digits: it would ask for more devices or micro-batches than
/// there is time for
bool
IsLarge(const std::string& text)
{
    std::size_t digits = 0;
    for (const unsigned char c : text)
    {
        digits = std::isdigit(c) ? digits + 1 : 0;
        if (digits == 3)
        {
            return true;
        }
    }
    return text.find_first_of("eE") != std::string::npos &&
           (text.find("e+") != std::string::npos || text.find("E") != std::string::npos);
}

ns3::proteus::StrategyFile
Read(const std::string& text)
{
    std::istringstream input(text);
    return ns3::proteus::ReadStrategyJson(input, INPUT);
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (IsLarge(text))
    {
        return 0;
    }
    IsTaken(
        [&]() {
            const ns3::proteus::StrategyFile file = Read(text);
            std::istringstream input(MODEL);
            const ns3::proteus::Model model =
                ns3::proteus::ReadModelJson(input, "model", file.GetVariables());
            const ns3::proteus::StrategyTree tree = file.GetTree(model);
            uint64_t nDevices = 1;
            for (const uint32_t size : tree.axisSizes)
            {
                nDevices *= size;
            }
            if (nDevices > MOST_DEVICES)
            {
                return;
            }
            std::ostringstream written;
            ns3::proteus::WriteStrategyJson(tree, written);
            const ns3::proteus::ExecutionGraph graph = ns3::proteus::CompileModel(model, tree);
            Demand(ns3::proteus::AccountMemory(graph).size() == graph.GetNDevices(), "no account");
            const ns3::proteus::StrategyFile again = Read(written.str());
            Demand(ns3::proteus::CompileModel(model, again.GetTree(model)) == graph,
                   "a strategy changes when it is written and read");
        },
        "");
    return 0;
}
