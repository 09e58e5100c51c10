/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(TraceMistakes, StepsOfAProfilerAreNamedInTheResults)
{
    const Folder folder;
    // A kernel in two steps of the profiler.
    const std::string trace = folder.Write("steps.json",
                                           R"({"traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 20},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 20, "dur": 20},
  {"ph": "X", "cat": "kernel", "name": "k", "ts": 5, "dur": 9, "args": {"stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "k", "ts": 25, "dur": 9, "args": {"stream": 7}}]})");
    ExpectNote(Start("run", {"--trace=" + trace, "--executor=flow", "--quiet"}),
               "has 2 steps of the profiler");
}

TEST(TraceMistakes, OptionsOfTimesThatAFileHas)
{
    const std::vector<std::string> run{PING, "--nodes=1", "--executor=flow", "--quiet"};
    for (const std::string option : {"--launchInterval", "--dataType"})
    {
        std::vector<std::string> words = run;
        words.push_back(option + (option == "--dataType" ? "=fp8" : "=50us"));
        const Outcome outcome = Start("run", words);
        ExpectNote(outcome, " has no effect: the file has the times of all kernels");
        EXPECT_NE(outcome.error.find(option + "="), std::string::npos) << outcome.error;
    }
}

TEST(TraceMistakes, GraphsWithMoreThanCanBe)
{
    const Folder folder;
    const auto start = [&](const std::string& kernel, const std::string& bytes) {
        return Start("run",
                     {"--executor=flow",
                      "--quiet",
                      "--nodes=1",
                      "--graph=" + folder.Write("g.json",
                                                R"({"format": "proteus-graph", "version": 1,
 "devices": 2, "streams": ["s"], "phases": [{"name": "p"}], "groups": [[0, 1]], "tasks": [
 {"name": "a", "kind": "compute", "phase": "p", "device": 0, "stream": "s")" +
                                                    kernel + R"(},
 {"name": "b", "kind": "communication", "phase": "p", "group": 0, "stream": "s",
  "collective": "send-recv", "bytes": )" + bytes + "}]}")});
    };
    EXPECT_EQ(start(R"(, "duration_ps": 5)", "8").code, 0);
    EXPECT_EQ(start(R"(, "duration_ps": 5)", "80000000000").error, "");
    ExpectNote(
        start(R"(, "duration_ps": 5)", "80000000001"),
        "1 communication of more bytes than the 80.00 GB of memory that a GPU has, the first "
        "one b of 80.00 GB: are its sizes in bytes?");
    ExpectRefusal(start(R"(, "duration_ps": 9223372036854775807)", "8"),
                  "lasts 9223372036854775807 ps; the most is");
    ExpectRefusal(start(R"(, "flops": 1e300)", "8"), "has 1e+300 FLOPs; the most is 1e+24");
    ExpectRefusal(start(R"(, "duration_ps": 5)", "9223372036854775807"),
                  "g.json: task 1 (b) communicates 9223372036854775807 bytes; the most is");
    // Sums of such sizes would not fit.
    const std::string memory = R"({"name": "m", "kind": "memory", "phase": "p", "device": 0, )"
                               R"("persistent": true, "bytes": )";
    ExpectRefusal(start("}, " + memory + "18446744073709551615}, " + memory + "1000", "8"),
                  "g.json: task 1 (m) takes 18446744073709551615 bytes; the most is");
    ExpectNote(start("", "8"), "1 compute task with neither duration_ps nor flops and bytes");
    // 3e10 FLOPs take 139 us of an A100 (0.69 of 312 TFLOP/s), 1e10 take 46 of the host's 113.
    ExpectNote(start(R"(, "flops": 1e10, "bytes": 8, "data_type": "bf16")", "8"),
               "1 of 1 compute task without a time takes the launch interval of 113.000 us, since "
               "its FLOPs and bytes take less: the host's pace is 58.9 % of the time of all "
               "kernels (--launchInterval=0us is without)");
    EXPECT_EQ(start(R"(, "flops": 3e10, "bytes": 8, "data_type": "bf16")", "8").error, "");
    EXPECT_EQ(start(R"(, "flops": 2.42e10, "bytes": 8, "data_type": "bf16")", "8").error, "");
}

TEST(TraceMistakes, DevicesWithoutATask)
{
    const Folder folder;
    const auto start = [&](const std::string& devices) {
        return Start(
            "run",
            {"--nodes=1",
             "--executor=flow",
             "--quiet",
             "--graph=" +
                 folder.Write(
                     "g.json",
                     R"({"format": "proteus-graph", "version": 1,
 "devices": )" + devices +
                         R"(, "streams": ["s"], "phases": [{"name": "p"}], "groups": [[0, 1]], "tasks": [
 {"name": "b", "kind": "communication", "phase": "p", "group": 0, "stream": "s",
  "collective": "send-recv", "bytes": 8}]})")});
    };
    EXPECT_EQ(start("2").error, "");
    ExpectNote(start("4"), "2 devices of 4 without a task, the first is device 2");
}

