/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HPCC_WORDS_H
#define PROTEUS_HPCC_WORDS_H

#include "proteus-text-reader.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The words of text topologies and lists of flows as the HPCC simulator has them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A word of a file.
struct HpccWord
{
    std::string text;
    uint64_t line{0}; //!< where it stands
};

/// @ingroup proteus
/// The words of a file, one after the other; what follows a '#' in a line is skipped. What is wrong
/// throws std::invalid_argument "FILE:LINE: cause".
class HpccWords
{
  public:
    /// @param reader of the file; must outlive this object
    explicit HpccWords(TextReader& reader)
        : m_reader(reader)
    {
    }

    /// @param line where @param cause what is wrong @throw std::invalid_argument
    [[noreturn]] void Fail(uint64_t line, const std::string& cause) const;

    /// @param line where @param text what a user should know, though the file is read
    void Warn(uint64_t line, const std::string& text) const;

    /// @return all words of the next line that has some; empty at the end of the file
    std::vector<HpccWord> NextLine();

    /// @param text of a line that was read already @return its words
    std::vector<HpccWord> Split(const std::string& text) const;

    /// @param what the word must be, for the message @return the next word
    HpccWord Next(const char* what);

    /// Warns of lines behind those that were read that have a number, as records do; other text
    /// there is a comment: the simulator's files explain their format there ("src0 dst0 rate delay
    /// error_rate"). @param count of what was read, as the first line says
    /// @param thing what one of them is called
    void WarnOfRest(uint64_t count, const std::string& thing);

    /// @param word a number @param what it is @param most largest one @return it
    uint64_t ToWhole(const HpccWord& word, const std::string& what, uint64_t most) const;

    /// @param word a probability @return it
    double ToProbability(const HpccWord& word) const;

    /// @param word a time, of seconds where it has no unit @param what it is @return picoseconds
    int64_t ToPicoseconds(const HpccWord& word, const std::string& what) const;

    /// @param word a rate, of bits per second where it has no unit @return bytes per second
    double ToBytesPerSecond(const HpccWord& word) const;

    /// @param word to show @return it, in quotes and short
    static std::string Shown(const HpccWord& word);

  private:
    /**
     * @param word a number and what follows it
     * @param what it is
     * @param unit gets what follows
     * @return the number
     */
    double ToNumber(const HpccWord& word, const std::string& what, std::string& unit) const;

    /// Adds the words of one line to m_words. @return whether there was one
    bool ReadLine();

    TextReader& m_reader;
    std::vector<HpccWord> m_words; //!< of the line
    std::size_t m_next{0};         //!< in it
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HPCC_WORDS_H
