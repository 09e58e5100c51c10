/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_CHANNEL_H
#define PROTEUS_FABRIC_CHANNEL_H

#include "proteus-fabric.h"

#include "ns3/channel.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstddef>

namespace ns3
{
namespace proteus
{

class FabricDevice;

/**
 * @ingroup proteus
 * A link of a Fabric as other parts of ns-3 see it: a channel with two FabricDevices. Nothing moves
 * through it; it says what the link is, and passes on what the fabric reports about it.
 */
class FabricChannel : public Channel, private PortObserver
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    FabricChannel();
    ~FabricChannel() override;

    /**
     * @param fabric whose link it is
     * @param link which one
     */
    void SetLink(Ptr<Fabric> fabric, LinkId link);

    /**
     * @param device to put at the end from which its port sends
     * @param port 2 * link, or 2 * link + 1
     */
    void Attach(Ptr<FabricDevice> device, PortId port);

    /// @return the fabric, null after Dispose()
    Ptr<Fabric> GetFabric() const
    {
        return m_fabric;
    }

    /// @return time from one end to the other, the receiver's forwarding latency included
    Time GetDelay() const;

    /// @return present rate of either direction
    DataRate GetDataRate() const;

    /// A device has gained or lost trace sinks: watches the ports that somebody wants to know of.
    void UpdateObservation();

    // Inherited from Channel
    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    // Inherited from PortObserver
    void Observe(PortEvent event, PortId port, const PacketRecord& record, int64_t timePs) override;

    Ptr<Fabric> m_fabric;           //!< whose link it is
    Ptr<FabricDevice> m_devices[2]; //!< which send to b, and to a
    LinkId m_link{0};               //!< which link
    bool m_isObserved[2]{};         //!< by direction
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_CHANNEL_H
