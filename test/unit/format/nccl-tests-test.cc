/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "corruptions.h"

#include "ns3/proteus-nccl-tests-doubts.h"
#include "ns3/proteus-nccl-tests-words.h"
#include "ns3/proteus-nccl-tests.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace ns3::proteus;

namespace
{

namespace fs = std::filesystem;

const fs::path SAMPLES = fs::path(PROTEUS_SOURCE_DIR) / "../shared/data/nccl";

NcclTestsTable
Read(const std::string& text)
{
    std::istringstream in(text);
    return ReadNcclTests(in, "log");
}

/// @return what is wrong with a file
std::string
ErrorOf(const std::string& text)
{
    try
    {
        Read(text);
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "no error";
}

/// As version 2.13 prints it, between other programs' lines.
const std::string LOG =
    R"(mpirun: 2 processes on 1 host
# nThread 1 nGpus 1 minBytes 8 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid  81001 on      node0 device  0 [0x07] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid  81002 on      node0 device  1 [0x0f] NVIDIA A100-SXM4-40GB
NCCL version 2.18.3+cuda12.2
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    34.73    0.00    0.00      0    35.30    0.00    0.00      0
node0:81001:81001 [0] NCCL INFO something
    33554432       8388608     float     sum      -1    379.5   88.42  154.73      0    378.9   88.56  154.98    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 77.4
)";

} // namespace

TEST(NcclTests, LaunchersRanksAndCollective)
{
    const auto prefixed = [](const std::string& prefix) {
        std::string text;
        std::istringstream in(LOG);
        for (std::string line; std::getline(in, line);)
        {
            text += prefix + line + "\n";
        }
        return text;
    };
    for (const char* prefix : {"",
                               "[1,0]<stdout>:",
                               "[1,12]<stdout>: ",
                               "[prterun-node0-4711@1,0]<stdout>: ",
                               "Fri Mar  3 10:00:00 2023[1,0]<stdout>:",
                               "0: ",
                               " 3: ",
                               "2024-05-01T12:00:00Z ",
                               "2024-05-01T12:00:00.123456789Z stdout F ",
                               "[2024-05-01 12:00:00] ",
                               "2024-05-01 12:00:00,123 - INFO - ",
                               "May  1 12:00:00 node0 slurmstepd[4711]: ",
                               "[pod/nccl-launcher-x7k/main] ",
                               "worker-1  | ",
                               "[rank0]: 2024-05-01T12:00:00+02:00 ",
                               "\x1b[36mnccl-0\x1b[0m ",
                               "\x1b[0;32m"})
    {
        const auto table = Read(prefixed(prefix));
        ASSERT_EQ(table.rows.size(), 2u) << prefix;
        EXPECT_EQ(table.rows[1].outOfPlace->timeUs, 379.5) << prefix;
        EXPECT_EQ(table.ranks, 2u) << prefix;
        EXPECT_EQ(table.nodes, 1u) << prefix;
        EXPECT_EQ(table.collective, "") << prefix;
    }
    std::string windows;
    for (const char c : LOG)
    {
        windows += c == '\n' ? std::string("\x1b[0m\r\n") : std::string(1, c);
    }
    EXPECT_EQ(Read(windows).rows.size(), 2u);
    // A row that is cut is not taken for one with a shorter prefix.
    const std::string timed = prefixed("2024-05-01T12:00:00Z ");
    const std::size_t last = timed.rfind("    N/A");
    EXPECT_NE(ErrorOf(timed.substr(0, last) + timed.substr(last + 7)).find("has 12 fields"),
              std::string::npos);
    EXPECT_EQ(Read("# Collective test starting: reduce_scatter_perf\n" + LOG).collective,
              "reduce-scatter");
    EXPECT_EQ(Read("srun -n 2 ./build/reduce_perf -g 1\n" + LOG).collective, "reduce");
    EXPECT_EQ(Read("$ mpirun all_reduce_perf -b 8\n" + LOG).collective, "all-reduce");
    EXPECT_EQ(ErrorOf("all_reduce_perf\nalltoall_perf\n" + LOG),
              "log:2: is of all-to-all, lines before it of all-reduce; keep one collective in a "
              "file");
    const auto table = Read("system,nodes,gpus,collective,size_bytes,time_us,busbw_GBps,source\n"
                            "x,2,16,all-gather,8,1.5,1,y\n"
                            "x,2,16,all-gather,16,1.5,2,y\n");
    EXPECT_EQ(table.nodes, 2u);
    EXPECT_EQ(table.ranks, 16u);
    EXPECT_EQ(table.collective, "all-gather");
    EXPECT_NE(ErrorOf("gpus,size_bytes,time_us\n8,8,1\n4,8,1\n").find("different numbers"),
              std::string::npos);
}

