/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the readers of execution graphs. It is no part of the build; it needs clang and
 * its fuzzer library (Debian: clang libclang-rt-14-dev). By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/json fuzz/pb
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     protoc --cpp_out=fuzz/include/ns3 -Imodel/format model/format/proteus-graph.proto
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/graph-fuzz test/fuzz/graph-fuzz.cc \
 *         model/{base,graph}/proteus-*.cc \
 *         model/format/proteus-graph-{json,protobuf}*.cc \
 *         fuzz/include/ns3/proteus-*.pb.cc -lprotobuf
 *     fuzz/graph-fuzz -max_total_time=600 fuzz/json workloads/graphs
 *
 * New inputs go to the first folder. Every input is given to both readers: what one of them
 * accepts the other refuses at the first byte. To start with Protobuf, put some graph in .pb form
 * (written by SaveGraph()) into fuzz/pb.
 */

#include "fuzz-target.h"

#include "ns3/proteus-graph-json.h"
#include "ns3/proteus-graph-protobuf.h"

#include <sstream>
#include <string>

namespace
{

using ns3::proteus::ExecutionGraph;

template <typename READ, typename WRITE>
void
TryReader(const std::string& input, READ read, WRITE write)
{
    std::istringstream in(input);
    ExecutionGraph graph;
    if (!IsTaken([&]() { graph = read(in, INPUT); }))
    {
        return;
    }
    // What can be read can be written, and is the same when it is read again.
    std::ostringstream first;
    write(graph, first);
    std::istringstream back(first.str());
    const ExecutionGraph again = read(back, "again");
    Demand(graph == again, "a graph changes when it is written and read");
    std::ostringstream second;
    write(again, second);
    Demand(first.str() == second.str(), "a file changes when it is read and written");
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const std::string input(reinterpret_cast<const char*>(data), size);
    TryReader(input, ns3::proteus::ReadGraphJson, ns3::proteus::WriteGraphJson);
    TryReader(input, ns3::proteus::ReadGraphProtobuf, ns3::proteus::WriteGraphProtobuf);
    return 0;
}
