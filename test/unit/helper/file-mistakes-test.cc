/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param path of a file @return what is in it
std::string
ReadWholeFile(const std::string& path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// @return a model with a variable that nothing uses
std::string
MakeIdleModel()
{
    return R"({"format": "proteus-model", "version": 1, "name": "m", "let": {"idle": 1},
 "inputs": [{"name": "x", "shape": ["batch", 64]}, {"name": "y", "shape": ["batch"], "element": "index"}],
 "layers": [{"op": "linear", "name": "fc", "outputs": 64, "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})";
}

/// @param link what the link says besides @param model of the GPUs @return a file of two GPUs
std::string
MakeTwoGpus(const std::string& link, const std::string& model = "A100-SXM4-80GB")
{
    return R"({"format": "proteus-cluster", "version": 1, "vertices": [
  {"name": "a", "kind": "gpu", "server": 0, "model": ")" +
           model + R"("},
  {"name": "b", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"}],
 "links": [{"a": "a", "b": "b", "technology": "nvlink")" +
           link + "}]}";
}

/// Runs a message there and back.
Outcome
Ping(const std::string& cluster, const std::string& executor = "packet")
{
    return Start("run",
                 {"--graph=" + WORKLOADS + "/graphs/ping.json",
                  "--cluster=" + cluster,
                  "--executor=" + executor,
                  "--quiet"});
}

} // namespace

TEST(FileMistakes, WarningsOfReadersStandInEveryResult)
{
    const Folder folder;
    const std::string model = "--model=" + folder.Write("m.json", MakeIdleModel());
    const std::string warning = "variable idle is used nowhere";
    const std::string json = folder.Get() + "/out.json";
    const auto check = [&](const std::string& program, std::vector<std::string> words) {
        words.insert(words.end(), {model, "--quiet"});
        const Outcome outcome = Start(program, words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_NE(outcome.error.find(warning), std::string::npos) << outcome.error;
    };
    check("compile", {"--strategy=dp=2", "--json=" + json});
    const std::string compiled = ReadWholeFile(json);
    EXPECT_NE(compiled.find(warning, compiled.find("\"notes\"")), std::string::npos);
    check("fabrics",
          {"--strategy=dp=2",
           "--cluster=dgx-a100",
           "--nodes=2",
           "--fabrics=fat-tree",
           "--executor=flow",
           "--json=" + json});
    const std::string compared = ReadWholeFile(json);
    EXPECT_NE(compared.find(warning, compared.find("\"notes\"")), std::string::npos);
    const std::string page = folder.Get() + "/page.html";
    check("search",
          {"--nodes=1",
           "--globalBatch=8",
           "--flows=1",
           "--packets=0",
           "--vary=none",
           "--report=" + page});
    EXPECT_NE(ReadWholeFile(page).find(warning), std::string::npos);
    const Outcome collective = Start("collective",
                                     {"--min=1M",
                                      "--max=1M",
                                      "--grouping=block",
                                      "--quiet",
                                      "--tables=" + folder.Get() + "/tables"});
    EXPECT_EQ(collective.code, 0) << collective.error;
    const std::string notes = ReadWholeFile(folder.Get() + "/tables/notes.csv");
    EXPECT_EQ(notes.find("note\n--grouping=block has no effect: there is one group\n"), 0u);
    EXPECT_NE(notes.find("published logs of one server with A100"), std::string::npos) << notes;
}

TEST(FileMistakes, LinksThatLoseEverything)
{
    const Folder folder;
    const std::string rate = R"(, "rate_gbytes_per_s": 100)";
    ExpectRefusal(Ping(folder.Write("c.json", MakeTwoGpus(rate + R"(, "loss_probability": 1)"))),
                  "/links/0/loss_probability: must be below 1");
    ExpectRefusal(Ping(folder.Write("c.json", MakeTwoGpus(rate + R"(, "bit_error_rate": 1)"))),
                  "/links/0/bit_error_rate: must be below 1");
    ExpectRefusal(Ping(folder.Write("c.txt", "2 0 1\n\n0 1 100Gbps 1us 1\n")), "less than 1");
    const Outcome most =
        Ping(folder.Write("c.json", MakeTwoGpus(rate + R"(, "loss_probability": 0.999999)")));
    EXPECT_EQ(most.code, 1);
    EXPECT_NE(most.error.find("links have lost: "), std::string::npos) << most.error;
    EXPECT_NE(most.error.find("b -> a 100 % ("), std::string::npos) << most.error;
}

TEST(FileMistakes, LinksThatAreTooSlowForPackets)
{
    const Folder folder;
    // A unit of NVLink and its header, in 100 ms.
    const Outcome slow =
        Ping(folder.Write("c.json", MakeTwoGpus(R"(, "rate_gbytes_per_s": 1e-9)")));
    EXPECT_EQ(slow.code, 1);
    EXPECT_NE(slow.error.find("error: the link a - b is too slow for packets, 1 bytes/s"),
              std::string::npos)
        << slow.error; // below what is said of the unit of such a rate
    EXPECT_EQ(slow.out, "");
    // Flows take what it is: 1 MiB there and back at 1 MB/s takes 2.1 s and the headers.
    const Outcome flows =
        Ping(folder.Write("c.json", MakeTwoGpus(R"(, "rate_gbytes_per_s": 1e-3)")), "flow");
    EXPECT_EQ(flows.code, 0) << flows.error;
    EXPECT_NE(flows.out.find("iteration time  2.360 s"), std::string::npos) << flows.out;
}

TEST(FileMistakes, MoreFlopsThanThereCanBe)
{
    const Folder folder;
    const auto run = [&folder](const std::string& flops) {
        const std::string graph = folder.Write(
            "graph.json",
            R"({"format": "proteus-graph", "version": 1, "facts": {"model_flops_per_iteration": )" +
                flops + R"(}, "devices": 1, "streams": ["compute"], "phases": [{"name": "all"}],
 "tasks": [{"name": "k", "kind": "compute", "phase": "all", "device": 0, "stream": "compute",
  "duration_ps": 1000000000}]})");
        return Start(
            "run",
            {"--graph=" + graph,
             "--cluster=" + folder.Write("two.json", MakeTwoGpus(R"(, "rate_gbytes_per_s": 300)")),
             "--executor=flow",
             "--quiet"});
    };
    // 312 TFLOP/s for a millisecond.
    const Outcome possible = run("3.1e11");
    EXPECT_EQ(possible.code, 0) << possible.error;
    EXPECT_EQ(possible.out.find("impossible"), std::string::npos);
    EXPECT_NE(run("3.2e11").out.find("Note: an MFU above 100 % is impossible"), std::string::npos);
}

// Communication makes the run long enough for FLOPs that its kernels are too short for.
TEST(FileMistakes, KernelsFasterThanGpus)
{
    const auto run = [](const std::string& time) {
        return Start("run",
                     {MODEL,
                      "--variables=layers=2",
                      "--strategy=dp=16",
                      "--nodes=2",
                      "--computeTime=" + time,
                      "--gpuSharing=off",
                      "--executor=flow",
                      "--quiet"})
            .out;
    };
    EXPECT_EQ(run("10ms").find("impossible"), std::string::npos);
    const std::string fast = run("100us");
    EXPECT_NE(fast.find("Note: kernels faster than GPUs are impossible: at the dense bf16 peak"),
              std::string::npos)
        << fast;
    EXPECT_NE(fast.find("and kernels take 100.000 us on the mean GPU"), std::string::npos) << fast;
}

TEST(FileMistakes, NamesOfDataSheets)
{
    const Folder folder;
    const std::string rate = R"(, "rate_gbytes_per_s": 100)";
    const Outcome near = Ping(folder.Write("c.json", MakeTwoGpus(rate, "A100")));
    ExpectRefusal(near, "c.json: /vertices/0/model: there is no data sheet of a GPU 'A100'");
    EXPECT_NE(near.error.find("did you mean A100-SXM4-80GB?"), std::string::npos) << near.error;
    ExpectRefusal(Ping(folder.Write("c.json", MakeTwoGpus(rate, "MI300X"))), "/vertices/0/model: ");
}

TEST(FileMistakes, GpusOfOtherMakersAndTopologiesWithoutGpus)
{
    const Folder folder;
    const auto run = [&](const std::string& pci, const std::string& option = "") {
        return Start("collective",
                     {"--cluster=" +
                          folder.Write("t.xml",
                                       "<system version=\"1\"><cpu numaid=\"0\">" + pci +
                                           "</cpu></system>") +
                          option,
                      "--nodes=1",
                      "--min=1M",
                      "--max=1M",
                      "--quiet"});
    };
    const auto gpu = [](const std::string& bus, const std::string& words) {
        return "<pci busid=\"" + bus +
               R"(" class="0x038000" link_speed="16 GT/s" link_width="16">)" + "<gpu " + words +
               "/></pci>";
    };
    // As RCCL writes MI200: its "sm" is a number of compute units.
    const std::string amd = gpu("0001:00:00.0", R"(dev="0" sm="90" gcn="910" rank="0")") +
                            gpu("0002:00:00.0", R"(dev="1" sm="90" gcn="910" rank="1")");
    ExpectRefusal(run(amd), "is a GPU of AMD, '910'");
    EXPECT_EQ(run(amd, ":gpu=A100-SXM4-80GB,nvlink=none").code, 0);
    ExpectRefusal(run("<pci busid=\"0000:00:16.0\"/>"), "take what NCCL_TOPO_DUMP_FILE writes");
}

TEST(FileMistakes, SchedulesForOtherRanks)
{
    const Folder folder;
    const std::string path = folder.Write("s.xml", MakePairSchedule("0"));
    const std::vector<std::string> words{"--msccl=" + path, "--min=8M", "--max=8M", "--quiet"};
    const Outcome eight = Start("collective", words);
    ExpectRefusal(eight, "s.xml: is for 2 ranks, and the group has 8");
    EXPECT_EQ(eight.out, "");
    std::vector<std::string> two = words;
    two.emplace_back("--gpus=2");
    const Outcome fits = Start("collective", two);
    EXPECT_EQ(fits.code, 0) << fits.error;
    EXPECT_EQ(fits.error, ""); // maxBytes 0 is no bound
}

TEST(FileMistakes, TracesOfOtherGpusAndOtherJson)
{
    const Folder folder;
    const auto run = [&](const std::string& text) {
        return Start("run",
                     {"--trace=" + folder.Write("t.json", text),
                      "--ranks=16",
                      "--executor=flow",
                      "--quiet"});
    };
    const auto recorded = [](const std::string& gpu) {
        return R"({"deviceProperties": [{"id": 0, "name": ")" + gpu + R"("}], "traceEvents": [
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 2, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "k", "ts": 5, "dur": 9, "args": {"stream": 7, "correlation": 1}}]})";
    };
    ExpectNote(run(recorded("Tesla V100-SXM2-32GB")),
               "was recorded on Tesla V100-SXM2-32GB, whose times kernels keep");
    for (const char* same : {"NVIDIA A100-SXM4-40GB", "NVIDIA A100 80GB PCIe", "A100-SXM4-80GB"})
    {
        EXPECT_EQ(run(recorded(same)).error, "") << same;
    }
    ExpectRefusal(run(R"({"workload_graph": []})"), "own JSON of Chakra's feeder");
    ExpectRefusal(run(R"({"nodes": []})"), "let it write v0.0.4");
    ExpectRefusal(run(R"({"schema": "1.0.4", "pid": 1, "nodes": []})"),
                  "this is an execution trace of PyTorch (ExecutionTraceObserver), without times");
}

