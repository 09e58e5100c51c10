/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-json.h"

#include "proteus-comma-list.h"
#include "proteus-foreign-files.h"
#include "proteus-json-text.h"
#include "proteus-nearest-name.h"
#include "proteus-other-names.h"

#include <algorithm>
#include <cmath>
#include <ios>
#include <sstream>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// Bytes of a value or a key that a message shows.
constexpr std::size_t MAX_SHOWN = 80;

/// @param text to check @return whether it cannot stand in a line
bool
HasControlCharacters(const std::string& text)
{
    return std::any_of(text.begin(), text.end(), [](char character) {
        return static_cast<unsigned char>(character) < 0x20 || character == 0x7f;
    });
}

/// A key as part of a JSON pointer (RFC 6901), on one line.
std::string
PointerToken(const std::string& key)
{
    std::string token;
    for (const char c : ShortenJson(key, MAX_SHOWN))
    {
        if (c == '~')
        {
            token += "~0";
        }
        else if (c == '/')
        {
            token += "~1";
        }
        else
        {
            token += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        }
    }
    return token;
}

/// @return a text behind where a value stands: the file, and the JSON pointer in it
std::string
DescribeAt(const std::string& fileName, const std::string& pointer, const std::string& text)
{
    return fileName + ": " + (pointer.empty() ? "" : pointer + ": ") + text;
}

/// Says what is wrong, and where.
[[noreturn]] void
FailAt(const std::string& fileName, const std::string& pointer, const std::string& cause)
{
    throw JsonError(fileName, DescribeAt(fileName, pointer, cause));
}

/**
 * Finds a value by its address.
 * @param where to search
 * @param value to find
 * @param pointer its JSON pointer so far; complete on return
 * @return whether it is there
 */
bool
FindPointer(const Json& where, const Json& value, std::string& pointer)
{
    if (&where == &value)
    {
        return true;
    }
    const std::size_t length = pointer.size();
    if (where.is_object())
    {
        for (auto it = where.begin(); it != where.end(); ++it)
        {
            pointer += '/' + PointerToken(it.key());
            if (FindPointer(it.value(), value, pointer))
            {
                return true;
            }
            pointer.resize(length);
        }
    }
    else if (where.is_array())
    {
        for (std::size_t i = 0; i < where.size(); ++i)
        {
            pointer += '/' + std::to_string(i);
            if (FindPointer(where[i], value, pointer))
            {
                return true;
            }
            pointer.resize(length);
        }
    }
    return false;
}

/// @param number to print @return it, in as few digits as it takes
std::string
Print(double number)
{
    std::ostringstream text;
    text << number;
    return text.str();
}

} // namespace

/**
 * Makes values of the parser's events. Keeps all fields of the file, and of the elements of the
 * long list one at a time.
 */
class JsonDocument::Handler : public nlohmann::json_sax<Json>
{
  public:
    /// @param document to fill @param list the long list, or null @param reader of its elements
    Handler(JsonDocument& document, const std::string* list, JsonListReader* reader)
        : m_document(document),
          m_list(list),
          m_reader(reader)
    {
    }

    void Parse(std::istream& input)
    {
        m_input = &input;
        const int first = input.rdbuf()->sgetc();
        if (first == 0xfe || first == 0xff) // no UTF-8 begins so
        {
            throw std::invalid_argument(m_document.m_fileName +
                                        ":1:1: the file is UTF-16: save it as UTF-8");
        }
        Json::sax_parse(JsonTextIterator(input.rdbuf(), &m_position), JsonTextIterator(), this);
        if (m_position.HasZero())
        {
            throw std::invalid_argument(m_document.m_fileName + ":" + m_position.ToText(0) +
                                        ": a byte of zero, which no text has: the file was cut off "
                                        "or is damaged");
        }
    }

    bool null() override
    {
        return OnValue(Json());
    }

    bool boolean(bool value) override
    {
        return OnValue(Json(value));
    }

    bool number_integer(number_integer_t value) override
    {
        return OnValue(Json(value));
    }

    bool number_unsigned(number_unsigned_t value) override
    {
        return OnValue(Json(value));
    }

    bool number_float(number_float_t value, const string_t& /* text */) override
    {
        return OnValue(Json(value));
    }

    bool string(string_t& value) override
    {
        return OnValue(Json(std::move(value)));
    }

