/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/proteus-checked-attribute.h"
#include "ns3/proteus-fabric-channel.h"
#include "ns3/proteus-fabric-setup.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-packet-text.h"
#include "ns3/proteus-partial-file.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/proteus-warning.h"
#include "ns3/simple-ref-count.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusFabricHelper");

namespace
{

/// @param file name of one that cannot be written @return the exception that says why not
OutputError
CannotWrite(const std::string& file)
{
    const int error = errno;
    std::string cause = std::string("cannot be written: ") + std::strerror(error);
    if (error == EMFILE)
    {
        cause += "; there is a file per device: raise the limit (ulimit -n), or ask for some nodes";
    }
    return {file, cause};
}

/// @param fabric that a caller gives @param port of it @throw std::invalid_argument if it has none
void
RequirePort(Ptr<Fabric> fabric, PortId port)
{
    RequireThere(fabric, "the fabric");
    if (port >= fabric->GetNPorts())
    {
        throw std::invalid_argument("port " + std::to_string(port) + ": the fabric has " +
                                    std::to_string(fabric->GetNPorts()));
    }
}

/// @tparam FILES that are open, with their names @param files these @param file one more
/// @throw std::invalid_argument if it is one of them
template <typename FILES>
void
RequireNew(const FILES& files, const std::string& file)
{
    if (std::any_of(files.begin(), files.end(), [&file](const auto& other) {
            return other.name == file;
        }))
    {
        throw std::invalid_argument(file + ": something else is written to this file");
    }
}

/// @param node any @return whether a device of a fabric is on it
bool
HasFabricDevice(const Ptr<Node>& node)
{
    for (uint32_t i = 0; i < node->GetNDevices(); ++i)
    {
        if (DynamicCast<FabricDevice>(node->GetDevice(i)))
        {
            return true;
        }
    }
    return false;
}

/// @param call that looks at all devices @throw std::logic_error if there are none
void
RequireDevices(const std::string& call)
{
    const NodeContainer nodes = NodeContainer::GetGlobal();
    if (std::none_of(nodes.Begin(), nodes.End(), HasFabricDevice))
    {
        throw std::logic_error(call + ": there are no devices; InstallDevices() makes them");
    }
}

/// @tparam MONITOR LinkMonitor or CongestionMonitor @param interval between samples @return one
template <typename MONITOR>
Ptr<MONITOR>
MakeMonitor(Time interval)
{
    ObjectFactory factory(MONITOR::GetTypeId().GetName());
    SetAttributeChecked(factory, "Interval", TimeValue(interval));
    return factory.Create<MONITOR>();
}

/// Writes the units of a device to a capture file.
class PcapSink : public SimpleRefCount<PcapSink>
{
  public:
    /// @param writer of frames @param captureBytes of every frame @param file to write to
    /// @param name of the file
    PcapSink(const FrameWriter& writer,
             uint32_t captureBytes,
             Ptr<PcapFileWrapper> file,
             const std::string& name)
        : m_writer(writer),
          m_captureBytes(captureBytes),
          m_file(file),
          m_name(name)
    {
    }

    /// @param port that the unit crosses @param record the unit @param timePs when
    void Write(PortId port, const PacketRecord& record, int64_t timePs)
    {
        const uint32_t length = m_writer.Write(port, record, timePs, m_captureBytes, m_frame);
        m_file->Write(PicoSeconds(timePs), m_frame.data(), length);
        if (m_file->Fail())
        {
            throw CannotWrite(m_name);
        }
    }

  private:
    FrameWriter m_writer;         //!< of frames
    uint32_t m_captureBytes;      //!< of every frame
    Ptr<PcapFileWrapper> m_file;  //!< to write to
    std::string m_name;           //!< of the file
    std::vector<uint8_t> m_frame; //!< to write
};

/// Writes one kind of event of a device to an ascii trace.
class AsciiSink : public SimpleRefCount<AsciiSink>
{
  public:
    /// @param stream to write to @param name of the file @param letter of the event
    /// @param path of the trace source, or empty
    AsciiSink(Ptr<OutputStreamWrapper> stream,
              const std::string& name,
              char letter,
              const std::string& path)
        : m_stream(stream),
          m_name(name),
          m_letter(letter),
          m_path(path)
    {
    }

    /// @param record the unit @param timePs when
    void Write(PortId /* port */, const PacketRecord& record, int64_t timePs)
    {
        char seconds[40];
        std::snprintf(seconds,
                      sizeof(seconds),
                      "%lld.%012lld",
                      static_cast<long long>(timePs / 1000000000000),
                      static_cast<long long>(timePs % 1000000000000));
        std::ostream& out = *m_stream->GetStream();
        out << m_letter << ' ' << seconds << ' ';
        if (!m_path.empty())
        {
            out << m_path << ' ';
        }
        out << record << '\n';
        RequireWritten(out, m_name);
    }

  private:
    Ptr<OutputStreamWrapper> m_stream; //!< to write to
    std::string m_name;                //!< of the file
    char m_letter;                     //!< of the event
    std::string m_path;                //!< of the trace source
};

} // namespace

