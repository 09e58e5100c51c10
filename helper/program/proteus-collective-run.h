/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_RUN_H
#define PROTEUS_COLLECTIVE_RUN_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-collective-table.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-msccl.h"
#include "ns3/proteus-splits.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Collectives run and timed as nccl-tests does it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the messages of a test have of its communicator, which is the same at every size.
struct TestCommunicator
{
    uint32_t ranks{0};    //!< as PacketNetwork::CommunicatorRanks
    uint32_t servers{0};  //!< as PacketNetwork::CommunicatorServers
    uint32_t channels{0}; //!< as PacketNetwork::CommunicatorChannels
};

/// @ingroup proteus
/// What is run at every size. Of CollectiveSettings counts what nccl-tests takes from its command
/// line and environment: NCCL's choices, its version, plug-in and variables, who launches, and the
/// costs; the rest stays as the attributes of ns3::proteus::PacketNetwork are.
struct CollectiveTest : CollectiveSettings
{
    /// As nccl-tests under mpirun.
    CollectiveTest()
    {
        launchMode = "process-per-gpu";
    }

    Collective collective{Collective::ALL_REDUCE}; //!< of all groups; a send-receive is that of
                                                   //!< nccl-tests: every rank sends to the next
    bool isBarrier{false};                         //!< an all-reduce of BARRIER_ELEMENT_BYTES
    std::vector<std::vector<DeviceId>> groups;     //!< each runs the collective, all at once
    uint32_t root{0};                              //!< in the group, if HasRoot()
    uint32_t iterations{0};                        //!< timed ones; 0: 20, as nccl-tests
    int64_t stream{1};                             //!< random stream of path choice
    std::shared_ptr<const MscclSchedule> schedule; //!< instead of an algorithm, or null
    std::shared_ptr<const SplitTable> splits;      //!< of an all-to-all, or null for equal ones
    uint32_t parameterServers{1};                  //!< of algorithm parameter-server
    std::optional<TestCommunicator> communicator;  //!< see FindCommunicator(); none: searched for
                                                   //!< at every size
    std::string executor{"packet"}; //!< that runs it; one that launches from streams only gets the
                                    //!< period of launches from the costs
    std::function<void(const RunRecord&)> hear; //!< of every run; may be empty
};

/**
 * @ingroup proteus
 * Searches the channels of the communicator that nccl-tests makes of all ranks: a send-receive cuts
 * its messages as those of it.
 * @param cluster to run on
 * @param test that is run
 * @return what its messages have of the communicator; none of other collectives than a send-receive
 */
std::optional<TestCommunicator> FindCommunicator(const Cluster& cluster,
                                                 const CollectiveTest& test);

/// @ingroup proteus
/// @param workloads the folder workloads/, whose file of PublishedLogs is read; empty: nothing is
/// said @param cluster that was run on @param test that was run
/// @return a note on how far collectives of such machines are off; none where logs are of no such
/// test
std::vector<std::string> DescribeLogs(const std::string& workloads,
                                      const Cluster& cluster,
                                      const CollectiveTest& test);

/// @ingroup proteus
/// @param cluster to run on @param a test of a built-in algorithm @param b the same, with other
/// choices of NCCL @param sizes in bytes, as nccl-tests counts them @return whether both run alike
/// at all sizes; what cannot be run is not alike
bool RunAlike(const Cluster& cluster,
              const CollectiveTest& a,
              const CollectiveTest& b,
              const std::vector<uint64_t>& sizes);

/// @ingroup proteus
/// @param cluster with GPUs @param group some of them @return their vertices, in the same order
std::vector<VertexId> GetVertices(const Cluster& cluster, const std::vector<DeviceId>& group);

/**
 * @ingroup proteus
 * Runs a collective by an executor and times it as nccl-tests does. The time counts from the
 * launch of the first of its iterations, which follow each other on a stream, to the end of the
 * last, divided by their number. So the first iteration, which fills the pipeline, counts once, and
 * the others count with their period. Not all iterations are simulated: four up to 8 MiB, beyond
 * that two, or three where there is a root. The rest is taken to have the mean period of those
 * after the first.
 *
 * @param cluster to run on
 * @param test what is run
 * @param bytes size as nccl-tests counts it; rounded down to what the ranks can share
 * @param report of progress, or none
 * @return a row for each group
 * @throw std::invalid_argument for a group, algorithm or protocol that makes no sense
 * @throw RunStopped if a signal comes before the end
 */
std::vector<CollectiveRow> RunCollective(
    const Cluster& cluster,
    const CollectiveTest& test,
    uint64_t bytes,
    const std::function<void(const RunProgress&)>& report = nullptr);

/**
 * @ingroup proteus
 * The GPUs that a test with fewer than all takes, and how several groups share them.
 * @param cluster with the GPUs
 * @param gpus how many, the same number in each server; 0: all. Where it is no multiple of the
 * servers, they are filled in turn, with a warning
 * @param groups how many
 * @param strided whether ranks i, i + groups, ... make a group; otherwise ranks that follow each
 * other
 * @return the groups
 * @throw std::invalid_argument if there are too few, or they cannot be shared evenly
 */
std::vector<std::vector<DeviceId>> MakeTestGroups(const Cluster& cluster,
                                                  uint32_t gpus,
                                                  uint32_t groups,
                                                  bool strided);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_RUN_H
