/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_POOL_H
#define PROTEUS_POOL_H

#include "proteus-huge-pages.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Objects that are named by small numbers, which are used again: the place that was given back last
 * is taken first. The object that stood in it stays as it is, with its memory, until the next user
 * changes it.
 *
 * Taking a place may move all objects: a reference to one is good until the next Take() only.
 * @tparam T what the places hold; must have a default value
 */
template <class T>
class Pool
{
  public:
    /// @return a free place; a new one holds T(), others what they held when they were given back
    uint32_t Take()
    {
        if (m_free.empty())
        {
            m_places.emplace_back();
            return static_cast<uint32_t>(m_places.size() - 1);
        }
        const uint32_t id = m_free.back();
        m_free.pop_back();
        return id;
    }

    /// @param value to put there @return a place that was free
    uint32_t Add(T&& value)
    {
        const uint32_t id = Take();
        m_places[id] = std::move(value);
        return id;
    }

    /// @copydoc Add
    uint32_t Add(const T& value)
    {
        return Add(T(value));
    }

    /// @param id of a place that is taken, and free from now on
    void GiveBack(uint32_t id)
    {
        m_free.push_back(id);
    }

    /// @param id of a place @return what it holds
    T& operator[](uint32_t id)
    {
        return m_places[id];
    }

    /// @param id of a place @return what it holds
    const T& operator[](uint32_t id) const
    {
        return m_places[id];
    }

    /// Brings an object nearer to the processor. @param id of a place, or any number
    void Prefetch(uint32_t id) const
    {
        if (id < m_places.size())
        {
            __builtin_prefetch(&m_places[id]);
        }
    }

    /// @return number of places, taken and free: all numbers are below
    std::size_t GetNPlaces() const
    {
        return m_places.size();
    }

    /// @return number of places that are taken
    std::size_t GetNTaken() const
    {
        return m_places.size() - m_free.size();
    }

    /// Forgets all places.
    void Clear()
    {
        m_places.clear();
        m_free.clear();
    }

  private:
    std::vector<T, HugePageAllocator<T>> m_places; //!< by number
    std::vector<uint32_t> m_free;                  //!< the one given back last at the end
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_POOL_H
