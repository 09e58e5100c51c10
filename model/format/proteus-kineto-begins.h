/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_BEGINS_H
#define PROTEUS_KINETO_BEGINS_H

#include "proteus-kineto-events.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * When the ranks of a Kineto trace began, against each other.
 *
 * What a rank waited for others in its first collectives is how much later they came, and that
 * depends on when they began. Their clocks are those of several servers. But a collective ends on
 * all its ranks at once (in et_replay/tests/inputs/dlrm_kineto of facebookresearch/param, eight
 * ranks of one server, within 2 us by the server's clock), and so tells when they began.
 */

namespace ns3
{
namespace proteus
{
namespace kineto
{

/// What differs less is how late ranks see the end of a collective; in microseconds.
inline constexpr double LEAST_BEGIN_US = 20;

/// When ranks began.
struct Begins
{
    std::vector<double> laterUs; //!< by rank, than the first that collectives connect it with
    uint32_t nApart{0};          //!< parts of the job that no collective connects
};

/**
 * @param ranks by rank, after MakeReplay(): when the first collective of each group ended
 * @return when they began; the parts that no chain of collectives connects begin at once
 */
Begins FindBegins(const std::vector<const Rank*>& ranks);

/**
 * Lets a rank begin later: a task of the host before everything else.
 *
 * @param trace of the rank @param laterUs by how much, in microseconds
 * @param graph gets a name and, if need be, a stream
 * @param streams of the graph, by name; gets one that is new
 */
void BeginLater(RankTrace& trace,
                double laterUs,
                TraceGraph& graph,
                std::map<std::string, StreamId>& streams);

} // namespace kineto
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_BEGINS_H
