/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace ns3::proteus;

// Outputs that people name, and what is left of them when a program refuses the rest; files of
// other formats, and what one program writes and another one reads.

TEST(OutputMistakes, WhatIsRefusedLeavesNoFolder)
{
    const Folder folder;
    const std::string path = folder.Get() + "/new";
    const std::string bad = "--strategy=tp=7,dp=1"; // of 12 attention heads
    for (const std::string& output : {"--tables=" + path + "/t", "--timeline=" + path + "/t/"})
    {
        EXPECT_EQ(Start("run", Small({bad, output})).code, 1);
        EXPECT_FALSE(std::filesystem::exists(path)) << output;
    }
    EXPECT_EQ(Start("run", Small({"--strategy=dp=8", "--tables=" + path + "/t"})).code, 0);
    EXPECT_TRUE(std::filesystem::exists(path + "/t/run.csv"));
    // What was there before stays.
    std::filesystem::create_directory(folder.Get() + "/old");
    EXPECT_EQ(Start("run", Small({bad, "--tables=" + folder.Get() + "/old/t"})).code, 1);
    EXPECT_TRUE(std::filesystem::is_empty(folder.Get() + "/old"));
}

TEST(OutputMistakes, NamesThatAreMeantForAShell)
{
    const std::vector<std::string> words{"--cluster=dgx-a100", "--max=8", "--quiet"};
    const auto start = [&](const std::string& output) {
        std::vector<std::string> all = words;
        all.push_back(output);
        return Start("collective", all);
    };
    ExpectRefusal(start("--csv=-"), "--csv=-: write /dev/stdout for what is printed");
    ExpectRefusal(start("--csv=~/x.csv"), "write $HOME/x.csv");
    ExpectRefusal(start("--tables=~"), "write $HOME");
    EXPECT_FALSE(std::filesystem::exists("~"));
    EXPECT_FALSE(std::filesystem::exists("-"));
    ExpectRefusal(start("--msccl=~/x.xml"), "No such file or directory; the shell puts the home");
}

TEST(OutputMistakes, FilesOfOtherFormatsSaySo)
{
    const Folder folder;
    const std::string csv = folder.Write("a.csv", "id,src\n1,2\n");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--profile=" + csv})),
                  "a.csv:1:1: syntax error while parsing value - invalid literal; this is no JSON "
                  "file, which begins with '{'");
    const std::vector<std::string> words{"--cluster=dgx-a100", "--max=8", "--quiet"};
    std::vector<std::string> all = words;
    all.push_back("--msccl=" + WORKLOADS + "/prices.json");
    ExpectRefusal(Start("collective", all),
                  "prices.json:1: is JSON: schedules of MSCCL, which are read, are XML");
}

TEST(OutputMistakes, FilesWhereNamesBelong)
{
    const Folder folder;
    const std::string schedule = folder.Write("x.xml", MakePairSchedule("2048"));
    ExpectRefusal(Start("collective", {"--cluster=dgx-a100", "--algorithm=" + schedule}),
                  "--algorithm=" + schedule +
                      ": a name belongs here, and this is a file; this is a schedule of MSCCL, "
                      "which proteus-collective --msccl reads");
    const std::string other = folder.Write("y.txt", "hello");
    ExpectRefusal(Start("collective", {"--collective=" + other}),
                  "--collective=" + other + ": a name belongs here, and this is a file");
}

TEST(OutputMistakes, WhatIsRefusedHasPrintedNothing)
{
    const Outcome refused =
        Start("run", Small({"--strategy=dp=8", "--communicationSchedule=priority,partBytes=1"}));
    ExpectRefusal(refused, "--communicationSchedule=priority,partBytes=1: ");
    EXPECT_EQ(refused.out, "");
    EXPECT_NE(Start("run", Small({"--strategy=dp=8"})).out.find("Memory\n"), std::string::npos);
}

