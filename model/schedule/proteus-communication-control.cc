/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-communication-control.h"

#include "proteus-window-number.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

CommunicationControl::CommunicationControl(const ExecutionGraph& graph,
                                           Clock& clock,
                                           const ScheduleSettings& settings,
                                           std::vector<CommunicationRank> ranks,
                                           ScheduleUse& use)
    : m_graph(graph),
      m_clock(clock),
      m_settings(settings),
      m_policy(FindSchedulingPolicy(settings.policy)),
      m_ranks(std::move(ranks)),
      m_use(use)
{
    if (m_ranks.size() != graph.GetNTasks())
    {
        throw std::logic_error("a communication schedule of " + std::to_string(m_ranks.size()) +
                               " tasks for a graph of " + std::to_string(graph.GetNTasks()));
    }
}

bool
CommunicationControl::Takes(const Task& task) const
{
    return task.kind == TaskKind::COMMUNICATION &&
           std::find(m_settings.kinds.begin(), m_settings.kinds.end(), task.parallelism) !=
               m_settings.kinds.end();
}

std::size_t
CommunicationControl::CountOffering(const Task& task) const
{
    return task.collective == Collective::SEND_RECV ? 1 : m_graph.GetGroup(task.place).size();
}

void
CommunicationControl::Offer(DeviceId device, TaskInstance instance, std::function<void()> start)
{
    const Task& task = m_graph.GetTask(instance.task);
    Communication& communication = m_communications[instance];
    communication.offers.emplace_back(device, std::move(start));
    if (communication.offers.size() < CountOffering(task))
    {
        return;
    }
    communication.unfinished = communication.offers.size();
    const auto kind =
        std::find(m_settings.kinds.begin(), m_settings.kinds.end(), task.parallelism) -
        m_settings.kinds.begin();
    const CommunicationRank& rank = m_ranks[instance.task];
    communication.ready = {instance,
                           rank.isFree ? 0 : task.bytes,
                           static_cast<uint32_t>(kind),
                           rank.rank,
                           rank.part,
                           m_arrivals++};
    const uint32_t window = GetWindow(instance.task);
    Decider& decider = m_deciders[window];
    if (!decider.scheduler)
    {
        ScheduleSettings settings = m_settings;
        // A window of one byte is open only when nothing is under way.
        settings.creditBytes = (window & ONE_AT_A_TIME) != 0 ? 1 : settings.creditBytes;
        decider.scheduler = m_policy.make(settings);
    }
    decider.scheduler->Add(communication.ready);
    ++decider.waiting;
    Ask(window, GetDeciding(task));
}

void
CommunicationControl::Ask(uint32_t window, DeviceId device)
{
    Decider& decider = m_deciders[window];
    if (!decider.isAsked)
    {
        decider.isAsked = true;
        m_clock.Schedule(device, 0, [this, window]() { Decide(window); });
    }
}

void
CommunicationControl::Decide(uint32_t window)
{
    Decider& decider = m_deciders[window];
    decider.isAsked = false;
    m_use.hasChosen |= decider.waiting > 1;
    while (const auto next = decider.scheduler->TakeNext())
    {
        --decider.waiting;
        StartAll(next->instance);
    }
    m_use.hasChosen |= decider.waiting > 0; // for want of credit
}

void
CommunicationControl::StartAll(TaskInstance instance)
{
    const DeviceId deciding = GetDeciding(m_graph.GetTask(instance.task));
    Communication& communication = m_communications[instance];
    communication.hasStarted = true;
    for (auto& [device, start] : std::exchange(communication.offers, {}))
    {
        if (device == deciding || m_settings.messagePs == 0)
        {
            Enter(device, instance, std::move(start));
        }
        else
        {
            m_clock.Schedule(device,
                             m_settings.messagePs,
                             [this, device = device, instance, call = std::move(start)]() {
                                 Enter(device, instance, call);
                             });
        }
    }
}

void
CommunicationControl::Enter(DeviceId device, TaskInstance instance, std::function<void()> start)
{
    const Task& task = m_graph.GetTask(instance.task);
    // Who receives a message may in turn wait for another one.
    if (!m_settings.isSerial || task.collective == Collective::SEND_RECV)
    {
        start();
        return;
    }
    std::deque<Started>& line = m_lines[{device, GetDeciding(task)}];
    line.push_back({instance, std::move(start)});
    m_use.hasChosen |= line.size() > 1;
    if (line.size() == 1)
    {
        std::exchange(line.front().start, nullptr)();
    }
}

void
CommunicationControl::Finish(DeviceId device, TaskInstance instance)
{
    Communication& communication = m_communications.at(instance);
    const DeviceId deciding = GetDeciding(m_graph.GetTask(instance.task));
    if (device == deciding)
    {
        const uint32_t window = GetWindow(instance.task);
        m_deciders[window].scheduler->Finish(communication.ready);
        Ask(window, deciding);
    }
    if (--communication.unfinished == 0)
    {
        m_communications.erase(instance);
    }
    const auto line = m_lines.find({device, deciding});
    if (line != m_lines.end() && !line->second.empty() && line->second.front().instance == instance)
    {
        line->second.pop_front();
        if (!line->second.empty())
        {
            std::exchange(line->second.front().start, nullptr)();
        }
    }
}

std::string
CommunicationControl::DescribeWait(DeviceId device, TaskInstance instance) const
{
    const auto found = m_communications.find(instance);
    if (found == m_communications.end())
    {
        return "";
    }
    const auto line = m_lines.find({device, GetDeciding(m_graph.GetTask(instance.task))});
    if (found->second.hasStarted && line != m_lines.end() && !line->second.empty() &&
        line->second.front().instance != instance)
    {
        const Task& first = m_graph.GetTask(line->second.front().instance.task);
        return "waits for '" + m_graph.GetName(first) + "', which started before it";
    }
    if (found->second.hasStarted)
    {
        return "";
    }
    const Communication& communication = found->second;
    const auto isOf = [device](const auto& offer) { return offer.first == device; };
    if (std::none_of(communication.offers.begin(), communication.offers.end(), isOf))
    {
        return "";
    }
    const std::size_t missing =
        CountOffering(m_graph.GetTask(instance.task)) - communication.offers.size();
    return missing > 0 ? "waits for " + std::to_string(missing) + " other ranks to be ready"
                       : "waits for its turn (" + m_settings.policy + ")";
}

} // namespace proteus
} // namespace ns3
