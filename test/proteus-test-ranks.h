/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEST_RANKS_H
#define PROTEUS_TEST_RANKS_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-rank-partition.h"
#include "ns3/proteus-ranks.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <iostream>
#include <stdexcept>

/**
 * @file
 * @ingroup proteus-tests
 * Test suites that mpirun starts as several processes.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus-tests
 * One simulation of a test. If mpirun has started the suite, its processes (MPI ranks) simulate the
 * cluster together, where it can be divided among them; else each of them simulates all of it, as
 * one process does. In the end, all of them have the results, and check them.
 */
class TestRanks
{
  public:
    /// @param cluster to be simulated @param divides false: every process is to simulate all of it
    explicit TestRanks(const Cluster& cluster, bool divides = true)
    {
        Processes& processes = Processes::Get();
        ++processes.simulations;
        if (divides && CanBeDivided(cluster, processes.count))
        {
            Meet();
            ++processes.divided;
        }
    }

    ~TestRanks()
    {
        Simulator::Destroy();
        Part();
    }

    TestRanks(const TestRanks&) = delete;
    TestRanks& operator=(const TestRanks&) = delete;

    /// @return whether mpirun has started the suite as several processes
    static bool AreSeveral()
    {
        return Processes::Get().count > 1;
    }

  private:
    /// The processes of the suite.
    struct Processes
    {
        RankSession session;     //!< with them
        uint32_t rank;           //!< this one
        uint32_t count;          //!< how many
        uint32_t simulations{0}; //!< so far
        uint32_t divided{0};     //!< of them, those that processes did together

        Processes()
            : session(0, nullptr),
              rank(GetRank()),
              count(GetNRanks())
        {
            Part();
        }

        ~Processes()
        {
            if (count > 1 && rank == 0)
            {
                std::cerr << divided << " of " << simulations << " simulations divided among "
                          << count << " processes\n";
            }
        }

        /// @return those that there are
        static Processes& Get()
        {
            static Processes processes;
            return processes;
        }
    };

    /// Parts from the other processes: what this one simulates from here on it simulates alone, and
    /// they do the same. Between simulations.
    static void Part();

    /// Comes back after Part(), as all other processes have to. Between simulations.
    static void Meet();

    /// @param cluster to divide @param processes how many @return whether several can have parts
    static bool CanBeDivided(const Cluster& cluster, uint32_t processes)
    {
        try
        {
            return processes > 1 && !PartitionCluster(cluster, processes).rankOf.empty();
        }
        catch (const std::invalid_argument&)
        {
            return false;
        }
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEST_RANKS_H