TEST(NcclTests, NewerColumns)
{
    // As of 2025: a date and a time behind each line, spreads of single iterations, -C, -z
    const auto with = [](std::string text, const std::string& from, const std::string& to) {
        for (std::size_t at = text.find(from); at != std::string::npos;
             at = text.find(from, at + to.size()))
        {
            text.replace(at, from.size(), to);
        }
        return text;
    };
    const std::string timed =
        with(with(with(LOG, "algbw   busbw #wrong\n", "algbw   busbw #wrong  timestamp\n"),
                  "154.98    N/A\n",
                  "154.98    N/A  2025-11-01 10:00:01\n"),
             "35.30    0.00    0.00      0\n",
             "35.30    0.00    0.00      0  2025-11-01 10:00:00\n");
    ASSERT_EQ(Read(timed).rows.size(), 2u);
    EXPECT_EQ(Read(timed).rows[1].inPlace->timeUs, 378.9);
    EXPECT_NE(ErrorOf(with(LOG, "     time", "  cputime")).find("without -C"), std::string::npos);
    const auto table = Read("# Blocking Enabled: wait for completion and barrier after each "
                            "collective\n" +
                            with(LOG, "iters: 20\n", "iters: 20 unalign: 1\n"));
    ASSERT_EQ(table.doubts.size(), 2u);
    EXPECT_NE(table.doubts[0].find("waits for each operation"), std::string::npos);
    EXPECT_NE(table.doubts[1].find("not aligned"), std::string::npos);
}

TEST(NcclTests, ReadsTheEnvironment)
{
    const auto table = Read("$ mpirun -x NCCL_DEBUG=INFO -x NCCL_PROTO=Simple -x LD_LIBRARY_PATH "
                            "-x NCCL_TESTS_SPLIT_MASK=0x7 -x NCCL_TESTS_DEVICE=0 "
                            "-x NCCL_IB_HCA all_reduce_perf\n"
                            "node0:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
                            "export MY_NCCL_ALGO=x NCCL_SOCKET_IFNAME=eth0 'NCCL_ALGO=Ring'\n" +
                            LOG);
    ASSERT_EQ(table.doubts.size(), 1u);
    EXPECT_EQ(table.doubts[0], "was run with NCCL_TESTS_SPLIT_MASK=0x7, which is not taken over");
    const std::set<std::string> settings{"NCCL_ALGO=Ring",
                                         "NCCL_P2P_DISABLE=1",
                                         "NCCL_PROTO=Simple"};
    EXPECT_EQ(table.settings, settings);
}

TEST(NcclTests, ReadsWholeValues)
{
    using Settings = std::vector<std::string>;
    const std::vector<std::pair<std::string, Settings>> cases{
        {"-x NCCL_ALGO=Ring,Tree -x NCCL_PROTO=^LL", {"NCCL_ALGO=Ring,Tree", "NCCL_PROTO=^LL"}},
        {"srun --export=ALL,NCCL_ALGO=Ring,Tree,NCCL_PROTO=LL,PATH=/bin x",
         {"NCCL_ALGO=Ring,Tree", "NCCL_PROTO=LL"}},
        {"h:1:1 [0] NCCL INFO NCCL_ALGO set by environment to AllReduce:Tree;Broadcast:Ring.",
         {"NCCL_ALGO=AllReduce:Tree;Broadcast:Ring"}},
        {"export NCCL_ALGO=\"AllReduce:Tree;Broadcast:Ring\"; export NCCL_BUFFSIZE=8388608;",
         {"NCCL_ALGO=AllReduce:Tree;Broadcast:Ring", "NCCL_BUFFSIZE=8388608"}},
        {"'NCCL_ALGO=allreduce:tree;broadcast:ring' NCCL_TOPO_FILE=/etc/a.b.xml",
         {"NCCL_ALGO=allreduce:tree;broadcast:ring", "NCCL_TOPO_FILE=/etc/a.b.xml"}},
        {"It was run with NCCL_ALGO=Tree, (NCCL_PROTO=LL), and `NCCL_NTHREADS=256`.",
         {"NCCL_ALGO=Tree", "NCCL_PROTO=LL", "NCCL_NTHREADS=256"}},
        {"    NCCL_MAX_NCHANNELS=8\\", {"NCCL_MAX_NCHANNELS=8"}},
        {"NCCL_ALGO= NCCL_PROTO=\"\" NCCL_IB_HCA==mlx5_0:1,mlx5_3:1",
         {"NCCL_IB_HCA==mlx5_0:1,mlx5_3:1"}}};
    for (const auto& [line, settings] : cases)
    {
        EXPECT_EQ(FindSettings(line), settings) << line;
    }
}

