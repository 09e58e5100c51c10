/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TYPED_NETWORK_H
#define PROTEUS_TYPED_NETWORK_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-run-information.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

struct ScenarioPlan;

/// @ingroup proteus
/// What was typed about the network between servers.
struct TypedNetwork
{
    FabricOptions fabric;           //!< how servers are joined
    Configuration configuration;    //!< all options, as they were typed
    std::vector<std::string> named; //!< lines on options without effect that are said already
    /// Makes the cluster with other options of fabrics; empty: its executors know single links.
    std::function<Cluster(const FabricOptions&)> build;
    std::shared_ptr<const ScenarioPlan> scenario; //!< what happens besides in the run, or null
};

/// @ingroup proteus
/// @param configuration options, as they were typed @param name of one @return its value, or empty
std::string FindTyped(const Configuration& configuration, const std::string& name);

/// @ingroup proteus
/// @param configuration options, as they were typed
/// @return what the short form of a cluster says, see MakeTextCluster(); none of other clusters
std::vector<std::pair<std::string, std::string>> ListClusterSettings(
    const Configuration& configuration);

/// @ingroup proteus
/// @param typed what was typed @param option with its value @return whether a note says that it
/// does nothing
bool IsNamed(const TypedNetwork& typed, const std::string& option);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TYPED_NETWORK_H
