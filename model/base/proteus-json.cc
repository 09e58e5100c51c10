/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-json.h"

#include "proteus-foreign-files.h"
#include "proteus-json-text.h"

#include <ios>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

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
            FailAt("1:1", UTF_16);
        }
        Json::sax_parse(JsonTextIterator(input.rdbuf(), &m_position), JsonTextIterator(), this);
        CheckZero();
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
            FailJsonAt(m_document.m_fileName, GetPointer(), "appears twice");
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
        CheckZero();
        const std::string cause = error.what();
        if (!m_isInFile && cause.find("unexpected end of input") != std::string::npos)
        {
            FailAt(m_position.ToText(position), "the file is empty");
        }
        const std::string text = m_isInFile || token.empty() ? "" : token + ReadTextBegin(*m_input);
        const std::string foreign = DescribeText(text);
        const bool isJson = text.empty() || FindFirstLine(text).compare(0, 1, "{") == 0;
        throw std::invalid_argument(
            m_document.m_fileName + ":" +
            (!foreign.empty()
                 ? " " + foreign
                 : m_position.ToText(position) + ": " + FindJsonCause(cause, isJson) +
                       (isJson ? "" : "; this is no JSON file, which begins with '{'")));
    }

  private:
    static constexpr const char* UTF_16 = "the file is UTF-16: save it as UTF-8";

    /// @param place line and column @param cause what is wrong there
    /// @throw std::invalid_argument
    [[noreturn]] void FailAt(const std::string& place, const std::string& cause) const
    {
        throw std::invalid_argument(m_document.m_fileName + ":" + place + ": " + cause);
    }

    /// @throw std::invalid_argument if the parser ended at a byte of zero, which it takes for the
    /// end
    void CheckZero() const
    {
        if (m_position.IsWide())
        {
            FailAt("1:1", UTF_16);
        }
        if (m_position.HasZero())
        {
            FailAt(m_position.ToText(0),
                   "a byte of zero, which no text has: the file was cut off or is damaged");
        }
    }

    /// @return whether the value that is about to begin is that of the field with the long list
    bool IsAtList() const
    {
        return m_reader != nullptr && m_isInFile && !m_isInList && m_open.empty() &&
               m_field == *m_list;
    }

    /// @return JSON pointer to the value that is about to begin
    std::string GetPointer() const
    {
        std::string pointer = m_isInFile ? "/" + JsonPointerToken(m_field) : "";
        if (m_isInList)
        {
            pointer += '/' + std::to_string(m_nElements);
        }
        for (std::size_t i = 0; i < m_open.size(); i++)
        {
            pointer += '/' + (m_open[i].is_array() ? std::to_string(m_open[i].size())
                                                   : JsonPointerToken(m_keys[i]));
        }
        return pointer;
    }

    bool Open(Json&& container)
    {
        if (!m_isInFile)
        {
            const std::string text = "[" + ReadTextBegin(*m_input);
            const std::string foreign = DescribeText(text);
            FailJsonAt(m_document.m_fileName,
                       "",
                       !foreign.empty() ? foreign
                       : IsSection(FindFirstLine(text))
                           ? "this is TOML, no JSON file, which begins "
                             "with '{'"
                           : "must hold an object, not a list");
        }
        if (m_open.size() == m_document.m_maxDepth)
        {
            FailJsonAt(m_document.m_fileName, GetPointer(), "is nested too deeply");
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
