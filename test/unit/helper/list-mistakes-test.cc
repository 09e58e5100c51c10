/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(ListMistakes, StudiesWhoseFilesAreMissing)
{
    const Folder folder;
    const auto start =
        [&](const std::string& more) {
            return Start("study",
                         {"--quiet",
                          "--folder=" + folder.Get() + "/points",
                          "--study=" + folder.Write("s.json",
                                                    R"({"format": "proteus-study", "version": 1,
 "program": "proteus-collective", "axes": [{"name": "algorithm", "values": ["ring", "tree"]}],
 "table": "collectives", "measure": "time_s")" + more + "}")});
        };
    const Outcome prices = start(R"(, "prices": "none.json")");
    ExpectRefusal(prices, "s.json: /prices: ");
    EXPECT_EQ(prices.out, "");
    const Outcome column = Start(
        "study",
        {"--quiet", "--study=" + folder.Write("r.json", R"({"format": "proteus-study", "version": 1,
 "program": "proteus-run", "axes": [{"name": "nodes", "values": [1, 2]}],
 "published": {"source": "s", "values": [{"name": "p", "at": {}, "column": "iteration", "value": 1}]}})")});
    ExpectRefusal(column, "r.json: /published/values/0/column: there is no column 'iteration'");
    EXPECT_EQ(column.out, "");
    const std::string run = folder.Write("t.json", R"({"format": "proteus-study", "version": 1,
 "program": "proteus-run", "axes": [{"name": "nodes", "values": [1, 2]}], "measure": "status"})");
    ExpectRefusal(Start("study", {"--quiet", "--study=" + run}),
                  "t.json: /measure: the column 'status' tells the points apart");
    const std::string good = folder.Write("u.json", R"({"format": "proteus-study", "version": 1,
 "program": "proteus-run", "axes": [{"name": "nodes", "values": [1, 2]}]})");
    const std::string twice = folder.Get() + "/a," + folder.Get() + "/./a";
    ExpectRefusal(Start("study", {"--quiet", "--folder=" + twice, "--study=" + good}),
                  "/./a are one folder");
    const std::vector<std::string> again = {"--quiet",
                                            "--folder=" + folder.Get() + "/again",
                                            "--study=" + good,
                                            "--retryFailed"};
    EXPECT_NE(Start("study", again).error.find("--retryFailed has no effect: no point had failed"),
              std::string::npos);
    // No point has a result, as the program cannot be started: the measure is not to blame.
    EXPECT_EQ(start("").error.find("there is no column"), std::string::npos);
}

