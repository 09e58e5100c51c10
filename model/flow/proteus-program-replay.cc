/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-replay.h"

#include "proteus-max-min.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// What happens within this time happens at once, so that equal flows need one solution.
constexpr double TOGETHER_PS = 1000;
/// Part by which more must be wanted of a resource than it has for it to be shared.
constexpr double ROUNDING = 1e-9;

/// Executes one program.
class Replay
{
  public:
    Replay(const CollectiveProgram& program,
           const std::vector<ProgramFlow>& flows,
           const std::vector<uint32_t>& routes,
           const FlowRoutes& all,
           const ReplayCosts& costs,
           bool isInstant)
        : m_program(program),
          m_routes(all),
          m_costs(costs),
          m_isInstant(isInstant)
    {
        m_rankStepPs.assign(program.ranks.size(), 0);
        SetUpFlows(flows, routes);
        m_shared.resize(all.GetResources().size());
        for (std::size_t id = 0; id < m_shared.size(); ++id)
        {
            m_shared[id].capacity = all.GetResources()[id].capacity / PS_PER_SECOND;
        }
        for (uint32_t kind = 0; kind < m_kinds.size(); ++kind)
        {
            for (const FlowUse& use : m_routes.GetRoute(m_kinds[kind].route).uses)
            {
                m_shared[use.resource].users.push_back(kind);
            }
        }
        m_index = IndexFlows(flows);
        SetUpBlocks();
        SetUpGroups(flows);
    }

    ReplayTimes Run()
    {
        for (uint32_t flow = 0; flow < m_flows.size(); ++flow)
        {
            if (m_flows[flow].group == NO_GROUP)
            {
                Grant(flow, std::min<uint64_t>(m_flows[flow].ungranted, m_program.slots));
            }
        }
        for (uint32_t block = 0; block < m_blocks.size(); ++block)
        {
            Advance(block);
        }
        while (NextEvent())
        {
        }
        for (const BlockState& block : m_blocks)
        {
            if (block.next < block.block->steps.size())
            {
                throw std::invalid_argument("flow network: a program of algorithm '" +
                                            m_program.algorithm + "' has steps that wait for ever");
            }
        }
        m_times.endPs = std::llround(m_lastStepPs);
        for (const double end : m_rankStepPs)
        {
            m_times.stepsPs.push_back(std::llround(end));
        }
        for (std::size_t i = 0; i < m_flows.size(); ++i)
        {
            m_times.endPs = std::max({m_times.endPs, m_times.sentPs[i], m_times.receivedPs[i]});
        }
        return m_times;
    }

  private:
    /// A thread block of a rank.
    struct BlockState
    {
        const ThreadBlock* block;
        uint32_t rank;            //!< whose it is
        uint32_t firstOfRank;     //!< position of the rank's first block
        uint32_t nOfRank;         //!< blocks of the rank
        uint32_t sendFlow{NO_ID}; //!< connection to the send peer
        uint32_t receiveFlow{NO_ID};
        uint32_t next{0};              //!< step
        uint32_t grants{0};            //!< chunks that the receiver has room for
        uint32_t arrived{0};           //!< chunks not taken out
        BlockCost cost;                //!< of its steps
        bool busy{false};              //!< with a step
        std::vector<uint32_t> waiters; //!< blocks with a step that waits for this one
    };

    /// A connection.
    struct FlowState
    {
        uint32_t kind{0};          //!< flows with one route share a rate
        uint32_t sender{NO_ID};    //!< block
        uint32_t receiver{NO_ID};  //!< block
        uint64_t ungranted{0};     //!< chunks
        double pacedPs{-1e12};     //!< when the next message may begin
        std::vector<double> queue; //!< bytes of the messages
        std::size_t sending{0};    //!< in the queue: the one under way
        uint32_t group{NO_GROUP};  //!< network group
        uint32_t from{NO_RANK};    //!< who multicasts
        uint32_t to{NO_RANK};      //!< who gets sums, NO_RANK for all
        StepKind operation{StepKind::SEND};
        std::vector<uint32_t> given;   //!< contributions, by rank
        uint32_t nMembers{0};          //!< that give
        std::vector<uint32_t> waiting; //!< members that have given, by message
    };

