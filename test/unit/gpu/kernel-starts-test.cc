/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-kernel-starts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t WINDOW_PS = 20000000;

/// Launches ranks in the order of their times, and notes when they begin.
class Launches
{
  public:
    /// @param windowPs of ranks
    explicit Launches(int64_t windowPs)
    {
        m_starts.SetUp(0, windowPs);
    }

    /// @param key of a communication @param launchedPs when its ranks are launched
    /// @return when they begin
    std::vector<int64_t> Run(KernelStarts::Key key, const std::vector<int64_t>& launchedPs)
    {
        std::vector<uint32_t> order(launchedPs.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return launchedPs[a] < launchedPs[b];
        });
        m_beginPs.assign(launchedPs.size(), -1);
        for (const uint32_t rank : order)
        {
            ExpireUntil(launchedPs[rank] - 1);
            const KernelStarts::Launch launch =
                m_starts.Add(key,
                             {static_cast<uint32_t>(order.size()), StartRule::WINDOW},
                             {rank, launchedPs[rank], launchedPs[rank]});
            if (launch.wait != ns3::proteus::NO_ID)
            {
                m_expiries.emplace(launch.untilPs, launch.wait);
            }
            for (const KernelStarts::Begin& begin : launch.begins)
            {
                EXPECT_EQ(m_beginPs[begin.rank], -1) << "begun twice";
                m_beginPs[begin.rank] = begin.timePs;
            }
        }
        ExpireUntil(INT64_MAX);
        return m_beginPs;
    }

  private:
    /// @param timePs up to which windows pass
    void ExpireUntil(int64_t timePs)
    {
        while (!m_expiries.empty() && m_expiries.begin()->first <= timePs)
        {
            const auto [atPs, wait] = *m_expiries.begin();
            m_expiries.erase(m_expiries.begin());
            const uint32_t rank = m_starts.Expire(wait);
            if (rank != ns3::proteus::NO_ID)
            {
                EXPECT_EQ(m_beginPs[rank], -1) << "begun twice";
                m_beginPs[rank] = atPs;
            }
        }
    }

    KernelStarts m_starts;                       //!< under test
    std::multimap<int64_t, uint32_t> m_expiries; //!< waits by time
    std::vector<int64_t> m_beginPs;              //!< by rank
};

} // namespace

TEST(KernelStarts, AreTogetherWithinTheWindow)
{
    Launches launches(WINDOW_PS);
    EXPECT_EQ(launches.Run({1, 0}, {1, 5000000, WINDOW_PS, 7}), std::vector<int64_t>(4, WINDOW_PS));
}

TEST(KernelStarts, NeverDelayTheLast)
{
    // They know of the last one when it is launched.
    Launches launches(WINDOW_PS);
    EXPECT_EQ(launches.Run({1, 0}, {0, 30000000, 25000000, 9000000}),
              (std::vector<int64_t>{WINDOW_PS, 30000000, 30000000, 29000000}));
}

TEST(KernelStarts, AreWholeWindowsBeforeTheLast)
{
    KernelStarts starts;
    starts.SetUp(0, 1000);
    const KernelStarts::Communication ring{4, StartRule::WINDOW};
    // Launched 6,000 after they join: the first one begins before they know of the last one.
    EXPECT_TRUE(starts.Add({1, 0}, ring, {0, 10000, 4000}).begins.empty());
    EXPECT_TRUE(starts.Add({1, 0}, ring, {1, 14300, 8300}).begins.empty());
    EXPECT_TRUE(starts.Add({1, 0}, ring, {2, 17000, 11000}).begins.empty());
    const auto launch = starts.Add({1, 0}, ring, {3, 17500, 11500});
    std::map<uint32_t, int64_t> beginPs;
    for (const KernelStarts::Begin& begin : launch.begins)
    {
        beginPs[begin.rank] = begin.timePs;
    }
    EXPECT_EQ(beginPs, (std::map<uint32_t, int64_t>{{1, 14500}, {2, 17500}, {3, 17500}}));
}

