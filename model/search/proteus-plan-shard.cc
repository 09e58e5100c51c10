/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-shard.h"

#include "ns3/proteus-placement.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS = 1e-12; // seconds

/// The parts of a model by their names.
class Parts
{
  public:
    explicit Parts(const Model& model)
    {
        for (const ModelOperator& op : model.GetOperators())
        {
            const std::string name = GetName(op.name);
            if (m_number.emplace(name, m_parts.size()).second)
            {
                m_parts.emplace_back();
                m_parts.back().name = name;
            }
        }
    }

    static std::string GetName(const std::string& path)
    {
        return path.substr(0, path.find('.'));
    }

    /// @param path of an operator, a tensor or a task @return its part; null for none
    PlanPart* Find(const std::string& path)
    {
        const auto found = m_number.find(GetName(path));
        return found == m_number.end() ? nullptr : &m_parts[found->second];
    }

    PlanShard Take()
    {
        return std::move(m_parts);
    }

  private:
    PlanShard m_parts;
    std::map<std::string, std::size_t> m_number;
};

bool
IsWeightGradient(const std::string& name)
{
    return name.find(".weight-gradient") != std::string::npos;
}

/// The tasks of a graph as device 0 sees them.
class ShardWalk
{
  public:
    ShardWalk(const ExecutionGraph& graph, const CommunicationCost& cost, Parts& parts)
        : m_graph(graph),
          m_cost(cost),
          m_parts(parts),
          m_isAwaited(graph.GetNTasks(), false),
          m_isCovered(graph.GetNTasks(), false),
          m_isSaved(graph.GetNTasks(), false),
          m_leaves(graph.GetNTasks(), false)
    {
    }

    void Run()
    {
        FindReaders();
        FindCovered();
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            const std::string& name = m_graph.GetName(task);
            PlanPart* const part = m_parts.Find(name);
            const bool isForward = IsForward(task);
            if (part == nullptr || (!isForward && !IsBackward(task)))
            {
                continue;
            }
            if (task.kind == TaskKind::COMPUTE && task.place == 0)
            {
                AddKernel(task, name, isForward, *part);
            }
            else if (task.kind == TaskKind::COMMUNICATION && m_isAwaited[id] && !m_isCovered[id])
            {
                AddCommunication(task, isForward, *part);
            }
            else if (task.kind == TaskKind::MEMORY && task.place == 0 && isForward)
            {
                part->savedBytes += m_isSaved[id] ? static_cast<double>(task.bytes) : 0;
                part->boundaryBytes += m_leaves[id] ? static_cast<double>(task.bytes) : 0;
            }
        }
    }

  private:
    bool IsForward(const Task& task) const
    {
        return m_graph.GetPhases()[task.phase].name == "forward";
    }

    bool IsBackward(const Task& task) const
    {
        return m_graph.GetPhases()[task.phase].name == "backward";
    }

    /// Who reads what: from the last task to the first, as tasks come after what they depend on.
    void FindReaders()
    {
        for (TaskId id = m_graph.GetNTasks(); id-- > 0;)
        {
            const Task& task = m_graph.GetTask(id);
            const std::string& name = m_graph.GetName(task);
            // The products that make gradients of parameters keep nobody waiting.
            const bool waits =
                task.kind == TaskKind::COMPUTE ? !IsWeightGradient(name) : bool{m_isAwaited[id]};
            for (const TaskId before : m_graph.GetDependencies(id))
            {
                const Task& source = m_graph.GetTask(before);
                m_isAwaited[before] = m_isAwaited[before] || waits;
                m_isSaved[before] = m_isSaved[before] || (IsForward(source) && IsBackward(task));
                m_leaves[before] =
                    m_leaves[before] ||
                    (IsForward(task) && task.kind == TaskKind::COMPUTE &&
                     Parts::GetName(name) != Parts::GetName(m_graph.GetName(source)));
            }
        }
    }

    /// Of communications on streams of their own that bring parts of one tensor, as a dispatch of
    /// tokens over the network and inside servers, all begin together, and the longest counts.
    void FindCovered()
    {
        for (TaskId tensor = 0; tensor < m_graph.GetNTasks(); ++tensor)
        {
            const Task& task = m_graph.GetTask(tensor);
            if (task.kind != TaskKind::MEMORY || task.place != 0)
            {
                continue;
            }
            std::map<StreamId, TaskId> longest; // a stream has one after the other
            for (const TaskId id : m_graph.GetDependencies(tensor))
            {
                if (m_graph.GetTask(id).kind == TaskKind::COMMUNICATION)
                {
                    longest.emplace(m_graph.GetTask(id).stream, id);
                }
            }
            if (longest.size() < 2)
            {
                continue;
            }
            const auto last =
                std::max_element(longest.begin(), longest.end(), [&](const auto& a, const auto& b) {
                    return GetSeconds(m_graph.GetTask(a.second)) <
                           GetSeconds(m_graph.GetTask(b.second));
                });
            for (const auto& [stream, id] : longest)
            {
                m_isCovered[id] = id != last->second;
            }
        }
    }

    double GetSeconds(const Task& task) const
    {
        return m_cost.GetCost(task.collective,
                              m_graph.GetGroup(task.place),
                              static_cast<double>(task.bytes));
    }

    void AddKernel(const Task& task, const std::string& name, bool isForward, PlanPart& part) const
    {
        if (task.durationPs < 0)
        {
            throw std::invalid_argument("plan search: the time of kernel " + name +
                                        " is not known; give it in a profile");
        }
        const double seconds = PS * static_cast<double>(task.durationPs);
        (isForward ? part.forwardS : part.backwardS) += seconds;
        part.kernels += isForward ? 1 : 0;
        part.weightS += IsWeightGradient(name) ? seconds : 0;
    }

    void AddCommunication(const Task& task, bool isForward, PlanPart& part) const
    {
        const std::vector<DeviceId>& group = m_graph.GetGroup(task.place);
        const bool isSender = task.collective != Collective::SEND_RECV || group[0] == 0;
        if (!isSender || std::count(group.begin(), group.end(), 0) == 0)
        {
            return;
        }
        auto& seconds = isForward ? part.forwardCommunicationS : part.backwardCommunicationS;
        seconds[static_cast<std::size_t>(task.parallelism)] += GetSeconds(task);
    }

    const ExecutionGraph& m_graph;
    const CommunicationCost& m_cost;
    Parts& m_parts;
    std::vector<bool> m_isAwaited; //!< by task: whether a kernel waits for it that others wait for
    std::vector<bool> m_isCovered; //!< by communication: whether a longer one goes on beside it
    std::vector<bool> m_isSaved;   //!< by task: whether the backward pass reads it
    std::vector<bool> m_leaves;    //!< by task: whether a kernel of another part reads it
};

