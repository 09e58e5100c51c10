/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for profiles. It is no part of the build; see graph-fuzz.cc for what it
 * needs. By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/profile
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/profile-fuzz test/fuzz/profile-fuzz.cc \
 *         model/{base,graph,cluster,record,cost}/proteus-*.cc \
 *         model/format/proteus-profile-json.cc
 *     fuzz/profile-fuzz -max_total_time=600 fuzz/profile
 *
 * What can be read can be written, and is the same when it is read again.
 */

#include "fuzz-target.h"

#include "ns3/proteus-profile-json.h"

#include <sstream>
#include <string>

namespace
{

std::string
Write(const std::string& text)
{
    std::istringstream input(text);
    std::ostringstream output;
    ns3::proteus::WriteProfileJson(ns3::proteus::ReadProfileJson(input, INPUT), output);
    return output.str();
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    std::string first;
    if (!IsTaken([&]() { first = Write(std::string(reinterpret_cast<const char*>(data), size)); }))
    {
        return 0;
    }
    Demand(Write(first) == first, "a profile changes when it is written and read");
    return 0;
}
