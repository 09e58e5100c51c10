/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "together.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-flow-profile.h"
#include "ns3/proteus-replay-name.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

TEST(FlowProfiles, ProgramsThatAreThereAreNotMadeAgain)
{
    Together together(16);
    together.Add(Collective::ALL_REDUCE, {0, 1, 2, 3, 4, 5, 6, 7}, 1 << 16);
    together.Add(Collective::ALL_REDUCE, {0, 8}, 1 << 28);
    together.Add(Collective::SEND_RECV, {1, 9}, 1 << 20);
    const ExecutionGraph graph = together.Build();
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    uint32_t made = 0;
    ProgramSettings settings;
    settings.maker = [&](const CollectiveRequest& request) {
        ++made;
        return MakeProgram(cluster, paths, request);
    };
    const auto programs = std::make_shared<ProgramCache>(graph, cluster, paths, settings);
    for (TaskId task = 0; task < graph.GetNTasks(); ++task)
    {
        EXPECT_EQ(programs->Find(task), nullptr);
        const auto program = programs->Get(task);
        EXPECT_EQ(programs->Find(task), program);
    }
    FlowProfiles own(graph, cluster, paths, FlowParameters(), settings);
    FlowProfiles shared(graph, cluster, paths, FlowParameters(), programs);
    for (TaskId task = 0; task < graph.GetNTasks(); ++task)
    {
        made = 0;
        const CollectiveProfile& expected = own.Get(task);
        const uint32_t madeAlone = made;
        made = 0;
        const CollectiveProfile& profile = shared.Get(task);
        EXPECT_EQ(made + 1, madeAlone);
        EXPECT_EQ(profile.alonePs, expected.alonePs);
        EXPECT_EQ(profile.sentBytes, expected.sentBytes);
        EXPECT_EQ(profile.multiprocessors, expected.multiprocessors);
        EXPECT_EQ(profile.memoryBytesPerSecond, expected.memoryBytesPerSecond);
    }
}

namespace
{

/// A collective of all GPUs of servers, with one channel of a protocol.
class OneChannel
{
  public:
    OneChannel(uint32_t servers,
               const std::string& protocol,
               uint64_t bytes,
               const std::string& algorithm = "ring")
        : m_cluster(MakeCluster("dgx-h100", servers)),
          m_paths(m_cluster)
    {
        Together together(8 * servers);
        std::vector<DeviceId> devices(8 * servers);
        std::iota(devices.begin(), devices.end(), 0);
        together.Add(Collective::ALL_REDUCE, devices, bytes);
        m_graph = std::make_unique<ExecutionGraph>(together.Build());
        ProgramSettings settings;
        settings.algorithm = algorithm;
        settings.protocol = protocol;
        settings.channels = 1;
        settings.maker = [this](const CollectiveRequest& request) {
            m_mostBytes = std::max(m_mostBytes, request.bytes);
            return MakeProgram(m_cluster, m_paths, request);
        };
        m_profiles = std::make_unique<FlowProfiles>(*m_graph,
                                                    m_cluster,
                                                    m_paths,
                                                    FlowParameters(),
                                                    settings);
    }

    FlowProfiles& GetProfiles()
    {
        return *m_profiles;
    }

    /// @return bytes of the longest program that was made
    uint64_t GetMostBytes() const
    {
        return m_mostBytes;
    }

  private:
    uint64_t m_mostBytes{0};
    Cluster m_cluster;
    Paths m_paths;
    std::unique_ptr<ExecutionGraph> m_graph;
    std::unique_ptr<FlowProfiles> m_profiles;
};

/// Gradients of the tensor ranks of two servers, by groups of one GPU of each server.
class Gradients
{
  public:
    explicit Gradients(const std::string& server)
        : m_cluster(MakeCluster(server, 2)),
          m_paths(m_cluster)
    {
        Together together(16);
        for (DeviceId device = 0; device < 8; ++device)
        {
            together.Add(Collective::ALL_REDUCE, {device, device + 8}, 64 << 20);
        }
        m_graph = std::make_unique<ExecutionGraph>(together.Build());
        m_profiles = std::make_unique<FlowProfiles>(*m_graph, m_cluster, m_paths, FlowParameters());
        m_profiles->SetStopCheck([this]() { ++m_checks; });
    }

