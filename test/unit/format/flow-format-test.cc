/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-flow-csv.h"
#include "ns3/proteus-hpcc-flows.h"
#include "ns3/proteus-hpcc-topology.h"

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

const std::string FLOWS = PROTEUS_SOURCE_DIR "/workloads/flows/";
const std::string HEADER = "id,src,dst,bytes,start_ns,deps\n";

/// @return the flows in a text, on eight ranks
std::vector<FlowSpec>
Read(const std::string& text)
{
    std::istringstream input(text);
    return ReadFlowCsv(input, "f.csv", 8);
}

/// @return the message that reading a text ends with, "" if it is accepted
std::string
ErrorOf(const std::string& text)
{
    return ns3::proteus::ErrorOf([&] { Read(text); });
}

} // namespace

TEST(FlowCsv, ReadsEveryWayToWriteIt)
{
    const auto flows = Read("\xef\xbb\xbf" + HEADER +
                            "# a comment\r\n"
                            "a,0,1,1000,0,\r\n"
                            "\n"
                            " b , 1 , 2 , 18446744 , 12.345 , a \n"
                            "c,2,3,1,0.5000,\"d;a\"\n"
                            "d,7,0,1125899906842624,1000000000000000\n");
    ASSERT_EQ(flows.size(), 4u);
    EXPECT_EQ(flows[0].id, "a");
    EXPECT_EQ(flows[0].bytes, 1000u);
    EXPECT_TRUE(flows[0].after.empty());
    EXPECT_EQ(flows[1].source, 1u);
    EXPECT_EQ(flows[1].destination, 2u);
    EXPECT_EQ(flows[1].startPs, 12345);
    EXPECT_EQ(flows[1].after, std::vector<uint32_t>{0});
    EXPECT_EQ(flows[2].startPs, 500);
    EXPECT_EQ(flows[2].after, (std::vector<uint32_t>{0, 3}));
    EXPECT_EQ(flows[3].bytes, uint64_t{1} << 50);
    EXPECT_EQ(flows[3].startPs, 1000000000000000000);
    EXPECT_EQ(Read("0,0,1,5,0,\n").size(), 1u); // the header may be left out
}