TEST(ListMistakes, TablesThatContradictEachOther)
{
    const std::string head = "file,cluster,system,nodes,gpus,collective,launch,nccl_version,"
                             "plugin_latency_us,network_channels,network,sizes,note\n";
    const std::string line = "t.csv,dgx-a100,X,1,8,all-reduce,process-per-gpu,,,,NVLink,2,\n";
    const std::string table = "nodes,gpus,collective,size_bytes,time_us\n"
                              "1,8,all-reduce,1024,30\n1,8,all-reduce,2048,31\n";
    const Folder folder;
    const auto start = [&](const std::string& tables,
                           const std::string& sizes,
                           const std::vector<std::string>& more = {}) {
        folder.Write("tables.csv", tables);
        folder.Write("t.csv", sizes);
        std::vector<std::string> words{"--directory=" + folder.Get(), "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        return Start("validate", words);
    };
    const auto change = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.find(from), from.size(), to);
    };
    EXPECT_EQ(start(head + line, table).code, 0);
    EXPECT_EQ(start("\xef\xbb\xbf" + head + line, table).code, 0);
    ExpectRefusal(start(head, table), "names no table");
    ExpectRefusal(start(head + line + line, table), "tables.csv:3: the table 't.csv' is there");
    ExpectRefusal(start(change(head, "note", "system") + line, table), "'system' is there twice");
    ExpectRefusal(
        start(head + change(line, "process-per-gpu", "mpirun"), table),
        "tables.csv:2: unknown launch mode 'mpirun'; known are stream, process-per-gpu, one-proc");
    ExpectRefusal(start(change(head, "note", "remark") + line, table),
                  ":1: there is no column note");
    ExpectRefusal(start(head + change(line, "1,8,", "1.5,8,"), table),
                  ":2: nodes must be an integer");
    ExpectRefusal(start(head + change(line, "all-reduce", "sum"), table), ":2: unknown collective");
    ExpectRefusal(start(head + change(line, "a100", "a101"), table), "tables.csv: t.csv: there is");
    ExpectRefusal(start(head + change(line, "1,8", "2,8"), table), "t.csv:2: nodes is 1, and in");
    ExpectRefusal(start(head + change(line, ",2,", ",3,"), table), "has 2 sizes, and 3 in");
    ExpectRefusal(start(head + line, change(table, "2048", "1024")), ":3: the size 1024 is there");
    ExpectRefusal(start(head + line, change(table, "1024", "1024.5")), ":2: size_bytes must be");
    ExpectRefusal(start(head + line, change(table, ",30", ",0x1e")), ":2: time_us must be");
    const std::string withBandwidth = "size_bytes,time_us,busbw_GBps\n1024,30,";
    const auto startOne = [&](const std::string& bandwidth) {
        return start(head + change(line, ",2,", ",1,"), withBandwidth + bandwidth + "\n");
    };
    EXPECT_EQ(startOne("0.0597").error, "");
    EXPECT_EQ(startOne("0.06").error, ""); // as nccl-tests prints it
    EXPECT_EQ(startOne("").error, "");
    ExpectRefusal(startOne("0.3413"), // of the algorithm, or of a time in another unit
                  ":2: size_bytes, time_us (in microseconds) and the collective make a busbw_GBps "
                  "of 0.0597, and it is 0.3413");
    // 2048 B in 31 us, times 1.75
    const auto startPeak = [&](const std::string& peak) {
        return start(change(head, "note", "peak_busbw_GBps,note") +
                         change(line, ",2,", ",2," + peak + ","),
                     table);
    };
    for (const char* right : {"0.1", "0.12", ""})
    {
        EXPECT_EQ(startPeak(right).error, "") << right;
    }
    ExpectRefusal(
        startPeak("0.9"),
        "t.csv: the highest bus bandwidth of its sizes is 0.1 GB/s, and in tables.csv 0.9");
    ExpectRefusal(startPeak("-1"), ":2: peak_busbw_GBps must be");
    const auto warning = [&](const std::string& tables, const std::string& sizes) {
        const Outcome outcome = start(tables, sizes);
        EXPECT_EQ(outcome.code, 0);
        return outcome.error;
    };
    EXPECT_NE(warning(change(head, "sizes", "lines") + line, table)
                  .find("tables.csv:1: the column 'lines' is not read"),
              std::string::npos);
    EXPECT_NE(warning(head + line, change(table, "gpus", "ranks"))
                  .find("t.csv:1: the column 'ranks' is not read"),
              std::string::npos);
    for (const char* column : {"plugin_latency_us", "network_channels"})
    {
        const std::string name = column;
        const std::size_t at =
            std::count(head.begin(),
                       head.begin() + static_cast<std::ptrdiff_t>(head.find(name)),
                       ',');
        std::string given = line;
        std::size_t place = 0;
        for (std::size_t i = 0; i < at; ++i)
        {
            place = given.find(',', place) + 1;
        }
        ASSERT_EQ(given[place], ',') << name;
        EXPECT_NE(warning(head + given.insert(place, "2"), table)
                      .find("tables.csv: t.csv: " + name +
                            " has no effect: the GPUs need no network between servers"),
                  std::string::npos)
            << name;
    }
    const Outcome none = start(head + line, table, {"--min=1M"});
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.error.find("no table has a size from --min=1M"), std::string::npos)
        << none.error;
}

