/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_CONTENDERS_H
#define PROTEUS_FABRIC_CONTENDERS_H

#include "proteus-model-options.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"

#include "ns3/proteus-fabric-variant.h"

#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What proteus-fabrics compares.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the user asked for; what ProgramOptions has beyond these options keeps its defaults.
struct FabricsOptions : ProgramOptions
{
    FabricsOptions()
    {
        cluster = "dgx-h100";
        nodes = 4;
    }

    ModelOptions model;                 //!< with its strategy, or neither: the usual job
    CommandLineText graph;              //!< file, or empty
    CommandLineText fabrics;            //!< what is compared; empty: the usual ones
    CommandLineText csv;                //!< file to write, or empty
    CommandLineText json;               //!< file to write, or empty
    PlotOption plot;                    //!< of the times
    CommandLineText markdown;           //!< file to write, or empty
    std::string streams;                //!< random streams; empty: that of ProgramOptions
    const OptionList* command{nullptr}; //!< that has them
};

/// @ingroup proteus
/// One thing that is compared: servers joined by a fabric, or a cluster by its name.
struct Contender
{
    FabricVariant variant; //!< of the preset; of another cluster only its name and routing count
    std::string cluster;   //!< preset with changes, or file; empty: the preset of --cluster
};

/// @ingroup proteus
/// @param options with executors @return their names
std::vector<std::string> ListExecutors(const FabricsOptions& options);

/// @ingroup proteus
/// @param options with executors @param routing FabricVariant::routing @return whether all
/// executors know how switches choose among equal ports by it: flows have one path, or a part on
/// each
bool KnowRouting(const FabricsOptions& options, const std::string& routing);

/**
 * @ingroup proteus
 * @param options with the list, or none for the usual ones
 * @param sizes of fabrics, where the list says nothing else
 * @return what is compared
 * @throw std::invalid_argument that says what is wrong with an option
 */
std::vector<Contender> ListContenders(const FabricsOptions& options, const FabricOptions& sizes);

/// @ingroup proteus
/// @param contender of a list @return what messages call it
std::string GetName(const Contender& contender);

/// @ingroup proteus
/// @param contender of a list @return whether --nodes says how many servers it has
bool TakesNodes(const Contender& contender);

/// @ingroup proteus
/// @param options with servers @param contender of a list @return its cluster
/// @throw std::invalid_argument if there is no such cluster
Cluster MakeContenderCluster(const FabricsOptions& options, const Contender& contender);

/// @ingroup proteus
/// Names contenders that are the same network, switched alike, and those with other GPUs than the
/// first one. As all are built, what cannot be is refused before the first runs.
/// @param options with servers @param contenders at least one
void WarnOfSame(const FabricsOptions& options, const std::vector<Contender>& contenders);

/// @ingroup proteus
/// Names sizes that were asked for and fitted to the servers that there are.
/// @param options with sizes @param contenders of a list
void WarnOfFitted(const FabricsOptions& options, const std::vector<Contender>& contenders);

/// @ingroup proteus
/// @param options whose list is looked at @param takes whether a contender takes something
/// @return whether none does; not of a list that is wrong
bool DoesNoneTake(const FabricsOptions& options,
                  const std::function<bool(const Contender&)>& takes);

/// @ingroup proteus
/// @param options with a list @param sizes of fabrics @return the networks of all contenders
/// @throw std::invalid_argument as ListContenders()
std::string DescribeNetworks(const FabricsOptions& options, const FabricOptions& sizes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_CONTENDERS_H
