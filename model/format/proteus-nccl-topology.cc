/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-topology.h"

#include "proteus-nccl-findings.h"
#include "proteus-nccl-server.h"
#include "proteus-nccl-values.h"
#include "proteus-xml.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-server-preset.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_CPUS = 256;        //!< all of them are joined with each other
constexpr uint64_t MOST_CPU_NUMBER = 100000; //!< of a family or a model
constexpr uint64_t MAX_LINK_COUNT = 1000;    //!< parallel NVLinks
constexpr uint64_t MAX_SPEED = 1000000000;   //!< Mb/s, of a NIC or a C2C link

/// Reads one server and makes copies of it.
class NcclReader
{
  public:
    NcclReader(std::istream& input, const std::string& fileName, const NcclTopologyOptions& options)
        : m_document(input, fileName),
          m_values(m_document),
          m_fileName(fileName),
          m_options(options)
    {
        const XmlElement& system = m_document.GetRoot();
        m_document.RequireRoot("system", "as in what NCCL_TOPO_DUMP_FILE writes");
        for (const XmlElement& child : system.children)
        {
            if (child.name == "cpu")
            {
                ReadCpu(child);
            }
        }
        if (m_cpus.empty())
        {
            m_document.Fail(system, "there is no 'cpu'" + DescribeUnread());
        }
        m_server.LeaveOutSlowNics();
        for (const auto& [element, gpu] : m_gpuElements)
        {
            ReadNvlinks(*element, gpu);
        }
        m_server.SetPeers(m_options.peers);
        AddNvSwitch();
        JoinCpus();
    }

    /// @param servers how many @return what the file does not say, and how to say it, and what it
    /// says that is not heeded; a line each
    std::vector<std::string> GetWarnings(uint32_t servers) const
    {
        NcclFindings findings = m_findings;
        findings.withoutRdma = m_options.gdr.empty() ? m_server.CountWithoutRdma() : 0;
        findings.nicsLeftOut = m_server.CountLeftOut();
        for (const auto& [ends, line] : m_unanswered)
        {
            findings.oneSided.push_back(line);
        }
        findings.gpus = m_gpuElements.size();
        findings.hasNvlinks = m_server.HasLink(LinkTechnology::NVLINK);
        findings.mayHaveNvlinks =
            m_options.nvlink.empty() && !findings.hasNvlinks && m_modelOf.size() > 1 &&
            std::any_of(m_modelOf.begin(), m_modelOf.end(), [](const auto& entry) {
                return entry.second->nvlinkGeneration > 0;
            });
        return DescribeFindings(findings, m_document, m_fileName, servers);
    }

    /// @param servers how many @param fabric how they are joined @return the cluster
    Cluster Build(uint32_t servers, const FabricOptions& fabric) const
    {
        const XmlElement& system = m_document.GetRoot();
        if (m_gpuElements.empty())
        {
            m_document.Fail(system,
                            "has no GPU, as files for NCCL_TOPO_FILE that leave GPUs to NCCL; take "
                            "what NCCL_TOPO_DUMP_FILE writes on such a machine" +
                                DescribeUnread());
        }
        if (servers < 1 || servers > MAX_SERVERS)
        {
            throw std::invalid_argument("the number of servers must be 1 to " +
                                        std::to_string(MAX_SERVERS) + ", is " +
                                        std::to_string(servers));
        }
        try
        {
            return m_server.Build(m_fileName.substr(m_fileName.find_last_of('/') + 1),
                                  servers,
                                  fabric);
        }
        catch (const std::invalid_argument& error)
        {
            m_document.Fail(system, error.what() + DescribeUnread());
        }
    }

  private:
    /// @return what was not read, behind an error that it may be the cause of
    std::string DescribeUnread() const
    {
        const std::string unknown = m_document.DescribeUnknown(GetNcclFormat());
        return unknown.empty() ? "" : "; unknown, and not read: " + unknown;
    }

