/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param program to start @param words of its command line @param hint that its error line has
void
ExpectRefused(const std::string& program,
              const std::vector<std::string>& words,
              const std::string& hint)
{
    const Outcome outcome = Start(program, words);
    EXPECT_EQ(outcome.code, 1) << hint;
    EXPECT_NE(outcome.error.find(hint), std::string::npos) << hint << "\n" << outcome.error;
}

/// @param program to start @param words of its command line @param hint that a warning has
void
ExpectNamed(const std::string& program,
            const std::vector<std::string>& words,
            const std::string& hint)
{
    const Outcome outcome = Start(program, words);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_NE(outcome.error.find(hint), std::string::npos) << hint << "\n" << outcome.error;
}

} // namespace

// What was found by changing files and command lines one part at a time.

TEST(UnsaidMistakes, NamesHaveNoLettersTooMany)
{
    ExpectRefused("run", Small({"--model=gpt\u00e9", "--strategy=dp=2"}), "did you mean gpt?");
}

TEST(UnsaidMistakes, NamesWithControlCharactersBreakNoLine)
{
    const Folder folder;
    std::string cluster = TwoGpus("");
    const std::string version = "\"version\": 1";
    cluster.replace(cluster.find(version), version.size(), version + R"(, "name": "a\nb")");
    ExpectRefused("run",
                  {PING, "--cluster=" + folder.Write("c.json", cluster)},
                  "/name: must be a name without control characters");
    const std::string model = folder.Write("m.json", R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"idle\n": 1}, "inputs": [{"name": "x", "shape": ["batch", 64]}],
 "layers": [{"op": "linear", "name": "fc", "outputs": 64, "in": "x"}]})");
    const Outcome outcome = Start("compile", {"--model=" + model, "--strategy=dp=1", "--quiet"});
    EXPECT_EQ(outcome.error.find("idle\n"), std::string::npos) << outcome.error;
}

TEST(UnsaidMistakes, ValuesThatAnOptionReplacesAreChecked)
{
    const Folder folder;
    const std::string model = folder.Write("m.json", R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"width": null},
 "inputs": [{"name": "x", "shape": ["batch", "width"]},
  {"name": "y", "shape": ["batch"], "element": "index"}],
 "layers": [{"op": "linear", "name": "fc", "outputs": "width", "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})");
    ExpectRefused("compile",
                  {"--model=" + model, "--variables=width=64", "--strategy=dp=1"},
                  "/let/width: must be an integer");
}

TEST(UnsaidMistakes, ASchedulesKindsAreSome)
{
    const Folder folder;
    const std::string file = folder.Write("s.json", R"({"format": "proteus-schedule",
 "version": 1, "policy": "priority", "kinds": []})");
    ExpectRefused("run",
                  Small({"--strategy=dp=2", "--communicationSchedule=" + file}),
                  "/kinds: must name a kind of communication to order");
}

TEST(UnsaidMistakes, ColumnsBehindThoseOfAHeaderAreRefused)
{
    const Folder folder;
    const std::string flows = folder.Write("f.csv",
                                           "id,src,dst,bytes,start_ns\n"
                                           "a,0,1,1000,0,\n"
                                           "b,1,0,1000,0,a\n");
    ExpectRefused("flows",
                  {"--cluster=" + WORKLOADS + "/flows/switch-8.txt", "--flows=" + flows},
                  "f.csv:3: deps: 'a' stands behind the columns of the header");
}

TEST(UnsaidMistakes, MeasuredSizesBeyondAMemoryNameTheirFile)
{
    const Folder folder;
    const std::string table = folder.Write("m.csv",
                                           "nodes,gpus,collective,size_bytes,time_us\n"
                                           "1,8,all-reduce,900000000000000,1000\n");
    ExpectRefused("collective",
                  {"--cluster=dgx-a100", "--measured=" + table},
                  "see --measured=" + table + ", and --min and --max");
}

TEST(UnsaidMistakes, OptionsOfModelsHaveNoEffectOnGraphs)
{
    const std::string graph = "--graph=" + WORKLOADS + "/graphs/data-parallel-8.json";
    for (const std::string option :
         {"--variables=layers=2", "--firstStageBlocks=3", "--lastStageBlocks=3", "--framework=ddp"})
    {
        ExpectNamed("fabrics",
                    {graph, "--fabrics=fat-tree", "--executor=alpha-beta", "--quiet", option},
                    option + " has no effect: the job is that of --graph");
    }
}

