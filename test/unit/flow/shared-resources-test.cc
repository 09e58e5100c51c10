/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-shared-resources.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Users that come and go, and their rates as they were said last.
class Scenario
{
  public:
    /// @param hasAll whether some uses come first and flows have inputs
    /// @param isEven whether all numbers are the least ones, so that several resources hold a flow
    Scenario(uint64_t seed, uint32_t resources, bool hasAll = false, bool isEven = false)
        : m_random(seed),
          m_hasAll(hasAll),
          m_isEven(isEven)
    {
        m_shares.SetInputBuffer(BUFFER_BYTES);
        for (uint32_t i = 0; i < resources; ++i)
        {
            m_capacities.push_back(GetNumber(1, 5));
            m_sharing.push_back(i % 2 == 0 ? 1 : 0.75);
            m_shares.AddResource(m_capacities.back(), m_sharing.back());
        }
    }

    /// Something changes.
    void Change()
    {
        const uint32_t what = m_random() % 5;
        if (m_users.empty() || what == 0)
        {
            Add();
            return;
        }
        auto place = m_users.begin();
        std::advance(place, m_random() % m_users.size());
        User& user = *place->second;
        if (what == 1)
        {
            m_shares.RemoveUser(place->first);
            m_users.erase(place);
        }
        else if (what == 2)
        {
            user.limit = GetLimit(user.uses) * GetNumber(0.1, 1);
            m_shares.SetLimit(place->first, user.limit);
        }
        else if (what == 3 && user.count > 0)
        {
            --user.count;
            m_shares.ChangeCount(place->first, -1);
        }
        else
        {
            user.count += 2;
            m_shares.ChangeCount(place->first, 2);
        }
    }

    /// Takes the rates that are said to have changed. @return how many were
    std::size_t Solve()
    {
        std::size_t n = 0;
        if (m_shares.HasChanged())
        {
            for (const auto& share : m_shares.Solve())
            {
                m_users.at(share.user)->rate = share.rate;
                ++n;
            }
        }
        EXPECT_FALSE(m_shares.HasChanged());
        return n;
    }

    /// Compares all rates with those of one solution from scratch.
    void Compare() const
    {
        MaxMinSolver solver;
        std::vector<uint32_t> flowsOf(m_capacities.size(), 0);
        for (const auto& entry : m_users)
        {
            for (const FlowUse& use : entry.second->uses)
            {
                flowsOf[use.resource] += entry.second->count;
            }
        }
        for (std::size_t i = 0; i < m_capacities.size(); ++i)
        {
            solver.AddResource(flowsOf[i] > 1 ? m_capacities[i] * m_sharing[i] : m_capacities[i]);
        }
        std::vector<const User*> flows;
        for (const auto& entry : m_users)
        {
            const User& user = *entry.second;
            if (user.count > 0)
            {
                solver.AddFlow(user.limit);
                for (const FlowUse& use : user.uses)
                {
                    solver.AddUse(use.resource, use.amount * user.count);
                }
                flows.push_back(&user);
            }
        }
        solver.Solve();
        std::vector<double> taken(m_capacities.size(), 0);
        for (uint32_t i = 0; i < flows.size(); ++i)
        {
            ASSERT_NEAR(flows[i]->rate, solver.GetRate(i), 1e-7 * flows[i]->limit);
            for (const FlowUse& use : flows[i]->uses)
            {
                taken[use.resource] += flows[i]->rate * use.amount * flows[i]->count;
            }
        }
        for (std::size_t i = 0; i < m_capacities.size(); ++i)
        {
            ASSERT_LE(taken[i], m_capacities[i] * (1 + 1e-7));
        }
    }

