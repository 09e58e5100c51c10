/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/callback.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/proteus-fabric-channel.h"
#include "ns3/proteus-fabric-helper.h"
#include "ns3/proteus-frame.h"
#include "ns3/proteus-simulator-time.h"
#include "ns3/proteus-transport.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
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
FabricHelper
MakeTightHelper()
{
    FabricHelper helper;
    helper.SetFabricAttribute("SwitchBuffer", UintegerValue(300000));
    helper.SetFabricAttribute("EcnMinBytes", UintegerValue(5000));
    helper.SetFabricAttribute("EcnMaxBytes", UintegerValue(20000));
    return helper;
}

/// Counts what trace sources of devices say.
struct EventCounter
{
    uint64_t counts[N_PORT_EVENTS]{};                 //!< by PortEvent, of all ports
    std::map<PortId, uint64_t> byPort[N_PORT_EVENTS]; //!< the same, by port
    std::map<PortId, uint64_t> depth;                 //!< last queue depth by port and class
    std::map<PortId, uint64_t> maxDepth;              //!< the same
    std::set<std::string> contexts;                   //!< seen
    uint64_t nWrongTimes{0};                          //!< callbacks at another time than Now()

    template <PortEvent EVENT>
    void Count(std::string context, PortId port, const PacketRecord&, int64_t timePs)
    {
        contexts.insert(context);
        ++counts[static_cast<uint32_t>(EVENT)];
        ++byPort[static_cast<uint32_t>(EVENT)][port];
        nWrongTimes += Simulator::Now() == CeilToStep(timePs) ? 0 : 1;
    }

    void CountDepth(std::string /* context */,
                    PortId port,
                    uint32_t trafficClass,
                    uint64_t bytes,
                    int64_t timePs)
    {
        uint64_t& last = depth[port * MAX_TRAFFIC_CLASSES + trafficClass];
        last = bytes;
        maxDepth[port] = std::max(maxDepth[port], bytes);
        nWrongTimes += Simulator::Now() == CeilToStep(timePs) ? 0 : 1;
    }

    /// @param event a kind @param port a port @return how often
    uint64_t Get(PortEvent event, PortId port)
    {
        return byPort[static_cast<uint32_t>(event)][port];
    }

    /// @param event a kind @return how often
    uint64_t Get(PortEvent event) const
    {
        return counts[static_cast<uint32_t>(event)];
    }

    /// Connects to all devices there are. @param connect or disconnect
    void Attach(bool connect)
    {
        const auto hook = [connect](const std::string& name, const CallbackBase& sink) {
            const std::string path = "/NodeList/*/DeviceList/*/$ns3::proteus::FabricDevice/" + name;
            if (connect)
            {
                Config::Connect(path, sink);
            }
            else
            {
                Config::Disconnect(path, sink);
            }
        };
        hook("Transmit", MakeCallback(&EventCounter::Count<PortEvent::TRANSMIT>, this));
        hook("Receive", MakeCallback(&EventCounter::Count<PortEvent::RECEIVE>, this));
        hook("Enqueue", MakeCallback(&EventCounter::Count<PortEvent::ENQUEUE>, this));
        hook("Dequeue", MakeCallback(&EventCounter::Count<PortEvent::DEQUEUE>, this));
        hook("Drop", MakeCallback(&EventCounter::Count<PortEvent::DROP>, this));
        hook("Mark", MakeCallback(&EventCounter::Count<PortEvent::MARK>, this));
        hook("Pause", MakeCallback(&EventCounter::Count<PortEvent::PAUSE>, this));
        hook("Resume", MakeCallback(&EventCounter::Count<PortEvent::RESUME>, this));
        hook("CreditStall", MakeCallback(&EventCounter::Count<PortEvent::CREDIT_STALL>, this));
        hook("QueueDepth", MakeCallback(&EventCounter::CountDepth, this));
    }
};

/// @param file a text file @return its lines
std::vector<std::string>
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
std::vector<std::string>
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

