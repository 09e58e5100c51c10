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
    : m_messages(ways, m_clock, shares, [this](uint32_t number, double behindPs) {
          NoteSent(number, behindPs);
      })
{
}

void
MeetingReplays::NoteSent(uint32_t number, double behindPs)
{
    const Owner owner = m_carriers[number].owners.front();
    m_carriers[number].owners.pop_front();
    Live& live = m_live.at(owner.id);
    const double arrivalPs =
        m_clock.GetNowPs() + behindPs + static_cast<double>(m_messages.GetRoute(number).latencyPs);
    live.replay->Deliver(owner.flow, arrivalPs - live.sincePs);
}

uint32_t
MeetingReplays::TakeCarrier(const Name& name)
{
    const auto [place, isNew] = m_numbers.try_emplace(name, 0);
    if (isNew)
    {
        place->second = m_messages.AddFlow(std::get<4>(name), std::get<5>(name));
        m_carriers.resize(std::max<std::size_t>(m_carriers.size(), place->second + 1));
        m_carriers[place->second] = {0, name, {}};
    }
    ++m_carriers[place->second].users;
    return place->second;
}

void
MeetingReplays::Begin(uint32_t id,
                      GroupId group,
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
    for (uint32_t i = 0; i < live.input->flows.size(); ++i)
    {
        const ProgramFlow& flow = live.input->flows[i];
        live.flows.push_back(TakeCarrier({group,
                                          flow.channel,
                                          flow.from,
                                          flow.to,
                                          live.input->routes[i],
                                          limits.empty() ? 0 : limits[i]}));
    }
    live.replay->HandOver(nowPs - sincePs, [this, id, &live](uint32_t flow, double bytes, double) {
        const uint32_t number = live.flows[flow];
        m_carriers[number].owners.push_back({id, flow});
        m_messages.Send(number, bytes);
    });
}

void
MeetingReplays::End(uint32_t id)
{
    for (const uint32_t number : m_live.at(id).flows)
    {
        if (--m_carriers[number].users == 0)
        {
            m_numbers.erase(m_carriers[number].name);
            m_messages.RemoveFlow(number);
        }
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
