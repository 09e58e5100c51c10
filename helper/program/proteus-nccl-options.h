/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_OPTIONS_H
#define PROTEUS_NCCL_OPTIONS_H

#include "proteus-option-list.h"

#include <cstdint>
#include <string>

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

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// Checks all values; an algorithm gets the name that its alias stands for.
    /// @throw std::invalid_argument that says which option is wrong and how
    void Check();

    /// @return the version as PacketNetwork::NcclVersion, e.g. 218 @throw std::invalid_argument
    uint32_t GetVersion() const;

    /// Makes what was given the default of the attributes.
    /// @throw std::invalid_argument as Check(), or if the attribute was given, too
    void SetDefaults();
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_OPTIONS_H
