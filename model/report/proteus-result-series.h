/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RESULT_SERIES_H
#define PROTEUS_RESULT_SERIES_H

#include "proteus-run-analysis.h"

#include <ostream>

/**
 * @file
 * @ingroup proteus
 * What changes over the time of a run, as comma-separated values.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes the links over time as comma-separated values, a line per bin and direction that was used
 * at all: executor, from, to, technology, start_s, end_s, busy_share, stalled_share, paused_share,
 * queue_bytes. See LinkBin.
 * @param input the run
 * @param out where to; its state tells whether all was written
 */
void WriteLinkSeriesCsv(const ReportedRun& input, std::ostream& out);

/**
 * @ingroup proteus
 * Writes the level of allocated memory as comma-separated values, a line per change: executor,
 * device, gpu, time_s, bytes.
 * @param input the run
 * @param out where to; its state tells whether all was written
 */
void WriteMemorySeriesCsv(const ReportedRun& input, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RESULT_SERIES_H
