/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SHARED_BUFFERS_H
#define PROTEUS_SHARED_BUFFERS_H

#include "proteus-fabric-settings.h"
#include "proteus-port.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The shared buffers of Ethernet switches and NICs, which decide when PFC pauses a sender.
 *
 * A traffic class of an ingress port has a reserve of its own. Beyond it, it takes from what all
 * ports share, up to a dynamic threshold (Choudhury and Hahne, "Dynamic Queue Length Thresholds for
 * Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6(2), 1998). A lossless class
 * that passes the threshold pauses its sender; what still arrives goes into headroom that is set
 * aside for it. A lossy class is not paused; its units are dropped when the queue of their egress
 * port is above the threshold.
 *
 * A buffer is *calm* while no lossless class of a port has had more of the shared part than a
 * limit, and no lossy class anything. With S bytes to share, n classes of ports that are lossless,
 * and the threshold at the 2^s-th part of what is free, the limit is S / 2 / (2^s + n): all of them
 * together have S / 2 at most then, and the threshold is never below the limit. So nothing that any
 * of them meets depends on what others have in the buffer.
 */
class SharedBuffers
{
  public:
    /// What becomes of a unit that has arrived.
    enum class Admission : uint8_t
    {
        ADMITTED, //!< it has room
        PAUSE,    //!< it has room, and its sender is to pause
        REFUSED   //!< it has none
    };

    /**
     * @param settings to follow; must outlive this
     * @throw std::invalid_argument for a list of classes that is none
     */
    void SetUp(const BufferSettings& settings);

    /**
     * Gives every Ethernet switch and NIC its buffer, and the ports that lead there their
     * headroom.
     * @param cluster of the ports
     * @param ports of its links
     * @throw std::invalid_argument if a buffer is too small for what is set aside in it
     */
    void Build(const Cluster& cluster, PortTable& ports);

    /**
     * Sets the buffer of a device anew for the present rates of its links. Headroom never becomes
     * less, as it may be occupied.
     * @param cluster of the ports
     * @param ports of its links
     * @param vertex any vertex
     * @throw std::invalid_argument if its buffer is too small for what is set aside in it
     */
    void Update(const Cluster& cluster, PortTable& ports, VertexId vertex);

    /// @param callback called with PortState::bufferAt when a buffer is calm no longer
    void SetContentionCallback(std::function<void(uint32_t)> callback)
    {
        m_onContention = std::move(callback);
    }

    /// @return how many buffers there are
    uint32_t GetN() const
    {
        return static_cast<uint32_t>(m_buffers.size());
    }

    /// @param bufferAt as PortState has it, not 0 @return whether the buffer is calm no longer
    bool IsContended(uint32_t bufferAt) const
    {
        return m_buffers[bufferAt - 1].isContended;
    }

    /// @param bufferAt as PortState has it, not 0 @return what a lossless class of a port may have
    /// at most while the buffer is calm, its reserve included
    uint64_t GetCalmBytes(uint32_t bufferAt) const
    {
        return m_settings->reserveBytes + m_buffers[bufferAt - 1].calmBytes;
    }

    /// @param trafficClass a traffic class @return whether PFC makes it lossless
    bool IsLossless(uint32_t trafficClass) const
    {
        return (m_losslessClasses >> trafficClass & 1) != 0;
    }

    /**
     * A unit of a lossless class has arrived.
     * @param in the port it came over
     * @param lane number of its lane
     * @param trafficClass of the unit
     * @param wireBytes of the unit
     * @return what becomes of it
     */
    Admission Admit(const PortState& in,
                    std::size_t lane,
                    uint32_t trafficClass,
                    uint32_t wireBytes)
    {
        Buffer& buffer = m_buffers[in.bufferAt - 1];
        Ingress& ingress = m_ingress[lane];
        const uint32_t reserve = m_settings->reserveBytes;
        const uint32_t bytes = ingress.bytes + wireBytes;
        if (bytes <= reserve)
        {
            ingress.bytes = bytes;
            return Admission::ADMITTED;
        }
        if (bytes - reserve > buffer.calmBytes)
        {
            NoteContention(in);
        }
        if (bytes - reserve > GetThreshold(buffer) || ingress.headroomBytes > 0)
        {
            if (ingress.headroomBytes + wireBytes > in.headroomBytes)
            {
                return Admission::REFUSED;
            }
            ingress.headroomBytes += wireBytes;
            return (in.pausing >> trafficClass & 1) == 0 ? Admission::PAUSE : Admission::ADMITTED;
        }
        buffer.usedBytes += std::min(wireBytes, bytes - reserve);
        ingress.bytes = bytes;
        return Admission::ADMITTED;
    }