TEST(OutputMistakes, OptionsOfTracesWithTheirGraph)
{
    const Folder folder;
    const std::string trace = folder.Get() + "/chakra";
    ASSERT_EQ(
        Start("compile", {MODEL, "--variables=layers=1", "--strategy=dp=2", "--chakra=" + trace})
            .code,
        0);
    const auto start = [&](const std::string& option) {
        return Start("run",
                     {"--trace=" + trace, "--nodes=1", "--executor=flow", "--quiet", option});
    };
    ExpectRefusal(start("--traceGroups=" + folder.Get() + "/none.json"), "none.json: cannot be");
    const std::string groups = folder.Write("g.json", R"({"a": [0, 1]})");
    const std::string cause = "has no effect: the trace has the graph that it was written of";
    ExpectNote(start("--traceGroups=" + groups), groups + ": " + cause);
    ExpectNote(start("--traceCompute=roofline"), "the roofline: " + cause);
    ExpectRefusal(start("--ranks=4"), "has traces of 2 ranks, not of 4");
    EXPECT_EQ(start("--ranks=2").error, "");
}

TEST(OutputMistakes, TablesAreCheckedBeforeAnyIsRun)
{
    const Folder folder;
    const std::string head = "file,cluster,system,nodes,gpus,collective,launch,nccl_version,"
                             "plugin_latency_us,network_channels,network,sizes,note\n";
    const std::string line = ",dgx-a100,X,1,8,all-reduce,process-per-gpu,,,,NVLink,1,\n";
    folder.Write("tables.csv", head + "a.csv" + line + "b.csv" + line);
    folder.Write("a.csv", "nodes,gpus,collective,size_bytes,time_us\n1,8,all-reduce,1024,30\n");
    const Outcome outcome = Start("validate", {"--directory=" + folder.Get(), "--quiet"});
    ExpectRefusal(outcome, "b.csv: cannot be read");
    EXPECT_EQ(outcome.out, "");
    folder.Write("tables.csv",
                 head + "a.csv,dgx-a100,X,1,8,all-reduce,process-per-gpu,4.2,,,NVLink,1,\n");
    const Outcome newer = Start("validate", {"--directory=" + folder.Get(), "--quiet"});
    EXPECT_EQ(newer.code, 0) << newer.error;
    EXPECT_NE(newer.error.find("a.csv: nccl_version has no effect: the newest version"),
              std::string::npos)
        << newer.error;
}

TEST(OutputMistakes, SizesThatAreMissing)
{
    const Folder folder;
    const std::string table = folder.Write("m.csv",
                                           "nodes,gpus,collective,size_bytes,time_us\n"
                                           "1,8,all-reduce,1024,30\n1,8,all-reduce,,31\n");
    ExpectRefusal(Start("collective", {"--cluster=dgx-a100", "--measured=" + table}),
                  "m.csv:3: the size is missing");
    folder.Write("m.csv",
                 "nodes,gpus,collective,size_bytes,time_us\n"
                 "1,8,all-reduce,1024,30\n1,8,all-reduce,2048,\n1,8,all-reduce,0,30\n");
    const Outcome left = Start("collective", {"--cluster=dgx-a100", "--measured=" + table});
    EXPECT_EQ(left.code, 0);
    EXPECT_NE(left.error.find("m.csv: has 2 lines of 0 bytes or without a time, left out here"),
              std::string::npos)
        << left.error;
}

TEST(OutputMistakes, TimesOfAProfileWithoutPass)
{
    const Folder folder;
    const std::string file = folder.Write("p.json", R"({"format": "proteus-profile", "version": 1,
 "times": [{"gpu": "A100-SXM4-80GB", "operator": "gemm", "shape": [1, 2048, 768, 768],
  "time_us": 17.9}]})");
    const Outcome outcome = Start("run", Small({"--strategy=dp=8", "--profile=" + file}));
    EXPECT_NE(outcome.error.find("1 of 1 times say no pass, and are taken for forward"),
              std::string::npos)
        << outcome.error;
    EXPECT_NE(outcome.error.find("1 of 1 times say no data_type, and are taken for bf16"),
              std::string::npos)
        << outcome.error;
}