    void ReadCpu(const XmlElement& element)
    {
        if (m_cpus.size() == MAX_CPUS)
        {
            m_document.Fail(element, "there are more than " + std::to_string(MAX_CPUS) + " CPUs");
        }
        const std::string* arch = element.Find("arch");
        const std::string* vendor = element.Find("vendor");
        const NcclCpu known = FindCpu(arch,
                                      vendor,
                                      m_values.GetWhole(element, "familyid", 0, MOST_CPU_NUMBER),
                                      m_values.GetWhole(element, "modelid", 0, MOST_CPU_NUMBER));
        NoteMaker(arch, vendor, known.maker);
        NcclDevice device;
        device.vertex = MakeCpu(known.forward, false, known.maker);
        device.dev = m_cpus.size();
        const std::size_t cpu = m_server.Add(device);
        m_cpus.push_back(cpu);
        m_interconnects.push_back(known.interconnect);
        uint32_t generation = 3;
        for (const XmlElement& child : element.children)
        {
            if (child.name == "pci")
            {
                generation = std::max(generation, m_values.GetPcieSpeed(child).generation);
                ReadPci(child, cpu, cpu);
            }
            else if (child.name == "nic")
            {
                // Without a PCIe device, as those of virtual machines: as if on a Gen3 x16 slot.
                if (!IsRepeated(child))
                {
                    AddNic(child, {&child}, cpu, {PcieX16BytesPerSecond(3), 3}, false);
                }
            }
        }
        if (known.maker == CpuVendor::INTEL)
        {
            m_server.GetDevice(cpu).vertex.forwardBytesPerSecond =
                IntelForwardBytesPerSecond(generation);
        }
    }

    /// NCCL lists a NIC without a PCIe device below every CPU whose processes use it.
    /// @param nic below a CPU @return whether one of that name and number was there before
    bool IsRepeated(const XmlElement& nic)
    {
        std::string ports;
        std::string first;
        for (const XmlElement& net : nic.children)
        {
            const std::string name = GetLower(net, "name");
            if (name.empty())
            {
                return false;
            }
            first = first.empty() ? name : first;
            ports += name + ' ' + GetLower(net, "dev") + ' ' + GetLower(net, "port") + '\n';
        }
        const bool isRepeated = !ports.empty() && !m_nicsOfCpus.insert(ports).second;
        if (isRepeated)
        {
            m_findings.repeatedNics.insert(first);
        }
        return isRepeated;
    }

    /// Notes CPUs that are called something that is not known.
    void NoteMaker(const std::string* arch, const std::string* vendor, CpuVendor maker)
    {
        if (maker != CpuVendor::OTHER)
        {
            return;
        }
        if (arch != nullptr && !arch->empty() && *arch != "x86_64")
        {
            m_findings.unknownMakers.insert("arch " + QuotedText(*arch));
        }
        else if (vendor != nullptr && !vendor->empty())
        {
            m_findings.unknownMakers.insert("vendor " + QuotedText(*vendor));
        }
    }

    /// @param element of a GPU or a NIC @return whether GPUDirect RDMA is said to leave it out
    static bool LacksRdma(const XmlElement& element)
    {
        const std::string* gdr = element.Find("gdr");
        return gdr != nullptr && *gdr == "0";
    }

    /// @param element of a GPU or a NIC, or inside one, where no other GPU is looked for
    /// @param gpu of it, or null
    /// @throw std::invalid_argument if there is one: it would be missing among the ranks
    void RequireNoOther(const XmlElement& element, const XmlElement* gpu) const
    {
        for (const XmlElement& child : element.children)
        {
            if (&child != gpu &&
                (child.name == "gpu" || GetLower(child, "class").compare(0, 4, "0x03") == 0))
            {
                m_document.Fail(child, "a GPU inside another GPU or NIC: put it beside that");
            }
            RequireNoOther(child, gpu);
        }
    }

    /// @param pci an element @param parent device above it @param cpu device at the top
    void ReadPci(const XmlElement& pci, std::size_t parent, std::size_t cpu)
    {
        const PcieSpeed speed = m_values.GetPcieSpeed(pci);
        const std::string deviceClass = GetLower(pci, "class");
        const XmlElement* gpu = nullptr;
        std::vector<const XmlElement*> nics;
        std::vector<const XmlElement*> devices;
        for (const XmlElement& child : pci.children)
        {
            if (child.name == "gpu")
            {
                if (gpu != nullptr)
                {
                    m_document.Fail(child, "a second 'gpu' in one 'pci'");
                }
                gpu = &child;
            }
            else if (child.name == "nic")
            {
                nics.push_back(&child);
            }
            else if (child.name == "pci")
            {
                devices.push_back(&child);
            }
        }
        if (gpu != nullptr || (deviceClass.compare(0, 4, "0x03") == 0 && devices.empty()))
        {
            RequireNoOther(pci, gpu);
            AddGpu(pci, gpu, parent, cpu, speed);
        }
        else if (!nics.empty() || (deviceClass.compare(0, 4, "0x02") == 0 && devices.empty()))
        {
            RequireNoOther(pci, nullptr);
            AddNic(pci, nics, parent, speed, deviceClass.compare(0, 6, "0x0207") == 0);
        }
        else if (!devices.empty())
        {
            NcclDevice device;
            device.vertex.kind = VertexKind::PCIE_SWITCH;
            device.id = GetLower(pci, "busid");
            const std::size_t position = m_server.Add(device);
            m_server.Add(NcclLink{position,
                                  parent,
                                  LinkTechnology::PCIE,
                                  speed.bytesPerSecond,
                                  speed.generation});
            for (const XmlElement* inner : devices)
            {
                ReadPci(*inner, position, cpu);
            }
        }
    }

