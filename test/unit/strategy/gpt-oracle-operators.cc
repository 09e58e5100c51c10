/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-oracle-maker.h"

#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

GptGraphMaker::Team
GptGraphMaker::GetTeam(uint32_t stage, uint32_t replica)
{
    Team team;
    team.stage = stage;
    team.replica = replica;
    team.first = GetDevice(0, replica, stage);
    if (m_tp > 1)
    {
        std::vector<DeviceId> devices(m_tp);
        std::iota(devices.begin(), devices.end(), team.first);
        team.group = m_builder.AddGroup(devices);
    }
    return team;
}

GptGraphMaker::Row
GptGraphMaker::Compute(const Team& team,
                       PhaseId phase,
                       const std::string& name,
                       double flops,
                       uint64_t bytes,
                       DataType type,
                       std::initializer_list<const Row*> after)
{
    Row row(m_tp);
    std::vector<TaskId> dependencies;
    for (uint32_t tp = 0; tp < m_tp; ++tp)
    {
        dependencies.clear();
        for (const Row* before : after)
        {
            if (!before->empty())
            {
                dependencies.push_back((*before)[tp]);
            }
        }
        row[tp] = m_builder.AddCompute(phase,
                                       team.first + tp,
                                       m_compute,
                                       name,
                                       flops,
                                       bytes,
                                       type,
                                       dependencies);
    }
    return row;
}

GptGraphMaker::Row
GptGraphMaker::Elementwise(const Team& team,
                           PhaseId phase,
                           const std::string& name,
                           double flops,
                           uint64_t bytes,
                           std::initializer_list<const Row*> after)
{
    return Compute(team, phase, name, flops, bytes, DataType::FP32, after);
}

/// @return the format of a linear layer: the head is no part of the layers that are in fp8
DataType
GptGraphMaker::GetLinearType(const std::string& name) const
{
    return name.rfind("layer", 0) == 0 ? m_plan.dataType : m_coreType;
}

GptGraphMaker::Row
GptGraphMaker::Forward(const Team& team,
                       PhaseId phase,
                       const std::string& name,
                       Linear linear,
                       std::initializer_list<const Row*> after)
{
    const double flops = 2.0 * m_tokens * linear.in * linear.out;
    const uint64_t bytes =
        ELEMENT_BYTES * (m_tokens * (linear.in + linear.out) + linear.in * linear.out);
    return Compute(team, phase, name, flops, bytes, GetLinearType(name), after);
}

GptGraphMaker::Row
GptGraphMaker::InputGradient(const Team& team,
                             const std::string& name,
                             Linear linear,
                             std::initializer_list<const Row*> after)
{
    return Forward(team, m_backward, name + ".input-gradient", linear, after);
}

GptGraphMaker::Row
GptGraphMaker::WeightGradient(const Team& team,
                              const std::string& name,
                              Linear linear,
                              std::initializer_list<const Row*> after)
{
    const double flops = 2.0 * m_tokens * linear.in * linear.out;
    const uint64_t bytes = ELEMENT_BYTES * m_tokens * (linear.in + linear.out) +
                           2 * m_gradientBytes * linear.in * linear.out;
    return Compute(team,
                   m_backward,
                   name + ".weight-gradient",
                   flops,
                   bytes,
                   GetLinearType(name),
                   after);
}

GptGraphMaker::Row
GptGraphMaker::AllReduce(const Team& team,
                         PhaseId phase,
                         const std::string& name,
                         uint64_t bytes,
                         const Row& after)
{
    if (m_tp == 1)
    {
        return after;
    }
    TaskId id = m_builder.AddCommunication(phase,
                                           team.group,
                                           m_communication,
                                           name + ".all-reduce",
                                           Collective::ALL_REDUCE,
                                           bytes,
                                           Parallelism::TENSOR,
                                           after);
    return Row(m_tp, id);
}

GptGraphMaker::Row
GptGraphMaker::Send(const Team& from,
                    const Team& to,
                    PhaseId phase,
                    const std::string& what,
                    Row after)
{
    const std::string name = "stage" + std::to_string(from.stage) + "." + what;
    Row buffer = Memory(from, phase, name, m_activation, after);
    Row row(m_tp);
    for (uint32_t tp = 0; tp < m_tp; ++tp)
    {
        row[tp] = m_builder.AddCommunication(phase,
                                             m_builder.AddGroup({from.first + tp, to.first + tp}),
                                             m_pipeline,
                                             name + ".send",
                                             Collective::SEND_RECV,
                                             m_activation,
                                             Parallelism::PIPELINE,
                                             {after[tp], buffer[tp]});
    }
    return row;
}

GptGraphMaker::Row
GptGraphMaker::Memory(const Team& team,
                      PhaseId phase,
                      const std::string& name,
                      uint64_t bytes,
                      const Row& producers)
{
    Row row(m_tp);
    for (uint32_t tp = 0; tp < m_tp; ++tp)
    {
        row[tp] = m_builder.AddMemory(phase, team.first + tp, name, bytes, {producers[tp]});
    }
    return row;
}

} // namespace proteus
} // namespace ns3
