/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SHARED_RESOURCES_H
#define PROTEUS_SHARED_RESOURCES_H

#include "proteus-flow-routes.h"
#include "proteus-input-shares.h"
#include "proteus-max-min.h"

#include "ns3/proteus-pool.h"

#include <boost/container/small_vector.hpp>
#include <cstdint>
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
 * has. Solve() computes only the rates that can have changed since it was last called: those of
 * users that have changed, and of users that are joined with these by resources that are full now
 * or were full then.
 *
 * Rates and capacities have the unit that the caller likes, the same for both.
 */
class SharedResources
{
  public:
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
     * @param limit rate of a flow that is alone, above 0; no more than any resource can give
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
    }

    /// Flows of a user come or go. @param user which one @param delta by how many its count changes
    void ChangeCount(uint32_t user, int delta);

    /// Flows of a user have more or less to send. @param user which one, with inputs
    /// @param bytes by how much what they have begun and what waits behind it changes
    void ChangeBytes(uint32_t user, double bytes)
    {
        m_users[user].bytes += bytes;
    }

    /**
     * A user must have its rate computed, whatever has changed.
     * @param user which one
     */
    void NoteChange(uint32_t user);

    /**
     * Changes the rate that a flow has alone. All that share a resource with the user are computed
     * anew.
     * @param user which one
     * @param limit see AddUser()
     */
    void SetLimit(uint32_t user, double limit);

    /// @return whether there is something for Solve() to do
    bool HasChanged() const
    {
        return !m_changedUsers.empty() || !m_changedResources.empty();
    }

    /**
     * Computes the rates that may have changed.
     * @return them, until the next call. Of a user without flows, what is said means nothing.
     */
    const std::vector<Share>& Solve();

    /// @param user which one @return the rate of a flow that is alone
    double GetLimit(uint32_t user) const
    {
        return m_users[user].limit;
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

    /// @return a resource that somebody uses, NO_ID if there is none
    uint32_t FindUsed() const;

    /// @param resource which one @return users of it
    std::size_t GetNUsers(uint32_t resource) const
    {
        return m_resources[resource].users.size();
    }

  private:
    /// What is shared.
    struct Resource
    {
        double capacity{0};          //!< of one flow alone
        double sharing{1};           //!< part of it for several
        double wanted{0};            //!< by all flows at this moment, if each were alone
        uint32_t nFlows{0};          //!< that use it at this moment
        uint32_t nSenders{0};        //!< those of them that send over it
        uint32_t arrivals{0};        //!< of flows that send over it
        uint32_t visit{0};           //!< number of the last search that has met it
        uint32_t number{NO_ID};      //!< in the solver
        bool isFull{false};          //!< in the last solution
        std::vector<uint32_t> users; //!< in the order in which they came
    };

    /// Who shares.
    struct User
    {
        const std::vector<FlowUse>* uses{nullptr};     //!< by each flow
        const std::vector<FlowInput>* inputs{nullptr}; //!< on the way of each
        double limit{0};                               //!< rate of each, alone
        uint32_t count{0};                             //!< flows
        double bytes{0};                               //!< that they have to send
        uint32_t visit{0};     //!< number of the last search that has met it
        bool isChanged{false}; //!< since the last solution
    };

    /// @param resource which one @return what its flows can have together
    static double GetCapacity(const Resource& resource);
    /// Notes that more is wanted. @param user by whom @param flows how many more, negative: fewer
    void Want(const User& user, int flows);
    /// @param user to put into the component, unless it is there
    void Visit(uint32_t user);
    /// Sees whether a resource is full, and whose rates that concerns. @param resource which one
    void Look(uint32_t resource);
    /// Finds the users whose rates may have changed, and the resources that are full.
    void FindComponent();

    /// Hands the component to the solver, whose flows are the users that have some.
    void SolveComponent();
    /// @return whether a flow of the component takes turns by input
    bool HasInputs() const;
    /// Corrects what the solver has found by how inputs of switches share.
    void SolveByInput();
    /// @param flow of the solver @return its rate
    double GetRate(uint32_t flow) const;

    std::vector<Resource> m_resources;        //!< by number
    Pool<User> m_users;                       //!< by number
    std::vector<uint32_t> m_changedUsers;     //!< since the last solution
    std::vector<uint32_t> m_changedResources; //!< users of them have gone, or want something else
    uint32_t m_search{0};                     //!< counts searches
    std::vector<uint32_t> m_component;        //!< users whose rates may have changed
    std::vector<uint32_t> m_full;             //!< resources
    std::vector<Share> m_shares;              //!< result of Solve()
    MaxMinSolver m_solver;                    //!< of the full resources
    InputShares m_inputs;                     //!< of the flows of the solver, if m_isByInput
    bool m_isByInput{false};                  //!< whether m_inputs counts
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SHARED_RESOURCES_H