TEST(NcclTests, VersionAndLaunch)
{
    EXPECT_EQ(Read(LOG).ncclVersion, "2.18.3+cuda12.2");
    EXPECT_EQ(Read("# nccl-tests version 2.16.2 nccl-headers=22703 nccl-library=22705\n" + LOG)
                  .ncclVersion,
              "22705");
    EXPECT_EQ(Read("n0:1:1 [0] NCCL INFO NCCL version 2.7.8+cuda11.0\n" + LOG).ncclVersion,
              "2.7.8+cuda11.0");
    EXPECT_EQ(Read("size_bytes,time_us\n8,1.5\n").ncclVersion, "");
    EXPECT_EQ(Read(LOG).gpusOfThread, 1u);
    std::string one = LOG;
    one.replace(one.find("nGpus 1"), 7, "nGpus 8");
    EXPECT_EQ(Read(one).gpusOfThread, 8u);
}

TEST(NcclTests, ReadsLogs)
{
    const auto table = Read(LOG);
    EXPECT_EQ(table.devices,
              (std::vector<std::string>{"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"}));
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].bytes, 8u);
    EXPECT_EQ(table.rows[0].count, 2u);
    EXPECT_EQ(table.rows[0].type, "float");
    EXPECT_EQ(table.rows[0].redop, "sum");
    EXPECT_EQ(table.rows[0].root, -1);
    const auto& row = table.rows[1];
    EXPECT_EQ(row.outOfPlace->timeUs, 379.5);
    EXPECT_EQ(row.outOfPlace->algbwGBps, 88.42);
    EXPECT_EQ(row.outOfPlace->busbwGBps, 154.73);
    EXPECT_EQ(row.outOfPlace->wrong, 0);
    EXPECT_EQ(row.inPlace->timeUs, 378.9);
    EXPECT_EQ(row.inPlace->busbwGBps, 154.98);
    EXPECT_FALSE(row.inPlace->wrong);
}

