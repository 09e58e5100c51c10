/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_GROUPS_H
#define PROTEUS_CHAKRA_GROUPS_H

#include "proteus-chakra.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a trace says of a process group.
struct ChakraGroup
{
    std::vector<DeviceId> ranks;                //!< empty: all
    Parallelism parallelism{Parallelism::NONE}; //!< as its description tells
};

/// @ingroup proteus
/// The process groups of a Chakra trace, from its nodes or from a file beside it.
class ChakraGroups
{
  public:
    /**
     * @param name of a file {"NAME": [RANK, ...], ...}
     * @throw std::invalid_argument that names file, place and cause
     */
    void ReadFile(const std::string& name);

    /**
     * Reads the operands of CHAKRA_GROUP_NODE: JSON, or JSON in a string in a list, as Python
     * prints it.
     * @param where what messages call the node
     * @param node of that name
     * @throw std::invalid_argument "WHERE: cause"
     */
    void ReadNode(const std::string& where, const ChakraNode& node);

    /// @return number of ranks as far as the groups tell, or 0
    uint32_t GetKnownRanks() const
    {
        return m_knownRanks;
    }

    /**
     * @param name of a group; empty or "0" for that of all ranks, unless the trace has another
     * @param user who wants to know, for messages
     * @param nRanks of the job
     * @return the group, with all its ranks
     * @throw std::invalid_argument "USER: cause" if there is no such group
     */
    ChakraGroup Find(const std::string& name, const std::string& user, uint32_t nRanks) const;

  private:
    void Add(const std::string& where, const nlohmann::json& entry);

    std::map<std::string, ChakraGroup> m_groups;
    uint32_t m_knownRanks{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_GROUPS_H