TEST(ListMistakes, ListsOfEvaluations)
{
    const Folder folder;
    const auto start = [&](const std::string& cluster,
                           const std::string& strategy,
                           const std::string& more = "",
                           const std::vector<std::string>& options = {}) {
        std::vector<std::string> words{
            "--list=" + folder.Write("l.json",
                                     R"({"format": "proteus-evaluation", "version": 1,)" + more +
                                         R"( "workloads": [{"name": "w",
 "model": "alexnet", "cluster": ")" + cluster +
                                         R"(", "nodes": 1, "strategies": [
 {"name": "s", "dataType": "fp16", "microBatch": 8, )" +
                                         strategy + "}]}]}"),
            "--executor=flow",
            "--quiet"};
        words.insert(words.end(), options.begin(), options.end());
        return Start("evaluate", words);
    };
    const std::string plan = R"("dp": 4)";
    EXPECT_EQ(start("pcie-v100x4", plan).error, "");
    ExpectRefusal(start("dgx", plan), "/l.json: w on dgx, s: ");
    const std::string reuse = folder.Write("r.json",
                                           R"({"format": "proteus-evaluation-results", "version": 1,
 "runs": [{"workload": "w on dgx", "strategy": "s", "executors": {"packet": {"iteration_s": 1, "cpu_s": 1}}}]})");
    EXPECT_NE(start("pcie-v100x4", plan, "", {"--reuse=" + reuse})
                  .error.find("--reuse=" + reuse + " has no effect: it has no time by packets"),
              std::string::npos);
    ExpectRefusal(start("pcie-v100x4", plan, R"("published": "x",)"), "/published: must be a list");
    const Outcome idle = start("pcie-v100x4", R"("dp": 1, "zero": 1)");
    EXPECT_EQ(idle.code, 0) << idle.error;
    EXPECT_NE(idle.error.find("w on pcie-v100x4, s: zero=1 has no effect"), std::string::npos)
        << idle.error;
}

TEST(ListMistakes, TimesThatAreTakenFromAFile)
{
    const Folder folder;
    const std::string list = "--list=" + folder.Write("l.json",
                                                      R"({"format": "proteus-evaluation",
 "version": 1, "workloads": [{"name": "w", "model": "alexnet", "cluster": "pcie-v100x4", "nodes": 1,
 "strategies": [{"name": "s", "dp": 4, "dataType": "fp16", "microBatch": 8}]}]})");
    const auto run = [](const std::string& time, const std::string& more = "") {
        return R"({"workload": "w on pcie-v100x4", "strategy": "s", "executors": {"packet": {"iteration_s": )" +
               time + R"(, "cpu_s": 1}})" + more + "}";
    };
    const auto start = [&](const std::string& runs) {
        return Start("evaluate",
                     {list,
                      "--executor=packet,flow",
                      "--quiet",
                      "--reuse=" + folder.Write("r.json",
                                                R"({"format": "proteus-evaluation-results",
 "version": 1, "runs": [)" + runs + "]}")});
    };
    const Outcome unsure = start(run("0.25"));
    EXPECT_NE(unsure.out.find("of 1 of 1 runs are those of"), std::string::npos);
    EXPECT_NE(unsure.error.find("r.json: does not say of which models, strategies, files"),
              std::string::npos)
        << unsure.error;
    const std::string job =
        R"(, "job": {"model": "alexnet", "variables": "", "cluster": "pcie-v100x4", "nodes": 1,
 "strategy": {"dp": 4, "dataType": "fp16", "microBatch": )";
    // A file of an earlier release does not say what the files of the job contained.
    const Outcome same = start(run("0.25", job + "8}, \"options\": {}}"));
    EXPECT_NE(same.error.find("r.json: does not say of which models, strategies, files"),
              std::string::npos)
        << same.error;
    EXPECT_NE(same.out.find("of 1 of 1 runs are those of"), std::string::npos);
    for (const char* other : {"4}, \"options\": {}}", "8}, \"options\": {\"stream\": \"2\"}}"})
    {
        const Outcome outcome = start(run("0.25", job + other));
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_NE(outcome.error.find("1 time by packets are of other models, strategies, files or"),
                  std::string::npos)
            << outcome.error;
        EXPECT_EQ(outcome.out.find("runs are those of"), std::string::npos) << outcome.out;
    }
    ExpectRefusal(start(run("0")),
                  "r.json: /runs/0/executors/packet/iteration_s: must be a number");
    ExpectRefusal(start(run("1", R"(, "stratgy": "t")")),
                  "r.json: /runs/0/stratgy: unknown field; did you mean strategy?");
    ExpectRefusal(start(run("1") + "," + run("2")),
                  "r.json: /runs/1: there is a run of this workload and strategy already");
}

