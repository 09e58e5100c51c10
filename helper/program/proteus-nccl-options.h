/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_OPTIONS_H
#define PROTEUS_NCCL_OPTIONS_H

#include "proteus-option-list.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a user says of the collectives of a run, whatever runs them.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Options of all programs that run collectives: what NCCL would otherwise choose by itself. Each
 * stands for the attribute of ns3::proteus::PacketNetwork that is named like it, which all
 * executors read.
 */
struct NcclOptions
{
    std::string algorithm;      //!< empty: as NCCL chooses
    std::string protocol;       //!< empty: as NCCL chooses
    int64_t channels{0};        //!< 0: as NCCL chooses
    int64_t networkChannels{0}; //!< 0: as NCCL chooses
    std::string ncclVersion;    //!< empty: the newest that is known
    std::string cpuVendor;      //!< empty: of the cluster
    std::string netPlugin;      //!< empty: NCCL's own
    std::string variables;      //!< of NCCL's environment, see ParseNcclVariables()

    /// @param command to add the options to
    /// @param cluster makes the one that collectives run on, from which the program tells which of
    /// the options do nothing; null: there are several
    void AddTo(OptionList& command, const std::function<Cluster()>& cluster);

    /// Checks all values, as AddTo() has them read.
    /// @throw std::invalid_argument that says which option is wrong and how
    void Check() const;

    /// @return the version as PacketNetwork::NcclVersion, e.g. 218 @throw std::invalid_argument
    uint32_t GetVersion() const;

    /// @param option one that NcclVariable::option may name @return whether it was given
    bool Says(const std::string& option) const;

    /// @return a line for each of the variables that does nothing, or of which not all is modelled
    std::vector<std::string> FindIdle() const;

    /// Makes what was given the default of the attributes.
    /// @throw std::invalid_argument as Check(), or if the attribute was given, too
    void SetDefaults();
};

/// @ingroup proteus
/// @param cluster that collectives run on @return why what is about messages between servers does
/// nothing, or empty
std::string FindNoNetwork(const Cluster& cluster);

/// @ingroup proteus
/// @param collective that runs @return why channels of messages do nothing for it, or empty
std::string FindNoMessages(Collective collective);

/// @ingroup proteus
/// @param collective that runs @param variables of NCCL's environment
/// @return a line for each that chooses among algorithms or protocols, where NCCL chooses none
std::vector<std::string> FindUntuned(Collective collective, const std::string& variables);

/// @ingroup proteus
/// @param cluster that collectives run on @param vendor of CPUs, see CpuVendorFromString()
/// @return why it does nothing, or empty: other CPUs than those of the cluster, for which NCCL
/// chooses the same for all collectives of all GPUs, and of those of one server, from 8 B to 8 GiB
std::string FindSameChoices(const Cluster& cluster, const std::string& vendor);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_OPTIONS_H
