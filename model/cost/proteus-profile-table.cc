/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-profile-table.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

void
ProfileTable::Add(const ProfileEntry& entry)
{
    FindGpuDatasheet(entry.gpu);
    std::string what = std::string(ToString(entry.kernelClass)) + " " + ToString(entry.pass) +
                       " in " + ToString(entry.type) + " of shape [";
    for (std::size_t i = 0; i < entry.shape.size(); ++i)
    {
        what += (i > 0 ? ", " : "") + std::to_string(entry.shape[i]);
    }
    what += "] on " + entry.gpu;
    const std::size_t size = GetShapeSize(entry.kernelClass);
    // Latent attention has values of another width than its queries and keys.
    const bool hasValue =
        entry.kernelClass == KernelClass::FUSED_ATTENTION && entry.shape.size() == size + 1;
    if (hasValue && entry.shape.back() == entry.shape[size - 1])
    {
        throw std::invalid_argument(what + ": values are as wide as queries and keys: leave out "
                                           "the last size");
    }
    const bool hasGroups = // of channels, each convolved by itself
        entry.kernelClass == KernelClass::CONVOLUTION && entry.shape.size() == size + 1;
    if (!hasValue && !hasGroups && entry.shape.size() != size)
    {
        throw std::invalid_argument(what + ": the shape of this operator has " +
                                    std::to_string(size) + " sizes");
    }
    if (std::count(entry.shape.begin(), entry.shape.end(), 0u) > 0)
    {
        throw std::invalid_argument(what + ": every size must be at least 1");
    }
    if (entry.timePs <= 0)
    {
        throw std::invalid_argument(what + ": the time must be above 0");
    }
    const bool isNew =
        m_times
            .emplace(Key(entry.gpu, entry.kernelClass, entry.pass, entry.type, entry.shape),
                     entry.timePs)
            .second;
    if (!isNew)
    {
        throw std::invalid_argument(what + ": the table has two times for it; keep one");
    }
}

std::optional<int64_t>
ProfileTable::Find(const std::string& gpu, const KernelWork& work) const
{
    if (m_times.empty())
    {
        return std::nullopt;
    }
    Key key(gpu, work.kernelClass, work.pass, work.type, work.shape);
    // A time is of attention to all tokens before; of other keys than queries, to all of them.
    const bool isOther = work.window > 0 || (work.kernelClass == KernelClass::FUSED_ATTENTION &&
                                             !work.isCausal && work.shape[1] == work.shape[2]);
    const auto found = isOther ? m_times.end() : m_times.find(key);
    const std::lock_guard<std::mutex> lock(m_asked->mutex);
    if (work.parts > 1)
    {
        m_asked->inParts.emplace(std::move(key), work.parts);
        return std::nullopt;
    }
    if (found == m_times.end())
    {
        if (work.GetNKernels() > 0)
        {
            m_asked->missed.insert(std::move(key));
        }
        return std::nullopt;
    }
    m_asked->used.insert(std::move(key));
    return found->second;
}

std::size_t
ProfileTable::CountMissed() const
{
    const std::lock_guard<std::mutex> lock(m_asked->mutex);
    return m_asked->missed.size();
}

std::size_t
ProfileTable::CountInParts() const
{
    const std::lock_guard<std::mutex> lock(m_asked->mutex);
    return m_asked->inParts.size();
}

std::vector<ProfileEntry>
ProfileTable::ListUnused() const
{
    std::vector<ProfileEntry> unused = GetEntries();
    const std::lock_guard<std::mutex> lock(m_asked->mutex);
    unused.erase(
        std::remove_if(
            unused.begin(),
            unused.end(),
            [this](const ProfileEntry& entry) {
                return m_asked->used.count(
                           {entry.gpu, entry.kernelClass, entry.pass, entry.type, entry.shape}) > 0;
            }),
        unused.end());
    return unused;
}

std::vector<ProfileEntry>
ProfileTable::GetEntries() const
{
    std::vector<ProfileEntry> entries;
    entries.reserve(m_times.size());
    for (const auto& [key, timePs] : m_times)
    {
        ProfileEntry entry;
        std::tie(entry.gpu, entry.kernelClass, entry.pass, entry.type, entry.shape) = key;
        entry.timePs = timePs;
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace proteus
} // namespace ns3
