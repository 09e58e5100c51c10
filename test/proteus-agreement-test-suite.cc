/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/config.h"
#include "ns3/proteus-algorithm-traits.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-executors.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// A collective on some servers.
struct AgreementCase
{
    std::string preset;
    uint32_t servers;
    Collective collective;
    std::string algorithm;
};

/// What executors say of a case.
struct Agreement
{
    uint64_t bytes{0};
    double packetUs{0};
    double flowUs{0};

    /// @return by how much flows are slower
    double GetError() const
    {
        return flowUs / packetUs - 1;
    }
};

/// @return the end of one collective, microseconds
double
RunOnce(const Cluster& cluster,
        const AgreementCase& it,
        uint64_t bytes,
        const std::string& executor)
{
    GraphBuilder builder(static_cast<uint32_t>(cluster.GetGpus().size()));
    std::vector<DeviceId> devices;
    for (DeviceId device = 0; device < cluster.GetGpus().size(); ++device)
    {
        devices.push_back(device);
    }
    builder.AddCommunication(builder.AddPhase("iteration", 1),
                             builder.AddGroup(devices),
                             builder.AddStream("collective"),
                             ToString(it.collective),
                             it.collective,
                             bytes,
                             Parallelism::NONE);
    ProgramOptions options;
    options.quiet = true;
    std::ostringstream text;
    return static_cast<double>(
               RunExecutor(options, executor, cluster, builder.Build(), text).timeline.endPs) *
           1e-6;
}

} // namespace

/**
 * @ingroup proteus-tests
 * Flows take as long as packets: every algorithm that NCCL takes, of the presets, at three sizes,
 * alone. All largest differences are printed and held.
 */
class AgreementTest : public TestCase
{
  public:
    /// @param isWhole whether all collectives and presets are run, and not only some
    explicit AgreementTest(bool isWhole)
        : TestCase("flows agree with packets"),
          m_isWhole(isWhole)
    {
    }

  private:
    /// @param it a case @return how far flows may be off, and why where that is more than 10 %
    static double GetMost(const AgreementCase& it)
    {
        const std::string server = it.preset;
        if (server == "pcie-v100x4" || server == "titanxp-pcie")
        {
            return 0.20; // short chunks of several channels take turns on PCIe, flows share it
        }
        if (server == "dgx2" && it.collective == Collective::BROADCAST)
        {
            return 0.26; // chunks of a long chain queue up behind each other, flows share links
        }
        if (it.algorithm == "pxn" && (server == "dgx2" || server == "dgx1-v100"))
        {
            return 0.22; // small messages that pass another GPU
        }
        return server == "dgx2" ? 0.14 : 0.10;
    }

    void DoRun() override
    {
        std::vector<std::string> presets{"dgx1-v100", "dgx-a100", "dgx-h100", "hgx-b200"};
        if (m_isWhole)
        {
            presets.insert(presets.end(), {"dgx2", "pcie-v100x4", "titanxp-pcie"});
        }
        for (const std::string& preset : presets)
        {
            RunPreset(preset, 1);
            // Two servers of TITAN Xp have one NIC of 1 Gb/s, which congestion control halves
            // again: flows know nothing of that.
            if (preset != "titanxp-pcie")
            {
                RunPreset(preset, 2);
            }
        }
        Config::SetDefault("ns3::proteus::PacketNetwork::Algorithm", StringValue(""));
        for (const auto& [text, excess] : m_worst)
        {
            NS_TEST_EXPECT_MSG_LT(excess, 0, text);
        }
    }

    void RunPreset(const std::string& preset, uint32_t servers)
    {
        const Cluster cluster = MakeCluster(preset, servers);
        for (const Collective collective : GetCollectives())
        {
            const bool isQuick =
                collective == Collective::ALL_REDUCE || collective == Collective::BROADCAST ||
                collective == Collective::ALL_TO_ALL || collective == Collective::ALL_GATHER;
            if (collective == Collective::SEND_RECV || (!m_isWhole && !isQuick))
            {
                continue;
            }
            for (const std::string& algorithm : GetAlgorithms(collective))
            {
                // NCCL takes PAT with one GPU in each server only; what it does not have is rare.
                if (algorithm != "pat" &&
                    (collective == Collective::ALL_TO_ALL || GetAlgorithmTraits(algorithm).tunable))
                {
                    Compare(cluster, {preset, servers, collective, algorithm});
                }
            }
        }
    }

    void Compare(const Cluster& cluster, const AgreementCase& it)
    {
        Config::SetDefault("ns3::proteus::PacketNetwork::Algorithm", StringValue(it.algorithm));
        Agreement worst;
        for (const uint64_t bytes : {uint64_t{1} << 18, uint64_t{1} << 21, uint64_t{1} << 24})
        {
            Agreement agreement{bytes, 0, 0};
            try
            {
                agreement.flowUs = RunOnce(cluster, it, bytes, "flow");
            }
            catch (const std::invalid_argument&)
            {
                return; // the servers do not have what the algorithm needs
            }
            agreement.packetUs = RunOnce(cluster, it, bytes, "packet");
            if (worst.bytes == 0 || std::abs(agreement.GetError()) > std::abs(worst.GetError()))
            {
                worst = agreement;
            }
        }
        std::ostringstream text;
        text << it.servers << " x " << it.preset << ", " << ToString(it.collective) << " by "
             << it.algorithm << ", " << worst.bytes << " bytes: packets " << worst.packetUs
             << " us, flows " << worst.flowUs << " us, " << 100 * worst.GetError() << " %";
        std::cout << text.str() << std::endl;
        m_worst.emplace_back(text.str(), std::abs(worst.GetError()) - GetMost(it));
    }

    bool m_isWhole;
    std::vector<std::pair<std::string, double>> m_worst; //!< in words, and beyond GetMost()
};

/**
 * @ingroup proteus-tests
 * Flows against packets.
 */
class AgreementTestSuite : public TestSuite
{
  public:
    /// @param name of the suite @param isWhole see AgreementTest()
    AgreementTestSuite(const std::string& name, bool isWhole)
        : TestSuite(name)
    {
        AddTestCase(new AgreementTest(isWhole), isWhole ? TestCase::EXTENSIVE : TestCase::QUICK);
    }
};

static AgreementTestSuite g_agreementTestSuite("proteus-agreement", false);
static AgreementTestSuite g_wholeAgreementTestSuite("proteus-agreement-all", true);