FabricHelper::FabricHelper()
{
    m_fabricFactory.SetTypeId("ns3::proteus::Fabric");
}

FabricHelper::~FabricHelper()
{
}

void
FabricHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    SetAttributeChecked(m_fabricFactory, name, value);
}

Ptr<Fabric>
FabricHelper::Install(const Cluster& cluster) const
{
    if (Time::GetResolution() != Time::PS)
    {
        Warn("the simulator's resolution is not a picosecond: times of packets are rounded up to "
             "it, and nothing is repeated; Time::SetResolution(Time::PS), before all else, mends "
             "it");
    }
    Ptr<Fabric> fabric = m_fabricFactory.Create<Fabric>();
    SetUpFabric(fabric, std::make_shared<const Cluster>(cluster));
    return fabric;
}

Ptr<FabricDevice>
FabricHelper::GetDevice(Ptr<Fabric> fabric, PortId port)
{
    RequirePort(fabric, port);
    Ptr<Node> node = fabric->GetNodes().Get(fabric->GetFrom(port));
    for (uint32_t i = 0; i < node->GetNDevices(); ++i)
    {
        Ptr<FabricDevice> device = DynamicCast<FabricDevice>(node->GetDevice(i));
        if (device && device->GetPort() == port && device->GetFabric() == fabric)
        {
            return device;
        }
    }
    return nullptr;
}

Ptr<FabricDevice>
FabricHelper::InstallDevice(Ptr<Fabric> fabric, PortId port) const
{
    Ptr<FabricDevice> device = GetDevice(fabric, port);
    if (device)
    {
        return device;
    }
    const LinkId link = port / 2;
    Ptr<FabricChannel> channel = CreateObject<FabricChannel>();
    channel->SetLink(fabric, link);
    for (PortId end : {2 * link, 2 * link + 1})
    {
        Ptr<FabricDevice> made = CreateObject<FabricDevice>();
        channel->Attach(made, end);
        fabric->GetNodes().Get(fabric->GetFrom(end))->AddDevice(made);
        if (end == port)
        {
            device = made;
        }
    }
    return device;
}

NetDeviceContainer
FabricHelper::InstallDevices(Ptr<Fabric> fabric) const
{
    RequireThere(fabric, "the fabric");
    NetDeviceContainer devices;
    for (PortId port = 0; port < fabric->GetNPorts(); ++port)
    {
        devices.Add(InstallDevice(fabric, port));
    }
    return devices;
}

NetDeviceContainer
FabricHelper::InstallDevices(Ptr<Fabric> fabric, const NodeContainer& nodes) const
{
    RequireThere(fabric, "the fabric");
    NetDeviceContainer devices;
    for (PortId port = 0; port < fabric->GetNPorts(); ++port)
    {
        if (nodes.Contains(fabric->GetNodes().Get(fabric->GetFrom(port))->GetId()))
        {
            devices.Add(InstallDevice(fabric, port));
        }
    }
    return devices;
}

void
FabricHelper::SetCaptureSize(uint32_t bytes)
{
    if (bytes < FrameWriter::MAX_HEADER_BYTES || bytes > UINT16_MAX)
    {
        throw std::invalid_argument("capture size of " + std::to_string(bytes) +
                                    " bytes: must be " +
                                    std::to_string(FrameWriter::MAX_HEADER_BYTES) + " to 65535");
    }
    m_captureBytes = bytes;
}

void
FabricHelper::SetDataOperation(DataOperation operation)
{
    m_operation = operation;
}

Ptr<OutputStreamWrapper>
FabricHelper::OpenStream(const std::string& file)
{
    RequireNew(m_files, file);
    const auto partial = MakePartial(file);
    const std::string path = partial ? partial->GetPath() : file;
    errno = 0;
    if (!std::ofstream(path)) // OutputStreamWrapper would end the program
    {
        throw CannotWrite(file);
    }
    auto stream = Create<OutputStreamWrapper>(path, std::ios::out);
    m_files.push_back({file, stream, nullptr, partial});
    return stream;
}

void
FabricHelper::HoldNames()
{
    m_holdsNames = true;
}

std::shared_ptr<PartialFile>
FabricHelper::MakePartial(const std::string& file) const
{
    return m_holdsNames ? std::make_shared<PartialFile>(file) : nullptr;
}

void
FabricHelper::FinishFiles()
{
    const std::vector<TraceFile> files = std::move(m_files);
    m_files.clear();
    for (const TraceFile& file : files)
    {
        errno = 0;
        if (file.stream)
        {
            file.stream->GetStream()->flush();
            RequireWritten(*file.stream->GetStream(), file.name);
            continue;
        }
        file.capture->Close();
        if (file.capture->Fail())
        {
            throw CannotWrite(file.name);
        }
    }
    for (const TraceFile& file : files) // all of them are whole
    {
        if (file.partial)
        {
            file.partial->Finish();
        }
    }
}

void
FabricHelper::EnablePcapAll(const std::string& prefix, bool promiscuous)
{
    RequireDevices("EnablePcapAll(" + prefix + ")");
    PcapHelperForDevice::EnablePcapAll(prefix, promiscuous);
}

