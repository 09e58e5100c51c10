/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What the manual says to include.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/proteus-module.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The programs in C++ of the manual, compiled and run, line by line as they stand there.
 */

using namespace ns3;
using namespace ns3::proteus;

namespace
{

const std::string MODULE = PROTEUS_SOURCE_DIR "/"; //!< its folder

/// @param path of a file @return its lines, without the spaces around them and empty ones
std::vector<std::string>
ReadLines(const std::string& path)
{
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
    {
        const auto first = line.find_first_not_of(' ');
        if (first != std::string::npos)
        {
            lines.push_back(line.substr(first, line.find_last_not_of(' ') + 1 - first));
        }
    }
    return lines;
}

/// @param page of the manual @param last line before a program @return the lines of the program
std::vector<std::string>
ReadProgram(const std::string& page, const std::string& last)
{
    std::ifstream in(MODULE + "doc/" + page);
    std::vector<std::string> program;
    bool isInside = false;
    for (std::string line; std::getline(in, line);)
    {
        const auto first = line.find_first_not_of(' ');
        if (isInside && first == 0)
        {
            return program;
        }
        if (isInside && first != std::string::npos)
        {
            program.push_back(line.substr(first));
        }
        isInside = isInside || (line.size() >= last.size() &&
                                line.compare(line.size() - last.size(), last.size(), last) == 0);
    }
    return program;
}

/// @param program some lines @param path of a file @return whether they stand there, in a row
bool
Stands(const std::vector<std::string>& program, const std::string& path)
{
    const auto lines = ReadLines(path);
    return !program.empty() &&
           std::search(lines.begin(), lines.end(), program.begin(), program.end()) != lines.end();
}

uint32_t g_received = 0; //!< units

/// @param port @param record @param timePs see Fabric
void
OnReceive(PortId port, const PacketRecord& record, int64_t timePs)
{
    ++g_received;
}

} // namespace

TEST(ManualPrograms, StandHere)
{
    const std::string here = MODULE + "test/unit/helper/manual-programs-test.cc";
    for (const auto& [page, last] : std::vector<std::pair<std::string, std::string>>{
             {"cxx.rst", "``ns3/proteus-module.h``)::"},
             {"observing.rst", "ask for a device::"}})
    {
        EXPECT_TRUE(Stands(ReadProgram(page, last), here)) << page << ": " << last;
    }
    // The complete one is an example, which says besides what it is.
    std::vector<std::string> complete = ReadProgram("cxx.rst", "the slowest links::");
    ASSERT_GT(complete.size(), 20u);
    const auto command = std::find(complete.begin(),
                                   complete.end(),
                                   "CommandLine command(__FILE__); // attributes, as "
                                   "--ns3::proteus::Fabric::Routing=Spray");
    ASSERT_NE(command, complete.end());
    const std::string example = MODULE + "examples/proteus-two-executors.cc";
    EXPECT_TRUE(Stands({complete.begin(), command}, example));
    EXPECT_TRUE(Stands({command + 1, complete.end()}, example));
}

TEST(ManualPrograms, OfTheHelperRuns)
{
    const auto LoadGraph = [](const std::string& name) { // the user's
        EXPECT_EQ(name, "graph.pb");
        return proteus::LoadGraph(MODULE + "workloads/graphs/ping.json");
    };

    struct Time // ns-3 lets it be set once, which all tests have done
    {
        enum Unit
        {
            PS
        };

        static void SetResolution(Unit /* unit */)
        {
        }
    };

    Time::SetResolution(Time::PS);
    ProteusHelper helper;
    helper.SetFabricAttribute("InfinibandBuffer", UintegerValue(64 * 1024));
    helper.SetNetworkAttribute("LaunchOverhead", TimeValue(MicroSeconds(5)));
    helper.AssignStreams(1);
    Ptr<TrainingJob> job = helper.Install(MakeCluster("dgx-a100", 2), LoadGraph("graph.pb"));
    job->Run();
    Timeline timeline = job->GetTimeline();
    std::vector<LinkStatistics> links = job->GetFabric()->GetLinkStatistics();
    job->Dispose();
    Simulator::Destroy();
    EXPECT_GT(timeline.endPs, 5000000);
    EXPECT_EQ(links.size(), 2 * MakeCluster("dgx-a100", 2).GetLinks().size());
}

TEST(ManualPrograms, OfTraceSourcesRuns)
{
    const std::string here = MODULE + "test/unit/helper/manual-programs-test.cc";
    const auto lines = ReadLines(MODULE + "doc/cxx.rst");
    const std::string connect = "job->GetFabric()->TraceConnectWithoutContext(\"Receive\", "
                                "MakeCallback(&OnReceive));";
    EXPECT_NE(std::find(lines.begin(), lines.end(), connect), lines.end());
    EXPECT_NE(std::find(lines.begin(),
                        lines.end(),
                        "void OnReceive(PortId port, const PacketRecord& record, int64_t timePs);"),
              lines.end());
    EXPECT_TRUE(Stands({connect}, here));
    Ptr<TrainingJob> job =
        ProteusHelper().Install(MakeCluster("dgx-a100", 1),
                                proteus::LoadGraph(MODULE + "workloads/graphs/ping.json"));
    job->GetFabric()->TraceConnectWithoutContext("Receive", MakeCallback(&OnReceive));
    job->Run();
    EXPECT_GT(g_received, 0u);
    job->Dispose();
    Simulator::Destroy();
}

TEST(ManualPrograms, OfDevicesRuns)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const PortId port = 1;
    NodeContainer nodes;
    FabricHelper helper;
    Ptr<Fabric> fabric = helper.Install(cluster); // or job->GetFabric()
    NetDeviceContainer all = helper.InstallDevices(fabric);
    NetDeviceContainer some = helper.InstallDevices(fabric, nodes);
    Ptr<FabricDevice> one = helper.InstallDevice(fabric, port);
    EXPECT_EQ(all.GetN(), fabric->GetNPorts());
    EXPECT_EQ(some.GetN(), 0u);
    EXPECT_EQ(one, all.Get(port));
    Simulator::Destroy();
}
