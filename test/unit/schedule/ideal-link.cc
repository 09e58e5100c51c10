/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ideal-link.h"

#include "ns3/proteus-partition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// A part of a layer's gradient.
struct Part
{
    uint32_t layer; //!< of which layer
    uint64_t bytes; //!< its size
};

/// What waits for something, the first to go in front. A key is (urgency, number of the part).
using Waiting = std::map<std::pair<uint64_t, uint32_t>, uint32_t>;

/// One direction of the link.
struct Direction
{
    Waiting waiting;    //!< parts that were handed to it
    uint64_t handed{0}; //!< how many were handed to it so far
    bool isBusy{false}; //!< whether a part is on it
};

enum class EventKind : uint8_t
{
    READY, //!< the gradient of a layer
    PUSHED,
    PULLED,
    CREDIT, //!< comes back
};

struct Event
{
    int64_t timePs;
    EventKind kind;
    uint32_t index; //!< a layer if READY, else a part

    bool operator>(const Event& other) const
    {
        return std::tie(timePs, kind, index) > std::tie(other.timePs, other.kind, other.index);
    }
};

/// One run.
class IdealSimulation
{
  public:
    IdealSimulation(const std::vector<IdealLayer>& layers,
                    const IdealLink& link,
                    const IdealOrder& order)
        : m_layers(layers),
          m_link(link),
          m_order(order),
          m_window(order.creditBytes),
          m_firstPart(layers.size() + 1),
          m_left(layers.size())
    {
        m_run.transferredPs.resize(layers.size());
        for (uint32_t layer = 0; layer < layers.size(); ++layer)
        {
            m_firstPart[layer] = static_cast<uint32_t>(m_parts.size());
            for (const uint64_t bytes : PartitionBytes(layers[layer].bytes, order.partBytes))
            {
                m_parts.push_back({layer, bytes});
                ++m_left[layer];
            }
        }
        m_firstPart[layers.size()] = static_cast<uint32_t>(m_parts.size());
    }

    IdealRun Run()
    {
        int64_t timePs = 0;
        for (auto layer = static_cast<uint32_t>(m_layers.size()); layer-- > 0;)
        {
            timePs += m_layers[layer].backwardPs;
            m_events.push({timePs, EventKind::READY, layer});
        }
        while (!m_events.empty())
        {
            // All that happens at one time is known before anything starts.
            m_nowPs = m_events.top().timePs;
            while (!m_events.empty() && m_events.top().timePs == m_nowPs)
            {
                const Event event = m_events.top();
                m_events.pop();
                Handle(event);
            }
            StartParts();
            Serve(m_push, EventKind::PUSHED);
            Serve(m_pull, EventKind::PULLED);
        }
        for (uint32_t layer = 0; layer < m_layers.size(); ++layer)
        {
            timePs = std::max(timePs, m_run.transferredPs[layer]);
            m_run.forwardPs.push_back(timePs);
            timePs += m_layers[layer].forwardPs;
        }
        m_run.iterationPs = timePs;
        return std::move(m_run);
    }

  private:
    void Handle(const Event& event)
    {
        switch (event.kind)
        {
        case EventKind::READY:
            for (uint32_t i = m_firstPart[event.index]; i < m_firstPart[event.index + 1]; ++i)
            {
                m_ready.emplace(std::make_pair(m_order.isByLayer ? event.index : m_nReady++, i), i);
            }
            break;
        case EventKind::PUSHED:
            m_push.isBusy = false;
            if (m_link.isParameterServer)
            {
                Hand(m_pull, event.index);
                if (m_order.credit == IdealCreditReturn::AFTER_PUSH)
                {
                    ReturnCredit(event.index);
                }
                break;
            }
            Finish(event.index);
            ReturnCredit(event.index);
            break;
        case EventKind::PULLED:
            m_pull.isBusy = false;
            Finish(event.index);
            if (m_order.credit == IdealCreditReturn::AFTER_PULL)
            {
                ReturnCredit(event.index);
            }
            break;
        case EventKind::CREDIT:
            m_window.Return(m_parts[event.index].bytes);
            --m_inFlight;
            break;
        }
    }