TEST(UnsaidMistakes, TimesThatAreWrittenNowhereAreNamed)
{
    const Folder folder;
    const std::string cause = " has no effect: no file with times is written";
    for (const std::string option : {"--launchInterval=+1e+06ps", "--untimed"})
    {
        const std::vector<std::string> words{MODEL,
                                             "--variables=layers=1",
                                             "--strategy=dp=1",
                                             "--quiet",
                                             option};
        ExpectNamed("compile", words, cause);
        std::vector<std::string> saves = words;
        saves.push_back("--saveGraph=" + folder.Get() + "/g.json");
        const Outcome outcome = Start("compile", saves);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find(cause), std::string::npos) << outcome.error;
    }
}

// What the library calls switch_ports or tp is an option here.
TEST(UnsaidMistakes, RefusalsNameOptions)
{
    const std::vector<std::string> servers{"--cluster=dgx-a100", "--nodes=4"};
    const auto refuse =
        [&](const std::string& program, std::vector<std::string> words, const std::string& hint) {
            words.insert(words.begin(), servers.begin(), servers.end());
            ExpectRefused(program, words, hint);
        };
    refuse("cluster",
           {"--fabric=fat-tree", "--switchPorts=3"},
           "fat-tree: --switchPorts must be an even number");
    refuse("cluster",
           {"--fabric=torus-2d", "--sizeX=3"},
           "torus-2d: --sizeX x --sizeY must be the number of servers, 4");
    refuse("gpt3", {"--model=125M", "--tp=4", "--dp=16"}, "--tp * --pp * --dp = 4 * 1 * 16");
    refuse("gpt3", {"--model=125M", "--tp=-2"}, "--tp=-2: must be a number from 0");
    refuse("gpt3",
           {"--model=125M", "--tp=1", "--dp=2", "--globalBatch=3"},
           "plan: --globalBatch = 3 is not a multiple of 2 = --microBatch x --dp");
    // In a file it stands as it is.
    const Folder folder;
    const std::string file =
        folder.Write("c.json",
                     R"({"format": "proteus-cluster", "version": 1, "server": "dgx-a100",
 "servers": 4, "fabric": {"kind": "fat-tree", "switch_ports": 3}})");
    ExpectRefused("cluster", {"--cluster=" + file}, "fat-tree: switch_ports must be");
}

TEST(UnsaidMistakes, RefusalsSayWhatTheProgramTakes)
{
    ExpectRefused("calibrate", {"--sizes=,64K"}, "--sizes=,64K: a part is empty");
    ExpectRefused("evaluate",
                  {"--executor=flow_calibrated"},
                  "flow_calibrated needs --calibrations=FOLDER");
    ExpectRefused("run",
                  Small({"--strategy=dp=2", "--executor=flow_calibrated"}),
                  "flow_calibrated needs --calibration=FILE");
    ExpectRefused("fabrics",
                  {"--fabrics=none.json"},
                  "--fabrics: none.json: cannot be read: No such file");
    ExpectRefused("fabrics", {"--fabrics=spine"}, "or all of it a server preset or a file");
    // By the names of the papers that their descriptions have.
    ExpectRefused("schedule", {"--policies=ByteScheduler"}, "did you mean priority?");
    ExpectRefused("schedule", {"--policies=arrival,tictac"}, "did you mean critical-path?");
}

// Results are kept next to a study; a pipe has no place of that kind.
TEST(UnsaidMistakes, StudiesOfAPipeNeedAFolder)
{
    const std::string study = R"({"format": "proteus-study", "version": 1, "program":
 "proteus-run", "axes": [{"name": "nodes", "values": [1]}], "options": {"model": "gpt3-125m", "strategy": "dp=8"}})";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], study.data(), study.size()), static_cast<ssize_t>(study.size()));
    close(ends[1]);
    const std::string file = "/dev/fd/" + std::to_string(ends[0]);
    ExpectRefused("study", {"--study=" + file, "--quiet"}, file + ": is no file on a disk");
    close(ends[0]);
    EXPECT_FALSE(std::filesystem::exists(file + ".points"));
}

TEST(UnsaidMistakes, PlacementsThatChangeNothingAreNamed)
{
    const Folder folder;
    const std::string file =
        folder.Write("s.json",
                     R"({"format": "proteus-scenario", "version": 1, "compare_alone": false,
 "job": {"placement": {"kind": "packed"}}})");
    ExpectNamed("run",
                Small({"--strategy=dp=8", "--scenario=" + file}),
                file + ": /job/placement: has no effect: all jobs have the same GPUs without it");
}

