/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPORT_DATA_H
#define PROTEUS_REPORT_DATA_H

#include "proteus-run-analysis.h"

#include <cstddef>
#include <nlohmann/json.hpp>

/**
 * @file
 * @ingroup proteus
 * What the pictures of the HTML report are drawn from: bounded in size, whatever was run.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How much of a run the pictures of a report show at most.
struct ReportLimits
{
    std::size_t slices{60000};    //!< of a timeline; beyond that, short ones are drawn together
    std::size_t gpus{64};         //!< rows of a timeline and lines of the picture of the memory
    std::size_t rows{400};        //!< of a table
    std::size_t memorySteps{300}; //!< of a GPU
    std::size_t seriesLinks{12};  //!< directions shown over time
    std::size_t seriesBins{256};  //!< of each
    std::size_t vertices{6000};   //!< of the topology; a larger one is not drawn
};

/**
 * @ingroup proteus
 * @param run that is reported
 * @param result of it
 * @param limits of the pictures
 * @return the slices of the picture. "end_ns" is the end of the run, "devices" the devices of the
 * graph. "names" has the names of slices, each with its kind ("compute" or the parallelism) and
 * class (part of the iteration, or collective). "gpus" has the rows, each of GPUs that did the
 * same: "name" and "device" of the first, "count", "difference_ns" (AlikeDevices), "stages",
 * "replicas", "servers" (GPUs by server), "blocks" and "tracks". A block has four numbers: index of
 * one of "classes", micro-batch, begin, length. A track has a "name" and "slices" of four numbers:
 * nanoseconds since the slice before, length, index of the name, micro-batch. "merged_ns": slices
 * shorter than this may be drawn together, 0 for none. "rows": how many rows there are, of which
 * "gpus" may be some. "path" is the critical path, four numbers for each step: row or -1, index of
 * the name or -1, begin, length. The page adds "iterations": of several begin, end, and whether it
 * is the steady one
 */
nlohmann::ordered_json MakeTimelineData(const ReportedRun& run,
                                        const RunRecord& result,
                                        const ReportLimits& limits);

/**
 * @ingroup proteus
 * @param run that is reported
 * @param result of it
 * @param limits of the pictures
 * @return by GPU "name", "peak", "capacity" and "steps", pairs of nanoseconds and bytes; if there
 * are many changes, the highest level in each of equal parts of the run
 */
nlohmann::ordered_json MakeMemoryData(const ReportedRun& run,
                                      const RunRecord& result,
                                      const ReportLimits& limits);

/**
 * @ingroup proteus
 * @param run that is reported
 * @param limits of the pictures
 * @return "vertices" (name, kind, server) and "links" (both ends, technology, rate in bytes per
 * second, and by result for both directions: busy share, held share, longest queue in bytes); empty
 * for a cluster that is too large
 */
nlohmann::ordered_json MakeTopologyData(const ReportedRun& run, const ReportLimits& limits);

/**
 * @ingroup proteus
 * @param run that is reported
 * @param result of it
 * @param limits of the pictures
 * @return the directions that were used most, and those that were held up, over time: "bin_ns",
 * "end_ns", and "links" with "name", "busy", "held" and "queue" by bin
 */
nlohmann::ordered_json MakeSeriesData(const ReportedRun& run,
                                      const RunRecord& result,
                                      const ReportLimits& limits);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPORT_DATA_H