/// Adds the parameters that device 0 keeps.
void
AddParameters(const Placement& placement, Parts& parts)
{
    for (const PlacedTensor& tensor : placement.tensors)
    {
        if (tensor.tensor.role != TensorRole::PARAMETER)
        {
            continue;
        }
        const auto elements = static_cast<double>(tensor.home.CountLocal(tensor.tensor.shape, 0));
        const uint32_t experts = tensor.home.mesh->FindAxis("ep");
        const bool isExpert =
            experts != NO_ID && tensor.home.FindDimension(static_cast<MeshAxis>(experts)) != NO_ID;
        PlanPart* const owner = parts.Find(tensor.tensor.name);
        if (owner != nullptr)
        {
            (isExpert ? owner->expertElements : owner->denseElements) += elements;
            ++owner->tensors[elements];
        }
        for (const OperatorId reader : tensor.readers)
        {
            PlanPart* const part = parts.Find(placement.operators[reader].op.name);
            if (part != nullptr && part != owner)
            {
                part->tiedElements += elements;
            }
        }
    }
}

} // namespace

ParallelPlan
GetShardPlan(const ParallelPlan& plan)
{
    ParallelPlan shard = plan;
    shard.dataParallel = plan.expertParallel;
    shard.pipelineParallel = 1;
    shard.virtualStages = 1;
    shard.globalBatch = 0;
    shard.schedule = ScheduleSpec();
    shard.schedule.expertDispatch = plan.schedule.expertDispatch;
    shard.schedule.expertDomain = plan.schedule.expertDomain;
    shard.optimizer.zero = 0;
    shard.gradients.policy = BucketPolicy::WHOLE;
    return shard;
}

PlanShard
MakePlanShard(const Model& model,
              const ParallelPlan& plan,
              const KernelTimer& timer,
              const CommunicationCost& cost)
{
    const StrategyTree tree = ExpandPlan(model, plan);
    CompileOptions options;
    options.kernelTime = timer;
    const ExecutionGraph graph = CompileModel(model, tree, options);
    Parts parts(model);
    ShardWalk(graph, cost, parts).Run();
    AddParameters(PlaceModel(model, tree), parts);
    return parts.Take();
}

} // namespace proteus
} // namespace ns3
