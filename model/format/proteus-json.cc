/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Where the parser is in the text.
struct TextPosition
{
    std::size_t line{1};
    std::size_t column{0};
};

/// Iterator over a text that keeps count of lines and columns.
class CountingIterator
{
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    /// @param at where it points @param position to keep
    CountingIterator(const char* at, TextPosition* position)
        : m_at(at),
          m_position(position)
    {
    }

    reference operator*() const
    {
        return *m_at;
    }

    CountingIterator& operator++()
    {
        if (*m_at == '\n')
        {
            ++m_position->line;
            m_position->column = 0;
        }
        else
        {
            ++m_position->column;
        }
        ++m_at;
        return *this;
    }

    CountingIterator operator++(int)
    {
        CountingIterator before = *this;
        ++*this;
        return before;
    }

    bool operator==(const CountingIterator& other) const
    {
        return m_at == other.m_at;
    }

    bool operator!=(const CountingIterator& other) const
    {
        return m_at != other.m_at;
    }

  private:
    const char* m_at;
    TextPosition* m_position;
};

/// Deepest nesting of objects and arrays: far more than any format needs, and small enough for
/// code that follows it recursively.
constexpr int MAX_DEPTH = 100;

/// Why text is refused that is good JSON otherwise.
struct Refusal
{
    std::string cause; //!< for the message
};

/// @param message of nlohmann_json @return its last part, which says the cause
std::string
Cause(const std::string& message)
{
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::size_t start = message.find("] ");
    start = start == std::string::npos ? 0 : start + 2;
    if (message.compare(start, 11, "parse error") == 0)
    {
        const std::size_t colon = message.find(": ", start);
        start = colon == std::string::npos ? start : colon + 2;
    }
    std::string cause = message.substr(start);
    // The place is known; the text there may be as long as the file.
    const std::size_t lastRead = cause.find("; last read: ");
    if (lastRead != std::string::npos)
    {
        const std::size_t expected = cause.rfind("; expected ");
        cause.erase(lastRead,
                    expected == std::string::npos || expected < lastRead ? std::string::npos
                                                                         : expected - lastRead);
    }
    return cause;
}

/**
 * Finds a value by its address.
 * @param where to search
 * @param value to find
 * @param pointer its JSON pointer so far; complete on return
 * @return whether it is there
 */
bool
FindPointer(const nlohmann::json& where, const nlohmann::json& value, std::string& pointer)
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
            pointer += '/';
            for (char c : it.key())
            {
                pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
            }
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
    return nlohmann::json(number).dump();
}

} // namespace

JsonValue::JsonValue(const std::string& fileName,
                     const nlohmann::json& root,
                     const nlohmann::json& value)
    : m_fileName(&fileName),
      m_root(&root),
      m_value(&value)
{
}

void
JsonValue::Fail(const std::string& cause) const
{
    // Searching the file anew costs nothing as long as nothing is wrong.
    std::string pointer;
    FindPointer(*m_root, *m_value, pointer);
    throw std::invalid_argument(*m_fileName + ": " + (pointer.empty() ? "" : pointer + ": ") +
                                cause);
}

bool
JsonValue::Has(const char* key) const
{
    if (!m_value->is_object())
    {
        Fail(std::string("must be an object, is ") + m_value->type_name());
    }
    return m_value->contains(key);
}

JsonValue
JsonValue::Get(const char* key) const
{
    if (!Has(key))
    {
        Fail(std::string("the key '") + key + "' is missing");
    }
    return JsonValue(*m_fileName, *m_root, *m_value->find(key));
}

void
JsonValue::AllowKeys(std::initializer_list<const char*> keys) const
{
    if (!m_value->is_object())
    {
        Fail(std::string("must be an object, is ") + m_value->type_name());
    }
    for (auto it = m_value->begin(); it != m_value->end(); ++it)
    {
        bool known = false;
        for (const char* key : keys)
        {
            known = known || it.key() == key;
        }
        if (!known)
        {
            std::string cause = "unknown key " + nlohmann::json(it.key()).dump() + "; known:";
            const char* separator = " ";
            for (const char* key : keys)
            {
                cause += std::string(separator) + key;
                separator = ", ";
            }
            Fail(cause);
        }
    }
}

std::size_t
JsonValue::Size() const
{
    if (!m_value->is_array())
    {
        Fail(std::string("must be an array, is ") + m_value->type_name());
    }
    return m_value->size();
}

JsonValue
JsonValue::At(std::size_t i) const
{
    if (i >= Size())
    {
        Fail("must have at least " + std::to_string(i + 1) + " elements, has " +
             std::to_string(Size()));
    }
    return JsonValue(*m_fileName, *m_root, (*m_value)[i]);
}

const std::string&
JsonValue::AsString() const
{
    if (!m_value->is_string())
    {
        Fail(std::string("must be a string, is ") + m_value->type_name());
    }
    return m_value->get_ref<const std::string&>();
}

