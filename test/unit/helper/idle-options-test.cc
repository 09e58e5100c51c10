/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include "ns3/proteus-option-list.h"
#include "ns3/proteus-warning.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

const std::string HPCC = "--ns3::proteus::HpccType::Eta=0.5";

} // namespace

TEST(IdleOptions, OptionsThatDoNothingAreNamed)
{
    const std::vector<std::string> flow{MODEL, PLAN, "--executor=flow", "--quiet"};
    const std::string file = "--cluster=" + WORKLOADS + "/clusters/2-x-a100-1-x-200g.json";
    const std::string flows = "--flows=" + WORKLOADS + "/flows/incast-8.csv";
    const std::string ring = "--flows=" + WORKLOADS + "/flows/ring-all-reduce-8.csv";
    const std::string nine = "--cluster=" + WORKLOADS + "/flows/switch-9.txt";
    const std::vector<Mistake> idle{
        {"run", {"--oversubscription=2"}, "the network is the same with other values"},
        {"run", {"--fabric=leaf-spine", "--sizeX=2"}, "--sizeX=2 has no effect"},
        {"run", {"--htae=classic", "--executor=alpha-beta"}, "--htae=classic has no effect"},
        {"run", {"--gpuSharing=off", "--executor=ideal"}, "no executor of this run knows it"},
        {"evaluate",
         {"--executor=ideal", "--only=DLRM on pcie", "--gpuSharing=off"},
         "no executor of this run knows it"},
        {"run", {"--repetition=off"}, "no executor of this run sends packets"},
        {"run", {"--joinGrid=1us"}, "no executor of this run sends packets"},
        {"run", {"--joinWindow=1us"}, "no executor of this run sends packets"},
        {"run", {"--executor=ideal", "--stream=3"}, "no executor of this run chooses paths"},
        {"run", {"--executor=alpha-beta", "--RngSeed=3"}, "no executor of this run chooses paths"},
        {"run", {"--SchedulerType=ns3::HeapScheduler"}, "no executor of this run sends packets"},
        {"run",
         {"--SchedulerType=ns3::HeapScheduler", "--executor=packet"},
         "fabrics set ns3::proteus::HorizonScheduler"},
        {"run", {"--ChecksumEnabled=true"}, "packets have no checksums here"},
        {"run", {"--executor=distsim", "--joinGrid=1us"}, "each of ranks that all join at once"},
        {"run", {NETWORK + "Threads=1"}, "no ns3::proteus::PacketNetwork of this run takes it"},
        {"run", {NETWORK + "Repetition=off"}, "no ns3::proteus::PacketNetwork of this run takes"},
        {"schedule", {NETWORK + "JoinGrid=1us"}, "PacketNetwork::JoinGrid=1us is not"},
        // What the job does not come to.
        {"schedule", {"--fabric=leaf-spine"}, "--fabric=leaf-spine has no effect: nothing leaves"},
        {"schedule",
         {"--cluster=pcie-v100x4", "--nodes=1", "--stream=3"},
         "flow: --stream=3 has no effect: no two paths are equal"},
        {"schedule",
         {"--executor=ideal", "--fabric=leaf-spine", "--oversubscription=2", "--serversPerLeaf=1"},
         "ideal: --oversubscription=2 has no effect: nothing leaves a server"},
        {"search", {"--mostContext=2"}, "no GPUs share a sequence; add --vary=context"},
        {"run", {"--crossIteration=tensor"}, "there is one iteration"},
        {"run",
         {"--communicationSchedule=p3,creditBytes=9"},
         "--communicationSchedule: creditBytes=9 has no effect: the policy takes no notice of it"},
        {"run", {"--seriesInterval=1us"}, "there is no --linkSeries"},
        {"run", {"--traceCompute=roofline"}, "there is no --trace"},
        {"run", {"--traceCommunication=recorded"}, "there is no --trace"},
        {"gpt3", {"--spines=2"}, "--spines=2 has no effect"},
        {"cluster",
         {"--bundles=cables"},
         "--bundles=cables has no effect: no link between two switches is of several cables"},
        {"collective", {file, "--fabric=leaf-spine"}, "the cluster has a network of its own"},
        {"run", {"--strategy=tp=4,dp=1,zero=1"}, "--strategy: zero=1 has no effect: the job is"},
        {"gpt3", {"--dp=1", "--overlapGradientReduction"}, "the job is the same without it"},
        {"collective", {"--collective=barrier", "--min=16"}, "a barrier has no size"},
        {"compile", {MODEL, PLAN, "--untimed", "--launchInterval=9us"}, "kernels get no times"},
        {"collective", {"--grouping=block"}, "there is one group"},
        // What a version of NCCL has not.
        {"collective",
         {"--collective=all-gather", "--nodes=2", "--algorithm=pat", "--ncclVersion=2.19"},
         "NCCL 2.19 has no algorithm pat, but the collective is carried out"},
        {"collective",
         {"--cluster=dgx-h100", "--algorithm=nvls", "--ncclVersion=2.10"},
         "NCCL 2.10 has no algorithm nvls"},
        {"collective",
         {"--cluster=dgx-h100", "--algorithm=nvls", "--protocol=LL"},
         "NCCL has nvls with protocol Simple only, but the collective is carried out with LL"},
        {"collective", {"--protocol=LL128", "--ncclVersion=2.4"}, "NCCL 2.4 has no protocol LL128"},
        {"collective", {"--joinWindow=1us"}, "only in launch mode stream"},
        {"collective", {"--cpuVendor=intel"}, "NCCL chooses the same on this cluster"},
        {"collective",
         {"--nodes=2", "--concurrent=2", "--grouping=block", "--fabric=leaf-spine"},
         "warning: --fabric=leaf-spine has no effect: nothing leaves a server"},
        {"collective",
         {"--cluster=pcie-v100x4", "--nodes=1", "--stream=2"},
         "--stream=2 has no effect: no two paths are equal"},
        {"collective", {"--networkChannels=2"}, "the GPUs need no network between servers"},
        {"collective", {"--nodes=2", "--networkChannels=2"}, "all-reduce sends no messages"},
        {"collective", {"--netPlugin=efa"}, "the GPUs need no network between servers"},
        {"collective", {"--pluginLatency=3us"}, "the GPUs need no network between servers"},
        {"collective",
         {"--nccl=NCCL_DEBUG=INFO"},
         "--nccl: NCCL_DEBUG=INFO has no effect: it says what NCCL prints"},
        {"collective",
         {"--nccl=NCCL_PAT_ENABLE=0", "--ncclVersion=2.18"},
         "NCCL_PAT_ENABLE=0 has no effect: NCCL 2.18 does not read it"},
        {"run",
         {"--strategy=dp=8", "--nodes=1", "--nccl=NCCL_NTHREADS=256"},
         "--nccl: NCCL_NTHREADS=256: channels follow it"},
        {"collective", {"--ncclVersion=9.9"}, "the newest version that is known is taken, 2.30"},
        {"collective", {"--max=2M"}, "--max=1M has no effect: it is given again"},
        {"run",
         {"--strategy=tp=4,dp=2", "--nodes=1", "--netPlugin=efa"},
         "the GPUs need no network between servers"},
        {"run", {"--ignoreMemory"}, "--ignoreMemory has no effect: the job fits into memory"},
        {"schedule", {"--ignoreMemory"}, "--ignoreMemory has no effect: the job fits into memory"},
        {"fabrics", {"--ignoreMemory"}, "--ignoreMemory has no effect: the job fits into memory"},
        {"run", {"--nodes=2", "--nodes=4"}, "the last one counts, --nodes=4"},
        {"run",
         {"--nodes=4", "--nodes=2", "--nodes=4"},
         "--nodes=2 has no effect: it is given again, and the last one counts, --nodes=4"},
        {"run",
         {"--columns", "--columns=false"},
         "--columns has no effect: it is given again, and the last one counts, --columns=false"},
        {"fabrics",
         {"--fabrics=fat-tree,leaf-spine", "--nodes=4", "--serversPerLeaf=3"},
         "--serversPerLeaf=3 is taken as 2 in leaf-spine: leaves have at most half of the servers"},
        {"fabrics",
         {"--fabrics=leaf-spine", "--spines=100"},
         "--spines=100 is taken as 8 in leaf-spine: "},
        {"fabrics", {"--stream=2", "--streams=1,2"}, "--stream=2 has no effect: --streams says"},
        {"fabrics",
         {"--streams=1,2", "--executor=ideal"},
         "--streams=1,2 has no effect: no executor of this run chooses among equal paths"},
        {"fabrics",
         {"--fabrics=dgx-a100:nodes=2"},
         "--nodes=2 has no effect: what --fabrics names says it itself"},
        {"fabrics",
         {"--fabrics=fat-tree,dgx-h100"},
         "dgx-h100 has GPUs of H100-SXM5-80GB, fat-tree of A100-SXM4-80GB: their times differ"},
        {"validate",
         {"--only=v100-2", "--min=1M", "--max=1M", "--joinWindow=1us"},
         "--joinWindow=1us has no effect: kernels wait for each other only in launch mode stream"},
        {"flows", {nine, flows, "--serversPerLeaf=2"}, "--serversPerLeaf=2 has no effect"},
        {"flows", {nine, flows, "--trigger=ack"}, "no flow depends on another"},
        {"flows", {"--cluster=dgx-a100", ring, "--payload=99"}, "--payload=99 has no effect: no"},
        {"flows", {"--cluster=dgx-a100", ring, "--overhead=9"}, "no flow has crossed InfiniBand"},
        {"flows", {"--cluster=dgx-a100", ring, "--ackBytes=9"}, "no flow has crossed InfiniBand"},
        {"flows",
         {"--cluster=dgx-a100", ring, "--congestionControl=hpcc"},
         "no flow has crossed InfiniBand"},
        {"schedule", {"--policies=arrival", "--partition=9"}, "no policy of --policies orders"},
        {"schedule", {"--policies=arrival,p3", "--credit=9"}, "no policy of --policies heeds it"},
        {"schedule",
         {"--policies=arrival", "--tune", "--evaluations=2", "--partition=9"},
         "--partition=9 has no effect: --tune searches it"},
        {"schedule", {"--policies=arrival", "--serial"}, "no policy of --policies orders"},
        {"search", {"--sensitivity"}, "--sensitivity: one server has no network"},
        {"schedule", {"--policies=arrival,p3", "--serial"}, "orders has several parts under way"},
        {"schedule",
         {"--gradients=parameter-server", "--staleness=1"},
         "--staleness=1 has no effect: no gradient is shared by GPUs of several hosts"},
        {"schedule",
         {"--gradients=parameter-server", "--hostAggregation=gpu", "--servers=1"},
         "--servers=1 has no effect: no gradient is shared by GPUs of several hosts"},
        {"schedule", {"--policies=priority", "--wireClasses=2"}, "add --priorityOn=wire or both"},
        {"schedule", {"--policies=arrival", "--method=grid"}, "nothing is searched; add --tune"},
        {"schedule",
         {"--policies=arrival", "--tune", "--evaluations=2", "--method=grid", "--searchSeed=3"},
         "--searchSeed=3 has no effect: a grid has no points at random"},
        {"collective", {"--factor=4"}, "there is one size"},
        {"search",
         {"--prices=" + WORKLOADS + "/prices.json"},
         "rents count with --objective=cost only"},
        {"search", {"--plotOf=front"}, "there is no --plot"},
        {"search", {"--layoutPlans=2"}, "add --vary=layouts"},
        {"search", {"--mostMicroBatch=2"}, "add --vary=microBatch"},
        {"search", {"--joinGrid=1us"}, "nothing is run by packets"},
        {"search", {"--memory=500"}, "is more than the 80 GB of A100-SXM4-80GB"},
        {"search", {"--memory=60"}, "--memory=60 has no effect: no plan that fits into the whole"},
        {"search", {"--mostTensor=16"}, "--mostTensor=16 has no effect: the plans are the same"},
        {"search", {"--flows=500"}, "--flows=500 is taken as "},
        // What nothing is drawn for, or simulated.
        {"compile", {MODEL, PLAN, "--RngRun=3"}, "--RngRun=3 has no effect: nothing is simulated"},
        {"cluster", {"--RngSeed=3"}, "--RngSeed=3 has no effect: nothing is simulated"},
        {"validate",
         {"--only=v100-pcie-4", "--min=1M", "--max=1M", "--RngRun=3"},
         "--RngRun=3 has no effect: no two paths are equal"},
        {"validate",
         {"--only=v100-pcie-4", "--min=1M", "--max=1M", FABRIC + "Routing=Spray"},
         "Routing=Spray has no effect: no two paths are equal"},
        {"collective", {TRANSPORT + "RetryLimit=3"}, "has no effect: nothing was lost, or sent"},
        {"flows", {nine, flows, TRANSPORT + "NakInterval=1us"}, "has no effect: nothing was lost"},
        {"flows",
         {nine, flows, "--transport=selective-repeat"},
         "--transport=selective-repeat has no effect: nothing was lost, or sent again"},
        {"flows",
         {nine, flows, FABRIC + "Ecn=false", "--congestionControl=none"},
         "--congestionControl=none has no effect: no packet was marked"},
        {"collective",
         {"--nodes=2", "--min=1M", "--max=1M", FABRIC + "InfinibandEcn=true"},
         "InfinibandEcn=true has no effect: no packet was marked"},
        {"collective",
         {"--cluster=dgx-h100:nodes=2,nic=8x200G-roce",
          "--min=1M",
          "--max=1M",
          "--ns3::proteus::DcqcnType::G=0.1"},
         "G=0.1 has no effect: no packet was marked"},
        {"collective",
         {"--cluster=dgx-h100:nodes=2,nic=8x200G-roce",
          "--min=1M",
          "--max=1M",
          FABRIC + "ResumeOffset=5000"},
         "ResumeOffset=5000 has no effect: nothing was paused"},
        {"collective",
         {"--cluster=dgx-h100:nodes=2,nic=8x200G-roce",
          "--min=1M",
          "--max=1M",
          FABRIC + "PauseReaction=1us"},
         "PauseReaction=1us has no effect: nothing was paused or dropped"},
        {"collective",
         {"--cluster=dgx-h100:nodes=2,nic=8x200G-roce",
          "--min=1M",
          "--max=1M",
          FABRIC + "EcnMinBytes=99000"},
         "EcnMinBytes=99000 has no effect: no packet was marked"},
        {"collective",
         {"--cluster=dgx-h100:nodes=2,nic=8x200G-roce",
          "--min=1M",
          "--max=1M",
          FABRIC + "Ecn=false"},
         "Ecn=false has no effect: no queue of a switch was so long that packets are marked"},
        {"compile",
         {MODEL, PLAN, "--expand", "--variables=layers=4"},
         "--variables: layers=4 has no effect: the tree of --expand is the same without it"},
        {"compile",
         {MODEL, PLAN, "--expand", "--gpu=A100-PCIE-40GB"},
         "--gpu=A100-PCIE-40GB has no effect: the tree of --expand is the same without it"},
        // Attributes of what is not there.
        {"flows", {nine, flows, HPCC}, "no ns3::proteus::HpccType of this run takes it"},
        {"flows",
         {nine, flows, FABRIC + "Pfc=false", FABRIC + "Headroom=400000"},
         "Fabric::Headroom=400000 has no effect: Pfc is off"},
        {"flows", {nine, flows, NETWORK + "Repetition=off"}, "no ns3::proteus::PacketNetwork of"},
        {"collective", {FABRIC + "Pfc=false"}, "Fabric::Pfc=false has no effect: nothing crosses"},
        {"flows",
         {"--cluster=dgx-a100", ring, FABRIC + "Pfc=false"},
         "Fabric::Pfc=false has no effect: nothing crosses roce"},
        {"collective",
         {NETWORK + "Protocol=LL"},
         "--ns3::proteus::PacketNetwork::Protocol=LL has no effect: the sizes that were run"},
        {"collective", {"--executor=flow", "--threads=2"}, "executor flow sends no packets"},
        {"compile", {MODEL, PLAN, FABRIC + "Routing=Spray"}, "no ns3::proteus::Fabric of this"},
        {"fabrics", {HPCC}, "flow: ns3::proteus::HpccType::Eta=0.5 is not modelled"},
        {"schedule", {FABRIC + "Routing=UpDown"}, "Fabric::Routing=UpDown is taken as ECMP"},
        {"search", {HPCC}, "flow: ns3::proteus::HpccType::Eta=0.5 is not modelled"},
        {"run", {HPCC, "--executor=packet"}, "no ns3::proteus::HpccType of this run takes it"}};
    for (const Mistake& mistake : idle)
    {
        std::vector<std::string> arguments;
        if (mistake.program == "run")
        {
            arguments = flow;
        }
        else if (mistake.program == "gpt3")
        {
            arguments = {"--model=125M", "--executor=flow", "--quiet"};
        }
        else if (mistake.program == "collective")
        {
            arguments = {"--min=1M", "--max=1M", "--quiet"};
        }
        else if (mistake.program == "fabrics")
        {
            arguments = {MODEL, PLAN, "--cluster=dgx-a100", "--nodes=2", "--executor=flow"};
            arguments.insert(arguments.end(), {"--fabrics=fat-tree", "--quiet"});
        }
        else if (mistake.program == "search")
        {
            arguments = {MODEL, "--variables=layers=2", "--nodes=1", "--globalBatch=8", "--quiet"};
            arguments.insert(arguments.end(), {"--flows=1", "--packets=0", "--vary=none"});
        }
        else if (mistake.program == "schedule")
        {
            arguments = {"--model=alexnet", "--strategy=dp=2", "--iterations=2", "--quiet"};
        }
        arguments.insert(arguments.end(), mistake.arguments.begin(), mistake.arguments.end());
        const Outcome outcome = Start(mistake.program, arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_NE(outcome.error.find(mistake.hint), std::string::npos)
            << mistake.hint << ": " << outcome.error;
        const bool hasNotes =
            mistake.program == "run" || mistake.program == "gpt3" || mistake.program == "schedule";
        EXPECT_EQ(outcome.out.find(mistake.hint) != std::string::npos, hasNotes) << outcome.out;
    }
}

TEST(IdleOptions, WhatAScheduleSaysIsNotSaidAgain)
{
    const std::string path = ::testing::TempDir() + "proteus-mistakes.xml";
    std::ofstream(path) << MakePairSchedule("4096");
    const auto start = [&](const std::string& size, const std::string& option) {
        return Start(
            "collective",
            {"--msccl=" + path, "--gpus=2", "--min=" + size, "--max=" + size, option, "--quiet"});
    };
    const Outcome well = start("2K", "--collective=all-gather");
    EXPECT_EQ(well.code, 0) << well.error;
    EXPECT_EQ(well.error, "");
    EXPECT_NE(well.out.find(" in-place"), std::string::npos) << well.out;
    const Outcome large = start("8K", "--iterations=1");
    EXPECT_EQ(large.code, 0) << large.error;
    EXPECT_NE(large.error.find("is for 1024 to 4096 bytes"), std::string::npos) << large.error;
    for (const char* option : {"--algorithm=ring", "--protocol=LL128", "--channels=3"})
    {
        const Outcome named = start("2K", option);
        EXPECT_EQ(named.code, 0) << named.error;
        EXPECT_NE(named.error.find("the schedule of --msccl says it"), std::string::npos) << option;
    }
    for (const char* option : {"--collective=all-reduce", "--collective=barrier"})
    {
        const Outcome refused = start("2K", option);
        EXPECT_EQ(refused.code, 1);
        EXPECT_NE(refused.error.find("is of all-gather"), std::string::npos) << refused.error;
    }
    std::remove(path.c_str());
}

TEST(IdleOptions, MeasuredTimesThatNoKernelTakesAreNamed)
{
    const std::string path = ::testing::TempDir() + "proteus-idle-profile.json";
    const auto compile = [&](const std::string& option) {
        const Outcome outcome = Start("compile",
                                      {MODEL,
                                       PLAN,
                                       "--variables=layers=2",
                                       "--quiet",
                                       "--saveGraph=" + path + ".graph.json",
                                       option + path});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        return outcome.error;
    };
    compile("--kernels=");
    EXPECT_EQ(compile("--profile="), "");
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::string other = text.str();
    other.replace(other.find("A100-SXM4-80GB", other.find("times")), 14, "H100-SXM5-80GB");
    std::ofstream(path) << other;
    const std::string error = compile("--profile=");
    EXPECT_NE(error.find(": 1 of its "), std::string::npos) << error;
    EXPECT_NE(error.find("the first one H100-SXM5-80GB, "), std::string::npos) << error;
    std::remove(path.c_str());
    std::remove((path + ".graph.json").c_str());
}

TEST(IdleOptions, TimesOfKernelsThatAreNotWanted)
{
    const std::string profile = "--profile=" + WORKLOADS + "/profiles/h100-kernels.json";
    for (const char* option : {"--launchInterval=50us", "--untimed"})
    {
        EXPECT_NE(Start("compile", {MODEL, PLAN, "--expand", option})
                      .error.find(" has no effect: --expand times nothing"),
                  std::string::npos)
            << option;
    }
    EXPECT_NE(Start("compile", {MODEL, PLAN, "--expand", profile})
                  .error.find(profile + " has no effect: --expand times nothing"),
              std::string::npos);
    EXPECT_NE(Start("compile", {MODEL, PLAN, "--gpu=H100-SXM5-80GB", profile})
                  .error.find(profile + " has no effect: no file with times is written"),
              std::string::npos);
}

TEST(IdleOptions, OptionsThatDoSomethingAreNotNamed)
{
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--fabric=leaf-spine",
                                   "--serversPerLeaf=1",
                                   "--spines=2",
                                   "--oversubscription=2"},
          {"--fabric=rail-optimised", "--serversPerGroup=2"},
          {"--fabric=fat-tree", "--switchPorts=8"},
          {"--fabric=torus-2d", "--sizeX=2"},
          {"--cluster=dgx-a100:nic=4x200G", "--fabric=leaf-spine", "--spines=3"},
          {"--executor=flow,packet", "--joinGrid=1us", "--joinWindow=20us"},
          {"--iterations=2", "--crossIteration=tensor"},
          {"--nodes=2", "--cpuVendor=intel", "--netPlugin=efa"},
          {"--quiet", "--quiet"},
          {"--quiet=true", "--nodes=2"},
          {"--gpuSharing=off"},
          {"--executor=alpha-beta", "--gpuSharing=off"},
          {"--executor=distsim", "--repetition=off", "--stream=3"},
          {"--cluster=dgx-a100:nic=1x25G-roce", "--nodes=2", "--stream=3"},
          {"--ncclVersion=2.7"},
          {"--RngSeed=3", "--stream=3"},
          {"--executor=packet", FABRIC + "Routing=Spray", TRANSPORT + "Window=100000"},
          {"--executor=packet", NETWORK + "Channels=2", NETWORK + "LaunchOverhead=9us"},
          {"--executor=packet", TRANSPORT + "CongestionControl=hpcc", HPCC, "--nodes=2"},
          {NETWORK + "Algorithm=ring"},
          {HPCC}, // flows name it themselves
          {"--htae=classic"}})
    {
        std::vector<std::string> words{MODEL, PLAN, "--quiet"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        if (words[3].rfind("--executor=", 0) != 0)
        {
            words.emplace_back("--executor=flow");
        }
        const Outcome outcome = Start("run", words);
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find("has no effect"), std::string::npos) << outcome.error;
        EXPECT_EQ(outcome.out.find("JoinWindowShare"), std::string::npos) << outcome.out;
    }
}

