/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-log.h"

#include "proteus-logged-variables.h"
#include "proteus-name-lists.h"

#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param option its name @param value 0: as many as the log @param logged 0: the log does not say
/// @throw std::invalid_argument if both say something else
void
TakeFromLog(const std::string& measured, const char* option, int64_t& value, uint32_t logged)
{
    if (value != 0 && logged != 0 && value != logged)
    {
        throw std::invalid_argument("--" + std::string(option) + "=" + std::to_string(value) +
                                    ": " + measured + " is of " + std::to_string(logged) +
                                    "; leave the option out");
    }
    value = value == 0 ? int64_t{logged} : value;
}

/// @return the root of a log, if all its lines have one and the same; 0 otherwise
uint32_t
FindRoot(const NcclTestsTable& log, const std::string& measured)
{
    std::set<int64_t> roots;
    for (const NcclTestsRow& row : log.rows)
    {
        roots.insert(row.root.value_or(-1));
    }
    if (roots.size() > 1)
    {
        Warn(measured + ": is of several roots, simulated is one, --root");
    }
    return roots.size() == 1 ? static_cast<uint32_t>(std::max<int64_t>(*roots.begin(), 0)) : 0;
}

/// Takes over the variables of NCCL's environment that a log says. @param options of the program,
/// with its version of NCCL; get them @param log of nccl-tests
void
TakeVariables(CollectiveProgramOptions& options, const NcclTestsTable& log)
{
    if (!ToSwitch(options.logVariables, "logVariables"))
    {
        if (!log.settings.empty())
        {
            Warn(options.measured + ": was run with " + ListNames(log.settings) +
                 ", not taken over: --logVariables=off");
        }
        return;
    }
    LoggedVariables sorted = SortLoggedVariables(log.settings, options.nccl);
    if (!sorted.taken.empty() && !options.msccl.empty())
    {
        sorted.doubts.push_back("was run with " + sorted.taken +
                                ", not taken over: --msccl has a schedule of its own");
        sorted.taken.clear();
    }
    if (!sorted.taken.empty())
    {
        Warn(options.measured + ": was run with " + sorted.taken +
             ", which is taken over; --nccl counts more, --logVariables=off takes none");
        options.nccl.variables += (options.nccl.variables.empty() ? "" : ",") + sorted.taken;
    }
    for (const std::string& doubt : sorted.doubts)
    {
        Warn(options.measured + ": " + doubt);
    }
}

} // namespace

CollectiveProgramOptions
TakeFromLog(CollectiveProgramOptions options, const NcclTestsTable& log)
{
    const auto nameOf = [](const std::string& name) {
        return std::string(ToString(CollectiveFromString(name)));
    };
    if (!options.collective.empty() && !log.collective.empty() &&
        nameOf(options.collective) != log.collective)
    {
        throw std::invalid_argument("--collective=" + options.collective + ": " + options.measured +
                                    " is of " + log.collective + "; leave the option out");
    }
    if (options.collective.empty())
    {
        options.collective = log.collective;
    }
    if (options.nccl.ncclVersion.empty())
    {
        options.nccl.ncclVersion = log.ncclVersion;
        const uint32_t version =
            ReadNamed(options.measured, [&]() { return ParseNcclVersion(log.ncclVersion); });
        if (version > NEWEST_NCCL)
        {
            Warn(options.measured + ": is of NCCL " + log.ncclVersion +
                 ", of which nothing is known: the newest version that is known is taken");
        }
    }
    TakeVariables(options, log);
    if (options.launchMode.empty() && log.gpusOfThread > 1)
    {
        options.launchMode = "one-process";
    }
    // One server is a preset by itself; with changes of its network it would be two.
    const bool saysOne =
        log.nodes == 1 && IsClusterText(options.cluster) && !SaysServers(options.cluster);
    TakeFromLog(options.measured, "nodes", options.nodes, log.nodes > 1 || saysOne ? log.nodes : 0);
    TakeFromLog(options.measured, "gpus", options.gpus, log.ranks);
    TakeFromLog(options.measured, "iterations", options.iterations, log.iterations);
    TakeFromLog(options.measured, "root", options.root, FindRoot(log, options.measured));
    return options;
}

void
WarnOfGpus(const NcclTestsTable& log, const Cluster& cluster, const std::string& measured)
{
    const GpuModel* simulated =
        MatchGpuModel(cluster.GetVertices()[cluster.GetGpus().front()].model);
    for (const std::string& device : log.devices)
    {
        const GpuModel* timed = MatchGpuModel(device);
        if (timed != nullptr && simulated != nullptr && timed != simulated)
        {
            Warn(measured + ": is of GPUs \"" + device + "\", simulated are " +
                 simulated->sheet.model + "; --cluster says which");
            return;
        }
    }
}

} // namespace proteus
} // namespace ns3
