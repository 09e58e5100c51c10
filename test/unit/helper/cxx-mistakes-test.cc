/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// All public headers at once, as programs of users have them.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/proteus-module.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Mistakes of programs in C++: each is an exception that says what is wrong.
 */

using namespace ns3;
using namespace ns3::proteus;

namespace
{

const std::string GRAPHS = PROTEUS_SOURCE_DIR "/workloads/graphs/"; //!< of the module

/// Jobs, fabrics and mistakes.
class CxxMistakes : public testing::Test
{
  protected:
    void TearDown() override
    {
        Simulator::Destroy();
    }

    static ExecutionGraph MakeGraph()
    {
        return LoadGraph(GRAPHS + "ping.json");
    }

    static Cluster MakeServer()
    {
        return MakeCluster("pcie-v100x4", 1);
    }

    static Ptr<TrainingJob> MakeJob()
    {
        return ProteusHelper().Install(MakeServer(), MakeGraph());
    }

    /// @param job to install a graph for @param fabric to run it on @param network for it
    static void Install(Ptr<TrainingJob> job, Ptr<Fabric> fabric, Ptr<PacketNetwork> network)
    {
        job->Install(std::make_shared<ExecutionGraph>(MakeGraph()),
                     fabric,
                     network,
                     RuntimeOptions());
    }

    /// @param mistake what is done wrongly @return what is said
    static std::string GetMessage(const std::function<void()>& mistake)
    {
        try
        {
            mistake();
        }
        catch (const std::exception& error)
        {
            return error.what();
        }
        return "";
    }
};

} // namespace

TEST_F(CxxMistakes, OfOrderAreSaid)
{
    const std::string nothing = "(): nothing is installed, or Dispose() was called";
    const auto empty = CreateObject<TrainingJob>();
    EXPECT_EQ(GetMessage([&] { empty->Run(); }), "TrainingJob::Run" + nothing);
    EXPECT_EQ(GetMessage([&] { empty->Stop(); }), "TrainingJob::Stop" + nothing);
    EXPECT_EQ(GetMessage([&] { empty->GetProgress(); }), "TrainingJob::GetProgress" + nothing);
    EXPECT_EQ(GetMessage([&] { empty->SetProgressReport([](const RunProgress&) {}); }),
              "TrainingJob::SetProgressReport" + nothing);
    EXPECT_EQ(GetMessage(
                  [] { CreateObject<FlowPlayer>()->SetProgressReport([](const RunProgress&) {}); }),
              "FlowPlayer::SetProgressReport" + nothing);

    FabricHelper helper;
    const auto fabric = helper.Install(MakeServer());
    const auto network = CreateObject<PacketNetwork>();
    const auto job = CreateObject<TrainingJob>();
    Install(job, fabric, network);
    const auto other = helper.Install(MakeServer());
    EXPECT_EQ(GetMessage([&] { Install(job, other, CreateObject<PacketNetwork>()); }),
              "TrainingJob::Install(): was called before");
    EXPECT_EQ(GetMessage([&] { Install(CreateObject<TrainingJob>(), other, network); }),
              "PacketNetwork::SetUp(): it serves a job already; each has its own");
    EXPECT_NE(
        GetMessage([&] {
            Install(CreateObject<TrainingJob>(), fabric, CreateObject<PacketNetwork>());
        }).find("the fabric serves a network already; jobs that share a fabric are one graph"),
        std::string::npos);
    job->Run();
    EXPECT_GT(job->GetTimeline().endPs, 0);
}

TEST_F(CxxMistakes, ADestroyedSimulationIsNotTakenForADoneOne)
{
    const auto job = MakeJob();
    Simulator::Destroy();
    EXPECT_EQ(GetMessage([&] { job->Run(); }),
              "TrainingJob::Run(): Simulator::Destroy() was called before");
}

