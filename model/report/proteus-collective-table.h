/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_TABLE_H
#define PROTEUS_COLLECTIVE_TABLE_H

#include "proteus-table.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Times of collectives as nccl-tests prints them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One size. 1 GB is 1e9 bytes.
struct CollectiveRow
{
    Collective collective{Collective::ALL_REDUCE}; //!< what was run
    uint64_t bytes{0};                             //!< as nccl-tests counts them
    uint32_t ranks{0};                             //!< of the group
    uint32_t group{0};                             //!< number of the group
    int64_t root{-1};                              //!< rank, or -1
    double timeUs{0};                              //!< of one, microseconds
    std::string algorithm;                         //!< that was taken
    std::string protocol;                          //!< that was taken
    uint32_t channels{0};                          //!< that were taken

    /// @return bytes over time
    double GetAlgbwGBps() const;
    /// @return that times GetBusBandwidthFactor()
    double GetBusbwGBps() const;
};

/**
 * @ingroup proteus
 * Prints the head of a table, in the columns of nccl-tests and three more.
 * @param hasGroups whether there is a column for the group
 * @param isInPlace whether input and result share a buffer, rather than out of place
 * @param out where to
 */
void PrintCollectiveHead(bool hasGroups, bool isInPlace, std::ostream& out);

/**
 * @ingroup proteus
 * @param row to print
 * @param hasGroups whether there is a column for the group
 * @param out where to
 */
void PrintCollectiveRow(const CollectiveRow& row, bool hasGroups, std::ostream& out);

/**
 * @ingroup proteus
 * Prints what stands below the table: the mean bus bandwidth of its rows.
 * @param rows of the table
 * @param out where to
 */
void PrintCollectiveFoot(const std::vector<CollectiveRow>& rows, std::ostream& out);

/**
 * @ingroup proteus
 * Writes size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels, and where there are
 * several groups a column group more.
 * @param rows to write
 * @param out where to
 */
void WriteCollectiveCsv(const std::vector<CollectiveRow>& rows, std::ostream& out);

/// @ingroup proteus
/// @param rows to show @return them as a table "collectives", in SI units
Table MakeCollectiveTable(const std::vector<CollectiveRow>& rows);

/// @ingroup proteus
/// @param rows some @return mean of their bus bandwidths in GB/s, 0 of none
double GetMeanBusbwGBps(const std::vector<CollectiveRow>& rows);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_TABLE_H
