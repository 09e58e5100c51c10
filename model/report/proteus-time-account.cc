/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-time-account.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a device does, what counts first first.
enum Activity
{
    BUSY,
    DATA,
    PEERS,
    ACTIVITIES
};

/// An activity begins or ends.
struct Change
{
    int64_t timePs;
    Activity activity;
    int delta;
};

} // namespace

std::vector<TimeAccount>
AccountTime(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::unordered_map<TaskInstance, int64_t> lastJoin;
    for (const Span& span : timeline.spans)
    {
        if (graph.GetTask(span.task).kind == TaskKind::COMMUNICATION)
        {
            int64_t& last = lastJoin[span.GetInstance()];
            last = std::max(last, span.startPs);
        }
    }
    std::vector<std::vector<Change>> changes(graph.GetNDevices());
    for (const Span& span : timeline.spans)
    {
        const auto add = [&](Activity activity, int64_t beginPs, int64_t endPs) {
            if (beginPs < endPs)
            {
                changes[span.device].push_back({beginPs, activity, 1});
                changes[span.device].push_back({endPs, activity, -1});
            }
        };
        if (graph.GetTask(span.task).kind == TaskKind::COMPUTE)
        {
            add(BUSY, span.startPs, span.endPs);
            continue;
        }
        const int64_t joinedPs = std::min(lastJoin[span.GetInstance()], span.endPs);
        add(PEERS, span.startPs, joinedPs);
        add(DATA, joinedPs, span.endPs);
    }
    std::vector<TimeAccount> accounts(graph.GetNDevices());
    for (DeviceId device = 0; device < accounts.size(); ++device)
    {
        auto& list = changes[device];
        std::sort(list.begin(), list.end(), [](const Change& a, const Change& b) {
            return a.timePs < b.timePs;
        });
        list.push_back({timeline.endPs, BUSY, 0});
        TimeAccount& account = accounts[device];
        std::array<int, ACTIVITIES> active{};
        int64_t sincePs = 0;
        for (const Change& change : list)
        {
            int64_t& part = active[BUSY] > 0    ? account.busyPs
                            : active[DATA] > 0  ? account.dataPs
                            : active[PEERS] > 0 ? account.peersPs
                                                : account.idlePs;
            part += change.timePs - sincePs;
            sincePs = change.timePs;
            active[change.activity] += change.delta;
        }
    }
    return accounts;
}

} // namespace proteus
} // namespace ns3
