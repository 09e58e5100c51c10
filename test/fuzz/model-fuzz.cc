/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for models. It is no part of the build; see graph-fuzz.cc for what it
 * needs. By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/model
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/model-fuzz test/fuzz/model-fuzz.cc \
 *         model/{base,graph,cluster,record,cost,collective,strategy}/proteus-*.cc \
 *         model/format/proteus-{expression,input-file,model-json}.cc -lz
 *     fuzz/model-fuzz -max_total_time=600 fuzz/model workloads/models
 *
 * Models that can be read are compiled for two devices.
 */

#include "fuzz-target.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-model-json.h"

#include <cctype>
#include <sstream>
#include <string>

namespace
{

/// @return whether a block may be repeated so often that nothing else would be tried
bool
IsLarge(const std::string& text)
{
    const std::size_t at = text.find("repeat");
    std::size_t digits = 0;
    for (std::size_t i = at; at != std::string::npos && i < text.size(); ++i)
    {
        digits = std::isdigit(static_cast<unsigned char>(text[i])) ? digits + 1 : 0;
        if (digits == 3)
        {
            return true;
        }
    }
    return false;
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
            std::istringstream input(text);
            const ns3::proteus::Model model =
                ns3::proteus::ReadModelJson(input, INPUT, {{"batch", 4}});
            ns3::proteus::StrategyTree tree;
            tree.batch = 4;
            tree.axisNames = {"dp"};
            tree.axisSizes = {2};
            tree.root.op.splits = {{"batch", 0, {"dp"}}};
            const ns3::proteus::ExecutionGraph graph = ns3::proteus::CompileModel(model, tree);
            Demand(graph.GetNDevices() == 2, "other devices");
        },
        "");
    return 0;
}