namespace
{

/// @param rule of both, MESSAGE or PAIR @param newsPs after which they know of each other
/// @return when receiver and sender begin, that join and are launched at these times
std::pair<int64_t, int64_t>
BeginBoth(StartRule rule,
          KernelStarts::Rank receiver,
          KernelStarts::Rank sender,
          int64_t newsPs = 0)
{
    receiver.id = 0;
    receiver.isReceiver = rule == StartRule::MESSAGE;
    sender.id = 1;
    KernelStarts starts;
    starts.SetUp(0, WINDOW_PS);
    const bool isReceiverFirst = receiver.joinedPs < sender.joinedPs;
    const KernelStarts::Communication both{2, rule, newsPs};
    EXPECT_TRUE(starts.Add({1, 0}, both, isReceiverFirst ? receiver : sender).begins.empty());
    const auto launch = starts.Add({1, 0}, both, isReceiverFirst ? sender : receiver);
    EXPECT_EQ(launch.wait, ns3::proteus::NO_ID);
    std::map<uint32_t, int64_t> beginPs;
    for (const KernelStarts::Begin& begin : launch.begins)
    {
        beginPs[begin.rank] = begin.timePs;
    }
    return {beginPs.at(0), beginPs.at(1)};
}

/// The same for a message.
std::pair<int64_t, int64_t>
BeginMessage(const KernelStarts::Rank& receiver,
             const KernelStarts::Rank& sender,
             int64_t newsPs = 0)
{
    return BeginBoth(StartRule::MESSAGE, receiver, sender, newsPs);
}

} // namespace

TEST(KernelStarts, OfReceiversAreWhenSendersJoin)
{
    // However long before they are launched: room is granted when the sender begins.
    EXPECT_EQ(BeginMessage({0, 6000, 0}, {0, 106000, 100000}), std::make_pair(100001L, 106000L));
    EXPECT_EQ(BeginMessage({0, 96000, 90000}, {0, 106000, 100000}),
              std::make_pair(100001L, 106000L));
    // Launched later than that.
    EXPECT_EQ(BeginMessage({0, 104000, 98000}, {0, 106000, 100000}),
              std::make_pair(104000L, 106000L));
}

TEST(KernelStarts, OfSendersAreNotBeforeReceivers)
{
    EXPECT_EQ(BeginMessage({0, 107000, 101000}, {0, 106000, 100000}),
              std::make_pair(107000L, 107000L));
    EXPECT_EQ(BeginMessage({0, 907000, 901000}, {0, 106000, 100000}),
              std::make_pair(907000L, 907000L));
}

TEST(KernelStarts, OfMessagesAreNotBeforeTheNewsOfJoins)
{
    EXPECT_EQ(BeginMessage({0, 6000, 0}, {0, 106000, 100000}, 500),
              std::make_pair(100500L, 106000L));
    // Launched in less time than news take.
    EXPECT_EQ(BeginMessage({0, 400, 0}, {0, 100400, 100000}, 500),
              std::make_pair(100500L, 100500L));
}

TEST(KernelStarts, OfPairsAreWhenBothJoin)
{
    // The first to come, whichever it is, begins while the other one is being launched.
    EXPECT_EQ(BeginBoth(StartRule::PAIR, {0, 6000, 0}, {0, 106000, 100000}, 500),
              std::make_pair(100500L, 106000L));
    EXPECT_EQ(BeginBoth(StartRule::PAIR, {0, 106000, 100000}, {0, 6000, 0}, 500),
              std::make_pair(106000L, 100500L));
    // Launched later than that; unlike a sender, neither waits for the launch of the other.
    EXPECT_EQ(BeginBoth(StartRule::PAIR, {0, 120000, 98000}, {0, 106000, 100000}, 500),
              std::make_pair(120000L, 106000L));
    // Launched in less time than news take.
    EXPECT_EQ(BeginBoth(StartRule::PAIR, {0, 400, 0}, {0, 100400, 100000}, 500),
              std::make_pair(100500L, 100500L));
}

namespace
{

/// @param ranks of a ring, or 2 @param isMutual of 2, whether both send
/// @return a program of that many ranks with one step for each that sends or receives
CollectiveProgram
MakeSteps(uint32_t ranks, bool isMutual)
{
    CollectiveProgram program;
    program.ranks.resize(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        ThreadBlock block;
        Step step;
        step.bytes = 4096;
        const bool sends = rank == 0 || isMutual;
        const bool receives = rank != 0 || isMutual;
        step.kind = !sends ? StepKind::RECV : receives ? StepKind::RECV_COPY_SEND : StepKind::SEND;
        block.sendPeer = sends ? (rank + 1) % ranks : NO_RANK;
        block.receivePeer = receives ? (rank + ranks - 1) % ranks : NO_RANK;
        block.steps.push_back(step);
        program.ranks[rank].blocks.push_back(block);
    }
    return program;
}

/// Adds a block of one step. @param program to add it to @param rank whose block it is
/// @param kind SEND or RECV @param peer to whom or from whom @return its number
uint32_t
AddBlock(CollectiveProgram& program, uint32_t rank, StepKind kind, uint32_t peer)
{
    ThreadBlock block;
    (kind == StepKind::SEND ? block.sendPeer : block.receivePeer) = peer;
    Step step;
    step.kind = kind;
    step.bytes = 4096;
    block.steps.push_back(step);
    program.ranks[rank].blocks.push_back(block);
    return static_cast<uint32_t>(program.ranks[rank].blocks.size() - 1);
}

/// @param isWhole whether ranks pass on what they get to
/// @return an all-to-all of ranks 0 and 1 with 2 and 3, where 0 talks to 2 and 1 to 3 of the other
/// server only
CollectiveProgram
MakeRails(bool isWhole)
{
    CollectiveProgram program;
    program.ranks.resize(4);
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        for (const uint32_t peer : {rank ^ 1, rank ^ 2})
        {
            AddBlock(program, rank, StepKind::SEND, peer);
            AddBlock(program, rank, StepKind::RECV, peer);
        }
    }
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        const uint32_t got = AddBlock(program, rank, StepKind::RECV, rank ^ 1);
        const uint32_t passed = AddBlock(program, rank, StepKind::SEND, rank ^ 2);
        if (isWhole)
        {
            program.ranks[rank].blocks[passed].steps[0].waitBlock = got;
        }
    }
    return program;
}