bool
JsonValue::AsBool() const
{
    if (!m_value->is_boolean())
    {
        Fail(std::string("must be true or false, is ") + m_value->type_name());
    }
    return m_value->get<bool>();
}

double
JsonValue::AsNumber(double least, double most) const
{
    if (!m_value->is_number())
    {
        Fail(std::string("must be a number, is ") + m_value->type_name());
    }
    const auto number = m_value->get<double>();
    if (number < least || number > most)
    {
        Fail("must be " + Print(least) + " to " + Print(most) + ", is " + m_value->dump());
    }
    return number;
}

uint64_t
JsonValue::AsUnsigned(uint64_t least, uint64_t most) const
{
    uint64_t number = 0;
    bool fits = false;
    if (m_value->is_number_unsigned())
    {
        number = m_value->get<uint64_t>();
        fits = true;
    }
    else if (m_value->is_number_float())
    {
        const auto real = m_value->get<double>();
        fits = real >= 0 && real < 0x1p64 && real == std::floor(real);
        number = fits ? static_cast<uint64_t>(real) : 0;
    }
    if (!fits || number < least || number > most)
    {
        Fail("must be an integer from " + std::to_string(least) + " to " + std::to_string(most) +
             ", is " + (m_value->is_number() ? m_value->dump() : m_value->type_name()));
    }
    return number;
}

int64_t
JsonValue::AsInteger(int64_t least, int64_t most) const
{
    int64_t number = 0;
    bool fits = false;
    if (m_value->is_number_unsigned())
    {
        const auto positive = m_value->get<uint64_t>();
        fits = positive <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
        number = fits ? static_cast<int64_t>(positive) : 0;
    }
    else if (m_value->is_number_integer())
    {
        number = m_value->get<int64_t>();
        fits = true;
    }
    else if (m_value->is_number_float())
    {
        const auto real = m_value->get<double>();
        fits = real >= -0x1p63 && real < 0x1p63 && real == std::floor(real);
        number = fits ? static_cast<int64_t>(real) : 0;
    }
    if (!fits || number < least || number > most)
    {
        Fail("must be an integer from " + std::to_string(least) + " to " + std::to_string(most) +
             ", is " + (m_value->is_number() ? m_value->dump() : m_value->type_name()));
    }
    return number;
}

JsonDocument::JsonDocument(std::istream& input, const std::string& fileName)
    : m_fileName(fileName)
{
    std::ostringstream buffer;
    if (input.peek() != std::istream::traits_type::eof())
    {
        buffer << input.rdbuf();
    }
    if (input.bad() || buffer.fail())
    {
        throw std::invalid_argument(fileName + ": cannot be read");
    }
    const std::string text = buffer.str();

    TextPosition position;
    std::vector<std::set<std::string>> keys; // of the objects that are open
    auto check = [&keys](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
        if (depth > MAX_DEPTH)
        {
            throw Refusal{"nested deeper than " + std::to_string(MAX_DEPTH)};
        }
        switch (event)
        {
        case nlohmann::json::parse_event_t::object_start:
            keys.emplace_back();
            break;
        case nlohmann::json::parse_event_t::object_end:
            keys.pop_back();
            break;
        case nlohmann::json::parse_event_t::key:
            if (!keys.back().insert(parsed.get_ref<const std::string&>()).second)
            {
                throw Refusal{"the key " + parsed.dump() + " is there twice"};
            }
            break;
        default:
            break;
        }
        return true;
    };
    auto fail = [&](const std::string& cause) {
        throw std::invalid_argument(fileName + ":" + std::to_string(position.line) + ":" +
                                    std::to_string(std::max<std::size_t>(1, position.column)) +
                                    ": " + cause);
    };
    try
    {
        m_root = nlohmann::json::parse(CountingIterator(text.data(), &position),
                                       CountingIterator(text.data() + text.size(), nullptr),
                                       check);
    }
    catch (const Refusal& refusal)
    {
        fail(refusal.cause);
    }
    catch (const nlohmann::json::exception& error)
    {
        fail(Cause(error.what()));
    }
}

void
JsonDocument::CheckFormat(const std::string& format, uint32_t version) const
{
    const JsonValue root = GetRoot();
    const JsonValue formatValue = root.Get("format");
    if (formatValue.AsString() != format)
    {
        formatValue.Fail("must be \"" + format + "\", is " + formatValue.Raw().dump());
    }
    const JsonValue versionValue = root.Get("version");
    if (versionValue.AsUnsigned(1, std::numeric_limits<uint32_t>::max()) > version)
    {
        versionValue.Fail("this program reads up to version " + std::to_string(version) +
                          ", the file has " + versionValue.Raw().dump());
    }
}

} // namespace proteus
} // namespace ns3