TEST(NcclTests, WhatIsOddAboutALogIsSaid)
{
    EXPECT_TRUE(Read(LOG).doubts.empty());
    const auto replaced = [](const std::string& from, const std::string& to) {
        std::string text = LOG;
        return text.replace(text.find(from), from.size(), to);
    };
    const auto wrong = Read(replaced("154.73      0", "154.73     12")).doubts;
    ASSERT_EQ(wrong.size(), 1u);
    EXPECT_NE(wrong[0].find("33554432 bytes had 12 wrong elements"), std::string::npos);
    const auto cut = Read(LOG.substr(0, LOG.find("# Out of"))).doubts;
    ASSERT_EQ(cut.size(), 1u);
    EXPECT_NE(cut[0].find("the run was stopped"), std::string::npos);
    EXPECT_NE(ErrorOf(LOG + LOG).find("a second table begins here"), std::string::npos);
    EXPECT_EQ(Read(LOG).iterations, 20u);
    for (const auto& [from, to, hint] :
         {std::make_tuple("88.42  154.73", "12.42  154.73", "algbw is not the size over the time"),
          std::make_tuple("warmup iters: 5", "warmup iters: 0", "is without a warm-up"),
          std::make_tuple(" iters: 20", " iters: 20 agg iters: 4", "has groups of 4 operations"),
          std::make_tuple(" iters: 20", " iters: 20 graph: 9", "as a CUDA graph"),
          std::make_tuple(": 0 OK", ": 3 FAILED", "what was timed did not work"),
          std::make_tuple("8             2     float",
                          "8             4      half",
                          "of elements of type half"),
          std::make_tuple("33554432       8388608",
                          "33554432       4194305",
                          "in its line of 33554432 bytes there are 4194305 elements of type float, "
                          "which have another size"),
          std::make_tuple("33554432       8388608",
                          "33554432      33554432",
                          "in its line of 33554432 bytes there are 33554432 elements"),
          std::make_tuple("bandwidth    : 77.4",
                          "bandwidth    : 0.0774",
                          "busbw is 0.0774 GB/s in the mean, and its lines have 77.43: lines are "
                          "missing"),
          std::make_tuple("minBytes 8 ",
                          "minBytes 4 ",
                          "has sizes from 8 bytes on, and says minBytes 4: lines are missing"),
          std::make_tuple("maxBytes 33554432",
                          "maxBytes 134217728",
                          "has sizes up to 33554432 bytes, and says maxBytes 134217728"),
          std::make_tuple("nGpus 1 ",
                          "nGpus 4 ",
                          "says 4 GPUs of each process (nThread, nGpus), and lists 2 in all"),
          std::make_tuple("81002",
                          "81001",
                          "says 1 GPU of each process (nThread, nGpus), and lists 2 of node0, Pid "
                          "81001"),
          std::make_tuple("Rank  1 ", "Rank  0 ", "has 2 devices of rank 0"),
          std::make_tuple("Rank  1 Group  0", "Rank  1 Group  1", "is split into 2 groups"),
          std::make_tuple("Rank  1 ",
                          "Rank  3 ",
                          "lists 2 of 4 ranks: lines are missing; its ranks are taken for 4"),
          std::make_tuple(
              "node0:81001:81001 [0]",
              "node0: Test NCCL failure common.cu:958 'remote process exited'\nx:1:1 [0]",
              "says 'Test NCCL failure common.cu:958 "),
          std::make_tuple("#wrong\n", "#bad\n", "has a column #bad, which is not read"),
          std::make_tuple(
              "# Out of",
              "8 2 float sum -1 35 0 0 0 35 0 0 0\n"
              "33554432 8388608 float sum -1 379 88.5 154.8 0 379 88.5 154.8 0\n# Out of",
              "has more than one line of 2 sizes, the least 8 bytes")})
    {
        const auto doubts = Read(replaced(from, to)).doubts;
        ASSERT_EQ(doubts.size(), 1u) << to;
        EXPECT_NE(doubts[0].find(hint), std::string::npos) << doubts[0];
    }
    // Sizes that were not asked for, steps in bytes, and a bound that memory has lowered.
    EXPECT_TRUE(Read(replaced("maxBytes 33554432", "maxBytes 67108863")).doubts.empty());
    EXPECT_TRUE(Read(replaced("maxBytes 33554432 step: 2(factor)",
                              "maxBytes 34000000 step: 1048576(bytes)"))
                    .doubts.empty());
    EXPECT_TRUE(Read(replaced("maxBytes 33554432", "maxBytes 134217728") +
                     "# Reducing maxBytes to 34000000 due to memory limitation\n")
                    .doubts.empty());
    const auto shared =
        Read(replaced("81002 on      node0 device  1 [0x0f]", "81001 on node0 device 0 [0x07]"))
            .doubts;
    ASSERT_EQ(shared.size(), 2u);
    EXPECT_NE(shared[1].find("has several ranks on node0, Pid 81001, device 0 [0x07]"),
              std::string::npos)
        << shared[1];
    EXPECT_NE(ErrorOf(replaced("    33554432  ", "    32M  ")).find("the size"), std::string::npos);
    // A part of a collective that has all ranks' elements is one of eight here.
    EXPECT_TRUE(Read(replaced("33554432       8388608", "33554432       1048576")).doubts.empty());
    // All sizes of less than an element for each rank are 0.
    const std::string none = "0 0 float sum -1 6.4 0 0 0 6.4 0 0 0\n";
    for (const std::string& doubt : Read(replaced("# Out of", none + none + "# Out of")).doubts)
    {
        EXPECT_EQ(doubt.find("more than one line"), std::string::npos) << doubt;
    }
    // Other reductions and types of one size are other measurements.
    EXPECT_TRUE(Read(replaced("# Out of",
                              "33554432 8388608 float max -1 379 88.5 154.9 0 379 88.5 154.9 0\n"
                              "8 2 int32 max -1 35 0 0 0 35 0 0 0\n# Out of"))
                    .doubts.empty());
}

