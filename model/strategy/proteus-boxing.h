/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BOXING_H
#define PROTEUS_BOXING_H

#include "proteus-layout.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What has to be communicated to turn one layout of a tensor into another.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * One step from a layout to another. Taking a slice of what a device has is no step: it is free.
 */
struct BoxingStep
{
    /// Of a collective step: what it computes. ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL;
    /// SCATTER from a mesh of one device, GATHER to one. SEND_RECV stands for transfers between all
    /// pairs of devices whose blocks intersect.
    Collective collective{Collective::SEND_RECV};
    std::vector<MeshAxis> axes; //!< of the mesh of `from` (SCATTER: of `to`) along which groups lie
    Layout from;                //!< before the step
    Layout to;                  //!< after it
};

/// @ingroup proteus
/// A collective of a step.
struct BoxingGroup
{
    std::vector<DeviceId> devices; //!< in rank order
    uint64_t elements{0};          //!< of the buffer, as Collective counts
    uint32_t root{0};              //!< position in the group, of SCATTER and GATHER
};

/// @ingroup proteus
/// A block that a device gets from another, or, if both are the same, has already.
struct BoxingTransfer
{
    uint32_t from{0};     //!< position in the mesh of BoxingStep::from
    uint32_t to{0};       //!< position in the mesh of BoxingStep::to
    uint64_t elements{0}; //!< of the block
};

/// @ingroup proteus
/// What the steps depend on besides the layouts.
struct BoxingOptions
{
    /// Whether an exchange of equal blocks between all pairs of two devices is an all-to-all, as it
    /// always is among more. Without it the pair sends point to point, as the original does.
    bool allToAllOfTwo{false};
    /// Whether a device that has, or gets, all blocks does so in one scatter or gather. What an
    /// operator reads is sent point to point, as in the original.
    bool isRooted{true};
};

/**
 * @ingroup proteus
 * Plans the steps that turn one layout into another. On one mesh, axis by axis:
 *
 * - a partial sum whose axis the target splits is reduce-scattered, another one all-reduced;
 * - an axis that the target does not split is all-gathered; one that it splits newly is a slice,
 *   which costs nothing;
 * - an axis whose split moves to another dimension is an all-to-all, after the reductions and
 *   before the gathers.
 *
 * Otherwise:
 *
 * - from one device to blocks on several it is a scatter, from blocks to one device a gather;
 * - anything else is sent from point to point, block by block, other devices included.
 *
 * @param from layout that there is
 * @param to layout that is asked for, without partial sums
 * @param shape of the tensor
 * @param options see there
 * @return the steps in order; none if nothing has to be communicated
 * @throw std::invalid_argument if `to` has partial sums that `from` has not
 */
std::vector<BoxingStep> PlanBoxing(const Layout& from,
                                   const Layout& to,
                                   const Shape& shape,
                                   const BoxingOptions& options = {});

/// @ingroup proteus
/// @param step a collective one @param shape of the tensor @return its groups
std::vector<BoxingGroup> GetBoxingGroups(const BoxingStep& step, const Shape& shape);

/**
 * @ingroup proteus
 * The transfers of a SEND_RECV step. A device takes a block from itself if it has it. Otherwise it
 * takes the block from the replica of its own number, if both layouts have equally many replicas,
 * or else from the replicas in turn.
 * @param step the step
 * @param shape of the tensor
 * @return by receiver, ascending, those from the device itself among them
 */
std::vector<BoxingTransfer> GetBoxingTransfers(const BoxingStep& step, const Shape& shape);

/// @ingroup proteus
/// Elements that devices send.
struct BoxingVolume
{
    double perDevice{0}; //!< by the device that sends most
    double total{0};     //!< by all
};

/**
 * @ingroup proteus
 * The volume of all steps with bandwidth-optimal algorithms: on p devices with a buffer of L, 2 L
 * (p - 1) / p for an all-reduce, L (p - 1) / p for reduce-scatter, all-gather and all-to-all.
 * @param from layout that there is
 * @param to layout that is asked for
 * @param shape of the tensor
 * @return elements
 */
BoxingVolume GetBoxingVolume(const Layout& from, const Layout& to, const Shape& shape);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BOXING_H
