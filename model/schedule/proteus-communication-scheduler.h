/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMUNICATION_SCHEDULER_H
#define PROTEUS_COMMUNICATION_SCHEDULER_H

#include "proteus-credit-window.h"

#include "ns3/proteus-task-instance.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * In which order, and how many at a time, communications that are ready start.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Longest message from the rank that decides to the others: a second.
constexpr int64_t MOST_MESSAGE_PS = 1000000000000;

/// @ingroup proteus
/// What a policy is to do.
struct ScheduleSettings
{
    /// Communications as they are, not cut into parts.
    static constexpr uint64_t WHOLE = UINT64_MAX;

    std::string policy{"arrival"};                 //!< one of GetSchedulingPolicies()
    uint64_t partBytes{WHOLE};                     //!< largest part of a communication
    uint64_t creditBytes{CreditWindow::UNLIMITED}; //!< priority: bytes under way, see CreditWindow
    uint64_t bucketBytes{25000000};                //!< buckets: size that closes one; DDP's default
    /// Kinds of communication that are scheduled, the most urgent kind first; others keep the order
    /// of their streams.
    std::vector<Parallelism> kinds{Parallelism::DATA};
    /// Time from the decision of the rank that schedules until the other ranks know, picoseconds.
    int64_t messagePs{0};
    /// Whether a device carries out one collective after the other of those that have started, in
    /// this order, as NCCL does on one stream; else they share the network, as on several streams,
    /// or as pushes and pulls of parameter servers do.
    bool isSerial{false};
};

/// @ingroup proteus
/// A communication for one micro-batch, for which all ranks are ready.
struct ReadyCommunication
{
    TaskInstance instance; //!< which
    uint64_t bytes{0};     //!< its size
    uint32_t kind{0};      //!< place of its kind in ScheduleSettings::kinds
    uint32_t rank{0};      //!< its urgency among those of its kind, 0 the most urgent
    uint32_t part{0};      //!< which part of its whole
    uint64_t arrival{0};   //!< how many were ready before
};

/**
 * @ingroup proteus
 * Decides for one rank, which others follow, what starts next. A communication that has started is
 * never interrupted.
 */
class CommunicationScheduler
{
  public:
    virtual ~CommunicationScheduler() = default;

    /// @param communication that is ready
    virtual void Add(const ReadyCommunication& communication) = 0;

    /// @return a communication to start now, which is no longer among those that wait; asked again
    /// until it has none
    virtual std::optional<ReadyCommunication> TakeNext() = 0;

    /// @param communication that was taken and is done on the rank that schedules
    virtual void Finish(const ReadyCommunication& communication) = 0;
};

/// @ingroup proteus
/// A graph whose communications are as a policy wants them.
struct ScheduledGraph
{
    ExecutionGraph graph;         //!< communications cut into parts, or merged
    std::vector<TaskId> wholeOf;  //!< by task: what it is a part of, as a task of the graph before
    std::vector<uint32_t> partOf; //!< by task: which part
};

/// @ingroup proteus
/// A policy.
struct SchedulingPolicy
{
    std::string name;        //!< as users type it
    std::string description; //!< one line
    /// What it makes of a graph; none: it cuts communications into parts of
    /// ScheduleSettings::partBytes.
    std::function<ScheduledGraph(const ExecutionGraph&, const ScheduleSettings&)> transform;
    /// Urgency of every task of the graph, 0 the most urgent; none: all alike.
    std::function<std::vector<uint32_t>(const ScheduledGraph&)> rank;
    /// What decides; none: the order of the streams.
    std::function<std::unique_ptr<CommunicationScheduler>(const ScheduleSettings&)> make;
};

/// @ingroup proteus
/// A policy registers itself by an object of this class in its file.
class SchedulingPolicyRegistration
{
  public:
    /// @param policy that users may choose from now on
    explicit SchedulingPolicyRegistration(SchedulingPolicy policy);
};

/// @ingroup proteus
/// @return all policies, by name
std::vector<SchedulingPolicy> GetSchedulingPolicies();

/// @ingroup proteus
/// @param name of a policy @return the policy
/// @throw std::invalid_argument that lists all policies, if there is none of that name
SchedulingPolicy FindSchedulingPolicy(const std::string& name);

/**
 * @ingroup proteus
 * @param settings what a user has asked for
 * @throw std::invalid_argument for an unknown policy, or parts, credit or buckets of 0 bytes, a
 * kind that is named twice, or a message that takes negative time
 */
void CheckScheduleSettings(const ScheduleSettings& settings);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMUNICATION_SCHEDULER_H
