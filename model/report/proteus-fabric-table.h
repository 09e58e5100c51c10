/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_TABLE_H
#define PROTEUS_FABRIC_TABLE_H

#include "proteus-run-information.h"
#include "proteus-summary.h"

#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-spread.h"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One fabric of a comparison.
struct FabricRow
{
    std::string fabric;            //!< e.g. "leaf-spine 2:1"
    std::string technology;        //!< of its links, e.g. "infiniband"
    std::string routing;           //!< e.g. "Ecmp"
    double iterationS{0};          //!< seconds
    double tokensPerS{0};          //!< 0 where the job does not say
    double exposedS{0};            //!< exposed communication, mean over the devices, seconds
    std::optional<double> busiest; //!< highest utilisation of a link of the network, 0 to 1; none
                                   //!< where the executor knows nothing of links
    NetworkBill bill;              //!< what it takes
    std::string executor;          //!< who ran it; empty: the same for all rows
    std::optional<Spread> throws;  //!< of iterationS, which is the median, by random stream
};

/**
 * @ingroup proteus
 * @param variant that was run
 * @param cluster that it made
 * @param summary of the run
 * @param uses how its links were used, all of them; see BusiestLinks()
 * @return the row
 */
FabricRow MakeFabricRow(const FabricVariant& variant,
                        const Cluster& cluster,
                        const Summary& summary,
                        const std::vector<LinkUse>& uses);

/// @ingroup proteus
/// How a comparison is written.
enum class FabricTableFormat : uint8_t
{
    TEXT,     //!< aligned columns
    MARKDOWN, //!< a table of GitHub-flavoured Markdown
    CSV,      //!< RFC 4180, numbers in SI units
};

/**
 * @ingroup proteus
 * Writes a comparison, a line per fabric. Columns of the text: fabric, links, routing, iteration
 * time, by how much it is longer than in the first row, tokens per second (where the job says),
 * exposed communication, busiest link of the network (where known), switches, their ports in use,
 * cables, ports of the largest switch, and the cost of performance: ports times iteration time,
 * over that of the first row. CSV has `fabric`, `links`, `routing`, `iteration_s`,
 * `relative` (1 in the first row), `tokens_per_s`, `exposed_communication_s`, `busiest_link`,
 * `switches`, `ports`, `cables`, `largest_switch_ports`, `relative_cost`. Where rows have them
 * there are also `executor`, whose rows are compared with its own first one, and `throws`,
 * `iteration_least_s`, `iteration_most_s` and `within_spread`, see IsWithinSpread().
 * @param rows of the comparison
 * @param format how
 * @param out where to
 */
void WriteFabricTable(const std::vector<FabricRow>& rows,
                      FabricTableFormat format,
                      std::ostream& out);

/**
 * @ingroup proteus
 * Writes a comparison as JSON: an object with `format` ("proteus-fabrics"), `version` (1),
 * `configuration` (options that repeat it, see --config) and `fabrics`, an object per row with the
 * columns of the CSV; `partial` where it was ended before all rows were there; and `notes`, if
 * there are any.
 * @param rows of the comparison
 * @param configuration of the program
 * @param endedBy name of the signal that ended it, or empty
 * @param notes on the job, options and files
 * @param out where to
 */
void WriteFabricJson(const std::vector<FabricRow>& rows,
                     const Configuration& configuration,
                     const std::string& endedBy,
                     const std::vector<std::string>& notes,
                     std::ostream& out);

/// @ingroup proteus
/// @param row of a comparison @return what it is, e.g. "leaf-spine 4:1, RoCE, adaptive"
std::string DescribeFabric(const FabricRow& row);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_TABLE_H
