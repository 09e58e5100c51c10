/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of nccl-tests logs. It is no part of the build; it needs clang
 * and its fuzzer library (Debian: clang libclang-rt-14-dev). By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/nccl-tests
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/nccl-tests-fuzz test/fuzz/nccl-tests-fuzz.cc \
 *         model/base/proteus-*.cc \
 *         model/format/proteus-{input-file,text-reader}.cc model/format/proteus-nccl-tests*.cc -lz
 *     fuzz/nccl-tests-fuzz -max_total_time=600 fuzz/nccl-tests FOLDER-OF-SAMPLES
 *
 * New inputs go to the first folder.
 */

#include "fuzz-target.h"

#include "ns3/proteus-nccl-tests.h"

#include <sstream>
#include <string>

using namespace ns3::proteus;

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    NcclTestsTable table;
    if (!IsTaken([&]() { table = ReadNcclTests(in, INPUT); }))
    {
        return 0;
    }
    // What can be read can be written; words of a log that have a comma in them cannot.
    for (const NcclTestsRow& row : table.rows)
    {
        if ((row.type + row.redop).find_first_of(",#") != std::string::npos)
        {
            return 0;
        }
    }
    std::ostringstream first;
    WriteNcclTestsCsv(table, first);
    std::istringstream back(first.str());
    const NcclTestsTable again = ReadNcclTests(back, "again");
    Demand(again.rows.size() == table.rows.size(), "a table changes when it is read and written");
    return 0;
}
