/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests-json.h"

#include "proteus-nccl-tests-doubts.h"
#include "proteus-nccl-tests-words.h"

#include "ns3/proteus-json.h"

#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Newest version of the file that is known.
constexpr uint64_t NEWEST = 2;
/// Most processes, and threads or GPUs of one.
constexpr std::size_t MOST_PROCESSES = 1 << 20;
constexpr uint64_t MOST_OF_PROCESS = 1024;
constexpr uint64_t MOST_SIZE = uint64_t{1} << 60; //!< of a buffer, bytes

/// @param object with numbers @param key of one @return it, if it is there and a number: nccl-tests
/// writes "nan" and null, too
std::optional<double>
FindNumber(const JsonValue& object, const char* key, double most)
{
    const auto value = object.Find(key);
    if (!value || value->IsNull() || (value->IsString() && value->AsString() == "nan"))
    {
        return std::nullopt;
    }
    return value->AsNumber(0, most);
}

/// @param object with whole numbers @param key of one @param otherwise what counts if it is not
/// there @return it
uint32_t
GetWhole(const JsonValue& object, const char* key, uint32_t otherwise)
{
    const auto value = object.Find(key);
    return value ? static_cast<uint32_t>(value->AsWhole(0, std::numeric_limits<int32_t>::max()))
                 : otherwise;
}

/// @param object with truths, which nccl-tests writes as texts @param key of one
/// @return whether it is there and true
bool
IsTrue(const JsonValue& object, const char* key)
{
    const auto value = object.Find(key);
    return value && value->IsString() && value->AsString() == "true";
}

/// @param row of the results @param key of its times out of place or in place @return them
std::optional<NcclTestsTiming>
ReadTiming(const JsonValue& row, const char* key)
{
    const auto found = row.Find(key);
    if (!found || found->IsNull())
    {
        return std::nullopt;
    }
    if (found->Has("cpu_time"))
    {
        found->Get("cpu_time")
            .Fail("is what launching took on the host (-C), not the operation; "
                  "run nccl-tests without -C");
    }
    const auto timeUs = FindNumber(*found, "time", NcclTestsTiming::MOST_US);
    const auto algbwGBps = FindNumber(*found, "alg_bw", NcclTestsTiming::MOST_GBPS);
    if (!timeUs && algbwGBps)
    {
        found->Fail("has a bandwidth (alg_bw), and no time");
    }
    if (!timeUs)
    {
        return std::nullopt; // the test does not run that way
    }
    if (*timeUs <= 0)
    {
        found->Get("time").Fail("the time must be above 0");
    }
    NcclTestsTiming timing;
    timing.timeUs = *timeUs;
    timing.algbwGBps = algbwGBps;
    timing.busbwGBps = FindNumber(*found, "bus_bw", NcclTestsTiming::MOST_GBPS);
    timing.wrong = FindNumber(*found, "nwrong", std::numeric_limits<double>::max());
    return timing;
}

/// @param element of the results @return the row
NcclTestsRow
ReadRow(const JsonValue& element)
{
    constexpr uint64_t MOST = std::numeric_limits<uint64_t>::max();
    NcclTestsRow row;
    row.bytes = element.Get("size").AsUnsigned(0, MOST);
    if (const auto count = element.Find("count"))
    {
        row.count = count->AsUnsigned(0, MOST);
    }
    if (const auto type = element.Find("type"))
    {
        row.type = type->AsName();
    }
    if (const auto redop = element.Find("redop"))
    {
        row.redop = redop->AsName();
    }
    if (const auto root = element.Find("root"))
    {
        const std::string& text = root->AsName(); // "     0"
        char* end = nullptr;
        row.root = std::strtoll(text.c_str(), &end, 10);
        if (text.empty() || *end != '\0' || *row.root < -1)
        {
            root->Fail("must be the number of a rank, or -1");
        }
    }
    row.outOfPlace = ReadTiming(element, "out_of_place");
    row.inPlace = ReadTiming(element, "in_place");
    if (!row.outOfPlace && !row.inPlace)
    {
        element.Fail("has no time");
    }
    return row;
}

