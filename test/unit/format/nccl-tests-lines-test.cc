/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-nccl-tests.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

NcclTestsTable
Read(const std::string& text)
{
    std::istringstream in(text);
    return ReadNcclTests(in, "log");
}

const std::string LOG =
    R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid  81001 on      node0 device  0 [0x07] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid  81002 on      node0 device  1 [0x0f] NVIDIA A100-SXM4-40GB
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    34.73    0.00    0.00      0    35.30    0.00    0.00      0
    33554432       8388608     float     sum      -1    379.5   88.42   88.42      0    378.9   88.56   88.56    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 44.2
)";

} // namespace

// nccl-tests prints a row in parts; what NCCL says meanwhile stands between them.
TEST(NcclTests, RowsWithMessagesOfNcclInTheMiddle)
{
    const std::string row =
        "           8             2     float     sum      -1    34.73    0.00    0.00      0    "
        "35.30    0.00    0.00      0\n";
    const auto broken = [&row](const std::string& text) {
        std::string log = LOG;
        log.replace(log.find(row), row.size(), text);
        return Read(log);
    };
    const std::string says =
        ":81001:81023 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [send] via NET\n";
    const std::string begin = "           8             2     float     sum      -1";
    const std::string times = "    34.73    0.00    0.00      0";
    const std::string inPlace = "    35.30    0.00    0.00      0\n";
    const NcclTestsTable whole = Read(LOG);
    for (const std::string host : {"node0", "38dcf168f605"})
    {
        const std::string message = host + says;
        for (const std::string& text : {message + row,
                                        begin + message + message + times + inPlace,
                                        begin + " " + message + times + inPlace,
                                        begin + message + "\n" + times + message + inPlace,
                                        begin + times + message + message + inPlace})
        {
            const NcclTestsTable table = broken(text);
            ASSERT_EQ(table.rows.size(), whole.rows.size()) << text;
            EXPECT_EQ(table.rows[0].bytes, 8U) << text;
            EXPECT_EQ(table.rows[0].outOfPlace->timeUs, 34.73) << text;
            EXPECT_EQ(table.rows[0].inPlace->timeUs, 35.3) << text;
            EXPECT_EQ(table.doubts, whole.doubts) << text;
        }
    }
    const NcclTestsTable cut = broken(begin + "node0" + says); // it ended there
    EXPECT_EQ(cut.rows.size(), whole.rows.size() - 1);
    // mpirun says whose line it is, and NCCL what it takes from the environment.
    std::string marked;
    std::istringstream in(LOG);
    for (std::string line; std::getline(in, line);)
    {
        marked += "[1,0]<stdout>:" + line + "\n";
        if (line.find("(elements)") != std::string::npos)
        {
            marked += "[1,0]<stdout>:" + begin +
                      "node0:1:2 [0] NCCL INFO NCCL_ALGO set by "
                      "environment to Ring.\n[1,1]<stdout>:node0:1:3 [1] NCCL INFO x\n"
                      "[1,0]<stdout>:" +
                      times + inPlace;
        }
    }
    const NcclTestsTable table = Read(marked);
    EXPECT_EQ(table.rows.size(), whole.rows.size() + 1);
    EXPECT_EQ(table.rows[0].outOfPlace->timeUs, 34.73);
    EXPECT_EQ(table.settings.count("NCCL_ALGO=Ring"), 1U);
}
