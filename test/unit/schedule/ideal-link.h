/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_IDEAL_LINK_H
#define PROTEUS_IDEAL_LINK_H

#include "schedule-theory.h"

#include "ns3/proteus-credit-window.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * The setting of the theory as a small simulation: one worker, one link, parts that cannot be
 * interrupted. What the theory says about any order can be compared with it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus-tests
/// A layer whose gradient goes over the link.
struct IdealLayer
{
    int64_t backwardPs{0}; //!< its backward pass, picoseconds
    int64_t forwardPs{0};  //!< its forward pass, picoseconds
    uint64_t bytes{1};     //!< its gradient, at least 1
};

/// @ingroup proteus-tests
/// The link, of which both directions are alike.
struct IdealLink
{
    double bytesPerSecond{1};      //!< in each direction, more than 0
    int64_t overheadPs{0};         //!< for which every part occupies the link in addition
    int64_t returnDelayPs{0};      //!< from the end of a part until its credit is back
    bool isParameterServer{false}; //!< whether a part is pushed, and then pulled in the other
                                   //!< direction; else it is transferred once, as an all-reduce
};

/// @ingroup proteus-tests
/// When the credit of a part with parameter servers comes back.
enum class IdealCreditReturn : uint8_t
{
    AFTER_PULL, //!< as in ByteScheduler's code
    AFTER_PUSH, //!< so that credit of one part does not keep push and pull from overlapping
};

/// @ingroup proteus-tests
/// In which order the parts go.
struct IdealOrder
{
    bool isByLayer{false};                         //!< nearest to the input first; else as ready
    uint64_t partBytes{UINT64_MAX};                //!< as PartitionBytes() takes it
    uint64_t creditBytes{CreditWindow::UNLIMITED}; //!< as CreditWindow takes it
    IdealCreditReturn credit{IdealCreditReturn::AFTER_PULL}; //!< when it comes back
    bool isLinkByLayer{false}; //!< whether the link, too, sends what is nearest to the input first;
                               //!< else what was handed to it first
};

/// @ingroup proteus-tests
/// What happened.
struct IdealRun
{
    int64_t iterationPs{0};             //!< from the backward pass to the end of the forward pass
    std::vector<int64_t> transferredPs; //!< by layer: when all of its parts are done
    std::vector<int64_t> forwardPs;     //!< by layer: when its forward pass begins
    std::vector<uint32_t> order;        //!< layers of the parts, as the link took them
    uint64_t mostInFlight{0};           //!< parts under the credit window at once
    uint64_t mostInFlightBytes{0};      //!< and their bytes
};

/**
 * @ingroup proteus-tests
 * Runs one iteration, from the backward pass to the forward pass that needs its gradients.
 * @param layers nearest to the input first, at least one
 * @param link that carries the parts
 * @param order of the parts
 * @return what happened
 * @throw std::invalid_argument if there is no layer, a rate that is not positive, a negative time,
 * or what PartitionBytes() and CreditWindow refuse
 */
IdealRun RunIdealLink(const std::vector<IdealLayer>& layers,
                      const IdealLink& link,
                      const IdealOrder& order);

/**
 * @ingroup proteus-tests
 * @param layers of an ideal run
 * @param link of it
 * @return the same for the theory
 */
std::vector<LayerTimes> GetLayerTimes(const std::vector<IdealLayer>& layers, const IdealLink& link);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_IDEAL_LINK_H