    bool binary(binary_t& /* value */) override
    {
        throw std::logic_error("JSON text has no binary values");
    }

    bool start_object(std::size_t /* size */) override
    {
        if (!m_isInFile)
        {
            m_isInFile = true;
            return true;
        }
        return Open(Json::object());
    }

    bool start_array(std::size_t /* size */) override
    {
        if (IsAtList())
        {
            m_isInList = true;
            m_reader->Begin(m_document.GetRoot());
            return true;
        }
        return Open(Json::array());
    }

    bool key(string_t& value) override
    {
        const bool isField = m_open.empty(); // of the file
        const Json& object = isField ? m_document.m_root : m_open.back();
        std::string& last = isField ? m_field : m_keys.back();
        last = std::move(value);
        if (object.contains(last) || (isField && m_hadList && last == *m_list))
        {
            FailAt(m_document.m_fileName, GetPointer(), "appears twice");
        }
        return true;
    }

    bool end_object() override
    {
        return m_open.empty() || Close();
    }

    bool end_array() override
    {
        if (m_open.empty())
        {
            m_isInList = false;
            m_hadList = true;
            return true;
        }
        return Close();
    }

    bool parse_error(std::size_t position,
                     const std::string& token,
                     const nlohmann::detail::exception& error) override
    {
        const std::string text = m_isInFile || token.empty() ? "" : token + ReadTextBegin(*m_input);
        const std::string foreign = DescribeText(text);
        const bool isJson = text.empty() || FindFirstLine(text).compare(0, 1, "{") == 0;
        throw std::invalid_argument(
            m_document.m_fileName + ":" +
            (!foreign.empty()
                 ? " " + foreign
                 : m_position.ToText(position) + ": " + FindJsonCause(error.what(), isJson) +
                       (isJson ? "" : "; this is no JSON file, which begins with '{'")));
    }

  private:
    /// @return whether the value that is about to begin is that of the field with the long list
    bool IsAtList() const
    {
        return m_reader != nullptr && m_isInFile && !m_isInList && m_open.empty() &&
               m_field == *m_list;
    }

    /// @return JSON pointer to the value that is about to begin
    std::string GetPointer() const
    {
        std::string pointer = m_isInFile ? "/" + PointerToken(m_field) : "";
        if (m_isInList)
        {
            pointer += '/' + std::to_string(m_nElements);
        }
        for (std::size_t i = 0; i < m_open.size(); i++)
        {
            pointer += '/' + (m_open[i].is_array() ? std::to_string(m_open[i].size())
                                                   : PointerToken(m_keys[i]));
        }
        return pointer;
    }

    bool Open(Json&& container)
    {
        if (!m_isInFile)
        {
            const std::string text = "[" + ReadTextBegin(*m_input);
            const std::string foreign = DescribeText(text);
            FailAt(m_document.m_fileName,
                   "",
                   !foreign.empty()                 ? foreign
                   : IsSection(FindFirstLine(text)) ? "this is TOML, no JSON file, which begins "
                                                      "with '{'"
                                                    : "must hold an object, not a list");
        }
        if (m_open.size() == m_document.m_maxDepth)
        {
            FailAt(m_document.m_fileName, GetPointer(), "is nested too deeply");
        }
        m_open.push_back(std::move(container));
        m_keys.emplace_back();
        return true;
    }

    bool Close()
    {
        Json value = std::move(m_open.back());
        m_open.pop_back();
        m_keys.pop_back();
        return OnValue(std::move(value));
    }

    bool OnValue(Json&& value)
    {
        if (!m_isInFile)
        {
            const JsonDocument whole(m_document.m_fileName, "", std::move(value));
            whole.GetRoot().Fail("must hold an object, not " + whole.GetRoot().Shown());
        }
        if (!m_open.empty())
        {
            if (m_open.back().is_array())
            {
                m_open.back().push_back(std::move(value));
            }
            else
            {
                m_open.back()[m_keys.back()] = std::move(value);
            }
        }
        else if (m_isInList)
        {
            const JsonDocument element(m_document.m_fileName, GetPointer(), std::move(value));
            m_reader->Add(element.GetRoot());
            m_nElements++;
        }
        else if (IsAtList())
        {
            const JsonDocument noList(m_document.m_fileName, GetPointer(), std::move(value));
            noList.GetRoot().Size(); // says so
        }
        else
        {
            m_document.m_root[m_field] = std::move(value);
        }
        return true;
    }

