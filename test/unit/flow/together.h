/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEST_TOGETHER_H
#define PROTEUS_TEST_TOGETHER_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// Makes graphs of communications that begin at once, each on a stream of its own.
class Together
{
  public:
    explicit Together(uint32_t devices)
        : m_builder(devices),
          m_phase(m_builder.AddPhase("all"))
    {
    }

    TaskId Add(Collective collective,
               const std::vector<DeviceId>& devices,
               uint64_t bytes,
               const std::vector<TaskId>& needs = {},
               uint32_t root = 0)
    {
        const std::string name = "c" + std::to_string(m_count++);
        return m_builder.AddCommunication(m_phase,
                                          m_builder.AddGroup(devices),
                                          m_builder.AddStream(name),
                                          name,
                                          collective,
                                          bytes,
                                          Parallelism::NONE,
                                          needs,
                                          static_cast<uint16_t>(root));
    }

    /// A device computes. @return the task
    TaskId Compute(DeviceId device, int64_t durationPs)
    {
        return m_builder.AddCompute(m_phase,
                                    device,
                                    m_builder.AddStream("c" + std::to_string(m_count++)),
                                    "late",
                                    durationPs);
    }

    ExecutionGraph Build()
    {
        return m_builder.Build();
    }

  private:
    GraphBuilder m_builder;
    PhaseId m_phase;
    uint32_t m_count{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEST_TOGETHER_H
