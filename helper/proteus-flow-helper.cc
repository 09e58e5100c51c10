/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-helper.h"

#include "ns3/boolean.h"
#include "ns3/proteus-packet-network.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

ProgramSettings
GetPacketProgramSettings()
{
    const Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
    ProgramSettings settings;
    StringValue text;
    network->GetAttribute("Algorithm", text);
    settings.algorithm = text.Get();
    network->GetAttribute("Protocol", text);
    settings.protocol = text.Get();
    UintegerValue number;
    network->GetAttribute("ChunkBytes", number);
    settings.chunkBytes = number.Get();
    network->GetAttribute("Channels", number);
    settings.channels = static_cast<uint32_t>(number.Get());
    network->GetAttribute("NetworkChannels", number);
    settings.networkChannels = static_cast<uint32_t>(number.Get());
    return settings;
}

void
FollowPacketNetwork(FlowParameters& parameters, int64_t stream)
{
    const Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
    TimeValue launch;
    network->GetAttribute("LaunchOverhead", launch);
    parameters.launchPs = launch.Get().GetPicoSeconds();
    BooleanValue costs;
    network->GetAttribute("KernelCosts", costs);
    parameters.kernelCosts = costs.Get();
    StringValue mode;
    network->GetAttribute("LaunchMode", mode);
    if (mode.Get() != "stream")
    {
        throw std::invalid_argument("ns3::proteus::PacketNetwork::LaunchMode=" + mode.Get() +
                                    ": the flow level launches from streams only; use the packet "
                                    "level, or LaunchMode=stream");
    }
    // As Transport::SetFabric() draws it.
    const Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();
    random->SetStream(stream);
    parameters.pathSeed = random->GetInteger(0, UINT32_MAX - 1);
}

} // namespace proteus
} // namespace ns3
