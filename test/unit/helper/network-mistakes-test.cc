/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(NetworkMistakes, RanksThatServersCannotShareEvenly)
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

TEST(NetworkMistakes, WhatPricesLackNamesTheirFile)
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
    // A cluster of other rates than the built-in table has is checked all the same.
    const std::string hosts = folder.Write("hosts.txt",
                                           "3 1 2\n2\n0 2 2000Gbps 1us 0\n"
                                           "1 2 2000Gbps 1us 0\n");
    const std::string output = folder.Get() + "/hosts.json";
    const Outcome outcome = Start("cluster", {"--cluster=" + hosts, "--output=" + output});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_NE(outcome.error.find(" for 2000 Gb/s: add one, by --prices=FILE; until then price and "
                                 "power are not known"),
              std::string::npos)
        << outcome.error;
    EXPECT_NE(outcome.out.find("price, power  not known\n"), std::string::npos) << outcome.out;
    EXPECT_TRUE(std::ifstream(output).good());
}

TEST(NetworkMistakes, PricesThatSayNothing)
{
    const Folder folder;
    std::ostringstream all;
    all << std::ifstream(WORKLOADS + "/prices.json").rdbuf();
    const auto start = [&](const std::string& what, const std::string& with) {
        std::string text = all.str();
        const std::size_t at = text.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        text.replace(at, what.size(), with);
        return Start(
            "cluster",
            {"--cluster=dgx-a100", "--nodes=2", "--prices=" + folder.Write("p.json", text)});
    };
    for (const char* currency : {"", "  ", "100Gb"})
    {
        ExpectRefusal(start(R"("USD")", '"' + std::string(currency) + '"'),
                      "p.json: /currency: must be what the prices are in");
    }
    const Outcome many = start(R"("servers_per_rack": 4)", R"("servers_per_rack": 4000)");
    EXPECT_NE(many.error.find("/layout/servers_per_rack: 4000 servers: usual are 1 to 120"),
              std::string::npos)
        << many.error;
    EXPECT_EQ(start(R"("USD")", R"("EUR")").error, "");
}

TEST(NetworkMistakes, TopologiesThatAreNotWhole)
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

TEST(NetworkMistakes, ACalibrationOfAnotherCluster)
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

TEST(NetworkMistakes, LossesThatOnlyPacketsKnow)
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

TEST(NetworkMistakes, BundlesThatANetworkDoesNotHave)
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

TEST(NetworkMistakes, RatesInOtherUnits)
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
    ExpectNote(run(gpus("300", R"(, "sm_copy_gbytes_per_s": 0.024)")),
               "GPUs that copy slower than one lane of PCI Express (1), the first a: 0.024 GB/s");
    ExpectNote(run(gpus("300", R"(, "memory_gbytes_per_s": 1000)")),
               "memory_gbytes_per_s is below their data sheet, which kernels take all the same: it "
               "limits communication alone (1), the first a: 1000 GB/s");
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

TEST(NetworkMistakes, ServersWhoseRatesAreInBits)
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
    const std::string hosts = change("\"cpu-interconnect\",\"rate_gbytes_per_s\":16.0",
                                     "\"cpu-interconnect\",\"rate_gbytes_per_s\":16000.0");
    EXPECT_NE(hosts.find("links of processors of less than 3.2 or more than 450 GB/s (2)"),
              std::string::npos)
        << hosts;
    const std::string places = change(R"("kind":"cpu","server":0)", R"("kind":"cpu","server":1)");
    EXPECT_NE(places.find("links of PCI Express or between processors from one server to another"),
              std::string::npos)
        << places;
    const std::string slots = change("\"rate_gbytes_per_s\":31.5", "\"rate_gbytes_per_s\":252.0");
    EXPECT_NE(slots.find("faster than x16 of its generation"), std::string::npos) << slots;
}

// Of files in the folder none is named: all are right.
TEST(NetworkMistakes, ClustersOfTheFolderHaveTheRightUnits)
{
    for (const auto& entry : std::filesystem::directory_iterator(WORKLOADS + "/clusters"))
    {
        const Outcome outcome = Start("cluster", {"--cluster=" + entry.path().string()});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        EXPECT_EQ(outcome.error.find("rates are 1e9 bytes"), std::string::npos) << outcome.error;
    }
}

// As those of presets without changes are.
TEST(NetworkMistakes, NamesOfPresetsWithChangesAreUnderstood)
{
    const auto start = [](const std::string& cluster) {
        return Start("cluster", {"--cluster=" + cluster});
    };
    const Outcome outcome = start("DGX_A100:nodes=2,leafs=2");
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(outcome.out, start("dgx-a100:nodes=2,leafs=2").out);
}

