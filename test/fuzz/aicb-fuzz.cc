/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of AICB workloads. It is no part of the build; it needs clang
 * and its fuzzer library (Debian: clang libclang-rt-14-dev). By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/aicb
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/aicb-fuzz test/fuzz/aicb-fuzz.cc \
 *         model/{base,graph}/proteus-*.cc \
 *         model/format/proteus-{aicb,aicb-parser,input-file,text-reader}.cc -lz
 *     fuzz/aicb-fuzz -max_total_time=600 fuzz/aicb FOLDER-OF-SAMPLES
 *
 * New inputs go to the first folder.
 */

#include "ns3/proteus-aicb.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace
{
using namespace ns3::proteus;

void
Demand(bool condition, const char* what)
{
    if (!condition)
    {
        std::fprintf(stderr, "aicb-fuzz: %s\n", what);
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    try
    {
        AicbWorkload workload = ParseAicb(in, "input");
        if (workload.gpus > 64)
        {
            workload.gpus = 64; // larger ones only take longer
        }
        TraceOptions options;
        options.availableRanks = 16;
        MakeAicbGraph(workload, "input", options);
    }
    catch (const std::invalid_argument& error)
    {
        const std::string message = error.what();
        Demand(message.compare(0, 5, "input") == 0, "a message does not name the file");
        Demand(message.find('\n') == std::string::npos, "a message has more than one line");
    }
    return 0;
}
