/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_COST_TABLE_H
#define PROTEUS_COLLECTIVE_COST_TABLE_H

#include "proteus-nccl-cost.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The numbers behind the costs of NCCL's kernels, each with its source. There is one set for each
 * generation of GPU, and none for a single machine or table.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A number and where it is from.
struct SourcedNumber
{
    double value{0};
    std::string source; //!< empty: there is no such number, and its value is 0
};

/// @ingroup proteus
/// By NcclProtocol.
using SourcedRow = std::array<SourcedNumber, NCCL_PROTOCOLS>;

/// @ingroup proteus
/// What is known of a generation of GPUs: microseconds, and 1e9 bytes of payload per second.
struct CollectiveGeneration
{
    std::string name;            //!< of a GPU of it, e.g. "A100"
    uint32_t firstCapability{0}; //!< compute capability, ten times, at which it begins
    SourcedRow startUs;          //!< start and end of a kernel
    SourcedRow busyUs;           //!< of a step inside a server: barriers and flags
    SourcedRow chunkUs;          //!< of a chunk, beside that of its steps; LL128 only
    SourcedRow blockGBps;        //!< that a thread block moves
    SourcedRow messageGBps;      //!< that a thread block moves of a message; Simple only
    SourcedRow warpGBps; //!< that one of its warps moves at most; Simple only, none: no limit
    SourcedRow gpuGBps;  //!< that all blocks of a kernel move together; none: no limit
    SourcedRow nvlinkLatencyUs;  //!< from arrival to use
    SourcedRow treeLatencyUs;    //!< as nvlinkLatencyUs, in trees; LL128 only
    SourcedRow pcieLatencyUs;    //!< from arrival to use
    SourcedRow networkLatencyUs; //!< from arrival to use, both proxies included
    SourcedRow otherLatencyUs;   //!< as networkLatencyUs where CPUs are not AMD's; none: as there
    SourcedRow networkBusyUs;    //!< of a step that goes through a proxy
    SourcedRow switchLatencyUs;  //!< of what switches multicast or reduce; Simple only
    SourcedRow switchBusyUs;     //!< of a step with them; Simple only
    SourcedRow switchBlockGBps;  //!< that a thread block moves there; Simple only
    SourcedRow switchWarpGBps;   //!< that one of the warps moves that copy there what users have;
                                 //!< Simple only, none: no limit
};

/// @ingroup proteus
/// What a host thread takes to launch a collective on one GPU, microseconds.
struct CollectiveLaunch
{
    SourcedNumber kernelUs;       //!< for the kernel,
    SourcedNumber channelUs;      //!< for every channel, up to NCCL 2.21,
    SourcedNumber peerUs;         //!< and for every peer of a message and direction
    SourcedNumber sharedThreadUs; //!< see CollectiveLaunchCost::sharedThreadPs
};

/// @ingroup proteus
/// All numbers.
struct CollectiveCostTable
{
    std::vector<CollectiveGeneration> generations; //!< by first capability, from 0 on
    CollectiveLaunch launch;
};

/// @ingroup proteus
/// A row of CollectiveGeneration that has a name.
struct CollectiveCostField
{
    const char* name;                      //!< e.g. "startUs"
    SourcedRow CollectiveGeneration::*row; //!< where it is
    std::optional<NcclProtocol> only{};    //!< the protocol that alone has it, if one has
};

/// @ingroup proteus
/// @return all rows
const std::vector<CollectiveCostField>& GetCollectiveCostFields();

/// @ingroup proteus
/// A number of CollectiveLaunch that has a name.
struct CollectiveLaunchField
{
    const char* name;                        //!< e.g. "kernelUs"
    SourcedNumber CollectiveLaunch::*number; //!< where it is
};

/// @ingroup proteus
/// @return all numbers
const std::vector<CollectiveLaunchField>& GetCollectiveLaunchFields();

/// @ingroup proteus
/// @return the numbers that hold if nobody says otherwise
const CollectiveCostTable& GetBuiltInCollectiveCostTable();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_COST_TABLE_H