TEST(TraceMistakes, TracesThatDoNotSayHowManyRanksThereAre)
{
    const Folder folder;
    const std::string trace =
        "--trace=" + folder.Write("t.txt",
                                  "MICRO\n1\nmicro_test\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\t"
                                  "ALLREDUCE\t4096\t1\n");
    const std::vector<std::string> words{trace, "--cluster=dgx-a100", "--nodes=1", "--quiet"};
    ExpectNote(Start("run", words),
               "does not say how many ranks its job has: taken for 8, as there are GPUs");
    std::vector<std::string> said = words;
    said.emplace_back("--ranks=8");
    EXPECT_EQ(Start("run", said).error, "");
}

TEST(TraceMistakes, FilesWhoseNamesDoNotTellTheFormat)
{
    const Folder folder;
    const auto start = [&](const std::string& name, const std::string& text) {
        return Start("run", {"--trace=" + folder.Write(name, text), "--executor=flow", "--quiet"});
    };
    ExpectRefusal(start("t.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\n"),
                  "t.yml: this is a network of ASTRA-sim, which is not read");
    ExpectRefusal(start("t.yml", "a: 1\n"),
                  "t.yml: is no trace: neither the ending of its name nor its begin is that of "
                  "one; traces are Chakra execution traces (.et");
    ExpectRefusal(start("t.json", R"({"all-reduce-implementation-custom": ["ring"]})"),
                  "t.json: /traceEvents: is missing; this is no trace of PyTorch's profiler; this "
                  "is a system of ASTRA-sim, which is not read");
    ExpectRefusal(start("t.json", R"({"0": [0, 1], "1": [2,3]})"),
                  "t.json: has the process groups of a Chakra trace (--traceGroups, or beside the "
                  ".et files in their folder), and no trace is here");
    ExpectRefusal(start("t.json", R"({"0": ["ring"]})"), "t.json: /traceEvents: is missing");
    ExpectRefusal(start("t.nsys-rep", "x"),
                  "t.nsys-rep: this is a report of Nsight Systems, which is not read");
    ExpectRefusal(Start("run", {"--trace=" + folder.Get() + "/none.yml"}),
                  "none.yml: cannot be read: No such file");
    const Outcome kineto = start("t.trace",
                                 R"({"traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "k", "ts": 5, "dur": 9, "args": {"stream": 7}}]})");
    EXPECT_EQ(kineto.code, 0) << kineto.error;
    EXPECT_NE(kineto.out.find("16 ranks, 16 tasks"), std::string::npos) << kineto.out;
}

TEST(TraceMistakes, ArchivesAndDataBases)
{
    const Folder folder;
    const auto start = [&](const std::string& name, const std::string& text) {
        return Start("run", {"--trace=" + folder.Write(name, text), "--executor=flow", "--quiet"});
    };
    ExpectRefusal(start("t.json", "\x28\xb5\x2f\xfd rest"),
                  "t.json: this is a file that zstd has compressed: unpack it");
    ExpectRefusal(start("t.et", std::string("PK\x03\x04", 4) + "rest"), "this is a zip archive");
    ExpectRefusal(start("t.json", std::string(257, '\0') + "ustar  "), "this is a tar archive");
    ExpectRefusal(start("t.sqlite", std::string("SQLite format 3\0", 16)),
                  "this is a data base of SQLite");
    ExpectRefusal(Start("cluster", {"--cluster=" + folder.Write("c.json", "BZh91AY")}),
                  "c.json: this is a file that bzip2 has compressed");
}