/// @return what a program does with a variable in the environment
Outcome
StartWith(const char* variable, const char* value, std::vector<std::string> more = {})
{
    EXPECT_EQ(setenv(variable, value, 0), 0);
    more.insert(more.begin(), {MODEL, PLAN, "--executor=flow", "--quiet"});
    const Outcome outcome = Start("run", more);
    unsetenv(variable);
    return outcome;
}

// What ns-3 reads by itself, for packets only and without a check.
TEST(IdleOptions, EnvironmentVariablesOfNs3AreOptions)
{
    const std::string algorithm = "ns3::proteus::PacketNetwork::Algorithm=";
    const Outcome set = StartWith("NS_ATTRIBUTE_DEFAULT", (algorithm + "tree").c_str());
    ExpectNote(set,
               "the environment variable NS_ATTRIBUTE_DEFAULT is taken as --" + algorithm + "tree");
    const Outcome typed =
        Start("run", {MODEL, PLAN, "--executor=flow", "--quiet", "--" + algorithm + "tree"});
    const Outcome none = Start("run", {MODEL, PLAN, "--executor=flow", "--quiet"});
    const auto time = [](const Outcome& outcome) {
        const std::size_t at = outcome.out.find("iteration time");
        return outcome.out.substr(at, outcome.out.find('\n', at) - at);
    };
    EXPECT_EQ(time(set), time(typed));
    EXPECT_NE(time(set), time(none));
    const Outcome replaced = StartWith("NS_ATTRIBUTE_DEFAULT",
                                       (algorithm + "tree").c_str(),
                                       {"--" + algorithm + "ring"});
    EXPECT_EQ(
        time(replaced),
        time(Start("run", {MODEL, PLAN, "--executor=flow", "--quiet", "--" + algorithm + "ring"})));
    ExpectNote(StartWith("NS_GLOBAL_VALUE", "ChecksumEnabled=1"),
               "--ChecksumEnabled=1 has no effect");
}

