/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ENUM_NAMES_H
#define PROTEUS_ENUM_NAMES_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param what there is none of, e.g. "collective" @param text that was read @param known names
/// @throw std::invalid_argument always: "unknown WHAT 'TEXT'; known are A, B and so on"
[[noreturn]] void FailUnknownName(const std::string& what,
                                  const std::string& text,
                                  const std::vector<std::string>& known);

/**
 * @ingroup proteus
 * What the values of an enumeration are called in files, on the command line and in results: one
 * table for reading and for writing.
 * @tparam ENUM an enumeration
 * @tparam N values that have a name
 */
template <typename ENUM, std::size_t N>
class EnumNames
{
  public:
    /// A value and its name.
    struct Entry
    {
        ENUM value{};              //!< of the enumeration
        const char* name{nullptr}; //!< never null in a table
    };

    /// @param what they are, for messages: "data type" @param entries of the table
    constexpr EnumNames(const char* what, const Entry (&entries)[N])
        : m_what(what),
          m_entries()
    {
        for (std::size_t i = 0; i < N; ++i)
        {
            if (entries[i].name == nullptr)
            {
                throw std::logic_error("a table of names is shorter than it says");
            }
            m_entries[i] = entries[i];
        }
    }

    /// @param value any @return its name; null if it has none
    const char* Find(ENUM value) const
    {
        const auto found = std::find_if(m_entries.begin(),
                                        m_entries.end(),
                                        [value](const Entry& e) { return e.value == value; });
        return found == m_entries.end() ? nullptr : found->name;
    }

    /// @param value of the enumeration
    /// @return its name
    /// @throw std::invalid_argument if it has none
    const char* Get(ENUM value) const
    {
        if (const char* name = Find(value))
        {
            return name;
        }
        throw std::invalid_argument(std::string("a value that is no ") + m_what);
    }

    /// @param text a name
    /// @return the value that is called so
    /// @throw std::invalid_argument if none is; the message lists those that are known
    ENUM Parse(const std::string& text) const
    {
        const auto found = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& e) {
            return text == e.name;
        });
        if (found == m_entries.end())
        {
            FailUnknownName(m_what, text, List());
        }
        return found->value;
    }

    /// @return all names
    std::vector<std::string> List() const
    {
        std::vector<std::string> names;
        for (const Entry& entry : m_entries)
        {
            names.emplace_back(entry.name);
        }
        return names;
    }

    /// @return all values with their names
    const std::array<Entry, N>& GetAll() const
    {
        return m_entries;
    }

  private:
    const char* m_what;
    std::array<Entry, N> m_entries;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ENUM_NAMES_H