/// @param collective that a task does @return the task
Task
MakeTask(Collective collective)
{
    Task task;
    task.collective = collective;
    return task;
}

} // namespace

TEST(KernelStarts, HaveARuleByWhoNeedsWhom)
{
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_REDUCE), MakeSteps(4, true)),
              StartRule::WINDOW);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_REDUCE), MakeSteps(2, true)), StartRule::PAIR);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::SEND_RECV), MakeSteps(2, true)), StartRule::PAIR);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::SEND_RECV), MakeSteps(2, false)),
              StartRule::MESSAGE);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_TO_ALL), MakeSteps(2, true)), StartRule::PAIR);
    // A ring does not bring something of all ranks to all in one step.
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_TO_ALL), MakeSteps(4, true)),
              StartRule::APART);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_TO_ALL), MakeRails(true)), StartRule::WINDOW);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_TO_ALL), MakeRails(false)), StartRule::APART);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::BROADCAST), MakeSteps(4, true)), StartRule::APART);
    CollectiveProgram inSwitches = MakeSteps(4, true);
    inSwitches.groups.resize(1);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_REDUCE), inSwitches), StartRule::WINDOW);
    EXPECT_EQ(FindStartRule(MakeTask(Collective::ALL_GATHER), inSwitches), StartRule::APART);
}

namespace
{

/// Processes that know some ranks of a communication each, and of the others after a while.
class Processes
{
  public:
    /// @param ranks of a communication @param ownerOf by rank: which process has it
    /// @param newsPs after which others know @param random says when exactly
    /// @return when ranks begin
    static std::vector<int64_t> Run(const std::vector<KernelStarts::Rank>& ranks,
                                    const std::vector<uint32_t>& ownerOf,
                                    int64_t newsPs,
                                    std::mt19937& random)
    {
        std::vector<int64_t> beginPs(ranks.size(), -1);
        for (uint32_t process = 0; process < ranks.size(); ++process)
        {
            std::multimap<int64_t, KernelStarts::Rank> heard;
            for (const KernelStarts::Rank& rank : ranks)
            {
                const bool isOwn = ownerOf[rank.id] == process;
                KernelStarts::Rank known = rank;
                known.id = isOwn ? rank.id : ns3::proteus::NO_ID;
                heard.emplace(rank.joinedPs + (isOwn ? 0 : random() % newsPs), known);
            }
            RunOne({static_cast<uint32_t>(ranks.size()), StartRule::WINDOW, newsPs},
                   heard,
                   beginPs);
        }
        return beginPs;
    }

  private:
    /// @param communication which one @param heard when one process hears of which rank
    /// @param beginPs gets the begins of its own
    static void RunOne(const KernelStarts::Communication& communication,
                       const std::multimap<int64_t, KernelStarts::Rank>& heard,
                       std::vector<int64_t>& beginPs)
    {
        KernelStarts starts;
        starts.SetUp(0, WINDOW_PS);
        std::multimap<int64_t, uint32_t> expiries;
        const auto expireBefore = [&](int64_t timePs) {
            while (!expiries.empty() && expiries.begin()->first < timePs)
            {
                const uint32_t rank = starts.Expire(expiries.begin()->second);
                if (rank != ns3::proteus::NO_ID)
                {
                    beginPs[rank] = expiries.begin()->first;
                }
                expiries.erase(expiries.begin());
            }
        };
        for (const auto& [timePs, rank] : heard)
        {
            expireBefore(timePs);
            const auto launch = starts.Add({1, 0}, communication, rank);
            if (launch.wait != ns3::proteus::NO_ID)
            {
                expiries.emplace(launch.untilPs, launch.wait);
            }
            for (const KernelStarts::Begin& begin : launch.begins)
            {
                EXPECT_GT(begin.timePs, timePs) << "too late to begin";
                beginPs[begin.rank] = begin.timePs;
            }
        }
        expireBefore(INT64_MAX);
    }
};

} // namespace