/// @param command of the shell @return the lines that it prints
std::vector<std::string>
RunCommand(const std::string& command)
{
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    for (std::size_t n; pipe != nullptr && (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    {
        text.append(buffer.data(), n);
    }
    if (pipe != nullptr)
    {
        pclose(pipe);
    }
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
    {
        lines.push_back(line);
    }
    return lines;
}

/// @return whether tshark is there; says so if not
bool
HasTshark()
{
    if (RunCommand("tshark --version 2>/dev/null").empty())
    {
        std::cout << "tshark is not installed: its view of the captures is not tested" << std::endl;
        return false;
    }
    return true;
}

/**
 * @param file a capture
 * @param fields of Wireshark
 * @param options of tshark
 * @return per frame, the values of the fields
 */
std::vector<std::vector<std::string>>
Dissect(const std::string& file, const std::vector<std::string>& fields, const std::string& options)
{
    std::string command = "tshark " + options + " -r '" + file +
                          "' -o ip.check_checksum:TRUE -o frame.generate_md5_hash:FALSE -T fields "
                          "-E separator=/s -E occurrence=f -E separator='|'";
    for (const std::string& field : fields)
    {
        command += " -e " + field;
    }
    std::vector<std::vector<std::string>> frames;
    for (const std::string& line : RunCommand(command + " 2>/dev/null"))
    {
        frames.push_back(SplitLine(line, '|'));
    }
    return frames;
}

/// @param text a decimal or hexadecimal number @return it
uint64_t
ToNumber(const std::string& text)
{
    return text.empty() ? UINT64_MAX : std::stoull(text, nullptr, 0);
}

/// What a device sends and receives, as the test expects to find it in its capture.
struct UnitLog
{
    struct Unit
    {
        PortId port;
        PacketRecord record;
        int64_t timePs;
    };

    std::vector<Unit> units;

    void Note(PortId port, const PacketRecord& record, int64_t timePs)
    {
        units.push_back({port, record, timePs});
    }
};

} // namespace

/**
 * @ingroup proteus-tests
 * Trace sources of devices say as often what happened as the statistics do, at the right time.
 */
class ProteusTraceCounts : public TestCase
{
  public:
    /// @param technology of the links @param lossProbability of each
    ProteusTraceCounts(LinkTechnology technology, double lossProbability)
        : TestCase(std::string("trace sources agree with statistics, ") + ToString(technology) +
                   (lossProbability > 0 ? ", losses" : "")),
          m_technology(technology),
          m_lossProbability(lossProbability)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper = MakeTightHelper();
        helper.SetFabricAttribute("InfinibandBuffer", UintegerValue(20000));
        std::vector<std::pair<uint32_t, int64_t>> expected;
        {
            Incast plain(m_technology, helper);
            SetLoss(plain.fabric);
            plain.Run();
            expected = plain.times;
        }
        Incast incast(m_technology, helper);
        SetLoss(incast.fabric);
        const NetDeviceContainer devices = helper.InstallDevices(incast.fabric);
        NS_TEST_ASSERT_MSG_EQ(devices.GetN(), incast.fabric->GetNPorts(), "a device per port");
        EventCounter counter;
        counter.Attach(true);
        incast.Run();
        NS_TEST_ASSERT_MSG_EQ((incast.times == expected), true, "traces change results");
        NS_TEST_ASSERT_MSG_EQ(counter.nWrongTimes, 0, "Now() is not the time of the trace");

        uint64_t stalls = 0;
        for (PortId port = 0; port < incast.fabric->GetNPorts(); ++port)
        {
            const LinkStatistics& statistics = incast.fabric->GetStatistics(port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::TRANSMIT, port),
                                  statistics.packets,
                                  "transmissions of port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::RECEIVE, port),
                                  statistics.receivedPackets,
                                  "arrivals of port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::DROP, port),
                                  statistics.lostPackets + statistics.droppedPackets,
                                  "drops of port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::MARK, port),
                                  statistics.markedPackets,
                                  "marks of port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::PAUSE, port),
                                  statistics.pauses,
                                  "pauses of port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::RESUME, port),
                                  statistics.pauses,
                                  "resumptions of port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.Get(PortEvent::ENQUEUE, port),
                                  counter.Get(PortEvent::DEQUEUE, port),
                                  "what waits goes on, port " << port);
            NS_TEST_ASSERT_MSG_EQ(counter.maxDepth[port],
                                  statistics.maxQueueBytes,
                                  "deepest queue of port " << port);
            stalls += statistics.creditStallPs > 0 ? 1 : 0;
        }
        for (const auto& [lane, bytes] : counter.depth)
        {
            NS_TEST_ASSERT_MSG_EQ(bytes, 0, "lane " << lane << " is empty in the end");
        }
        const bool roce = m_technology == LinkTechnology::ROCE;
        NS_TEST_ASSERT_MSG_EQ((counter.Get(PortEvent::PAUSE) > 0), roce, "there are pauses");
        NS_TEST_ASSERT_MSG_EQ((counter.Get(PortEvent::MARK) > 0), roce, "there are marks");
        NS_TEST_ASSERT_MSG_EQ((counter.Get(PortEvent::CREDIT_STALL) > 0),
                              !roce,
                              "there is want of credits");
        NS_TEST_ASSERT_MSG_EQ((stalls > 0), !roce, "and it takes time");
        NS_TEST_ASSERT_MSG_EQ((counter.Get(PortEvent::DROP) > 0),
                              (m_lossProbability > 0),
                              "there are losses");
        // Contexts are paths: the first host's only device receives.
        std::ostringstream path;
        path << "/NodeList/" << incast.fabric->GetNodes().Get(0)->GetId()
             << "/DeviceList/0/$ns3::proteus::FabricDevice/Receive";
        NS_TEST_ASSERT_MSG_EQ(counter.contexts.count(path.str()), 1, "context of a sink");
    }

    /// @param fabric all links of which are to lose units
    void SetLoss(Ptr<Fabric> fabric) const
    {
        for (LinkId link = 0; link < fabric->GetNPorts() / 2; ++link)
        {
            fabric->SetLinkLoss(link, m_lossProbability, 0);
        }
    }

    LinkTechnology m_technology; //!< of all links
    double m_lossProbability;    //!< of all links
};

/**
 * @ingroup proteus-tests
 * Devices without sinks cost the engine nothing, also after sinks have gone.
 */
class ProteusUnconnectedDevices : public TestCase
{
  public:
    ProteusUnconnectedDevices()
        : TestCase("devices without sinks cost the engine nothing")
    {
    }

  private:
    /// What a run took.
    struct Work
    {
        uint64_t fabricEvents;
        uint64_t simulatorEvents;
        std::vector<std::pair<uint32_t, int64_t>> times;
    };

    /// @param withDevices whether to make devices @param withSinks whether to connect sinks
    /// @param disconnect whether to disconnect them again @return what it took
    Work Measure(bool withDevices, bool withSinks, bool disconnect)
    {
        const FabricHelper helper;
        Incast incast(LinkTechnology::ROCE, helper);
        EventCounter counter;
        if (withDevices)
        {
            helper.InstallDevices(incast.fabric);
        }
        if (withSinks)
        {
            counter.Attach(true);
        }
        if (disconnect)
        {
            counter.Attach(false);
        }
        Simulator::Run(); // ns-3 initialises nodes and devices
        const uint64_t before = Simulator::GetEventCount();
        incast.Run();
        NS_TEST_EXPECT_MSG_EQ((counter.Get(PortEvent::TRANSMIT) > 0),
                              (withSinks && !disconnect),
                              "sinks are called while they are connected");
        return {incast.fabric->GetEventCount(), Simulator::GetEventCount() - before, incast.times};
    }

    void DoRun() override
    {
        const Work plain = Measure(false, false, false);
        for (bool withSinks : {false, true})
        {
            const Work work = Measure(true, withSinks, withSinks);
            NS_TEST_ASSERT_MSG_EQ(work.fabricEvents, plain.fabricEvents, "events of the fabric");
            NS_TEST_ASSERT_MSG_EQ(work.simulatorEvents,
                                  plain.simulatorEvents,
                                  "events of the simulator");
            NS_TEST_ASSERT_MSG_EQ((work.times == plain.times), true, "times");
        }
        const Work traced = Measure(true, true, false);
        NS_TEST_ASSERT_MSG_EQ(traced.fabricEvents, plain.fabricEvents, "events when traced");
        NS_TEST_ASSERT_MSG_GT(traced.simulatorEvents,
                              plain.simulatorEvents + traced.fabricEvents / 4,
                              "traced, each time step is an event");
        NS_TEST_ASSERT_MSG_EQ((traced.times == plain.times), true, "times when traced");
    }
};

