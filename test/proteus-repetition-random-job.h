/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_RANDOM_JOB_H
#define PROTEUS_REPETITION_RANDOM_JOB_H

#include "ns3/proteus-graph.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Random jobs for the tests of repetition.
 */

namespace ns3
{
namespace proteus
{
namespace repetitiontest
{

/// @param random generator @param n above 0 @return a random number from 0 to n - 1
inline uint32_t
Draw(std::mt19937& random, uint32_t n)
{
    return static_cast<uint32_t>(random() % n);
}

/// Makes a random job: layers of kernels, collectives of groups of ranks, and messages.
class RandomJob
{
  public:
    /// @param seed of all choices @param nDevices of the job
    RandomJob(uint32_t seed, uint32_t nDevices)
        : m_random(seed),
          m_nDevices(nDevices),
          m_builder(nDevices),
          m_compute(m_builder.AddStream("compute")),
          m_communication(m_builder.AddStream("communication")),
          m_other(m_builder.AddStream("other")),
          m_phase(m_builder.AddPhase("iteration", 2 + Draw(m_random, 4))),
          m_last(nDevices)
    {
    }

    /// @return the job
    ExecutionGraph Make()
    {
        const uint32_t layers = 1 + Draw(m_random, 4);
        const uint32_t width = m_nDevices >> Draw(m_random, 3);
        for (uint32_t layer = 0; layer < layers; ++layer)
        {
            AddCompute(layer);
            AddCollectives(layer, std::max(width, 2u));
            if (Draw(m_random, 3) == 0)
            {
                AddMessage(layer);
            }
        }
        return m_builder.Build();
    }

  private:
    /// A kernel on every device, late on some.
    void AddCompute(uint32_t layer)
    {
        const int64_t common = 1000000 * (1 + Draw(m_random, 20));
        const uint32_t late = Draw(m_random, 3) == 0 ? Draw(m_random, m_nDevices) : m_nDevices;
        const int64_t step = Draw(m_random, 2) == 0 ? 0 : 777;
        for (DeviceId device = 0; device < m_nDevices; ++device)
        {
            const int64_t more = device == late ? 30000000 : step * device;
            m_last[device] = {m_builder.AddCompute(m_phase,
                                                   device,
                                                   m_compute,
                                                   "compute" + std::to_string(layer),
                                                   common + more,
                                                   m_last[device])};
        }
    }

    /// A collective of all groups of a width, perhaps hidden behind what follows.
    void AddCollectives(uint32_t layer, uint32_t width)
    {
        static const std::vector<Collective> KINDS{Collective::ALL_REDUCE,
                                                   Collective::ALL_REDUCE,
                                                   Collective::ALL_REDUCE,
                                                   Collective::ALL_GATHER,
                                                   Collective::REDUCE_SCATTER,
                                                   Collective::ALL_TO_ALL,
                                                   Collective::BROADCAST};
        const Collective kind = KINDS[Draw(m_random, static_cast<uint32_t>(KINDS.size()))];
        const bool hidden = Draw(m_random, 4) == 0;
        const bool strided = Draw(m_random, 3) == 0;
        const uint64_t bytes = uint64_t{1024} << Draw(m_random, 9);
        const uint32_t groups = m_nDevices / width;
        for (uint32_t group = 0; group < groups; ++group)
        {
            std::vector<DeviceId> members;
            std::vector<TaskId> before;
            for (uint32_t i = 0; i < width; ++i)
            {
                members.push_back(strided ? group + i * groups : group * width + i);
                before.insert(before.end(),
                              m_last[members.back()].begin(),
                              m_last[members.back()].end());
            }
            const TaskId task = m_builder.AddCommunication(m_phase,
                                                           m_builder.AddGroup(members),
                                                           hidden ? m_other : m_communication,
                                                           "collective" + std::to_string(layer),
                                                           kind,
                                                           bytes,
                                                           Parallelism::TENSOR,
                                                           before);
            for (const DeviceId device : members)
            {
                if (!hidden)
                {
                    m_last[device] = {task};
                }
            }
        }
    }

    /// A message between two devices.
    void AddMessage(uint32_t layer)
    {
        const DeviceId from = Draw(m_random, m_nDevices);
        const DeviceId to = (from + 1 + Draw(m_random, m_nDevices - 1)) % m_nDevices;
        const TaskId task = m_builder.AddCommunication(m_phase,
                                                       m_builder.AddGroup({from, to}),
                                                       m_other,
                                                       "message" + std::to_string(layer),
                                                       Collective::SEND_RECV,
                                                       uint64_t{4096} << Draw(m_random, 6),
                                                       Parallelism::PIPELINE,
                                                       m_last[from]);
        m_last[to].push_back(task);
    }

    std::mt19937 m_random;                   //!< of all choices
    uint32_t m_nDevices;                     //!< of the job
    GraphBuilder m_builder;                  //!< of the job
    StreamId m_compute;                      //!< of kernels
    StreamId m_communication;                //!< of most collectives
    StreamId m_other;                        //!< of those that overlap
    PhaseId m_phase;                         //!< all of it
    std::vector<std::vector<TaskId>> m_last; //!< by device: what comes next waits for
};

} // namespace repetitiontest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_RANDOM_JOB_H
