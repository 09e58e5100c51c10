/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Fuzz target for the reader of Chakra traces. It is no part of the build; it needs clang
 * and its fuzzer library (Debian: clang libclang-rt-14-dev). By hand, in the root of the clone:
 *
 *     mkdir -p fuzz/include/ns3 fuzz/chakra
 *     ln -sf $PWD/model/[a-z]*[a-z]/proteus-*.h fuzz/include/ns3
 *     protoc --cpp_out=fuzz/include/ns3 -Imodel/format model/format/proteus-{chakra,graph}.proto
 *     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Ifuzz/include \
 *         -o fuzz/chakra-fuzz test/fuzz/chakra-fuzz.cc \
 *         model/{base,graph}/proteus-*.cc \
 *         model/format/proteus-{chakra-*,graph-protobuf*,input-file,trace-graph,trace-order}.cc \
 *         fuzz/include/ns3/proteus-*.pb.cc -lprotobuf -lz
 *     fuzz/chakra-fuzz -max_total_time=600 fuzz/chakra FOLDER-OF-SAMPLES
 *
 * New inputs go to the first folder.
 */

#include "fuzz-target.h"

#include "ns3/proteus-chakra.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace ns3::proteus;

std::vector<TraceFile>
ToFiles(const std::vector<std::string>& texts)
{
    std::vector<TraceFile> files;
    for (const std::string& text : texts)
    {
        files.push_back({INPUT, [text]() { return std::make_unique<std::istringstream>(text); }});
    }
    return files;
}

void
Try(const std::vector<std::string>& texts, uint32_t ranks)
{
    TraceOptions options;
    options.ranks = ranks;
    ExecutionGraph graph;
    if (!IsTaken([&]() { graph = ReadChakra(ToFiles(texts), INPUT, options); }))
    {
        return;
    }
    // What can be read can be written, and is the same when it is read again.
    std::vector<std::string> written;
    for (DeviceId device = 0; device < graph.GetNDevices() && device < 8; device++)
    {
        std::ostringstream out;
        try
        {
            WriteChakra(graph, device, out);
        }
        catch (const std::invalid_argument&)
        {
            return; // micro-batches may be too many
        }
        written.push_back(out.str());
    }
    if (written.size() == graph.GetNDevices())
    {
        Demand(ReadChakra(ToFiles(written), "again") == graph,
               "a graph changes when it is written and read");
    }
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const std::string input(reinterpret_cast<const char*>(data), size);
    Try({input}, 0);
    Try({input}, 3);
    Try({input, input}, 0);
    return 0;
}
