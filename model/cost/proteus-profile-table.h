/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROFILE_TABLE_H
#define PROTEUS_PROFILE_TABLE_H

#include "proteus-kernel-work.h"

#include "ns3/proteus-graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Measured times of operators.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One measurement.
struct ProfileEntry
{
    std::string gpu;                            //!< name of a data sheet
    KernelClass kernelClass{KernelClass::GEMM}; //!< what was measured
    KernelPass pass{KernelPass::FORWARD};       //!< which part of it
    DataType type{DataType::BF16};              //!< number format
    std::vector<uint64_t> shape;                //!< see KernelClass
    int64_t timePs{0};                          //!< on the GPU, without the host, picoseconds
};

/**
 * @ingroup proteus
 * Measured times, which go before computed ones. A time is used only for exactly the GPU, class,
 * pass, format and shape that were measured; nothing is interpolated.
 */
class ProfileTable
{
  public:
    /**
     * @param entry a measurement
     * @throw std::invalid_argument if the GPU has no data sheet, the shape has another number of
     * sizes than its class or a 0, the time is not above 0, or the same thing is there already
     */
    void Add(const ProfileEntry& entry);

    /**
     * @param gpu name of a data sheet
     * @param work an operator
     * @return its measured time in picoseconds, if there is one; never of one in several parts, as
     * in a ring, which nobody times as one
     */
    std::optional<int64_t> Find(const std::string& gpu, const KernelWork& work) const;

    /// @return number of measurements
    std::size_t GetSize() const
    {
        return m_times.size();
    }

    /// @return measurements that Find() of this table and its copies has not given, ordered as
    /// GetEntries()
    std::vector<ProfileEntry> ListUnused() const;

    /// @return different operators with a kernel that Find() of this table and its copies was asked
    /// for and gave no time of; 0 if the table is empty
    std::size_t CountMissed() const;

    /// @return different operators in several parts that Find() of this table and its copies was
    /// asked for; 0 if the table is empty
    std::size_t CountInParts() const;

    /// @return all measurements, ordered by GPU, class, pass, format and shape
    std::vector<ProfileEntry> GetEntries() const;

    /// How the times were taken: machine, software, method; for reports.
    std::string description;

  private:
    using Key = std::tuple<std::string, KernelClass, KernelPass, DataType, std::vector<uint64_t>>;

    /// What Find() was asked for; several threads may time kernels.
    struct Asked
    {
        std::mutex mutex;
        std::set<Key> used;   //!< that have a time
        std::set<Key> missed; //!< that have none
        /// That are in several parts, with how many.
        std::set<std::pair<Key, uint32_t>> inParts;
    };

    std::map<Key, int64_t> m_times; //!< picoseconds
    std::shared_ptr<Asked> m_asked{std::make_shared<Asked>()};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROFILE_TABLE_H
