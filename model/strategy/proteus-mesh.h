/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MESH_H
#define PROTEUS_MESH_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Grids of devices that operators and tensors are spread over.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Position of an axis in its mesh.
using MeshAxis = uint8_t;

/// @ingroup proteus
/// What an axis is for, from its name. Experts may have a grid of their own on the same devices, so
/// that an axis of "ep-tp" is one of expert parallelism ("ep") for these, and of tensor parallelism
/// ("tp") for the other layers; "edp-tp" replicates experts. @param name of an axis
/// @return its part behind "ep-" or "edp-"; else the name
std::string GetLayerRole(const std::string& name);
/// @ingroup proteus
/// @param name of an axis @return whether its devices share experts: "ep", "ep-tp"
bool IsExpertAxis(const std::string& name);

/**
 * @ingroup proteus
 * A grid of distinct devices, row-major: the last axis varies fastest. "Position" is the place of a
 * device in that order.
 */
class DeviceMesh
{
  public:
    /**
     * @param sizes of the axes, each at least 1
     * @param devices as many as the product of the sizes, distinct
     * @param names of the axes, e.g. "tp"; empty, or one per axis
     * @throw std::invalid_argument if the numbers do not agree or a device stands there twice
     */
    DeviceMesh(std::vector<uint32_t> sizes,
               std::vector<DeviceId> devices,
               std::vector<std::string> names = {});

    /// @return the sizes of the axes
    const std::vector<uint32_t>& GetSizes() const
    {
        return m_sizes;
    }

    /// @return the devices by position
    const std::vector<DeviceId>& GetDevices() const
    {
        return m_devices;
    }

    /// @return the names of the axes, "" where one has none
    const std::vector<std::string>& GetNames() const
    {
        return m_names;
    }

    /// @return number of axes
    MeshAxis GetNAxes() const
    {
        return static_cast<MeshAxis>(m_sizes.size());
    }

    /// @param axis an axis @return how many positions apart neighbours along it are
    uint32_t GetStride(MeshAxis axis) const
    {
        return m_strides[axis];
    }

    /// @param position of a device @param axis an axis @return the device's coordinate on it
    uint32_t GetCoordinate(uint32_t position, MeshAxis axis) const
    {
        return position / m_strides[axis] % m_sizes[axis];
    }

    /// @param axes of this mesh @return into how many parts they split, the product of their sizes
    uint64_t CountParts(const std::vector<MeshAxis>& axes) const;

    /// @param device any @return its position, NO_ID where it is not in the mesh
    uint32_t FindPosition(DeviceId device) const;

    /// @param name of an axis @return its number, NO_ID where none has the name
    uint32_t FindAxis(const std::string& name) const;

  private:
    std::vector<uint32_t> m_sizes;
    std::vector<DeviceId> m_devices;
    std::vector<std::string> m_names;
    std::vector<uint32_t> m_strides;
    std::vector<uint32_t> m_positions; //!< by device - m_first
    DeviceId m_first{0};
};

/// @ingroup proteus
/// Meshes are shared by many layouts and never change.
using MeshPtr = std::shared_ptr<const DeviceMesh>;

/// @ingroup proteus
/// A mesh as a user wrote it, in terms of the one that all meshes of its devices share.
struct RefinedMesh
{
    MeshPtr mesh;                            //!< the shared one
    std::vector<std::vector<MeshAxis>> axes; //!< by axis of the user's: those that make it, major
                                             //!< first
};

/**
 * @ingroup proteus
 * Finds one mesh that refines all meshes over the same devices, so that layouts on them can be
 * compared axis by axis. For instance 4 devices and 2 x 2 devices become 2 x 2; a transposed mesh
 * becomes the same mesh with its axes exchanged.
 */
class MeshTable
{
  public:
    /// @param mesh to take into account; all have to be added before the first is refined
    void Add(const DeviceMesh& mesh);

    /**
     * @param mesh one that was added
     * @return the mesh that it shares with those over the same devices. Where the meshes have no
     * common refinement, as 2 x 3 and 3 x 2, this is the user's own mesh.
     */
    RefinedMesh Refine(const DeviceMesh& mesh);

  private:
    /// All that is known of a set of devices.
    struct Entry
    {
        std::vector<DeviceId> order;           //!< of the first mesh added
        std::vector<uint32_t> cuts;            //!< strides in that order at which some mesh cuts it
        std::map<uint32_t, std::string> names; //!< of axes, by stride
        MeshPtr mesh;                          //!< made when first asked for
        std::vector<MeshPtr> others;           //!< meshes that could not be refined
    };

    /// @param mesh over the devices of an entry @param entry the entry
    /// @return by axis its stride in the entry's order; empty if the mesh is no mixed radix of it
    static std::vector<uint32_t> FindStrides(const DeviceMesh& mesh, const Entry& entry);
    /// @param mesh that cannot be refined @param entry of its devices @return it as it is
    static RefinedMesh KeepOther(const DeviceMesh& mesh, Entry& entry);
    /// @param entry of devices @return the mesh that all those of its cuts share
    static MeshPtr MakeShared(const Entry& entry);

    std::map<std::vector<DeviceId>, Entry> m_entries; //!< by sorted devices
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MESH_H
