/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOWS_SUMMARY_H
#define PROTEUS_FLOWS_SUMMARY_H

#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-table.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What proteus-flows says of flows that were played.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is said of all flows together.
struct FlowsSummary
{
    std::size_t flows{0};          //!< how many
    std::string partial;           //!< says so if a signal has ended the run
    uint64_t bytes{0};             //!< payload of all
    double endS{0};                //!< last byte of the last one
    double meanS{0};               //!< from the start to the last byte
    double longestS{0};            //!< the same
    NetworkStatistics work;        //!< of the network
    LinkStatistics links;          //!< sums
    double wallS{0};               //!< that the run took
    uint64_t train{1};             //!< packets of the network per event
    std::string ranks;             //!< how several processes divided the work; empty for one
    std::vector<std::string> idle; //!< options that changed nothing
};

/// @ingroup proteus
/// @param player that has run @param fabric of it @param wallS how long that took @return of it
FlowsSummary Summarize(const FlowPlayer& player, Ptr<Fabric> fabric, double wallS);

/// @ingroup proteus
/// @param s to print on standard output
void Print(const FlowsSummary& s);

/// @ingroup proteus
/// @param s of the run @return it as a table
Table MakeSummaryTable(const FlowsSummary& s);

/// @ingroup proteus
/// A flow that was played.
struct PlayedFlow
{
    const FlowSpec& flow;   //!< as it was asked for
    const FlowTimes& times; //!< when what happened
};

/// @ingroup proteus
/// @param flows that were played @return a row per flow
Table MakeFlowTable(const std::vector<PlayedFlow>& flows);

/// @ingroup proteus
/// @param player that has run @return its flows
std::vector<PlayedFlow> ListFlows(const FlowPlayer& player);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOWS_SUMMARY_H
