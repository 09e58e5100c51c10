/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-comma-list.h"
#include "proteus-foreign-files.h"
#include "proteus-json-text.h"
#include "proteus-json.h"
#include "proteus-nearest-name.h"
#include "proteus-other-names.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// @param text to check @return whether it cannot stand in a line
bool
HasControlCharacters(const std::string& text)
{
    return std::any_of(text.begin(), text.end(), [](char character) {
        return static_cast<unsigned char>(character) < 0x20 || character == 0x7f;
    });
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
            pointer += '/' + JsonPointerToken(it.key());
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

void
JsonValue::Fail(const std::string& cause) const
{
    FailJsonAt(GetFileName(), GetPointer(), cause);
}

const std::string&
JsonValue::GetFileName() const
{
    return m_document->m_fileName;
}

std::string
JsonValue::Describe(const std::string& text) const
{
    return DescribeJsonAt(GetFileName(), GetPointer(), text);
}

void
JsonValue::FailMissing(const std::string& key, const std::string& hint) const
{
    FailJsonAt(GetFileName(),
               GetPointer() + "/" + JsonPointerToken(key),
               hint.empty() ? "is missing" : "is missing; " + hint);
}

std::string
JsonValue::Shown() const
{
    return ShortenJson(m_value->dump(), MAX_SHOWN_JSON);
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

} // namespace proteus
} // namespace ns3