// What was found is of files with the same content.
TEST(ListMistakes, TimesOfFilesThatHaveChanged)
{
    const Folder folder;
    const auto start = [&](const std::string& width, const std::vector<std::string>& more) {
        const std::string model = folder.Write("m.json",
                                               R"({"format": "proteus-model",
 "version": 1, "name": "m", "inputs": [{"name": "x", "shape": ["batch", 64]},
  {"name": "y", "shape": ["batch"], "element": "index"}],
 "layers": [{"op": "linear", "name": "fc", "outputs": )" +
                                                   width + R"(, "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})");
        const std::string list = folder.Write("l.json",
                                              R"({"format": "proteus-evaluation",
 "version": 1, "workloads": [{"name": "w", "model": ")" +
                                                  model + R"(", "cluster": "pcie-v100x4",
 "strategies": [{"name": "s", "dp": 2, "dataType": "fp16"}]}]})");
        std::vector<std::string> words{"--list=" + list, "--executor=packet", "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = Start("evaluate", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome;
    };
    const std::string kept = folder.Get() + "/r.json";
    start("64", {"--json=" + kept});
    const Outcome same = start("64", {"--reuse=" + kept});
    EXPECT_EQ(same.error, "");
    EXPECT_NE(same.out.find("of 1 of 1 runs are those of"), std::string::npos) << same.out;
    EXPECT_NE(start("128", {"--reuse=" + kept}).error.find("1 time by packets are of other models"),
              std::string::npos);
}

// A mistake in the last strategy of a list is known before the first one has run.
TEST(ListMistakes, ListsAreCheckedBeforeAnythingRuns)
{
    const Folder folder;
    const std::string list = folder.Write("l.json", R"({"format": "proteus-evaluation",
 "version": 1, "workloads": [{"name": "w", "model": "alexnet", "cluster": "pcie-v100x4",
 "variables": {"fusesAttention": 0},
 "strategies": [{"name": "s", "dp": 4, "dataType": "fp16"},
  {"name": "t", "dp": 4, "dataTyp": "fp16"}]}]})");
    const std::string times = folder.Get() + "/times.json";
    ExpectRefusal(Start("evaluate", {"--list=" + list, "--quiet", "--json=" + times}),
                  "l.json: w on pcie-v100x4, t: ");
    EXPECT_FALSE(std::filesystem::exists(times));
}

// A calibration is found in the folder, whatever is run beside it.
TEST(ListMistakes, CalibrationsOfAFolderAreThoseOfTheExecutor)
{
    const Folder folder;
    const std::string list = folder.Write("l.json", R"({"format": "proteus-evaluation",
 "version": 1, "workloads": [{"name": "w", "model": "alexnet", "cluster": "hgx-a100-4gpu",
 "nodes": 1, "strategies": [{"name": "s", "dp": 4}]}]})");
    const auto start = [&](const std::string& executor) {
        return Start("evaluate",
                     {"--list=" + list,
                      "--quiet",
                      "--calibrations=" + folder.Get() + "/c",
                      "--executor=" + executor});
    };
    ExpectRefusal(start("alpha-beta"), "--calibrations belongs to the flow network");
    const Outcome run = start("flow_calibrated");
    EXPECT_EQ(run.code, 0) << run.error;
    EXPECT_NE(run.out.find("flow_calibrated  error"), std::string::npos) << run.out;
}

