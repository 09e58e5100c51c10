/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NAME_LISTS_H
#define PROTEUS_NAME_LISTS_H

#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param folder with JSON files @return their names without ending, in order
std::vector<std::string> ListJsonFiles(const std::string& folder);

/// @ingroup proteus
/// @return names of presets of servers and of clusters of the published Proteus, "classic:NAME"
std::vector<std::string> ListClusters();

/// @ingroup proteus
/// @return names of all collectives
std::vector<std::string> ListCollectives();

/// @ingroup proteus
/// @return names of the algorithms of all collectives
std::vector<std::string> ListAlgorithmNames();

/**
 * @ingroup proteus
 * Finds a name, also where it is written otherwise, as "all_reduce" for "all-reduce".
 * @param option that it is the value of
 * @param name as typed
 * @param names that there are
 * @param fileOption another option, which takes files; empty: there is none
 * @return one of them
 * @throw std::invalid_argument that says which was meant, or which there are
 */
std::string MatchName(const std::string& option,
                      const std::string& name,
                      const std::vector<std::string>& names,
                      const std::string& fileOption = "");

/**
 * @ingroup proteus
 * @param subject that a value comes from: an option with its value, or a file
 * @param read the value
 * @return what it gives
 * @throw std::invalid_argument for what is wrong with the value, after the subject
 */
template <typename F>
auto
ReadNamed(const std::string& subject, F read) -> decltype(read())
{
    try
    {
        return read();
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(subject + ": " + error.what());
    }
}

/// @ingroup proteus
/// @param text of --cluster @return it, if it is a file, else the name of a preset
/// @throw std::invalid_argument as MatchName()
std::string FindClusterName(const std::string& text);

/**
 * @ingroup proteus
 * Prints a list of names.
 * @param list which one: version, models, clusters, frameworks, strategies or
 * algorithms
 * @param workloads the folder workloads/
 * @param out where to
 * @return whether there is such a list
 */
bool PrintNames(const std::string& list, const std::string& workloads, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NAME_LISTS_H
