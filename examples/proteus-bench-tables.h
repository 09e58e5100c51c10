/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BENCH_TABLES_H
#define PROTEUS_BENCH_TABLES_H

#include "proteus-bench-cases.h"

#include "ns3/proteus-table.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What proteus-bench writes: results of cases and of approximations.
 */

namespace ns3
{
namespace proteus
{

/// What comes out of one run. Plain, to go through a pipe.
struct Result
{
    uint32_t hosts{0};
    uint64_t packets{0};
    uint64_t controlPackets{0};
    uint64_t hops{0};
    uint64_t events{0};          //!< of the engine
    uint64_t simulatorEvents{0}; //!< of ns-3
    uint64_t bytes{0};           //!< payload
    uint64_t marks{0};
    uint64_t pauses{0};
    double setUpS{0};        //!< CPU time
    double cpuS{0};          //!< of the run
    double wallS{0};         //!< of the run
    int64_t endPs{0};        //!< simulated
    uint64_t restBytes{0};   //!< memory after set-up
    uint64_t peakBytes{0};   //!< memory
    double stockCpuS{0};     //!< 0: not measured
    uint64_t stockHops{0};   //!< the same packets there
    uint64_t stockEvents{0}; //!< of ns-3
    char error[400]{};       //!< what went wrong, if something did
};

/// @param result of a case @return nanoseconds of CPU time per packet-hop, 0 if there were none
inline double
GetNsPerHop(const Result& result)
{
    return result.hops == 0 ? 0 : result.cpuS * 1e9 / static_cast<double>(result.hops);
}

/// @param result of a case @return how many times the stock devices take, 0 if not measured
inline double
GetRatio(const Result& result)
{
    return result.stockHops == 0 ? 0
                                 : result.stockCpuS * 1e9 / static_cast<double>(result.stockHops) /
                                       GetNsPerHop(result);
}

/// A case and what came out.
struct CaseRow
{
    std::string name;
    Result result;
};

/// @param find a number of stock devices @return it, nothing where they were not measured
template <typename F>
std::function<Cell(const CaseRow&)>
OfStock(F find)
{
    return [find](const CaseRow& row) {
        return row.result.stockHops > 0 ? Cell(find(row.result)) : Cell();
    };
}

/// @return layout of the table of cases
inline TableLayout<CaseRow>
GetCaseLayout()
{
    using R = CaseRow;
    return {
        "cases",
        "Cases",
        "A row per case; times are medians.",
        {{"case", "", "what was run", [](const R& r) { return r.name; }},
         {"hosts", "", "of the cluster", [](const R& r) { return uint64_t{r.result.hosts}; }},
         {"packets",
          "",
          "units sent, control units included",
          [](const R& r) { return r.result.packets + r.result.controlPackets; }},
         {"packet_hops", "", "units times links", [](const R& r) { return r.result.hops; }},
         {"events", "", "of the engine", [](const R& r) { return r.result.events; }},
         {"ns_per_packet_hop", "ns", "CPU time", [](const R& r) { return GetNsPerHop(r.result); }},
         {"bytes_per_wall_second",
          "B/s",
          "payload over wall time",
          [](const R& r) { return static_cast<double>(r.result.bytes) / r.result.wallS; }},
         {"peak_memory_bytes",
          "B",
          "that the run adds to an empty process",
          [](const R& r) { return r.result.peakBytes; }},
         {"ratio_to_stock",
          "",
          "stock devices' CPU time of a packet-hop over this one",
          OfStock([](const Result& r) { return GetRatio(r); })},
         {"control_packets",
          "",
          "acknowledgements and notifications among the packets",
          [](const R& r) { return r.result.controlPackets; }},
         {"marked_packets", "", "by ECN", [](const R& r) { return r.result.marks; }},
         {"pauses", "", "of PFC", [](const R& r) { return r.result.pauses; }},
         {"simulated_s",
          "s",
          "simulated time",
          [](const R& r) { return static_cast<double>(r.result.endPs) * 1e-12; }},
         {"simulator_events", "", "of ns-3", [](const R& r) { return r.result.simulatorEvents; }},
         {"cpu_s", "s", "CPU time of the run", [](const R& r) { return r.result.cpuS; }},
         {"set_up_s", "s", "CPU time before it", [](const R& r) { return r.result.setUpS; }},
         {"rest_memory_bytes",
          "B",
          "memory after set-up",
          [](const R& r) { return r.result.restBytes; }},
         {"stock_ns_per_packet_hop",
          "ns",
          "CPU time of stock devices",
          OfStock([](const Result& r) {
              return r.stockCpuS * 1e9 / static_cast<double>(r.stockHops);
          })},
         {"stock_packet_hops", "", "of stock devices", OfStock([](const Result& r) {
              return r.stockHops;
          })},
         {"stock_events", "", "of ns-3, of stock devices", OfStock([](const Result& r) {
              return r.stockEvents;
          })}}};
}

/// A value of an attribute that trades exactness for speed, and what came out.
struct ApproximationRow
{
    std::string name;      //!< of the case
    std::string attribute; //!< of the fabric
    std::string value;     //!< of the attribute
    Result result;         //!< with it
    Result exact;          //!< with the value that is exact

    /// @return error of the simulated time, as a share
    double GetError() const
    {
        return static_cast<double>(result.endPs) / static_cast<double>(exact.endPs) - 1;
    }

    /// @return CPU time of the exact run over that of this one
    double GetSpeedUp() const
    {
        return exact.cpuS / result.cpuS;
    }
};

/// @return layout of the table of approximations
inline TableLayout<ApproximationRow>
GetApproximationLayout()
{
    using R = ApproximationRow;
    return {
        "approximations",
        "Approximations",
        "A row per value of an attribute; the first of each is exact.",
        {{"case", "", "what was run", [](const R& r) { return r.name; }},
         {"attribute", "", "of the fabric", [](const R& r) { return r.attribute; }},
         {"value", "", "of it", [](const R& r) { return r.value; }},
         {"simulated_s",
          "s",
          "simulated time",
          [](const R& r) { return static_cast<double>(r.result.endPs) * 1e-12; }},
         {"error_share", "share", "of the simulated time", [](const R& r) { return r.GetError(); }},
         {"times_as_fast",
          "",
          "CPU time of the exact run over that of this one",
          [](const R& r) { return r.GetSpeedUp(); }},
         {"marked_packets", "", "by ECN", [](const R& r) { return r.result.marks; }}}};
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BENCH_TABLES_H
