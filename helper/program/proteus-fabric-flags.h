/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_FLAGS_H
#define PROTEUS_FABRIC_FLAGS_H

#include "proteus-option-list.h"

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param cluster any @return its links and their ends, as a text that another network does not
/// have
std::string DescribeNetwork(const Cluster& cluster);

/**
 * @ingroup proteus
 * Command line options for how servers are joined: --fabric, and one for every number that a kind
 * of fabric has. The object must not move after AddTo().
 */
class FabricFlags
{
  public:
    /**
     * @param command to add the options to
     * @param describe DescribeNetwork() of what the program would run on with these options of
     * fabrics: an option that changes nothing there is named as idle
     */
    void AddTo(OptionList& command,
               const std::function<std::string(const FabricOptions&)>& describe);

    /**
     * @return what the user has asked for
     * @throw std::invalid_argument for a number that is too small or too large
     */
    FabricOptions GetOptions() const;

    /**
     * @param made options of a fabric that is made, fitted to its servers
     * @return "--serversPerLeaf=3 is taken as 2" for each option of its kind that was asked for
     * and is another one there
     */
    std::vector<std::string> ListFitted(const FabricOptions& made) const;

  private:
    /// @param command that has the options
    void AddIdleTo(OptionList& command,
                   const std::function<std::string(const FabricOptions&)>& describe);

    std::string m_kind{FabricOptions().kind}; //!< of the fabric
    std::map<std::string, int64_t> m_whole;   //!< whole numbers, by name of the option
    std::map<std::string, double> m_real;     //!< the other numbers, by name of the option
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_FLAGS_H
