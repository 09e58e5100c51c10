/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_SENSITIVITY_H
#define PROTEUS_SEARCH_SENSITIVITY_H

#include "proteus-search-run.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * What would be best on another network, or with more memory.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param cluster any
 * @param factor by which the bandwidth of every link of the network is multiplied; links inside
 * servers, those to NICs among them, and NVLink between servers stay as they are
 * @return the changed cluster
 */
Cluster ScaleNetwork(const Cluster& cluster, double factor);

/**
 * @ingroup proteus
 * Searches again with half and with twice the network bandwidth, and with twice the memory, plans
 * only and by flows, beside what is best today.
 * @param options of the user
 * @param subject of the search
 * @param outcome of the search, with at least one strategy that was run
 * @return a row for every change
 */
std::vector<SensitivityRow> FindSensitivity(const SearchOptions& options,
                                            const SearchSubject& subject,
                                            const SearchOutcome& outcome);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_SENSITIVITY_H