/**
 * @ingroup proteus-tests
 * Devices and channels as other parts of ns-3 see them.
 */
class ProteusDeviceAttributes : public TestCase
{
  public:
    ProteusDeviceAttributes()
        : TestCase("attributes of devices and channels")
    {
    }

  private:
    void DoRun() override
    {
        const FabricHelper helper;
        int64_t plainEndPs = 0;
        {
            Incast incast(LinkTechnology::ROCE, helper);
            incast.Run();
            plainEndPs = incast.times.back().second;
        }
        Incast incast(LinkTechnology::ROCE, helper);
        const PortId port = incast.fabric->GetPort(0, 0);
        NS_TEST_ASSERT_MSG_EQ((FabricHelper::GetDevice(incast.fabric, port) == nullptr),
                              true,
                              "no device yet");
        Ptr<FabricDevice> device = helper.InstallDevice(incast.fabric, port);
        NS_TEST_ASSERT_MSG_EQ(helper.InstallDevice(incast.fabric, port), device, "made once");
        Ptr<Channel> channel = device->GetChannel();
        NS_TEST_ASSERT_MSG_EQ(channel->GetNDevices(), 2, "ends of a channel");
        Ptr<NetDevice> peer = channel->GetDevice(channel->GetDevice(0) == device ? 1 : 0);
        NS_TEST_ASSERT_MSG_EQ(peer->GetNode(),
                              incast.fabric->GetNodes().Get(N_HOSTS),
                              "the switch");
        NS_TEST_ASSERT_MSG_EQ(device->GetNode()->GetNDevices(), 1, "devices of the host");
        NS_TEST_ASSERT_MSG_EQ(peer->GetNode()->GetNDevices(), 1, "devices of the switch so far");
        NodeContainer hosts;
        hosts.Add(incast.fabric->GetNodes().Get(0));
        hosts.Add(incast.fabric->GetNodes().Get(1));
        NS_TEST_ASSERT_MSG_EQ(helper.InstallDevices(incast.fabric, hosts).GetN(), 2, "of hosts");
        NS_TEST_ASSERT_MSG_EQ(helper.InstallDevices(incast.fabric).GetN(), 2 * N_HOSTS, "of all");
        NS_TEST_ASSERT_MSG_EQ(peer->GetNode()->GetNDevices(), N_HOSTS, "devices of the switch");
        NS_TEST_ASSERT_MSG_EQ(device->IsPointToPoint(), true, "point to point");
        NS_TEST_ASSERT_MSG_EQ((device->GetAddress() != peer->GetAddress()), true, "addresses");

        TimeValue delay;
        channel->GetAttribute("Delay", delay);
        NS_TEST_ASSERT_MSG_EQ(delay.Get(), NanoSeconds(500), "delay of the channel");
        device->GetAttribute("Delay", delay);
        NS_TEST_ASSERT_MSG_EQ(delay.Get(), NanoSeconds(500), "delay of the device");
        NS_TEST_ASSERT_MSG_EQ(channel->SetAttributeFailSafe("Delay", TimeValue(NanoSeconds(1))),
                              false,
                              "the cluster says the delay");
        UintegerValue mtu;
        device->GetAttribute("Mtu", mtu);
        NS_TEST_ASSERT_MSG_EQ(mtu.Get(), 4096, "MTU");
        DataRateValue rate;
        device->GetAttribute("DataRate", rate);
        NS_TEST_ASSERT_MSG_EQ(rate.Get(), DataRate("100Gb/s"), "rate");

        NS_TEST_ASSERT_MSG_EQ(device->Send(Create<Packet>(100), device->GetAddress(), 0x0800),
                              false,
                              "ns-3 packets are refused");

        device->SetAttribute("DataRate", DataRateValue(DataRate("50Gb/s")));
        peer->GetAttribute("DataRate", rate);
        NS_TEST_ASSERT_MSG_EQ(rate.Get(), DataRate("50Gb/s"), "rate of the link");
        NS_TEST_ASSERT_MSG_EQ(device->SetAttributeFailSafe("DataRate", DataRateValue(DataRate(0))),
                              false,
                              "a link has a rate");
        device->SetAttribute("LossProbability", DoubleValue(0.5));
        device->SetAttribute("BitErrorRate", DoubleValue(1e-9));
        DoubleValue probability;
        peer->GetAttribute("LossProbability", probability);
        NS_TEST_ASSERT_MSG_EQ(probability.Get(), 0.5, "losses of the link");
        peer->GetAttribute("BitErrorRate", probability);
        NS_TEST_ASSERT_MSG_EQ(probability.Get(), 1e-9, "bit errors of the link");
        device->SetAttribute("LossProbability", DoubleValue(0));
        device->SetAttribute("BitErrorRate", DoubleValue(0));

        uint32_t nChanges = 0;
        m_nChanges = &nChanges;
        device->AddLinkChangeCallback(MakeCallback(&ProteusDeviceAttributes::CountChange, this));
        incast.fabric->SetLinkUp(port / 2, false);
        NS_TEST_ASSERT_MSG_EQ(device->IsLinkUp(), false, "the link has failed");
        incast.fabric->SetLinkUp(port / 2, true);
        incast.fabric->SetLinkUp(port / 2 + 1, false); // another one
        incast.fabric->SetLinkUp(port / 2 + 1, true);
        NS_TEST_ASSERT_MSG_EQ(device->IsLinkUp(), true, "the link is repaired");
        NS_TEST_ASSERT_MSG_EQ(nChanges, 2, "changes of the link");

        incast.Run();
        const double ratio =
            static_cast<double>(incast.times.back().second) / static_cast<double>(plainEndPs);
        NS_TEST_ASSERT_MSG_EQ_TOL(ratio, 2, 0.05, "half the rate, twice the time");
    }

    /// A link has changed.
    void CountChange()
    {
        ++*m_nChanges;
    }