    /**
     * A unit of a lossy class has arrived.
     * @param in the port it came over
     * @param lane number of its lane
     * @param queuedBytes that wait in its class for the port it goes to
     * @param wireBytes of the unit
     * @return whether there is room
     */
    bool AdmitLossy(const PortState& in, std::size_t lane, uint64_t queuedBytes, uint32_t wireBytes)
    {
        Buffer& buffer = m_buffers[in.bufferAt - 1];
        NoteContention(in);
        if (queuedBytes + wireBytes > GetThreshold(buffer))
        {
            return false;
        }
        m_ingress[lane].bytes += wireBytes;
        buffer.usedBytes += wireBytes;
        return true;
    }

    /**
     * A unit that was admitted has left.
     * @param in the port it came over
     * @param lane number of its lane
     * @param trafficClass of the unit
     * @param wireBytes of the unit
     * @return whether its sender, which is paused, may go on
     */
    bool Discharge(const PortState& in, std::size_t lane, uint32_t trafficClass, uint32_t wireBytes)
    {
        Buffer& buffer = m_buffers[in.bufferAt - 1];
        Ingress& ingress = m_ingress[lane];
        if (!IsLossless(trafficClass))
        {
            ingress.bytes -= wireBytes;
            buffer.usedBytes -= wireBytes;
            return false;
        }
        const uint32_t reserve = m_settings->reserveBytes;
        const uint32_t fromHeadroom = std::min(ingress.headroomBytes, wireBytes);
        const uint32_t rest = wireBytes - fromHeadroom;
        const uint32_t shared =
            ingress.bytes > reserve ? std::min(rest, ingress.bytes - reserve) : 0;
        ingress.headroomBytes -= fromHeadroom;
        ingress.bytes -= rest;
        buffer.usedBytes -= shared;
        return (in.pausing >> trafficClass & 1) != 0 && ingress.headroomBytes == 0 &&
               (ingress.bytes <= reserve ||
                ingress.bytes - reserve + m_settings->resumeOffset <= GetThreshold(buffer));
    }

    /// @param lane number of a lane @return bytes that it occupies
    uint64_t GetBytes(std::size_t lane) const
    {
        return lane < m_ingress.size()
                   ? uint64_t{m_ingress[lane].bytes} + m_ingress[lane].headroomBytes
                   : 0;
    }

    /// @return bytes that lossy classes, or lossless ones beyond their reserve, occupy in the
    /// shared part of the fullest buffer
    uint64_t GetMostUsedBytes() const;

  private:
    /// The shared buffer of a device.
    struct Buffer
    {
        uint64_t sharedBytes{0}; //!< what all ports share
        uint64_t usedBytes{0};   //!< of it
        uint64_t calmBytes{0};   //!< of it, for a lossless class of a port, while it is calm
        bool isContended{false}; //!< it is calm no longer
    };

    /// What one traffic class of a link occupies at its receiving end.
    struct Ingress
    {
        uint32_t bytes{0};         //!< reserve and shared part
        uint32_t headroomBytes{0}; //!< arrived after the pause was due
    };

    /// @param buffer of a device @return what one traffic class of a port may have of it
    uint64_t GetThreshold(const Buffer& buffer) const
    {
        return (buffer.sharedBytes - std::min(buffer.usedBytes, buffer.sharedBytes)) >>
               m_settings->thresholdShift;
    }

    /// @param in a port to a buffer that is not calm
    void NoteContention(const PortState& in)
    {
        if (!m_buffers[in.bufferAt - 1].isContended)
        {
            m_buffers[in.bufferAt - 1].isContended = true;
            if (m_onContention)
            {
                m_onContention(in.bufferAt);
            }
        }
    }

    /// @param cluster of the ports @param ports of its links @param vertex a device with a buffer
    /// @return the buffer, empty, with the headroom of its ports
    /// @throw std::invalid_argument as SetAside()
    Buffer MakeBuffer(const Cluster& cluster, PortTable& ports, VertexId vertex) const;
    /// @return how many traffic classes are lossless
    uint32_t CountLossless(const PortTable& ports) const;
    /// @param vertex of a device @return all bytes of its buffer
    uint64_t GetTotalBytes(const Vertex& vertex) const;
    /// @param cluster of the ports @param ports of its links @param vertex a device with a buffer
    /// @return bytes set aside for the reserve and headroom of its ports, which get their headroom
    /// @throw std::invalid_argument if the headroom asked for is too small
    uint64_t SetAside(const Cluster& cluster, PortTable& ports, VertexId vertex) const;
    /// @param cluster of the ports @param ports of its links @param in an Ethernet port
    /// @return the headroom that each lossless class of it needs
    uint64_t GetNeed(const Cluster& cluster, const PortTable& ports, PortId in) const;

    const BufferSettings* m_settings{nullptr};    //!< what to follow
    uint32_t m_losslessClasses{0};                //!< bit c: traffic class c is lossless
    std::vector<Buffer> m_buffers;                //!< as PortState::bufferAt names them
    std::vector<Ingress> m_ingress;               //!< by lane; empty if there are no buffers
    std::function<void(uint32_t)> m_onContention; //!< SetContentionCallback()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SHARED_BUFFERS_H