TEST(IdleOptions, EnvironmentVariablesOfNs3AreChecked)
{
    ExpectRefusal(StartWith("NS_GLOBAL_VALUE", "RngRun=7;RngSede=3"),
                  "the environment variable NS_GLOBAL_VALUE: ns-3 has no attribute or global value "
                  "RngSede");
    ExpectRefusal(StartWith("NS_GLOBAL_VALUE", "SimulatorImplementationType=ns3::Foo"),
                  "NS_GLOBAL_VALUE: --SimulatorImplementationType=ns3::Foo: ns-3 has no type");
    ExpectRefusal(StartWith("NS_ATTRIBUTE_DEFAULT", "ns3::proteus::Fabric::Pfc=maybe"),
                  "the environment variable NS_ATTRIBUTE_DEFAULT: ");
}

// An incast, of which packets are marked and paused.
TEST(IdleOptions, MarksAndPausesThatThereAre)
{
    const Outcome outcome = Start("flows",
                                  {"--cluster=" + WORKLOADS + "/flows/switch-9.txt",
                                   "--flows=" + WORKLOADS + "/flows/incast-8.csv",
                                   "--quiet",
                                   "--ns3::proteus::DcqcnType::G=0.1",
                                   FABRIC + "PauseReaction=1us",
                                   FABRIC + "EcnMinBytes=99000",
                                   FABRIC + "ResumeOffset=5000"});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(outcome.error.find("has no effect"), std::string::npos) << outcome.error;
}

