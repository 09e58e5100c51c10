/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_SUBJECT_H
#define PROTEUS_COLLECTIVE_SUBJECT_H

#include "proteus-collective-program.h"

#include "ns3/proteus-cluster.h"

#include <iosfwd>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Prints what stands above the table of proteus-collective: what is run where, and channels, rings
/// and trees with --topology.
/// @param options of the program @param cluster that is run on @param test that is run
/// @param out where to
void PrintCollectiveSubject(const CollectiveProgramOptions& options,
                            const Cluster& cluster,
                            const CollectiveTest& test,
                            std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_SUBJECT_H