TEST_F(CxxMistakes, AttributesThatComeTooLateAreRefused)
{
    const auto late = [](const std::function<void(Ptr<TrainingJob>)>& set) {
        const auto job = MakeJob();
        set(job);
        return GetMessage([&] { job->Run(); });
    };
    EXPECT_EQ(late([](Ptr<TrainingJob> job) {
                  job->GetFabric()->SetAttribute("Routing", StringValue("Spray"));
              }),
              "ns3::proteus::Fabric::Routing=Spray: was set after Install(), which had read Ecmp: "
              "set it before");
    EXPECT_EQ(late([](Ptr<TrainingJob> job) {
                  job->GetNetwork()->SetAttribute("Channels", UintegerValue(2));
              }),
              "ns3::proteus::PacketNetwork::Channels=2: was set after Install(), which had read 0: "
              "set it before");
    EXPECT_EQ(late([](Ptr<TrainingJob> job) {
                  job->GetNetwork()->GetTransport()->SetAttribute("RetryLimit", UintegerValue(1));
              }),
              "ns3::proteus::Transport::RetryLimit=1: was set after Install(), which had read 7: "
              "set it before");
    EXPECT_EQ(late([](Ptr<TrainingJob>) {}), "");
}

TEST_F(CxxMistakes, InAttributesOfHelpersAreSaid)
{
    ProteusHelper helper;
    EXPECT_EQ(GetMessage([&] { helper.SetFabricAttribute("NvlinkBufer", UintegerValue(1)); }),
              "ns3::proteus::Fabric::NvlinkBufer: ns3::proteus::Fabric has no attribute "
              "NvlinkBufer; did you mean NvlinkBuffer?");
    EXPECT_EQ(GetMessage([&] { helper.SetFabricAttribute("NvlinkBuffer", StringValue("lots")); }),
              "ns3::proteus::Fabric::NvlinkBuffer=lots: must be a whole number");
    EXPECT_EQ(GetMessage([&] { helper.SetTransportAttribute("RetryLimit", StringValue("x")); }),
              "ns3::proteus::Transport::RetryLimit=x: must be a whole number");
    EXPECT_NE(GetMessage([&] {
                  helper.SetNetworkAttribute("Channels", TimeValue(Seconds(1)));
              }).find("ns3::proteus::PacketNetwork::Channels: is no value of this attribute"),
              std::string::npos);
    EXPECT_NE(GetMessage([&] {
                  helper.SetNetworkAttribute("Channels", UintegerValue(1000));
              }).find("is no value of this attribute"),
              std::string::npos);
    FabricHelper fabrics;
    const auto fabric = fabrics.Install(MakeServer());
    EXPECT_NE(GetMessage([&] {
                  fabrics.EnableLinkSeries(fabric, "never-written.csv", Time(0));
              }).find("ns3::proteus::LinkMonitor::Interval: is no value of this attribute"),
              std::string::npos);
    helper.SetFabricAttribute("NvlinkBuffer", StringValue("65536"));
    helper.SetNetworkAttribute("Algorithm", StringValue("ring"));
    helper.Install(MakeServer(), MakeGraph())->Run();
}