// What would have paused or marked less may be why nothing was.
TEST(IdleOptions, RoomThatMayHaveKeptPausesAway)
{
    const Outcome outcome = Start("collective",
                                  {"--cluster=dgx-h100:nodes=2,nic=8x200G-roce",
                                   "--min=1M",
                                   "--max=1M",
                                   "--quiet",
                                   FABRIC + "SwitchBuffer=64000000"});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(outcome.error.find("has no effect"), std::string::npos) << outcome.error;
}

// What the command line tells of an option, and what the run tells of it.
TEST(IdleOptions, OneReasonIsEnough)
{
    const Outcome outcome =
        Start("collective",
              {"--cluster=dgx-a100", "--ncclVersion=2.99", "--min=1M", "--max=1M", "--quiet"});
    const std::string line = "--ncclVersion=2.99 has no effect: the newest version that is known";
    EXPECT_NE(outcome.error.find(line), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find('\n'), outcome.error.size() - 1) << outcome.error;
}

// What an option of packets does, nothing else says in a search by flows.
TEST(IdleOptions, SearchesByFlowsSayItOnce)
{
    const Outcome outcome = Start("search",
                                  {"--model=gpt3-125m",
                                   "--variables=layers=2",
                                   "--cluster=pcie-v100x4",
                                   "--nodes=1",
                                   "--globalBatch=4",
                                   "--dataType=fp16",
                                   "--vary=zero",
                                   "--flows=1",
                                   "--packets=0",
                                   "--quiet",
                                   "--threads=2", // run strategies by flows, too
                                   "--joinWindow=0"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.error, "warning: --joinWindow=0 has no effect: nothing is run by packets\n");
}

TEST(IdleOptions, ALimitOfChannelsThatAnotherOneReplaces)
{
    const auto start = [](const std::string& variables) {
        return Start(
                   "collective",
                   {"--cluster=dgx-a100", "--min=1M", "--max=1M", "--quiet", "--nccl=" + variables})
            .error;
    };
    const std::string channels = start("NCCL_MAX_NCHANNELS=2,NCCL_MIN_NCHANNELS=8");
    EXPECT_NE(channels.find("--nccl: NCCL_MAX_NCHANNELS=2 is below NCCL_MIN_NCHANNELS=8: as in "
                            "NCCL, the latter counts"),
              std::string::npos)
        << channels;
    const std::string blocks = start("NCCL_MAX_CTAS=2,NCCL_MIN_CTAS=8");
    EXPECT_NE(blocks.find("--nccl: NCCL_MIN_CTAS=8 is above NCCL_MAX_CTAS=2"), std::string::npos)
        << blocks;
    EXPECT_EQ(start("NCCL_MAX_NCHANNELS=8,NCCL_MIN_NCHANNELS=2").find("counts"), std::string::npos);
}

TEST(IdleOptions, IterationsOfSchedulesThatDoNotOverlap)
{
    const auto start = [](const std::string& strategy, const std::string& option) {
        return Start("schedule",
                     {"--model=vgg16",
                      "--strategy=dataType=fp32," + strategy,
                      "--cluster=pcie-v100x4",
                      "--nodes=2",
                      "--policies=priority",
                      "--quiet",
                      option})
            .error;
    };
    const std::string text = "--crossIteration=tensor has no effect: no GPU begins an iteration";
    EXPECT_NE(start("dp=1", "--crossIteration=tensor").find(text), std::string::npos);
    EXPECT_EQ(start("dp=8", "--crossIteration=tensor").find(text), std::string::npos);
    EXPECT_EQ(start("dp=1", "--iterations=2").find(text), std::string::npos);
}

TEST(IdleOptions, WarningsBeforeARefusalAreDropped)
{
    ExpectRefusal(Start("run", {MODEL, "--nodes=3", "--nodes=1", "--strategy=dp=64"}), "64");
    ExpectRefusal(StartWith("NS_GLOBAL_VALUE", "RngRun=7", {"--strategy=dp=64"}), "64");
}

// What NCCL would read, and nothing here does.
TEST(IdleOptions, EnvironmentVariablesOfNcclAreNamed)
{
    ASSERT_EQ(setenv("NCCL_PROTO", "LL", 0), 0);
    ASSERT_EQ(setenv("NCCL_ALGO", "Tree", 0), 0);
    ASSERT_EQ(setenv("NCCL_DEBUG", "INFO", 0), 0);
    const Outcome run = Start("run", {MODEL, PLAN, "--executor=flow", "--quiet"});
    const Outcome flows = Start("cluster", {"--cluster=dgx-a100", "--quiet"});
    unsetenv("NCCL_PROTO");
    unsetenv("NCCL_ALGO");
    unsetenv("NCCL_DEBUG");
    EXPECT_EQ(run.code, 0) << run.error;
    ExpectNote(run, "variables of NCCL in the environment have no effect");
    ExpectNote(run, "(NCCL_ALGO, NCCL_PROTO)");
    EXPECT_EQ(flows.error.find("NCCL_"), std::string::npos) << flows.error;
}

// The default of --executor gives way to --htae; so does the same value that was typed.
TEST(IdleOptions, AnExecutorThatAnotherOptionReplacesIsNamed)
{
    const Outcome outcome =
        Start("run", {MODEL, PLAN, "--executor=packet", "--htae=Classic", "--quiet"});
    ExpectNote(outcome, "--executor=packet has no effect: --htae=classic alone means");
}

#ifndef NS3_LOG_ENABLE
TEST(IdleOptions, LogsThatABuildHasNot)
{
    ASSERT_EQ(setenv("NS_LOG", "NoSuchComponent", 1), 0);
    const Outcome outcome = Start("compile", {MODEL, PLAN});
    unsetenv("NS_LOG");
    EXPECT_NE(outcome.error.find("NS_LOG has no effect: this build of ns-3 has no logs"),
              std::string::npos)
        << outcome.error;
}
#endif