    uint32_t* m_nChanges{nullptr}; //!< where to count
};

/**
 * @ingroup proteus-tests
 * tshark reads in a capture what the fabric carried.
 */
class ProteusCapture : public TestCase
{
  public:
    /// @param technology of the links @param operation how data is shown
    ProteusCapture(LinkTechnology technology, DataOperation operation)
        : TestCase(std::string("captures of ") + ToString(technology) + " are what was carried" +
                   (operation == DataOperation::SEND ? ", as SEND" : "")),
          m_technology(technology),
          m_operation(operation),
          m_captureBytes(operation == DataOperation::SEND ? 65535 : 128)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper = MakeTightHelper();
        helper.SetFabricAttribute("InfinibandEcn", BooleanValue(true));
        helper.SetDataOperation(m_operation);
        helper.SetCaptureSize(m_captureBytes);
        const std::string prefix = CreateTempDirFilename("capture");
        std::vector<UnitLog> logs(2);
        std::vector<std::string> files;
        std::vector<PortId> ports;
        std::vector<uint64_t> hashes;
        {
            Incast incast(m_technology,
                          helper,
                          m_technology == LinkTechnology::ROCE ? "dcqcn" : "none");
            const NetDeviceContainer devices = helper.InstallDevices(incast.fabric);
            helper.EnablePcapAll(prefix);
            // The receiver, and one of the senders.
            for (VertexId host : {0, 1})
            {
                const PortId port = incast.fabric->GetPort(host, 0);
                Ptr<FabricDevice> device = FabricHelper::GetDevice(incast.fabric, port);
                for (const char* source : {"Transmit", "Receive"})
                {
                    device->TraceConnectWithoutContext(source,
                                                       MakeCallback(&UnitLog::Note, &logs[host]));
                }
                std::ostringstream name;
                name << prefix << "-" << device->GetNode()->GetId() << "-" << device->GetIfIndex()
                     << ".pcap";
                files.push_back(name.str());
                ports.push_back(port);
            }
            for (uint32_t i = 0; i < devices.GetN(); ++i)
            {
                std::ostringstream name;
                name << prefix << "-" << devices.Get(i)->GetNode()->GetId() << "-"
                     << devices.Get(i)->GetIfIndex() << ".pcap";
                NS_TEST_ASSERT_MSG_EQ(std::ifstream(name.str()).good(), true, "a file per device");
            }
            incast.Run(true);
        }
        if (!HasTshark())
        {
            return;
        }
        std::map<uint64_t, uint64_t> seen; // opcodes; 0x100 for PFC
        for (std::size_t i = 0; i < files.size(); ++i)
        {
            Compare(logs[i], ports[i], files[i], seen);
        }
        const bool write = m_operation == DataOperation::RDMA_WRITE;
        for (uint64_t opcode : {write ? 0x06 : 0x00,
                                write ? 0x07 : 0x01,
                                write ? 0x08 : 0x02,
                                write ? 0x0a : 0x04,
                                0x0b,
                                0x11})
        {
            NS_TEST_ASSERT_MSG_GT(seen[opcode], 0, "frames of opcode " << opcode);
        }
        if (m_technology == LinkTechnology::ROCE)
        {
            NS_TEST_ASSERT_MSG_GT(seen[0x81], 0, "congestion notifications");
            NS_TEST_ASSERT_MSG_GT(seen[0x100], 0, "pauses");
        }
    }

    /**
     * @param log what was carried
     * @param port of the device
     * @param file its capture
     * @param seen to count opcodes in
     */
    void Compare(const UnitLog& log,
                 PortId port,
                 const std::string& file,
                 std::map<uint64_t, uint64_t>& seen)
    {
        const bool roce = m_technology == LinkTechnology::ROCE;

        enum Field
        {
            TIME,
            LENGTH,
            CAPTURED,
            MALFORMED,
            OPCODE,
            PSN,
            DESTINATION_QP,
            ACK_REQUEST,
            PAD,
            DMA_LENGTH,
            SYNDROME,
            IMMEDIATE,
            INFORMATION,
            FIRST_ROUTE, // the rest differs
        };

        std::vector<std::string> fields{"frame.time_epoch",
                                        "frame.len",
                                        "frame.cap_len",
                                        "_ws.malformed",
                                        "infiniband.bth.opcode",
                                        "infiniband.bth.psn",
                                        "infiniband.bth.destqp",
                                        "infiniband.bth.a",
                                        "infiniband.bth.padcnt",
                                        "infiniband.reth.dmalen",
                                        "infiniband.aeth.syndrome.opcode",
                                        "infiniband.immdt",
                                        "_ws.col.Info"};
        const std::vector<std::string> roceFields{"ip.src",
                                                  "ip.dst",
                                                  "ip.dsfield.ecn",
                                                  "ip.dsfield.dscp",
                                                  "ip.checksum.status",
                                                  "udp.dstport",
                                                  "udp.srcport",
                                                  "ip.len",
                                                  "udp.length",
                                                  "macc.opcode",
                                                  "macc.cbfc.enbv",
                                                  "macc.cbfc.pause_time.c1",
                                                  "eth.dst"};
        const std::vector<std::string> infinibandFields{"infiniband.lrh.slid",
                                                        "infiniband.lrh.dlid",
                                                        "infiniband.lrh.vl",
                                                        "infiniband.lrh.sl",
                                                        "infiniband.lrh.pktlen"};
        const auto& more = roce ? roceFields : infinibandFields;
        fields.insert(fields.end(), more.begin(), more.end());
        // Wireshark guesses that short SENDs are calls of RPC over RDMA.
        const auto frames =
            Dissect(file,
                    fields,
                    m_operation == DataOperation::SEND ? "--disable-protocol rpcordma" : "");
        NS_TEST_ASSERT_MSG_EQ(frames.size(), log.units.size(), "frames in " << file);
        for (std::size_t i = 0; i < frames.size(); ++i)
        {
            const UnitLog::Unit& unit = log.units[i];
            const PacketRecord& record = unit.record;
            const auto& frame = frames[i];
            NS_TEST_ASSERT_MSG_EQ(frame.size(), fields.size(), "fields of frame " << i);
            const auto number = [&](int field) { return ToNumber(frame[field]); };
            NS_TEST_ASSERT_MSG_EQ(frame[MALFORMED], "", "frame " << i << " is malformed");
            NS_TEST_ASSERT_MSG_EQ_TOL(std::stod(frame[TIME]) * 1e9,
                                      static_cast<double>(unit.timePs) * 1e-3,
                                      1.01,
                                      "time of frame " << i);
            if (record.kind == PacketKind::PAUSE)
            {
                ++seen[0x100];
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 9), 0x0101, "PFC");
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 10), 1u << record.sequence, "classes");
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 11),
                                      (record.content != 0 ? 65535u : 0u),
                                      "time of the pause");
                NS_TEST_ASSERT_MSG_EQ(frame[FIRST_ROUTE + 12], "01:80:c2:00:00:01", "address");
                NS_TEST_ASSERT_MSG_EQ(number(LENGTH), 60, "shortest frame");
                continue;
            }
            const uint64_t opcode = number(OPCODE);
            ++seen[opcode];
            const bool data = record.kind == PacketKind::DATA;
            const bool acknowledgement = record.kind == PacketKind::ACKNOWLEDGE ||
                                         record.kind == PacketKind::NEGATIVE_ACKNOWLEDGE;
            const bool control = record.kind == PacketKind::CONTROL;
            const bool forward = data || (record.flags & PacketRecord::TURNED) != 0;
            const bool first = (record.flags & PacketRecord::FIRST) != 0;
            const bool last = (record.flags & PacketRecord::LAST) != 0;
            const bool marked = (record.flags & PacketRecord::CONGESTION_EXPERIENCED) != 0;
            const bool write = m_operation == DataOperation::RDMA_WRITE;
            uint64_t expected = acknowledgement ? 0x11 : control ? 0x0b : roce ? 0x81 : 0x80;
            if (data && write)
            {
                expected = first && last ? 0x0a : first ? 0x06 : last ? 0x08 : 0x07;
            }
            else if (data)
            {
                expected = first && last ? 0x04 : first ? 0x00 : last ? 0x02 : 0x01;
            }
            NS_TEST_ASSERT_MSG_EQ(opcode, expected, "opcode of frame " << i);
            const uint64_t psn = record.kind == PacketKind::ACKNOWLEDGE ? record.sequence - 1
                                 : record.kind == PacketKind::CONGESTION_NOTIFICATION
                                     ? 0
                                     : record.sequence;
            NS_TEST_ASSERT_MSG_EQ(number(PSN), (psn & 0xffffff), "PSN of frame " << i);
            NS_TEST_ASSERT_MSG_EQ(number(DESTINATION_QP),
                                  16 + 2 * record.queuePair + (forward ? 1 : 0),
                                  "queue pair of frame " << i);
            const bool request = control || (record.flags & PacketRecord::ACK_REQUEST) != 0;
            NS_TEST_ASSERT_MSG_EQ((frame[ACK_REQUEST] == "1" || frame[ACK_REQUEST] == "True"),
                                  request,
                                  "acknowledge request of frame " << i);
            const uint32_t pad = data ? (4 - record.payloadBytes % 4) % 4 : 0;
            NS_TEST_ASSERT_MSG_EQ(number(PAD), pad, "padding of frame " << i);
            const bool reth = control || (data && first && write);
            NS_TEST_ASSERT_MSG_EQ(frame[DMA_LENGTH].empty(), !reth, "RETH in frame " << i);
            if (reth)
            {
                NS_TEST_ASSERT_MSG_EQ(number(DMA_LENGTH),
                                      (control ? 0
                                       : last  ? 10
                                               : MESSAGE_BYTES),
                                      "length of the message");
            }
            NS_TEST_ASSERT_MSG_EQ(frame[SYNDROME].empty(), !acknowledgement, "AETH in frame " << i);
            NS_TEST_ASSERT_MSG_EQ(frame[IMMEDIATE].empty(), !control, "immediate data " << i);
            if (control)
            {
                NS_TEST_ASSERT_MSG_EQ(std::stoull(frame[IMMEDIATE], nullptr, 16),
                                      CONTROL_VALUE,
                                      "value of the control unit");
            }
            const uint32_t extension = control                                              ? 20
                                       : reth                                               ? 16
                                       : acknowledgement                                    ? 4
                                       : record.kind == PacketKind::CONGESTION_NOTIFICATION ? 16
                                                                                            : 0;
            const uint32_t payload = data ? record.payloadBytes : 0;
            const uint32_t bthBytes = 12 + extension + payload + pad + 4;

            // What is sent by this device comes from its host, and the other way round.
            const bool sent = unit.port == port;
            const VertexId here = port == 0 ? 0 : 1;
            const VertexId peer = here == 0 ? record.queuePair + 1 : 0;
            const VertexId from = sent ? here : peer;
            const VertexId to = sent ? peer : here;
            if (roce)
            {
                std::ostringstream source;
                std::ostringstream destination;
                GetIpAddress(from).Print(source);
                GetIpAddress(to).Print(destination);
                NS_TEST_ASSERT_MSG_EQ(frame[FIRST_ROUTE], source.str(), "source of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(frame[FIRST_ROUTE + 1],
                                      destination.str(),
                                      "destination of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 2),
                                      (!data    ? 0u
                                       : marked ? 3u
                                                : 2u),
                                      "ECN of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 3),
                                      8u * record.trafficClass,
                                      "DSCP of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(frame[FIRST_ROUTE + 4], "1", "IP checksum of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 5), 4791, "UDP port of frame " << i);
                NS_TEST_ASSERT_MSG_GT(number(FIRST_ROUTE + 6), 49151, "port of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 7), 28 + bthBytes, "IP length");
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 8), 8 + bthBytes, "UDP length");
                NS_TEST_ASSERT_MSG_EQ(number(LENGTH), 42 + bthBytes, "length of frame " << i);
            }
            else
            {
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE), GetLid(from), "source of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 1),
                                      GetLid(to),
                                      "destination of frame " << i);
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 2), record.trafficClass, "lane");
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 3), record.trafficClass, "level");
                NS_TEST_ASSERT_MSG_EQ(number(FIRST_ROUTE + 4), (8 + bthBytes) / 4, "length");
                NS_TEST_ASSERT_MSG_EQ(number(LENGTH), 8 + bthBytes + 2, "length of frame " << i);
            }
            NS_TEST_ASSERT_MSG_LT_OR_EQ(number(CAPTURED),
                                        m_captureBytes,
                                        "captured part of frame " << i);
            // Of payload that is not captured, Wireshark says so in the information column.
            NS_TEST_ASSERT_MSG_EQ((frame[INFORMATION].find("Malformed") == std::string::npos),
                                  (number(CAPTURED) == number(LENGTH)),
                                  "frame " << i << ": " << frame[INFORMATION]);
            NS_TEST_ASSERT_MSG_EQ((number(CAPTURED) < number(LENGTH)),
                                  (number(LENGTH) + (roce ? 0 : 16) > m_captureBytes),
                                  "payload is not captured, frame " << i);
        }
    }

    LinkTechnology m_technology; //!< of all links
    DataOperation m_operation;   //!< how data is shown
    uint32_t m_captureBytes;     //!< of every frame
};

