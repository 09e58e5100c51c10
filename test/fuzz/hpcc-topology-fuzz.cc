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

#include "cluster-fuzz.h"

#include "ns3/proteus-hpcc-topology.h"

#include <istream>
#include <string>

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    TryCluster(text,
               [&](std::istream& input) { return ns3::proteus::ReadHpccTopology(input, INPUT); });
    return 0;
}
