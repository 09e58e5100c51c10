/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/config.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-packet-network.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// Sets defaults of attributes, and takes them back.
class Defaults : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

} // namespace

TEST_F(Defaults, AreThoseOfTheStruct)
{
    const CollectiveSettings defaults;
    const CollectiveSettings read = ReadCollectiveSettings();
    std::set<std::string> names;
    for (const CollectiveField& field : GetCollectiveFields())
    {
        EXPECT_EQ(ToText(read, field), ToText(defaults, field)) << field.name;
        names.insert(field.name);
    }
    // Every attribute of the network is a field, and the other way round.
    const TypeId type = PacketNetwork::GetTypeId();
    // How much is simulated again is no matter of collectives: results do not depend on it.
    const std::set<std::string> others{"Repetition",
                                       "RepetitionMemory",
                                       "Threads",
                                       "LongCommunication",
                                       "JoinGrid",
                                       "JoinWindow",
                                       "JoinWindowShare"};
    EXPECT_EQ(type.GetAttributeN(), names.size() + others.size());
    for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
    {
        EXPECT_EQ(names.count(type.GetAttribute(i).name) + others.count(type.GetAttribute(i).name),
                  1u)
            << type.GetAttribute(i).name;
    }
    EXPECT_TRUE(FindChangedEngineSettings().empty());
}

TEST_F(Defaults, OfAttributesAreReadWithoutAnObject)
{
    Config::SetDefault("ns3::proteus::PacketNetwork::Algorithm", StringValue("tree"));
    Config::SetDefault("ns3::proteus::PacketNetwork::NcclVersion", UintegerValue(207));
    Config::SetDefault("ns3::proteus::PacketNetwork::PluginLatency", StringValue("40us"));
    Config::SetDefault("ns3::proteus::PacketNetwork::KernelCosts", StringValue("false"));
    const CollectiveSettings read = ReadExecutorSettings(3).collectives;
    EXPECT_EQ(read.algorithm, "tree");
    EXPECT_EQ(read.ncclVersion, 207u);
    EXPECT_EQ(read.pluginLatencyPs, 40000000);
    EXPECT_FALSE(read.kernelCosts);
    // Back into a network, whatever its defaults are then.
    Config::Reset();
    const Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
    ApplyCollectiveSettings(read, network);
    StringValue algorithm;
    network->GetAttribute("Algorithm", algorithm);
    EXPECT_EQ(algorithm.Get(), "tree");
    UintegerValue version;
    network->GetAttribute("NcclVersion", version);
    EXPECT_EQ(version.Get(), 207u);
}

TEST_F(Defaults, OfThePacketEngineThatWereChangedAreFound)
{
    Config::SetDefault("ns3::proteus::Fabric::Routing", StringValue("Adaptive"));
    Config::SetDefault("ns3::proteus::Transport::CongestionControl", StringValue("hpcc"));
    const ExecutorSettings settings = ReadExecutorSettings();
    std::set<std::string> found;
    for (const EngineSetting& setting : settings.engine)
    {
        found.insert(setting.name + "=" + setting.value + ">" + setting.instead);
    }
    const std::set<std::string> expected{"ns3::proteus::Fabric::Routing=Adaptive>ECMP",
                                         "ns3::proteus::Transport::CongestionControl=hpcc>"};
    EXPECT_EQ(found, expected);
}

TEST_F(Defaults, DecideThePathSeedByTheStream)
{
    EXPECT_EQ(ReadExecutorSettings(1).pathSeed, ReadExecutorSettings(1).pathSeed);
    EXPECT_NE(ReadExecutorSettings(1).pathSeed, ReadExecutorSettings(2).pathSeed);
}
