/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-measured-table.h"

#include "ns3/proteus-collective-table.h"
#include "ns3/proteus-collective-use.h"
#include "ns3/proteus-nccl-tests-doubts.h"
#include "ns3/proteus-warning.h"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A row of a log of nccl-tests.
struct MeasuredRow
{
    std::string system;
    uint32_t nodes{0};
    CollectiveRow measured;
    std::string source;
};

/// @return layout of the tables of workloads/measurements/
TableLayout<MeasuredRow>
GetMeasuredLayout()
{
    using R = MeasuredRow;
    return {"measured",
            "Measured",
            "A log of nccl-tests, out of place where it is known.",
            {{"system", "", "what was measured", [](const R& r) { return r.system; }},
             {"nodes", "", "servers", [](const R& r) { return uint64_t{r.nodes}; }},
             {"gpus", "", "of the group", [](const R& r) { return uint64_t{r.measured.ranks}; }},
             {"collective",
              "",
              "what was run",
              [](const R& r) { return std::string(ToString(r.measured.collective)); }},
             {"size_bytes", "B", "size", [](const R& r) { return r.measured.bytes; }},
             {"time_us", "us", "of one", [](const R& r) { return r.measured.timeUs; }},
             {"busbw_GBps",
              "GB/s",
              "bus bandwidth",
              [](const R& r) { return r.measured.GetBusbwGBps(); }},
             {"source", "", "file", [](const R& r) { return r.source; }}}};
}

} // namespace

Table
MakeMeasuredTable(const std::string& file,
                  const NcclTestsTable& log,
                  const Cluster& cluster,
                  const CollectiveTest& test)
{
    const auto gpus = static_cast<uint32_t>(test.groups[0].size());
    MeasuredRow shown;
    shown.system =
        log.devices.empty() ? cluster.GetName() : std::to_string(gpus) + " x " + log.devices[0];
    shown.nodes = cluster.GetNServers();
    shown.source = std::filesystem::path(file).filename().string();
    std::vector<MeasuredRow> rows;
    for (const NcclTestsRow& row : log.rows)
    {
        const auto& timing = row.outOfPlace ? row.outOfPlace : row.inPlace;
        if (timing && row.bytes > 0)
        {
            shown.measured.collective = test.collective;
            shown.measured.bytes = row.bytes;
            shown.measured.ranks = gpus;
            shown.measured.timeUs = timing->timeUs;
            rows.push_back(shown);
        }
    }
    return GetMeasuredLayout().Make(rows);
}

void
CheckLog(const NcclTestsTable& log,
         const CollectiveTest& test,
         const std::string& file,
         const std::string& collective)
{
    const Collective meant = test.collective;
    const std::size_t ranks = test.groups[0].size();
    const bool hasSums = meant == Collective::ALL_REDUCE || meant == Collective::REDUCE ||
                         meant == Collective::REDUCE_SCATTER;
    const std::string mismatch = FindMismatch(log, GetBusBandwidthFactor(meant, ranks), hasSums);
    if (mismatch.empty())
    {
        return;
    }
    const std::string message = file + ": is not of " + ToString(meant) + " of " +
                                std::to_string(ranks) + " ranks: " + mismatch;
    if (collective.empty())
    {
        throw std::invalid_argument(message +
                                    "; it does not name its collective, --collective does");
    }
    Warn(message);
}

} // namespace proteus
} // namespace ns3
