/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-nccl-tests.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

using nlohmann::json;

/// @return two processes of four GPUs each on two hosts, as nccl-tests writes it
json
MakeRun()
{
    return json::parse(R"({"version":2,"start_time":"2025-11-01 10:00:00",
        "args":["\/opt\/nccl-tests\/build\/reduce_scatter_perf","-b","8","-J","x.json"],
        "env":["HOME=\/root"],"nccl_version":22807,
        "config":{"nthreads":1,"ngpus":4,"minimum_bytes":1048576,"maximum_bytes":2097152,
            "step_factor":2,"warmup_iters":5,"iterations":50,"aggregated_iterations":1,
            "validation":1,"graph":0,"blocking_collectives":"false","per_iter_timing":"false",
            "parallel_init":"false",
            "devices":[
                {"rank":0,"group":0,"pid":7,"hostname":"a","device":0,"device_hex":"0000:07:00",
                 "device_info":"NVIDIA H100 80GB HBM3"},
                {"rank":4,"group":0,"pid":7,"hostname":"b","device":0,"device_hex":"0000:07:00",
                 "device_info":"NVIDIA H100 80GB HBM3"}]},
        "results":[
            {"size":1048576,"count":32768,"type":"float","redop":"sum","root":"    -1",
             "out_of_place":{"time":41.25,"alg_bw":25.42,"bus_bw":22.24,"nwrong":0.0},
             "in_place":{"time":40.5,"alg_bw":25.89,"bus_bw":22.65,"nwrong":null},
             "actual_iterations":50,"experiment_name":"x"},
            {"size":2097152,"count":65536,"type":"float","redop":"sum","root":"    -1",
             "out_of_place":{"time":55.5,"alg_bw":37.79,"bus_bw":33.06,"nwrong":0.0},
             "in_place":null,"actual_iterations":50,"experiment_name":"x"}],
        "out_of_bounds":{"count":0,"okay":"true"},
        "average_bus_bandwidth":{"bandwidth":25.98,"okay":"unchecked"},"errors":[],
        "end_time":"2025-11-01 10:01:00"})");
}

/// @return the table of a run
NcclTestsTable
Read(const json& run)
{
    std::istringstream in(run.dump());
    return ReadNcclTests(in, "run");
}

/// @return what is wrong with a text
std::string
ErrorOf(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] {
        std::istringstream in(text);
        ReadNcclTests(in, "run");
    });
}

} // namespace

TEST(NcclTestsJson, SaysWhatALogSays)
{
    const NcclTestsTable table = Read(MakeRun());
    EXPECT_EQ(table.collective, "reduce-scatter");
    EXPECT_EQ(table.ranks, 8u) << "of each process, only the first GPU is listed";
    EXPECT_EQ(table.nodes, 2u);
    EXPECT_EQ(table.gpusOfThread, 4u);
    EXPECT_EQ(table.iterations, 50u);
    EXPECT_EQ(table.ncclVersion, "22807");
    ASSERT_EQ(table.devices.size(), 8u);
    EXPECT_EQ(table.devices[7], "NVIDIA H100 80GB HBM3");
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].bytes, 1048576u);
    EXPECT_EQ(table.rows[0].count, 32768u);
    EXPECT_EQ(table.rows[0].type, "float");
    EXPECT_EQ(table.rows[0].redop, "sum");
    EXPECT_EQ(table.rows[0].root, -1);
    EXPECT_EQ(table.rows[0].outOfPlace->timeUs, 41.25);
    EXPECT_EQ(table.rows[0].outOfPlace->busbwGBps, 22.24);
    EXPECT_EQ(table.rows[0].outOfPlace->wrong, 0);
    EXPECT_EQ(table.rows[0].inPlace->timeUs, 40.5);
    EXPECT_FALSE(table.rows[0].inPlace->wrong);
    EXPECT_FALSE(table.rows[1].inPlace);
    EXPECT_TRUE(table.doubts.empty());
}

TEST(NcclTestsJson, NamesWhatIsNotSimulated)
{
    json run = MakeRun();
    run["config"]["graph"] = 1;
    run["config"]["maximum_bytes"] = 8388608;
    run["config"]["warmup_iters"] = 0;
    run["config"]["aggregated_iterations"] = 4;
    run["config"]["blocking_collectives"] = "true";
    run["results"][1]["type"] = "bfloat16";
    run["results"][1]["count"] = 131072;
    run["average_bus_bandwidth"]["bandwidth"] = 24;
    run["results"][0]["out_of_place"]["nwrong"] = 3.0;
    run["out_of_bounds"]["okay"] = "false";
    run["env"].push_back("NCCL_ALGO=Tree");
    run.erase("end_time");
    EXPECT_EQ(Read(run).settings, std::set<std::string>{"NCCL_ALGO=Tree"});
    std::string doubts;
    for (const std::string& doubt : Read(run).doubts)
    {
        doubts += doubt + "\n";
    }
    for (const char* word : {"CUDA graph",
                             "has sizes up to 2097152 bytes, and says maxBytes 8388608",
                             "warm-up",
                             "groups of 4",
                             "waits for each operation",
                             "bfloat16",
                             "3 wrong elements",
                             "FAILED",
                             "busbw is 24 GB/s in the mean, and its lines have 25.98",
                             "no end_time"})
    {
        EXPECT_NE(doubts.find(word), std::string::npos) << word << " in " << doubts;
    }
}

TEST(NcclTestsJson, RefusesWhatIsWrong)
{
    const std::string whole = MakeRun().dump();
    EXPECT_EQ(ErrorOf(whole), "");
    EXPECT_EQ(ErrorOf(whole.substr(0, whole.size() / 2)).compare(0, 6, "run:1:"), 0);
    EXPECT_EQ(ErrorOf("{}"), "run: is no file of nccl-tests (-J): it has no config and results");
    const auto changed = [](const char* pointer, const json& value) {
        json run = MakeRun();
        run[json::json_pointer(pointer)] = value;
        return ErrorOf(run.dump());
    };
    EXPECT_EQ(changed("/results", json::array()), "run: /results: the table has no lines");
    EXPECT_NE(changed("/version", 3).find("run: /version: "), std::string::npos);
    EXPECT_EQ(changed("/results/1/out_of_place", nullptr), "run: /results/1: has no time");
    EXPECT_EQ(changed("/results/0/out_of_place/time", nullptr),
              "run: /results/0/out_of_place: has a bandwidth (alg_bw), and no time");
    EXPECT_EQ(changed("/results/0/root", "x"),
              "run: /results/0/root: must be the number of a rank, or -1");
    EXPECT_EQ(changed("/results/0/in_place/time", 0.0),
              "run: /results/0/in_place/time: the time must be above 0");
    EXPECT_NE(changed("/results/0/out_of_place", {{"cpu_time", 3.5}}).find("without -C"),
              std::string::npos);
    EXPECT_NE(changed("/config/devices", json::array()).find("one for each process"),
              std::string::npos);
    EXPECT_NE(changed("/config/ngpus", 0).find("/config/ngpus"), std::string::npos);
}