TEST(FileMistakes, AScenarioIsRefusedBeforeAnythingIsSaid)
{
    const Folder folder;
    const auto run = [&](const std::string& event, const std::string& executor) {
        return Start("run",
                     {"--model=gpt3-125m",
                      "--variables=layers=2",
                      "--strategy=dp=16",
                      "--quiet",
                      "--executor=" + executor,
                      "--scenario=" + folder.Write("s.json",
                                                   R"({"format": "proteus-scenario", "version": 1,
 "events": [)" + event + "]}")});
    };
    const std::string down =
        R"({"kind": "link-down", "link": ["n0.nic0", "switch0"], "at": "1ms", "until": "2ms"})";
    for (const Outcome& outcome :
         {run(down, "flow"),
          run(R"({"kind": "link-down", "link": ["n0.nic0", "switch9"], "at": "1ms"})", "packet"),
          run(R"({"kind": "degraded", "nic": "n0.nic0", "loss_probability": 1, "at": "0"})",
              "packet")})
    {
        ExpectRefusal(outcome, "s.json: ");
        EXPECT_EQ(outcome.out, "");
    }
}

TEST(FileMistakes, ModelsAndStrategiesSayWhere)
{
    const Folder folder;
    std::string text = MakeIdleModel();
    const auto run = [&](const std::string& model, const std::string& strategy) {
        return Start("run",
                     {"--model=" + model, "--strategy=" + strategy, "--executor=flow", "--quiet"});
    };
    const std::string op = R"("op": "linear",)";
    text.replace(text.find(op), op.size(), op + R"( "bais": 1,)");
    const Outcome near = run(folder.Write("n.json", text), "dp=2");
    EXPECT_EQ(near.code, 1);
    EXPECT_NE(near.error.find("/bais: a linear has no attribute"), std::string::npos);
    EXPECT_NE(near.error.find("did you mean bias?"), std::string::npos) << near.error;
    const std::string plan = folder.Write("p.json", R"({"dp": 8, "globalBatch": 12})");
    ExpectRefusal(run("gpt3-125m", plan), "p.json: plan: globalBatch = 12 is not a multiple of 8");
    ExpectRefusal(run("gpt3-125m", "tp2,dp4"), "there is no such file, and it is not NAME=VALUE");
}

// Ports that are down are none, as to NCCL.
TEST(FileMistakes, NicsWithoutANetworkAreNamedAndNotUsed)
{
    std::ifstream file(WORKLOADS + "/clusters/2-x-4-v100.json");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string link = R"({"a": "n1.nic0", "b": "switch0", )";
    const std::size_t at = text.find(link);
    ASSERT_NE(at, std::string::npos);
    text.erase(at, text.find("},", at) + 2 - at);
    const Folder folder;
    const std::string cluster = folder.Write("c.json", text);
    for (const char* executor : {"packet", "flow"})
    {
        const Outcome outcome = Start("collective",
                                      {"--cluster=" + cluster,
                                       "--collective=send-recv",
                                       "--min=1M",
                                       "--max=1M",
                                       "--quiet",
                                       std::string("--executor=") + executor});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_NE(outcome.error.find("c.json: without a link to a network, so that nothing goes "
                                     "through it: n1.nic0\n"),
                  std::string::npos)
            << outcome.error;
    }
}

TEST(FileMistakes, PagesHaveTheirName)
{
    ExpectRefusal(Start("study", {"--study=" + WORKLOADS + "/studies/rails.json", "--html=x.txt"}),
                  "--html=x.txt: is a page: the name must end in .html");
    ExpectRefusal(Start("search", {"--model=gpt3-125m", "--report=x.csv"}),
                  "--report=x.csv: is a page");
}

TEST(FileMistakes, ASearchThatIsRefusedLeavesNoFolder)
{
    const Folder folder;
    const std::string path = folder.Get() + "/search";
    const std::string inner = "--saveStrategies=" + path + "/strategies";
    ExpectRefusal(Start("search", {"--model=gpt3-125m", inner}), "--globalBatch=N is missing");
    EXPECT_FALSE(std::filesystem::exists(path));
    ExpectRefusal(
        Start("search", {"--model=gpt3-125m", "--globalBatch=16", "--log=" + folder.Get(), inner}),
        "is no regular file");
    EXPECT_FALSE(std::filesystem::exists(path));
    std::filesystem::create_directory(path); // what was there before stays
    ExpectRefusal(
        Start("search", {"--model=gpt3-125m", "--globalBatch=16", "--log=" + folder.Get(), inner}),
        "is no regular file");
    EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST(FileMistakes, OutputsThatCannotBeWrittenNameTheirOption)
{
    const Folder folder;
    const std::string file = folder.Write("file", "of text");
    const std::string nowhere = folder.Get() + "/no/x.";
    const std::string none = ": cannot be written: No such file or directory";
    const auto refuse = [](const std::string& program,
                           std::vector<std::string> words,
                           const std::string& option,
                           const std::string& rest) {
        const std::string name = option.substr(0, option.find('='));
        words.push_back(option);
        const Outcome outcome = Start(program, words);
        ExpectRefusal(outcome, "proteus-" + program + ": error: " + rest);
        EXPECT_EQ(outcome.out, "") << program << " " << name;
    };
    const std::vector<std::string> run{MODEL, PLAN, "--executor=packet", "--quiet"};
    for (const std::string name :
         {"json", "csv", "summary", "timeline", "ascii", "linkSeries", "congestionSeries"})
    {
        const std::string option = "--" + name + "=" + nowhere + name;
        refuse("run", run, option, option + none);
    }
    refuse("run", run, "--report=" + nowhere + "html", "--report=" + nowhere + "html" + none);
    refuse("run", run, "--pcap=" + nowhere + "p", "--pcap: " + nowhere + "p-0-0.pcap" + none);
    const std::string folders = file + "/tables";
    refuse("run",
           run,
           "--tables=" + folders,
           "--tables=" + folders + ": no folder can be made of that name: Not a directory");
    refuse("run",
           run,
           "--timeline=" + folders + "/",
           "--timeline=" + folders + "/: no folder can be made of that name: Not a directory");
    for (const auto& [program, option] :
         std::vector<std::pair<std::string, std::string>>{{"calibrate", "saveCalibration"},
                                                          {"cluster", "svg"},
                                                          {"collective", "csv"},
                                                          {"evaluate", "json"},
                                                          {"fabrics", "markdown"},
                                                          {"search", "csv"},
                                                          {"validate", "csv"}})
    {
        const std::string word = "--" + option + "=" + nowhere + option;
        const bool hasModel = program == "fabrics" || program == "search";
        refuse(program,
               hasModel ? std::vector<std::string>{MODEL} : std::vector<std::string>(),
               word,
               word + none);
    }
    refuse("collective", {}, "--plot=" + nowhere + "svg", "--plot=" + nowhere + "svg" + none);
    // What goes wrong when results are written.
    ExpectRefusal(Start("cluster", {"--output=/dev/full"}),
                  "proteus-cluster: error: --output=/dev/full: cannot be written: No space");
    const std::string prefix = folder.Get() + "/cap";
    constexpr uint32_t NODES = 10;
    for (uint32_t i = 0; i < NODES * NODES; ++i)
    {
        std::filesystem::create_symlink("/dev/full",
                                        prefix + "-" + std::to_string(i / NODES) + "-" +
                                            std::to_string(i % NODES) + ".pcap");
    }
    const Outcome captures = Start("flows",
                                   {"--cluster=" + WORKLOADS + "/flows/switch-9.txt",
                                    "--flows=" + WORKLOADS + "/flows/incast-8.csv",
                                    "--pcap=" + prefix});
    ExpectRefusal(captures, "proteus-flows: error: --pcap: " + prefix + "-");
    EXPECT_NE(captures.error.find(".pcap: cannot be written: No space left on device"),
              std::string::npos)
        << captures.error;
}

TEST(FileMistakes, WhatStandsBehindAByteOfZeroIsNotPassedOver)
{
    const Folder folder;
    const std::string model = R"({"format": "proteus-model", "version": 1, "name": "m"})";
    for (const std::string& text : {model + std::string(1, '\0'), model + '\n' + '\0' + "}{"})
    {
        const std::string path = folder.Write("m.json", text);
        ExpectRefusal(Start("run", {"--model=" + path, "--strategy=dp=2"}),
                      ": a byte of zero, which no text has: the file was cut off or is damaged");
    }
}

TEST(FileMistakes, ABaseThatIsNotThereSaysWhoseItIs)
{
    const Folder folder;
    const std::string path = folder.Write(
        "m.json",
        R"({"format": "proteus-model", "version": 1, "name": "m", "base": "nowhere.json"})");
    ExpectRefusal(Start("run", {"--model=" + path, "--strategy=dp=2"}),
                  "--model=" + path + ": /base: " + folder.Get() +
                      "/nowhere.json: cannot be read: No such file or directory");
}
