/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEXT_BLOCKS_H
#define PROTEUS_TEXT_BLOCKS_H

#include <cstddef>
#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Text that is written in large pieces.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Collects short texts, and hands them on to a stream in blocks; what is left at the end.
class TextBlocks
{
  public:
    /// @param out where to; must outlive this object
    explicit TextBlocks(std::ostream& out)
        : m_out(out)
    {
    }

    ~TextBlocks()
    {
        m_out << m_text;
    }

    TextBlocks(const TextBlocks&) = delete;
    TextBlocks& operator=(const TextBlocks&) = delete;

    /// @param text to write behind all others @return this object
    TextBlocks& operator+=(const std::string& text)
    {
        m_text += text;
        if (m_text.size() >= BLOCK_BYTES)
        {
            m_out << m_text;
            m_text.clear();
        }
        return *this;
    }

  private:
    static constexpr std::size_t BLOCK_BYTES = 1U << 16; //!< from how many on they are written
    std::ostream& m_out;
    std::string m_text;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEXT_BLOCKS_H
