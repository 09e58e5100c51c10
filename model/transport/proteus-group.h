/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GROUP_H
#define PROTEUS_GROUP_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-packet.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-ring-buffer.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Groups of endpoints whose multicasts and reductions switches do: NVLink SHARP (NVLS) in
 * NVSwitches, SHARP in InfiniBand switches.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the switches of a group do.
enum class GroupOperation : uint8_t
{
    MULTICAST,  //!< one member's bytes go to all members, itself included
    REDUCE,     //!< all members' contributions, combined, go to one member
    ALL_REDUCE, //!< all members' contributions, combined, go to all members
};

/// @ingroup proteus
/// What CreateGroup() makes.
struct GroupOptions
{
    std::vector<VertexId> members; //!< endpoints, at least two, all different
    /// NIC of each member, all different; empty where the members are joined by NVLink.
    std::vector<VertexId> nics;
    uint64_t flow{0};         //!< names the group, for choices among equals
    uint32_t trafficClass{1}; //!< of the data
    uint32_t planes{0};       //!< trees, at most; 0: with NVLink one per root, through NICs one
    CopyMethod copyMethod{CopyMethod::SM}; //!< who moves the bytes at the members
};

/**
 * @ingroup proteus
 * Positions of some vertices: what is looked up for every unit of a group. It is a table from the
 * first to the last of them, which are the members of a server, as a rule.
 */
class VertexIndex
{
  public:
    /// "Not there".
    static constexpr uint32_t NONE = 0xffffffff;

    /// @param vertex not there yet, or to be given another position @param position of it
    void Set(VertexId vertex, uint32_t position);

    /// @param vertex a vertex @return its position, or NONE
    uint32_t Find(VertexId vertex) const
    {
        const VertexId place = vertex - m_first; // huge, if it comes before the first
        return place < m_positions.size() ? m_positions[place] : NONE;
    }

  private:
    VertexId m_first{0};               //!< of m_positions
    std::vector<uint32_t> m_positions; //!< by vertex, from m_first on
};

/// @ingroup proteus
/// A switch in a tree of a group.
struct GroupNode
{
    static constexpr uint32_t NONE = 0xffffffff; //!< no such node

    VertexId vertex{0};             //!< the switch
    uint32_t parent{NONE};          //!< node above it; NONE for the root
    std::vector<uint32_t> children; //!< nodes below it
    std::vector<uint32_t> members;  //!< members below it with no other node between
    /// To reductions, by unit, from the first unit that is not complete on.
    RingBuffer<uint32_t> contributions;

    /// @return contributions to a unit that make it complete
    uint32_t GetNContributors() const
    {
        return static_cast<uint32_t>(children.size() + members.size());
    }
};

/// @ingroup proteus
/// A tree of a group.
struct GroupPlane
{
    std::vector<GroupNode> nodes;       //!< the root is the first
    VertexIndex nodeAt;                 //!< by vertex
    std::vector<uint32_t> nodeOfMember; //!< by member: the node above it
    double bytesPerSecond{0};           //!< of the slowest link of a member to it
};

/**
 * @ingroup proteus
 * The order in which units of a group, or packets of a queue pair, take the planes: a repeated
 * pattern, in which planes with faster links come more often.
 */
class PlanePattern
{
  public:
    /// @param rates of the planes, in bytes per second, above 0
    explicit PlanePattern(const std::vector<double>& rates = {1});

    /// @param unit counted over all operations @return the plane that it takes
    uint32_t GetPlane(uint64_t unit) const
    {
        return m_pattern[unit % m_pattern.size()];
    }

    /// @return units after which it repeats
    uint32_t GetLength() const
    {
        return static_cast<uint32_t>(m_pattern.size());
    }

    /// @param plane a plane @param units counted over all operations
    /// @return how many of the first so many units take the plane
    uint64_t Count(uint32_t plane, uint64_t units) const;

  private:
    std::vector<uint32_t> m_pattern;             //!< planes
    std::vector<std::vector<uint32_t>> m_before; //!< by plane and place: turns before it
};

