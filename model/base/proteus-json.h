/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_JSON_H
#define PROTEUS_JSON_H

#include <cstddef>
#include <cstdint>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

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

class JsonDocument;

/**
 * @ingroup proteus
 * What is wrong with a value, behind its place.
 */
class JsonError : public std::invalid_argument
{
  public:
    /// @param fileName of the value @param text that says the place and the cause
    JsonError(const std::string& fileName, const std::string& text)
        : std::invalid_argument(text),
          m_fileName(fileName)
    {
    }

    /// @return the file of the value
    const std::string& GetFileName() const
    {
        return m_fileName;
    }

  private:
    std::string m_fileName;
};

/**
 * @ingroup proteus
 * A value inside a parsed file. Small: pass it by value. Refers to the JsonDocument.
 *
 * Every error is a JsonError "FILE: /links/3/a: cause", where the middle is the JSON
 * pointer (RFC 6901) of the value; it is left out for the root.
 */
class JsonValue
{
  public:
    /**
     * @param document where the value is; outlives this object
     * @param value somewhere inside the document's root
     */
    JsonValue(const JsonDocument& document, const nlohmann::json& value)
        : m_document(&document),
          m_value(&value)
    {
    }

    /// @param cause what is wrong with this value, and how to mend it @throw JsonError
    [[noreturn]] void Fail(const std::string& cause) const;

    /// @param text about this value @return it, behind the place: "FILE: /links/3/a: text"
    std::string Describe(const std::string& text) const;

    /**
     * @param key of a field that this object lacks
     * @param hint what it must be, or where, for the message
     * @throw std::invalid_argument
     */
    [[noreturn]] void FailMissing(const std::string& key, const std::string& hint = "") const;

    /// @return the value as a message shows it: JSON, not too long
    std::string Shown() const;

    /// @return the whole value as JSON, on one line
    std::string Dump() const;

    /// @param key of a field @return whether this object has it @throw if this is no object
    bool Has(const char* key) const;

    /// @return the keys of this object, sorted, which messages of one line may quote
    /// @throw if this is no object, or one has control characters
    std::vector<std::string> GetKeys() const;

    /// @param key of a field @return its value, if it is there @throw if this is no object
    std::optional<JsonValue> Find(const char* key) const;

    /// @param key of a field @return its value @throw if this is no object or does not have it
    JsonValue Get(const char* key) const;

    /**
     * Refuses fields that would be overlooked.
     * @param what of what kind this object is, for the message, e.g. "a link"
     * @param keys all that it may have
     * @throw if this is no object or has another key
     */
    void AllowKeys(const std::string& what, const std::vector<const char*>& keys) const;

    /// @return number of elements @throw if this is no list
    std::size_t Size() const;

    /// @param i position, less than Size() @return element of this list @throw if this is no list
    JsonValue At(std::size_t i) const;

    /// @return whether this is a string
    bool IsString() const
    {
        return m_value->is_string();
    }

    /// @return whether this is null
    bool IsNull() const
    {
        return m_value->is_null();
    }

    /// @return whether this is a list
    bool IsList() const
    {
        return m_value->is_array();
    }

    /// @return whether this is an object
    bool IsObject() const
    {
        return m_value->is_object();
    }

    /// @return the text @throw if this is no string
    const std::string& AsString() const;

    /// @return the text, which messages of one line may quote
    /// @throw if this is no string, or has control characters
    const std::string& AsName() const;

    /// @return the truth @throw if this is no boolean
    bool AsBool() const;

    /**
     * @param least smallest number allowed
     * @param most largest number allowed; infinity for no bound
     * @return the number
     * @throw if this is no number or outside
     */
    double AsNumber(double least, double most) const;

    /**
     * @param least smallest number allowed
     * @param most largest number allowed
     * @return the number, which must be written as an integer, so that no digit is lost
     * @throw if this is no integer or outside
     */
    uint64_t AsUnsigned(uint64_t least, uint64_t most) const;

    /**
     * @param least smallest number allowed
     * @param most largest number allowed
     * @return the number; 4e9 and 4.0 count as integers
     * @throw if this is no integer or outside
     */
    uint64_t AsWhole(uint64_t least, uint64_t most) const;