    /// A member of a network group.
    struct Member
    {
        std::vector<uint32_t> blocks;            //!< that take from it
        uint32_t sums{0};                        //!< results not taken
        std::map<uint32_t, uint32_t> multicasts; //!< not taken, by sender
    };

    /// Where a flow ends, on the scale of its kind.
    struct Target
    {
        double bytes; //!< that its kind has moved then, each of its flows
        uint32_t flow;

        bool operator<(const Target& other) const
        {
            return bytes != other.bytes ? bytes > other.bytes : flow > other.flow;
        }
    };

    /// Flows with one route and one limit.
    struct Kind
    {
        uint32_t route{0};
        double limit{0};                      //!< bytes per second of each
        double aheadPs{0};                    //!< for every byte of its last unit, a message ends
                                              //!< sooner than at the flow's rate; negative: later
        double unitBytes{0};                  //!< of the route
        bool isPaced{false};                  //!< by the thread block that sends
        double alone{0};                      //!< bytes per picosecond of one alone
        double rate{0};                       //!< of each, bytes per picosecond
        double moved{0};                      //!< bytes that each has moved since the beginning
        double sincePs{0};                    //!< when that was so
        double expected{-1};                  //!< target of its event; -1: none
        uint32_t version{0};                  //!< counts its events; older ones are void
        uint32_t visit{0};                    //!< number of the last search that has met it
        bool isChanged{false};                //!< flows have come or gone since the last solution
        std::size_t nWanted{0};               //!< messages that Shared::wanted counts
        std::priority_queue<Target> messages; //!< of the flows that send
    };

    /// What kinds share.
    struct Shared
    {
        double capacity{0};          //!< bytes per picosecond
        double wanted{0};            //!< by all that send, if each were alone
        double asked{0};             //!< the same, at this very moment
        uint32_t nSending{0};        //!< messages at this very moment
        uint32_t visit{0};           //!< number of the last search that has met it
        uint32_t number{NO_ID};      //!< in the solver
        bool isFull{false};          //!< in the last solution
        std::size_t nUsers{0};       //!< messages
        std::vector<uint32_t> users; //!< kinds
    };

    /// Something that happens at a known time.
    enum class What : uint8_t
    {
        KIND, //!< a message of a kind has been sent; the number is that of the kind's version
        USE,
        GRANT,
        STEP_END
    };

    struct Event
    {
        double timePs;
        uint64_t number;
        What what;
        uint32_t flow; //!< STEP_END: the block; KIND: the kind
        uint32_t count;

        bool operator<(const Event& other) const
        {
            return timePs != other.timePs ? timePs > other.timePs : number > other.number;
        }
    };

    void SetUpFlows(const std::vector<ProgramFlow>& flows, const std::vector<uint32_t>& routes)
    {
        std::map<std::pair<uint32_t, double>, uint32_t> kinds;
        m_flows.resize(flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            const double limit = m_costs.limits.empty() ? 0 : m_costs.limits[i];
            const auto [place, isNew] = kinds.emplace(std::make_pair(routes[i], limit),
                                                      static_cast<uint32_t>(m_kinds.size()));
            if (isNew)
            {
                Kind kind;
                kind.route = routes[i];
                kind.limit = m_routes.GetRoute(routes[i]).limit;
                kind.limit = limit > 0 ? std::min(kind.limit, limit) : kind.limit;
                SetUnits(kind);
                m_kinds.push_back(kind);
            }
            m_flows[i].kind = place->second;
            m_flows[i].ungranted = flows[i].messages;
            m_flows[i].group = flows[i].group;
            m_flows[i].from = flows[i].from;
            m_flows[i].to = flows[i].to;
            m_flows[i].operation = flows[i].operation;
        }
        m_times.sentPs.assign(flows.size(), 0);
        m_times.receivedPs.assign(flows.size(), 0);
        m_times.senderStepPs.assign(flows.size(), 0);
        m_times.receiverStepPs.assign(flows.size(), 0);
    }

