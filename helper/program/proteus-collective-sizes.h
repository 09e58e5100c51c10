/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_SIZES_H
#define PROTEUS_COLLECTIVE_SIZES_H

#include "proteus-collective-program.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-msccl.h"
#include "ns3/proteus-nccl-tests.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The sizes that proteus-collective runs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A size to run.
struct CollectiveSize
{
    uint64_t bytes{0};    //!< as nccl-tests counts
    double measuredUs{0}; //!< 0: it is not known
};

/// @ingroup proteus
/// @param options of the program @return the sizes that they say without a log
/// @throw std::invalid_argument if there are none, or too many
std::vector<CollectiveSize> ListCollectiveSizes(const CollectiveProgramOptions& options);

/// @ingroup proteus
/// @param options of the program @param log of nccl-tests
/// @return the sizes of the log, with out-of-place times or, where there are none, in-place ones
/// @throw std::invalid_argument if there are none
std::vector<CollectiveSize> ReadCollectiveSizes(const CollectiveProgramOptions& options,
                                                const NcclTestsTable& log);

/// @ingroup proteus
/// Says which sizes MSCCL would not run by a schedule. @param schedule that is run
/// @param sizes that are run @param file of the schedule
/// @throw std::invalid_argument if one of these is too large for it to end
void WarnOfSizes(const MscclSchedule& schedule,
                 const std::vector<CollectiveSize>& sizes,
                 const std::string& file);

/// @ingroup proteus
/// @param sizes that are to be run @param cluster with the GPUs @param options that say them
/// @throw std::invalid_argument if a buffer of the largest does not fit into the memory of a GPU
void CheckCollectiveSizes(const std::vector<CollectiveSize>& sizes,
                          const Cluster& cluster,
                          const std::string& options);

/// @ingroup proteus
/// @param bytes of a buffer @param cluster with the GPUs @param options that say it
/// @throw std::invalid_argument if it does not fit into the memory of a GPU
void CheckBufferSize(uint64_t bytes, const Cluster& cluster, const std::string& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_SIZES_H
