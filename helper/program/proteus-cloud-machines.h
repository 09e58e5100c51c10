/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLOUD_MACHINES_H
#define PROTEUS_CLOUD_MACHINES_H

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Machines that clouds rent out or computing centres have, and the presets that are nearest to
 * them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A machine of a cloud, or of a computing centre.
struct CloudMachine
{
    std::vector<std::string> names; //!< as it is called there
    std::string cluster;            //!< a preset with changes that has its GPUs and the rate of its
                                    //!< network
    std::string plugin;             //!< NCCL's plug-in of the network there; empty: NCCL's own
    std::string variables{};        //!< of NCCL, which its environment there sets
};

/// @ingroup proteus
/// @return those that are known
const std::vector<CloudMachine>& GetCloudMachines();

/// @ingroup proteus
/// @param name that is no preset @return what to type for the machine that is called so; empty if
/// there is none
std::string DescribeCloudMachine(const std::string& name);

/// @ingroup proteus
/// @param plugin NCCL's plug-in of the network @param gpu model of the GPUs
/// @return that the machines with these GPUs have another generation of Elastic Fabric Adapters;
/// empty if they do not
std::string DescribeOtherAdapters(const std::string& plugin, const std::string& gpu);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLOUD_MACHINES_H
