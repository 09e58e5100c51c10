/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_VALIDATION_H
#define PROTEUS_VALIDATION_H

#include "proteus-collective-run.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-comparison.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Measured tables of collectives, and the simulation of the same.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A line of workloads/measurements/tables.csv.
struct MeasuredTable
{
    std::string file;    //!< with the sizes and times
    std::string cluster; //!< preset, or file beside tables.csv; empty: there is none like it
    std::string system;  //!< what was measured
    uint32_t nodes{1};   //!< servers
    uint32_t gpus{1};    //!< ranks
    Collective collective{Collective::ALL_REDUCE}; //!< what was measured
    std::string launch;                            //!< LaunchMode, as the log or its floor says
    std::string network;                           //!< between the servers, in words
    double pluginLatencyUs{0};           //!< as PacketNetwork::PluginLatency, microseconds
    uint32_t networkChannels{0};         //!< as PacketNetwork::NetworkChannels
    uint32_t ncclVersion{230};           //!< as PacketNetwork::NcclVersion
    std::string unlikeRelease;           //!< what DescribeUnlikeRelease() says of the version
    uint64_t sizes{0};                   //!< how many the file has; 0: that is not known
    std::optional<double> peakBusbwGBps; //!< highest bus bandwidth of them; not all files say it
    std::string note;                    //!< why the simulation may differ
};

/**
 * @ingroup proteus
 * @param directory with tables.csv
 * @return its lines
 * @throw std::invalid_argument "FILE:LINE: cause", or if it cannot be read
 */
std::vector<MeasuredTable> LoadMeasuredTables(const std::string& directory);

/// @ingroup proteus
/// What is simulated of a table.
struct ValidationOptions
{
    std::string directory;                //!< with tables.csv
    uint64_t minBytes{0};                 //!< sizes below are left out
    uint64_t maxBytes{uint64_t{1} << 30}; //!< sizes above are left out
    int64_t stream{1};                    //!< random stream of path choice
    /// Of kernels; null: those that are built in.
    std::shared_ptr<const CollectiveCosts> costs;
    std::string executor{"packet"}; //!< that runs the collectives
    /// Told about every size, or none.
    std::function<void(const std::string& file, uint64_t bytes)> report;
};

/// @ingroup proteus
/// A size of a table.
struct MeasuredSize
{
    uint64_t bytes{0}; //!< as nccl-tests counts it
    double us{0};      //!< measured time, microseconds
};

/// @ingroup proteus
/// A table that can be simulated.
struct LoadedTable
{
    MeasuredTable table;                       //!< its line of tables.csv
    std::vector<MeasuredSize> sizes;           //!< of its file
    std::optional<Cluster> cluster;            //!< that it is of; none, if none is like it
    std::vector<std::vector<DeviceId>> groups; //!< ranks that take part
};

/**
 * @ingroup proteus
 * @param table to compare with
 * @param directory of tables.csv
 * @return the table with its sizes and its cluster
 * @throw std::invalid_argument if a file is wrong or the cluster is not known
 */
LoadedTable LoadTable(const MeasuredTable& table, const std::string& directory);

/**
 * @ingroup proteus
 * Simulates the sizes of a table.
 * @param loaded to compare with
 * @param options what is simulated
 * @return measured and simulated times, of the sizes before a signal if one came
 * @throw std::invalid_argument if the collective cannot run
 */
CollectiveComparison Validate(const LoadedTable& loaded, const ValidationOptions& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_VALIDATION_H