/**
 * @ingroup proteus-tests
 * Checksums of frames that are captured whole.
 */
class ProteusFrameChecksums : public TestCase
{
  public:
    ProteusFrameChecksums()
        : TestCase("invariant CRC of whole frames")
    {
    }

  private:
    /// @param bytes to run over @param crc so far @return reflected CRC-32, bit by bit
    static uint32_t Crc32(const std::vector<uint8_t>& bytes, uint32_t crc = 0xffffffff)
    {
        for (uint8_t byte : bytes)
        {
            crc ^= byte;
            for (int bit = 0; bit < 8; ++bit)
            {
                crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
            }
        }
        return crc;
    }

    void DoRun() override
    {
        // The method itself, by the packet that the InfiniBand Architecture Specification works
        // out: virtual lane 7, 24 bytes of payload, whose ICRC is 96 25 b7 5a.
        std::vector<uint8_t> sample{
            0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00,
            0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d,
            0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d,
            0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00};
        sample[0] |= 0xf0;
        sample[12] = 0xff;
        NS_TEST_ASSERT_MSG_EQ(~Crc32(sample), 0x5ab72596, "the specification's own packet");

        // Ours: over an intact packet and its CRC the register ends with a constant.
        for (LinkTechnology technology : {LinkTechnology::ROCE, LinkTechnology::INFINIBAND})
        {
            Incast incast(technology);
            const FrameWriter writer(incast.fabric);
            PacketRecord record;
            record.payloadBytes = 13;
            record.destination = 0;
            record.sequence = 7;
            record.trafficClass = 1;
            record.flags = PacketRecord::FIRST | PacketRecord::LAST;
            std::vector<uint8_t> frame;
            const PortId port = incast.fabric->GetPort(1, 0);
            const uint32_t length = writer.Write(port, record, 1234567, 65535, frame);
            NS_TEST_ASSERT_MSG_EQ(length, frame.size(), "a whole frame");
            std::vector<uint8_t> covered;
            if (technology == LinkTechnology::ROCE)
            {
                covered.assign(8, 0xff);
                covered.insert(covered.end(), frame.begin() + 14, frame.end());
                for (uint32_t i : {1, 8, 10, 11, 26, 27, 32})
                {
                    covered[8 + i] = 0xff;
                }
            }
            else
            {
                covered.assign(frame.begin() + 16, frame.end() - 2);
                covered[0] |= 0xf0;
                covered[12] = 0xff;
            }
            NS_TEST_ASSERT_MSG_EQ(Crc32(covered), 0xdebb20e3, ToString(technology));
            // A short capture is the beginning of a long one.
            std::vector<uint8_t> part;
            NS_TEST_ASSERT_MSG_EQ(writer.Write(port, record, 1234567, 50, part), length, "length");
            if (technology == LinkTechnology::ROCE) // ERF records tell what was captured
            {
                NS_TEST_ASSERT_MSG_EQ(std::equal(part.begin(), part.end(), frame.begin()),
                                      true,
                                      "beginning of the frame");
            }
            NS_TEST_ASSERT_MSG_EQ(part.size(), 50, "captured bytes");
        }
    }
};