TEST(FlowCsv, SaysWhatIsWrongAndWhere)
{
    const auto expect = [](const std::string& text, const std::string& message) {
        EXPECT_NE(ErrorOf(text).find(message), std::string::npos)
            << text << " gives: " << ErrorOf(text);
        EXPECT_EQ(ErrorOf(text).find('\n'), std::string::npos) << ErrorOf(text);
    };
    expect("", "f.csv:1: there is no flow");
    expect(HEADER, "f.csv:1: there is no flow");
    expect("id,source,dst,bytes,start_ns,deps\n", "f.csv:1: the header must be");
    expect("id,src,dst\n", "f.csv:1: the header must be");
    expect("<algo name=\"ring\" ngpus=\"8\">\n", "f.csv:1: this is a schedule of MSCCL, which");
    expect("# mix\nENABLE_QCN 1\nTOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\n",
           "f.csv:2: this is a configuration of the simulator of HPCC");
    expect("some text\n", "f.csv:1: 1 value instead of the six");
    expect("id;src;dst;bytes;start_ns;deps\n0;1;0;1000;0;\n",
           "f.csv:1: values are separated by commas, not by semicolons");
    expect("0\t1\t0\t1000\t0\n", "f.csv:1: values are separated by commas, not by tabs");
    expect(HEADER + "a,0,1,5\n", "f.csv:2: 4 values");
    expect(HEADER + "a,0,1,5,0,,\n", "f.csv:2: 7 values");
    expect(HEADER + "a,0,1,5,0,\nb,0,1,5,12", "f.csv:3: 5 values"); // has been cut
    expect(HEADER + ",0,1,5,0,\n", "f.csv:2: id");
    expect(HEADER + "a b,0,1,5,0,\n", "f.csv:2: id");
    expect(HEADER + "a,0,1,5,0,\na,0,1,5,0,\n", "f.csv:3: id: 'a' is used already in line 2");
    expect(HEADER + "a,0,8,5,0,\n", "f.csv:2: dst: '8' is not a whole number from 0 to 7");
    expect(HEADER + "a,-1,1,5,0,\n", "f.csv:2: src");
    expect(HEADER + "a,1,1,5,0,\n", "f.csv:2: a flow from rank 1 to itself");
    expect(HEADER + "a,0,1,0,0,\n", "f.csv:2: bytes: '0'");
    expect(HEADER + "a,0,1,1.5,0,\n", "f.csv:2: bytes: '1.5'");
    expect(HEADER + "a,0,1,99999999999999999999999,0,\n", "f.csv:2: bytes");
    expect(HEADER + "a,0,1,18446744073709551617,0,\n", "f.csv:2: bytes");
    expect(HEADER + "a,0,1,5,-1,\n", "f.csv:2: start_ns");
    expect(HEADER + "a,0,1,5,.5,\n", "f.csv:2: start_ns");
    expect(HEADER + "a,0,1,5,1e3,\n", "f.csv:2: start_ns");
    expect(HEADER + "a,0,1,5,0.0001,\n", "f.csv:2: start_ns: '0.0001' is finer");
    expect(HEADER + "a,0,1,5,1000000000000001,\n", "f.csv:2: start_ns");
    expect(HEADER + "a,0,1,5,0,b\n", "f.csv:2: deps: there is no flow 'b'");
    expect(HEADER + "a,0,1,5,0,;\n", "f.csv:2: deps: there is no flow ''");
    expect(HEADER + "b,0,1,5,0,\na,0,1,5,0,b;b\n", "f.csv:3: deps: 'b' stands there twice");
    expect(HEADER + "a,0,1,5,0,a\n", "f.csv:2: deps: 'a' waits for 'a'");
    expect(HEADER + "z,0,1,5,0,\na,0,1,5,0,c\nb,0,1,5,0,a\nc,0,1,5,0,z;b\nd,0,1,5,0,a\n",
           "f.csv:3: deps: 'a' waits for 'c' waits for 'b' waits for 'a'");
    expect(HEADER + "a,0,1,5,0,\"x\"y\n", "f.csv:2: a value with a double quote");
    expect(HEADER + "a,0,1,\x01,0,\n", "f.csv:2: bytes: '?'");
}

TEST(FlowCsv, WritesExactTimes)
{
    auto flows = Read(HEADER + "a,0,1,1000,0,\nb,1,2,7,0.5,a\n");
    std::ostringstream out;
    WriteFlowCsv(flows, {{0, 1048960, 2000001}, {9007199254740993123, -1, -1}}, out);
    EXPECT_EQ(out.str(),
              "id,src,dst,bytes,start_ns,rx_done_ns,ack_done_ns\n"
              "a,0,1,1000,0.000,1048.960,2000.001\n"
              "b,1,2,7,9007199254740993.123,,\n");
}

TEST(FlowCsv, SamplesFitTheirTopologies)
{
    for (const auto& [flows, cluster] :
         std::vector<std::pair<std::string, std::string>>{{"incast-8", "switch-9"},
                                                          {"ring-all-reduce-8", "switch-8"},
                                                          {"mixed-16", "leaf-spine-16"}})
    {
        const Cluster made = LoadCluster(FLOWS + cluster + ".txt");
        EXPECT_FALSE(LoadFlows(FLOWS + flows + ".csv", made).empty()) << flows;
    }
    const Cluster cluster = LoadCluster(FLOWS + "switch-8.txt");
    EXPECT_THROW(LoadFlows(FLOWS + "none.csv", cluster), std::invalid_argument);
    // A file without any line end does not fill the memory.
    EXPECT_THROW(LoadFlows("/dev/zero", cluster), std::invalid_argument);
    std::istringstream input("0,0,1,5,0,\n");
    EXPECT_THROW(ReadFlowCsv(input, "f.csv", 1), std::invalid_argument);
}

namespace
{

/// Three hosts, whose ids are 0, 1 and 3, at a switch of id 2.
Cluster
MakeHpccCluster()
{
    std::istringstream text("4 1 3\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n3 2 1Gbps 1us 0\n"
                            "text that nobody counted\n");
    return ReadHpccTopology(text, "t.txt");
}

/// @return the flows in a text of the HPCC simulator
std::vector<FlowSpec>
ReadHpcc(const std::string& text, const Cluster& cluster)
{
    std::istringstream input(text);
    TextReader reader(input, "f.txt");
    std::string first;
    EXPECT_TRUE(reader.ReadLine(first));
    EXPECT_TRUE(IsHpccFlowCount(first)) << first;
    return ReadHpccFlows(reader, first, cluster);
}

} // namespace

