/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-shared-resources.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part by which more must be wanted of a resource than it has for it to be full.
constexpr double ROUNDING = 1e-9;
/// Part by which what holds up a user must change for it to be another one.
constexpr double SAME_CAP = 0.01;
/// Of users that take no turns by input.
const std::vector<FlowInput> NO_INPUTS;

} // namespace

uint32_t
SharedResources::AddResource(double capacity, double sharing)
{
    m_table.resources.emplace_back();
    m_table.resources.back().capacity = capacity;
    m_table.resources.back().sharing = sharing;
    return static_cast<uint32_t>(m_table.resources.size() - 1);
}

uint32_t
SharedResources::AddUser(const std::vector<FlowUse>& uses,
                         double limit,
                         const std::vector<FlowInput>* inputs)
{
    const uint32_t id = m_table.users.Take();
    SharedUser& user = m_table.users[id];
    user.uses = &uses;
    user.inputs = inputs == nullptr ? &NO_INPUTS : inputs;
    user.limit = limit;
    user.count = 0;
    user.bytes = 0;
    for (const FlowUse& use : uses)
    {
        ++m_table.resources[use.resource].nUsers;
    }
    m_hasInputs |= !user.inputs->empty();
    return id;
}

void
SharedResources::RemoveUser(uint32_t id)
{
    SharedUser& user = m_table.users[id];
    if (user.count > 0)
    {
        ChangeCount(id, -static_cast<int>(user.count));
    }
    m_plain.Remove(id);
    if (m_weighted)
    {
        m_nWeighted -= m_weighted->GetWeight(id) != 1;
        m_nCapped -= m_weighted->GetCap(id) != FairSolution::NO_CAP;
        m_weighted->Remove(id);
    }
    for (const FlowUse& use : *user.uses)
    {
        if (--m_table.resources[use.resource].nUsers > 0)
        {
            m_freed.push_back(use.resource);
        }
    }
    if (user.isChanged)
    {
        user.isChanged = false;
        m_changed.erase(std::find(m_changed.begin(), m_changed.end(), id));
    }
    if (user.hasOtherBytes)
    {
        user.hasOtherBytes = false;
        m_otherBytes.erase(std::find(m_otherBytes.begin(), m_otherBytes.end(), id));
    }
    m_table.users.GiveBack(id);
}