// Names begin the lines of a table.
TEST(ListMistakes, NamesOfWorkloadsAndStrategies)
{
    const Folder folder;
    const auto start = [&folder](const std::string& workload, const std::string& strategy) {
        const std::string list = folder.Write(
            "l.json",
            R"({"format": "proteus-evaluation", "version": 1, "workloads": [{"name": ")" +
                workload + R"(", "model": "alexnet", "cluster": "pcie-v100x4",
 "strategies": [{"name": ")" +
                strategy + R"(", "dp": 4, "dataType": "fp16"}]}]})");
        return Start("evaluate", {"--list=" + list, "--quiet"});
    };
    ExpectRefusal(start("", "s"), "l.json: /workloads/0/name: must not be empty");
    ExpectRefusal(start("w", ""), "l.json: /workloads/0/strategies/0/name: must not be empty");
    ExpectRefusal(start("w", R"(s\n)"),
                  "l.json: /workloads/0/strategies/0/name: must be a name without control");
}

// Results that a search has kept are those of the same links and attributes.
TEST(ListMistakes, LogsOfOtherSearches)
{
    const Folder folder;
    const std::string log = "--log=" + folder.Get() + "/log.jsonl";
    const auto start = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{MODEL,
                                       "--variables=layers=2",
                                       "--nodes=2",
                                       "--globalBatch=16",
                                       "--fabric=leaf-spine",
                                       "--serversPerLeaf=1",
                                       "--vary=none",
                                       "--flows=1",
                                       "--packets=0",
                                       "--quiet",
                                       log};
        words.insert(words.end(), more.begin(), more.end());
        return Start("search", words);
    };
    EXPECT_EQ(start({"--oversubscription=2"}).code, 0);
    EXPECT_EQ(start({"--oversubscription=2"}).code, 0);
    ExpectRefusal(start({"--oversubscription=4"}), "is of another search (");
    ExpectRefusal(start({"--oversubscription=2", NETWORK + "Algorithm=ring"}),
                  "this one is of gpt3-125m");
    const std::string path = folder.Get() + "/log.jsonl";
    std::ofstream(path, std::ios::app)
        << R"({"rung": "flow", "strategy": "x", "run": {"seconds": -1, "mfu": 0}})" << '\n';
    ExpectRefusal(start({"--oversubscription=2"}), ": /run/seconds: must be");
    std::ofstream(path, std::ios::app) << "no JSON\n";
    ExpectRefusal(start({"--oversubscription=2"}), log + ":");
}

// A strategy of a file is known by what the file says, not by its name.
TEST(ListMistakes, LogsOfExpertsThatHaveChanged)
{
    const Folder folder;
    const std::string log = folder.Get() + "/log.jsonl";
    const auto start = [&](const std::string& split) {
        const std::string expert = folder.Write("e.json",
                                                R"({"format": "proteus-strategy",
 "version": 1, "batch": 64, "mesh": {"axes": ["all"], "sizes": [4]},
 "tree": {"split": {"batch": "all"}, "children": [
  {"name": "classifier", "children": [{"name": "fc1", "split": )" +
                                                    split + "}]}]}}");
        const Outcome outcome = Start("search",
                                      {"--model=alexnet",
                                       "--cluster=pcie-v100x4",
                                       "--nodes=1",
                                       "--globalBatch=64",
                                       "--dataType=fp32",
                                       "--vary=none",
                                       "--flows=1",
                                       "--packets=0",
                                       "--quiet",
                                       "--experts=" + expert,
                                       "--log=" + log});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        std::ifstream file(log);
        return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
    };
    const auto first = start(R"({"batch": "all"})");
    EXPECT_EQ(start(R"({"batch": "all"})"), first);
    EXPECT_EQ(start(R"({"out": "all"})"), first + 1);
}

TEST(ListMistakes, WhatACollectiveRefusesHasPrintedNothing)
{
    for (const std::string option : {"--algorithm=nvls", "--nccl=NCCL_ALGO=NVLS"})
    {
        const Outcome outcome =
            Start("collective",
                  {"--cluster=dgx-a100", "--nodes=1", "--min=8", "--max=8", "--topology", option});
        EXPECT_EQ(outcome.code, 1);
        EXPECT_EQ(outcome.out, "") << option;
    }
    const Outcome run =
        Start("collective", {"--cluster=dgx-a100", "--nodes=1", "--min=8", "--max=8", "--quiet"});
    EXPECT_EQ(run.out.find("# cluster 1 x dgx-a100, all-reduce, 1 group of 8 ranks"), 0U)
        << run.out;
}
