/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STRONG_ID_H
#define PROTEUS_STRONG_ID_H

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A number that names one of many things of a kind, and does not turn into the number of another
 * kind by accident: `using LocalTask = StrongId<struct LocalTaskTag>;`. It costs what a uint32_t
 * costs.
 *
 * @tparam Tag any type, a different one for each kind
 */
template <typename Tag>
class StrongId
{
  public:
    constexpr StrongId() = default;

    /// @param value the number
    constexpr explicit StrongId(uint32_t value)
        : m_value(value)
    {
    }

    /// @return an id that names nothing
    static constexpr StrongId None()
    {
        return StrongId();
    }

    /// @return the number, as a position in arrays
    constexpr uint32_t Get() const
    {
        return m_value;
    }

    /// @return whether it names something
    constexpr bool IsValid() const
    {
        return m_value != NONE;
    }

    /// @param other an id @return whether both are the same
    constexpr bool operator==(StrongId other) const
    {
        return m_value == other.m_value;
    }

    /// @param other an id @return whether they differ
    constexpr bool operator!=(StrongId other) const
    {
        return m_value != other.m_value;
    }

    /// @param other an id @return whether this one has the smaller number
    constexpr bool operator<(StrongId other) const
    {
        return m_value < other.m_value;
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    uint32_t m_value{NONE};
};

} // namespace proteus
} // namespace ns3

/// @ingroup proteus
/// Makes ns3::proteus::StrongId a key of unordered containers.
template <typename Tag>
struct std::hash<ns3::proteus::StrongId<Tag>>
{
    /// @param id a key @return its hash
    std::size_t operator()(ns3::proteus::StrongId<Tag> id) const noexcept
    {
        return std::hash<uint32_t>()(id.Get());
    }
};

#endif // PROTEUS_STRONG_ID_H
