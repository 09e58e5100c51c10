/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-shared-resources.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part by which more must be wanted of a resource than it has for it to be full.
constexpr double ROUNDING = 1e-9;
/// Of users that take no turns by input.
const std::vector<FlowInput> NO_INPUTS;

} // namespace

uint32_t
SharedResources::AddResource(double capacity, double sharing)
{
    m_resources.emplace_back();
    m_resources.back().capacity = capacity;
    m_resources.back().sharing = sharing;
    return static_cast<uint32_t>(m_resources.size() - 1);
}

uint32_t
SharedResources::AddUser(const std::vector<FlowUse>& uses,
                         double limit,
                         const std::vector<FlowInput>* inputs)
{
    const uint32_t id = m_users.Take();
    User& user = m_users[id];
    user.uses = &uses;
    user.inputs = inputs == nullptr ? &NO_INPUTS : inputs;
    user.limit = limit;
    user.count = 0;
    user.bytes = 0;
    for (const FlowUse& use : uses)
    {
        m_resources[use.resource].users.push_back(id);
    }
    return id;
}

void
SharedResources::RemoveUser(uint32_t id)
{
    User& user = m_users[id];
    Want(user, -static_cast<int>(user.count));
    for (const FlowUse& use : *user.uses)
    {
        auto& users = m_resources[use.resource].users;
        users.erase(std::find(users.begin(), users.end(), id));
        if (!users.empty())
        {
            m_changedResources.push_back(use.resource);
        }
    }
    if (user.isChanged)
    {
        user.isChanged = false;
        m_changedUsers.erase(std::find(m_changedUsers.begin(), m_changedUsers.end(), id));
    }
    m_users.GiveBack(id);
}

void
SharedResources::Want(const User& user, int flows)
{
    for (const FlowUse& use : *user.uses)
    {
        Resource& resource = m_resources[use.resource];
        resource.nFlows += flows;
        if (use.payload > 0)
        {
            resource.nSenders += flows;
            resource.arrivals += std::max(flows, 0);
        }
        // From nothing on, so that what rounding leaves does not add up over a run.
        resource.wanted =
            resource.nFlows == 0 ? 0 : resource.wanted + flows * user.limit * use.amount;
    }
}

void
SharedResources::ChangeCount(uint32_t id, int delta)
{
    User& user = m_users[id];
    user.count += delta;
    Want(user, delta);
    NoteChange(id);
}

void
SharedResources::NoteChange(uint32_t id)
{
    if (!m_users[id].isChanged)
    {
        m_users[id].isChanged = true;
        m_changedUsers.push_back(id);
    }
}

void
SharedResources::SetLimit(uint32_t id, double limit)
{
    User& user = m_users[id];
    Want(user, -static_cast<int>(user.count));
    user.limit = limit;
    Want(user, static_cast<int>(user.count));
    NoteChange(id);
    for (const FlowUse& use : *user.uses)
    {
        m_changedResources.push_back(use.resource);
    }
}

double
SharedResources::GetCapacity(const Resource& resource)
{
    return resource.nFlows > 1 ? resource.capacity * resource.sharing : resource.capacity;
}

void
SharedResources::NotePlaces(uint32_t id, Places& places) const
{
    places.clear();
    for (const FlowUse& use : *m_users[id].uses)
    {
        places.push_back(m_resources[use.resource].arrivals);
    }
}

double
SharedResources::GetPartBehind(uint32_t id, const Places& places) const
{
    const auto& uses = *m_users[id].uses;
    uint32_t most = 1;
    double part = 0;
    for (std::size_t i = 0; i < uses.size(); ++i)
    {
        const Resource& resource = m_resources[uses[i].resource];
        if (resource.isFull && uses[i].payload > 0 && resource.nSenders > most)
        {
            most = resource.nSenders;
            // Those that were there before it are the first to go.
            const uint32_t later = std::min(resource.arrivals - places[i], most - 1);
            part = static_cast<double>(later) / most;
        }
    }
    return part;
}

uint32_t
SharedResources::FindUsed() const
{
    const auto used =
        std::find_if(m_resources.begin(), m_resources.end(), [](const Resource& resource) {
            return !resource.users.empty();
        });
    return used == m_resources.end() ? NO_ID : static_cast<uint32_t>(used - m_resources.begin());
}