TEST_F(CxxMistakes, WhatThereIsNotIsSaid)
{
    FabricHelper helper;
    const auto fabric = helper.Install(MakeServer());
    const auto nPorts = std::to_string(fabric->GetNPorts());
    EXPECT_EQ(GetMessage([&] { helper.InstallDevice(fabric, 4000); }),
              "port 4000: the fabric has " + nPorts);
    EXPECT_EQ(GetMessage([&] { FabricHelper::GetDevice(fabric, 4000); }),
              "port 4000: the fabric has " + nPorts);
    EXPECT_EQ(GetMessage([&] { helper.InstallDevices(nullptr); }), "the fabric is a null pointer");
    EXPECT_EQ(GetMessage([&] { helper.EnableLinkSeries(nullptr, "no.csv", Seconds(1)); }),
              "the fabric is a null pointer");
    EXPECT_EQ(GetMessage([&] { helper.EnableCongestionSeries(nullptr, "no.csv", Seconds(1)); }),
              "the transport is a null pointer");
    const std::string links = std::to_string(fabric->GetCluster().GetLinks().size());
    EXPECT_EQ(GetMessage([&] { fabric->SetLinkUp(4000, false); }),
              "link 4000: the fabric has " + links);
    EXPECT_NE(GetMessage([&] { fabric->SetLinkRate(0, 0); }).find("must be above 0"),
              std::string::npos);
    EXPECT_NE(GetMessage([&] { fabric->SetLinkLoss(0, 0, 2); }).find("must be 0 to 1"),
              std::string::npos);
    EXPECT_NE(GetMessage([&] {
                  fabric->SetCluster(std::make_shared<const Cluster>(MakeServer()));
              }).find("has a cluster already"),
              std::string::npos);

    EXPECT_EQ(GetMessage([] { CreateObject<LinkMonitor>()->Start(nullptr); }),
              "the fabric is a null pointer");
    EXPECT_EQ(GetMessage([] { CreateObject<CongestionMonitor>()->Start(nullptr); }),
              "the transport is a null pointer");
    EXPECT_EQ(GetMessage([] { CreateObject<Transport>()->SetFabric(nullptr, nullptr); }),
              "the fabric is a null pointer");
    EXPECT_NE(GetMessage([] { CreateObject<FlowPlayer>()->Stop(); }).find("nothing is installed"),
              std::string::npos);
    EXPECT_NE(GetMessage([] { CreateObject<FlowPlayer>()->GetStatistics(); }).find("nothing is "),
              std::string::npos);
    const auto none = CreateObject<PacketNetwork>();
    EXPECT_TRUE(none->GetCommunicationStatistics().empty());
    const std::vector<std::pair<std::string, std::function<void()>>> early{
        {"GetStatistics", [&none] { none->GetStatistics(); }},
        {"CheckAtRest", [&none] { none->CheckAtRest(); }},
        {"GetTotalBytes", [&none] { none->GetTotalBytes(); }},
        {"GetProgram", [&none] { none->GetProgram(0); }},
        {"GetRepetition", [&none] { none->GetRepetition(); }},
        {"MakeQueuePairs", [&none] { none->MakeQueuePairs(); }},
        {"Settle", [&none] { none->Settle(true); }},
        {"Join", [&none] { none->Join(0, 0, 0, nullptr); }}};
    for (const auto& [function, call] : early)
    {
        EXPECT_EQ(GetMessage(call),
                  "PacketNetwork::" + function + "(): before SetUp(), or after Dispose()");
    }
    EXPECT_NE(GetMessage([&] {
                  const auto transport = CreateObject<Transport>();
                  transport->SetFabric(helper.Install(MakeServer()), nullptr);
                  QueuePairOptions options;
                  options.source = 4000;
                  options.destination = 1;
                  transport->CreateQueuePair(options);
              }).find("a queue pair from vertex 4000 to 1 of a cluster with "),
              std::string::npos);

    const std::vector<std::function<void()>> ofPorts{
        [&fabric] { fabric->Offer(4000); },
        [&fabric] { fabric->SetObserver(4000, nullptr); },
        [&fabric] { fabric->SetPauseStorm(4000, true); },
        [&fabric] { fabric->ExchangeDrawn(4000, true); },
        [&fabric] { fabric->ExchangeMaxQueue(4000, 0); },
        [&fabric] { fabric->AddStatistics(4000, LinkStatistics(), 0, 0); }};
    for (std::size_t i = 0; i < ofPorts.size(); ++i)
    {
        EXPECT_EQ(GetMessage(ofPorts[i]).rfind("port 4000: the fabric has ", 0), 0U) << i;
    }
    const std::vector<std::function<void()>> ofLinks{[&fabric] { fabric->IsSelfContained(4000); },
                                                     [&fabric] { fabric->GetRestPs(4000); },
                                                     [&fabric] { fabric->HasInputQueue(4000); }};
    for (std::size_t i = 0; i < ofLinks.size(); ++i)
    {
        EXPECT_EQ(GetMessage(ofLinks[i]), "link 4000: the fabric has " + links) << i;
    }

    const auto bare = CreateObject<Fabric>(); // nobody has given it a cluster
    EXPECT_NE(GetMessage([&] { bare->SetTimer(1); }).find("the fabric has no cluster"),
              std::string::npos);
    EXPECT_EQ(GetMessage([&] { bare->CallAtPresent(0, [] {}); }), "vertex 0: the fabric has 0");
    EXPECT_TRUE(bare->GetLinkStatistics().empty());
    EXPECT_TRUE(bare->GetCluster().GetGpus().empty());
    EXPECT_NE(GetMessage([&] {
                  Install(CreateObject<TrainingJob>(), bare, CreateObject<PacketNetwork>());
              }).find("the fabric has no cluster"),
              std::string::npos);
    EXPECT_EQ(GetMessage([&] {
                  Install(CreateObject<TrainingJob>(), nullptr, CreateObject<PacketNetwork>());
              }),
              "the fabric is a null pointer");
    EXPECT_EQ(GetMessage([&] { Install(CreateObject<TrainingJob>(), fabric, nullptr); }),
              "the network is a null pointer");
    EXPECT_EQ(GetMessage([&] {
                  CreateObject<TrainingJob>()->Install(nullptr,
                                                       fabric,
                                                       CreateObject<PacketNetwork>(),
                                                       RuntimeOptions());
              }),
              "the graph is a null pointer");
    EXPECT_NE(GetMessage([] {
                  ProteusHelper().Install(MakeServer(), ExecutionGraph());
              }).find("the graph has no devices"),
              std::string::npos);
}

