/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-subject.h"

#include "proteus-channel-listing.h"
#include "proteus-executors.h"

#include "ns3/proteus-nccl-releases.h"
#include "ns3/proteus-rank-partition.h"
#include "ns3/proteus-ranks.h"

#include <ostream>
#include <string>

namespace ns3
{
namespace proteus
{

void
PrintCollectiveSubject(const CollectiveProgramOptions& options,
                       const Cluster& cluster,
                       const CollectiveTest& test,
                       std::ostream& out)
{
    out << "# cluster " << cluster.GetName() << ", "
        << (test.isBarrier ? "barrier" : ToString(test.collective)) << ", " << test.groups.size()
        << (test.groups.size() > 1 ? " groups of " : " group of ") << test.groups[0].size()
        << " ranks, launch mode " << test.launchMode
        << (options.nccl.ncclVersion.empty()
                ? ""
                : ", NCCL " + FormatNcclRelease(options.nccl.ncclVersion))
        << DescribeApproximation(test.executor) << "\n#\n";
    if (GetNRanks() > 1)
    {
        out << "# " << GetNRanks() << " MPI ranks, "
            << Describe(PartitionCluster(cluster, GetNRanks()), cluster) << "\n#\n";
    }
    if (options.topology)
    {
        for (const auto& group : test.groups)
        {
            PrintChannels(cluster,
                          GetVertices(cluster, group),
                          test.channels,
                          MakePreferences(test),
                          out);
        }
    }
}

} // namespace proteus
} // namespace ns3
