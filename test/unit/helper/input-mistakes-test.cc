/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return a file of two GPUs in a server @param link what the link says besides
std::string
TwoGpus(const std::string& link)
{
    return R"({"format": "proteus-cluster", "version": 1, "vertices": [
  {"name": "a", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"},
  {"name": "b", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"}],
 "links": [{"a": "a", "b": "b", "technology": "nvlink", "rate_gbytes_per_s": 100)" +
           link + "}]}";
}

const std::string PING = "--graph=" + WORKLOADS + "/graphs/ping.json";
const std::vector<std::string> SMALL{"--model=gpt3-125m",
                                     "--variables=layers=2",
                                     "--nodes=1",
                                     "--executor=flow",
                                     "--quiet"};

/// @return arguments of a small job, and more
std::vector<std::string>
Small(const std::vector<std::string>& more)
{
    std::vector<std::string> words = SMALL;
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

TEST(InputMistakes, WhatReadersWarnOfStandsInTheResults)
{
    const Folder folder;
    const std::string model = folder.Write("m.json",
                                           R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"width": 64, "idle": 1},
 "inputs": [{"name": "x", "shape": ["batch", 64]}, {"name": "y", "shape": ["batch"], "element": "index"}],
 "layers": [{"op": "linear", "name": "fc", "outputs": "width", "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})");
    ExpectNote(Start("run", {"--model=" + model, "--strategy=dp=2", "--executor=flow", "--quiet"}),
               "variable idle is used nowhere");
}

TEST(InputMistakes, ErrorsInFilesNameTheirOption)
{
    const Folder folder;
    const std::string file = folder.Write("f.json", R"({"format": "x", "version": 1})");
    const std::string other = folder.Write("g.json", R"({"format": "x", "version": 1})");
    for (const std::string option : {"--calibration=", "--strategy=", "--framework="})
    {
        std::vector<std::string> words = Small({option + file});
        if (option != "--strategy=")
        {
            words.emplace_back("--strategy=dp=2");
        }
        ExpectRefusal(Start("run", words), "error: " + option + file + ": /format: must be");
    }
    ExpectRefusal(Start("collective", {"--kernelCosts=" + file}),
                  "error: --kernelCosts=" + file + ": /format: must be");
    ExpectRefusal(Start("flows", {"--cluster=" + file, "--flows=" + other}),
                  "error: --cluster=" + file + ": /format: must be");
    // Which of the two is wrong is not known.
    ExpectRefusal(Start("flows", {"--cluster=" + file, "--flows=" + file}),
                  "error: " + file + ": /format: must be");
}

TEST(InputMistakes, OutputsOverWhatIsReadOrWritten)
{
    const Folder folder;
    const std::string options = folder.Write("c.json", R"({"nodes": 1})");
    ExpectRefusal(
        Start("run", Small({"--strategy=dp=2", "--config=" + options, "--json=" + options})),
        "--json=" + options + " would write over the file that --config reads");
    const std::string file = folder.Write("a.csv", "");
    const std::string link = folder.Get() + "/b";
    std::filesystem::create_symlink(file, link);
    ExpectRefusal(Start("run", Small({"--strategy=dp=2", "--csv=" + file, "--summary=" + link})),
                  "--csv and --summary would both write " + link);
}

TEST(InputMistakes, OutputsOverWhatAFileNames)
{
    const Folder folder;
    const std::string base = folder.Write("base.json", R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"width": 64},
 "inputs": [{"name": "x", "shape": ["batch", 64]}, {"name": "y", "shape": ["batch"], "element": "index"}],
 "layers": [{"op": "linear", "name": "fc", "outputs": "width", "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})");
    const std::string model = folder.Write(
        "m.json",
        R"({"format": "proteus-model", "version": 1, "name": "n", "base": "base.json"})");
    std::vector<std::string> words{"--model=" + model,
                                   "--strategy=dp=2",
                                   "--executor=flow",
                                   "--quiet",
                                   "--json=" + base};
    const std::string cause =
        "base.json: is read, and " + words.back() + " would write over it: give that another name";
    ExpectRefusal(Start("run", words), cause);
    const std::string link = folder.Get() + "/link.json";
    std::filesystem::create_symlink(base, link);
    words.back() = "--json=" + link;
    ExpectRefusal(Start("run", words), "is read, and --json=" + link + " would write");
    words.back() = "--json=" + folder.Get() + "/other.json";
    EXPECT_EQ(Start("run", words).code, 0); // the plan went with its program
    // Among the files of a folder.
    const std::string sizes = folder.Write("links.csv", "bytes,part\n1000,1\n");
    const std::string scenario = folder.Write(
        "s.json",
        R"({"format": "proteus-scenario", "version": 1, "traffic": [{"kind": "poisson",)"
        R"( "sizes": "links.csv", "load": 0.1, "from": "0"}]})");
    ExpectRefusal(Start("run",
                        Small({"--strategy=dp=2",
                               "--nodes=2",
                               "--scenario=" + scenario,
                               "--tables=" + folder.Get()})),
                  "is read, and --tables=" + folder.Get() + " would write over it");
}

TEST(InputMistakes, OutputsAmongTheFilesOfOthers)
{
    const Folder folder;
    const std::string tables = folder.Get() + "/t";
    std::vector<std::string> words =
        Small({"--strategy=dp=2", "--tables=" + tables, "--csv=" + tables + "/spans.csv"});
    words[3] = "--executor=both";
    std::filesystem::create_directory(tables);
    EXPECT_EQ(Start("run", words).code, 0); // no table has that name
    std::size_t nFiles = 0;
    for (const auto& entry : std::filesystem::directory_iterator(tables))
    {
        const std::string file = entry.path().string();
        if (entry.path().stem() != "spans")
        {
            ++nFiles;
            ExpectRefusal(
                Start("run", Small({"--strategy=dp=2", "--csv=" + file, "--tables=" + tables})),
                "--tables=" + tables + " would write " + file + ", which --csv writes, too");
        }
    }
    EXPECT_GT(nFiles, 10U);
    std::filesystem::remove_all(tables);

    const auto refuse =
        [&](const std::string& program, const std::string& several, const std::string& one) {
            for (const auto& arguments : {std::vector<std::string>{several, one}, {one, several}})
            {
                ExpectRefusal(Start(program, arguments),
                              several + " would write " + one.substr(one.find('=') + 1) +
                                  ", which " + one.substr(0, one.find('=')) + " writes, too");
            }
        };
    refuse("run", "--tables=" + tables + "/", "--csv=" + tables + "/summary.csv");
    refuse("run", "--timeline=" + tables + "/", "--summary=" + tables + "/rank7.json");
    refuse("gpt3", "--pcap=" + tables, "--csv=" + tables + "-12-0.pcap");
    refuse("compile", "--chakra=" + tables, "--inventory=" + tables + "/trace.3.et");
    refuse("compile", "--tables=" + tables, "--layouts=" + tables + "/memory.csv");
    refuse("search", "--saveStrategies=" + tables, "--report=" + tables + "/1.json");
    refuse("schedule", "--timelines=" + tables, "--csv=" + tables + "/packet-p3.csv");
    refuse("cluster", "--tables=" + tables, "--svg=" + tables + "/links.csv");
    refuse("collective", "--tables=" + tables, "--measuredCsv=" + tables + "/notes.csv");

    // Links to the folder, and in it.
    std::filesystem::create_directory(tables);
    const std::string link = folder.Get() + "/link";
    std::filesystem::create_directory_symlink(tables, link);
    ExpectRefusal(Start("run", {"--tables=" + link, "--csv=" + tables + "/run.csv"}),
                  "would write " + tables + "/run.csv, which --csv writes, too");
    const std::string plan = folder.Write("plan.json", R"({"dp": 2})");
    std::filesystem::create_symlink(plan, tables + "/links.csv");
    ExpectRefusal(Start("run", Small({"--strategy=" + plan, "--tables=" + tables})),
                  "would write " + tables + "/links.csv, which --strategy reads");
    ExpectRefusal(Start("run", {"--trace=" + tables, "--timeline=" + link + "/"}),
                  "would write into the folder whose traces --trace reads");
}

TEST(InputMistakes, RanksThatServersCannotShareEvenly)
{
    const auto start = [](const std::string& gpus) {
        const Outcome outcome =
            Start("collective", {"--gpus=" + gpus, "--nodes=2", "--min=8", "--max=8", "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    const std::string filled =
        " is no multiple of 2 servers: servers are filled in turn, ranks per ";
    EXPECT_NE(start("3").find("--gpus=3" + filled + "server 3, 0; nothing goes over the network\n"),
              std::string::npos);
    EXPECT_NE(start("9").find("--gpus=9" + filled + "server 8, 1\n"), std::string::npos);
    EXPECT_EQ(start("4"), "");
}

TEST(InputMistakes, NamesAndSourcesAreTexts)
{
    const Folder folder;
    const std::string plan = folder.Write("p.json", R"({"name": 3, "dp": 2})");
    ExpectRefusal(Start("run", Small({"--strategy=" + plan})), "p.json: /name: must be a string");
    const std::string prices = folder.Write("prices.json",
                                            R"({"format": "proteus-prices", "version": 1,
 "currency": "USD", "layout": {"servers_per_rack": 4, "source": {}}})");
    ExpectRefusal(Start("cluster", {"--cluster=dgx-a100", "--prices=" + prices}),
                  "prices.json: /layout/source: must be a string");
}

TEST(InputMistakes, WhatPricesLackNamesTheirFile)
{
    const Folder folder;
    std::string text;
    std::ifstream all(WORKLOADS + "/prices.json");
    for (std::string line; std::getline(all, line);)
    {
        text += line.find("\"item\": \"nic\"") == std::string::npos ? line + "\n" : "";
    }
    const std::string prices = folder.Write("p.json", text);
    ExpectRefusal(Start("cluster", {"--cluster=dgx-a100", "--nodes=2", "--prices=" + prices}),
                  "--prices=" + prices + ": no price of a 'nic' for 200 Gb/s: add one");
}

TEST(InputMistakes, PartsOfModelsThatNothingUses)
{
    const Folder folder;
    const auto start = [&](const std::string& variables, const std::string& inputs) {
        return Start("run",
                     {"--model=" + folder.Write("m.json",
                                                R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"width": "half + half", "half": 32)" +
                                                    variables + R"(},
 "inputs": [{"name": "x", "shape": ["batch", 64]}, {"name": "y", "shape": ["batch"], "element": "index"})" +
                                                    inputs + R"(],
 "layers": [{"op": "linear", "name": "fc", "outputs": "width", "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})"),
                      "--strategy=dp=2",
                      "--executor=flow",
                      "--quiet"});
    };
    EXPECT_EQ(start("", "").error, "");
    ExpectNote(start(R"(, "a": "b", "b": "a")", ""), "variable a is used nowhere");
    ExpectNote(start(R"(, "batch": 7)", ""), "/let/batch: has no effect: it follows");
    ExpectNote(start("", R"(, {"name": "z", "shape": ["batch", 4]})"), "input z is used nowhere");
}

TEST(InputMistakes, StepsOfAProfilerAreNamedInTheResults)
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

TEST(InputMistakes, OptionsOfTimesThatAFileHas)
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

TEST(InputMistakes, GraphsWithMoreThanCanBe)
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
}

TEST(InputMistakes, TopologiesThatAreNotWhole)
{
    const Folder folder;
    const std::string link = R"(<nvlink target="0003:00:00.0" count="1" tclass="0x030200"/>)";
    const auto start = [&](const std::string& version, const std::string& dev) {
        const std::string text = "<system version=\"" + version +
                                 R"("><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
<pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="0" sm="80" rank="0">)" +
                                 link + R"(</gpu></pci>
<pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev=")" +
                                 dev + R"(" sm="80" rank="1"/></pci></cpu></system>)";
        const Outcome outcome = Start("collective",
                                      {"--cluster=" + folder.Write("t.xml", text) + ":nvlink=none",
                                       "--nodes=1",
                                       "--min=1M",
                                       "--max=1M",
                                       "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    const std::string bad = start("2", "0");
    EXPECT_NE(bad.find("NVLinks to 1 GPU that the file does not have"), std::string::npos) << bad;
    EXPECT_NE(bad.find("several GPUs have the same dev"), std::string::npos) << bad;
    EXPECT_NE(bad.find("is of version '2'; known is 1"), std::string::npos) << bad;
    const std::string good = start("1", "1");
    EXPECT_EQ(good.find("the same dev"), std::string::npos) << good;
    EXPECT_EQ(good.find("version"), std::string::npos) << good;
}

TEST(InputMistakes, MeasuredTimesThatNoKernelHas)
{
    const Folder folder;
    const auto profile = [&](const std::string& shape) {
        return "--profile=" + folder.Write("p.json",
                                           R"({"format": "proteus-profile", "version": 1, "times": [
 {"gpu": "A100-SXM4-80GB", "operator": "gemm", "data_type": "bf16", "shape": )" +
                                               shape + R"(, "time_us": 7}]})");
    };
    ExpectNote(Start("run", Small({"--strategy=dp=8", profile("[1, 3, 5, 7]")})),
               "none of its 1 time is of a kernel of this job");
    const std::string empty =
        folder.Write("p.json", R"({"format": "proteus-profile", "version": 1, "times": []})");
    ExpectNote(Start("run", Small({"--strategy=dp=8", "--profile=" + empty})),
               "--profile=" + empty + " has no effect: there is no time in it");
}

TEST(InputMistakes, ACalibrationOfAnotherCluster)
{
    const Folder folder;
    const std::string file = folder.Write("c.json",
                                          R"({"format": "proteus-flow-calibration", "version": 1,
 "cluster": "elsewhere", "provenance": "", "links": {},
 "errors_held_out": {"mean": 0, "max": 0, "worst": "", "samples": 0}})");
    const Outcome outcome = Start("run", Small({"--strategy=dp=8", "--calibration=" + file}));
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_NE(outcome.out.find("were fitted on another cluster, elsewhere"), std::string::npos)
        << outcome.out;
}

TEST(InputMistakes, LossesThatOnlyPacketsKnow)
{
    const Folder folder;
    const std::vector<std::string> words{PING, "--executor=flow", "--quiet"};
    const auto start = [&](const std::string& link) {
        std::vector<std::string> all = words;
        all.push_back("--cluster=" + folder.Write("two.json", TwoGpus(link)));
        return Start("run", all);
    };
    EXPECT_EQ(start("").out.find("losses of links"), std::string::npos);
    const Outcome lossy = start(R"(, "loss_probability": 0.01)");
    EXPECT_EQ(lossy.code, 0) << lossy.error;
    EXPECT_NE(lossy.out.find("losses of links (loss_probability, bit_error_rate, 1 of 1)"),
              std::string::npos)
        << lossy.out;
}

TEST(InputMistakes, EventsThatComeTooLate)
{
    const Folder folder;
    const auto start = [&](const std::string& at) {
        return Start(
            "run",
            Small({"--strategy=dp=8",
                   "--scenario=" + folder.Write("s.json",
                                                R"({"format": "proteus-scenario", "version": 1,
 "events": [{"kind": "slow-gpu", "gpus": ["n0.gpu0"], "factor": 2, "at": ")" +
                                                    at + "\"}]}")}));
    };
    const Outcome late = start("10s");
    EXPECT_EQ(late.code, 0) << late.error;
    EXPECT_NE(late.out.find("/events/0: has no effect: it begins at 10.000 s"), std::string::npos)
        << late.out;
    EXPECT_EQ(start("0").out.find("has no effect"), std::string::npos);
    ExpectRefusal(start(std::string(400, '9') + "us"), "/events/0/at: must be a time");
}

TEST(InputMistakes, EventsOnGpusWithoutAJobAndSeedsOfNothing)
{
    const Folder folder;
    const auto start = [&](const std::string& body) {
        return Start("run",
                     {MODEL,
                      "--variables=layers=2",
                      "--strategy=dp=8",
                      "--nodes=2",
                      "--executor=flow",
                      "--quiet",
                      "--scenario=" + folder.Write("s.json",
                                                   R"({"format": "proteus-scenario", "version": 1,
 "compare_alone": false, )" + body + "}")});
    };
    const auto slow = [&](const std::string& gpus) {
        return start(R"("events": [{"kind": "slow-gpu", "factor": 2, "at": "0", "gpus": [)" + gpus +
                     "]}]");
    };
    const std::string idle = "/events/0: has no effect: no job runs on a GPU that it names";
    EXPECT_NE(slow(R"("n1.gpu0", "n1.gpu7")").out.find(idle), std::string::npos);
    EXPECT_EQ(slow(R"("n1.gpu0", "n0.gpu7")").out.find(idle), std::string::npos);
    const auto neighbour = [&](const std::string& strategy) {
        return start(R"("jobs": [{"name": "b", "model": "gpt3-125m", "variables": "layers=2",
 "strategy": ")" + strategy +
                     "\"}]");
    };
    ExpectNote(neighbour("dp=1,zero=1"),
               "/jobs/0/strategy: zero=1 has no effect: the job is the same without it");
    EXPECT_EQ(neighbour("dp=2,zero=1").error.find("has no effect"), std::string::npos);
    const std::string seed = "/seed: has no effect: no placement or order of ranks is 'random'";
    ExpectNote(start(R"("seed": 3)"), seed);
    for (const std::string used :
         {R"("job": {"placement": {"kind": "random"}})",
          R"("job": {"placement": {"kind": "packed", "rank_order": "random"}})"})
    {
        EXPECT_EQ(start(R"("seed": 3, )" + used).error.find(seed), std::string::npos) << used;
    }
}

TEST(InputMistakes, BlocksThatNeverRun)
{
    const Folder folder;
    const auto start = [&](const std::string& layers, const std::string& field) {
        return Start("run",
                     {"--model=" + folder.Write("m.json",
                                                R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"times": 0},
 "inputs": [{"name": "x", "shape": ["batch", 64]}, {"name": "y", "shape": ["batch"], "element": "index"}],
 "blocks": {"deep": [{"op": "linear", "name": "fc", "outputs": 64)" +
                                                    field + R"(}]},
 "layers": [{"op": "linear", "name": "first", "outputs": 64, "in": "x"},
  {"block": "deep", "name": "deep", "repeat": "times"},)" +
                                                    layers + R"(
  {"op": "cross-entropy", "name": "loss", "in": ["first", "y"]}]})"),
                      "--strategy=dp=2",
                      "--executor=flow",
                      "--quiet"});
    };
    ExpectNote(start("", ""),
               "/layers/1/repeat: is 0, and nothing else runs the block deep: the model is without "
               "it");
    EXPECT_EQ(start(R"({"block": "deep", "name": "once"},)", "").error, "");
    ExpectRefusal(start("", R"(, "bais": 0)"), "m.json: /blocks/deep/0/bais: ");
}

TEST(InputMistakes, DevicesWithoutATask)
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

TEST(InputMistakes, StudiesWhoseFilesAreMissing)
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
    // No point has a result, as the program cannot be started: the measure is not to blame.
    EXPECT_EQ(start("").error.find("there is no column"), std::string::npos);
}

TEST(InputMistakes, TablesThatContradictEachOther)
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
    const Outcome none = start(head + line, table, {"--min=1M"});
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.error.find("no table has a size from --min=1M"), std::string::npos)
        << none.error;
}

TEST(InputMistakes, FormatsThatAGpuHasNoUnitFor)
{
    const auto start = [](const std::string& cluster, const std::string& type) {
        return Start("run", Small({"--strategy=dp=8,dataType=" + type, "--cluster=" + cluster}));
    };
    ExpectNote(start("dgx1-v100", "bf16"), "V100-SXM2-32GB has no unit for bf16");
    ExpectNote(start("dgx-a100", "fp8"), "A100-SXM4-80GB has no unit for fp8");
    for (const auto& [cluster, type] :
         {std::pair{"dgx1-v100", "fp16"}, std::pair{"dgx-a100", "tf32"}, {"dgx-h100", "fp8"}})
    {
        EXPECT_EQ(start(cluster, type).error.find("no unit for"), std::string::npos) << type;
    }
}

TEST(InputMistakes, ListsOfEvaluations)
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

TEST(InputMistakes, TimesThatAreTakenFromAFile)
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
    EXPECT_NE(start(run("0.25")).out.find("of 1 of 1 runs are those of"), std::string::npos);
    ExpectRefusal(start(run("0")),
                  "r.json: /runs/0/executors/packet/iteration_s: must be a number");
    ExpectRefusal(start(run("1", R"(, "stratgy": "t")")),
                  "r.json: /runs/0/stratgy: unknown field; did you mean strategy?");
    ExpectRefusal(start(run("1") + "," + run("2")),
                  "r.json: /runs/1: there is a run of this workload and strategy already");
}

TEST(InputMistakes, OptionsBelowZeroAndFilesOfFiles)
{
    const Folder folder;
    ExpectRefusal(Start("search", {"--model=gpt3-125m", "--budget=-5"}), "--budget: must not be");
    ExpectRefusal(Start("run", {"--config=" + folder.Write("c.json", R"({"config": "d.json"})")}),
                  "/config: options are read from one file");
}

TEST(InputMistakes, ACalibrationHasNoOptionsOfRuns)
{
    const Folder folder;
    for (const std::string option : {"--json=x.json",
                                     "--report=x.html",
                                     "--csv=x.csv",
                                     "--scenario=x.json",
                                     "--executor=flow",
                                     "--iterations=3",
                                     "--computeTime=3ms",
                                     "--columns"})
    {
        ExpectRefusal(Start("calibrate", {option}), "there is no such option");
    }
    ExpectRefusal(Start("calibrate", {"--sizes=64K,65536"}), "65536 stands there twice");
    const std::string lone = R"({"format": "proteus-cluster", "version": 1, "vertices": [
 {"name": "g", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"}], "links": []})";
    ExpectRefusal(Start("calibrate",
                        {"--cluster=" + folder.Write("one.json", lone),
                         "--saveCalibration=" + folder.Get() + "/c.json"}),
                  "needs GPUs that communicate");
}

TEST(InputMistakes, BundlesThatANetworkDoesNotHave)
{
    const std::string hint = "--bundles=cables has no effect: no link between two switches";
    ExpectNote(Start("run", Small({"--strategy=dp=8", "--bundles=cables"})), hint);
    std::vector<std::string> words{"--model=gpt3-125m",
                                   "--variables=layers=2",
                                   "--strategy=dp=32",
                                   "--executor=flow",
                                   "--quiet",
                                   "--cluster=dgx-a100:nodes=4,leafs=2,spines=1",
                                   "--bundles=cables"};
    const Outcome outcome = Start("run", words);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(outcome.error.find("--bundles"), std::string::npos) << outcome.error;
}

TEST(InputMistakes, RatesInOtherUnits)
{
    const Folder folder;
    const auto run = [&](const std::string& cluster) {
        return Start("run", {PING, "--cluster=" + folder.Write("c.json", cluster), "--quiet"});
    };
    const auto gpus = [](const std::string& rate, const std::string& memory) {
        std::string text = TwoGpus("");
        text.replace(text.find(": 100"), 5, ": " + rate);
        const std::string model = "\"A100-SXM4-80GB\"";
        return text.replace(text.find(model), model.size(), model + memory);
    };
    const std::string faster = "faster NVLinks than their data sheet has (2), the first a: ";
    ExpectNote(run(gpus("2400", "")),
               faster + "2400 GB/s in each direction, a A100-SXM4-80GB has 300 GB/s");
    ExpectNote(run(gpus("0.3", "")), "NVLinks that are far slower than one of the GPU's");
    ExpectNote(run(gpus("300", R"(, "memory_gbytes_per_s": 16312)")),
               "memory_gbytes_per_s is far from their data sheet (1), the first a: 16312 GB/s");
    ExpectNote(run(TwoGpus(R"(, "delay_ns": 0.15)")), "a delay below 1 ns or above 100 us (1)");
    const Outcome good = run(gpus("300", R"(, "memory_gbytes_per_s": 2039)"));
    EXPECT_EQ(good.error, "") << good.error;

    const auto hosts = [](const std::string& rate) {
        return R"({"format": "proteus-cluster", "version": 1, "hosts": 2,
 "link": {"technology": "roce", "rate_gbytes_per_s": )" +
               rate + "}}";
    };
    ExpectNote(run(hosts("400")), "hosts' ones of more than 800 Gb/s (2), the first ");
    EXPECT_EQ(run(hosts("50")).error, "");
}

TEST(InputMistakes, ServersWhoseRatesAreInBits)
{
    const Folder folder;
    const std::string path = folder.Get() + "/c.json";
    ASSERT_EQ(Start("cluster", {"--cluster=dgx-a100:nodes=2", "--output=" + path}).code, 0);
    const auto check = [&]() { return Start("cluster", {"--cluster=" + path}).error; };
    EXPECT_EQ(check(), "");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const std::string good = text.str();
    const auto change = [&](const std::string& from, const std::string& to) {
        std::string bad = good;
        for (std::size_t at = bad.find(from); at != std::string::npos; at = bad.find(from, at + 1))
        {
            bad.replace(at, from.size(), to);
        }
        EXPECT_NE(bad, good) << from;
        std::ofstream(path) << bad;
        return check();
    };
    const std::string nics = change("\"infiniband\",\"rate_gbytes_per_s\":25.0",
                                    "\"infiniband\",\"rate_gbytes_per_s\":200.0");
    EXPECT_NE(nics.find("NICs whose network is far faster than their PCI Express (16)"),
              std::string::npos)
        << nics;
    const std::string slots = change("\"rate_gbytes_per_s\":31.5", "\"rate_gbytes_per_s\":252.0");
    EXPECT_NE(slots.find("faster than x16 of its generation"), std::string::npos) << slots;
}

// Of files in the folder none is named: all are right.
TEST(InputMistakes, ClustersOfTheFolderHaveTheRightUnits)
{
    for (const auto& entry : std::filesystem::directory_iterator(WORKLOADS + "/clusters"))
    {
        const Outcome outcome = Start("cluster", {"--cluster=" + entry.path().string()});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find("rates are 1e9 bytes"), std::string::npos) << outcome.error;
    }
}

TEST(InputMistakes, TimesInOtherUnits)
{
    const Folder folder;
    const std::string path = folder.Get() + "/p.json";
    const auto compile = [&](const std::string& option) {
        return Start("compile", {MODEL, PLAN, "--variables=layers=2", "--quiet", option + path});
    };
    ASSERT_EQ(compile("--kernels=").code, 0);
    EXPECT_EQ(compile("--profile=").error, "");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const std::string good = text.str();
    const std::regex time("\"time_us\": ([0-9]+)\\.([0-9]{3})([0-9]{3})");
    std::ofstream(path) << std::regex_replace(good, time, "\"time_us\": $1$2.$3");
    const std::string longer = compile("--profile=").error;
    EXPECT_NE(longer.find("are 32 times or more shorter or longer than what is computed"),
              std::string::npos)
        << longer;
    std::ofstream(path) << std::regex_replace(good, time, "\"time_us\": 0.0$1");
    const std::string shorter = compile("--profile=").error;
    EXPECT_NE(shorter.find("time_us is in microseconds"), std::string::npos) << shorter;
}

TEST(InputMistakes, OutputsThatEndAsAnotherFormat)
{
    ExpectRefusal(Start("cluster", {"--output=x.yaml"}),
                  "--output=x.yaml: is no .yaml file: the name must end in .json");
    ExpectRefusal(Start("cluster", {"--output=x.XML"}), "is no .xml file");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--csv=x.csv.gz"})),
                  "is no .gz file: the name must end in .csv");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--summary=x.csv"})),
                  "--summary=x.csv: is no .csv file: the name must end in .json");
    EXPECT_EQ(Start("cluster", {"--output=/dev/null"}).code, 0);
}

TEST(InputMistakes, FilesThatAreNotThereNameTheirOption)
{
    const Folder folder;
    const std::string link = folder.Get() + "/link.json";
    std::filesystem::create_symlink("/nowhere/x.json", link);
    for (const std::string option : {"--strategy=", "--cluster=", "--framework=", "--scenario="})
    {
        ExpectRefusal(Start("run", Small({"--strategy=dp=8", option + link})),
                      option + link + ": cannot be read: it is a link to /nowhere/x.json: No such");
    }
    ExpectRefusal(Start("run", {"--model=" + link, "--strategy=dp=8"}),
                  "--model=" + link + ": cannot be read: it is a link to /nowhere/x.json");
    ExpectRefusal(Start("run", Small({"--strategy=./none.json"})),
                  "--strategy=./none.json: cannot be read: No such file");
    const std::string endless(5000, 'a'); // no name of a file is so long
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--cluster=" + endless})), "--cluster=");
    ExpectRefusal(Start("run", Small({"--strategy=" + endless})), "--strategy=");
}

TEST(InputMistakes, PlansThatDoNotFitNameTheirFile)
{
    const Folder folder;
    const auto start = [&](const std::string& plan) {
        const std::string file = folder.Write(
            "plan.json",
            R"({"format": "proteus-strategy", "version": 1, "name": "mine", )" + plan + "}");
        return Start("compile", {MODEL, "--strategy=" + file}).error;
    };
    const std::string begin = "error: --strategy=" + folder.Get() + "/plan.json: ";
    const std::string stages = start(R"("pp": 16)");
    EXPECT_NE(stages.find(begin + "plan: model GPT-3 125M has 12 numbered blocks"),
              std::string::npos)
        << stages;
}

TEST(InputMistakes, FabricsThatAreTheSame)
{
    const auto start = [](const std::string& fabrics) {
        return Start("fabrics",
                     {"--model=gpt3-125m",
                      "--variables=layers=2",
                      "--strategy=dp=8",
                      "--nodes=2",
                      "--executor=flow",
                      "--quiet",
                      "--fabrics=" + fabrics})
            .error;
    };
    const std::string same = start("leaf-spine:2,leaf-spine:2.0,fat-tree");
    EXPECT_NE(same.find("--fabrics: leaf-spine 2:1 is the same network as leaf-spine 2:1"),
              std::string::npos)
        << same;
    EXPECT_NE(start("fat-tree,fat-tree+ecmp").find("is the same network"), std::string::npos);
    EXPECT_EQ(start("leaf-spine:2,fat-tree").find("is the same network"), std::string::npos);
    EXPECT_NE(
        start("dgx-a100,DGX_A100").find("--fabrics: dgx-a100 is the same network as dgx-a100"),
        std::string::npos);
    EXPECT_NE(start("leaf-spine+rails=1.5").find("the number of rails '1.5' must be whole"),
              std::string::npos);
}

TEST(InputMistakes, TracesThatDoNotSayHowManyRanksThereAre)
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

// As "--strategy=<(jq ... plan.json)" of a shell; programs read files several times.
TEST(InputMistakes, APipeIsReadAsAFileIs)
{
    const auto start = [](const std::string& option, const std::string& text) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(ends[1]);
        const Outcome outcome =
            Start("run",
                  Small({"--strategy=dp=8", option + "=/dev/fd/" + std::to_string(ends[0])}));
        close(ends[0]);
        return outcome;
    };
    const std::string plan = R"({"format": "proteus-strategy", "version": 1, "tp": 2, "dp": 4})";
    const Outcome piped = start("--strategy", plan);
    EXPECT_EQ(piped.code, 0) << piped.error;
    EXPECT_NE(piped.out.find("8 devices"), std::string::npos) << piped.out;
    EXPECT_EQ(start("--cluster", TwoGpus("")).code, 1); // which are too few
    EXPECT_EQ(start("--scenario", R"({"format": "proteus-scenario", "version": 1})").code, 0);
}