    /// How the last unit of a message of a kind differs from the flow.
    void SetUnits(Kind& kind) const
    {
        const FlowRoute& route = m_routes.GetRoute(kind.route);
        double rate = kind.limit;
        for (const FlowUse& use : route.uses)
        {
            rate = std::min(rate, m_routes.GetResources()[use.resource].capacity / use.amount);
        }
        kind.unitBytes = route.unitBytes;
        kind.alone = rate / PS_PER_SECOND;
        kind.isPaced = kind.limit <= rate;
        kind.aheadPs = 1 / kind.alone - route.unitPsPerByte;
    }

    /// @return bytes that each flow of a kind has moved until now
    double GetMoved(const Kind& kind) const
    {
        return kind.moved + (m_now - kind.sincePs) * kind.rate;
    }

    void NoteChange(uint32_t id)
    {
        if (!m_kinds[id].isChanged)
        {
            m_kinds[id].isChanged = true;
            m_changed.push_back(id);
        }
    }

    /// @return the time by which a message ends sooner than its flow would bring it
    double GetAheadPs(const Kind& kind, double bytes) const
    {
        const double whole = std::ceil(bytes / kind.unitBytes - 1) * kind.unitBytes;
        return (bytes - whole) * kind.aheadPs;
    }

    /// Counts the messages that resources have to do with.
    void CountSending(const Kind& kind, int delta)
    {
        for (const FlowUse& use : m_routes.GetRoute(kind.route).uses)
        {
            m_shared[use.resource].nSending += delta;
            m_shared[use.resource].asked += delta * kind.alone * use.amount;
        }
    }

    /// A message that begins at a port where others send waits for a unit of each of them. @return
    /// by how many units of its own it is behind at the rate that it gets then
    double GetTurn(const Kind& kind) const
    {
        uint32_t others = 0;
        for (const FlowUse& use : m_routes.GetRoute(kind.route).uses)
        {
            const Shared& shared = m_shared[use.resource];
            if (shared.asked + kind.alone * use.amount > shared.capacity * (1 + ROUNDING))
            {
                others = std::max(others, shared.nSending);
            }
        }
        return static_cast<double>(others) / (others + 1);
    }

    /// The next message of a flow begins.
    void BeginMessage(uint32_t id)
    {
        FlowState& flow = m_flows[id];
        if (m_isInstant)
        {
            EndMessage(id);
            return;
        }
        Kind& kind = m_kinds[flow.kind];
        const double bytes = flow.queue[flow.sending];
        // A queue pair that has waited may catch up by one unit.
        const double unitPs = std::min(kind.unitBytes, bytes) / kind.alone;
        const double credit = kind.isPaced ? std::clamp(m_now - flow.pacedPs, 0.0, unitPs) : 0;
        const double earlier = bytes > kind.unitBytes ? credit : 0;
        const double ahead = std::max(0.0, GetAheadPs(kind, bytes)) + earlier;
        const double waits = std::max(0.0, flow.pacedPs - m_now);
        const double behind = GetTurn(kind) * std::min(kind.unitBytes, bytes);
        CountSending(kind, 1);
        kind.messages.push({GetMoved(kind) + bytes + behind + (waits - ahead) * kind.alone, id});
        flow.pacedPs = m_now + waits + bytes / kind.alone - credit;
        NoteChange(flow.kind);
    }