TEST_F(CxxMistakes, NumbersOfThingsThatAreNotThereAreSaid)
{
    EXPECT_EQ(GetMessage([] { CreateObject<TrainingJob>()->GetGraph(); }),
              "TrainingJob::GetGraph(): nothing is installed, or Dispose() was called");
    const auto job = MakeJob();
    EXPECT_EQ(GetMessage([&] { job->GetNetwork()->GetProgram(77); }),
              "task 77: the graph has " + std::to_string(job->GetGraph().GetNTasks()));
    EXPECT_NE(GetMessage([&] { job->GetNetwork()->GetProgram(0); }).find("task 0 is no commun"),
              std::string::npos);
    const auto join = [&job](DeviceId device, TaskId task, uint32_t microBatch) {
        return GetMessage([&] { job->GetNetwork()->Join(device, task, microBatch, nullptr); });
    };
    const TaskId ping = 2;
    EXPECT_EQ(join(77, ping, 0), "device 77 is not in the group of 'ping'");
    EXPECT_EQ(join(0, ping, 77), "micro-batch 77: the task has 1");
    const Cluster server = MakeServer();
    const std::string has = ": the cluster has " + std::to_string(server.GetVertices().size());
    EXPECT_EQ(GetMessage([&] { (void)server.GetDomain(4000); }), "vertex 4000" + has);
    EXPECT_EQ(GetMessage([&] { (void)server.GetNic(4000); }), "vertex 4000" + has);

    EXPECT_EQ(GetMessage([] { CreateObject<FlowPlayer>()->GetQueuePair(3); }),
              "flow 3: the player has 0");
    EXPECT_EQ(GetMessage([] { CreateObject<FlowPlayer>()->AssignStreams(nullptr, 1); }),
              "the fabric is a null pointer");
    const auto transport = CreateObject<Transport>();
    EXPECT_EQ(GetMessage([&] { transport->Send(0, 1, 0); }),
              "Transport::Send(): before SetFabric(), or after Dispose()");
    EXPECT_EQ(GetMessage([&] { transport->CreateGroup(GroupOptions()); }),
              "the fabric of the transport, see SetFabric(), is a null pointer");
    transport->SetFabric(FabricHelper().Install(server), nullptr);
    const std::vector<std::function<void()>> calls{
        [&transport] { transport->Send(5, 1, 0); },
        [&transport] { transport->SendControl(5, 0); },
        [&transport] { transport->Restart(5); },
        [&transport] { transport->GetSource(5); },
        [&transport] { transport->GetDestination(5); },
        [&transport] { transport->GetPath(5); },
        [&transport] { transport->GetCongestionControl(5); },
        [&transport] { transport->GetStatistics(5); },
        [&transport] { transport->IsSelfContained(5); },
        [&transport] { transport->GetRestPs(5); },
        [&transport] { transport->GetWays(5); },
        [&transport] { transport->Describe(5); },
        [&transport] { transport->GetWork(5); },
        [&transport] { transport->ExchangeMinRtt(5, 0); },
        [&transport] { transport->AddWork(5, QueuePairWork()); }};
    for (std::size_t i = 0; i < calls.size(); ++i)
    {
        EXPECT_EQ(GetMessage(calls[i]), "queue pair 5: the transport has 0") << i;
    }
    EXPECT_EQ(GetMessage([&] { transport->RestartGroup(2); }), "group 2: the transport has 0");
    EXPECT_EQ(GetMessage([&] { transport->MakeLanes(2, true, {}); }),
              "group 2: the transport has 0");
    EXPECT_EQ(GetMessage([&] { transport->SendGroup(2, GroupOperation::REDUCE, 0, 1, 0); }),
              "group 2: the transport has 0");
    QueuePairOptions options;
    options.source = server.GetGpus().at(0);
    options.destination = server.GetGpus().at(1);
    const uint32_t pair = transport->CreateQueuePair(options);
    EXPECT_EQ(GetMessage([&] { transport->Send(pair, 0, 0); }),
              "Transport: a message needs at least one byte");
    EXPECT_NE(GetMessage([&] { transport->Send(pair, UINT64_MAX / 2, 0); }).find("too many pack"),
              std::string::npos);
}

