/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_JSON_TEXT_H
#define PROTEUS_JSON_TEXT_H

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <streambuf>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Internal to JsonDocument: finds the line and column of a place in JSON text, and puts the
 * parser's errors into plain words.
 */

namespace ns3
{
namespace proteus
{

/// @param text to show @param length most bytes of it @return it, with dots where it was cut
std::string ShortenJson(const std::string& text, std::size_t length);

/// Bytes of a value or a key that a message shows.
constexpr std::size_t MAX_SHOWN_JSON = 80;

/// @param key of an object @return it as part of a JSON pointer (RFC 6901), on one line
std::string JsonPointerToken(const std::string& key);

/// @param fileName of a document @param pointer to a value in it @param text about the value
/// @return the text behind where the value stands: the file, and the JSON pointer in it
std::string DescribeJsonAt(const std::string& fileName,
                           const std::string& pointer,
                           const std::string& text);

/// @param fileName of a document @param pointer to a value in it @param cause what is wrong with it
/// @throw JsonError that says so
[[noreturn]] void FailJsonAt(const std::string& fileName,
                             const std::string& pointer,
                             const std::string& cause);

/// @param message of nlohmann_json @param isJson whether the text is meant to be JSON
/// @return its last part, which says the cause, and how to mend it if that is known
std::string FindJsonCause(const std::string& message, bool isJson);

/// @param text that does not begin as an object does
/// @return its first line that is neither empty nor a comment of some other language
std::string FindFirstLine(const std::string& text);

/// @param line first one of a text @return whether it is "[section]", with which TOML and INI begin
bool IsSection(const std::string& line);

/// Counts lines and columns while the parser reads, since it reports bytes only.
class JsonTextPosition
{
  public:
    /// @param c next character that is read
    void Advance(char c)
    {
        m_line += m_startsLine ? 1 : 0;
        m_column = m_startsLine ? 1 : m_column + 1;
        m_startsLine = c == '\n';
        m_bytes++;
        m_hasZero = m_hasZero || c == '\0';
    }

    /// @return whether a byte of zero was read, which the parser takes for the end of the text
    bool HasZero() const
    {
        return m_hasZero;
    }

    /// @return whether that byte is one of the first two, as in UTF-16 without a byte order mark
    bool IsWide() const
    {
        return m_hasZero && m_bytes <= 2;
    }

    /// @param bytes where the parser is: past the last character if the text ended too early
    /// @return "LINE:COLUMN"
    std::string ToText(uint64_t bytes) const
    {
        JsonTextPosition position = *this;
        if (bytes > m_bytes)
        {
            position.Advance(' ');
        }
        return std::to_string(position.m_line) + ":" + std::to_string(position.m_column);
    }

  private:
    uint64_t m_bytes{0}; //!< that were read
    uint64_t m_line{1};
    uint64_t m_column{0}; //!< of the last character that was read
    bool m_startsLine{false};
    bool m_hasZero{false};
};

/// Input iterator over a stream's buffer that keeps a JsonTextPosition; one made without arguments
/// is the end.
class JsonTextIterator
{
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    JsonTextIterator() = default;

    /// @param buffer to read @param position to keep
    JsonTextIterator(std::streambuf* buffer, JsonTextPosition* position)
        : m_buffer(buffer),
          m_position(position)
    {
    }

    char operator*() const
    {
        return std::streambuf::traits_type::to_char_type(m_buffer->sgetc());
    }

    JsonTextIterator& operator++()
    {
        m_position->Advance(std::streambuf::traits_type::to_char_type(m_buffer->sbumpc()));
        return *this;
    }

    JsonTextIterator operator++(int)
    {
        JsonTextIterator before = *this;
        ++*this;
        return before;
    }

    bool operator==(const JsonTextIterator& other) const
    {
        return IsAtEnd() == other.IsAtEnd(); // good enough to compare with the end
    }

    bool operator!=(const JsonTextIterator& other) const
    {
        return !(*this == other);
    }

  private:
    bool IsAtEnd() const
    {
        return m_buffer == nullptr || m_buffer->sgetc() == std::streambuf::traits_type::eof();
    }

    std::streambuf* m_buffer{nullptr};
    JsonTextPosition* m_position{nullptr};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_JSON_TEXT_H
