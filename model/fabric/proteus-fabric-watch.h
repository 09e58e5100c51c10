/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_WATCH_H
#define PROTEUS_FABRIC_WATCH_H

#include "proteus-port.h"

#include "ns3/proteus-link-statistics.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Who looks at a packet engine from outside, and who is told what.
 */
class FabricWatch
{
  public:
    /// Gets a port, what it carried besides, and from when to when, in picoseconds.
    using RepeatCallback = std::function<void(PortId, const LinkStatistics&, int64_t, int64_t)>;

    /// Who is told when what happens begins to depend on more than the links that are crossed.
    struct ChanceCallbacks
    {
        /// Chance decides about a mark, for the first time since Fabric::ExchangeDrawn(); gets the
        /// link.
        std::function<void(LinkId)> onDraw;
        /// A buffer is calm no longer, see SharedBuffers; gets what Fabric::GetBuffer() says.
        std::function<void(uint32_t)> onContention;
    };

    /// Somebody reads statistics or states of ports while the simulator runs, from now on.
    void AddReader()
    {
        m_isRead = true;
    }

    /// Somebody else than the collectives of a graph sends on the fabric, from now on.
    void AddForeignTraffic()
    {
        m_isShared = true;
        TellChange();
    }

    /// @return AddReader() has been called
    bool IsRead() const
    {
        return m_isRead;
    }

    /// @return AddForeignTraffic() has been called
    bool IsShared() const
    {
        return m_isShared;
    }

    /// @param callback called before a link fails, is repaired, or changes its rate or losses; may
    /// be empty
    void SetChangeCallback(std::function<void()> callback)
    {
        m_beforeChange = std::move(callback);
    }

    /// Tells that a link is about to change.
    void TellChange() const
    {
        if (m_beforeChange)
        {
            m_beforeChange();
        }
    }

    /// @param callbacks called while a unit is handled: they may set calls; may be empty
    void SetChanceCallbacks(ChanceCallbacks callbacks)
    {
        m_chance = std::move(callbacks);
    }

    /// Tells that chance decides about a mark. @param link where
    void TellDraw(LinkId link) const
    {
        if (m_chance.onDraw)
        {
            m_chance.onDraw(link);
        }
    }

    /// Tells that a buffer is calm no longer. @param buffer which one
    void TellContention(uint32_t buffer) const
    {
        if (m_chance.onContention)
        {
            m_chance.onContention(buffer);
        }
    }

    /// @param callback called by Fabric::AddStatistics(); may be empty
    void SetRepeatCallback(RepeatCallback callback)
    {
        m_onRepeat = std::move(callback);
    }

    /// @return whether somebody wants to know when what Fabric::AddStatistics() adds has been
    bool HasRepeatCallback() const
    {
        return m_onRepeat != nullptr;
    }

    /// Tells what is added. @param port of a link @param more what it carried besides
    /// @param startPs since when @param endPs until when
    void TellRepeat(PortId port, const LinkStatistics& more, int64_t startPs, int64_t endPs) const
    {
        if (m_onRepeat)
        {
            m_onRepeat(port, more, startPs, endPs);
        }
    }

  private:
    bool m_isRead{false};                 //!< AddReader()
    bool m_isShared{false};               //!< AddForeignTraffic()
    std::function<void()> m_beforeChange; //!< SetChangeCallback()
    ChanceCallbacks m_chance;             //!< SetChanceCallbacks()
    RepeatCallback m_onRepeat;            //!< SetRepeatCallback()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_WATCH_H
