/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-replica-gathers.h"

#include "proteus-emit-units.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Gathers the parameters of one unit after the other.
class ReplicaGatherer
{
  public:
    /// @param context of the compilation @param tensors that wait @param next iteration
    ReplicaGatherer(EmitContext& context, EmitTensors& tensors, EmitNextIteration& next)
        : m_context(context),
          m_tensors(tensors),
          m_next(next)
    {
    }

    /// @param id of a parameter, which joins the unit if nothing has gathered it
    void Add(TensorId id)
    {
        const PlacedTensor& tensor = m_context.placement.tensors[id];
        if (tensor.tensor.role != TensorRole::PARAMETER || !tensor.needsGradient ||
            !m_known.insert(id).second)
        {
            return;
        }
        const uint64_t bytes = m_context.GetElementBytes(ElementKind::COMPUTE);
        for (const BoxingStep& step :
             PlanBoxing(tensor.optimizer, tensor.home, tensor.tensor.shape))
        {
            for (const BoxingGroup& group : GetBoxingGroups(step, tensor.tensor.shape))
            {
                Group& gathered = m_groups[group.devices];
                gathered.bytes += group.elements * bytes;
                gathered.tensors.push_back(id);
            }
        }
    }

    /// Emits what has been added. @param name of the unit
    void Flush(const std::string& name)
    {
        for (const auto& [devices, group] : m_groups)
        {
            const TaskId task =
                m_context.builder.AddCommunication(m_context.phases.parameters,
                                                   m_context.builder.AddGroup(devices),
                                                   m_context.streams.parameter,
                                                   name + ".parameters.all-gather",
                                                   Collective::ALL_GATHER,
                                                   group.bytes,
                                                   Parallelism::DATA,
                                                   {});
            for (const DeviceId device : devices)
            {
                m_next.firstGathers.emplace(device, task);
                for (const TensorId id : group.tensors)
                {
                    NoteGather(id, device, task);
                }
            }
        }
        m_groups.clear();
    }

    /// @return parameters that wait for a gather
    std::vector<TensorId> GetGathered() const
    {
        return m_gathered;
    }

  private:
    /// What a group of devices gathers together.
    struct Group
    {
        uint64_t bytes{0};
        std::vector<TensorId> tensors;
    };

    void NoteGather(TensorId id, DeviceId device, TaskId task)
    {
        const DeviceMesh& mesh = *m_context.placement.tensors[id].home.mesh;
        std::vector<Row>& rows = m_tensors.values[id].rows;
        if (m_waiting.insert(id).second)
        {
            m_gathered.push_back(id);
            rows.emplace_back(mesh.GetDevices().size(), NO_ID);
        }
        rows.back()[mesh.FindPosition(device)] = task;
    }

    EmitContext& m_context;
    EmitTensors& m_tensors;
    EmitNextIteration& m_next;
    std::set<TensorId> m_known;   //!< that have been added
    std::set<TensorId> m_waiting; //!< the same as m_gathered
    std::vector<TensorId> m_gathered;
    std::map<std::vector<DeviceId>, Group> m_groups; //!< of the unit
};

} // namespace

std::vector<TensorId>
EmitReplicaGathers(EmitContext& context, EmitTensors& tensors, EmitNextIteration& next)
{
    ReplicaGatherer gatherer(context, tensors, next);
    std::pair<std::string, uint32_t> unit;
    for (const PlacedOperator& placed : context.placement.operators)
    {
        const std::string block = FindBlock(placed.op.name);
        const std::pair<std::string, uint32_t> here{block.empty() ? placed.op.name : block,
                                                    placed.stage};
        if (here != unit)
        {
            gatherer.Flush(unit.first);
            unit = here;
        }
        for (const Access& read : placed.op.reads)
        {
            gatherer.Add(read.tensor);
        }
    }
    gatherer.Flush(unit.first);
    return gatherer.GetGathered();
}

} // namespace proteus
} // namespace ns3