    /// Compares all rates with those of users that have come all at once.
    void CompareWithNewcomers() const
    {
        SharedResources shares;
        shares.SetInputBuffer(BUFFER_BYTES);
        for (std::size_t i = 0; i < m_capacities.size(); ++i)
        {
            shares.AddResource(m_capacities[i], m_sharing[i]);
        }
        std::map<uint32_t, const User*> users;
        for (const auto& entry : m_users)
        {
            const User& user = *entry.second;
            const uint32_t id = shares.AddUser(user.uses, user.limit, &user.inputs);
            shares.ChangeCount(id, static_cast<int>(user.count));
            shares.ChangeBytes(id, user.bytes);
            users[id] = &user;
        }
        for (const auto& share : shares.Solve())
        {
            const User& user = *users.at(share.user);
            if (user.count > 0)
            {
                ASSERT_NEAR(user.rate, share.rate, 1e-5 * user.limit);
            }
        }
    }

    /// @return number of users
    std::size_t GetNUsers() const
    {
        return m_users.size();
    }

  private:
    /// A user as the test knows it.
    struct User
    {
        std::vector<FlowUse> uses;
        std::vector<FlowInput> inputs;
        double bytes{0};
        double limit{0};
        uint32_t count{0};
        double rate{0};
    };

    double GetNumber(double least, double most)
    {
        const double number = std::uniform_real_distribution<double>(least, most)(m_random);
        return m_isEven ? least : number;
    }

    /// @return what a flow can have alone
    double GetLimit(const std::vector<FlowUse>& uses) const
    {
        double limit = 1e9;
        for (const FlowUse& use : uses)
        {
            limit = std::min(limit, m_capacities[use.resource] / use.amount);
        }
        return limit;
    }

    /// Answers come first on some resources, and links out of switches have inputs.
    void MakeSpecial(User& user)
    {
        for (FlowUse& use : user.uses)
        {
            if (use.resource % 3 == 0 && &use != &user.uses.back())
            {
                use.comesFirst = true;
                use.amount = GetNumber(0.01, 0.05);
            }
            else if (use.resource % 3 == 1)
            {
                user.inputs.push_back({use.resource, 100 + static_cast<uint32_t>(m_random() % 3)});
            }
        }
        user.bytes = user.count * GetNumber(0.5, 4) * BUFFER_BYTES;
        user.limit = GetLimit(user.uses);
    }

    void Add()
    {
        auto user = std::make_unique<User>();
        for (uint32_t resource = 0; resource < m_capacities.size(); ++resource)
        {
            const bool isLast = resource + 1 == m_capacities.size();
            if (m_random() % 4 == 0 || (isLast && (!m_hasAll || user->uses.empty())))
            {
                user->uses.push_back({resource, GetNumber(0.5, 2), 0});
            }
        }
        user->limit = GetLimit(user->uses);
        user->count = 1 + m_random() % 3;
        if (m_hasAll)
        {
            MakeSpecial(*user);
        }
        const uint32_t id = m_shares.AddUser(user->uses, user->limit, &user->inputs);
        m_shares.ChangeBytes(id, user->bytes);
        m_shares.ChangeCount(id, static_cast<int>(user->count));
        EXPECT_TRUE(m_users.emplace(id, std::move(user)).second);
    }

    static constexpr double BUFFER_BYTES = 1000;

    std::mt19937_64 m_random;
    const bool m_hasAll;
    const bool m_isEven;
    std::vector<double> m_capacities;
    std::vector<double> m_sharing;
    SharedResources m_shares;
    std::map<uint32_t, std::unique_ptr<User>> m_users;
};

} // namespace

TEST(SharedResources, RatesAreThoseOfASolutionFromScratchWhateverComesAndGoes)
{
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        Scenario scenario(seed, 12);
        for (uint32_t i = 0; i < 300; ++i)
        {
            for (uint64_t changes = 1 + i % 3; changes > 0; --changes)
            {
                scenario.Change();
            }
            scenario.Solve();
            scenario.Compare();
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << ", change " << i;
        }
        EXPECT_GT(scenario.GetNUsers(), 0u);
    }
}

