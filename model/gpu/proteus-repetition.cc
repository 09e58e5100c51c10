/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<RepetitionMode, 3> MODES{
    "mode of ns3::proteus::PacketNetwork::Repetition",
    {{RepetitionMode::ON, "on"}, {RepetitionMode::OFF, "off"}, {RepetitionMode::VERIFY, "verify"}}};

} // namespace

RepetitionMode
RepetitionModeFromString(const std::string& text)
{
    return MODES.Parse(text);
}

std::vector<std::string>
GetRepetitionModeNames()
{
    return MODES.List();
}

Repetition::Repetition(const ExecutionGraph& graph,
                       Ptr<Fabric> fabric,
                       Ptr<Transport> transport,
                       RepetitionUser& user)
    : m_fabric(fabric),
      m_transport(transport),
      m_user(user),
      m_plans(graph, transport)
{
}

void
Repetition::SetUp(RepetitionMode mode, uint64_t memoryBytes, uint32_t threads, uint64_t longBytes)
{
    m_longBytes = longBytes;
    m_mode = mode;
    m_rehearsals.SetThreads(threads);
    m_records.SetMemory(memoryBytes);
    m_owner.assign(m_fabric->GetNPorts() / 2, NO_ID);
    if (IsOn())
    {
        m_fabric->GetWatch().SetChangeCallback([this] { SwitchOff(); });
        m_users.resize(m_fabric->GetBuffers().GetN() + 1);
        m_fabric->GetWatch().SetChanceCallbacks(
            {[this](LinkId link) { CallForChance(DRAW, link); },
             [this](uint32_t buffer) { CallForChance(CONTENTION, buffer); }});
    }
}

void
Repetition::Dispose()
{
    m_fabric->GetWatch().SetChangeCallback(nullptr);
    m_fabric->GetWatch().SetChanceCallbacks({});
    m_fabric = nullptr;
    m_transport = nullptr;
    m_plans.Dispose();
}

uint32_t
Repetition::Join(TaskId task,
                 uint32_t microBatch,
                 const RepetitionPlan& plan,
                 const CollectiveProgram& program,
                 uint32_t number,
                 uint32_t rank)
{
    const auto [place, isNew] = m_index.emplace(std::make_pair(task, microBatch), NO_ID);
    if (isNew)
    {
        Communication communication;
        communication.task = task;
        communication.microBatch = microBatch;
        communication.plan = &plan;
        communication.program = &program;
        communication.ranks.assign(program.ranks.size(), NO_ID);
        communication.startPs.assign(program.ranks.size(), -1);
        communication.hasBegun.assign(program.ranks.size(), false);
        communication.works.resize(program.ranks.size());
        communication.blockEndsPs.resize(program.ranks.size());
        communication.isDone.assign(program.ranks.size(), false);
        communication.repeatedPs.assign(program.ranks.size(), RepetitionRecord::NOT_DONE);
        place->second = m_communications.Add(std::move(communication));
        ++m_statistics.communications;
    }
    m_communications[place->second].ranks[number] = rank;
    return place->second;
}

bool
Repetition::CanHold()
{
    if (!IsOn())
    {
        return false;
    }
    const std::string obstacle =
        m_user.IsWatched() ? "thread blocks are traced" : m_fabric->FindObstacle();
    m_obstacle = obstacle.empty() ? m_obstacle : obstacle;
    return obstacle.empty();
}

bool
Repetition::Start(uint32_t id, uint32_t number)
{
    Communication& communication = m_communications[id];
    communication.startPs[number] = m_fabric->GetTimePs();
    communication.hasBegun[number] = true;
    if (communication.component == NO_ID)
    {
        return Open(id, number);
    }
    switch (m_components[communication.component].state)
    {
    case State::WAITING:
        return Wake(id, number);
    case State::HELD:
        return Hold(id);
    case State::RECORDED:
    case State::EXECUTED:
        return true;
    default:
        return false;
    }
}

bool
Repetition::Open(uint32_t id, uint32_t number)
{
    const RepetitionPlan& plan = *m_communications[id].plan;
    std::vector<uint32_t> others = ReleaseOwners(plan);
    if (ExecuteUnmet(plan, others))
    {
        m_user.CallStart(m_communications[id].ranks[number]); // after what comes before
        return false;
    }
    others = FindOwners(plan);
    Component component;
    component.communications.push_back(id);
    const uint32_t own = m_components.Add(std::move(component));
    m_open.insert(std::upper_bound(m_open.begin(), m_open.end(), own), own);
    m_communications[id].component = own;
    Own(own, plan.links);
    EnterBuffers(id);
    if (CanRepeat(plan))
    {
        if (others.empty())
        {
            return Hold(id);
        }
        if (CanMeet(id, others))
        {
            return Meet(id, number, others);
        }
    }
    m_components[own].state = State::EXECUTED;
    return ExecuteWith(id, number, others);
}

bool
Repetition::Wake(uint32_t id, uint32_t number)
{
    const uint32_t own = m_communications[id].component;
    const RepetitionPlan& plan = *m_communications[id].plan;
    const std::vector<uint32_t> others = ReleaseOwners(plan);
    m_components[own].state = State::EXECUTED;
    Own(own, plan.links);
    return ExecuteWith(id, number, others);
}

bool
Repetition::ExecuteWith(uint32_t id, uint32_t number, const std::vector<uint32_t>& others)
{
    bool isLate = false;
    for (const uint32_t other : others)
    {
        isLate = Execute(other) || isLate;
        Merge(other, m_communications[id].component);
    }
    isLate = ExecuteUnknown(m_communications[id].component) || isLate;
    if (isLate)
    {
        m_user.CallStart(m_communications[id].ranks[number]); // after what comes before
    }
    return !isLate;
}

