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
    uint32_t size{0};                           //!< how many these are; 0 if it does not say
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
     * @param user the file that has the node: names of groups are its own
     * @param where what messages call the node
     * @param node of that name
     * @throw std::invalid_argument "WHERE: cause"
     */
    void ReadNode(const std::string& user, const std::string& where, const ChakraNode& node);

    /// @return number of ranks as far as the groups tell, or 0
    uint32_t GetKnownRanks() const
    {
        return m_knownRanks;
    }

    /**
     * @param name of a group; empty or "0" for that of all ranks, unless the trace has another
     * @param user the file that wants to know; what it says of the group goes before other files
     * @param nRanks of the job
     * @param standsForAll whether the file is the only one, and the user said how many ranks it
     * stands for: the group of all has as many
     * @return the group, with all its ranks
     * @throw std::invalid_argument "USER: cause" if there is no such group, or it is not known who
     * is in it
     */
    ChakraGroup Find(const std::string& name,
                     const std::string& user,
                     uint32_t nRanks,
                     bool standsForAll = false) const;

    /**
     * ASTRA-sim reads names of groups as whole numbers, up to the first character that is none
     * (Workload::extract_comm_group(), std::stoi): '4.0' of a trace is '4' of its file.
     * @param name of a group in the trace
     * @param user the file that has it
     * @return the name of the group of ReadFile() that is meant so, or the name as it is if there
     * is a group of that name, or no such number
     * @throw std::invalid_argument if several groups are that number
     */
    std::string FindName(const std::string& name, const std::string& user) const;

    /// @param used names of groups that the trace communicates in, and by them those of
    /// FindName() @return what is doubtful of the groups of ReadFile(), in words: those that are
    /// not used, names that are read as numbers, and a '0' that is not of all ranks
    /// @param nRanks of the job
    std::vector<std::string> DescribeDoubts(const std::map<std::string, std::string>& used,
                                            uint32_t nRanks) const;

  private:
    using ByName = std::map<std::string, ChakraGroup>;

    void Add(const std::string& user, const std::string& where, const nlohmann::json& entry);
    /// @return what is known of a group, or null
    const ChakraGroup* FindKnown(const std::string& name, const std::string& user) const;

    ByName m_given;                      //!< of the file that was named
    std::string m_givenBy;               //!< its name
    std::map<std::string, ByName> m_own; //!< of the trace, by file
    uint32_t m_knownRanks{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_GROUPS_H
