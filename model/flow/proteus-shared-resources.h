/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SHARED_RESOURCES_H
#define PROTEUS_SHARED_RESOURCES_H

#include "proteus-blocked-inputs.h"
#include "proteus-fair-solution.h"
#include "proteus-input-shares.h"

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Resources that flows share by max-min fairness, and the rates of the flows while these come and
 * go (as SimGrid's lmm::System, with an incremental solution of its own).
 *
 * A user of resources stands for any number of equal flows, its count. Each of these wants its
 * limit, the rate that it has alone. A resource is full if the flows that use it want more than it
 * has. Solve() computes only the rates that change (FairSolution).
 *
 * Rates and capacities have the unit that the caller likes, the same for both.
 */
class SharedResources
{
  public:
    SharedResources() = default;
    SharedResources(const SharedResources&) = delete;
    SharedResources& operator=(const SharedResources&) = delete;

    /// What NotePlaces() says; of most flows it needs no memory of its own.
    using Places = boost::container::small_vector<uint32_t, 8>;

    /// The rate of a user from now on.
    struct Share
    {
        uint32_t user; //!< which one
        double rate;   //!< of each of its flows
    };

    /**
     * @param capacity of the resource, above 0
     * @param sharing part of the capacity that several flows have together
     * @return its number, from 0
     */
    uint32_t AddResource(double capacity, double sharing = 1);

    /**
     * @param uses what a flow takes of resources; must outlive the user
     * @param limit rate of a flow that is alone, above 0
     * @param inputs where its flows take turns by input (InputShares); null or it must outlive the
     * user
     * @return the user, with a count of 0; numbers of users that are gone are used again
     */
    uint32_t AddUser(const std::vector<FlowUse>& uses,
                     double limit,
                     const std::vector<FlowInput>* inputs = nullptr);

    /// @param user whose flows are gone
    void RemoveUser(uint32_t user);

    /// @param bytes that the receive buffer of an input of a switch holds
    void SetInputBuffer(double bytes)
    {
        m_inputs.SetBuffer(bytes);
        m_blocked.SetBuffer(bytes);
    }

    /// Flows of a user come or go. @param user which one @param delta by how many its count changes
    void ChangeCount(uint32_t user, int delta);

    /// Flows of a user have more or less to send. @param user which one, with inputs
    /// @param bytes by how much what they have begun and what waits behind it changes
    void ChangeBytes(uint32_t user, double bytes);

    /**
     * A user must have its rate computed, whatever has changed.
     * @param user which one
     */
    void NoteChange(uint32_t user);

    /**
     * Changes the rate that a flow has alone.
     * @param user which one
     * @param limit see AddUser()
     */
    void SetLimit(uint32_t user, double limit);

    /// @return whether there is something for Solve() to do
    bool HasChanged() const
    {
        return !m_changed.empty() || !m_freed.empty();
    }

    /**
     * Computes the rates that may have changed.
     * @return them, until the next call. Of a user without flows, what is said means nothing.
     */
    const std::vector<Share>& Solve();

    /// @param user which one @return the rate of a flow that is alone
    double GetLimit(uint32_t user) const
    {
        return m_table.users[user].limit;
    }

    /**
     * Where a flow of a user stands in the turns of its resources, to be kept from when it comes.
     * @param user which one
     * @param places by use of the user: flows that have come to send over the resource so far
     */
    void NotePlaces(uint32_t user, Places& places) const;

    /**
     * Flows that send over a resource take turns, in the order in which they have come.
     * @param user of a flow
     * @param places what NotePlaces() said when the flow had come
     * @return part of the flows at its fullest resource that have their turn after it; 0 if no
     * resource was full in the last solution
     */
    double GetPartBehind(uint32_t user, const Places& places) const;

    /// @param resource which one @param active of it @param alone rate of a flow of that user that
    /// is alone @return of the resource, what its flows would take if others left it to them: as
    /// much as now where another one holds them
    double GetDemand(uint32_t resource, const SharedResource::Active& active, double alone) const;

    /// @return a resource that somebody uses, NO_ID if there is none
    uint32_t FindUsed() const;

    /// @param resource which one @return users with flows that use it, in no order
    const std::vector<SharedResource::Active>& GetActive(uint32_t resource) const
    {
        return m_table.resources[resource].active;
    }

    /// @param resource which one @return users of it
    std::size_t GetNUsers(uint32_t resource) const
    {
        return m_table.resources[resource].nUsers;
    }

  private:
    /// Notes that more is wanted. @param user by whom @param flows how many more, negative: fewer
    void Want(const SharedUser& user, int flows);
    /// Sees whether a resource is full. @param resource which one @return whether it is
    bool Look(uint32_t resource);
    /// Puts a user among the active ones of what it uses. @param user which one
    void Activate(uint32_t user);
    /// The other way round. @param user which one
    void Deactivate(uint32_t user);
    /// Finds the weights by how inputs of switches share, and the rates by these.
    void SolveByInput();
    /// Has nobody go faster than what waits before it lets it.
    void HoldBehind();
    /// Finds the weights of the users that the plain solution has computed and of those that are
    /// held with them. @return those that have another one than before
    std::vector<uint32_t> FindWeights();

    SharedTable m_table;
    std::vector<uint32_t> m_changed;        //!< users that have changed since the last solution
    std::vector<uint32_t> m_otherBytes;     //!< users with inputs that have more or less to send
    std::vector<uint32_t> m_freed;          //!< resources that users have left who are gone
    FairSolution m_plain{m_table};          //!< as if all flows were equal
    std::optional<FairSolution> m_weighted; //!< by how inputs share, once that has counted
    bool m_hasInputs{false};                //!< whether a flow has ever had some
    uint32_t m_nWeighted{0};                //!< users with other weights than 1
    uint32_t m_nCapped{0};                  //!< users that others before them hold up
    std::vector<uint32_t> m_solved;         //!< users that Solve() has computed, if m_hasInputs
    std::vector<Share> m_shares;            //!< result of Solve()
    InputShares m_inputs;                   //!< of the users whose weights are computed
    BlockedInputs m_blocked{m_table};       //!< who is held up
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SHARED_RESOURCES_H
