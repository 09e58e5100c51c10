/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NOTE_COUNTS_H
#define PROTEUS_NOTE_COUNTS_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What several runs say, each sentence once.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Notes of several runs. Those that differ in digits only are one, as many runs say the same of
 * other numbers.
 */
class NoteCounts
{
  public:
    /// @param note of a run; a run has each kind once
    void Add(const std::string& note);

    /// @return in the order of their texts: a note as it was first, with "; others with other
    /// numbers" if there were such, and of how many runs it is
    std::vector<std::pair<std::string, uint32_t>> List() const;

  private:
    /// Those that differ in digits only.
    struct Kind
    {
        uint32_t runs{0};
        bool isVaried{false};
        std::string first;
    };

    std::map<std::string, Kind> m_kinds; //!< by the note without its digits
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NOTE_COUNTS_H