    void SetUpGroups(const std::vector<ProgramFlow>& flows)
    {
        m_groups.resize(m_program.groups.size());
        for (auto& group : m_groups)
        {
            group.resize(m_program.ranks.size());
        }
        for (uint32_t id = 0; id < m_blocks.size(); ++id)
        {
            const BlockState& state = m_blocks[id];
            if (state.block->group != NO_GROUP)
            {
                m_groups[state.block->group][state.rank].blocks.push_back(id);
            }
        }
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            m_flows[i].given.assign(flows[i].members.empty() ? 0 : m_program.ranks.size(), 0);
            m_flows[i].nMembers = flows[i].operation == StepKind::GROUP_MULTICAST
                                      ? 1
                                      : static_cast<uint32_t>(flows[i].members.size());
        }
    }

    /// A rank gives to an operation of a group, which begins when all have.
    void Give(const BlockState& state, const Step& step)
    {
        const uint32_t id = m_index.at(MakeGroupFlowKey(*state.block, state.rank, step));
        FlowState& flow = m_flows[id];
        const uint32_t number = flow.given[state.rank]++;
        if (flow.waiting.size() <= number)
        {
            flow.waiting.resize(number + 1, 0);
        }
        if (++flow.waiting[number] == flow.nMembers)
        {
            Send(id, step.bytes);
        }
    }

    /// @return whether a group step can be done
    bool IsThere(const BlockState& state, const Step& step) const
    {
        if (step.kind != StepKind::GROUP_RECV)
        {
            return true;
        }
        const Member& member = m_groups[state.block->group][state.rank];
        const auto found = member.multicasts.find(step.peer);
        return step.peer == NO_RANK ? member.sums > 0
                                    : found != member.multicasts.end() && found->second > 0;
    }

    void DoGroupStep(const BlockState& state, const Step& step)
    {
        if (step.kind == StepKind::GROUP_RECV)
        {
            Member& member = m_groups[state.block->group][state.rank];
            --(step.peer == NO_RANK ? member.sums : member.multicasts[step.peer]);
        }
        else if (SendsToGroup(step.kind))
        {
            Give(state, step);
        }
    }

    /// An operation of a group has brought its result.
    void DeliverGroup(const FlowState& flow)
    {
        const bool multicast = flow.operation == StepKind::GROUP_MULTICAST;
        for (const uint32_t rank : m_program.groups[flow.group].members)
        {
            if (!multicast && flow.to != NO_RANK && flow.to != rank)
            {
                continue;
            }
            Member& member = m_groups[flow.group][rank];
            ++(multicast ? member.multicasts[flow.from] : member.sums);
            for (const uint32_t block : member.blocks)
            {
                Advance(block);
            }
        }
    }

    void SetUpBlocks()
    {
        const auto& index = m_index;
        for (uint32_t rank = 0; rank < m_program.ranks.size(); ++rank)
        {
            const auto& blocks = m_program.ranks[rank].blocks;
            const auto first = static_cast<uint32_t>(m_blocks.size());
            for (const ThreadBlock& block : blocks)
            {
                BlockState state;
                state.block = &block;
                state.rank = rank;
                if (!m_costs.blocks.empty())
                {
                    state.cost = m_costs.blocks[rank][&block - blocks.data()];
                }
                state.firstOfRank = first;
                state.nOfRank = static_cast<uint32_t>(blocks.size());
                const auto id = static_cast<uint32_t>(m_blocks.size());
                const auto sends = index.find(MakeFlowKey(block.channel, rank, block.sendPeer));
                if (block.sendPeer != NO_RANK && sends != index.end())
                {
                    state.sendFlow = sends->second;
                    m_flows[sends->second].sender = id;
                }
                const auto receives =
                    index.find(MakeFlowKey(block.channel, block.receivePeer, rank));
                if (block.receivePeer != NO_RANK && receives != index.end())
                {
                    state.receiveFlow = receives->second;
                    m_flows[receives->second].receiver = id;
                }
                m_blocks.push_back(state);
            }
            for (uint32_t i = 0; i < blocks.size(); ++i)
            {
                for (const Step& step : blocks[i].steps)
                {
                    if (step.waitBlock != NO_BLOCK)
                    {
                        m_blocks[first + step.waitBlock].waiters.push_back(first + i);
                    }
                }
            }
            for (uint32_t i = first; i < m_blocks.size(); ++i)
            {
                auto& waiters = m_blocks[i].waiters;
                std::sort(waiters.begin(), waiters.end());
                waiters.erase(std::unique(waiters.begin(), waiters.end()), waiters.end());
            }
        }
    }

    void Push(double timePs, What what, uint32_t flow, uint32_t count)
    {
        m_events.push({timePs, m_number++, what, flow, count});
    }

    void Grant(uint32_t flow, uint64_t chunks)
    {
        if (chunks > 0)
        {
            m_flows[flow].ungranted -= chunks;
            Push(m_now + static_cast<double>(GetRoute(flow).controlPs),
                 What::GRANT,
                 flow,
                 static_cast<uint32_t>(chunks));
        }
    }

    const FlowRoute& GetRoute(uint32_t flow) const
    {
        return m_routes.GetRoute(m_kinds[m_flows[flow].kind].route);
    }

    void Send(uint32_t id, uint64_t stepBytes)
    {
        FlowState& flow = m_flows[id];
        const auto bytes = static_cast<double>(
            std::max<uint64_t>(GetTraits(m_program.protocol).WireBytes(stepBytes), 1));
        flow.queue.push_back(bytes);
        if (flow.queue.size() == flow.sending + 1)
        {
            BeginMessage(id);
        }
    }

    void Advance(uint32_t id)
    {
        const auto& steps = m_blocks[id].block->steps;
        const uint32_t before = m_blocks[id].next;
        while (m_blocks[id].next < steps.size() && !m_blocks[id].busy)
        {
            BlockState& state = m_blocks[id];
            const Step& step = steps[state.next];
            const bool waits = step.waitBlock != NO_BLOCK &&
                               m_blocks[state.firstOfRank + step.waitBlock].next <= step.waitStep;
            const bool inGroup = state.block->group != NO_GROUP;
            if ((Receives(step.kind) && state.arrived == 0) ||
                (Sends(step.kind) && state.grants == 0) || waits ||
                (inGroup && !IsThere(state, step)))
            {
                break;
            }
            BeginStep(state, step);
            const double busyPs =
                static_cast<double>(state.cost.busyPs) +
                (m_isInstant ? 0 : static_cast<double>(step.bytes) * state.cost.psPerByte);
            if (busyPs > 0)
            {
                state.busy = true;
                Push(m_now + busyPs, What::STEP_END, id, 1);
                break;
            }
            EndStep(state, step);
        }
        if (m_blocks[id].next != before)
        {
            WakeOthers(id);
        }
    }

    void WakeOthers(uint32_t id)
    {
        for (const uint32_t waiter : m_blocks[id].waiters)
        {
            if (waiter != id)
            {
                Advance(waiter);
            }
        }
    }

    /// @return whether the bytes of the block's steps leave when these are done
    bool SendsWhole(const BlockState& state) const
    {
        return !m_costs.sendsWhole.empty() && m_costs.sendsWhole[state.sendFlow];
    }

    void BeginStep(BlockState& state, const Step& step)
    {
        if (state.block->group != NO_GROUP)
        {
            DoGroupStep(state, step);
        }
        if (Sends(step.kind) && !SendsWhole(state))
        {
            --state.grants;
            Send(state.sendFlow, step.bytes);
        }
    }

    void EndStep(BlockState& state, const Step& step)
    {
        if (Sends(step.kind) && SendsWhole(state))
        {
            --state.grants;
            Send(state.sendFlow, step.bytes);
        }
        ++state.next;
        m_lastStepPs = std::max(m_lastStepPs, m_now);
        m_rankStepPs[state.rank] = m_now;
        if (Sends(step.kind))
        {
            m_times.senderStepPs[state.sendFlow] = std::llround(m_now);
        }
        if (Receives(step.kind))
        {
            m_times.receiverStepPs[state.receiveFlow] = std::llround(m_now);
            --state.arrived;
            Grant(state.receiveFlow, std::min<uint64_t>(m_flows[state.receiveFlow].ungranted, 1));
        }
    }

    /// Counts what a kind wants of its resources now.
    void Want(Kind& kind)
    {
        kind.isChanged = false;
        const std::size_t now = kind.messages.size();
        const double more =
            (static_cast<double>(now) - static_cast<double>(kind.nWanted)) * kind.alone;
        for (const FlowUse& use : m_routes.GetRoute(kind.route).uses)
        {
            Shared& shared = m_shared[use.resource];
            shared.nUsers += now - kind.nWanted;
            shared.wanted = shared.nUsers == 0 ? 0 : shared.wanted + more * use.amount;
        }
        kind.nWanted = now;
    }

    /// Finds the kinds whose rates may have changed, in m_component, and the resources that cannot
    /// bear all that is wanted of them, in m_full.
    void FindComponent()
    {
        ++m_search;
        m_component.clear();
        m_full.clear();
        const auto visit = [this](uint32_t id) {
            if (m_kinds[id].visit != m_search)
            {
                m_kinds[id].visit = m_search;
                m_component.push_back(id);
            }
        };
        const auto look = [&](uint32_t id) {
            Shared& shared = m_shared[id];
            if (shared.visit == m_search)
            {
                return;
            }
            shared.visit = m_search;
            const bool wasFull = shared.isFull;
            shared.isFull = shared.wanted > shared.capacity * (1 + ROUNDING);
            if (shared.isFull)
            {
                m_full.push_back(id);
            }
            if (shared.isFull || wasFull)
            {
                for (const uint32_t user : shared.users)
                {
                    if (!m_kinds[user].messages.empty())
                    {
                        visit(user);
                    }
                }
            }
        };
        for (const uint32_t id : m_changed)
        {
            Want(m_kinds[id]);
            visit(id);
        }
        for (std::size_t next = 0; next < m_component.size(); ++next)
        {
            for (const FlowUse& use : m_routes.GetRoute(m_kinds[m_component[next]].route).uses)
            {
                look(use.resource);
            }
        }
        m_changed.clear();
    }

    /// Shares the resources among what sends now.
    void Share()
    {
        FindComponent();
        if (m_full.empty())
        {
            for (const uint32_t id : m_component)
            {
                SetRate(id, m_kinds[id].alone);
            }
            return;
        }
        m_solver.Clear();
        for (const uint32_t id : m_full)
        {
            m_shared[id].number = m_solver.AddResource(m_shared[id].capacity);
        }
        // In the order of their numbers, whatever way they were found.
        std::sort(m_component.begin(), m_component.end());
        m_solved.clear();
        for (const uint32_t id : m_component)
        {
            const Kind& kind = m_kinds[id];
            if (kind.messages.empty())
            {
                SetRate(id, 0);
                continue;
            }
            m_solver.AddFlow(kind.alone);
            for (const FlowUse& use : m_routes.GetRoute(kind.route).uses)
            {
                const uint32_t number = m_shared[use.resource].number;
                if (number != NO_ID)
                {
                    m_solver.AddUse(number, use.amount * static_cast<double>(kind.messages.size()));
                }
            }
            m_solved.push_back(id);
        }
        m_solver.Solve();
        for (const uint32_t id : m_full)
        {
            m_shared[id].number = NO_ID;
        }
        for (uint32_t i = 0; i < m_solved.size(); ++i)
        {
            SetRate(m_solved[i], m_solver.GetRate(i));
        }
    }

    /// A kind moves its bytes at a rate from now on.
    void SetRate(uint32_t id, double rate)
    {
        Kind& kind = m_kinds[id];
        if (!kind.messages.empty() && kind.messages.top().bytes == kind.expected &&
            std::abs(rate - kind.rate) <= ROUNDING * rate)
        {
            return;
        }
        kind.moved = GetMoved(kind);
        kind.sincePs = m_now;
        kind.rate = rate;
        kind.expected = -1;
        ++kind.version;
        if (!kind.messages.empty())
        {
            kind.expected = kind.messages.top().bytes;
            const double left = std::max(0.0, kind.expected - kind.moved);
            Push(m_now + left / rate, What::KIND, id, kind.version);
        }
    }

    /// The messages of a kind that have been sent by now.
    void FinishMessages(uint32_t id)
    {
        Kind& kind = m_kinds[id];
        const double moved = GetMoved(kind) + TOGETHER_PS * kind.rate;
        NoteChange(id);
        kind.expected = -1;
        while (!kind.messages.empty() && kind.messages.top().bytes <= moved)
        {
            const uint32_t flow = kind.messages.top().flow;
            kind.messages.pop();
            CountSending(kind, -1);
            EndMessage(flow);
        }
    }

    /// The message of a flow that is under way has been sent.
    void EndMessage(uint32_t id)
    {
        FlowState& flow = m_flows[id];
        const double behind =
            m_isInstant ? 0
                        : std::max(0.0, -GetAheadPs(m_kinds[flow.kind], flow.queue[flow.sending]));
        const double arrival = m_now + static_cast<double>(GetRoute(id).latencyPs) + behind;
        m_times.receivedPs[id] = std::llround(arrival);
        m_times.sentPs[id] = std::llround(arrival + static_cast<double>(GetRoute(id).controlPs));
        const int64_t latencyPs = flow.group != NO_GROUP ? m_costs.groupLatencyPs
                                                         : m_blocks[flow.receiver].cost.latencyPs;
        Push(arrival + static_cast<double>(latencyPs), What::USE, id, 1);
        if (++flow.sending < flow.queue.size())
        {
            BeginMessage(id);
        }
    }

    /// Goes on to what happens next. @return whether anything did
    bool NextEvent()
    {
        if (!m_changed.empty())
        {
            Share();
        }
        if (m_events.empty())
        {
            return false;
        }
        m_now = std::max(m_now, m_events.top().timePs);
        while (!m_events.empty() && m_events.top().timePs <= m_now + TOGETHER_PS)
        {
            const Event event = m_events.top();
            m_events.pop();
            Handle(event);
        }
        return true;
    }

    void Handle(const Event& event)
    {
        switch (event.what)
        {
        case What::KIND:
            if (m_kinds[event.flow].version == event.count)
            {
                FinishMessages(event.flow);
            }
            return;
        case What::USE:
            Use(event.flow);
            return;
        case What::GRANT:
            m_blocks[m_flows[event.flow].sender].grants += event.count;
            Advance(m_flows[event.flow].sender);
            return;
        case What::STEP_END: {
            BlockState& state = m_blocks[event.flow];
            state.busy = false;
            EndStep(state, state.block->steps[state.next]);
            WakeOthers(event.flow);
            Advance(event.flow);
            return;
        }
        }
    }

    /// What has arrived can be used.
    void Use(uint32_t id)
    {
        if (m_flows[id].group != NO_GROUP)
        {
            DeliverGroup(m_flows[id]);
            return;
        }
        ++m_blocks[m_flows[id].receiver].arrived;
        Advance(m_flows[id].receiver);
    }

    const CollectiveProgram& m_program;
    const FlowRoutes& m_routes;
    const ReplayCosts& m_costs;
    const bool m_isInstant;
    double m_lastStepPs{0};
    std::vector<double> m_rankStepPs; //!< by rank: end of its last step
    std::vector<BlockState> m_blocks; //!< rank by rank
    std::vector<FlowState> m_flows;
    std::map<ProgramFlowKey, uint32_t> m_index; //!< position in m_flows
    std::vector<std::vector<Member>> m_groups;  //!< by group and rank
    std::vector<Kind> m_kinds;
    std::vector<Shared> m_shared;      //!< by resource
    std::vector<uint32_t> m_changed;   //!< kinds, since the last solution
    uint32_t m_search{0};              //!< counts searches
    std::vector<uint32_t> m_component; //!< kinds
    std::vector<uint32_t> m_full;      //!< resources
    std::priority_queue<Event> m_events;
    uint64_t m_number{0};
    double m_now{0};
    MaxMinSolver m_solver;
    std::vector<uint32_t> m_solved; //!< kinds, by flow of m_solver
    ReplayTimes m_times;
};

} // namespace

ReplayTimes
ReplayProgram(const CollectiveProgram& program,
              const std::vector<ProgramFlow>& flows,
              const std::vector<uint32_t>& routes,
              const FlowRoutes& all,
              const ReplayCosts& costs,
              bool isInstant)
{
    return Replay(program, flows, routes, all, costs, isInstant).Run();
}

} // namespace proteus
} // namespace ns3