/**
 * @ingroup proteus-tests
 * What captures cannot show is refused or left out.
 */
class ProteusCaptureLimits : public TestCase
{
  public:
    ProteusCaptureLimits()
        : TestCase("what captures cannot show")
    {
    }

  private:
    void DoRun() override
    {
        const std::string prefix = CreateTempDirFilename("limits");
        FabricHelper helper;
        {
            Incast incast(LinkTechnology::NVLINK, helper);
            const NetDeviceContainer devices = helper.InstallDevices(incast.fabric);
            helper.EnablePcap(prefix, devices);
            std::ostringstream name;
            name << prefix << "-" << devices.Get(0)->GetNode()->GetId() << "-0.pcap";
            NS_TEST_ASSERT_MSG_EQ(std::ifstream(name.str()).good(), false, "NVLink has no capture");
            NS_TEST_ASSERT_MSG_EQ(DynamicCast<FabricDevice>(devices.Get(0))->WatchesSending(),
                                  false,
                                  "nor a sink");
        }
        helper.SetFabricAttribute("TrainPackets", UintegerValue(4));
        {
            Incast incast(LinkTechnology::ROCE, helper);
            const NetDeviceContainer devices = helper.InstallDevices(incast.fabric);
            ExpectRefusal([&] { helper.EnablePcap(prefix, devices); }, "TrainPackets");
            ExpectRefusal([&] { helper.EnablePcap("/no/such/folder/x", devices); }, "");
        }
        ExpectRefusal([&] { helper.SetCaptureSize(20); }, "96");
        ExpectRefusal(
            [&] {
                Incast incast(LinkTechnology::ROCE);
                helper.EnableLinkSeries(incast.fabric, "/no/such/folder/x.csv", MicroSeconds(1));
            },
            "/no/such/folder/x.csv");
    }