TEST(OutputMistakes, CalibrationsOfOtherServers)
{
    const Folder folder;
    const std::string list = folder.Write("l.json",
                                          R"({"format": "proteus-evaluation", "version": 1,
 "workloads": [{"name": "w", "model": "gpt2-small", "variables": {"layers": 1},
  "cluster": "pcie-v100x4", "nodes": 2, "strategies": [{"name": "s", "dp": 8, "dataType": "fp16"}]}]})");
    const auto start = [&](const std::string& cluster) {
        folder.Write("pcie-v100x4.json",
                     R"({"format": "proteus-flow-calibration", "version": 1, )" + cluster +
                         R"(, "provenance": "", "links": {},
 "errors_held_out": {"mean": 0, "max": 0, "worst": "", "samples": 0}})");
        const Outcome outcome = Start(
            "evaluate",
            {"--list=" + list, "--calibrations=" + folder.Get(), "--executor=flow", "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error.find("fitted on another cluster") != std::string::npos;
    };
    const std::string one = R"("cluster": "1 x pcie-v100x4", "server": )";
    EXPECT_FALSE(start(one + R"("pcie-v100x4", "servers": 1)"));
    EXPECT_TRUE(start(R"("cluster": "1 x pcie-v100x8", "server": "pcie-v100x8", "servers": 1)"));
    EXPECT_TRUE(start(R"("cluster": "2 x pcie-v100x4, fat-tree", "server": "pcie-v100x4",
 "servers": 2)"));
    EXPECT_TRUE(start(R"("cluster": "1 x pcie-v100x4")")); // which does not say of what servers
}

// A log is read, and then written.
TEST(OutputMistakes, LogsAreOutputsLikeOthers)
{
    const Folder folder;
    const auto start = [&folder](const std::string& log, const std::string& csv) {
        return Start("search",
                     {"--model=gpt3-125m",
                      "--cluster=pcie-v100x4",
                      "--nodes=1",
                      "--globalBatch=4",
                      "--log=" + log,
                      "--csv=" + csv});
    };
    const std::string file = folder.Get() + "/x.csv";
    ExpectRefusal(start(file, file), "would both write");
    EXPECT_FALSE(std::filesystem::exists(file));
    ExpectRefusal(start("-", file), "--log=-: write /dev/stdout");
}

// Which the file system does not take.
TEST(OutputMistakes, NamesThatAreTooLong)
{
    const Folder folder;
    const std::string name = folder.Get() + "/" + std::string(300, 'x');
    const std::string why = ": cannot be written: File name too long";
    ExpectRefusal(Start("run", Small({"--strategy=dp=2", "--timeline=" + name})),
                  "--timeline=" + name + why);
    ExpectRefusal(Start("search",
                        {"--model=gpt3-125m",
                         "--cluster=pcie-v100x4",
                         "--nodes=1",
                         "--globalBatch=4",
                         "--vary=none",
                         "--log=" + name}),
                  "--log=" + name + why);
}

namespace
{

/// While one lives, a stream of the process goes to a file, as behind "> FILE" of a shell.
class Redirection
{
  public:
    /// @param stream 1 or 2 @param path of the file
    Redirection(int stream, const std::string& path)
        : m_stream(stream),
          m_kept(dup(stream))
    {
        const int file = open(path.c_str(), O_CREAT | O_WRONLY, S_IRUSR | S_IWUSR);
        dup2(file, stream);
        close(file);
    }

    ~Redirection()
    {
        dup2(m_kept, m_stream);
        close(m_kept);
    }

    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;

  private:
    int m_stream; //!< number of it
    int m_kept;   //!< where it went before
};

} // namespace

// What is printed would be lost.
TEST(OutputMistakes, FilesThatTheShellSendsStreamsToAreNotWrittenOver)
{
    const Folder folder;
    const std::string log = folder.Get() + "/links.csv";
    const auto start = [](const std::string& output) {
        return Start("run", {PING, "--cluster=dgx-a100", "--executor=flow", "--quiet", output});
    };
    for (const auto& [number, stream] :
         {std::pair{1, "standard output"}, std::pair{2, "standard error"}})
    {
        const Redirection redirection(number, log);
        const std::string own = number == 1 ? "/dev/stdout" : "/dev/stderr";
        for (const std::string& file : {log, own})
        {
            ExpectRefusal(start("--csv=" + file),
                          std::string(stream) + " and --csv would both write " + file);
        }
        ExpectRefusal(start("--tables=" + folder.Get()),
                      "--tables=" + folder.Get() + " would write " + log + ", which " + stream +
                          " writes, too: give it another name");
        EXPECT_EQ(start("--csv=" + folder.Get() + "/other.csv").code, 0);
    }
    EXPECT_EQ(start("--csv=" + log).code, 0);
}
