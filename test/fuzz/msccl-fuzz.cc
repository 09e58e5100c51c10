/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of MSCCL schedules. It is no part of the build; it needs clang and its
 * fuzzer library (Debian: clang libclang-rt-14-dev). By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/msccl
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/msccl-fuzz test/fuzz/msccl-fuzz.cc \
 *         model/{base,graph,cluster,record,cost,collective}/proteus-*.cc \
 *         model/format/proteus-{input-file,msccl,msccl-program,xml}.cc -lz
 *     fuzz/msccl-fuzz -max_total_time=600 -max_len=16384 fuzz/msccl FOLDER_WITH_SCHEDULES
 *
 * New inputs go to the first folder.
 */

#include "fuzz-target.h"

#include "ns3/proteus-msccl.h"

#include <sstream>
#include <string>

using namespace ns3::proteus;

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    std::istringstream input(std::string(reinterpret_cast<const char*>(data), size));
    MscclSchedule schedule;
    if (!IsTaken([&]() { schedule = ReadMscclXml(input, INPUT); }))
    {
        return 0;
    }
    // What is accepted computes its collective for another size as well. In several loops, several
    // chunks of one step go one by one, which may take more room than there is.
    const uint64_t slot = GetTraits(schedule.protocol).SlotBytes();
    CollectiveRequest request;
    request.vertices.resize(schedule.gpus.size());
    for (const uint64_t chunk : {uint64_t{3}, 2 * slot + 1})
    {
        request.bytes = chunk * schedule.chunks;
        const std::string error =
            CheckProgram(MakeProgram(schedule, request), MakeRequest(schedule, request));
        const bool lacksRoom = chunk > slot && error.find("for ever") != std::string::npos;
        Demand(error.empty() || lacksRoom, error.c_str());
    }
    return 0;
}
