/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-period-finder.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Moments that are looked at: what has not come again by then hardly ever does.
constexpr uint32_t MOST_MOMENTS = 1024;

} // namespace

PeriodFinder::PeriodFinder(Ptr<Fabric> fabric,
                           Ptr<Transport> transport,
                           RepetitionUser& user,
                           const RepetitionPlan& plan,
                           std::vector<uint32_t> ranks)
    : m_fabric(fabric),
      m_transport(transport),
      m_user(user),
      m_plan(plan),
      m_ranks(std::move(ranks))
{
    if (CanSearch())
    {
        m_user.WatchSteps(m_ranks.front(), [this] {
            // Behind whatever this step is a part of.
            FabricCall call;
            call.timePs = m_fabric->GetTimePs();
            call.order = 0;
            call.target = this;
            m_fabric->CallAt(call);
        });
    }
}

bool
PeriodFinder::CanSearch() const
{
    return std::all_of(m_plan.parts.begin(),
                       m_plan.parts.end(),
                       [](const RepetitionPart& part) { return part.program->groups.empty(); }) &&
           std::none_of(m_plan.links.begin(), m_plan.links.end(), [this](LinkId link) {
               return m_fabric->HasInputQueue(link);
           });
}

void
PeriodFinder::Measure(Moment& moment) const
{
    moment.timePs = m_fabric->GetTimePs();
    moment.ranks.clear();
    moment.ports.clear();
    moment.queuePairs.clear();
    for (const uint32_t rank : m_ranks)
    {
        moment.ranks.push_back(m_user.GetPosition(rank));
    }
    for (const LinkId link : m_plan.links)
    {
        moment.ports.push_back(m_fabric->GetStatistics(2 * link));
        moment.ports.push_back(m_fabric->GetStatistics(2 * link + 1));
    }
    for (const uint32_t pair : m_plan.queuePairs)
    {
        moment.queuePairs.push_back(m_transport->GetWork(pair));
    }
}

bool
PeriodFinder::AppendState(std::vector<uint64_t>& words) const
{
    if (!m_user.AppendState(m_ranks, words))
    {
        return false;
    }
    const auto content = [this](const PacketRecord& record, std::vector<uint64_t>& to) {
        m_transport->AppendContent(record, to);
    };
    for (const LinkId link : m_plan.links)
    {
        m_fabric->AppendState(link, content, words);
    }
    for (const uint32_t pair : m_plan.queuePairs)
    {
        m_transport->AppendState(pair, words);
    }
    return true;
}

void
PeriodFinder::HandleCall(uint32_t /* kind */, uint32_t /* value */)
{
    std::vector<uint64_t> words;
    words.reserve(m_anchor.words.size());
    if (m_periods > 0 || !AppendState(words))
    {
        return;
    }
    ++m_moments;
    if (words == m_anchor.words)
    {
        Skip();
    }
    else if (m_moments == m_nextAnchor) // the anchor moves on, so that it comes to a period at last
    {
        m_nextAnchor *= 2;
        m_anchor.words = std::move(words);
        Measure(m_anchor);
    }
    if (m_periods > 0 || m_moments == MOST_MOMENTS)
    {
        m_user.WatchSteps(m_ranks.front(), nullptr);
    }
}

void
PeriodFinder::Skip()
{
    Measure(m_end);
    uint64_t periods = std::numeric_limits<uint64_t>::max();
    for (std::size_t i = 0; i < m_ranks.size(); ++i)
    {
        periods = std::min(periods, m_user.CountPeriods(m_ranks[i], m_anchor.ranks[i]));
    }
    if (periods == std::numeric_limits<uint64_t>::max())
    {
        return;
    }
    for (std::size_t i = 0; i < m_ranks.size(); ++i)
    {
        m_user.Skip(m_ranks[i], m_anchor.ranks[i], periods);
    }
    m_periods = periods;
}

void
PeriodFinder::Complete(RepetitionRecord& record, int64_t firstPs)
{
    m_user.WatchSteps(m_ranks.front(), nullptr);
    if (m_periods == 0)
    {
        return;
    }
    const int64_t skippedPs = static_cast<int64_t>(m_periods) * (m_end.timePs - m_anchor.timePs);
    for (RankWork& work : record.ranks)
    {
        work.endPs += skippedPs;
    }
    for (int64_t& endPs : record.blockEndsPs)
    {
        const bool isAfter = endPs != RepetitionRecord::NOT_DONE && firstPs + endPs > m_end.timePs;
        endPs += isAfter ? skippedPs : 0;
    }
    record.restPs += skippedPs;
    for (auto& [position, did] : record.ports)
    {
        const LinkStatistics period =
            GetDifference(m_end.ports[position], m_anchor.ports[position]);
        for (uint64_t i = 0; i < m_periods; ++i)
        {
            AddTo(did, period);
        }
        record.packetHops += m_periods * period.receivedPackets;
    }
    for (std::size_t i = 0; i < record.queuePairs.size(); ++i)
    {
        const QueuePairWork& before = m_anchor.queuePairs[i];
        const QueuePairWork& after = m_end.queuePairs[i];
        QueuePairWork& did = record.queuePairs[i];
        did.bytes += m_periods * (after.bytes - before.bytes);
        did.packets += m_periods * (after.packets - before.packets);
        did.messages += m_periods * (after.messages - before.messages);
        did.controlPackets += m_periods * (after.controlPackets - before.controlPackets);
        record.packets += m_periods * (after.packets - before.packets);
    }
}

} // namespace proteus
} // namespace ns3