TEST(NcclTests, TwoProcessesThatMayHaveACoreEachAreSaid)
{
    // Two processes of two GPUs each, on two servers or on one.
    const auto find = [](const std::string& host, const std::string& before) {
        const std::string line = "#  Rank  RANK Group  0 Pid  PID on HOST device  PLACE [0x0PLACE] "
                                 "NVIDIA A100-SXM4-40GB\n";
        std::string devices;
        for (uint32_t rank = 0; rank < 4; ++rank)
        {
            std::string device = line;
            for (const auto& [name, value] :
                 {std::make_pair("RANK", std::to_string(rank)),
                  std::make_pair("PID", std::to_string(81001 + rank / 2)),
                  std::make_pair("HOST", rank < 2 ? std::string("node0") : host),
                  std::make_pair("PLACE", std::to_string(rank % 2 + (host == "node0" ? rank : 0))),
                  std::make_pair("PLACE", std::to_string(rank % 2))})
            {
                device.replace(device.find(name), std::string(name).size(), value);
            }
            devices += device;
        }
        return Read(before + "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor)\n" +
                    devices +
                    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                    "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n"
                    "8 2 float sum -1 35 0 0 0 35 0 0 0\n# Avg bus bandwidth    : 0\n")
            .doubts;
    };
    const auto unsaid = find("node1", "mpirun -np 2 ./build/all_reduce_perf -b 8 -e 8 -g 2\n");
    ASSERT_EQ(unsaid.size(), 1u);
    EXPECT_NE(unsaid[0].find("is of two processes of 2 GPUs each"), std::string::npos) << unsaid[0];
    EXPECT_TRUE(find("node0", "").empty());
    for (const char* said : {"mpirun -np 2 --bind-to none ./build/all_reduce_perf -g 2\n",
                             "mpirun -np 2 -bind-to-none ./build/all_reduce_perf -g 2\n",
                             "srun -n 2 --cpu-bind=none ./build/all_reduce_perf -g 2\n"})
    {
        EXPECT_TRUE(find("node1", said).empty()) << said;
    }
}

TEST(NcclTests, BusBandwidthsThatDoNotFollowAreSaid)
{
    const auto doubts = [](const std::string& rows) {
        return Read("size_bytes,time_us,busbw_GBps\n" + rows).doubts;
    };
    // Eight ranks: 7/4 of the size over the time.
    const std::string good = "1048576,20,91.75\n2097152,30,122.33\n4194304,50,146.8\n";
    EXPECT_TRUE(doubts(good + "8,20,0.00\n").empty());
    EXPECT_TRUE(doubts("1048576,20,0\n2097152,30,0\n").empty()); // of one rank
    EXPECT_TRUE(doubts("1048576,20,\n2097152,30,\n").empty());
    EXPECT_EQ(doubts(good + "8388608,1e-320,146\n").size(), 1u);
    const auto edited = doubts(good + "8388608,90,81\n");
    ASSERT_EQ(edited.size(), 1u);
    EXPECT_EQ(
        edited[0],
        "in 1 line, the first that of 8388608 bytes, busbw does not follow from size and time "
        "as in the others: numbers are in another unit, or the file was edited; times are "
        "taken as microseconds");
    const auto milliseconds = doubts("1048576,0.020,91.75\n2097152,0.030,122.33\n");
    ASSERT_EQ(milliseconds.size(), 1u);
    EXPECT_EQ(milliseconds[0].find("busbw is 0.00175 times the size over the time, and of no "
                                   "collective above 2 or below 0.5: "),
              0u)
        << milliseconds[0];
    EXPECT_EQ(ErrorOf("size_bytes,time_us,gpus\n8,1,0\n"),
              "log:2: the number of GPUs or nodes must be at least 1");
}

