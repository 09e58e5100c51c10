/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stream-queue.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// One task after the other, as admitted.
class InOrderQueue : public StreamQueue
{
  public:
    explicit InOrderQueue(const DeviceTasks& tasks)
        : m_tasks(tasks)
    {
    }

    bool IsOfReadyTasks() const override
    {
        return false;
    }

    void Admit(const LocalInstance& instance) override
    {
        m_queue.push_back(instance);
    }

    void SetReady(const LocalInstance& /* instance */, uint32_t /* place */) override
    {
    }

    std::optional<LocalInstance> TakeNext(const std::vector<uint32_t>& pending) override
    {
        if (m_isRunning || m_queue.empty() || pending[m_tasks.GetState(m_queue.front())] > 0)
        {
            return std::nullopt;
        }
        m_isRunning = true;
        return m_queue.front();
    }

    void Finish(const LocalInstance& /* instance */) override
    {
        m_queue.pop_front();
        m_isRunning = false;
    }

    std::optional<LocalInstance> GetHead() const override
    {
        return m_queue.empty() ? std::nullopt : std::optional<LocalInstance>(m_queue.front());
    }

    bool IsRunning() const override
    {
        return m_isRunning;
    }

  private:
    const DeviceTasks& m_tasks;
    std::deque<LocalInstance> m_queue; //!< admitted, the running one included
    bool m_isRunning{false};           //!< whether the first one runs
};

/// Of the tasks that are ready, the one admitted first; messages to one receiver follow each other
/// without waiting for acknowledgements.
class ReadyQueue : public StreamQueue
{
  public:
    explicit ReadyQueue(const DeviceTasks& tasks)
        : m_tasks(tasks)
    {
    }

    bool IsOfReadyTasks() const override
    {
        return true;
    }

    void Admit(const LocalInstance& /* instance */) override
    {
    }

    void SetReady(const LocalInstance& instance, uint32_t place) override
    {
        m_ready.emplace(std::make_pair(place, instance.local), instance);
    }

    std::optional<LocalInstance> TakeNext(const std::vector<uint32_t>& /* pending */) override
    {
        if (m_ready.empty())
        {
            return std::nullopt;
        }
        const LocalInstance next = m_ready.begin()->second;
        if (!m_running.empty() &&
            !IsMessageAfter(m_tasks.GetTask(next.local), m_tasks.GetTask(m_running.back().local)))
        {
            return std::nullopt;
        }
        m_ready.erase(m_ready.begin());
        m_running.push_back(next);
        return next;
    }

    void Finish(const LocalInstance& instance) override
    {
        m_running.erase(std::find(m_running.begin(), m_running.end(), instance));
    }

    std::optional<LocalInstance> GetHead() const override
    {
        return m_running.empty() ? std::nullopt : std::optional<LocalInstance>(m_running.front());
    }

    bool IsRunning() const override
    {
        return !m_running.empty();
    }

  private:
    /// @return whether a task is a message to the same receiver as the one before
    static bool IsMessageAfter(const Task& task, const Task& before)
    {
        return task.kind == TaskKind::COMMUNICATION && task.collective == Collective::SEND_RECV &&
               before.kind == task.kind && before.collective == task.collective &&
               before.place == task.place;
    }

    const DeviceTasks& m_tasks;
    std::deque<LocalInstance> m_running; //!< in the order of their starts
    std::map<std::pair<uint32_t, uint32_t>, LocalInstance>
        m_ready; //!< admitted and ready, by their places in the schedule and the graph
};

} // namespace

std::unique_ptr<StreamQueue>
MakeStreamQueue(StreamOrder order, const DeviceTasks& tasks)
{
    if (order == StreamOrder::READY)
    {
        return std::make_unique<ReadyQueue>(tasks);
    }
    return std::make_unique<InOrderQueue>(tasks);
}

} // namespace proteus
} // namespace ns3
