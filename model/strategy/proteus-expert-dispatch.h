/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXPERT_DISPATCH_H
#define PROTEUS_EXPERT_DISPATCH_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How tokens get to their experts and back.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What exchanges tokens between devices that share experts.
enum class ExpertDispatch : uint8_t
{
    ALL_TO_ALL, //!< NCCL's all-to-all: a token goes to each of its experts
    DEEPEP,     //!< DeepSeek's DeepEP: once to each server and once to each GPU of its experts
    HYBRIDEP,   //!< NVIDIA's Hybrid-EP: the same, with other kernels
};

/// @ingroup proteus
/// @param dispatch a value @return its name: "all-to-all", "deepep", "hybridep"
const char* ToString(ExpertDispatch dispatch);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
ExpertDispatch ExpertDispatchFromString(const std::string& text);

/// @ingroup proteus
/// @param dispatch a value @return multiprocessors that its kernels take; 0: as NCCL's do
uint32_t GetMultiprocessors(ExpertDispatch dispatch);

/**
 * @ingroup proteus
 * Which experts a token may get. Every choice that the numbers allow is equally likely: first some
 * of the groups of experts, then some of the experts of these groups.
 */
struct ExpertRouting
{
    uint64_t experts{0};   //!< of the layer; 0: it has none
    uint64_t top{1};       //!< of a token
    uint64_t groups{1};    //!< equal ones of neighbouring experts
    uint64_t topGroups{1}; //!< that the experts of a token are in, at most

    /**
     * The experts of a device, or of a server, are neighbours, and lie in a group or make several.
     * @param size how many they are
     * @return how likely it is that a token has one of them at least
     * @throw std::invalid_argument if there are more, or they neither divide the experts of a group
     * nor are a multiple of them
     */
    double FindReach(uint64_t size) const;
};

/// @ingroup proteus
/// All-to-alls that run at the same time.
struct DispatchStage
{
    std::vector<std::vector<DeviceId>> groups; //!< of devices; none: nothing to do
    double copies{0};                          //!< of a token that its devices send to a group
};

/// @ingroup proteus
/// What devices exchange where tokens go once to a server, and once to a device.
struct DispatchPlan
{
    DispatchStage network; //!< among the same devices of all servers
    DispatchStage inside;  //!< among the devices of a server
};

/**
 * @ingroup proteus
 * Who sends to whom, and how often, where a token goes over the network once to each server that
 * has one of its experts, to the device of the sender's rail, and from there once to each device of
 * the server that has one. On the way back devices of a server add up what they have of a token,
 * and the network takes one sum from each server (DeepEP, csrc/kernels/internode.cu; Hybrid-EP).
 * Copies that a device keeps, or sends to its own server, count, as nccl-tests counts them.
 * @param routing of the tokens
 * @param devices that share the experts, neighbours neighbouring ones
 * @param domain how many devices, from a multiple of it on, NVLink joins
 * @return the plan
 * @throw std::invalid_argument if the devices do not have equal parts in several domains, or as
 * ExpertRouting::FindReach()
 */
DispatchPlan PlanDispatch(const ExpertRouting& routing,
                          const std::vector<DeviceId>& devices,
                          uint32_t domain);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXPERT_DISPATCH_H
