/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of cluster JSON files. It is no part of the build; see graph-fuzz.cc
 * for what it needs. By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/cluster-json
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/cluster-json-fuzz test/fuzz/cluster-json-fuzz.cc \
 *         model/{base,graph,cluster}/proteus-*.cc \
 *         model/format/proteus-cluster-json.cc
 *     fuzz/cluster-json-fuzz -max_total_time=600 fuzz/cluster-json workloads/clusters
 *
 * What can be read can be written as JSON, and is the same when it is read again.
 */

#include "cluster-fuzz.h"

#include <istream>
#include <string>

namespace
{

/// @param text a file @return whether it may ask for so much that nothing else would be tried: a
/// number of four digits where servers or hosts are counted
bool
IsLarge(const std::string& text)
{
    std::size_t digits = 0;
    for (char c : text)
    {
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        if (digits == 4 && (text.find("server\"") != std::string::npos ||
                            text.find("hosts\"") != std::string::npos))
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
    TryCluster(text,
               [&](std::istream& input) { return ns3::proteus::ReadClusterJson(input, INPUT); });
    return 0;
}
