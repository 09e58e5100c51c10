/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of text topologies. It is no part of the build; see graph-fuzz.cc for
 * what it needs. By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/hpcc-topology
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/hpcc-topology-fuzz test/fuzz/hpcc-topology-fuzz.cc \
 *         model/{base,graph,cluster}/proteus-*.cc \
 *         model/format/proteus-{cluster-json,hpcc-topology,hpcc-words,input-file,text-reader}.cc \
 *         -lz
 *     fuzz/hpcc-topology-fuzz -max_total_time=600 fuzz/hpcc-topology folder-with-topologies
 *
 * What can be read can be written as JSON, and is the same when it is read again.
 */

#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-hpcc-topology.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace
{

using ns3::proteus::Cluster;

void
Demand(bool condition, const char* what)
{
    if (!condition)
    {
        std::fprintf(stderr, "hpcc-topology-fuzz: %s\n", what);
        std::abort();
    }
}

std::string
Write(const Cluster& cluster)
{
    std::ostringstream output;
    ns3::proteus::WriteClusterJson(cluster, output);
    return output.str();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::istringstream input(text);
    std::string first;
    try
    {
        first = Write(ns3::proteus::ReadHpccTopology(input, "input"));
    }
    catch (const std::invalid_argument& error)
    {
        const std::string message = error.what();
        Demand(message.compare(0, 5, "input") == 0, "a message does not name the file");
        Demand(message.find('\n') == std::string::npos, "a message has more than one line");
        return 0;
    }
    std::istringstream back(first);
    Demand(Write(ns3::proteus::ReadClusterJson(back, "again")) == first,
           "a cluster changes when it is written and read");
    return 0;
}