    /// @param pci of a GPU that is not known by its device id @return its id, if it has one
    static std::string DescribeUnknownDevice(const XmlElement& pci)
    {
        const std::string device = GetLower(pci, "device");
        return device.empty() ? "" : " (its device id " + QuotedText(device) + " is not known)";
    }

    void AddGpu(const XmlElement& pci,
                const XmlElement* gpu,
                std::size_t parent,
                std::size_t cpu,
                const PcieSpeed& speed)
    {
        const bool hasType = gpu != nullptr && gpu->Find("sm") != nullptr;
        const uint64_t dev = gpu == nullptr
                                 ? m_gpuElements.size()
                                 : m_values.GetWhole(*gpu, "dev", m_gpuElements.size(), 1000000);
        if (m_options.gpu.empty())
        {
            m_values.RequireKnownMaker(pci, gpu);
        }
        const GpuModel* model = nullptr;
        if (!m_options.gpu.empty())
        {
            model = &FindGpuModel(m_options.gpu);
        }
        else
        {
            uint64_t sm = speed.generation == 3 ? 70 : speed.generation == 4 ? 80 : 90;
            sm = gpu == nullptr ? sm : m_values.GetWhole(*gpu, "sm", sm, 100000);
            model = m_values.FindGpuOfDevice(pci);
            const bool isKnown = model != nullptr;
            if (isKnown && hasType && model->computeCapability != sm)
            {
                Warn(m_fileName + ": the GPU with the busid " + QuotedText(GetLower(pci, "busid")) +
                     " has the device id of " + model->sheet.model + ", but another sm, " +
                     std::to_string(sm) + ", which counts");
                model = nullptr;
            }
            if (model == nullptr)
            {
                model = &m_values.GetGpuOfSm(gpu == nullptr ? pci : *gpu, sm);
                if (!isKnown)
                {
                    m_findings.guesses.emplace(hasType ? "sm " + std::to_string(sm) +
                                                             DescribeUnknownDevice(pci)
                                                       : "the generation of PCIe",
                                               model);
                }
            }
        }
        NcclDevice device;
        device.vertex = MakeGpu(model->sheet.model);
        device.lacksRdma = gpu != nullptr && LacksRdma(*gpu);
        device.dev = dev;
        m_findings.devs.insert(dev);
        device.id = GetLower(pci, "busid");
        const std::size_t position = m_server.Add(device);
        if (!device.id.empty() && !m_gpus.emplace(device.id, position).second)
        {
            m_document.Fail(pci, "there are two GPUs with the busid " + QuotedText(device.id));
        }
        m_gpuElements.emplace_back(gpu == nullptr ? &pci : gpu, position);
        m_cpuOf[position] = cpu;
        m_modelOf[position] = model;
        const bool hasC2c =
            gpu != nullptr &&
            std::any_of(gpu->children.begin(), gpu->children.end(), [](const XmlElement& child) {
                return child.name == "c2c";
            });
        if (parent == cpu && hasC2c)
        {
            return; // NCCL takes the faster of two links, and PCIe is there for control only
        }
        m_server.Add(NcclLink{position,
                              parent,
                              LinkTechnology::PCIE,
                              speed.bytesPerSecond,
                              speed.generation});
    }

    void AddNic(const XmlElement& place,
                const std::vector<const XmlElement*>& nics,
                std::size_t parent,
                const PcieSpeed& speed,
                bool isInfiniBand)
    {
        NcclDevice device;
        device.vertex.kind = VertexKind::NIC;
        device.vertex.gpuDirectRdma = m_options.gdr != "off";
        device.dev = m_nNics++;
        device.id = GetLower(place, "busid");
        bool hasNet = false;
        for (const XmlElement* nic : nics)
        {
            for (const XmlElement& net : nic->children)
            {
                if (net.name == "net")
                {
                    device.lacksRdma |= LacksRdma(net);
                    device.dev =
                        hasNet ? device.dev : m_values.GetWhole(net, "dev", device.dev, 1000000);
                    device.networkBytesPerSecond +=
                        static_cast<double>(m_values.GetWhole(net, "speed", 0, MAX_SPEED)) *
                        (1e6 / 8);
                    hasNet = true;
                }
            }
        }
        if (!hasNet)
        {
            const uint64_t gbps = uint64_t{100} << (speed.generation - 3);
            device.networkBytesPerSecond = static_cast<double>(gbps) * 1e9 / 8;
            m_findings.guessedGbps = std::max(m_findings.guessedGbps, gbps);
            ++m_findings.guessedNics;
        }
        if (device.networkBytesPerSecond < 1)
        {
            m_document.Fail(place, "a NIC without speed");
        }
        device.network = isInfiniBand ? LinkTechnology::INFINIBAND : LinkTechnology::ROCE;
        const std::size_t position = m_server.Add(device);
        m_server.Add(NcclLink{position,
                              parent,
                              LinkTechnology::PCIE,
                              speed.bytesPerSecond,
                              speed.generation});
    }

