/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TABLES_H
#define PROTEUS_TABLES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-number-text.h"
#include "ns3/proteus-timeline.h"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Tables: spans as CSV, the busiest links, and aligned text.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Writes the spans of a timeline as comma-separated values, one line per span in the order of the
 * timeline, after the header
 * `device,gpu,stream,task,name,kind,collective,parallelism,micro_batch,bytes,start_s,end_s`.
 *
 * device: rank; gpu: name in the cluster; stream: name, empty for a receive, which occupies none;
 * task: id in the graph; kind: compute or communication; collective, parallelism: empty for
 * compute; bytes: memory traffic of a compute task (0 where it has a fixed duration), size of a
 * communication as its collective counts it; start_s, end_s: seconds with twelve decimals,
 * that is picoseconds, exactly. Quoted as RFC 4180 says; lines end in LF.
 *
 * @param graph that was executed
 * @param cluster that it ran on; device i is its GPU of rank i
 * @param timeline of the run
 * @param out where to; its state tells whether all was written
 * @throw std::invalid_argument if the cluster has fewer GPUs than the graph devices, or the
 * timeline is not one of the graph
 */
void WriteSpanCsv(const ExecutionGraph& graph,
                  const Cluster& cluster,
                  const Timeline& timeline,
                  std::ostream& out);

/// @ingroup proteus
/// How one direction of a link was used.
struct LinkUse
{
    LinkId link{0};                                    //!< which link
    bool forward{true};                                //!< from Link::a to Link::b
    std::string name;                                  //!< e.g. "n0.nic3 -> switch0"
    LinkTechnology technology{LinkTechnology::NVLINK}; //!< of the link
    double utilisation{0};           //!< share of the time spent transmitting, headers included
    double payloadBytesPerSecond{0}; //!< mean over the time
    double rateBytesPerSecond{0};    //!< raw rate of the direction
    double creditStallShare{0};      //!< share of the time held up by the receiver's full buffer
    uint64_t maxQueueBytes{0};       //!< most wire bytes that waited at once
    double pausedShare{0};           //!< share of the time with a traffic class paused
    uint64_t pauses{0};              //!< PFC pauses received
    uint64_t packets{0};             //!< units sent; 0 of an executor that has no packets
    uint64_t payloadBytes{0};        //!< payload sent
    uint64_t wireBytes{0};           //!< sent, headers included
    uint64_t markedPackets{0};       //!< units marked by ECN
    uint64_t lostPackets{0};         //!< units lost on the wire
    uint64_t droppedPackets{0};      //!< units dropped at its end
};

/**
 * @ingroup proteus
 * The directions of links that transmitted most of the time. Those that carried nothing are left
 * out.
 * @param cluster the links are of
 * @param links what each direction carried
 * @param durationPs the time that shares and rates refer to, picoseconds
 * @param n how many at most
 * @return by utilisation, highest first; ties by name, then by link
 * @throw std::invalid_argument if a link is not one of the cluster, or something was carried in no
 * time
 */
std::vector<LinkUse> BusiestLinks(const Cluster& cluster,
                                  const std::vector<LinkStatistics>& links,
                                  int64_t durationPs,
                                  std::size_t n);

/**
 * @ingroup proteus
 * Text in columns, two spaces apart, each as wide as its widest cell. No line ends in a space.
 * @param rows cells by row; a row may be shorter than others
 * @param alignment a letter per column: 'l' left, 'r' right; the last goes on for further columns
 * @param indent before every line
 * @return the lines, each with its line feed
 * @throw std::invalid_argument for another letter, or no letter
 */
std::string FormatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::string& alignment,
                        const std::string& indent = "  ");

/**
 * @ingroup proteus
 * @param text words with single spaces
 * @param columns most characters of a line, its indent included; a longer word has its own line
 * @param indent before every line
 * @return the text in lines, each with its line feed
 */
std::string WrapText(const std::string& text,
                     std::size_t columns = 100,
                     const std::string& indent = "  ");

/// @ingroup proteus
/// @param field of a CSV file @return quoted where RFC 4180 (section 2, items 6 and 7) asks for it
std::string QuoteCsv(const std::string& field);

/// @ingroup proteus
/// @param value a number @param decimals how many @return e.g. "3.14"
std::string FormatNumber(double value, int decimals);

/// @ingroup proteus
/// @param share a part of one @param decimals how many @return in percent, e.g. "31.4 %"
std::string FormatPercent(double share, int decimals = 1);

/// @ingroup proteus
/// @param seconds a time @return with the unit that suits it: "1.234 s", "56.789 ms", "12.300 us"
std::string FormatTime(double seconds);

/// @ingroup proteus
/// @param bytes a size @return in decimal units, GB = 1e9 bytes: "80.00 GB", "4.10 kB", "17 B"
std::string FormatBytes(double bytes);

/// @ingroup proteus
/// @param ps picoseconds, may be negative @param decimals of the unit, e.g. 12 for seconds
/// @return the exact decimal number, e.g. "1.000000000001"
std::string FormatPicoseconds(int64_t ps, int decimals);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TABLES_H