void
FabricHelper::EnableAsciiAll(const std::string& prefix)
{
    RequireDevices("EnableAsciiAll(" + prefix + ")");
    AsciiTraceHelperForDevice::EnableAsciiAll(prefix);
}

void
FabricHelper::EnableAsciiAll(Ptr<OutputStreamWrapper> stream)
{
    RequireDevices("EnableAsciiAll()");
    AsciiTraceHelperForDevice::EnableAsciiAll(stream);
}

void
FabricHelper::EnableAsciiFile(const std::string& file)
{
    RequireDevices("EnableAsciiFile(" + file + ")");
    EnableAsciiAll(OpenStream(file));
}

Ptr<LinkMonitor>
FabricHelper::EnableLinkSeries(Ptr<Fabric> fabric,
                               const std::string& file,
                               Time interval,
                               bool allPorts)
{
    RequireThere(fabric, "the fabric");
    const auto monitor = MakeMonitor<LinkMonitor>(interval);
    monitor->SetAttribute("AllPorts", BooleanValue(allPorts));
    monitor->SetStream(OpenStream(file), file);
    monitor->Start(fabric);
    return monitor;
}

Ptr<CongestionMonitor>
FabricHelper::EnableCongestionSeries(Ptr<Transport> transport,
                                     const std::string& file,
                                     Time interval)
{
    RequireThere(transport, "the transport");
    const auto monitor = MakeMonitor<CongestionMonitor>(interval);
    monitor->SetStream(OpenStream(file), file);
    monitor->Start(transport);
    return monitor;
}

void
FabricHelper::EnablePcapInternal(std::string prefix,
                                 Ptr<NetDevice> nd,
                                 bool /* promiscuous */,
                                 bool explicitFilename)
{
    Ptr<FabricDevice> device = DynamicCast<FabricDevice>(nd);
    if (!device)
    {
        NS_LOG_INFO("not a FabricDevice: " << nd);
        return;
    }
    Ptr<Fabric> fabric = device->GetFabric();
    const LinkId link = device->GetPort() / 2;
    const uint32_t linkType =
        FrameWriter::GetLinkType(fabric->GetLink(device->GetPort()).technology);
    if (linkType == 0)
    {
        NS_LOG_INFO("no capture format for "
                    << ToString(fabric->GetLink(device->GetPort()).technology));
        return;
    }
    FrameWriter writer(fabric, m_operation);
    writer.CheckLink(link);
    PcapHelper pcapHelper;
    const std::string name =
        explicitFilename ? prefix : pcapHelper.GetFilenameFromDevice(prefix, device);
    RequireNew(m_files, name);
    Ptr<PcapFileWrapper> file = CreateObject<PcapFileWrapper>();
    file->SetAttribute("NanosecMode", BooleanValue(true));
    const auto partial = MakePartial(name);
    errno = 0;
    file->Open(partial ? partial->GetPath() : name, std::ios::out | std::ios::binary);
    if (file->Fail())
    {
        throw CannotWrite(name);
    }
    file->Init(linkType, m_captureBytes);
    m_files.push_back({name, nullptr, file, partial});
    Ptr<PcapSink> sink = Create<PcapSink>(writer, m_captureBytes, file, name);
    device->TraceConnectWithoutContext("Transmit", MakeCallback(&PcapSink::Write, sink));
    device->TraceConnectWithoutContext("Receive", MakeCallback(&PcapSink::Write, sink));
}

void
FabricHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                  std::string prefix,
                                  Ptr<NetDevice> nd,
                                  bool explicitFilename)
{
    Ptr<FabricDevice> device = DynamicCast<FabricDevice>(nd);
    if (!device)
    {
        NS_LOG_INFO("not a FabricDevice: " << nd);
        return;
    }
    std::string path;
    if (stream)
    {
        std::ostringstream text;
        text << "/NodeList/" << nd->GetNode()->GetId() << "/DeviceList/" << nd->GetIfIndex()
             << "/$ns3::proteus::FabricDevice/";
        path = text.str();
    }
    else
    {
        AsciiTraceHelper ascii;
        stream =
            OpenStream(explicitFilename ? prefix : ascii.GetFilenameFromDevice(prefix, device));
    }

    const auto known =
        std::find_if(m_files.begin(), m_files.end(), [&stream](const TraceFile& file) {
            return file.stream == stream;
        });
    const std::string name = known == m_files.end() ? "the ascii trace" : known->name;

    struct Line
    {
        char letter;
        const char* source;
    };

    for (const Line& line : {Line{'+', "Enqueue"},
                             Line{'-', "Dequeue"},
                             Line{'t', "Transmit"},
                             Line{'r', "Receive"},
                             Line{'d', "Drop"}})
    {
        Ptr<AsciiSink> sink =
            Create<AsciiSink>(stream, name, line.letter, path.empty() ? "" : path + line.source);
        device->TraceConnectWithoutContext(line.source, MakeCallback(&AsciiSink::Write, sink));
    }
}

} // namespace proteus
} // namespace ns3
