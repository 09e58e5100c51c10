/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MAX_MIN_H
#define PROTEUS_MAX_MIN_H

#include "ns3/proteus-graph-kinds.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Max-min fair allocation by progressive filling (Bertsekas and Gallager, "Data Networks", 2nd
 * edition, section 6.5.2): the rates of all flows rise together; when a resource is full, the flows
 * that use it stay as they are, and the others rise on.
 *
 * Per unit of its rate, a flow may use any amount of a resource: more than 1 for headers, or for a
 * class of flows that always have equal rates and stand here as one. The allocation is the one
 * whose rates, in ascending order, are lexicographically largest.
 *
 * What a flow takes of a resource first, before all others, does not hold it back: the others share
 * what that leaves. What links send back for each packet is of that kind. Rates and leftovers are
 * then computed in turn, until they change by less than 1e-7 of themselves. As a turn changes them
 * by nearly the same part of the turn before, every second turn ends where that would lead
 * (Aitken's extrapolation, with one part for all rates).
 *
 * Most resources hold nobody back, as the flows that share them are held elsewhere. Rates are found
 * for the resources that are the tightest of some flow; those that then carry more than they can
 * are added, until there are none: rates that are fair among some resources and fit into all are
 * fair among all.
 *
 * Resources and flows are added, then Solve() is called; Clear() makes room for the next problem
 * and keeps the memory.
 */
class MaxMinSolver
{
  public:
    /// Forgets everything.
    void Clear();

    /// @param capacity of it, above 0 @return its number, from 0
    uint32_t AddResource(double capacity)
    {
        m_resources.emplace_back();
        m_resources.back().whole = capacity;
        return static_cast<uint32_t>(m_resources.size() - 1);
    }

    /// @param limit largest rate, above 0, may be infinite @return its number, from 0
    uint32_t AddFlow(double limit = std::numeric_limits<double>::infinity())
    {
        m_limits.push_back(limit);
        m_firstUse.push_back(static_cast<uint32_t>(m_uses.size()));
        return static_cast<uint32_t>(m_limits.size() - 1);
    }

    /**
     * The flow added last uses a resource; each one once at most.
     * @param resource which one
     * @param amount that a rate of one takes of it, above 0
     * @param comesFirst whether it is served first, and so does not hold the flow back
     */
    void AddUse(uint32_t resource, double amount, bool comesFirst = false)
    {
        m_uses.push_back({resource, amount, comesFirst});
        m_hasFirst |= comesFirst;
    }

    /**
     * Computes the rates.
     * @throw std::invalid_argument if a flow without limit uses no resource
     */
    void Solve();

    /// @param flow a flow @return its rate
    double GetRate(uint32_t flow) const
    {
        return m_rates[flow];
    }

    /// @return number of flows
    uint32_t GetNFlows() const
    {
        return static_cast<uint32_t>(m_limits.size());
    }

  private:
    /// What a flow takes.
    struct Use
    {
        uint32_t resource; //!< of which resource
        double amount;     //!< for a rate of one
        bool comesFirst;   //!< see AddUse()
    };

    /// What is taken of a resource.
    struct User
    {
        uint32_t flow; //!< by which flow
        double amount; //!< for a rate of one
    };

    /// A resource.
    struct Resource
    {
        double whole{0};        //!< capacity
        double amounts{0};      //!< of all its users
        double sharing{0};      //!< of those that do not come first
        double shared{0};       //!< what those that come first leave, if they are split off
        double capacity{0};     //!< not taken by flows that stay as they are
        double rising{0};       //!< amount of the flows that rise
        double largest{0};      //!< rate of flows that it may hold back
        uint32_t nRising{0};    //!< number of flows that rise
        uint32_t firstUser{0};  //!< in m_users
        uint32_t endSharing{0}; //!< in m_users: from here to endUser are those that come first
        uint32_t endUser{0};    //!< in m_users
    };

    /// @param resource a resource @return the level at which it is full
    static double GetLevel(const Resource& resource)
    {
        return resource.capacity > 0 ? resource.capacity / resource.rising : 0;
    }

    /// @param resource a resource @return the end of those users, in m_users, that it holds back
    uint32_t GetEndOfHeld(const Resource& resource) const
    {
        return m_isSplit ? resource.endSharing : resource.endUser;
    }

    /// Notes the users of each resource.
    void ListUsers();

    /// Notes who uses what, which flows have limits, and which resources are the tightest of some.
    /// @throw std::invalid_argument if a flow without limit uses no resource
    void Prepare();

    /// Notes which flows use the resources that count.
    void ListActive();

    /// Computes the rates, of what the uses that come first leave if these are split off.
    void Fill();

    /// Does so for the resources that count.
    void FillActive();

    /// Finds the levels of the resources that count.
    void SetLevels();

    /// Finds what the uses that come first leave of a resource, if they are split off.
    /// @param resource which one
    void SetShared(Resource& resource) const;
    /// The same of all.
    void SetAllShared();

    /// @param resource a resource @return what the flows that it may hold back take of it
    double GetTaken(const Resource& resource) const;

    /// Resources that carry more than they can count from now on. @return whether there are such
    bool AddOverfull();

    /// Finds what resources have left, and the largest rate on each.
    void FindLeft();

    /// Computes rates and leftovers in turn.
    void Alternate();

    /// @return whether rates are those that what comes first has in this turn
    bool HasSettled() const;

    /// Takes the rates for what comes first in the next turn, or where they are heading.
    void Extrapolate();

    /// @param flow a flow that is not at its limit @return whether a resource that has nothing left
    /// holds it back
    bool IsHeld(uint32_t flow) const;

    /// @return whether some flow stays behind because of a use that comes first
    bool IsHeldByFirst();

    /// Brings the resource that is full first to the front of m_byLevel.
    /// @return its level; infinite, and nothing at the front, if none is full at any
    double FindFull();

    /// @param flow a flow that rises @param rate at which it stays
    void Freeze(uint32_t flow, double rate);

    std::vector<Resource> m_resources;
    std::vector<double> m_limits;        //!< by flow
    std::vector<double> m_rates;         //!< by flow; negative while it rises
    std::vector<uint32_t> m_firstUse;    //!< by flow, in m_uses
    std::vector<Use> m_uses;             //!< by flow
    bool m_isSplit{false};               //!< whether uses that come first do not hold back
    bool m_hasFirst{false};              //!< whether there are such uses
    std::vector<double> m_before;        //!< rates that what comes first has in this turn
    std::vector<double> m_step;          //!< change by the turn before; empty: not known
    std::vector<User> m_users;           //!< flows by resource
    std::vector<char> m_isActive;        //!< by resource: whether it counts
    std::vector<uint32_t> m_activeIds;   //!< resources that count
    std::vector<uint32_t> m_firstActive; //!< by flow, in m_active
    std::vector<Use> m_active;           //!< uses of resources that count, by flow
    std::vector<std::pair<double, uint32_t>> m_byLevel; //!< heap of resources
    std::vector<std::pair<double, uint32_t>> m_byLimit; //!< flows that have one, the lowest first
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MAX_MIN_H