    /// @param what to do @param part of the message that it must end with
    void ExpectRefusal(const std::function<void()>& what, const std::string& part)
    {
        try
        {
            what();
            NS_TEST_EXPECT_MSG_EQ(true, false, "no refusal, which should name " << part);
        }
        catch (const std::exception& error)
        {
            NS_TEST_EXPECT_MSG_NE(std::string(error.what()).find(part),
                                  std::string::npos,
                                  error.what());
        }
    }
};

/**
 * @ingroup proteus-tests
 * Ascii traces have a line per event.
 */
class ProteusAsciiTrace : public TestCase
{
  public:
    ProteusAsciiTrace()
        : TestCase("ascii traces have a line per event")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper helper = MakeTightHelper();
        const std::string file = CreateTempDirFilename("all.tr");
        const std::string prefix = CreateTempDirFilename("ascii");
        std::string own;
        uint64_t packets = 0;
        uint64_t received = 0;
        uint64_t ownPackets = 0;
        uint64_t ownReceived = 0;
        EventCounter counter;
        std::string firstTime;
        {
            Incast incast(LinkTechnology::ROCE, helper);
            incast.fabric->SetLinkLoss(0, 0.1, 0);
            const NetDeviceContainer devices = helper.InstallDevices(incast.fabric);
            counter.Attach(true);
            AsciiTraceHelper ascii;
            helper.EnableAsciiAll(ascii.CreateFileStream(file));
            helper.EnableAscii(prefix, devices.Get(0));
            std::ostringstream name;
            name << prefix << "-" << devices.Get(0)->GetNode()->GetId() << "-0.tr";
            own = name.str();
            incast.Run();
            for (const LinkStatistics& link : incast.fabric->GetLinkStatistics())
            {
                packets += link.packets;
                received += link.receivedPackets;
            }
            ownPackets = incast.fabric->GetStatistics(0).packets;
            ownReceived = incast.fabric->GetStatistics(1).receivedPackets;
        }
        helper.FinishFiles();
        std::map<char, uint64_t> lines;
        double last = 0;
        for (const std::string& line : ReadLines(file))
        {
            ++lines[line.at(0)];
            const auto cells = SplitLine(line, ' ');
            NS_TEST_ASSERT_MSG_GT(cells.size(), 3, line);
            NS_TEST_ASSERT_MSG_EQ(cells[1].size() - cells[1].find('.') - 1, 12, "picoseconds");
            NS_TEST_ASSERT_MSG_EQ((std::stod(cells[1]) >= last), true, "in order: " << line);
            last = std::stod(cells[1]);
            NS_TEST_ASSERT_MSG_EQ(cells[2].find("/NodeList/"), 0, line);
            NS_TEST_ASSERT_MSG_NE(cells[2].find("/$ns3::proteus::FabricDevice/"),
                                  std::string::npos,
                                  line);
        }
        NS_TEST_ASSERT_MSG_EQ(lines['t'], packets, "lines of transmissions");
        NS_TEST_ASSERT_MSG_EQ(lines['r'], received, "lines of arrivals");
        NS_TEST_ASSERT_MSG_EQ(lines['+'], counter.Get(PortEvent::ENQUEUE), "lines of queueing");
        NS_TEST_ASSERT_MSG_EQ(lines['-'], counter.Get(PortEvent::DEQUEUE), "lines of dequeueing");
        NS_TEST_ASSERT_MSG_EQ(lines['d'], counter.Get(PortEvent::DROP), "lines of drops");
        NS_TEST_ASSERT_MSG_GT(lines['d'], 0, "there are drops");
        NS_TEST_ASSERT_MSG_GT(lines['+'], 0, "there are queues");

        lines.clear();
        for (const std::string& line : ReadLines(own))
        {
            ++lines[line.at(0)];
            NS_TEST_ASSERT_MSG_EQ(line.find("/NodeList/"), std::string::npos, line);
        }
        NS_TEST_ASSERT_MSG_EQ(lines['t'], ownPackets, "transmissions of one device");
        NS_TEST_ASSERT_MSG_EQ(lines['r'], ownReceived, "arrivals of one device");
    }
};

/**
 * @ingroup proteus-tests
 * Time series add up to the statistics, change nothing, and end by themselves.
 */
class ProteusTimeSeries : public TestCase
{
  public:
    /// @param technology of the links
    explicit ProteusTimeSeries(LinkTechnology technology)
        : TestCase(std::string("time series add up to the statistics, ") + ToString(technology)),
          m_technology(technology)
    {
    }