    /// Links of a GPU, but for those over PCIe.
    void ReadNvlinks(const XmlElement& gpu, std::size_t position)
    {
        uint64_t links = 0;
        for (const XmlElement& child : gpu.children)
        {
            if (child.name == "c2c")
            {
                const auto rate =
                    static_cast<double>(m_values.GetWhole(child, "bw", 0, MAX_SPEED)) * 1e6 *
                    static_cast<double>(m_values.GetWhole(child, "count", 1, MAX_LINK_COUNT));
                if (rate < 1)
                {
                    m_document.Fail(child, "needs 'bw', in MB/s");
                }
                AddLinkToCpu(position, rate);
            }
            else if (child.name == "nvlink")
            {
                ReadNvlink(gpu, child, position);
                links += m_values.GetWhole(child, "count", 1, MAX_LINK_COUNT);
            }
        }
        m_findings.unlinkedGpus += links == 0 ? 1 : 0;
        const GpuModel& model = *m_modelOf.at(position);
        const double most = CountNvlinks(model.nvlinkGeneration);
        if (m_findings.crowded.empty() && static_cast<double>(links) > most)
        {
            m_findings.crowded = std::to_string(links) + " of the " + model.sheet.model +
                                 " in line " + std::to_string(gpu.line) + ", which has " +
                                 std::to_string(static_cast<uint64_t>(most));
        }
    }

    /// @param gpu whose link @param link the element @param position of the GPU
    void ReadNvlink(const XmlElement& gpu, const XmlElement& link, std::size_t position)
    {
        const GpuModel& model = *m_modelOf.at(position);
        if (model.nvlinkGeneration == 0)
        {
            m_document.Fail(link,
                            "a " + model.sheet.model + " has no NVLink; its sm, " +
                                std::to_string(m_values.GetWhole(gpu, "sm", 0, 100000)) +
                                ", must be another");
        }
        const std::string target = GetLower(link, "target");
        const std::string targetClass = GetLower(link, "tclass");
        const uint64_t count = m_values.GetWhole(link, "count", 1, MAX_LINK_COUNT);
        if (count == 0)
        {
            return;
        }
        const double rate = static_cast<double>(count) * model.nvlinkBytesPerSecond;
        if (targetClass.compare(0, 4, "0x03") == 0)
        {
            const auto peer = m_gpus.find(target);
            if (peer != m_gpus.end())
            {
                AddPeer(link, position, peer->second, rate);
            }
            else
            {
                m_findings.lostTargets.insert(target);
            }
        }
        else if (targetClass == "0x068000")
        {
            AddLinkToNvSwitch(target, position, rate);
        }
        else if (targetClass == "0x068001")
        {
            // To the CPU, as on POWER9: its cost keeps GPU-to-GPU traffic off it.
            AddLinkToCpu(position, rate);
        }
        else
        {
            m_document.Fail(link,
                            "tclass must be that of a GPU (0x03....), of an NVSwitch (0x068000) or "
                            "of a CPU (0x068001), not " +
                                QuotedText(targetClass));
        }
    }

    void AddLinkToCpu(std::size_t gpu, double rate)
    {
        m_server.GetDevice(m_cpuOf.at(gpu)).joinsGpus = true;
        m_server.Add(NcclLink{gpu, m_cpuOf.at(gpu), LinkTechnology::CPU_INTERCONNECT, rate, 0});
    }

    /// @param target what the file calls the NVSwitch
    void AddLinkToNvSwitch(const std::string& target, std::size_t gpu, double rate)
    {
        const uint32_t generation = m_modelOf.at(gpu)->nvlinkGeneration;
        auto found = m_nvswitches.find(target);
        if (found == m_nvswitches.end())
        {
            NcclDevice device;
            device.vertex = MakeNvSwitch(generation);
            device.dev = m_nvswitches.size();
            found = m_nvswitches.emplace(target, m_server.Add(device)).first;
        }
        m_server.Add(NcclLink{gpu, found->second, LinkTechnology::NVLINK, rate, generation});
    }