TEST(KernelStarts, DoNotDependOnWhichProcessHasWhichRank)
{
    std::mt19937 random(11);
    for (int number = 0; number < 500; ++number)
    {
        const int64_t newsPs = 1 + random() % 3000000;
        std::vector<KernelStarts::Rank> ranks(3 + random() % 6);
        std::vector<uint32_t> ownerOf(ranks.size());
        int64_t knownPs = 0;
        int64_t lastPs = 0;
        for (uint32_t id = 0; id < ranks.size(); ++id)
        {
            const int64_t joinedPs = random() % (3 * WINDOW_PS);
            const int64_t launchPs = 1 + random() % 30000000;
            ranks[id] = {id, joinedPs + launchPs, joinedPs};
            ownerOf[id] = random() % ranks.size();
            knownPs = std::max(knownPs, joinedPs + newsPs);
            lastPs = std::max(lastPs, joinedPs + launchPs);
        }
        lastPs = std::max(lastPs, knownPs);
        const std::vector<uint32_t> one(ranks.size(), 0);
        const auto together = Processes::Run(ranks, one, newsPs, random);
        EXPECT_EQ(Processes::Run(ranks, ownerOf, newsPs, random), together);
        for (const KernelStarts::Rank& rank : ranks)
        {
            const int64_t waitPs = (lastPs - rank.launchedPs) % WINDOW_PS;
            const bool isKnown = rank.launchedPs + waitPs >= knownPs;
            EXPECT_EQ(together[rank.id], rank.launchedPs + (isKnown ? waitPs : WINDOW_PS));
        }
    }
}

TEST(KernelStarts, AreEarlierOfLastLaunchAndWindow)
{
    std::mt19937 random(7);
    Launches launches(WINDOW_PS);
    for (uint32_t number = 0; number < 500; ++number)
    {
        std::vector<int64_t> launchedPs(3 + random() % 8);
        for (int64_t& timePs : launchedPs)
        {
            timePs = int64_t{number} * 1000000000 + random() % (3 * WINDOW_PS);
        }
        const int64_t lastPs = *std::max_element(launchedPs.begin(), launchedPs.end());
        const std::vector<int64_t> beginPs = launches.Run({number % 3, number % 2}, launchedPs);
        for (std::size_t rank = 0; rank < beginPs.size(); ++rank)
        {
            EXPECT_EQ(beginPs[rank], std::min(lastPs, launchedPs[rank] + WINDOW_PS));
        }
    }
}

TEST(KernelStarts, OfLongCollectivesHaveALongerWindow)
{
    for (const int64_t windowPs : {WINDOW_PS / 2, 3 * WINDOW_PS})
    {
        KernelStarts starts;
        starts.SetUp(0, WINDOW_PS);
        const KernelStarts::Communication ring{3, StartRule::WINDOW, 0, windowPs};
        const int64_t usedPs = std::max(windowPs, WINDOW_PS);
        EXPECT_EQ(starts.Add({0, 0}, ring, {0, 1000, 0}).untilPs, 1000 + usedPs);
        EXPECT_EQ(starts.Add({0, 0}, ring, {1, 2000, 0}).untilPs, 2000 + usedPs);
        const int64_t lastPs = 1500 + 2 * usedPs;
        const KernelStarts::Launch launch = starts.Add({0, 0}, ring, {2, lastPs, 0});
        ASSERT_EQ(launch.begins.size(), 3u);
        EXPECT_EQ(launch.begins[0].timePs, lastPs - 2 * usedPs);
        EXPECT_EQ(launch.begins[1].timePs, lastPs - usedPs);
        EXPECT_EQ(launch.begins[2].timePs, lastPs);
    }
}

TEST(KernelStarts, AreOnAGrid)
{
    KernelStarts starts;
    EXPECT_EQ(starts.Align(1234567), 1234567);
    EXPECT_FALSE(starts.HasWindow());
    starts.SetUp(100000, WINDOW_PS);
    EXPECT_TRUE(starts.HasWindow());
    EXPECT_EQ(starts.Align(1200000), 1200000);
    EXPECT_EQ(starts.Align(1200001), 1300000);
}
