/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_INCAST_TEST_TOOLS_H
#define PROTEUS_INCAST_TEST_TOOLS_H

#include "ns3/proteus-fabric-helper.h"
#include "ns3/proteus-transport.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * What the tests of devices, captures and time series share: an incast, and how files are read.
 */

namespace ns3
{
namespace proteus
{
namespace incasttest
{

/// Hosts of the fabrics below.
constexpr uint32_t N_HOSTS = 5;
/// Bytes that each of them but the first sends to the first; leaves a remainder of 1 byte.
constexpr uint64_t MESSAGE_BYTES = 50 * 4096 + 1;

/// What control units say.
constexpr uint32_t CONTROL_VALUE = 0x12345678;

/// Hosts on one switch, all of which send to the first.
class Incast : public TransportUser
{
  public:
    /**
     * @param technology of all links
     * @param helper that builds the fabric
     * @param congestionControl of the queue pairs
     */
    explicit Incast(LinkTechnology technology,
                    const FabricHelper& helper = FabricHelper(),
                    const std::string& congestionControl = "none")
    {
        fabric = helper.Install(MakeHostCluster(N_HOSTS,
                                                FabricOptions(),
                                                technology,
                                                12.5e9,
                                                500000,
                                                DefaultFraming(technology)));
        fabric->AssignStreams(1);
        transport = CreateObjectWithAttributes<Transport>("CongestionControl",
                                                          StringValue(congestionControl),
                                                          "Reliability",
                                                          StringValue("SelectiveRepeat"),
                                                          "RetransmissionTimeout",
                                                          TimeValue(MicroSeconds(100)));
        transport->AssignStreams(3);
        transport->SetFabric(fabric, this);
        for (VertexId host = 1; host < N_HOSTS; ++host)
        {
            QueuePairOptions options;
            options.source = host;
            options.destination = 0;
            options.flow = host;
            transport->CreateQueuePair(options);
        }
    }

    ~Incast() override
    {
        transport->Dispose();
        fabric->Dispose();
        Simulator::Destroy();
    }

    /**
     * Sends two messages per host, the second one of a single packet, and runs.
     * @param controls whether there is a control unit per queue pair, too
     */
    void Run(bool controls = false)
    {
        for (uint32_t queuePair = 0; queuePair < transport->GetNQueuePairs(); ++queuePair)
        {
            transport->Send(queuePair, MESSAGE_BYTES, 0);
            transport->Send(queuePair, 10, 1);
            if (controls)
            {
                transport->SendControl(queuePair, CONTROL_VALUE);
            }
        }
        Simulator::Run();
    }

    void ReceiveMessage(uint32_t queuePair, uint64_t /* tag */, uint64_t /* bytes */) override
    {
        times.emplace_back(queuePair, fabric->GetTimePs());
    }

    void ReceiveAcknowledgement(uint32_t queuePair, uint64_t /* tag */) override
    {
        times.emplace_back(queuePair, fabric->GetTimePs());
    }

    Ptr<Fabric> fabric;                              //!< what is sent over
    Ptr<Transport> transport;                        //!< what sends
    std::vector<std::pair<uint32_t, int64_t>> times; //!< of messages and acknowledgements
};

/// @return a helper of a RoCE fabric in which the incast has marks and pauses
inline FabricHelper
MakeTightHelper()
{
    FabricHelper helper;
    helper.SetFabricAttribute("SwitchBuffer", UintegerValue(300000));
    helper.SetFabricAttribute("EcnMinBytes", UintegerValue(5000));
    helper.SetFabricAttribute("EcnMaxBytes", UintegerValue(20000));
    return helper;
}

/// @param file a text file @return its lines
inline std::vector<std::string>
ReadLines(const std::string& file)
{
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
    {
        lines.push_back(line);
    }
    return lines;
}

/// @param line of a table @param separator of its cells @return the cells
inline std::vector<std::string>
SplitLine(const std::string& line, char separator)
{
    std::vector<std::string> cells(1);
    for (char c : line)
    {
        if (c == separator)
        {
            cells.emplace_back();
        }
        else
        {
            cells.back() += c;
        }
    }
    return cells;
}

} // namespace incasttest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_INCAST_TEST_TOOLS_H
