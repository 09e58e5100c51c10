/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_HELPER_H
#define PROTEUS_FABRIC_HELPER_H

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/proteus-congestion-monitor.h"
#include "ns3/proteus-fabric-device.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-frame.h"
#include "ns3/proteus-link-monitor.h"
#include "ns3/trace-helper.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

class PartialFile;

/**
 * @ingroup proteus
 * Builds fabrics, gives them devices, and writes what happens on them to files.
 *
 * @code
 * FabricHelper helper;
 * Ptr<Fabric> fabric = helper.Install(cluster);
 * helper.InstallDevices(fabric);
 * helper.EnablePcapAll("run");          // run-<node>-<device>.pcap, for Wireshark
 * helper.EnableAsciiAll("run");         // run-<node>-<device>.tr
 * helper.EnableLinkSeries(fabric, "links.csv", MicroSeconds(10));
 * @endcode
 *
 * Captures. There is a file per device, with what it sends, at the time at which it starts, and
 * what it receives, at the time at which the last byte is there (or the head, if it is cut
 * through). Times are in nanoseconds, in ERF records in units of 233 ps. FrameWriter says what the
 * frames look like. Frames are whole, with their ICRC and a payload of zeros. SetCaptureSize(128)
 * keeps only the first 128 bytes and the true length, in files of a thirtieth of the size;
 * Wireshark still decodes all headers then, but writes "Invalid Packet Length" in its information
 * column. Devices of NVLink, PCI Express and links between sockets are left out, because no capture
 * format and no dissector exists for them; EnablePcap() of such a device writes no file. Their
 * ascii traces say the same.
 *
 * Ascii traces. A line is one of + (a unit has to wait), - (it has waited and starts), t (a unit
 * starts, whether it had to wait or not), r (received) and d (dropped), then the time in seconds,
 * in a file for several devices the path of the trace source, and the unit.
 */
class FabricHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    FabricHelper();
    ~FabricHelper() override;

    /// @param name of an attribute of Fabric @param value its value
    void SetFabricAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Builds the fabric of a cluster, and gives the simulator a HorizonScheduler, which the
     * fabric's speed depends on.
     * @param cluster to build
     * @return its fabric
     */
    Ptr<Fabric> Install(const Cluster& cluster) const;

    /**
     * Makes the devices of all ports, two per link, and adds them to the nodes of their vertices.
     * Ports that have one keep it.
     * @param fabric whose ports
     * @return the devices, in the order of PortId
     */
    NetDeviceContainer InstallDevices(Ptr<Fabric> fabric) const;

    /**
     * @param fabric whose ports
     * @param nodes whose ports; the devices at the other ends are made, too
     * @return the devices of the nodes
     */
    NetDeviceContainer InstallDevices(Ptr<Fabric> fabric, const NodeContainer& nodes) const;

    /**
     * @param fabric whose port
     * @param port whose device to make, with the one at the other end
     * @return the device
     */
    Ptr<FabricDevice> InstallDevice(Ptr<Fabric> fabric, PortId port) const;

    /// @param fabric whose port @param port a port @return its device, null if it has none
    static Ptr<FabricDevice> GetDevice(Ptr<Fabric> fabric, PortId port);

    /// @param bytes of a frame that captures keep, FrameWriter::MAX_HEADER_BYTES to 65535, which is
    /// the default
    /// @throw std::invalid_argument if it is less or more
    void SetCaptureSize(uint32_t bytes);

    /// @param operation how captures show data packets
    void SetDataOperation(DataOperation operation);

    /**
     * Writes a time series of all links to a CSV file: see LinkMonitor.
     * @param fabric to look at, from now on
     * @param file to write
     * @param interval between samples
     * @param allPorts whether links on which nothing happens have lines, too
     * @return what writes it
     * @throw OutputError "FILE: cannot be written: CAUSE"
     */
    Ptr<LinkMonitor> EnableLinkSeries(Ptr<Fabric> fabric,
                                      const std::string& file,
                                      Time interval,
                                      bool allPorts = false);

    /**
     * Writes a time series of the congestion control of all queue pairs to a CSV file: see
     * CongestionMonitor.
     * @param transport to look at, from now on
     * @param file to write
     * @param interval between samples
     * @return what writes it
     * @throw OutputError "FILE: cannot be written: CAUSE"
     */
    Ptr<CongestionMonitor> EnableCongestionSeries(Ptr<Transport> transport,
                                                  const std::string& file,
                                                  Time interval);

    /**
     * As PcapHelperForDevice has it.
     * @param prefix of the names of files
     * @param promiscuous no difference
     * @throw std::logic_error if no fabric has devices, so that there would be no file
     */
    void EnablePcapAll(const std::string& prefix, bool promiscuous = false);

    /// As AsciiTraceHelperForDevice has it. @param prefix of the names of files
    /// @throw std::logic_error as EnablePcapAll()
    void EnableAsciiAll(const std::string& prefix);

    /// As AsciiTraceHelperForDevice has it. @param stream to write to
    /// @throw std::logic_error as EnablePcapAll()
    void EnableAsciiAll(Ptr<OutputStreamWrapper> stream);

    /**
     * Writes a line per event of all devices that there are, see EnableAsciiAll(), to one file.
     * @param file to write
     * @throw std::logic_error as EnablePcapAll()
     * @throw OutputError "FILE: cannot be written: CAUSE"
     */
    void EnableAsciiFile(const std::string& file);

    /// Lets files that are enabled from now on get their names by FinishFiles(), see PartialFile: a
    /// run that fails leaves what was there before. Else they have them from the first line on.
    void HoldNames();

    /**
     * Sees to it that the files of this helper are whole, after a run.
     * @throw OutputError "FILE: cannot be written: CAUSE" if a part of one got lost
     */
    void FinishFiles();

  private:
    /// A file that is written while the simulator runs.
    struct TraceFile
    {
        std::string name;                     //!< of it
        Ptr<OutputStreamWrapper> stream;      //!< of a text, or null
        Ptr<PcapFileWrapper> capture;         //!< or this
        std::shared_ptr<PartialFile> partial; //!< what it is until it is whole, or null
    };

    /// @param file to write @return its stream, which is kept
    Ptr<OutputStreamWrapper> OpenStream(const std::string& file);

    /// @param file to write @return what it is until it is whole, or null, see HoldNames()
    std::shared_ptr<PartialFile> MakePartial(const std::string& file) const;

    // Inherited from PcapHelperForDevice and AsciiTraceHelperForDevice
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> nd,
                            bool promiscuous,
                            bool explicitFilename) override;
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> nd,
                             bool explicitFilename) override;

    ObjectFactory m_fabricFactory;                        //!< of Install()
    uint32_t m_captureBytes{65535};                       //!< of every frame
    DataOperation m_operation{DataOperation::RDMA_WRITE}; //!< in captures
    std::vector<TraceFile> m_files;                       //!< that were opened
    bool m_holdsNames{false};                             //!< HoldNames()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_HELPER_H
