/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PUBLISHED_LOGS_H
#define PROTEUS_PUBLISHED_LOGS_H

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How far simulated collectives are from published logs of nccl-tests.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How bytes get from a GPU to the network.
enum class GpuNetwork : uint8_t
{
    NONE,    //!< one server
    DIRECT,  //!< by NCCL's own InfiniBand or RoCE, with a PCIe switch or NVLink (C2C) to a NIC
    PLUG_IN, //!< the same by a plug-in
    OVER_CPU //!< a CPU, or its memory, is between a GPU and its NIC; or by sockets
};

/// @ingroup proteus
/// Errors of logs that nothing was fitted to, of machines of one kind. Each log has the error of
/// its highest bus bandwidth, and the median of its errors of time; all are sizes, as shares of 1.
struct PublishedLogs
{
    /// What half and nine of ten of the logs do not exceed.
    struct Errors
    {
        double halfWithin{0};
        double nineOfTenWithin{0};
    };

    std::string what;                     //!< GPUs of the machines, in words
    std::vector<std::string> gpus;        //!< names of their data sheets; empty: of all
    GpuNetwork network{GpuNetwork::NONE}; //!< between their servers
    uint32_t logs{0};                     //!< that were compared
    Errors peak;                          //!< of the highest bus bandwidth
    Errors fromMiB;                       //!< of times from 1 MiB on, medians
};

/**
 * @ingroup proteus
 * Reads "logs", a list of what PublishedLogs has; workloads/evaluation/published-logs.py writes it.
 * @param input the file
 * @param fileName for errors
 * @return one of each GPU and network, and one of all GPUs of a network, at most
 * @throw std::invalid_argument of one line, "FILE: /logs/0/gpus/1: cause"
 */
std::vector<PublishedLogs> ReadPublishedLogs(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * @param logs of all kinds
 * @param gpu name of a data sheet
 * @param network between the servers of a collective
 * @return a sentence that says how far collectives of such machines are off, or those of all GPUs
 * with such a network if there are too few of this one; or that too few were compared
 * @throw std::invalid_argument if there is no such data sheet
 */
std::string DescribePublishedLogs(const std::vector<PublishedLogs>& logs,
                                  const std::string& gpu,
                                  GpuNetwork network);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PUBLISHED_LOGS_H