    /// @param text of a file that is no JSON @return what it looks like; empty if that is not known
    static std::string DescribeText(const std::string& text)
    {
        return DescribeForeignFile(ListTextKeys(text), {}, true);
    }

    JsonDocument& m_document;
    const std::string* m_list;
    JsonListReader* m_reader;
    std::istream* m_input{nullptr}; //!< that is being read
    JsonTextPosition m_position;
    bool m_isInFile{false};          //!< inside the outermost object
    bool m_isInList{false};          //!< inside the long list
    bool m_hadList{false};           //!< behind it
    std::string m_field;             //!< field of the file
    std::size_t m_nElements{0};      //!< of the long list
    std::vector<Json> m_open;        //!< containers of the field or element, outermost first
    std::vector<std::string> m_keys; //!< of each of them, the key that was read last
};

void
JsonValue::Fail(const std::string& cause) const
{
    FailAt(GetFileName(), GetPointer(), cause);
}

const std::string&
JsonValue::GetFileName() const
{
    return m_document->m_fileName;
}

std::string
JsonValue::Describe(const std::string& text) const
{
    return DescribeAt(GetFileName(), GetPointer(), text);
}

void
JsonValue::FailMissing(const std::string& key, const std::string& hint) const
{
    FailAt(GetFileName(),
           GetPointer() + "/" + PointerToken(key),
           hint.empty() ? "is missing" : "is missing; " + hint);
}

std::string
JsonValue::Shown() const
{
    return ShortenJson(m_value->dump(), MAX_SHOWN);
}

std::string
JsonValue::Dump() const
{
    return m_value->dump();
}

std::string
JsonValue::GetPointer() const
{
    // Searching the document anew costs nothing as long as nothing is wrong.
    std::string pointer = m_document->m_pointer;
    FindPointer(m_document->m_root, *m_value, pointer);
    return pointer;
}

void
JsonValue::CheckIsObject() const
{
    if (!m_value->is_object())
    {
        Fail("must be an object, not " + Shown());
    }
}

bool
JsonValue::Has(const char* key) const
{
    return Find(key).has_value();
}

std::vector<std::string>
JsonValue::GetKeys() const
{
    CheckIsObject();
    std::vector<std::string> keys;
    for (auto it = m_value->begin(); it != m_value->end(); ++it)
    {
        if (HasControlCharacters(it.key()))
        {
            Fail("must not have keys with control characters");
        }
        keys.push_back(it.key());
    }
    return keys;
}

std::optional<JsonValue>
JsonValue::Find(const char* key) const
{
    CheckIsObject();
    const auto found = m_value->find(key);
    return found == m_value->end() ? std::nullopt
                                   : std::make_optional<JsonValue>(*m_document, *found);
}

JsonValue
JsonValue::Get(const char* key) const
{
    const std::optional<JsonValue> value = Find(key);
    if (!value)
    {
        FailMissing(key);
    }
    return *value;
}

void
JsonValue::AllowKeys(const std::string& what, const std::vector<const char*>& keys) const
{
    CheckIsObject();
    for (auto it = m_value->begin(); it != m_value->end(); ++it)
    {
        if (std::find(keys.begin(), keys.end(), it.key()) == keys.end())
        {
            const std::vector<std::string> names(keys.begin(), keys.end());
            const std::string foreign =
                m_value == &m_document->m_root ? DescribeForeignFile(GetKeys(), names) : "";
            if (!foreign.empty())
            {
                Fail(foreign);
            }
            const std::string cause = FindMissingCause(what, it.key());
            const std::string known = FindByOtherName(it.key(), names);
            const std::string nearest = known.empty() ? FindNearest(it.key(), names) : known;
            const std::string meant = nearest.empty() ? "" : "did you mean " + nearest + "? ";
            JsonValue(*m_document, it.value())
                .Fail("unknown field; " + (cause.empty() ? meant : cause + "; ") + what + " has " +
                      ListNames(keys));
        }
        // What is there for people, and nobody may read otherwise.
        if (it.key() == "name" || it.key() == "description" || it.key() == "source")
        {
            JsonValue(*m_document, it.value()).AsString();
        }
    }
}

