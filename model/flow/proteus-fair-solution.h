/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FAIR_SOLUTION_H
#define PROTEUS_FAIR_SOLUTION_H

#include "proteus-flow-routes.h"
#include "proteus-max-min.h"

#include "ns3/proteus-pool.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What flows share.
struct SharedResource
{
    /// Flows that use it.
    struct Active
    {
        uint32_t user; //!< whose flows
        uint32_t use;  //!< of that user
    };

    double capacity{0};         //!< of one flow alone
    double sharing{1};          //!< part of it for several
    double wanted{0};           //!< by all flows at this moment, if each were alone
    uint32_t nFlows{0};         //!< that use it at this moment
    uint32_t nSenders{0};       //!< those of them that send over it
    uint32_t arrivals{0};       //!< of flows that send over it
    uint32_t nUsers{0};         //!< with and without flows
    bool isFull{false};         //!< whether more was wanted of it than it has when it was looked at
    std::vector<Active> active; //!< users with flows, in no order

    /// @return what its flows can have together
    double GetCapacity() const
    {
        return nFlows > 1 ? capacity * sharing : capacity;
    }
};

/// @ingroup proteus
/// Equal flows.
struct SharedUser
{
    const std::vector<FlowUse>* uses{nullptr};     //!< by each flow
    const std::vector<FlowInput>* inputs{nullptr}; //!< on the way of each
    double limit{0};                               //!< rate of each, alone
    uint32_t count{0};                             //!< flows
    double bytes{0};                               //!< that they have to send
    bool isChanged{false};                         //!< since the last solution
    bool hasOtherBytes{false};                     //!< than in the last solution
    /// By use, while there are flows: where the user stands in SharedResource::active.
    boost::container::small_vector<uint32_t, 8> places;
};

/// @ingroup proteus
/// Users and resources.
struct SharedTable
{
    std::vector<SharedResource> resources; //!< by number
    Pool<SharedUser> users;                //!< by number

    /// @param active of a resource @return how it uses that
    const FlowUse& GetUse(const SharedResource::Active& active) const
    {
        return (*users[active.user].uses)[active.use];
    }
};

/**
 * @ingroup proteus
 * Max-min fair rates of users whose flows come and go.
 *
 * Rates are fair if every flow has its limit, or uses a resource that has nothing left and of which
 * nobody has more: that one holds it. Update() computes the users that have changed and those that
 * are held where these are, beside all others as they stand; then it looks whether everybody has
 * its limit or is held. Users that are not, and those that have more than somebody who is held with
 * them, are computed, too, until that is so. It is so of the rates of everybody, computed together
 * or not, and only of one set of rates. Of several resources that can hold a user, the one with the
 * least number does.
 */
class FairSolution
{
  public:
    /// @param table of users and resources; must outlive this object
    explicit FairSolution(const SharedTable& table)
        : m_table(table)
    {
    }

    /// A user's flows get rates that are in this ratio to those of others that they share with.
    /// From the next Update() on, which must name the user.
    /// @param user which one @param weight above 0
    void SetWeight(uint32_t user, double weight);

    /// @param user which one @return see SetWeight()
    double GetWeight(uint32_t user) const
    {
        return user < m_users.size() ? m_users[user].nextWeight : 1;
    }

    /// No flow of a user has a higher rate, whatever it wants. From the next Update() on, which
    /// must name the user.
    /// @param user which one @param rate above 0; infinite: none
    void SetCap(uint32_t user, double rate);

    /// @param user which one @return see SetCap()
    double GetCap(uint32_t user) const
    {
        return user < m_users.size() ? m_users[user].cap : NO_CAP;
    }

    /// Of a user without a cap.
    static constexpr double NO_CAP = std::numeric_limits<double>::infinity();

    /**
     * Computes the rates of users that have changed, and of all whose rates change thereby.
     * @param changed users with other flows, limits or weights than before
     * @param freed resources that somebody has left who is gone
     */
    void Update(const std::vector<uint32_t>& changed, const std::vector<uint32_t>& freed);

    /// @return whether some resource holds some user
    bool HoldsSomebody() const
    {
        return m_nHeld > 0;
    }

    /// Does what Update() does where nobody is held, and nothing that users use is full.
    /// @param changed users with other flows or limits than before
    void SetAlone(const std::vector<uint32_t>& changed);

    /// Takes over the rates that another solution has just computed, with weights of 1.
    /// @param other of the same table
    void Adopt(const FairSolution& other);

    /// A user goes. @param user which one, in whose stead another one may come
    void Remove(uint32_t user);