    /**
     * Runs a check of this value. If it throws, the error gets the place of the value in front,
     * unless it is about a value of this file and so has its place.
     * @param f to run
     * @return what it returns
     * @throw JsonError in place of a std::invalid_argument that f throws
     */
    template <typename F>
    auto Check(F f) const -> decltype(f())
    {
        try
        {
            return f();
        }
        catch (const JsonError& error)
        {
            if (error.GetFileName() == GetFileName())
            {
                throw;
            }
            Fail(error.what());
        }
        catch (const std::invalid_argument& error)
        {
            Fail(error.what());
        }
    }

  private:
    /// @return the file that this value is in
    const std::string& GetFileName() const;
    /// @throw if this is no object
    void CheckIsObject() const;
    /// @return this value's JSON pointer
    std::string GetPointer() const;
    /// @param least smallest number allowed @param most largest one @throw std::invalid_argument
    [[noreturn]] void FailRange(uint64_t least, uint64_t most) const;

    const JsonDocument* m_document;
    const nlohmann::json* m_value;
};

/**
 * @ingroup proteus
 * Takes the elements of a list that may be too long to be kept in memory, one by one.
 */
class JsonListReader
{
  public:
    virtual ~JsonListReader() = default;

    /// @param root the fields of the file that stand before the list
    virtual void Begin(JsonValue root) = 0;

    /// @param element the next one; valid during this call
    virtual void Add(JsonValue element) = 0;
};

/**
 * @ingroup proteus
 * A parsed file, which holds one object. Must outlive the JsonValues that come from it.
 *
 * All constructors throw std::invalid_argument. For bad syntax it is "FILE:LINE:COLUMN: cause",
 * where the place is that at which the parser stopped; columns count bytes from 1. For good JSON
 * that is refused all the same, such as a key that an object has twice, the place is a JSON
 * pointer, as in JsonValue.
 */
class JsonDocument
{
  public:
    /**
     * Reads to the end.
     * @param input the text
     * @param fileName for errors
     * @param maxDepth most containers inside each other below a field of the file; it bounds the
     * recursion of code that follows them
     * @throw std::invalid_argument
     */
    JsonDocument(std::istream& input,
                 const std::string& fileName,
                 std::size_t maxDepth = MAX_DEPTH);

    /**
     * Reads to the end without keeping one list.
     * @param input the text
     * @param fileName for errors
     * @param list field of the file with that list; the document has no such field
     * @param reader takes its elements while the file is read
     * @throw std::invalid_argument; what the reader throws passes through
     */
    JsonDocument(std::istream& input,
                 const std::string& fileName,
                 const std::string& list,
                 JsonListReader& reader);

    /**
     * A part of a file that was cut out of it.
     * @param fileName for errors
     * @param pointer JSON pointer of the part in its file
     * @param part the part
     */
    JsonDocument(const std::string& fileName, const std::string& pointer, nlohmann::json&& part);

    JsonDocument(const JsonDocument&) = delete;
    JsonDocument& operator=(const JsonDocument&) = delete;

    /// @return the whole
    JsonValue GetRoot() const
    {
        return JsonValue(*this, m_root);
    }

    /**
     * Checks the two fields that every native file begins with.
     * @param format what "format" must be
     * @param version newest that "version" may be; it begins with 1
     * @throw std::invalid_argument if they are not so
     */
    void CheckFormat(const std::string& format, uint32_t version) const;

    /// @return the name of the file, for messages
    const std::string& GetFileName() const
    {
        return m_fileName;
    }

  private:
    friend class JsonValue;
    class Handler;

    void Read(std::istream& input, const std::string* list, JsonListReader* reader);

    /// More containers inside each other than most formats need.
    static constexpr std::size_t MAX_DEPTH = 7;

    std::string m_fileName;
    std::size_t m_maxDepth{MAX_DEPTH};
    std::string m_pointer; //!< of the root in the file; empty if it is all of it
    nlohmann::json m_root;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_JSON_H
