/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of PyTorch Kineto traces. It is no part of the build; it needs clang
 * and its fuzzer library (Debian: clang libclang-rt-14-dev). By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/kineto
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/kineto-fuzz test/fuzz/kineto-fuzz.cc \
 *         model/{base,graph}/proteus-*.cc \
 *         model/format/proteus-{input-file,kineto*,trace-graph,trace-order}.cc -lz
 *     fuzz/kineto-fuzz -max_total_time=600 fuzz/kineto FOLDER-OF-SAMPLES
 *
 * New inputs go to the first folder.
 */

#include "fuzz-target.h"

#include "ns3/proteus-kineto.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace
{

using namespace ns3::proteus;

void
Try(const std::string& text, uint32_t ranks)
{
    TraceOptions options;
    options.ranks = ranks;
    const TraceFile file{INPUT, [&text]() { return std::make_unique<std::istringstream>(text); }};
    IsTaken([&]() { ReadKineto({file}, INPUT, options); });
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const std::string input(reinterpret_cast<const char*>(data), size);
    Try(input, 1);
    Try(input, 2);
    return 0;
}
