/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOWS_OPTIONS_H
#define PROTEUS_FLOWS_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-fabric-flags.h"
#include "proteus-option-list.h"
#include "proteus-packet-trace-options.h"
#include "proteus-table-options.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-player.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the command line of proteus-flows says.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the command line says, as it says it.
struct FlowsOptions
{
    CommandLineText cluster;       //!< preset or file
    int64_t nodes{0};              //!< servers
    FabricFlags fabric;            //!< between servers of a preset
    CommandLineText flows;         //!< file
    std::string transport;         //!< empty: attributes decide
    int64_t payload{0};            //!< 0: the cluster decides
    int64_t overhead{-1};          //!< -1: the cluster decides
    int64_t ackBytes{0};           //!< 0: the cluster decides
    std::string trigger;           //!< empty: attributes decide
    std::string window;            //!< empty: attributes decide
    std::string congestionControl; //!< empty: attributes decide
    int64_t stream{1};             //!< random stream
    CommandLineText csv;           //!< file, may be empty
    TableOptions tables;           //!< all results
    PacketTraceOptions traces;     //!< what happens on the links
    bool quiet{false};             //!< no progress line

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// Applies the options to the transport that will be made.
    /// @throw std::invalid_argument that names a wrong option
    void SetTransportDefaults() const;

    /// @param fabric between servers of a preset @return the cluster
    /// @throw std::invalid_argument that names a wrong option, and what is wrong with a file
    Cluster MakeCluster(const FabricOptions& fabric) const;

    /// @param player that has run @param fabric of it @return a line for each option that changed
    /// nothing
    std::vector<std::string> FindIdle(const FlowPlayer& player, Ptr<Fabric> fabric) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOWS_OPTIONS_H
