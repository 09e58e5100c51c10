/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_PROTOBUF_IDS_H
#define PROTEUS_GRAPH_PROTOBUF_IDS_H

#include <cstdint>
#include <limits>

/**
 * @file
 * @ingroup proteus
 * How ids stand in graphs as Protobuf. Internal to their reader and writer.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What "format" of such a file is.
constexpr const char* GRAPH_PROTOBUF_FORMAT = "proteus-graph";
/// @ingroup proteus
/// Newest version of such a file.
constexpr uint32_t GRAPH_PROTOBUF_VERSION = 1;

/// @ingroup proteus
/// Turns ids into differences, or back.
class IdSteps
{
  public:
    /// @param id the next one @return how far it is from the one before
    int64_t ToStep(uint32_t id)
    {
        const int64_t step = static_cast<int64_t>(id) - m_last;
        m_last = id;
        return step;
    }

    /// @param step from the id before @param id the next one @return whether it is one
    bool FromStep(int64_t step, uint32_t& id)
    {
        constexpr int64_t MAX = std::numeric_limits<uint32_t>::max();
        if (step < -MAX || step > MAX || m_last + step < 0 || m_last + step > MAX)
        {
            return false;
        }
        m_last += step;
        id = static_cast<uint32_t>(m_last);
        return true;
    }

    /// @param id that the next step counts from
    void StartAt(uint32_t id)
    {
        m_last = id;
    }

  private:
    int64_t m_last{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_PROTOBUF_IDS_H