void
SharedResources::Want(const SharedUser& user, int flows)
{
    for (const FlowUse& use : *user.uses)
    {
        SharedResource& resource = m_table.resources[use.resource];
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
SharedResources::Activate(uint32_t id)
{
    SharedUser& user = m_table.users[id];
    user.places.clear();
    for (uint32_t i = 0; i < user.uses->size(); ++i)
    {
        auto& active = m_table.resources[(*user.uses)[i].resource].active;
        user.places.push_back(static_cast<uint32_t>(active.size()));
        active.push_back({id, i});
    }
}

void
SharedResources::Deactivate(uint32_t id)
{
    const SharedUser& user = m_table.users[id];
    for (uint32_t i = 0; i < user.uses->size(); ++i)
    {
        auto& active = m_table.resources[(*user.uses)[i].resource].active;
        const SharedResource::Active last = active.back();
        active[user.places[i]] = last;
        m_table.users[last.user].places[last.use] = user.places[i];
        active.pop_back();
    }
}

void
SharedResources::ChangeCount(uint32_t id, int delta)
{
    SharedUser& user = m_table.users[id];
    const bool wasActive = user.count > 0;
    user.count += delta;
    const bool isActive = user.count > 0;
    Want(user, delta);
    if (isActive && !wasActive)
    {
        Activate(id);
    }
    else if (wasActive && !isActive)
    {
        Deactivate(id);
    }
    NoteChange(id);
}

void
SharedResources::ChangeBytes(uint32_t id, double bytes)
{
    SharedUser& user = m_table.users[id];
    user.bytes += bytes;
    if (!user.inputs->empty() && !user.hasOtherBytes)
    {
        user.hasOtherBytes = true;
        m_otherBytes.push_back(id);
    }
}

void
SharedResources::NoteChange(uint32_t id)
{
    if (!m_table.users[id].isChanged)
    {
        m_table.users[id].isChanged = true;
        m_changed.push_back(id);
    }
}

void
SharedResources::SetLimit(uint32_t id, double limit)
{
    SharedUser& user = m_table.users[id];
    Want(user, -static_cast<int>(user.count));
    user.limit = limit;
    Want(user, static_cast<int>(user.count));
    NoteChange(id);
}

void
SharedResources::NotePlaces(uint32_t id, Places& places) const
{
    places.clear();
    for (const FlowUse& use : *m_table.users[id].uses)
    {
        places.push_back(m_table.resources[use.resource].arrivals);
    }
}

double
SharedResources::GetPartBehind(uint32_t id, const Places& places) const
{
    const auto& uses = *m_table.users[id].uses;
    uint32_t most = 1;
    double part = 0;
    for (std::size_t i = 0; i < uses.size(); ++i)
    {
        const SharedResource& resource = m_table.resources[uses[i].resource];
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
    const auto& resources = m_table.resources;
    const auto used =
        std::find_if(resources.begin(), resources.end(), [](const SharedResource& resource) {
            return resource.nUsers > 0;
        });
    return used == resources.end() ? NO_ID : static_cast<uint32_t>(used - resources.begin());
}

double
SharedResources::GetDemand(uint32_t resource,
                           const SharedResource::Active& active,
                           double alone) const
{
    const SharedUser& user = m_table.users[active.user];
    const FairSolution& solution = m_weighted ? *m_weighted : m_plain;
    // What has not been computed may have all of it.
    const uint32_t holder = user.isChanged ? NO_ID : solution.GetHolder(active.user);
    const bool isFree = holder == NO_ID || holder == resource;
    return user.count * m_table.GetUse(active).amount *
           (isFree ? alone : solution.GetRate(active.user));
}

bool
SharedResources::Look(uint32_t id)
{
    SharedResource& resource = m_table.resources[id];
    // A flow that is alone has all of it.
    const double capacity = resource.nFlows > 1 ? resource.GetCapacity() : resource.capacity;
    resource.isFull = resource.wanted > capacity * (1 + ROUNDING);
    return resource.isFull;
}

const std::vector<SharedResources::Share>&
SharedResources::Solve()
{
    bool hasFull = false;
    for (const uint32_t id : m_changed)
    {
        m_table.users[id].isChanged = false;
        for (const FlowUse& use : *m_table.users[id].uses)
        {
            hasFull |= Look(use.resource);
        }
    }
    for (const uint32_t id : m_freed)
    {
        Look(id);
    }
    if (hasFull || m_plain.HoldsSomebody())
    {
        m_plain.Update(m_changed, m_freed);
    }
    else
    {
        m_plain.SetAlone(m_changed);
    }
    if (m_hasInputs)
    {
        SolveByInput();
    }
    if (m_hasInputs)
    {
        m_solved = (m_weighted ? *m_weighted : m_plain).GetSolved();
        HoldBehind();
    }
    const FairSolution& solution = m_weighted ? *m_weighted : m_plain;
    m_shares.clear();
    for (const uint32_t id : m_hasInputs ? m_solved : solution.GetSolved())
    {
        m_shares.push_back({id, solution.GetRate(id)});
    }
    m_changed.clear();
    m_freed.clear();
    return m_shares;
}

void
SharedResources::HoldBehind()
{
    std::vector<uint32_t> changed;
    for (const BlockedInputs::Cap& cap :
         m_blocked.Find(m_weighted ? *m_weighted : m_plain, m_solved, m_freed))
    {
        const double before = m_weighted ? m_weighted->GetCap(cap.user) : FairSolution::NO_CAP;
        if (cap.rate == before ||
            (std::isfinite(before) && std::abs(cap.rate - before) <= SAME_CAP * before))
        {
            continue;
        }
        if (!m_weighted)
        {
            m_weighted.emplace(m_plain);
        }
        m_nCapped += cap.rate != FairSolution::NO_CAP;
        m_nCapped -= before != FairSolution::NO_CAP;
        m_weighted->SetCap(cap.user, cap.rate);
        changed.push_back(cap.user);
    }
    if (!changed.empty())
    {
        // What others get now is looked at with the next change, which comes with the next message.
        m_weighted->Update(changed, {});
        const auto& solved = m_weighted->GetSolved();
        m_solved.insert(m_solved.end(), solved.begin(), solved.end());
        SortUnique(m_solved);
    }
}

std::vector<uint32_t>
SharedResources::FindWeights()
{
    std::vector<uint32_t> resources = m_plain.GetTouched();
    for (const uint32_t id : m_otherBytes)
    {
        m_table.users[id].hasOtherBytes = false;
        if (m_table.users[id].count > 0 && m_plain.GetHolder(id) != NO_ID)
        {
            resources.push_back(m_plain.GetHolder(id));
        }
    }
    m_otherBytes.clear();
    if (resources.empty() && m_nWeighted == 0)
    {
        return {};
    }
    std::vector<uint32_t> users = m_plain.GetSolved();
    for (const uint32_t resource : resources)
    {
        for (const SharedResource::Active& active : m_table.resources[resource].active)
        {
            if (m_plain.GetHolder(active.user) == resource)
            {
                users.push_back(active.user);
            }
        }
    }
    SortUnique(users);
    m_inputs.Clear();
    for (const uint32_t id : users)
    {
        const SharedUser& user = m_table.users[id];
        m_inputs.AddFlows(user.count,
                          user.count > 0 ? user.bytes / user.count : 0,
                          *user.inputs,
                          m_plain.GetHolder(id));
    }
    const bool isByInput = m_inputs.Find();
    std::vector<uint32_t> changed;
    for (uint32_t i = 0; i < users.size(); ++i)
    {
        const double found = isByInput ? m_inputs.GetWeight(i) : 1;
        const double weight = std::abs(found - 1) > ROUNDING ? found : 1;
        const double before = m_weighted ? m_weighted->GetWeight(users[i]) : 1;
        if (std::abs(weight - before) > ROUNDING)
        {
            if (!m_weighted)
            {
                m_weighted.emplace(m_plain);
            }
            m_nWeighted += weight != 1;
            m_nWeighted -= before != 1;
            m_weighted->SetWeight(users[i], weight);
            changed.push_back(users[i]);
        }
    }
    return changed;
}

void
SharedResources::SolveByInput()
{
    std::vector<uint32_t> changed = FindWeights();
    if (!m_weighted)
    {
        return;
    }
    if (changed.empty() && m_nWeighted == 0 && m_nCapped == 0)
    {
        m_weighted->Adopt(m_plain);
        return;
    }
    changed.insert(changed.end(), m_changed.begin(), m_changed.end());
    m_weighted->Update(changed, m_freed);
}

} // namespace proteus
} // namespace ns3
