/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEXT_READER_H
#define PROTEUS_TEXT_READER_H

#include "proteus-input-file.h"

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What readers of text files with one record per line share.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads a text file line by line. All errors are std::invalid_argument "FILE:LINE: cause".
 */
class TextReader
{
  public:
    /// Longest line of most files, so that memory does not grow with a file that has none.
    static constexpr std::size_t MAX_LINE = 1 << 16;

    /**
     * @param in the file, compressed or not; outlives this object
     * @param fileName what messages call it
     * @param most characters of a line
     */
    TextReader(std::istream& in, const std::string& fileName, std::size_t most = MAX_LINE);

    /**
     * @param path of the file, compressed or not
     * @param most characters of a line
     * @throw std::invalid_argument if it cannot be opened
     */
    explicit TextReader(const std::string& path, std::size_t most = MAX_LINE);

    /// @return what messages call the file
    const std::string& GetName() const
    {
        return m_input.GetName();
    }

    /// @return the number of the line that was read last, from 1 on; 0 before the first
    uint64_t GetLine() const
    {
        return m_line;
    }

    /// @return whether the file ended within the line that was read last, which no newline ends
    bool IsCut() const
    {
        return m_isCut;
    }

    /// @param cause what is wrong in the line that was read last @throw std::invalid_argument
    [[noreturn]] void Fail(const std::string& cause) const;

    /// @param line where @param cause what is wrong @throw std::invalid_argument
    [[noreturn]] void Fail(uint64_t line, const std::string& cause) const;

    /**
     * @param line the next one, without its end
     * @return whether there was one
     * @throw std::invalid_argument if it is longer than allowed
     */
    bool ReadLine(std::string& line);

    /// @param line that was read last, and is none of a file that is wanted @return what the file
    /// looks like, DescribeForeignFile(), for which its begin is read on; empty if that is not
    /// known
    std::string DescribeForeign(const std::string& line);

    /// @param line of a table whose values commas should separate, in which there is none
    /// @return which other sign separates its values; empty if none seems to
    static std::string DescribeSeparator(const std::string& line);

    /// @param words of the next line that has any @return whether there was one
    bool ReadWords(std::vector<std::string>& words);

    /// @param line a line @return its words, which white space separates
    static std::vector<std::string> Split(const std::string& line);

    /**
     * @param word a word of the line
     * @param what it is, for the message
     * @param most largest number that it may be
     * @return the number
     * @throw std::invalid_argument if it is none, or larger
     */
    uint64_t ToUnsigned(const std::string& word, const std::string& what, uint64_t most) const;

    /**
     * @param word a word of the line
     * @param what it is, for the message
     * @param most largest number that it may be
     * @return the number, 0 or more
     * @throw std::invalid_argument if it is none, negative, or larger
     */
    double ToNumber(const std::string& word, const std::string& what, double most) const;

  private:
    /// @param line the first one @throw std::invalid_argument for UTF-16
    void CheckEncoding(const std::string& line) const;

    InputFile m_input;
    std::size_t m_most; //!< characters of a line
    uint64_t m_line{0};
    bool m_isCut{false};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEXT_READER_H
