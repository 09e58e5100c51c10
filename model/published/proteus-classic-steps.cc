/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-run.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{
namespace classic
{

namespace
{

constexpr double COLLISION_MS = 0.0001; // between reductions that have been moved (Proteus)

} // namespace

bool
ClassicRun::IsComing(InstanceId id) const
{
    const Instance& instance = m_instances[id];
    if (instance.done || instance.admitted)
    {
        return true;
    }
    if (TaskOf(id).kind != TaskKind::MEMORY)
    {
        return false;
    }
    bool isComing = true;
    ForEachDependency(id, [&](InstanceId before) { isComing = isComing && IsComing(before); });
    return isComing;
}

std::vector<InstanceId>
ClassicRun::ListTurn(uint32_t stage, const Turn& turn) const
{
    std::vector<InstanceId> instances;
    for (const ScheduleEntry& entry : turn.entries)
    {
        for (const TaskId task : m_tasksOf[stage][entry.phase])
        {
            instances.push_back(m_first[task] + entry.microBatch);
        }
    }
    return instances;
}

bool
ClassicRun::IsReady(const std::vector<InstanceId>& turn)
{
    for (const InstanceId id : turn)
    {
        m_instances[id].admitted = true;
    }
    bool isReady = true;
    for (const InstanceId id : turn)
    {
        ForEachDependency(id, [&](InstanceId before) { isReady = isReady && IsComing(before); });
        if (!isReady)
        {
            break;
        }
    }
    for (const InstanceId id : turn)
    {
        m_instances[id].admitted = false;
    }
    return isReady;
}

bool
ClassicRun::RunRound(bool isForced)
{
    bool isAny = false;
    for (uint32_t number = 0; number + 1 < m_stages.size() && !(isForced && isAny); ++number)
    {
        isAny = RunTurn(number, isForced) || isAny;
    }
    return isAny;
}

bool
ClassicRun::AreOthersDone() const
{
    return std::all_of(m_stages.begin(), m_stages.end() - 1, [](const Stage& stage) {
        return stage.next == stage.turns.size();
    });
}

bool
ClassicRun::RunTurn(uint32_t number, bool isForced)
{
    Stage& stage = m_stages[number];
    if (stage.next == stage.turns.size())
    {
        return false;
    }
    bool isAny = false;
    const Turn& turn = stage.turns[stage.next];
    if (stage.running.empty())
    {
        std::vector<InstanceId> instances = ListTurn(number, turn);
        if (!isForced && !IsReady(instances))
        {
            return false;
        }
        stage.running = std::move(instances);
        isAny = stage.running.empty();
        Admit(stage, turn.isLast);
    }
    while (RunStep(stage))
    {
        isAny = true;
    }
    const bool isDone = std::all_of(stage.running.begin(),
                                    stage.running.end(),
                                    [this](InstanceId id) { return m_instances[id].done; });
    if (isDone)
    {
        stage.running.clear();
        ++stage.next;
    }
    return isAny;
}

void
ClassicRun::Admit(const Stage& stage, bool isLast)
{
    for (const DeviceId device : stage.devices)
    {
        auto& queues = m_queues[device];
        if (isLast)
        {
            queues[KERNELS].clockMs = std::max(
                {queues[KERNELS].clockMs, queues[FEATURES].clockMs, queues[GRADIENTS].clockMs});
        }
    }
    for (const InstanceId id : stage.running)
    {
        m_instances[id].admitted = true;
        m_othersLeft[FindStage(TaskOf(id))] += IsReduction(TaskOf(id)) ? 0 : 1;
    }
    for (const InstanceId id : stage.running)
    {
        if (m_instances[id].pending == 0)
        {
            Enqueue(id);
        }
    }
}

void
ClassicRun::Enqueue(InstanceId id)
{
    const Task& task = TaskOf(id);
    if (task.kind == TaskKind::COMPUTE)
    {
        const bool isHost = m_graph.IsHostStream(task.stream);
        m_queues[task.place][isHost ? HOST : KERNELS].waiting.push_back(id);
        return;
    }
    const bool isReduction = IsReduction(task);
    if (isReduction && m_othersLeft[FindStage(task)] > 0)
    {
        m_instances[id].slowDown = 1 + m_gamma;
    }
    for (const DeviceId device : GetOccupied(task))
    {
        m_queues[device][isReduction ? GRADIENTS : FEATURES].waiting.push_back(id);
    }
}

void
ClassicRun::Complete(InstanceId id)
{
    std::vector<InstanceId> list{id};
    while (!list.empty())
    {
        const InstanceId done = list.back();
        list.pop_back();
        m_instances[done].done = true;
        const double end = m_instances[done].endMs;
        ForEachSuccessor(done, [&](InstanceId next) {
            Instance& instance = m_instances[next];
            instance.readyMs = std::max(instance.readyMs, end);
            if (--instance.pending > 0 || instance.done)
            {
                return;
            }
            if (TaskOf(next).kind == TaskKind::MEMORY)
            {
                instance.startMs = instance.endMs = instance.readyMs;
                list.push_back(next);
            }
            else if (instance.admitted)
            {
                m_freed.push_back(next);
            }
        });
    }
}

void
ClassicRun::FinishTasks(const std::vector<InstanceId>& ended)
{
    for (const InstanceId id : ended)
    {
        m_othersLeft[FindStage(TaskOf(id))] -= IsReduction(TaskOf(id)) ? 0 : 1;
    }
    for (const InstanceId id : ended)
    {
        Complete(id);
    }
    for (const InstanceId next : std::exchange(m_freed, {}))
    {
        Enqueue(next);
    }
}

bool
ClassicRun::RunStep(const Stage& stage)
{
    std::vector<InstanceId> ended;
    for (const DeviceId device : stage.devices)
    {
        for (const QueueKind kind : {KERNELS, HOST})
        {
            Queue& queue = m_queues[device][kind];
            if (!queue.waiting.empty())
            {
                const InstanceId id = queue.waiting.front();
                queue.waiting.pop_front();
                RunKernel(id, device, queue);
                ended.push_back(id);
            }
        }
    }
    FinishTasks(ended);
    return RunCommunication(stage) || !ended.empty();
}

void
ClassicRun::RunKernel(InstanceId id, DeviceId device, Queue& queue)
{
    Instance& instance = m_instances[id];
    double ms = m_options.roofline.ComputeTimePs(TaskOf(id), *m_gpus[device]) * 1e-9;
    instance.startMs = std::max(instance.readyMs, queue.clockMs) + m_options.launchGapMs;
    auto& first = m_firstReduction[device];
    const auto& reductions = m_reductions[device];
    while (first < reductions.size() && m_instances[reductions[first]].endMs <= instance.startMs)
    {
        ++first;
    }
    if (first < reductions.size() && m_instances[reductions[first]].startMs < instance.startMs + ms)
    {
        ms *= 1 + m_gamma;
    }
    instance.endMs = queue.clockMs = instance.startMs + ms;
}

std::vector<InstanceId>
ClassicRun::FindHeads(const Stage& stage, QueueKind kind) const
{
    std::vector<InstanceId> heads;
    for (const DeviceId device : stage.devices)
    {
        const Queue& queue = m_queues[device][kind];
        if (queue.waiting.empty())
        {
            continue;
        }
        const InstanceId id = queue.waiting.front();
        const std::vector<DeviceId> members = GetOccupied(TaskOf(id));
        const bool isFirst = members.front() == device &&
                             std::all_of(members.begin(), members.end(), [&](DeviceId member) {
                                 const auto& waiting = m_queues[member][kind].waiting;
                                 return !waiting.empty() && waiting.front() == id;
                             });
        if (isFirst)
        {
            heads.push_back(id);
        }
    }
    return heads;
}

bool
ClassicRun::RunCommunication(const Stage& stage)
{
    const std::vector<InstanceId> features = FindHeads(stage, FEATURES);
    const bool isSending = std::any_of(features.begin(), features.end(), [this](InstanceId id) {
        return IsCrossStage(TaskOf(id));
    });
    bool isAny = !features.empty();
    if (!isSending)
    {
        const std::vector<InstanceId> gradients = FindHeads(stage, GRADIENTS);
        Launch(gradients, GRADIENTS);
        isAny = isAny || !gradients.empty();
    }
    Launch(features, FEATURES);
    return isAny;
}

void
ClassicRun::Launch(const std::vector<InstanceId>& heads, QueueKind kind)
{
    std::vector<ClassicCost> costs;
    for (const InstanceId id : heads)
    {
        costs.push_back(GetCost(id));
    }
    std::vector<double> rates;
    for (const ClassicCost& cost : costs)
    {
        rates.push_back(cost.gigabytesPerSecond);
    }
    if (m_options.sharesBandwidth)
    {
        rates = ShareClassicBandwidth(m_model, costs, m_options.rules);
    }
    for (std::size_t i = 0; i < heads.size(); ++i)
    {
        Instance& instance = m_instances[heads[i]];
        instance.startMs = instance.readyMs;
        for (const DeviceId device : GetOccupied(TaskOf(heads[i])))
        {
            instance.startMs = std::max(instance.startMs, m_queues[device][kind].clockMs);
        }
        instance.sharers = costs[i].gigabytesPerSecond / rates[i];
        instance.endMs = instance.startMs + costs[i].GetMs(rates[i]) * instance.slowDown;
    }
    if (kind == FEATURES && m_options.sharesBandwidth)
    {
        DelayByReductions(heads, costs);
    }
    for (const InstanceId id : heads)
    {
        for (const DeviceId device : GetOccupied(TaskOf(id)))
        {
            Queue& queue = m_queues[device][kind];
            queue.waiting.pop_front();
            queue.clockMs = m_instances[id].endMs;
            if (kind == GRADIENTS)
            {
                m_reductions[device].push_back(id);
            }
        }
    }
    FinishTasks(heads);
}

void
ClassicRun::DelayByReductions(const std::vector<InstanceId>& features,
                              const std::vector<ClassicCost>& costs)
{
    std::vector<InstanceId> together = features;
    std::vector<ClassicCost> all = costs;
    double overlap = 0; // one for all, the last one found, as published
    for (const InstanceId feature : features)
    {
        for (const DeviceId device : m_graph.GetGroup(TaskOf(feature).place))
        {
            const auto& reductions = m_reductions[device];
            for (std::size_t k = m_firstReduction[device]; k < reductions.size(); ++k)
            {
                const InstanceId reduction = reductions[k];
                const Instance& a = m_instances[feature];
                const Instance& b = m_instances[reduction];
                const double common = std::min(a.endMs, b.endMs) - std::max(a.startMs, b.startMs);
                if (common <= 0)
                {
                    continue;
                }
                overlap = common;
                if (std::find(together.begin(), together.end(), reduction) == together.end())
                {
                    together.push_back(reduction);
                    all.push_back(GetCost(reduction));
                }
            }
        }
    }
    if (overlap <= 0)
    {
        return;
    }
    const std::vector<double> sharers = CountClassicSharers(m_model, all, m_options.rules, true);
    for (std::size_t i = 0; i < together.size(); ++i)
    {
        Instance& instance = m_instances[together[i]];
        const double delay = overlap * (sharers[i] / instance.sharers - 1);
        if (delay > 0)
        {
            instance.endMs += delay;
            if (i >= features.size())
            {
                Postpone(together[i]);
            }
        }
    }
}

void
ClassicRun::Postpone(InstanceId id)
{
    MoveSuccessors(id);
    for (const DeviceId device : GetOccupied(TaskOf(id)))
    {
        auto& reductions = m_reductions[device];
        const auto place = std::find(reductions.begin(), reductions.end(), id);
        for (auto next = place; next != reductions.end(); ++next)
        {
            Instance& instance = m_instances[*next];
            const double previous = next == place ? 0 : m_instances[*(next - 1)].endMs;
            if (next != place && instance.startMs < previous)
            {
                const double length = instance.endMs - instance.startMs;
                instance.startMs = previous + COLLISION_MS;
                instance.endMs = instance.startMs + length;
                MoveSuccessors(*next);
            }
            for (const DeviceId member : GetOccupied(TaskOf(*next)))
            {
                double& clock = m_queues[member][GRADIENTS].clockMs;
                clock = std::max(clock, instance.endMs);
            }
        }
    }
}

void
ClassicRun::MoveSuccessors(InstanceId id)
{
    const double end = m_instances[id].endMs;
    ForEachSuccessor(id, [&](InstanceId next) {
        Instance& instance = m_instances[next];
        instance.readyMs = std::max(instance.readyMs, end);
        if (TaskOf(next).kind == TaskKind::MEMORY && instance.done)
        {
            instance.endMs = std::max(instance.endMs, end);
            MoveSuccessors(next);
        }
    });
}

} // namespace classic

} // namespace proteus
} // namespace ns3
