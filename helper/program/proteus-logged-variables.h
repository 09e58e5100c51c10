/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LOGGED_VARIABLES_H
#define PROTEUS_LOGGED_VARIABLES_H

#include "proteus-nccl-options.h"

#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Variables of NCCL's environment that a log of nccl-tests says.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What becomes of the variables of a log.
struct LoggedVariables
{
    std::string taken;               //!< over: settings, as ParseNcclVariables() reads them
    std::vector<std::string> doubts; //!< "was run with NCCL_IB_HCA=mlx5_0, not taken over: CAUSE"
};

/**
 * @ingroup proteus
 * Sorts the variables of a log: those that are modelled are taken over, all others are named, with
 * the cause. What the user says himself counts more.
 * @param settings of the log, "NAME=VALUE", see NcclTestsTable::settings
 * @param typed what the user said; its version is that of the log, unless the user said another
 * @return what becomes of them
 */
LoggedVariables SortLoggedVariables(const std::set<std::string>& settings,
                                    const NcclOptions& typed);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LOGGED_VARIABLES_H
