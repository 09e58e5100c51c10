/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-live-replay.h"

#include "proteus-replay-run.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

/// What executes a program beside a run.
class LiveReplay::Body
{
  public:
    Body(std::shared_ptr<const ReplayInput> input,
         const FlowRoutes& all,
         std::vector<bool> isCarried,
         Carry carry,
         bool isWhole)
        : m_input(std::move(input)),
          m_isStarted(!isWhole),
          m_missing(isWhole ? 0 : static_cast<uint32_t>(m_input->program->ranks.size())),
          m_replay(*m_input->program,
                   m_input->flows,
                   m_input->routes,
                   all.GetWays(),
                   m_input->costs,
                   false,
                   FindFlowsOfBlocks(*m_input->program, m_input->flows),
                   std::move(isCarried),
                   std::move(carry))
    {
        for (uint32_t rank = 0; m_isStarted && rank < m_input->program->ranks.size(); ++rank)
        {
            m_replay.Wait(rank);
        }
    }

    /// @return the replay
    ReplayRun& Get()
    {
        return m_replay;
    }

    /// @param rank that joins @param timePs when
    void Join(uint32_t rank, double timePs)
    {
        --m_missing;
        m_replay.Join(rank, timePs);
    }

    /// @return whether all ranks have joined
    bool HasAllRanks() const
    {
        return m_missing == 0;
    }

    /// @param flow a flow @return bytes of all its messages
    double GetBytes(uint32_t flow) const
    {
        const ProgramFlow& found = m_input->flows[flow];
        return static_cast<double>(std::max(found.bytes, found.messages));
    }

    /// @param untilPs see LiveReplay::Advance()
    void Advance(double untilPs)
    {
        if (!m_isStarted)
        {
            m_isStarted = true;
            m_replay.Start();
        }
        m_replay.Advance(untilPs);
    }

  private:
    std::shared_ptr<const ReplayInput> m_input; //!< kept
    bool m_isStarted;   //!< whether the first steps have begun, or do when their ranks join
    uint32_t m_missing; //!< ranks that have not joined
    ReplayRun m_replay; //!< of that
};

LiveReplay::LiveReplay(std::shared_ptr<const ReplayInput> input,
                       const FlowRoutes& all,
                       std::vector<bool> isCarried,
                       Carry carry,
                       bool isWhole)
    : m_body(std::make_unique<Body>(std::move(input),
                                    all,
                                    std::move(isCarried),
                                    std::move(carry),
                                    isWhole))
{
}

LiveReplay::~LiveReplay() = default;

void
LiveReplay::Deliver(uint32_t flow, double timePs)
{
    m_body->Get().Arrive(flow, timePs);
}

void
LiveReplay::HandOver(double timePs, Carry carry)
{
    m_body->Get().HandOver(timePs, std::move(carry));
}

void
LiveReplay::Join(uint32_t rank, double timePs)
{
    m_body->Join(rank, timePs);
}

bool
LiveReplay::HasAllRanks() const
{
    return m_body->HasAllRanks();
}

double
LiveReplay::GetNextPs() const
{
    return m_body->Get().GetNextPs();
}

void
LiveReplay::Advance(double untilPs)
{
    m_body->Advance(untilPs);
}

double
LiveReplay::GetBytes(uint32_t flow) const
{
    return m_body->GetBytes(flow);
}

std::vector<RankEnd>
LiveReplay::TakeEnded()
{
    return m_body->Get().TakeEnded();
}

double
LiveReplay::GetEndPs() const
{
    return m_body->Get().GetLastStepPs();
}

} // namespace proteus
} // namespace ns3