    /// @param task a group @return how often somebody could stop what makes its profile
    uint64_t CountChecks(TaskId task)
    {
        m_checks = 0;
        m_profiles->Get(task);
        return m_checks;
    }

    /// @param task a group @return its time
    int64_t GetAlonePs(TaskId task)
    {
        return m_profiles->Get(task).alonePs;
    }

  private:
    Cluster m_cluster;
    Paths m_paths;
    std::unique_ptr<ExecutionGraph> m_graph;
    std::unique_ptr<FlowProfiles> m_profiles;
    uint64_t m_checks{0};
};

/// @return when a replay ends of which others carry nothing, picoseconds
double
FindEndPs(LiveReplay& replay)
{
    replay.Advance(std::numeric_limits<double>::infinity());
    return replay.GetEndPs();
}

} // namespace

TEST(FlowProfiles, ShortProgramsOfLinesStandForLongOnes)
{
    // A chunk of LL is four parts; where the shorter program had less, this was 16 % too much.
    for (const std::string protocol : {"LL", "LL128", "Simple"})
    {
        OneChannel ring(4, protocol, 8 << 20);
        const double wholePs = FindEndPs(*ring.GetProfiles().MakeReplay(0, {}, nullptr));
        EXPECT_NEAR(static_cast<double>(ring.GetProfiles().Get(0).alonePs) / wholePs, 1, 0.02)
            << protocol;
    }
}

TEST(LiveReplay, GoesOnWithWhatOthersCarry)
{
    OneChannel ring(1, "Simple", 1 << 20);
    const auto whole = ring.GetProfiles().GetWhole(0);
    const double alonePs = FindEndPs(*ring.GetProfiles().MakeReplay(0, {}, nullptr));
    EXPECT_NEAR(alonePs, static_cast<double>(ring.GetProfiles().Get(0).alonePs), 1000);
    // Messages of the first flow take 1 ms, one after the other.
    std::vector<double> leave;
    std::vector<bool> isCarried(whole->flows.size(), false);
    isCarried[0] = true;
    double bytes = 0;
    const auto replay =
        ring.GetProfiles().MakeReplay(0, isCarried, [&](uint32_t flow, double more, double timePs) {
            EXPECT_EQ(flow, 0);
            bytes += more;
            leave.push_back(timePs);
        });
    double nowPs = 1e9;
    for (std::size_t arrived = 0; arrived < whole->flows[0].messages; ++arrived)
    {
        replay->Advance(nowPs);
        ASSERT_GT(leave.size(), arrived) << "a message follows from those that have arrived";
        EXPECT_LE(leave[arrived], nowPs);
        nowPs += 1e9;
        replay->Deliver(0, nowPs);
    }
    EXPECT_DOUBLE_EQ(bytes, replay->GetBytes(0));
    const double endPs = FindEndPs(*replay);
    EXPECT_GT(endPs, nowPs);
    EXPECT_LT(endPs, nowPs + alonePs);
}

TEST(LiveReplay, ARankThatHasNotJoinedDoesNothing)
{
    OneChannel ring(1, "Simple", 1 << 20);
    const auto ranks = static_cast<uint32_t>(ring.GetProfiles().GetWhole(0)->program->ranks.size());
    const double alonePs = FindEndPs(*ring.GetProfiles().MakeReplay(0, {}, nullptr));
    const auto join = [&](double lastPs) {
        auto replay = ring.GetProfiles().MakeReplay(0, {}, nullptr, false);
        EXPECT_TRUE(replay->IsIdle());
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            replay->Join(rank, rank + 1 < ranks ? 0 : lastPs);
        }
        return FindEndPs(*replay);
    };
    EXPECT_NEAR(join(0), alonePs, 1000);
    // The others do what they can, then wait.
    constexpr double LATE_PS = 1e9;
    EXPECT_GT(join(LATE_PS), LATE_PS + alonePs / 2);
    EXPECT_LE(join(LATE_PS), LATE_PS + alonePs + 1000);
}