TEST(NcclTests, OtherUnitsAreRefused)
{
    for (const auto& [unit, other] : {std::make_pair("(B)", "(KB)"),
                                      std::make_pair("(us)", "(ms)"),
                                      std::make_pair("(us)", "[ms]"),
                                      std::make_pair("(us)", "ms"),
                                      std::make_pair("(GB/s)", "Gbps"),
                                      std::make_pair("(GB/s)", "(Gb/s)")})
    {
        std::string text = LOG;
        text.replace(text.find(unit), std::string(unit).size(), other);
        EXPECT_EQ(ErrorOf(text),
                  "log:11: '" + std::string(other) +
                      "' is no unit of nccl-tests, which prints B, elements, us and GB/s: convert "
                      "the numbers to these");
        // What another program says in brackets is not about the table.
        EXPECT_EQ(ErrorOf("# (ms)\n" + LOG + "# (ms)\n"), "no error");
    }
}

TEST(NcclTests, ReadsWhatAPageHasLeft)
{
    // Markdown takes "# " at the start of a line for a heading.
    std::string text;
    std::istringstream in(LOG);
    for (std::string line; std::getline(in, line);)
    {
        text += (line.rfind("#", 0) == 0 ? line.substr(1) : line) + "\n";
    }
    const auto table = Read(text);
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[1].outOfPlace->timeUs, 379.5);
    EXPECT_EQ(table.ranks, 2u);
    EXPECT_EQ(table.iterations, 20u);
    EXPECT_EQ(table.gpusOfThread, 1u);
    EXPECT_TRUE(table.doubts.empty());
}

TEST(NcclTests, LinesTellOtherCollectivesApart)
{
    // The bus bandwidth of LOG is 1.75 times the other one: an all-reduce of eight.
    const auto table = Read(LOG);
    EXPECT_EQ(FindMismatch(table, 1.75, true), "");
    EXPECT_EQ(FindMismatch(table, 1.75, false), "");
    EXPECT_EQ(FindMismatch(table, 1.5, true),
              "busbw is 1.75 times algbw in its line of 33554432 bytes, not 1.5 times");
    const auto gather = Read("# size count type redop root time algbw busbw #wrong\n"
                             "1048576 131072 float none -1 181.1 5.79 2.89 0\n");
    EXPECT_EQ(FindMismatch(gather, 0.5, false), "");
    EXPECT_EQ(FindMismatch(gather, 1, true), "redop is none in its lines");
    EXPECT_NE(FindMismatch(gather, 1, false), "");
    // Two digits behind the point do not tell.
    const auto slow = Read("# size count type redop root time algbw busbw #wrong\n"
                           "1024 128 float none -1 50 0.02 0.02 0\n");
    EXPECT_EQ(FindMismatch(slow, 0.5, false), "");
}

TEST(NcclTests, ReadsOldLogsAndThoseWithoutInPlace)
{
    const auto old =
        Read("#       size         count    type   redop     time   algbw   busbw  error "
             "    time   algbw   busbw  error\n"
             "         128            32   float     sum    20.51    0.01    0.01  "
             "2e-07    20.35    0.01    0.01  2e-07\n");
    EXPECT_EQ(old.rows[0].outOfPlace->wrong, 2e-7);
    EXPECT_EQ(old.rows[0].inPlace->timeUs, 20.35);
    EXPECT_FALSE(old.rows[0].root);
    const auto blank =
        Read("#       size         count    type   redop     time   algbw   busbw  error "
             "    time   algbw   busbw  error\n"
             "     1048576         32768   float            28.40   36.92   32.31  0e+00  "
             "  28.36   36.97   32.35    N/A\n");
    EXPECT_EQ(blank.rows[0].redop, "");
    EXPECT_EQ(blank.rows[0].outOfPlace->timeUs, 28.4);
    EXPECT_EQ(blank.rows[0].inPlace->timeUs, 28.36);
    const auto one = Read("#  size count type redop root time algbw busbw #wrong time algbw busbw "
                          "#wrong\n"
                          "128 32 float none -1 20.5 0.01 0.01 0 N/A N/A N/A N/A\n");
    EXPECT_TRUE(one.rows[0].outOfPlace);
    EXPECT_FALSE(one.rows[0].inPlace);
}