TEST_F(CxxMistakes, VersionsOfNcclThatAreCodesAreRefused)
{
    const auto set = [](uint64_t version) {
        return GetMessage([version] {
            ProteusHelper().SetNetworkAttribute("NcclVersion", UintegerValue(version));
        });
    };
    EXPECT_EQ(set(999), "");
    EXPECT_NE(set(22703).find("ns3::proteus::PacketNetwork::NcclVersion: is no value"),
              std::string::npos);
    EXPECT_EQ(ParseNcclVersion("22703"), 227);
    EXPECT_EQ(ParseNcclVersion("9.99"), 999);
    EXPECT_NE(GetMessage([] { ParseNcclVersion("28.3"); }).find("2.0 to 9.99"), std::string::npos);
}

TEST_F(CxxMistakes, SizesThatCannotBeAreRefusedBeforeProgramsAreMade)
{
    GraphBuilder builder(2);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("iteration");
    builder.AddCommunication(phase,
                             builder.AddGroup({0, 1}),
                             stream,
                             "sum",
                             Collective::ALL_REDUCE,
                             uint64_t{1} << 63,
                             Parallelism::DATA);
    const ExecutionGraph graph = builder.Build();
    EXPECT_NE(GetMessage([&] {
                  ProteusHelper().Install(MakeServer(), graph);
              }).find("task 0 (sum) communicates 9223372036854775808 bytes; the most is "),
              std::string::npos);
}

TEST_F(CxxMistakes, StreamsOfFlowsComeBeforeTheirPaths)
{
    const auto fabric = FabricHelper().Install(MakeServer());
    const auto player = CreateObject<FlowPlayer>();
    player->AssignStreams(fabric, 1);
    player->Install(fabric, {});
    EXPECT_NE(GetMessage([&] { player->AssignStreams(fabric, 1); }).find("after Install()"),
              std::string::npos);
}

TEST_F(CxxMistakes, FilesWithoutDevicesAndFilesOfTwoAreRefused)
{
    FabricHelper helper;
    const auto fabric = helper.Install(MakeServer());
    const std::string none = "there are no devices; InstallDevices() makes them";
    EXPECT_EQ(GetMessage([&] { helper.EnableAsciiFile("never-written.tr"); }),
              "EnableAsciiFile(never-written.tr): " + none);
    EXPECT_EQ(GetMessage([&] { helper.EnablePcapAll("never"); }), "EnablePcapAll(never): " + none);
    EXPECT_EQ(GetMessage([&] { helper.EnableAsciiAll("never"); }),
              "EnableAsciiAll(never): " + none);
    helper.InstallDevice(fabric, 0);
    const std::string file = ::testing::TempDir() + "proteus-one-file.tr";
    helper.EnableAsciiFile(file);
    EXPECT_EQ(GetMessage([&] { helper.EnableLinkSeries(fabric, file, MicroSeconds(1)); }),
              file + ": something else is written to this file");
    helper.FinishFiles();
    std::remove(file.c_str());
}

