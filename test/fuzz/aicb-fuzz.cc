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

#include "fuzz-target.h"

#include "ns3/proteus-aicb.h"

#include <sstream>
#include <string>

using namespace ns3::proteus;

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    IsTaken([&]() {
        AicbWorkload workload = ParseAicb(in, INPUT);
        if (workload.gpus > 64)
        {
            workload.gpus = 64; // larger ones only take longer
        }
        TraceOptions options;
        options.availableRanks = 16;
        MakeAicbGraph(workload, INPUT, options);
    });
    return 0;
}
