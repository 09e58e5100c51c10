/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-incast-test-tools.h"

#include "ns3/boolean.h"
#include "ns3/callback.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/proteus-fabric-channel.h"
#include "ns3/proteus-simulator-time.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::incasttest;

namespace
{

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
 * Tests of devices, their trace sources and ascii traces.
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
        AddTestCase(new ProteusAsciiTrace);
    }
};

static ProteusFabricTraceTestSuite g_proteusFabricTraceTestSuite; //!< registers itself
