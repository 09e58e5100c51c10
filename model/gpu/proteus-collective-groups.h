/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_GROUPS_H
#define PROTEUS_COLLECTIVE_GROUPS_H

#include "ns3/proteus-pool.h"
#include "ns3/proteus-program.h"
#include "ns3/proteus-transport.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The network groups of the collectives under way: which group of the transport carries the sums
 * and multicasts of a program's group, and how far each member is.
 *
 * Every communication under way has groups of the transport to itself, because all members of a
 * group must begin its sums in the same order, which two communications at a time would not keep. A
 * group is made when it is first needed, and used again by the next communication of the same
 * members. So there are as many as are in use at a time.
 *
 * Nothing here grants room: a rank gives to a sum only when it has room for what comes back, and
 * programs are made so; CheckProgram() checks it.
 */
class CollectiveGroups
{
  public:
    /// @param transport whose groups are used
    void SetUp(Ptr<Transport> transport);

    /**
     * Makes a group of the transport, and what it needs, unless there is one already. If several
     * communications do not use the same members at a time, a program's groups are those prepared.
     * @param members vertices of its members, in their order
     * @param ordinal of the group among those of a program with these members
     * @param reductions whether they will give to sums
     * @param multicasts by member: whether it will multicast
     * @return queue pairs of the group
     */
    std::vector<uint32_t> Prepare(const std::vector<VertexId>& members,
                                  uint32_t ordinal,
                                  bool reductions,
                                  const std::vector<bool>& multicasts);

    /**
     * A rank opens a group of its program. All members do, and each closes it in the end.
     * @param task of the communication
     * @param microBatch of the communication
     * @param number of the group in CollectiveProgram::groups
     * @param members vertices of its members, in their order
     * @param rankRun what PacketWire knows the rank by
     * @param member position of the rank in the group
     * @return id of the open group
     */
    uint32_t Open(TaskId task,
                  uint32_t microBatch,
                  uint32_t number,
                  const std::vector<VertexId>& members,
                  uint32_t rankRun,
                  uint32_t member);

    /// @param id of an open group @param member that is done with it
    void Close(uint32_t id, uint32_t member);

    /**
     * @param id of an open group
     * @param member position of a rank
     * @param block a block run of it that takes from the group
     */
    void AddBlock(uint32_t id, uint32_t member, uint32_t block);

    /**
     * A member gives to a sum, or multicasts.
     * @param id of an open group
     * @param member position of the rank
     * @param operation what the switches do
     * @param root REDUCE: position of the member that gets the result
     * @param bytes on the wire
     * @return bytes that this adds to what members get in all
     * @throw std::invalid_argument if switches cannot do it
     */
    uint64_t Give(uint32_t id,
                  uint32_t member,
                  GroupOperation operation,
                  uint32_t root,
                  uint64_t bytes);

    /// "No sender": a result of a sum.
    static constexpr uint32_t SUM = 0xffffffff;

    /**
     * @param id of an open group
     * @param member position of the rank that takes
     * @param sender position of the one who multicasts, or SUM
     * @return whether the next one is there
     */
    bool IsThere(uint32_t id, uint32_t member, uint32_t sender) const;

    /// Takes the next one. @param id of an open group @param member position of the rank that
    /// takes @param sender position of the one who multicasts, or SUM
    void Take(uint32_t id, uint32_t member, uint32_t sender);

    /// Whom something concerns.
    struct Member
    {
        /// What is to come from one sender, or of sums.
        struct Source
        {
            uint32_t arrived{0};         //!< all before have
            uint32_t taken{0};           //!< by the member
            std::vector<uint32_t> early; //!< that have overtaken others
        };

        uint32_t rankRun{NO_ID};      //!< what PacketNetwork knows it by; NO_ID until it opens
        std::vector<uint32_t> blocks; //!< its block runs that take from the group
        uint32_t given{0};            //!< to sums
        uint32_t results{0};          //!< sums so far whose result it gets
        uint32_t multicasts{0};       //!< begun
        std::vector<Source> sources;  //!< sums, then by sender
    };

    /**
     * Something has arrived.
     * @param group of the transport
     * @param member position of the rank
     * @param tag of TransportUser::ReceiveGroupMessage()
     * @return that member
     */
    const Member& Receive(uint32_t group, uint32_t member, uint64_t tag);

    /// @param group of the transport @param member position of a rank @return that member
    const Member& GetMember(uint32_t group, uint32_t member) const
    {
        return m_runs[m_runOf[group]].members[member];
    }

    /**
     * @param id of an open group
     * @return position of the first of the members that have given to the fewest sums; SUM if all
     * have given to equally many
     */
    uint32_t FindLate(uint32_t id) const;

    /// @return an empty text, or what is still open
    std::string CheckAtRest() const;

  private:
    /// A group of a program under way.
    struct Run
    {
        uint32_t group{NO_ID};          //!< of the transport; NO_ID until somebody gives
        uint32_t nClosed{0};            //!< members that are done
        std::vector<VertexId> vertices; //!< of the members
        std::vector<Member> members;    //!< by position
        std::tuple<TaskId, uint32_t, uint32_t> key; //!< in m_index
    };

    /// @param run that needs a group of the transport @return one that is free
    uint32_t Acquire(const Run& run);
    /// @param members of a new group of the transport @return the group
    uint32_t Make(const std::vector<VertexId>& members);

    Ptr<Transport> m_transport;                                         //!< whose groups are used
    Pool<Run> m_runs;                                                   //!< open ones
    std::map<std::tuple<TaskId, uint32_t, uint32_t>, uint32_t> m_index; //!< open ones
    std::map<std::vector<VertexId>, std::vector<uint32_t>> m_pool;      //!< free ones, by members
    std::map<std::vector<VertexId>, std::vector<uint32_t>> m_made;      //!< so far, by members
    std::vector<uint32_t> m_runOf;                                      //!< by group
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_GROUPS_H