TEST(NetworkMistakes, FabricsThatAreTheSame)
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

// Then all rows are alike, whatever their switches.
TEST(NetworkMistakes, NetworksThatAComparedJobDoesNotSee)
{
    const auto start = [](const std::string& strategy, const std::string& executor) {
        return Start("fabrics",
                     {"--model=gpt3-125m",
                      "--variables=layers=2",
                      "--strategy=" + strategy,
                      "--cluster=pcie-v100x4",
                      "--executor=" + executor,
                      "--quiet",
                      "--fabrics=single-switch,leaf-spine:4"})
            .out;
    };
    const auto says = [](const std::string& out, const std::string& note) {
        return out.find("Note: " + note) != std::string::npos;
    };
    const std::string leaf = "in 1 of 2 rows: nothing goes from one switch of the network to";
    const std::string idle = "the job has 8 GPUs of 2 servers; the others have no work";
    const std::string half = start("dp=8", "flow");
    EXPECT_TRUE(says(half, leaf)) << half;
    EXPECT_TRUE(says(half, idle)) << half;
    const std::string whole = start("dp=16", "flow");
    EXPECT_FALSE(says(whole, leaf)) << whole;
    EXPECT_EQ(whole.find("have no work"), std::string::npos) << whole;
    EXPECT_TRUE(says(start("dp=4", "flow"), "nothing leaves a server: no network makes a"));
    EXPECT_TRUE(says(start("dp=16", "classic"), "classic: of the network, the links of servers"));
}

// --cluster of a comparison says the servers, with changes, and nothing of the network.
TEST(NetworkMistakes, ServersOfComparedFabrics)
{
    const auto start = [](const std::string& cluster, const std::string& fabrics) {
        return Start("fabrics",
                     {"--model=gpt3-125m",
                      "--variables=layers=2",
                      "--strategy=dp=8",
                      "--nodes=2",
                      "--executor=flow",
                      "--quiet",
                      "--cluster=" + cluster,
                      "--fabrics=" + fabrics});
    };
    const auto getLinks = [&start](const std::string& cluster) {
        const std::string out = start(cluster, "single-switch").out;
        const std::size_t row = out.find("\nsingle-switch") + 1;
        return out.substr(row, out.find("ECMP", row) - row);
    };
    const Outcome cards = start("4xL40S:nic=4x200G-ib,switches=2", "single-switch,single-rail");
    EXPECT_EQ(cards.code, 0) << cards.error;
    EXPECT_NE(cards.out.find("2 x 4xL40S:nic=4x200G-ib,switches=2"), std::string::npos);
    EXPECT_NE(getLinks("4xL40S").find("RoCE"), std::string::npos);
    EXPECT_NE(getLinks("4xL40S:nic=200G-ib").find("InfiniBand"), std::string::npos);
    ExpectRefusal(start("4xL40S:nic=ib", "single-switch+roce"),
                  "nic says infiniband, and fabric 'single-switch' roce: leave one of them out");
    ExpectRefusal(start("dgx-h100:nic=2x", "single-switch+rails=4"),
                  "is to use 4 NICs of each server, of which nic says 2");
    ExpectRefusal(start("dgx-h100:nodes=2", "single-switch"), "nodes is not of the servers");
    ExpectRefusal(start("dgx-h100:leafs=2", "single-switch"), "leafs is not of the servers");
    ExpectRefusal(start("dgx-h100:spines=2", "single-switch"), "spines is not of the servers");
    const std::string doubt = start("hgx-a100-4gpu:nic=800G", "single-switch").error;
    EXPECT_NE(doubt.find("warning: --cluster=hgx-a100-4gpu:nic=800G"), std::string::npos) << doubt;
}

// One switch, beyond which there is nothing.
TEST(NetworkMistakes, RatiosOfFabricsWithoutUplinks)
{
    const auto start = [](const std::string& fabrics) {
        return Start("fabrics",
                     {"--model=gpt3-125m",
                      "--variables=layers=2",
                      "--strategy=tp=2,dp=8",
                      "--executor=flow",
                      "--quiet",
                      "--fabrics=" + fabrics});
    };
    ExpectRefusal(start("leaf-spine,single-switch:4"),
                  "fabric 'single-switch:4': all of single-switch is one switch");
    EXPECT_EQ(start("single-switch:1").code, 0);
}