  private:
    /// Adds a sample to the sums.
    void AddLinkSample(const LinkSample& sample)
    {
        LinkStatistics& sum = m_sums[sample.port];
        sum.packets += sample.did.packets;
        sum.payloadBytes += sample.did.payloadBytes;
        sum.wireBytes += sample.did.wireBytes;
        sum.receivedPackets += sample.did.receivedPackets;
        sum.receivedPayloadBytes += sample.did.receivedPayloadBytes;
        sum.busyPs += sample.did.busyPs;
        sum.creditStallPs += sample.did.creditStallPs;
        sum.markedPackets += sample.did.markedPackets;
        sum.pauses += sample.did.pauses;
        sum.pausedPs += sample.did.pausedPs;
        m_nQueued += sample.queueBytes > 0 ? 1 : 0;
        m_mostUtilization = std::max(m_mostUtilization, sample.GetUtilization());
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sample.did.busyPs, sample.intervalPs, "share of time");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sample.did.pausedPs, sample.intervalPs, "share of pauses");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sample.did.creditStallPs, sample.intervalPs, "share of stalls");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(sample.did.busyPs, 0, "time goes on");
    }

    void DoRun() override
    {
        FabricHelper helper = MakeTightHelper();
        helper.SetFabricAttribute("InfinibandBuffer", UintegerValue(20000));
        const std::string control = m_technology == LinkTechnology::ROCE ? "dcqcn" : "none";
        std::vector<std::pair<uint32_t, int64_t>> expected;
        {
            Incast plain(m_technology, helper, control);
            plain.Run();
            expected = plain.times;
        }
        const std::string file = CreateTempDirFilename("links.csv");
        const std::string congestionFile = CreateTempDirFilename("congestion.csv");
        const Time interval = NanoSeconds(3700);
        std::vector<LinkStatistics> totals;
        std::vector<uint64_t> sentBytes;
        {
            Incast incast(m_technology, helper, control);
            m_sums.assign(incast.fabric->GetNPorts(), LinkStatistics());
            Ptr<LinkMonitor> monitor = helper.EnableLinkSeries(incast.fabric, file, interval);
            monitor->TraceConnectWithoutContext(
                "Sample",
                MakeCallback(&ProteusTimeSeries::AddLinkSample, this));
            helper.EnableCongestionSeries(incast.transport, congestionFile, MicroSeconds(2));
            incast.Run(); // two monitors, and it ends
            NS_TEST_ASSERT_MSG_EQ((incast.times == expected), true, "monitors change results");
            // After the last acknowledgement, only a timer may still be to come.
            NS_TEST_ASSERT_MSG_LT_OR_EQ(Simulator::Now(),
                                        PicoSeconds(expected.back().second) + interval +
                                            MicroSeconds(200),
                                        "it ends");
            totals = incast.fabric->GetLinkStatistics();
            for (uint32_t id = 0; id < incast.transport->GetNQueuePairs(); ++id)
            {
                sentBytes.push_back(incast.transport->GetStatistics(id).sentBytes);
            }
        }
        helper.FinishFiles();
        for (PortId port = 0; port < totals.size(); ++port)
        {
            const LinkStatistics& sum = m_sums[port];
            const LinkStatistics& total = totals[port];
            NS_TEST_ASSERT_MSG_EQ(sum.packets, total.packets, "packets of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.payloadBytes, total.payloadBytes, "payload of " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.wireBytes, total.wireBytes, "bytes of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.receivedPackets, total.receivedPackets, "arrivals " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.busyPs, total.busyPs, "time of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.creditStallPs, total.creditStallPs, "stalls of " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.markedPackets, total.markedPackets, "marks of " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.pauses, total.pauses, "pauses of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.pausedPs, total.pausedPs, "paused time of port " << port);
        }
        NS_TEST_ASSERT_MSG_GT(m_nQueued, 0, "there are queues");
        NS_TEST_ASSERT_MSG_EQ_TOL(m_mostUtilization, 1, 0.02, "the bottleneck is busy");

        // The files say the same.
        const auto lines = ReadLines(file);
        NS_TEST_ASSERT_MSG_GT(lines.size(), 10, "lines of the series");
        std::map<std::string, uint64_t> wireBytes;
        std::map<std::string, uint64_t> pauses;
        for (std::size_t i = 1; i < lines.size(); ++i)
        {
            const auto cells = SplitLine(lines[i], ',');
            NS_TEST_ASSERT_MSG_EQ(cells.size(), SplitLine(lines[0], ',').size(), lines[i]);
            wireBytes[cells[2] + " " + cells[3]] += std::stoull(cells[7]);
            pauses[cells[2] + " " + cells[3]] += std::stoull(cells[13]);
        }
        NS_TEST_ASSERT_MSG_EQ(SplitLine(lines[0], ',')[7], "wire_bytes", "column");
        NS_TEST_ASSERT_MSG_EQ(SplitLine(lines[0], ',')[13], "pauses", "column");
        NS_TEST_ASSERT_MSG_EQ(wireBytes["host1 switch0"], totals[2].wireBytes, "bytes of host 1");
        NS_TEST_ASSERT_MSG_EQ(wireBytes["switch0 host0"], totals[1].wireBytes, "bytes to host 0");
        NS_TEST_ASSERT_MSG_EQ(pauses["host1 switch0"], totals[2].pauses, "pauses of host 1");

        const auto states = ReadLines(congestionFile);
        std::map<std::string, uint64_t> sent;
        uint64_t nRates = 0;
        for (std::size_t i = 1; i < states.size(); ++i)
        {
            const auto cells = SplitLine(states[i], ',');
            NS_TEST_ASSERT_MSG_EQ(cells.size(), SplitLine(states[0], ',').size(), states[i]);
            sent[cells[2]] += std::stoull(cells[8]);
            nRates += !cells[5].empty() && std::stod(cells[5]) < 12.4e9 ? 1 : 0;
        }
        for (std::size_t id = 0; id < sentBytes.size(); ++id)
        {
            NS_TEST_ASSERT_MSG_EQ(sent[std::to_string(id)], sentBytes[id], "sent by " << id);
        }
        NS_TEST_ASSERT_MSG_EQ((nRates > 0),
                              (m_technology == LinkTechnology::ROCE),
                              "DCQCN cuts rates, and no control has none");
    }

    LinkTechnology m_technology;        //!< of all links
    std::vector<LinkStatistics> m_sums; //!< of samples, by port
    uint64_t m_nQueued{0};              //!< samples with a queue
    double m_mostUtilization{0};        //!< of all samples
};

/**
 * @ingroup proteus-tests
 * Tests of devices, traces, captures and time series.
 */
class ProteusFabricTraceTestSuite : public TestSuite
{
  public:
    ProteusFabricTraceTestSuite()
        : TestSuite("proteus-fabric-trace")
    {
        AddTestCase(new ProteusTraceCounts(LinkTechnology::ROCE, 0));
        AddTestCase(new ProteusTraceCounts(LinkTechnology::ROCE, 0.01));
        AddTestCase(new ProteusTraceCounts(LinkTechnology::INFINIBAND, 0));
        AddTestCase(new ProteusUnconnectedDevices);
        AddTestCase(new ProteusDeviceAttributes);
        AddTestCase(new ProteusCapture(LinkTechnology::ROCE, DataOperation::RDMA_WRITE));
        AddTestCase(new ProteusCapture(LinkTechnology::ROCE, DataOperation::SEND));
        AddTestCase(new ProteusCapture(LinkTechnology::INFINIBAND, DataOperation::RDMA_WRITE));
        AddTestCase(new ProteusFrameChecksums);
        AddTestCase(new ProteusCaptureLimits);
        AddTestCase(new ProteusAsciiTrace);
        AddTestCase(new ProteusTimeSeries(LinkTechnology::ROCE));
        AddTestCase(new ProteusTimeSeries(LinkTechnology::INFINIBAND));
    }
};

static ProteusFabricTraceTestSuite g_proteusFabricTraceTestSuite; //!< registers itself