    void Finish(uint32_t part)
    {
        const uint32_t layer = m_parts[part].layer;
        if (--m_left[layer] == 0)
        {
            m_run.transferredPs[layer] = m_nowPs;
        }
    }

    /// Events of one time are all handled before anything starts, this one included.
    void ReturnCredit(uint32_t part)
    {
        m_events.push({m_nowPs + m_link.returnDelayPs, EventKind::CREDIT, part});
    }

    void StartParts()
    {
        while (!m_ready.empty() && m_window.IsOpen())
        {
            const uint32_t part = m_ready.begin()->second;
            m_ready.erase(m_ready.begin());
            m_window.Take(m_parts[part].bytes);
            m_run.mostInFlight = std::max(m_run.mostInFlight, ++m_inFlight);
            m_run.mostInFlightBytes =
                std::max(m_run.mostInFlightBytes, m_window.GetInFlightBytes());
            Hand(m_push, part);
        }
    }

    void Hand(Direction& direction, uint32_t part) const
    {
        const uint64_t urgency = m_order.isLinkByLayer ? m_parts[part].layer : direction.handed++;
        direction.waiting.emplace(std::make_pair(urgency, part), part);
    }

    void Serve(Direction& direction, EventKind end)
    {
        if (direction.isBusy || direction.waiting.empty())
        {
            return;
        }
        const uint32_t part = direction.waiting.begin()->second;
        direction.waiting.erase(direction.waiting.begin());
        direction.isBusy = true;
        if (end == EventKind::PUSHED)
        {
            m_run.order.push_back(m_parts[part].layer);
        }
        const double seconds = static_cast<double>(m_parts[part].bytes) / m_link.bytesPerSecond;
        m_events.push({m_nowPs + std::llround(seconds * 1e12) + m_link.overheadPs, end, part});
    }

    const std::vector<IdealLayer>& m_layers;
    const IdealLink& m_link;
    const IdealOrder& m_order;
    CreditWindow m_window;
    std::vector<Part> m_parts;         //!< of all layers, one layer after the other
    std::vector<uint32_t> m_firstPart; //!< by layer
    std::vector<uint32_t> m_left;      //!< by layer: parts that are not done
    Waiting m_ready;                   //!< parts that wait for credit
    uint32_t m_nReady{0};              //!< how many were ready so far
    uint64_t m_inFlight{0};            //!< parts under the window
    Direction m_push;
    Direction m_pull;
    int64_t m_nowPs{0};
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    IdealRun m_run;
};

} // namespace

IdealRun
RunIdealLink(const std::vector<IdealLayer>& layers, const IdealLink& link, const IdealOrder& order)
{
    const bool isTimeWrong = link.overheadPs < 0 || link.returnDelayPs < 0 ||
                             std::any_of(layers.begin(), layers.end(), [](const IdealLayer& layer) {
                                 return layer.backwardPs < 0 || layer.forwardPs < 0;
                             });
    if (layers.empty() || !(link.bytesPerSecond > 0) || isTimeWrong)
    {
        throw std::invalid_argument("an ideal link of " + std::to_string(link.bytesPerSecond) +
                                    " bytes per second for " + std::to_string(layers.size()) +
                                    " layers: the rate must be positive, there must be a layer, "
                                    "and no time may be negative");
    }
    return IdealSimulation(layers, link, order).Run();
}

std::vector<LayerTimes>
GetLayerTimes(const std::vector<IdealLayer>& layers, const IdealLink& link)
{
    std::vector<LayerTimes> times;
    for (const IdealLayer& layer : layers)
    {
        times.push_back({static_cast<double>(layer.backwardPs) * 1e-12,
                         static_cast<double>(layer.forwardPs) * 1e-12,
                         static_cast<double>(layer.bytes) / link.bytesPerSecond});
    }
    return times;
}

} // namespace proteus
} // namespace ns3
