/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-incast-test-tools.h"

#include "ns3/boolean.h"
#include "ns3/packet.h"
#include "ns3/proteus-frame.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::incasttest;

namespace
{

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
 * Tests of captures.
 */
class ProteusFabricCaptureTestSuite : public TestSuite
{
  public:
    ProteusFabricCaptureTestSuite()
        : TestSuite("proteus-fabric-capture")
    {
        AddTestCase(new ProteusCapture(LinkTechnology::ROCE, DataOperation::RDMA_WRITE));
        AddTestCase(new ProteusCapture(LinkTechnology::ROCE, DataOperation::SEND));
        AddTestCase(new ProteusCapture(LinkTechnology::INFINIBAND, DataOperation::RDMA_WRITE));
        AddTestCase(new ProteusFrameChecksums);
        AddTestCase(new ProteusCaptureLimits);
    }
};

static ProteusFabricCaptureTestSuite g_proteusFabricCaptureTestSuite; //!< registers itself