std::size_t
JsonValue::Size() const
{
    if (!m_value->is_array())
    {
        Fail("must be a list, not " + Shown());
    }
    return m_value->size();
}

JsonValue
JsonValue::At(std::size_t i) const
{
    if (i >= Size())
    {
        Fail("must have at least " + std::to_string(i + 1) + " elements, not " +
             std::to_string(Size()));
    }
    return JsonValue(*m_document, (*m_value)[i]);
}

const std::string&
JsonValue::AsString() const
{
    if (!m_value->is_string())
    {
        Fail("must be a string, not " + Shown());
    }
    return m_value->get_ref<const std::string&>();
}

const std::string&
JsonValue::AsName() const
{
    const std::string& text = AsString();
    if (HasControlCharacters(text))
    {
        Fail("must be a name without control characters, not " + Shown());
    }
    return text;
}

bool
JsonValue::AsBool() const
{
    if (!m_value->is_boolean())
    {
        Fail("must be true or false, not " + Shown());
    }
    return m_value->get<bool>();
}

double
JsonValue::AsNumber(double least, double most) const
{
    if (!m_value->is_number() || m_value->get<double>() < least || m_value->get<double>() > most)
    {
        Fail("must be a number" +
             (std::isinf(most) ? ", " + Print(least) + " or more"
                               : " from " + Print(least) + " to " + Print(most)) +
             ", not " + Shown());
    }
    return m_value->get<double>();
}

uint64_t
JsonValue::AsUnsigned(uint64_t least, uint64_t most) const
{
    // The JSON library keeps an integer that fits 64 bits exact and makes any other a float.
    const bool isNatural = m_value->is_number_unsigned() ||
                           (m_value->is_number_integer() && m_value->get<int64_t>() >= 0);
    if (!isNatural || m_value->get<uint64_t>() < least || m_value->get<uint64_t>() > most)
    {
        FailRange(least, most);
    }
    return m_value->get<uint64_t>();
}

uint64_t
JsonValue::AsWhole(uint64_t least, uint64_t most) const
{
    if (!m_value->is_number_float())
    {
        return AsUnsigned(least, most);
    }
    const auto real = m_value->get<double>();
    const bool fits = real >= 0 && real < 0x1p64 && real == std::floor(real);
    const uint64_t number = fits ? static_cast<uint64_t>(real) : 0;
    if (!fits || number < least || number > most)
    {
        FailRange(least, most);
    }
    return number;
}

void
JsonValue::FailRange(uint64_t least, uint64_t most) const
{
    Fail("must be " +
         (least == most
              ? std::to_string(least)
              : "an integer from " + std::to_string(least) + " to " + std::to_string(most)) +
         ", not " + Shown());
}

JsonDocument::JsonDocument(std::istream& input, const std::string& fileName, std::size_t maxDepth)
    : m_fileName(fileName),
      m_maxDepth(maxDepth),
      m_root(Json::object())
{
    Read(input, nullptr, nullptr);
}

JsonDocument::JsonDocument(std::istream& input,
                           const std::string& fileName,
                           const std::string& list,
                           JsonListReader& reader)
    : m_fileName(fileName),
      m_root(Json::object())
{
    Read(input, &list, &reader);
}

JsonDocument::JsonDocument(const std::string& fileName, const std::string& pointer, Json&& part)
    : m_fileName(fileName),
      m_pointer(pointer),
      m_root(std::move(part))
{
}

void
JsonDocument::Read(std::istream& input, const std::string* list, JsonListReader* reader)
{
    try
    {
        Handler(*this, list, reader).Parse(input);
    }
    catch (const std::ios_base::failure&)
    {
        throw std::invalid_argument(m_fileName + ": cannot be read");
    }
}

void
JsonDocument::CheckFormat(const std::string& format, uint32_t version) const
{
    const std::string expected = "must be \"" + format + "\"";
    const auto found = m_root.find("format");
    if (found == m_root.end())
    {
        const std::string foreign = DescribeForeignFile(GetRoot().GetKeys());
        GetRoot().FailMissing("format", "it " + expected + (foreign.empty() ? "" : "; " + foreign));
    }
    if (*found != format)
    {
        const JsonValue value(*this, *found);
        value.Fail(expected + ", not " + value.Shown());
    }
    GetRoot().Get("version").AsWhole(1, version);
}

} // namespace proteus
} // namespace ns3
