/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RESULT_LAYOUTS_H
#define PROTEUS_RESULT_LAYOUTS_H

#include "proteus-run-analysis.h"
#include "proteus-table.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The tables of a run: what a row is about, and which columns it has. Internal to the tables.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A device in a result.
struct DeviceRow
{
    const RunRecord& result;     //!< of one executor
    const RunAnalysis& analysis; //!< what follows from it
    DeviceId device{0};          //!< rank
    const Vertex& gpu;           //!< it in the cluster
};

/// @ingroup proteus
/// Something that an analysis has many of.
template <typename T>
struct UseRow
{
    const RunRecord& result; //!< of one executor
    const T& use;            //!< the thing
};

/// @ingroup proteus
/// An iteration of several.
struct IterationRow
{
    const RunRecord& result; //!< of one executor
    const Summary& summary;  //!< of the result
    const IterationUse& use; //!< the iteration
};

/// @ingroup proteus
/// A number of a summary.
struct SummaryQuantity
{
    std::string name;                         //!< e.g. "iteration time"
    std::string unit;                         //!< of the number
    std::function<Cell(const Summary&)> find; //!< the number, or text
};

/// @ingroup proteus
/// A number of a summary of a result.
struct SummaryRow
{
    const RunRecord& result;         //!< of one executor
    const Summary& summary;          //!< of the result
    const SummaryQuantity& quantity; //!< which number of it
};

/// @ingroup proteus
/// A fact about what was run.
struct FactRow
{
    std::string item;  //!< what
    std::string value; //!< its value
};

/// @ingroup proteus
/// A number as several executors find it.
struct ComparisonRow
{
    std::string quantity;       //!< what
    std::vector<double> values; //!< by executor
};

/// @ingroup proteus
/// @return single numbers of a summary, in the order of the table
const std::vector<SummaryQuantity>& GetSummaryQuantities();

/// @ingroup proteus
/// @return layout of the table "run"
TableLayout<FactRow> GetRunLayout();

/// @ingroup proteus
/// @return layout of the table "summary"
TableLayout<SummaryRow> GetSummaryLayout();

/// @ingroup proteus
/// @return layout of the table "breakdown"
TableLayout<DeviceRow> GetBreakdownLayout();

/// @ingroup proteus
/// @return layout of the table "iterations"
TableLayout<IterationRow> GetIterationLayout();

/// @ingroup proteus
/// @return layout of the table "phases"
TableLayout<UseRow<PhaseUse>> GetPhaseLayout();

/// @ingroup proteus
/// @return layout of the table "collectives"
TableLayout<UseRow<CollectiveUse>> GetCollectiveLayout();

/// @ingroup proteus
/// @return layout of the table "links"
TableLayout<UseRow<LinkUse>> GetLinkLayout();

/// @ingroup proteus
/// @return layout of the table "hot_spots"
TableLayout<UseRow<HotSpot>> GetHotSpotLayout();

/// @ingroup proteus
/// @return layout of the table "memory"
TableLayout<DeviceRow> GetMemoryLayout();

/// @ingroup proteus
/// @param executors at least two @return layout of the table "comparison"
TableLayout<ComparisonRow> GetComparisonLayout(const std::vector<std::string>& executors);

/// @ingroup proteus
/// @param parallelism any @return how tables call it: "other" for none
std::string NameInTables(Parallelism parallelism);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RESULT_LAYOUTS_H
