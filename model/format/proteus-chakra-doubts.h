/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_DOUBTS_H
#define PROTEUS_CHAKRA_DOUBTS_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What is in a Chakra trace and not in the graph that is made of it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a trace is doubtful in.
struct ChakraDoubts
{
    uint64_t dangling{0};            //!< control dependencies on nodes that are not there
    uint64_t contradictory{0};       //!< files whose control dependencies are left out
    uint64_t sizeless{0};            //!< collectives without comm_size
    uint64_t timeless{0};            //!< kernels without duration and FLOPs
    uint64_t emptyMemory{0};         //!< of memory, without duration and bytes
    uint64_t timelessMemory{0};      //!< of memory, with bytes and without duration
    uint64_t misplaced{0};           //!< nodes with comm_type or comm_size that do not communicate
    uint64_t communications{0};      //!< that move something
    uint64_t ofHost{0};              //!< communication nodes of the host
    uint64_t priorities{0};          //!< communications with a priority
    uint64_t typeless{0};            //!< nodes of no type, or with a duration and no work
    uint64_t foreign{0};             //!< messages that say to be of another rank
    uint64_t rootless{0};            //!< collectives with a root that do not say it
    bool isRooflineIdle{false};      //!< whether it was asked for, and times nothing
    std::string steps;               //!< of a profiler, in words, or empty
    std::vector<std::string> groups; //!< what is doubtful of the file of groups, in words
    std::map<std::string, std::string> misspelt; //!< attributes, and what they may be
    std::set<int> unknownFields;                 //!< of messages, by number
    std::string version;                         //!< of the schema, if it is not known

    /// @param text version of the schema that a file says, may be empty
    void AddVersion(const std::string& text);

    /// Names all of it in warnings. @param name of the trace
    void Warn(const std::string& name) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_DOUBTS_H
