/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ALPHA_BETA_NETWORK_H
#define PROTEUS_ALPHA_BETA_NETWORK_H

#include "proteus-flow-profile.h"

#include "ns3/proteus-network.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-task-instance.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A plain network: a communication takes latency plus bytes over bandwidth
 * (FlowProfiles::GetAlphaBetaPs()) from the time when all its ranks have joined, whatever else goes
 * on. Compared with others it tells what sharing and pipelining are worth.
 */
class AlphaBetaNetwork : public Network
{
  public:
    /**
     * @param graph whose communication is carried; must outlive this object
     * @param cluster that carries it; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param clock of the run; must outlive this object
     * @param parameters of the model, of which launch, rates and latencies count
     * @param settings of the collectives' programs
     */
    AlphaBetaNetwork(const ExecutionGraph& graph,
                     const Cluster& cluster,
                     const Paths& paths,
                     Clock& clock,
                     const FlowParameters& parameters = FlowParameters(),
                     const ProgramSettings& settings = ProgramSettings());

    // Inherited from Network
    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override;
    std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const override;

    /// @param profiles of a graph's collectives @param task a communication @return how long it
    /// takes from the last rank's joining, picoseconds
    static int64_t FindTimePs(FlowProfiles& profiles, TaskId task);

    /// @return the profiles of the graph's collectives
    FlowProfiles& GetProfiles()
    {
        return m_profiles;
    }

    /// @return bytes that ranks have sent, those of protocols included
    uint64_t GetSentBytes() const
    {
        return m_sentBytes;
    }

    /// @return collectives that have begun
    uint64_t GetNCollectives() const
    {
        return m_collectives;
    }

  private:
    const ExecutionGraph& m_graph;
    Clock& m_clock;
    FlowProfiles m_profiles;
    /// Those that have joined a communication, until all have.
    std::unordered_map<TaskInstance, std::vector<std::pair<DeviceId, std::function<void()>>>>
        m_waiting;
    uint64_t m_sentBytes{0};
    uint64_t m_collectives{0};
};

/**
 * @ingroup proteus
 * Compares two ways to set up collectives as AlphaBetaNetwork sees them.
 * @param graph of a job
 * @param cluster where it runs
 * @param parameters of the network
 * @param slowsKernels whether kernels run beside communication, which slows them
 * @param a a way to set them up
 * @param b another one
 * @return whether every communication takes the same time by both, and, where it slows kernels, the
 * same part of the GPU
 * @throw std::invalid_argument as FlowProfiles::Get()
 */
bool TakeAlike(const ExecutionGraph& graph,
               const Cluster& cluster,
               const FlowParameters& parameters,
               bool slowsKernels,
               const ProgramSettings& a,
               const ProgramSettings& b);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ALPHA_BETA_NETWORK_H
