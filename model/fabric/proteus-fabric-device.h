/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_DEVICE_H
#define PROTEUS_FABRIC_DEVICE_H

#include "proteus-fabric-channel.h"
#include "proteus-fabric.h"

#include "ns3/data-rate.h"
#include "ns3/net-device.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A port of a Fabric as other parts of ns-3 see it: a NetDevice of the vertex's node, with
 * attributes and trace sources. FabricHelper::InstallDevices() makes devices. A fabric runs without
 * them as well, and as fast with devices to which no sinks are connected.
 *
 * A device is the sending end of one direction of a link and the receiving end of the other. For
 * its own port it reports what waits, starts and is paused; for its peer's port, what arrives or is
 * lost on the way.
 *
 * The queue pairs of a Transport are the only traffic of a fabric, and move plain records. ns-3
 * packets cannot be sent through a device: Send() returns false, and the receive callbacks that a
 * Node sets are never called.
 */
class FabricDevice : public NetDevice
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    FabricDevice();
    ~FabricDevice() override;

    // Objects are not copied.
    FabricDevice(const FabricDevice&) = delete;
    FabricDevice& operator=(const FabricDevice&) = delete;

    /**
     * Called by FabricChannel::Attach().
     * @param channel that it is an end of
     * @param port that it sends on
     */
    void Attach(Ptr<FabricChannel> channel, PortId port);

    /// @return the port that it sends on; the one it receives from is GetPort() ^ 1
    PortId GetPort() const
    {
        return m_port;
    }

    /// @return the fabric, null after Dispose()
    Ptr<Fabric> GetFabric() const;

    /// @return rate of either direction
    DataRate GetDataRate() const;

    /// @param rate new rate of both directions, not 0 @return whether it was set
    bool SetDataRate(DataRate rate);

    /// @return time to the other end
    Time GetDelay() const;

    /// @return probability that a unit is lost, in either direction
    double GetLossProbability() const;

    /// @param probability that a unit is lost, in either direction @return whether it was set
    bool SetLossProbability(double probability);

    /// @return probability that a bit is wrong, in either direction
    double GetBitErrorRate() const;

    /// @param probability that a bit is wrong, in either direction @return whether it was set
    bool SetBitErrorRate(double probability);

    /// @return whether a trace of what happens at its own port has a sink
    bool WatchesSending() const;

    /// @return whether a trace of what comes from its peer has a sink
    bool WatchesReceiving() const;

    /**
     * Tells the trace sinks.
     * @param event what happens
     * @param port GetPort(), or its opposite for RECEIVE and DROP
     * @param record the unit
     * @param timePs when, in picoseconds
     */
    void Trace(PortEvent event, PortId port, const PacketRecord& record, int64_t timePs);

    // Inherited from NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    /// Sends nothing. @param packet not sent @param dest not used @param protocolNumber not used
    /// @return false: a fabric carries the messages of queue pairs only
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    /// Sends nothing. @param packet not sent @param source not used @param dest not used
    /// @param protocolNumber not used @return false, as Send()
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    /// A trace source that tells the channel when it gains or loses sinks.
    template <typename SOURCE>
    class WatchingAccessor;

    /// A trace source of units.
    using PacketTrace = TracedCallback<PortId, const PacketRecord&, int64_t>;

    /// @param source a trace source @return its accessor
    template <typename SOURCE>
    static Ptr<const TraceSourceAccessor> MakeWatchingAccessor(SOURCE FabricDevice::*source);

    /// @param link that has failed or been repaired @param up whether it works now
    void HandleLinkState(LinkId link, bool up);

    Ptr<Node> m_node;             //!< of the vertex
    Ptr<FabricChannel> m_channel; //!< of the link
    PortId m_port{NO_PORT};       //!< that it sends on
    uint32_t m_ifIndex{0};        //!< position on the node

    PacketTrace m_enqueueTrace;
    PacketTrace m_dequeueTrace;
    PacketTrace m_dropTrace;
    PacketTrace m_markTrace;
    PacketTrace m_pauseTrace;
    PacketTrace m_resumeTrace;
    PacketTrace m_creditStallTrace;
    PacketTrace m_transmitTrace;
    PacketTrace m_receiveTrace;
    TracedCallback<PortId, uint32_t, uint64_t, int64_t> m_queueTrace;
    TracedCallback<> m_linkChange; //!< AddLinkChangeCallback()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_DEVICE_H
