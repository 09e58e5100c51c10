/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_PROGRAM_H
#define PROTEUS_COLLECTIVE_PROGRAM_H

#include "proteus-collective-run.h"
#include "proteus-kernel-costs-option.h"
#include "proteus-option-list.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"
#include "proteus-table-options.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @return names of the algorithms with parameter servers, as a text
std::string ListServed();

/// @ingroup proteus
/// @param typed name of a collective, or barrier @return it as it is listed
/// @throw std::invalid_argument if there is none, as MatchName()
std::string FindCollectiveName(const std::string& typed);

/// @ingroup proteus
/// Options of proteus-collective, as the command line says them.
struct CollectiveProgramOptions
{
    CommandLineText cluster{"dgx-a100"}; //!< server preset or file
    int64_t nodes{0};                    //!< servers of a preset; 0: one, or as the log
    int64_t gpus{0};                     //!< of the collective; 0: all, or as the log
    FabricFlags fabric;                  //!< between servers of a preset
    std::string collective;              //!< empty: all-reduce, or that of the log
    std::string min;                     //!< first size; empty: 8, of a log its first
    std::string max;                     //!< last size; empty: 128M, of a log its last
    double factor{2};                    //!< between two sizes
    int64_t root{0};                     //!< rank
    NcclOptions nccl;                    //!< an empty version: of the log, or the newest
    std::string launchMode;              //!< who launches; empty: of the log, or
                                         //!< process-per-gpu
    double pluginLatency{0};             //!< microseconds
    KernelCostsOption costs;             //!< of NCCL's kernels
    int64_t concurrent{1};               //!< groups
    std::string grouping{"stride"};      //!< how GPUs are shared by groups
    CommandLineText msccl;               //!< schedule, or empty
    CommandLineText splits;              //!< of an all-to-all: file, or empty
    int64_t parameterServers{1};         //!< of algorithm parameter-server
    bool topology{false};                //!< print rings and trees
    CommandLineText executor{"packet"};  //!< that runs it
    int64_t iterations{0};               //!< 0: as many as are needed
    int64_t stream{1};                   //!< random stream of path choice
    CommandLineText measured;            //!< log of nccl-tests to compare with, or empty
    CommandLineText measuredCsv;         //!< file to write that log to, or empty
    std::string logVariables{"on"};      //!< on or off: take over what the log says of NCCL's
    std::string workloads;               //!< folder of files that say how far such results are off;
                                         //!< empty: nothing is said of that
    CommandLineText csv;                 //!< file to write, may be empty
    TableOptions tables;                 //!< all results
    PlotOption plot;                     //!< bus bandwidth over size
    bool quiet{false};                   //!< no progress

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// @param between how servers of a preset are joined
    /// @return the cluster, of two servers where only a log says how many there are
    /// @throw std::invalid_argument that names what is wrong
    Cluster MakeCluster(const FabricOptions& between) const;
};

/**
 * @ingroup proteus
 * Runs the collective at all sizes and prints the table.
 * @param options of the program
 * @throw std::invalid_argument that says which option is wrong and how
 */
void RunCollectiveProgram(const CollectiveProgramOptions& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_PROGRAM_H
