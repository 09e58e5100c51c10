/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMUNICATION_CONTROL_H
#define PROTEUS_COMMUNICATION_CONTROL_H

#include "proteus-communication-scheduler.h"

#include "ns3/proteus-network.h"
#include "ns3/proteus-start-control.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a policy knows of a task beforehand.
struct CommunicationRank
{
    uint32_t rank{0};       //!< urgency, 0 the most urgent
    uint32_t part{0};       //!< which part of its whole
    uint32_t window{NO_ID}; //!< of credit, and of who decides, that it shares with others of this
                            //!< number, above all devices; NO_ID: that of the rank that decides
    bool isFree{false};     //!< whether it counts nothing against the credit
};

/// @ingroup proteus
/// What a policy came to decide in a run.
struct ScheduleUse
{
    bool hasChosen{false}; //!< whether two communications were ready at once, or one was held back
};

/**
 * @ingroup proteus
 * Asks a policy when communications start.
 *
 * A communication is ready when the last of its ranks is. The first rank of its group decides for
 * all (of a SEND_RECV the sender). It asks a policy of its own, so that all that it sends shares
 * one credit, whatever the group; the other ranks join when they have heard of the decision. The
 * credit that a communication took comes back when it is done on the rank that decides. Decisions
 * are taken when everything that happens at one time has happened.
 */
class CommunicationControl : public StartControl
{
  public:
    /**
     * @param graph that is executed; must outlive this object
     * @param clock of the run; must outlive this object
     * @param settings of the policy, which must make schedulers
     * @param ranks by task of the graph
     * @param use gets what there was to decide; must outlive this object
     */
    CommunicationControl(const ExecutionGraph& graph,
                         Clock& clock,
                         const ScheduleSettings& settings,
                         std::vector<CommunicationRank> ranks,
                         ScheduleUse& use);

    bool Takes(const Task& task) const override;
    void Offer(DeviceId device, TaskInstance instance, std::function<void()> start) override;
    void Finish(DeviceId device, TaskInstance instance) override;
    std::string DescribeWait(DeviceId device, TaskInstance instance) const override;

  private:
    /// A communication of which a rank is ready, and that is not done.
    struct Communication
    {
        std::vector<std::pair<DeviceId, std::function<void()>>> offers; //!< ready, not started
        bool hasStarted{false};
        std::size_t unfinished{0}; //!< ranks that are not done
        ReadyCommunication ready;  //!< once all ranks are
    };

    /// A device, and the rank that decides for a group of it.
    using Follower = std::pair<DeviceId, DeviceId>;

    /// What a device has heard that it is to start, and is not done; the first one is under way.
    struct Started
    {
        TaskInstance instance;
        std::function<void()> start; //!< empty once it was called
    };

    /// A rank that decides.
    struct Decider
    {
        std::unique_ptr<CommunicationScheduler> scheduler;
        bool isAsked{false};    //!< whether Decide() is about to be called
        std::size_t waiting{0}; //!< communications that are ready and have not started
    };

    /// @param task a communication @return the rank that decides when it starts
    DeviceId GetDeciding(const Task& task) const
    {
        return m_graph.GetGroup(task.place).front();
    }

    /// @param task a communication @return the number of who decides, see CommunicationRank
    uint32_t GetWindow(TaskId task) const
    {
        const uint32_t window = m_ranks[task].window;
        return window == NO_ID ? GetDeciding(m_graph.GetTask(task)) : window;
    }

    /// @param task a communication @return how many ranks offer it
    std::size_t CountOffering(const Task& task) const;
    /// @param window who decides what starts, once all that happens now has happened
    /// @param device of one of its communications
    void Ask(uint32_t window, DeviceId device);
    /// @param window who decides what starts now
    void Decide(uint32_t window);
    /// @param instance that all of its ranks join
    void StartAll(TaskInstance instance);

    /// @param device that hears that it is to start @param instance a communication
    /// @param start to be called when its turn has come on the device
    void Enter(DeviceId device, TaskInstance instance, std::function<void()> start);

    const ExecutionGraph& m_graph;
    Clock& m_clock;
    const ScheduleSettings m_settings;
    const SchedulingPolicy m_policy;
    const std::vector<CommunicationRank> m_ranks; //!< by task
    ScheduleUse& m_use;
    std::map<uint32_t, Decider> m_deciders;          //!< by GetWindow()
    std::map<Follower, std::deque<Started>> m_lines; //!< one for each decider: the order is the
                                                     //!< same on all that follow it
    std::unordered_map<TaskInstance, Communication> m_communications;
    uint64_t m_arrivals{0}; //!< communications that have become ready
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMUNICATION_CONTROL_H