TEST(SharedResources, WithAnswersAndInputsItDoesNotMatterInWhichOrderUsersCome)
{
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        Scenario scenario(seed, 12, true, seed % 2 == 0);
        for (uint32_t i = 0; i < 200; ++i)
        {
            scenario.Change();
            scenario.Solve();
            scenario.CompareWithNewcomers();
            ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << ", change " << i;
        }
    }
}

TEST(SharedResources, OnlyWhatAChangeCanReachIsComputed)
{
    // Two pairs of users, each on a link of its own, and a link that all use but nobody fills.
    SharedResources shares;
    const uint32_t left = shares.AddResource(1);
    const uint32_t right = shares.AddResource(1);
    const uint32_t wide = shares.AddResource(100);
    const std::vector<FlowUse> onLeft{{left, 1, 0}, {wide, 1, 0}};
    const std::vector<FlowUse> onRight{{right, 1, 0}, {wide, 1, 0}};
    const auto add = [&](const std::vector<FlowUse>& uses) {
        const uint32_t user = shares.AddUser(uses, 1);
        shares.ChangeCount(user, 1);
        return user;
    };
    const uint32_t first = add(onLeft);
    const uint32_t second = add(onLeft);
    const uint32_t third = add(onRight);
    const auto solve = [&]() {
        std::map<uint32_t, double> rates;
        for (const auto& share : shares.Solve())
        {
            rates[share.user] = share.rate;
        }
        return rates;
    };
    using Rates = std::map<uint32_t, double>;
    EXPECT_EQ(solve(), (Rates{{first, 0.5}, {second, 0.5}, {third, 1}}));
    // One more on the right: the left does not hear of it.
    const uint32_t fourth = add(onRight);
    EXPECT_EQ(solve(), (Rates{{third, 0.5}, {fourth, 0.5}}));
    shares.RemoveUser(first);
    EXPECT_EQ(solve().at(second), 1);
    EXPECT_EQ(shares.GetNUsers(left), 1u);
    EXPECT_EQ(shares.FindUsed(), left);
    for (const uint32_t user : {second, third, fourth})
    {
        shares.RemoveUser(user);
    }
    EXPECT_EQ(shares.FindUsed(), NO_ID);
    EXPECT_FALSE(shares.HasChanged() && !shares.Solve().empty());
}

TEST(SharedResources, WhatSomethingElseHoldsWantsNoMoreThanItHas)
{
    SharedResources shares;
    const uint32_t wide = shares.AddResource(10);
    const uint32_t narrow = shares.AddResource(2);
    const std::vector<FlowUse> both{{wide, 1, 0}, {narrow, 1, 0}};
    const std::vector<FlowUse> one{{wide, 2, 0}};
    const uint32_t held = shares.AddUser(both, 8);
    const uint32_t slow = shares.AddUser(one, 0.5);
    const uint32_t fast = shares.AddUser(one, 5);
    for (const uint32_t user : {held, slow, fast})
    {
        shares.ChangeCount(user, 1);
    }
    shares.Solve();
    // Of the wide one: 2, as the narrow one has no more; what its limit is; all that it could use,
    // though others leave it 7.
    const std::map<uint32_t, double> demands{{held, 2}, {slow, 1}, {fast, 10}};
    ASSERT_EQ(shares.GetActive(wide).size(), demands.size());
    for (const auto& active : shares.GetActive(wide))
    {
        const double alone = shares.GetLimit(active.user);
        EXPECT_DOUBLE_EQ(shares.GetDemand(wide, active, alone), demands.at(active.user))
            << active.user;
    }
}