TEST(NcclTests, ReadsTheTablesOfTheWorkloads)
{
    std::size_t tables = 0;
    for (const auto& entry : fs::directory_iterator(PROTEUS_SOURCE_DIR "/workloads/measurements"))
    {
        if (entry.path().extension() != ".csv" || entry.path().filename() == "tables.csv")
        {
            continue;
        }
        ++tables;
        const auto table = LoadNcclTests(entry.path().string());
        EXPECT_TRUE(table.doubts.empty()) << entry.path() << ": " << table.doubts.front();
        ASSERT_FALSE(table.rows.empty()) << entry.path();
        for (const NcclTestsRow& row : table.rows)
        {
            ASSERT_TRUE(row.outOfPlace) << entry.path();
            EXPECT_GT(row.outOfPlace->timeUs, 0) << entry.path() << ", " << row.bytes;
        }
    }
    EXPECT_GT(tables, 10u);
}

TEST(NcclTests, ReadsTheSampleTables)
{
    if (!fs::exists(SAMPLES))
    {
        GTEST_SKIP() << "the sample tables are not there: " << SAMPLES;
    }
    uint32_t nTables = 0;
    for (const auto& entry : fs::directory_iterator(SAMPLES))
    {
        const auto table = LoadNcclTests(entry.path().string());
        nTables++;
        std::ifstream text(entry.path());
        std::string header;
        std::getline(text, header);
        std::size_t i = 0;
        for (std::string line; std::getline(text, line); i++)
        {
            ASSERT_LT(i, table.rows.size());
            std::replace(line.begin(), line.end(), ',', ' ');
            std::istringstream numbers(line);
            uint64_t bytes = 0;
            double time = 0;
            double algbw = 0;
            double busbw = 0;
            numbers >> bytes >> time >> algbw >> busbw;
            EXPECT_EQ(table.rows[i].bytes, bytes);
            EXPECT_EQ(table.rows[i].outOfPlace->timeUs, time);
            EXPECT_EQ(table.rows[i].outOfPlace->algbwGBps, algbw);
            EXPECT_EQ(table.rows[i].outOfPlace->busbwGBps, busbw);
        }
        EXPECT_EQ(i, table.rows.size());
    }
    EXPECT_EQ(nTables, 19u);
    // reference/formats.md has this one: 8 A100, 32 MiB.
    const auto table = LoadNcclTests((SAMPLES / "dgxa100_2n_hdr_ar.csv").string());
    EXPECT_EQ(table.rows[0].bytes, 8u);
    EXPECT_EQ(table.rows[0].inPlace->timeUs, 38.85);
}

TEST(NcclTests, WhatIsWrittenReadsBack)
{
    const auto table = Read(LOG);
    std::ostringstream out;
    WriteNcclTestsCsv(table, out);
    EXPECT_EQ(out.str(),
              "# NVIDIA A100-SXM4-40GB\n"
              "# NVIDIA A100-SXM4-40GB\n"
              "size_bytes,count,type,redop,root,oop_time_us,oop_algbw_GBps,oop_busbw_GBps,"
              "ip_time_us,ip_algbw_GBps,ip_busbw_GBps\n"
              "8,2,float,sum,-1,34.73,0,0,35.3,0,0\n"
              "33554432,8388608,float,sum,-1,379.5,88.42,154.73,378.9,88.56,154.98\n");
    const auto again = Read(out.str());
    ASSERT_EQ(again.rows.size(), table.rows.size());
    for (std::size_t i = 0; i < again.rows.size(); i++)
    {
        EXPECT_EQ(again.rows[i].bytes, table.rows[i].bytes);
        EXPECT_EQ(again.rows[i].inPlace->timeUs, table.rows[i].inPlace->timeUs);
        EXPECT_EQ(again.rows[i].outOfPlace->busbwGBps, table.rows[i].outOfPlace->busbwGBps);
    }
    // The table that proteus-collective writes.
    const auto ours = Read("size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels\n"
                           "1024,10.5,0.1,0.2,ring,Simple,8\n");
    EXPECT_EQ(ours.rows[0].outOfPlace->timeUs, 10.5);
    EXPECT_FALSE(ours.rows[0].inPlace);
}

