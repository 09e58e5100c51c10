/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLASSIC_SERVER_H
#define PROTEUS_CLASSIC_SERVER_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-nccl-cost.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * A server as NCCL 2.10.3 sees it: what SearchClassicRing() searches in.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A sum of rates may exceed a capacity by so much, 1e9 bytes per second.
constexpr double CLASSIC_RATE_SLACK = 1e-6;

/// @ingroup proteus
/// One direction of all links between two places.
struct ClassicArc
{
    uint32_t to{0};     //!< place where it ends
    double width{0};    //!< 1e9 bytes per second
    bool isPcie{false}; //!< whether Intel's CPUs slow it down
};

/// @ingroup proteus
/// A way through a server.
struct ClassicWay
{
    std::vector<uint32_t> arcs;   //!< in order
    double width{0};              //!< of the narrowest
    NcclPath type{NcclPath::SYS}; //!< its kind
    bool throughCpu{false};       //!< whether it passes or ends at a CPU
};

/// @ingroup proteus
/// One server with the GPUs of a group: its links as NCCL counts them, and the ways over them.
class ClassicServer
{
  public:
    /// @param cluster where it is @param gpus of the group, all in one server @param isAlone
    /// whether the group has no GPUs in other servers, and so needs no NIC
    /// @throw std::invalid_argument if it needs a NIC and has none
    ClassicServer(const Cluster& cluster, const std::vector<VertexId>& gpus, bool isAlone);

    /// @return GPUs of the group
    uint32_t CountGpus() const
    {
        return static_cast<uint32_t>(m_gpus.size());
    }

    /// @return NICs that the group may use
    uint32_t CountNics() const
    {
        return static_cast<uint32_t>(m_nics.size());
    }

    /// @param a a GPU of the group @param b another one @return the way that NCCL takes
    const ClassicWay& GetWay(uint32_t a, uint32_t b) const
    {
        return m_ways[a * m_gpus.size() + b];
    }

    /// @param nic a NIC @param gpu a GPU of the group @return the way from the network
    const ClassicWay& GetWayIn(uint32_t nic, uint32_t gpu) const
    {
        return m_in[nic * m_gpus.size() + gpu];
    }

    /// @param gpu a GPU of the group @param nic a NIC @return the way to the network
    const ClassicWay& GetWayOut(uint32_t gpu, uint32_t nic) const
    {
        return m_out[nic * m_gpus.size() + gpu];
    }

    /// @return what all channels together can have
    double GetTotal() const
    {
        return m_total;
    }

    /// @return what one channel can have
    double GetMost() const;

    /// @return rates of all arcs
    std::vector<double> GetWidths() const;

    /**
     * Takes a rate from a way.
     * @param way to take it from
     * @param fromGpu whether it begins at a GPU
     * @param speed to take
     * @param left what is left of the arcs
     * @return whether there was room; if not, some of it is taken
     */
    bool Take(const ClassicWay& way, bool fromGpu, double speed, std::vector<double>& left) const;

  private:
    /// @param place a place @return whether a GPU of the group stands there
    bool IsGpu(uint32_t place) const
    {
        return place < m_gpus.size();
    }

    /// @param id a vertex @return its kind
    VertexKind KindOf(VertexId id) const
    {
        return m_cluster.GetVertices()[id].kind;
    }

    /// Gives a vertex of the server a place: GPUs of the group first, all NVSwitches one.
    void AddPlace(VertexId id);

    /// @param link a link @return its rate as NCCL counts it, 1e9 bytes per second
    double WidthOf(const Link& link) const;

    /// Makes arcs of the links of the server.
    void AddArcs();

    /// @param gpu of the group @return rate of all its NVLinks, or of its PCI Express link
    double TotalRate(uint32_t gpu) const;

    /// @return the arc from one place to another, if there is one
    std::optional<uint32_t> FindArc(uint32_t from, uint32_t to) const;

    /// @param arcs in order @param type its kind @return the way
    ClassicWay MakeWay(std::vector<uint32_t> arcs, NcclPath type) const;

    /// @return the shortest way through PCI Express switches and CPUs
    ClassicWay FindTreeWay(uint32_t from, uint32_t to) const;

    /// @param a a GPU @param b another one @return the way between them
    ClassicWay FindGpuWay(uint32_t a, uint32_t b) const;

    /// Fills m_ways.
    void FindGpuWays();

    /// @return the CPU nearest to a GPU
    uint32_t FindCpu(uint32_t gpu) const;

    /// @return a way between a GPU and a NIC, by way of the GPU's CPU where the NIC does not read
    /// the memory of GPUs
    ClassicWay FindNicWay(uint32_t from, uint32_t to, uint32_t gpu) const;

    /// Fills m_nics, m_in and m_out.
    void FindNicWays();

    const Cluster& m_cluster;
    std::vector<VertexId> m_gpus;
    uint32_t m_capability;
    std::map<VertexId, uint32_t> m_placeOf;
    std::vector<VertexKind> m_kinds; //!< by place
    std::optional<uint32_t> m_nvswitch;
    std::vector<ClassicArc> m_arcs;             //!< the opposite of arc i is i ^ 1
    std::vector<std::vector<uint32_t>> m_first; //!< by place: arcs from there
    std::vector<ClassicWay> m_ways;             //!< from GPU to GPU
    std::vector<uint32_t> m_nics;               //!< places
    std::vector<ClassicWay> m_in;               //!< by NIC and GPU
    std::vector<ClassicWay> m_out;              //!< by NIC and GPU
    double m_total{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLASSIC_SERVER_H