TEST(SharedResources, SendersOfAFullResourceTakeTurnsInTheOrderInWhichTheyCome)
{
    SharedResources shares;
    const uint32_t link = shares.AddResource(1);
    const std::vector<FlowUse> sends{{link, 1, 1}};
    const std::vector<FlowUse> answers{{link, 0.1, 0, true}};
    std::vector<uint32_t> users;
    std::vector<SharedResources::Places> places(4);
    for (std::size_t i = 0; i < places.size(); ++i)
    {
        users.push_back(shares.AddUser(sends, 0.4));
        shares.ChangeCount(users.back(), 1);
        shares.NotePlaces(users.back(), places[i]);
    }
    shares.ChangeCount(shares.AddUser(answers, 0.4), 1); // sends nothing
    shares.Solve();
    for (std::size_t i = 0; i < places.size(); ++i)
    {
        EXPECT_DOUBLE_EQ(shares.GetPartBehind(users[i], places[i]), (3.0 - i) / 4);
    }
    // Two are left, which the link can bear: nobody waits for anybody.
    shares.ChangeCount(users[0], -1);
    shares.ChangeCount(users[1], -1);
    shares.Solve();
    EXPECT_EQ(shares.GetPartBehind(users[2], places[2]), 0);
}

TEST(SharedResources, WhatWaitsForAFullOutputHoldsUpWhatComesBehindIt)
{
    // One NIC sends over a switch to two outputs, one of which another NIC fills, too.
    constexpr double BUFFER = 1000;
    SharedResources shares;
    shares.SetInputBuffer(BUFFER);
    const uint32_t nic = shares.AddResource(10);
    const uint32_t other = shares.AddResource(10);
    const uint32_t full = shares.AddResource(4);
    const uint32_t free = shares.AddResource(10);
    const std::vector<FlowUse> ofWaiting{{nic, 1, 1}, {full, 1, 1}};
    const std::vector<FlowUse> ofBehind{{nic, 1, 1}, {free, 1, 1}};
    const std::vector<FlowUse> ofOther{{other, 1, 1}, {full, 1, 1}};
    const std::vector<FlowInput> toFull{{nic, 100}, {full, nic}};
    const std::vector<FlowInput> toFree{{nic, 100}, {free, nic}};
    const std::vector<FlowInput> fromOther{{other, 101}, {full, other}};
    std::map<uint32_t, double> rates;
    const auto solve = [&]() {
        for (const auto& share : shares.Solve())
        {
            rates[share.user] = share.rate;
        }
    };
    const auto add = [&](const auto& uses, const auto& inputs, double bytes) {
        const uint32_t user = shares.AddUser(uses, 10, &inputs);
        shares.ChangeBytes(user, bytes);
        shares.ChangeCount(user, 1);
        return user;
    };
    const uint32_t behind = add(ofBehind, toFree, 100 * BUFFER);
    const uint32_t waiting = add(ofWaiting, toFull, 1.5 * BUFFER);
    add(ofOther, fromOther, 1.5 * BUFFER);
    // Half of what waits is still to come, which the buffer holds: the other has what is left.
    solve();
    EXPECT_NEAR(rates[waiting], 2, 1e-9);
    EXPECT_NEAR(rates[behind], 8, 1e-9);
    // More than it holds, and both come in turns.
    shares.ChangeBytes(waiting, BUFFER);
    shares.NoteChange(waiting);
    solve();
    EXPECT_NEAR(rates[waiting], 2, 1e-9);
    EXPECT_NEAR(rates[behind], 2, 1e-9);
    // What goes the same way is held by its output only.
    const uint32_t same = add(ofWaiting, toFull, 100 * BUFFER);
    solve();
    EXPECT_NEAR(rates[behind], rates[waiting], 1e-9);
    EXPECT_NEAR(rates[same], rates[waiting], 1e-9);
    // When nobody waits any more, all of the NIC is free.
    shares.RemoveUser(same);
    shares.ChangeCount(waiting, -1);
    solve();
    EXPECT_NEAR(rates[behind], 10, 1e-9);
    shares.ChangeCount(waiting, 1);
    solve();
    EXPECT_NEAR(rates[behind], 2, 1e-9);
    shares.RemoveUser(waiting);
    solve();
    EXPECT_NEAR(rates[behind], 10, 1e-9);
}