TEST(NcclTests, Errors)
{
    const std::string header = "# size count type redop root time algbw busbw #wrong\n";
    EXPECT_EQ(ErrorOf(header), "log:1: the table has no lines");
    EXPECT_EQ(ErrorOf(header + "node7: Test NCCL failure a.cu:27 'remote'\n"),
              "log:2: the table has no lines; it says 'Test NCCL failure a.cu:27 'remote''");
    EXPECT_EQ(ErrorOf(header + "8 2 float sum -1 34.7 0.0\n"),
              "log:2: the line has 7 fields, but the table 9 columns");
    EXPECT_EQ(ErrorOf(header + "8 2 float sum -1 fast 0.0 0.0 0\n"),
              "log:2: the time must be a number from 0 to 1e+14, not 'fast'");
    EXPECT_EQ(ErrorOf(header + "8 2 float sum -1 0 0.0 0.0 0\n"),
              "log:2: the time must be above 0");
    EXPECT_EQ(ErrorOf(header + "8 -2 float sum -1 34.7 0.0 0.0 0\n"),
              "log:2: the count must be an integer from 0 to 18446744073709551615, not '-2'");
    EXPECT_EQ(ErrorOf(header + "99999999999999999999 2 float sum -1 34.7 0.0 0.0 0\n"),
              "log:2: the size must be an integer from 0 to 18446744073709551615, not "
              "'99999999999999999999'");
    EXPECT_EQ(ErrorOf("size_bytes,time_us,speed\n8,1,2\n").substr(0, 45),
              "log:1: the unknown column 'speed'; known are ");
    EXPECT_EQ(ErrorOf("size_bytes,time_us,oop_time_us\n8,1,2\n"),
              "log:1: the column 'oop_time_us' has what a column before it has, too");
    EXPECT_EQ(ErrorOf("size_bytes;time_us\n8;1\n"),
              "log:1: values are separated by commas, not by semicolons");
    for (const char* text : {"", "\n", "hello\nworld\n", "size;time_us\n8;1\n"})
    {
        EXPECT_NE(
            ErrorOf(text).find(": there is no table of nccl-tests in this file, nor one of CSV"),
            std::string::npos);
        EXPECT_EQ(ErrorOf(text).find("log:0:"), std::string::npos);
    }
    EXPECT_EQ(ErrorOf("size_bytes,time_us\n8\n"),
              "log:2: the line has 1 fields, but the table 2 columns");
    EXPECT_EQ(ErrorOf("size_bytes,time_us\n8,inf\n"),
              "log:2: the time must be a number from 0 to 1e+14, not 'inf'");
    EXPECT_EQ(ErrorOf("size_bytes,busbw_GBps\n8,1\n"),
              "log:1: no column has times; they are in microseconds, as time_us");
    EXPECT_EQ(ErrorOf(std::string(100000, 'x')), "log:1: the line is longer than 65536 characters");
}

TEST(NcclTests, TruncationsAndCorruptionsAreHarmless)
{
    // A rank without a host, and one whose host is cut off.
    for (const char* rank : {"# Rank 0 Group 0 Pid 1 at node0 device 0 [0x07] A100\n",
                             "# Rank 0 Group 0 [0x07] A100 on\n"})
    {
        EXPECT_EQ(ErrorOf(rank + LOG), "no error") << rank;
    }
    for (std::size_t n = 0; n < LOG.size(); n++)
    {
        ErrorOf(LOG.substr(0, n));
    }
    DamageAtRandom(LOG, 20000, ErrorOf);
}

// "37.8 2" is neither 37.82 nor 37.8, and "1 024" no number either.
TEST(NcclTests, BlanksInsideANumberAreRefused)
{
    const std::string header = "size_bytes,time_us\n";
    EXPECT_EQ(ErrorOf(header + " 1024 ,\t37.82 \n"), "no error");
    EXPECT_NE(ErrorOf(header + "1024,37.8 2\n").find(":2: the time must be a number"),
              std::string::npos);
    EXPECT_NE(ErrorOf(header + "1 024,37.82\n").find(":2: the size must be an integer"),
              std::string::npos);
}