TEST_F(CxxMistakes, TimesOfApplicationsThatEndNoJobAreRefused)
{
    const auto early = MakeJob();
    ApplicationContainer(early->GetApplications()).Start(Seconds(-1));
    EXPECT_EQ(GetMessage([&] { early->Run(); }),
              "ns3::Application::StartTime: must not be negative");
    Simulator::Destroy();
    const auto cut = MakeJob();
    ApplicationContainer(cut->GetApplications()).Stop(MicroSeconds(1));
    EXPECT_EQ(
        GetMessage([&] { cut->Run(); }),
        "ns3::Application::StopTime, 1.000 us, is before the last task of a GPU: a job runs to "
        "its end, unless TrainingJob::Stop() ends it");
    Simulator::Destroy();
    const auto whole = MakeJob();
    ApplicationContainer(whole->GetApplications()).Stop(Seconds(1));
    whole->Run();
    EXPECT_EQ(whole->GetProgress().tasks, whole->GetProgress().totalTasks);
}

TEST_F(CxxMistakes, AClockOfThisMachineIsRefused)
{
    const std::string type = "SimulatorImplementationType";
    StringValue before;
    GlobalValue::GetValueByName(type, before);
    GlobalValue::Bind(type, StringValue("ns3::RealtimeSimulatorImpl"));
    const std::string message = GetMessage([] { FabricHelper().Install(MakeServer()); });
    EXPECT_EQ(message.rfind("ns3::RealtimeSimulatorImpl waits for the clock of this machine", 0),
              0U);
    Simulator::Destroy();
    GlobalValue::Bind(type, before);
}

TEST_F(CxxMistakes, AMonitorMayOutliveASimulationThatNobodyDestroys)
{
    EXPECT_EXIT(
        {
            CreateObject<LinkMonitor>()->Start(FabricHelper().Install(MakeServer()));
            std::exit(0); // without Simulator::Destroy()
        },
        ::testing::ExitedWithCode(0),
        "");
}

TEST_F(CxxMistakes, JobsSettingsAndProgramsOfCallersAreChecked)
{
    const ExecutionGraph graph = MakeGraph();
    EXPECT_EQ(GetMessage([] {
                  ComposeJobs({{nullptr, "a", 0}});
              }),
              "job 'a': its graph is a null pointer");
    EXPECT_EQ(GetMessage([&] {
                  ComposeJobs({{&graph, "a", -5}});
              }),
              "job 'a': begins at -5 ps, before time 0");
    const auto run = [&](const std::function<void(ExecutorSettings&)>& change) {
        return GetMessage([&] {
            ExecutorSettings settings;
            change(settings);
            FindExecutor("flow").Run(graph, MakeServer(), settings);
        });
    };
    EXPECT_EQ(run([](ExecutorSettings&) {}), "");
    EXPECT_EQ(run([](ExecutorSettings& settings) { settings.overlapFactor = std::nan(""); }),
              "ExecutorSettings::overlapFactor: is no number");
    EXPECT_EQ(run([](ExecutorSettings& settings) { settings.flow.computeSlowdown = -3; }),
              "FlowParameters::computeSlowdown: must be a number from 0 on, not -3.000000");
    EXPECT_EQ(
        run([](ExecutorSettings& settings) { settings.flow.communicationSlowdown = std::nan(""); }),
        "FlowParameters::communicationSlowdown: must be a number from 0 on, not nan");

    ProteusHelper helper;
    helper.SetProgramMaker([](const CollectiveRequest&) { return CollectiveProgram(); });
    EXPECT_EQ(GetMessage([&] { helper.Install(MakeServer(), graph)->Run(); }),
              "SetProgramMaker(): send-recv of 2 ranks: the program is for another number of "
              "ranks, 0");
}