/// @ingroup proteus
/// An operation under way.
struct GroupOperationState
{
    GroupOperation operation{GroupOperation::MULTICAST}; //!< what
    uint64_t bytes{0};                                   //!< size
    uint64_t tag{0};                                     //!< of the first member that began it
    uint32_t root{0};                                    //!< REDUCE: who gets it
    uint64_t firstUnit{0};                               //!< counted over all operations
    uint64_t nUnits{0};                                  //!< of it
    uint32_t nBegun{0};                                  //!< members that have begun it
    uint32_t nDone{0};                                   //!< members that have received it
    std::vector<uint64_t> received;                      //!< bytes, by member
    std::vector<uint64_t> tags;                          //!< by member
    std::vector<uint32_t> lanesLeft;                     //!< by member: planes that its part has
                                                         //!< not all reached

    /// @param nMembers of the group @return whether all have received what they get
    bool IsDone(std::size_t nMembers) const
    {
        return nDone == (operation == GroupOperation::REDUCE ? 1 : nMembers);
    }
};

/// @ingroup proteus
/// The operations of a group that share one numbering of units: its reductions, or the multicasts
/// of one member.
struct GroupSequence
{
    std::deque<GroupOperationState> operations; //!< under way
    uint32_t firstOperation{0};                 //!< number of the first of them
    uint64_t nUnits{0};                         //!< of all operations since the last restart, and
                                                //!< what it began with
    std::vector<uint32_t> before;               //!< by plane: units before that; or empty
    std::vector<uint32_t> nBegun;               //!< by member: operations begun
    std::vector<std::vector<uint32_t>> lanes;   //!< by plane and member: queue pair; or empty
};

/// @ingroup proteus
/// A group.
struct Group
{
    /**
     * Builds the trees.
     * @param cluster the members are in
     * @param paths over its links
     * @param groupOptions what to make
     * @param getFraming framing of a link
     * @throw std::invalid_argument if switches cannot join the members, or a link loses units
     */
    void Build(const Cluster& cluster,
               const Paths& paths,
               const GroupOptions& groupOptions,
               const std::function<LinkFraming(LinkId)>& getFraming);

    /// @return an empty text, or what is under way
    std::string CheckAtRest() const;

    /**
     * Notes which links work.
     * @param cluster the members are in
     * @param isUp whether a link works
     * @return an empty text, or what has failed and what to do
     */
    std::string CheckLinks(const Cluster& cluster, const std::function<bool(LinkId)>& isUp);

    /// @param member a member @return where its links to the switches begin: its NIC or itself
    VertexId GetAccess(uint32_t member) const
    {
        return options.nics.empty() ? options.members[member] : options.nics[member];
    }

    /// The next operation takes the planes in turn as that of a new group does, from one on that
    /// the group's flow and the sequence choose. Nothing may be under way.
    void Restart();

    /// @param sequence of this group @param plane a plane
    /// @param unit of an operation under way, counted on the plane @return the operation
    GroupOperationState& FindOperation(GroupSequence& sequence,
                                       uint32_t plane,
                                       uint32_t unit) const;
    /// @copydoc FindOperation
    const GroupOperationState& FindOperation(const GroupSequence& sequence,
                                             uint32_t plane,
                                             uint32_t unit) const;

    GroupOptions options;                  //!< as created
    uint32_t unitBytes{0};                 //!< of all its packets
    std::vector<GroupPlane> planes;        //!< its trees
    std::vector<LinkId> links;             //!< of all of them, ascending
    bool isBroken{false};                  //!< one of the links has failed
    PlanePattern pattern;                  //!< over them
    VertexIndex memberAt;                  //!< by vertex of a member or its NIC
    GroupSequence reductions;              //!< of all members
    std::vector<GroupSequence> multicasts; //!< by sender

  private:
    /// @param cluster the members are in @param paths over its links @return roots of the trees
    std::vector<VertexId> FindRoots(const Cluster& cluster, const Paths& paths) const;
    /// @param cluster the members are in @param paths over its links @param root of the tree
    /// @param getFraming framing of a link @return the tree
    GroupPlane BuildPlane(const Cluster& cluster,
                          const Paths& paths,
                          VertexId root,
                          const std::function<LinkFraming(LinkId)>& getFraming);
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GROUP_H