TEST(UnsaidMistakes, IdleVariablesOfSearchesAndNeighboursAreNamed)
{
    const Folder folder;
    ExpectNamed("search",
                {"--model=llama",
                 "--variables=layers=1,adaptsQueries=0",
                 "--nodes=1",
                 "--globalBatch=8",
                 "--vary=none",
                 "--flows=1",
                 "--packets=0",
                 "--quiet"},
                "adaptsQueries=0 has no effect: the model is the same without it");
    const std::string file = folder.Write("s.json",
                                          R"({"format": "proteus-scenario", "version": 1,
 "compare_alone": false, "jobs": [{"name": "other", "model": "llama",
 "variables": "layers=1,adaptsQueries=0", "strategy": "dp=2,sequenceParallel=true"}]})");
    const std::vector<std::string> words = Small({"--strategy=dp=2", "--scenario=" + file});
    ExpectNamed("run", words, file + ": /jobs/0/strategy: adaptsQueries=0 has no effect");
    ExpectNamed("run", words, file + ": /jobs/0/strategy: sequenceParallel=true has no effect");
}

TEST(UnsaidMistakes, OrdersThatOrderNothingAreNamed)
{
    const std::string credit =
        "--communicationSchedule=priority,partBytes=1000000,creditBytes=2000000";
    const auto run = [](const std::vector<std::string>& more) {
        std::vector<std::string> words{"--model=alexnet",
                                       "--cluster=pcie-v100x4",
                                       "--nodes=1",
                                       "--executor=flow",
                                       "--quiet",
                                       "--strategy=dp=4,dataType=fp32,microBatch=2,buckets=tensor,"
                                       "fusedOptimizer=false,immediateUpdates=true"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.out + outcome.error;
    };
    const std::vector<std::string> twice{"--iterations=2", "--crossIteration=tensor"};
    const std::string idle = "--crossIteration=tensor has no effect: no GPU begins an iteration";
    const std::string none = " has put nothing into order: no two communications of kind data";
    const std::string ordered = run({credit, twice[0], twice[1]});
    EXPECT_EQ(ordered.find(idle), std::string::npos) << ordered;
    EXPECT_EQ(ordered.find(none), std::string::npos) << ordered;
    const std::string free = "=priority: without creditBytes all that is ready starts at once";
    EXPECT_NE(run({"--communicationSchedule=priority"}).find(free), std::string::npos);
    EXPECT_EQ(ordered.find("without creditBytes"), std::string::npos) << ordered;
    // All gradients in one: an iteration ends with their reduction.
    const Outcome whole = Start(
        "run",
        Small(
            {"--strategy=dp=2,globalBatch=2", twice[0], twice[1], "--communicationSchedule=fair"}));
    EXPECT_NE(whole.out.find(idle), std::string::npos) << whole.out << whole.error;
    EXPECT_NE(whole.out.find(none), std::string::npos) << whole.out << whole.error;
    const Outcome merged = Start("run",
                                 Small({"--strategy=dp=2,globalBatch=2",
                                        "--communicationSchedule=buckets,bucketBytes=1000"}));
    EXPECT_NE(merged.error.find(" has no effect: no communication of kind data is cut or merged"),
              std::string::npos)
        << merged.error;
}

TEST(UnsaidMistakes, FilesOfOtherFormatsAreNoOptions)
{
    ExpectRefused("run",
                  {"--config=" + WORKLOADS + "/graphs/ping.json"},
                  "ping.json: is a file of format \"proteus-graph\", which has no options");
}

TEST(UnsaidMistakes, FilesOfEarlierRunsInAFolderAreNamed)
{
    const Folder folder;
    const std::string timeline = folder.Get() + "/ranks/";
    std::filesystem::create_directories(timeline);
    for (const std::string name : {"rank0.json", "rank7.json", "notes.txt"})
    {
        const std::string path = folder.Write("ranks/" + name, "{}");
        std::filesystem::last_write_time(path,
                                         std::filesystem::last_write_time(path) -
                                             std::chrono::hours(1));
    }
    const std::string left = ": not of this run, and left as before: rank7.json\n";
    ExpectNamed("run", {PING, "--executor=flow", "--quiet", "--timeline=" + timeline}, left);
}

TEST(UnsaidMistakes, WhatAFileOfOptionsSaysWrongHasItsPlace)
{
    const Folder folder;
    const std::string file = folder.Write("c.json", R"({"model": "gpt3-125mm",
 "strategy": "dp=2", "executor": "flow"})");
    ExpectRefused("run",
                  {"--config=" + file},
                  "--config=" + file + ": /model: --model=gpt3-125mm: did you mean gpt3-125m?");
    const Outcome outcome = Start("run", {"--nodes=1\n"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
}

TEST(UnsaidMistakes, PartsOfASearchThatAModelLacksAreNamed)
{
    ExpectNamed("search",
                {MODEL,
                 "--variables=layers=2",
                 "--nodes=1",
                 "--globalBatch=8",
                 "--vary=experts",
                 "--flows=1",
                 "--packets=0",
                 "--quiet"},
                "--vary=experts: experts has no effect: the model has no experts");
}