    /// @param user which one @return the rate of each of its flows
    double GetRate(uint32_t user) const
    {
        return m_users[user].level * m_users[user].weight;
    }

    /// @param user which one @return the resource that holds it, NO_ID if that is its limit
    uint32_t GetHolder(uint32_t user) const
    {
        return m_users[user].holder;
    }

    /// @return full resources that somebody uses whose rate was computed by the last call, and
    /// those that hold fewer since then; some may stand there twice
    const std::vector<uint32_t>& GetTouched() const
    {
        return m_touched;
    }

    /// @return users whose rates were computed by the last call, ascending
    const std::vector<uint32_t>& GetSolved() const
    {
        return m_solved;
    }

  private:
    /// What is known of a user.
    struct User
    {
        double level{0};        //!< rate over weight
        double weight{1};       //!< of the last solution
        double nextWeight{1};   //!< of the next one
        double cap{NO_CAP};     //!< of that, too
        uint32_t holder{NO_ID}; //!< resource that holds it
        uint32_t update{0};     //!< the last one that has computed it
    };

    /// What is known of a resource.
    struct Resource
    {
        uint32_t nHeld{0};   //!< users that it holds
        uint32_t update{0};  //!< the last one that has met it
        uint32_t number{0};  //!< in the solver, if it is full
        uint32_t nInside{0}; //!< flows whose rates are computed
        bool isFull{false};  //!< see SharedResource, at that time
        double outside{0};   //!< what others use of it
        double after{0};     //!< what is used now
        double inside{0};    //!< largest level of those flows that share it
        double largest{0};   //!< the same of all flows that share it
    };

    /// @param resource which one, in m_touched @return what it has for flows that are computed
    double GetRoom(uint32_t resource) const;
    /// @param resource which one @return what flows use of it that are not computed
    double GetOutside(uint32_t resource) const;
    /// @param resource which one, in m_touched @return whether it has nothing left
    bool HasNothingLeft(uint32_t resource) const;
    /// @param resource which one @return what flows use of it that are not computed by now
    double AddUpOthers(const SharedResource& resource) const;

    /// @param user which one @return level that its flows have at most
    double GetMostLevel(uint32_t user) const
    {
        return std::min(m_table.users[user].limit, m_users[user].cap) / m_users[user].nextWeight;
    }

    /// @param user which one @return what its flows have together, for one of amount
    double GetAllRates(uint32_t user) const
    {
        return m_table.users[user].count * GetRate(user);
    }

    /// Has room for all users and resources of the table.
    void MakeRoom();
    /// Has a user computed. @param user which one, unless it is that already
    void Take(uint32_t user);
    /// Has those computed that a resource holds. @param resource which one
    void TakeHeld(uint32_t resource);
    /// Has those computed that full resources join with those that are.
    void TakeAll();
    /// Computes rates beside those of all others.
    void Solve();
    /// Adds up what resources have to carry by these rates.
    void AddUp();
    /// Notes users whose rates change if these rates stand. @param resource where that is looked at
    void FindOthers(uint32_t resource);
    /// Finds what holds a user that is computed, or notes who has more of what should.
    /// @param user which one @param level of it @return the resource; NO_ID if it has its limit
    uint32_t FindHolder(uint32_t user, double level);
    /// Notes those who share a resource and are above a level. @param resource which one
    /// @param level of somebody whom it should hold
    void FindAbove(uint32_t resource, double level);
    /// @return whether all rates are fair; if not, more users are computed from now on
    bool IsFair();
    /// Has what comes first of all that can hold a user hold those that are not computed, too, so
    /// that it does not matter in which order they have come.
    void HoldOthers();
    /// Gives users that are computed their limits. None of what they use may be full.
    void KeepLimits();
    /// @param user which one @param holder of it from now on
    void SetHolder(uint32_t user, uint32_t holder);
    /// Keeps the rates.
    void Keep();
    /// @param user which is computed @param level of it @param weight of it @param holder of it
    void KeepUser(uint32_t user, double level, double weight, uint32_t holder);

    const SharedTable& m_table;
    std::vector<User> m_users;         //!< by number
    std::vector<Resource> m_resources; //!< by number
    uint32_t m_update{0};              //!< counts updates
    uint32_t m_nHeld{0};               //!< users that are held
    std::vector<uint32_t> m_solved;    //!< users that are computed
    std::vector<uint32_t> m_touched;   //!< full resources that these use
    std::vector<uint32_t> m_others;    //!< users that must be computed, too
    std::vector<double> m_levels;      //!< by m_solved
    std::vector<uint32_t> m_holders;   //!< by m_solved
    MaxMinSolver m_solver;             //!< of the touched resources
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FAIR_SOLUTION_H