    /// A link between two GPUs is listed at both: it is added once, and must be the same.
    void AddPeer(const XmlElement& element, std::size_t gpu, std::size_t peer, double rate)
    {
        if (gpu == peer)
        {
            m_document.Fail(
                element,
                "an NVLink from a GPU to itself, as files of some clouds have it that do not know "
                "what it is joined with: write the busid of the other GPU as target, or "
                "leave the element out and say nvlink=nvswitch or nvlink=none");
        }
        const auto known = m_peers.find({peer, gpu});
        if (known != m_peers.end())
        {
            if (known->second != rate)
            {
                m_document.Fail(element, "the other end lists another number of links");
            }
            m_unanswered.erase({peer, gpu});
            return;
        }
        if (!m_peers.emplace(std::pair{gpu, peer}, rate).second)
        {
            m_document.Fail(element, "the same target a second time");
        }
        m_unanswered[{gpu, peer}] = element.line;
        m_server.Add(
            NcclLink{gpu, peer, LinkTechnology::NVLINK, rate, m_modelOf.at(gpu)->nvlinkGeneration});
    }

    /// Joins all GPUs by an NVSwitch, if the user says that there is one.
    void AddNvSwitch()
    {
        if (m_options.nvlink != "nvswitch")
        {
            return;
        }
        const XmlElement& system = m_document.GetRoot();
        if (m_server.HasLink(LinkTechnology::NVLINK))
        {
            m_document.Fail(system, "has NVLinks, so that nvlink=nvswitch must be left out");
        }
        std::size_t nvswitch = 0;
        bool isFirst = true;
        for (const auto& [gpu, model] : m_modelOf)
        {
            if (model->nvlinkGeneration == 0)
            {
                m_document.Fail(system,
                                m_server.GetDevices()[gpu].vertex.model +
                                    " has no NVLink, so that nvlink=nvswitch must be left out");
            }
            if (isFirst)
            {
                NcclDevice device;
                device.vertex = MakeNvSwitch(model->nvlinkGeneration);
                nvswitch = m_server.Add(device);
                isFirst = false;
            }
            m_server.Add(
                NcclLink{gpu,
                         nvswitch,
                         LinkTechnology::NVLINK,
                         CountNvlinks(model->nvlinkGeneration) * model->nvlinkBytesPerSecond,
                         model->nvlinkGeneration});
        }
    }

    void JoinCpus()
    {
        for (std::size_t i = 0; i < m_cpus.size(); ++i)
        {
            for (std::size_t j = i + 1; j < m_cpus.size(); ++j)
            {
                m_server.Add(NcclLink{m_cpus[i],
                                      m_cpus[j],
                                      LinkTechnology::CPU_INTERCONNECT,
                                      std::min(m_interconnects[i], m_interconnects[j]),
                                      0});
            }
        }
    }

    XmlDocument m_document;
    NcclValues m_values;
    std::string m_fileName;
    NcclTopologyOptions m_options;
    NcclServer m_server;
    std::vector<std::size_t> m_cpus;
    std::vector<double> m_interconnects;                           //!< of each CPU
    std::map<std::string, std::size_t> m_gpus;                     //!< by bus id
    std::map<std::string, std::size_t> m_nvswitches;               //!< by target of NVLinks
    std::map<std::pair<std::size_t, std::size_t>, double> m_peers; //!< NVLinks between GPUs
    /// Lines of those that the second GPU has not listed.
    std::map<std::pair<std::size_t, std::size_t>, uint64_t> m_unanswered;
    std::map<std::size_t, std::size_t> m_cpuOf;       //!< GPU to CPU
    std::map<std::size_t, const GpuModel*> m_modelOf; //!< of a GPU
    std::vector<std::pair<const XmlElement*, std::size_t>> m_gpuElements;
    uint64_t m_nNics{0};
    NcclFindings m_findings;            //!< what a user may have to know
    std::set<std::string> m_nicsOfCpus; //!< names and numbers of NICs right below CPUs
};

} // namespace

Cluster
ReadNcclTopology(std::istream& input,
                 const std::string& fileName,
                 uint32_t servers,
                 const FabricOptions& fabric,
                 const NcclTopologyOptions& options)
{
    const NcclReader reader(input, fileName, options);
    Cluster cluster = reader.Build(servers, fabric); // or an error, which stands alone
    for (const std::string& warning : reader.GetWarnings(servers))
    {
        Warn(warning);
    }
    return cluster;
}

} // namespace proteus
} // namespace ns3