void
SharedResources::Visit(uint32_t id)
{
    if (m_users[id].visit != m_search)
    {
        m_users[id].visit = m_search;
        m_component.push_back(id);
    }
}

void
SharedResources::Look(uint32_t id)
{
    Resource& resource = m_resources[id];
    if (resource.visit == m_search)
    {
        return;
    }
    resource.visit = m_search;
    const bool wasFull = resource.isFull;
    resource.isFull =
        resource.nFlows > 1 && resource.wanted > GetCapacity(resource) * (1 + ROUNDING);
    if (resource.isFull)
    {
        m_full.push_back(id);
    }
    if (resource.isFull || wasFull)
    {
        for (const uint32_t user : resource.users)
        {
            if (m_users[user].count > 0)
            {
                Visit(user);
            }
        }
    }
}

void
SharedResources::FindComponent()
{
    ++m_search;
    m_component.clear();
    m_full.clear();
    for (const uint32_t id : m_changedUsers)
    {
        m_users[id].isChanged = false;
        Visit(id);
    }
    for (const uint32_t resource : m_changedResources)
    {
        // What shared it with those that have gone may have been held back by it.
        for (const uint32_t id : m_resources[resource].users)
        {
            Visit(id);
        }
    }
    m_changedUsers.clear();
    m_changedResources.clear();
    for (std::size_t next = 0; next < m_component.size(); ++next)
    {
        for (const FlowUse& use : *m_users[m_component[next]].uses)
        {
            Look(use.resource);
        }
    }
}

const std::vector<SharedResources::Share>&
SharedResources::Solve()
{
    FindComponent();
    m_shares.clear();
    if (m_full.empty())
    {
        for (const uint32_t id : m_component)
        {
            m_shares.push_back({id, m_users[id].limit});
        }
        return m_shares;
    }
    // In the order of their numbers, whatever way they were found.
    std::sort(m_component.begin(), m_component.end());
    m_isByInput = false;
    SolveComponent();
    if (HasInputs())
    {
        SolveByInput();
    }
    uint32_t flow = 0;
    for (const uint32_t id : m_component)
    {
        m_shares.push_back({id, 0});
        if (m_users[id].count > 0)
        {
            m_shares.back().rate = GetRate(flow++);
        }
    }
    return m_shares;
}

void
SharedResources::SolveComponent()
{
    m_solver.Clear();
    for (const uint32_t id : m_full)
    {
        m_resources[id].number = m_solver.AddResource(GetCapacity(m_resources[id]));
    }
    for (const uint32_t id : m_component)
    {
        const User& user = m_users[id];
        if (user.count == 0)
        {
            continue;
        }
        const double weight = m_isByInput ? m_inputs.GetWeight(m_solver.GetNFlows()) : 1;
        m_solver.AddFlow(user.limit / weight);
        for (const FlowUse& use : *user.uses)
        {
            const uint32_t number = m_resources[use.resource].number;
            if (number != NO_ID)
            {
                m_solver.AddUse(number,
                                use.amount * static_cast<double>(user.count) * weight,
                                use.comesFirst);
            }
        }
    }
    m_solver.Solve();
    for (const uint32_t id : m_full)
    {
        m_resources[id].number = NO_ID;
    }
}

bool
SharedResources::HasInputs() const
{
    return std::any_of(m_component.begin(), m_component.end(), [this](uint32_t id) {
        const User& user = m_users[id];
        return user.count > 0 && !user.inputs->empty();
    });
}

void
SharedResources::SolveByInput()
{
    m_inputs.Clear();
    uint32_t flow = 0;
    for (const uint32_t id : m_component)
    {
        const User& user = m_users[id];
        if (user.count > 0)
        {
            const uint32_t held = m_solver.GetHeld(flow++);
            m_inputs.AddFlows(user.count,
                              user.bytes / user.count,
                              *user.inputs,
                              held == NO_ID ? NO_ID : m_full[held]);
        }
    }
    m_isByInput = m_inputs.Find();
    if (m_isByInput)
    {
        SolveComponent();
    }
}

double
SharedResources::GetRate(uint32_t flow) const
{
    return m_solver.GetRate(flow) * (m_isByInput ? m_inputs.GetWeight(flow) : 1);
}

} // namespace proteus
} // namespace ns3
