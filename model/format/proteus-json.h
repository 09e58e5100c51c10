/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_JSON_H
#define PROTEUS_JSON_H

#include <cstdint>
#include <initializer_list>
#include <istream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What all readers of JSON files share: errors of one line that say where in the file the cause is,
 * and access to fields with their type checked.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A value inside a parsed file. Small: pass it by value. Refers to the JsonDocument.
 *
 * Every error is a std::invalid_argument "FILE: /links/3/a: cause", where the middle is the JSON
 * pointer (RFC 6901) of the value; it is left out for the root.
 */
class JsonValue
{
  public:
    /**
     * @param fileName for errors, outlives this object
     * @param root of the file, outlives this object
     * @param value somewhere inside the root
     */
    JsonValue(const std::string& fileName, const nlohmann::json& root, const nlohmann::json& value);

    /// @param cause what is wrong with this value, and how to mend it @throw std::invalid_argument
    [[noreturn]] void Fail(const std::string& cause) const;

    /// @return the value itself
    const nlohmann::json& Raw() const
    {
        return *m_value;
    }

    /// @param key of a field @return whether this object has it @throw if this is no object
    bool Has(const char* key) const;

    /// @param key of a field @return its value @throw if this is no object or does not have it
    JsonValue Get(const char* key) const;

    /// @param keys all that this object may have @throw if this is no object or has another key
    void AllowKeys(std::initializer_list<const char*> keys) const;

    /// @return number of elements @throw if this is no array
    std::size_t Size() const;

    /// @param i position @return element of this array @throw if this is no array or too short
    JsonValue At(std::size_t i) const;

    /// @return the text @throw if this is no string
    const std::string& AsString() const;

    /// @return the truth @throw if this is no boolean
    bool AsBool() const;

    /**
     * @param least smallest number allowed
     * @param most largest number allowed
     * @return the number
     * @throw if this is no number or outside
     */
    double AsNumber(double least, double most) const;

    /**
     * @param least smallest number allowed
     * @param most largest number allowed
     * @return the number; 4e9 and 4.0 count as integers
     * @throw if this is no integer or outside
     */
    uint64_t AsUnsigned(uint64_t least, uint64_t most) const;

    /// As AsUnsigned(), for numbers that may be negative. @copydetails AsUnsigned
    int64_t AsInteger(int64_t least, int64_t most) const;

    /**
     * Runs something that checks this value; what it has to say gets the place in front.
     * @param f to run; must not use the JsonValues' own accessors, whose errors have a place
     * already
     * @return what it returns
     * @throw std::invalid_argument in place of one that f throws
     */
    template <typename F>
    auto Check(F f) const -> decltype(f())
    {
        try
        {
            return f();
        }
        catch (const std::invalid_argument& error)
        {
            Fail(error.what());
        }
    }

  private:
    const std::string* m_fileName;
    const nlohmann::json* m_root;
    const nlohmann::json* m_value;
};

/**
 * @ingroup proteus
 * A parsed file. Must outlive the JsonValues that come from it.
 */
class JsonDocument
{
  public:
    /**
     * Reads to the end.
     * @param input the text
     * @param fileName for errors
     * @throw std::invalid_argument "FILE:LINE:COLUMN: cause" for bad syntax, for a key that an
     * object has twice, and for nesting beyond 100; the place is where the parser stopped, columns
     * count bytes from 1
     */
    JsonDocument(std::istream& input, const std::string& fileName);

    JsonDocument(const JsonDocument&) = delete;
    JsonDocument& operator=(const JsonDocument&) = delete;

    /// @return the whole
    JsonValue GetRoot() const
    {
        return JsonValue(m_fileName, m_root, m_root);
    }

    /**
     * Checks the two fields that every native file begins with.
     * @param format what "format" must be
     * @param version newest that "version" may be; it begins with 1
     * @throw std::invalid_argument if they are not so
     */
    void CheckFormat(const std::string& format, uint32_t version) const;

  private:
    std::string m_fileName;
    nlohmann::json m_root;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_JSON_H
