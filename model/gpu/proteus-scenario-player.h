/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_PLAYER_H
#define PROTEUS_SCENARIO_PLAYER_H

#include "ns3/proteus-fabric.h"
#include "ns3/proteus-scenario-plan.h"
#include "ns3/proteus-traffic-record.h"
#include "ns3/proteus-transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes a scenario happen at packet level: changes links at their times, and sends the messages of
 * its traffic over queue pairs of their own. No more messages begin when the jobs are done. Slow
 * devices are not its affair: RuntimeOptions::stretch lengthens their compute tasks.
 */
class ScenarioPlayer : private TransportUser
{
  public:
    /**
     * Schedules what is to happen, as events of the simulator.
     * @param plan what; must outlive this object
     * @param fabric that it happens to
     * @param transport that sends; set up
     * @param isDone says whether the jobs are done
     */
    ScenarioPlayer(const ScenarioPlan& plan,
                   Ptr<Fabric> fabric,
                   Ptr<Transport> transport,
                   std::function<bool()> isDone);
    ~ScenarioPlayer() override;

    ScenarioPlayer(const ScenarioPlayer&) = delete;
    ScenarioPlayer& operator=(const ScenarioPlayer&) = delete;

    /// @return the messages so far, as they began
    const std::vector<TrafficRecord>& GetTraffic() const
    {
        return m_traffic;
    }

  private:
    // Inherited from TransportUser
    void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) override;
    void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) override;

    /// @param change that is due
    void Change(const LinkChange& change);
    /// Sees to it that the next message of a source is sent in time. @param source which one
    void Arm(uint32_t source);
    /// @param source whose message is due @param message the message
    void Send(uint32_t source, const TrafficMessage& message);
    /// @param from a GPU @param to another one
    /// @return whether there is a way between them now
    bool HasWay(VertexId from, VertexId to) const;

    const ScenarioPlan& m_plan;
    Ptr<Fabric> m_fabric;
    Ptr<Transport> m_transport;
    std::function<bool()> m_isDone;
    std::vector<std::unique_ptr<TrafficSource>> m_sources; //!< by pattern
    std::vector<TrafficRecord> m_traffic;                  //!< messages; their tags are positions
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_PLAYER_H