TEST(FlowProfiles, GroupsThatStandAlikeAreReplayedOnce)
{
    Gradients gradients("dgx-h100");
    const uint64_t first = gradients.CountChecks(0);
    for (TaskId task = 1; task < 8; ++task)
    {
        // Programs are made, and latencies found, group by group.
        EXPECT_LT(gradients.CountChecks(task), first / 10);
        EXPECT_EQ(gradients.GetAlonePs(task), gradients.GetAlonePs(0));
    }
}

TEST(FlowProfiles, AnNvlsTreeOfManyServersIsReplayedByShortPrograms)
{
    // Every rank of a server is the head of a chunk, the same for all servers: a program that is at
    // its pace has as many bytes for more of them.
    const auto replayedBytes = [](uint32_t servers) {
        OneChannel tree(servers, "Simple", 1 << 30, "nvls-tree");
        tree.GetProfiles().Get(0);
        return static_cast<double>(tree.GetMostBytes());
    };
    EXPECT_LT(replayedBytes(8), 1.5 * replayedBytes(4));
}

namespace
{

/// A program of two flows, and what its replay depends on.
struct Named
{
    CollectiveProgram program;
    std::vector<ProgramFlow> flows;
    std::vector<uint32_t> routes;
    ReplayCosts costs;
    std::vector<uint32_t> classOf;

    ReplayName Find(const FlowRoutes& all) const
    {
        return NameReplay(program, flows, routes, all, costs, classOf);
    }
};

} // namespace

TEST(NameReplay, IsTheSameForThoseThatStandAlikeOnly)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    FlowRoutes routes(cluster, paths, FlowParameters());
    const auto name = [&](DeviceId from, DeviceId to, const std::function<void(Named&)>& change) {
        const auto& gpus = cluster.GetGpus();
        CollectiveRequest request;
        request.bytes = 1 << 20;
        request.vertices = {gpus[from], gpus[to]};
        Named named;
        named.program = MakeProgram(cluster, paths, request);
        named.flows = FindFlows(named.program);
        const NicTable nics(cluster, TransportRules().pxn);
        for (const ProgramFlow& flow : named.flows)
        {
            const Connection connection = PlanConnection(cluster,
                                                         paths,
                                                         nics,
                                                         0,
                                                         flow.channel,
                                                         flow.from == 0 ? from : to,
                                                         flow.to == 0 ? from : to);
            named.routes.push_back(routes.Plan(connection, 0).route);
        }
        named.costs.limits.assign(named.flows.size(), 1e9);
        named.classOf.assign(named.flows.size(), 0);
        change(named);
        return named.Find(routes);
    };
    const ReplayName first = name(0, 1, [](Named&) {});
    EXPECT_EQ(name(2, 3, [](Named&) {}), first);
    EXPECT_EQ(name(9, 12, [](Named&) {}), first);
    EXPECT_NE(name(0, 8, [](Named&) {}), first) << "over the network";
    const std::vector<std::function<void(Named&)>> changes = {
        [](Named& named) { named.program.ranks[1].blocks[0].steps.back().bytes += 1; },
        [](Named& named) { named.program.ranks[0].blocks[0].steps.pop_back(); },
        [](Named& named) { named.program.slots += 1; },
        [](Named& named) { named.costs.limits.back() = 2e9; },
        [](Named& named) { named.costs.groupLatencyPs = 1; },
        [](Named& named) { named.classOf.back() = 1; },
        [](Named& named) { named.routes.back() = named.routes.front(); },
    };
    for (std::size_t i = 0; i < changes.size(); ++i)
    {
        EXPECT_NE(name(0, 1, changes[i]), first) << "change " << i;
    }
}
