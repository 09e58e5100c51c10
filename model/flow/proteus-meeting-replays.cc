/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-meeting-replays.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

MeetingReplays::MeetingReplays(const ReplayWays& ways, SharedResources& shares)
    : m_messages(ways, m_clock, shares, [this](uint32_t flow, double behindPs) {
          const Owner& owner = m_owners[flow];
          Live& live = m_live.at(owner.id);
          const double arrivalPs = m_clock.GetNowPs() + behindPs +
                                   static_cast<double>(m_messages.GetRoute(flow).latencyPs);
          live.replay->Deliver(owner.flow, arrivalPs - live.sincePs);
      })
{
}

void
MeetingReplays::Begin(uint32_t id,
                      std::shared_ptr<const ReplayInput> input,
                      std::unique_ptr<LiveReplay> replay,
                      double sincePs,
                      double nowPs)
{
    m_clock.GoTo(nowPs);
    Live& live = m_live[id];
    live.input = std::move(input);
    live.replay = std::move(replay);
    live.sincePs = sincePs;
    const auto& limits = live.input->costs.limits;
    for (uint32_t flow = 0; flow < live.input->flows.size(); ++flow)
    {
        const uint32_t number =
            m_messages.AddFlow(live.input->routes[flow], limits.empty() ? 0 : limits[flow]);
        live.flows.push_back(number);
        m_owners.resize(std::max<std::size_t>(m_owners.size(), number + 1));
        m_owners[number] = {id, flow};
    }
    live.replay->HandOver(nowPs - sincePs, [this, &live](uint32_t flow, double bytes, double) {
        m_messages.Send(live.flows[flow], bytes);
    });
}

void
MeetingReplays::End(uint32_t id)
{
    for (const uint32_t flow : m_live.at(id).flows)
    {
        m_messages.RemoveFlow(flow);
    }
    m_live.erase(id);
}

double
MeetingReplays::GetNextPs() const
{
    double next = m_clock.GetNextPs();
    for (const auto& [id, live] : m_live)
    {
        next = std::min(next, live.sincePs + live.replay->GetNextPs());
    }
    return next;
}

void
MeetingReplays::Advance(double untilPs, const std::function<void()>& share)
{
    for (double next = GetNextPs(); next <= untilPs; next = GetNextPs())
    {
        m_clock.GoTo(next);
        const double togetherPs = m_clock.GetNowPs() + ReplayClock::TOGETHER_PS;
        if (m_clock.GetNextPs() <= togetherPs)
        {
            m_clock.Step([this](const ReplayEvent& event) {
                if (event.what == ReplayEvent::SENT)
                {
                    m_messages.Finish(event.id);
                }
                else
                {
                    m_messages.Leave(event.id);
                }
            });
        }
        for (auto& [id, live] : m_live)
        {
            if (live.sincePs + live.replay->GetNextPs() <= togetherPs)
            {
                live.replay->Advance(togetherPs - live.sincePs);
            }
        }
        share();
    }
    m_clock.GoTo(untilPs);
}

std::vector<MeetingReplays::Ended>
MeetingReplays::TakeEnded()
{
    std::vector<Ended> ended;
    for (auto& [id, live] : m_live)
    {
        for (const RankEnd& end : live.replay->TakeEnded())
        {
            ended.push_back({id, end.rank, live.sincePs + end.endPs});
        }
    }
    return ended;
}

} // namespace proteus
} // namespace ns3