/// @param config that nccl-tests ran with @param table gets ranks, hosts and devices
/// @param run gets the rest
void
ReadConfig(const JsonValue& config, NcclTestsTable& table, NcclTestsRun& run)
{
    table.gpusOfThread = static_cast<uint32_t>(config.Get("ngpus").AsWhole(1, MOST_OF_PROCESS));
    const uint32_t ofProcess =
        table.gpusOfThread *
        static_cast<uint32_t>(config.Get("nthreads").AsWhole(1, MOST_OF_PROCESS));
    run.warmUps = GetWhole(config, "warmup_iters", run.warmUps);
    run.iterations = GetWhole(config, "iterations", run.iterations);
    run.aggregated = GetWhole(config, "aggregated_iterations", run.aggregated);
    run.graphs = GetWhole(config, "graph", run.graphs);
    run.isBlocking = IsTrue(config, "blocking_collectives");
    for (const auto& [key, number] : {std::pair{"minimum_bytes", &run.minBytes},
                                      {"maximum_bytes", &run.maxBytes},
                                      {"step_factor", &run.stepFactor},
                                      {"step_bytes", &run.stepBytes}})
    {
        if (const auto value = config.Find(key))
        {
            *number = value->AsWhole(0, MOST_SIZE);
        }
    }
    const JsonValue devices = config.Get("devices");
    if (devices.Size() == 0 || devices.Size() > MOST_PROCESSES / ofProcess)
    {
        devices.Fail("must have one for each process, and at most " +
                     std::to_string(MOST_PROCESSES) + " in all");
    }
    std::set<std::string> hosts;
    for (std::size_t i = 0; i < devices.Size(); ++i)
    {
        const JsonValue device = devices.At(i);
        hosts.insert(device.Get("hostname").AsName());
        table.devices.insert(table.devices.end(), ofProcess, device.Get("device_info").AsName());
    }
    table.nodes = static_cast<uint32_t>(hosts.size());
    table.ranks = static_cast<uint32_t>(table.devices.size());
}

/// @param root of the file @return the collective whose program the command line names
std::string
ReadCollective(const JsonValue& root)
{
    const auto args = root.Find("args");
    std::string collective;
    for (std::size_t i = 0; args && i < args->Size() && collective.empty(); ++i)
    {
        collective = FindCollective(args->At(i).AsString());
    }
    return collective;
}

} // namespace

NcclTestsTable
ReadNcclTestsJson(std::istream& in, const std::string& fileName)
{
    const JsonDocument document(in, fileName);
    const JsonValue root = document.GetRoot();
    if (!root.Has("config") || !root.Has("results"))
    {
        root.Fail("is no file of nccl-tests (-J): it has no config and results");
    }
    if (const auto version = root.Find("version"))
    {
        version->AsWhole(1, NEWEST);
    }
    NcclTestsTable table;
    NcclTestsRun run;
    run.countsWrong = true;
    ReadConfig(root.Get("config"), table, run);
    table.collective = ReadCollective(root);
    if (const auto version = root.Find("nccl_version"))
    {
        table.ncclVersion =
            std::to_string(version->AsWhole(1, std::numeric_limits<int32_t>::max()));
    }
    for (const char* key : {"env", "args"})
    {
        const auto texts = root.Find(key);
        for (std::size_t i = 0; texts && i < texts->Size(); ++i)
        {
            run.NoteSettings(texts->At(i).AsString());
        }
    }
    const JsonValue results = root.Get("results");
    for (std::size_t i = 0; i < results.Size(); ++i)
    {
        table.rows.push_back(ReadRow(results.At(i)));
    }
    if (table.rows.empty())
    {
        results.Fail("the table has no lines");
    }
    if (const auto bounds = root.Find("out_of_bounds"))
    {
        run.failed = !IsTrue(*bounds, "okay");
    }
    if (const auto average = root.Find("average_bus_bandwidth"))
    {
        run.averageGBps = FindNumber(*average, "bandwidth", NcclTestsTiming::MOST_GBPS);
    }
    table.iterations = run.iterations;
    table.doubts = FindDoubts(table, run);
    table.settings = run.GetVariables();
    if (!root.Has("end_time"))
    {
        table.doubts.emplace_back("has no end_time: the run was stopped; what it has is used");
    }
    return table;
}

} // namespace proteus
} // namespace ns3