bool
Repetition::ExecuteUnmet(const RepetitionPlan& plan, const std::vector<uint32_t>& components)
{
    bool isLate = false;
    for (const uint32_t id : components)
    {
        const Component& component = m_components[id];
        const bool isFirstRank = component.state == State::HELD &&
                                 FindOnlyRank(component.communications.front()) != NO_ID;
        if (isFirstRank || IsMetTooLate(plan, component))
        {
            isLate = Execute(id) || isLate;
            Release(id, m_fabric->GetTimePs());
        }
    }
    return isLate;
}

bool
Repetition::IsMetTooLate(const RepetitionPlan& plan, const Component& component) const
{
    if (component.state == State::HELD || component.state == State::EXECUTED)
    {
        return false;
    }
    bool isUnderWay = false;
    for (const uint32_t id : component.communications)
    {
        const Communication& communication = m_communications[id];
        const auto& repeatedPs = communication.repeatedPs;
        const bool isOver =
            component.state == State::RECORDED
                ? IsDone(id)
                : std::all_of(repeatedPs.begin(), repeatedPs.end(), [this](int64_t endPs) {
                      return endPs != RepetitionRecord::NOT_DONE && endPs < m_fabric->GetTimePs();
                  });
        const auto& links = communication.plan->links;
        const auto isInUse = [&](LinkId link) {
            return std::binary_search(plan.links.begin(), plan.links.end(), link) &&
                   (!isOver || m_fabric->GetRestPs(link) > m_fabric->GetTimePs());
        };
        if (std::any_of(links.begin(), links.end(), isInUse))
        {
            return false;
        }
        isUnderWay = isUnderWay || !isOver;
    }
    return isUnderWay;
}

bool
Repetition::Execute(uint32_t id)
{
    Component& component = m_components[id];
    const State state = component.state;
    if (state == State::WAITING)
    {
        return false;
    }
    component.state = State::EXECUTED;
    if (state == State::RECORDED)
    {
        component.rehearsal = nullptr; // of a verification that there will not be
        Restore(component);
        return Succeed(id);
    }
    if (state == State::EXECUTED)
    {
        return false;
    }
    Unfollow(id);
    GiveUpRehearsal(id);
    StartAgain(id);
    return true;
}

void
Repetition::Finish(uint32_t id,
                   uint32_t number,
                   const RankWork& work,
                   const std::vector<int64_t>& blockEndsPs)
{
    Communication& communication = m_communications[id];
    communication.works[number] = work;
    communication.blockEndsPs[number] = blockEndsPs;
    communication.isDone[number] = true;
    ++communication.nDone;
    const auto& startPs = communication.startPs;
    const Component& component = m_components[communication.component];
    if (component.state != State::RECORDED)
    {
        return;
    }
    if (work.endPs < *std::max_element(startPs.begin(), startPs.end()))
    {
        throw std::logic_error("repetition: a rank of task " + std::to_string(communication.task) +
                               " was done before the last one had begun; run with "
                               "--repetition=off");
    }
    for (const uint32_t follower : component.followers)
    {
        const Component& other = m_components[follower];
        const auto led = std::find(other.led.begin(), other.led.end(), id);
        if (led != other.led.end())
        {
            RankWork same = work;
            same.endPs += other.shiftPs;
            RepeatRank(m_communications[other.communications[led - other.led.begin()]],
                       number,
                       same,
                       RepetitionRecord::Shift(blockEndsPs, blockEndsPs.size(), other.shiftPs));
        }
    }
}

bool
Repetition::Release(uint32_t id, int64_t nowPs)
{
    Component& component = m_components[id];
    if (component.state == State::FOLLOWING)
    {
        Release(component.leader, nowPs);
    }
    if (component.state == State::HELD || component.state == State::AWAITED ||
        component.state == State::POSTPONED || component.state == State::FOLLOWING)
    {
        return false;
    }
    if (component.state == State::REPEATED)
    {
        if (!component.record->IsWhole() || component.firstPs + component.record->restPs > nowPs)
        {
            return false;
        }
        Count(component);
    }
    else
    {
        const auto& all = component.communications;
        const bool isOver =
            std::all_of(all.begin(), all.end(), [this](uint32_t one) { return IsDone(one); });
        const int64_t restPs = isOver ? GetRestPs(component) : 0;
        if (!isOver || restPs > nowPs)
        {
            Shrink(id, nowPs);
            return false;
        }
        if (component.state == State::RECORDED)
        {
            Keep(id, restPs);
        }
    }
    for (const uint32_t one : component.communications)
    {
        Forget(one);
    }
    for (const LinkId link : component.links)
    {
        m_owner[link] = NO_ID;
    }
    m_components[id] = Component();
    m_components.GiveBack(id);
    m_open.erase(std::find(m_open.begin(), m_open.end(), id));
    return true;
}

void
Repetition::Settle(bool atEnd)
{
    const std::vector<uint32_t> open = m_open;
    for (const uint32_t id : open)
    {
        Release(id, atEnd ? EventTree::NEVER - 1 : m_fabric->GetTimePs());
    }
}

bool
Repetition::ExecuteAll()
{
    bool isLate = false;
    const std::vector<uint32_t> open = m_open;
    for (const uint32_t id : open)
    {
        isLate = Execute(id) || isLate;
    }
    if (isLate)
    {
        m_fabric->CatchUp();
    }
    return isLate;
}

void
Repetition::SwitchOff()
{
    if (m_mode != RepetitionMode::OFF)
    {
        Settle(false);
        ExecuteAll();
        m_obstacle = "links changed or carried other traffic during the run";
        m_mode = RepetitionMode::OFF;
        m_records.Clear();
    }
}

} // namespace proteus
} // namespace ns3