TEST(HpccFlows, WithAndWithoutIds)
{
    const Cluster cluster = MakeHpccCluster();
    const auto plain =
        ReadHpcc("2\n0 3 3 100 1000 2.0\n\n3 1 3 100 7 0.000001 # late\nrest\n", cluster);
    ASSERT_EQ(plain.size(), 2U);
    EXPECT_EQ(plain[0].id, "0");
    EXPECT_EQ(plain[0].source, 0U);
    EXPECT_EQ(plain[0].destination, 2U); // node 3 is the third host
    EXPECT_EQ(plain[0].bytes, 1000U);
    EXPECT_EQ(plain[0].startPs, 2000000000000);
    EXPECT_EQ(plain[1].source, 2U);
    EXPECT_EQ(plain[1].startPs, 1000000);
    const auto named = ReadHpcc("1\n77 1 0 3 100 5 0\n", cluster);
    ASSERT_EQ(named.size(), 1U);
    EXPECT_EQ(named[0].id, "77");
    EXPECT_EQ(named[0].source, 1U);
    EXPECT_EQ(named[0].destination, 0U);
    // On other clusters the numbers are ranks.
    const Cluster server = MakeCluster("dgx-a100", 1);
    EXPECT_EQ(ReadHpcc("1\n7 0 3 100 5 0\n", server).at(0).source, 7U);
    EXPECT_FALSE(IsHpccFlowCount("0,0,1,5,0,"));
    EXPECT_FALSE(IsHpccFlowCount("id,src,dst,bytes,start_ns,deps"));
    EXPECT_FALSE(IsHpccFlowCount(""));
}

TEST(HpccFlows, NamesWhatIsNotRead)
{
    const auto warning = [](const std::string& text, std::size_t flows) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(ReadHpcc(text, MakeHpccCluster()).size(), flows);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(warning("1\n0 3 3 100 1000 2.0\nFirst line: number of flows\n", 1), "");
    EXPECT_NE(warning("1\n0 3 3 100 1000 2.0\n3 1 3 100 7 0\n1 0 3 100 7 0\n", 1)
                  .find(":3: the first line of the file says 1 flow; 2 more lines are not read"),
              std::string::npos);
    EXPECT_NE(warning("2\n0 3 3 100 1000 2.0\n3 1 4 100 7 0\n", 2).find("2 priority groups"),
              std::string::npos);
}

TEST(HpccFlows, SaysWhatIsWrongAndWhere)
{
    const Cluster cluster = MakeHpccCluster();
    const auto errorOf = [&](const std::string& text) -> std::string {
        try
        {
            ReadHpcc(text, cluster);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(errorOf("0\n"), "f.txt:1: there is no flow in the file");
    EXPECT_EQ(errorOf("2\n0 1 3 100 5 0\n"), "f.txt:1: there are 1 flows, not 2");
    EXPECT_EQ(errorOf("1\n0 2 3 100 5 0\n"), "f.txt:2: node 2 is no host of t.txt");
    EXPECT_EQ(errorOf("1\n0 9 3 100 5 0\n"), "f.txt:2: node 9 is no host of t.txt");
    EXPECT_EQ(errorOf("1\n1 1 3 100 5 0\n"), "f.txt:2: a flow from node 1 to itself");
    EXPECT_EQ(errorOf("1\n0 1 3 100 0 0\n"), "f.txt:2: a flow of no bytes");
    EXPECT_EQ(errorOf("1\n0 1 3 100\n").find("f.txt:2: 4 words instead of"), 0U);
    EXPECT_EQ(errorOf("2\n5 0 1 3 100 5 0\n5 1 0 3 100 5 0\n"),
              "f.txt:3: the id '5' is used already");
    EXPECT_EQ(errorOf("1\n0 1 3 100 5 soon\n").find("f.txt:2: the start must begin"), 0U);
}
