/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-json.h"

#include "proteus-input-file.h"

#include "ns3/proteus-chakra.pb.h"
#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <array>
#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <cctype>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// What the types of nodes are called, by their numbers.
constexpr std::array<const char*, 8> TYPES{"INVALID_NODE",
                                           "METADATA_NODE",
                                           "MEM_LOAD_NODE",
                                           "MEM_STORE_NODE",
                                           "COMP_NODE",
                                           "COMM_SEND_NODE",
                                           "COMM_RECV_NODE",
                                           "COMM_COLL_NODE"};

/// @param key as the schema has it, e.g. "data_deps" @return as JSON has it, "dataDeps"
std::string
ToCamelCase(const std::string& key)
{
    std::string camel;
    for (std::size_t i = 0; i < key.size(); ++i)
    {
        const bool isAfter = i > 0 && key[i - 1] == '_';
        if (key[i] != '_')
        {
            camel += isAfter ? static_cast<char>(std::toupper(static_cast<unsigned char>(key[i])))
                             : key[i];
        }
    }
    return camel;
}

/// @return the value of a key, null if it is not there
const Json*
Find(const Json& object, const std::string& key)
{
    for (const std::string& name : {key, ToCamelCase(key)})
    {
        const auto found = object.find(name);
        if (found != object.end())
        {
            return &*found;
        }
    }
    return nullptr;
}

/// @param object a message @param known keys that it may have
/// @throw std::invalid_argument if it has another one
void
CheckKeys(const Json& object, const std::vector<std::string>& known)
{
    for (const auto& entry : object.items())
    {
        const bool isKnown =
            std::any_of(known.begin(), known.end(), [&entry](const std::string& key) {
                return entry.key() == key || entry.key() == ToCamelCase(key);
            });
        if (!isKnown)
        {
            std::vector<std::string> keys;
            for (const auto& each : object.items())
            {
                keys.push_back(each.key());
            }
            const std::string foreign = DescribeForeignFile(keys, known);
            throw std::invalid_argument("the unknown key " + QuotedText(entry.key()) + "; " +
                                        (!foreign.empty() ? foreign : Suggest(entry.key(), known)));
        }
    }
    for (const std::string& key : known)
    {
        if (ToCamelCase(key) != key && object.contains(key) && object.contains(ToCamelCase(key)))
        {
            throw std::invalid_argument("the key " + QuotedText(key) + " appears twice, also as " +
                                        QuotedText(ToCamelCase(key)));
        }
    }
}

[[noreturn]] void
FailKey(const std::string& key, const std::string& cause)
{
    throw std::invalid_argument("the value of \"" + key + "\" must be " + cause);
}

/// @return whether a text is a whole number
bool
IsWhole(const std::string& text)
{
    const std::size_t first = text.empty() || text[0] != '-' ? 0 : 1;
    return text.size() > first && text.size() - first < 20 &&
           text.find_first_not_of("0123456789", first) == std::string::npos;
}

/// @param value a number, or one as text @return it
template <typename T>
T
ToWhole(const std::string& key, const Json& value)
{
    const bool isText = value.is_string() && IsWhole(value.get<std::string>());
    if (isText || value.is_number_integer())
    {
        // As text it may be beyond 64 bits, which JSON makes a fraction of.
        const Json number = isText ? Json::parse(value.get<std::string>(), nullptr, false) : value;
        const bool isPositive = number.is_number_unsigned();
        const bool fits =
            isPositive
                ? number.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                : number.is_number_integer() &&
                      number.get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min());
        if (fits)
        {
            return number.get<T>();
        }
    }
    FailKey(key,
            "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                std::to_string(std::numeric_limits<T>::max()));
}

const std::string&
ToText(const std::string& key, const Json& value)
{
    if (!value.is_string())
    {
        FailKey(key, "text");
    }
    return value.get_ref<const std::string&>();
}

/// @return bytes that are written in base64
std::string
FromBase64(const std::string& key, std::string text)
{
    using namespace boost::archive::iterators;
    using Bytes = transform_width<binary_from_base64<std::string::const_iterator>, 8, 6>;
    text.erase(text.find_last_not_of('=') + 1);
    std::string bytes;
    try
    {
        // Six bits a character: what is left of the last ones makes no byte.
        const std::size_t n = text.size() * 6 / 8;
        Bytes at(text.cbegin());
        for (std::size_t i = 0; i < n; ++i, ++at)
        {
            bytes += static_cast<char>(*at);
        }
    }
    catch (const std::exception&)
    {
        FailKey(key, "bytes in base64");
    }
    return bytes;
}

/// @param key of a value, e.g. "int64Val", "bool_list" @return its type
std::string
GetType(const std::string& key)
{
    return key.substr(0, key.find_last_of("VL_"));
}

/// Sets the value of an attribute, of which one key says the type.
void
SetValue(const std::string& key, const Json& value, pb::ChakraAttribute& attribute)
{
    const std::string type = GetType(key);
    if (type == "double" || type == "float")
    {
        const bool isText = value.is_string() && IsWhole(value.get<std::string>());
        if (!value.is_number() && !isText)
        {
            FailKey(key, "a number");
        }
        attribute.set_double_val(isText ? static_cast<double>(ToWhole<int64_t>(key, value))
                                        : value.get<double>());
    }
    else if (type == "uint32" || type == "uint64" || type == "fixed32" || type == "fixed64")
    {
        attribute.set_uint64_val(ToWhole<uint64_t>(key, value));
    }
    else if (type == "bool")
    {
        if (!value.is_boolean())
        {
            FailKey(key, "true or false");
        }
        attribute.set_bool_val(value.get<bool>());
    }
    else if (type == "string")
    {
        attribute.set_string_val(ToText(key, value));
    }
    else if (type == "bytes")
    {
        attribute.set_bytes_val(FromBase64(key, ToText(key, value)));
    }
    else
    {
        attribute.set_int64_val(ToWhole<int64_t>(key, value)); // int, sint, sfixed
    }
}

/// Says so if a key of an attribute is no value of a type that there is.
void
CheckType(const std::string& key)
{
    static const std::vector<std::string> types{"double",
                                                "float",
                                                "int32",
                                                "int64",
                                                "uint32",
                                                "uint64",
                                                "sint32",
                                                "sint64",
                                                "fixed32",
                                                "fixed64",
                                                "sfixed32",
                                                "sfixed64",
                                                "bool",
                                                "string",
                                                "bytes"};
    if (std::find(types.begin(), types.end(), GetType(key)) == types.end())
    {
        std::vector<std::string> known;
        for (const std::string& type : types)
        {
            known.push_back(type + key.substr(GetType(key).size()));
        }
        throw std::invalid_argument("the unknown key " + QuotedText(key) + " of an attribute; " +
                                    Suggest(key, known));
    }
}

/// Sets an attribute to a list of flags, {"values": [true, ...]}.
void
SetFlags(const std::string& key, const Json& value, pb::ChakraAttribute& attribute)
{
    const auto values = value.is_object() ? value.find("values") : value.end();
    if (!value.is_object() || (values != value.end() && !values->is_array()))
    {
        FailKey(key, "an object with the list \"values\"");
    }
    CheckKeys(value, {"values"});
    auto& flags = *attribute.mutable_bool_list();
    for (std::size_t i = 0; values != value.end() && i < values->size(); ++i)
    {
        if (!(*values)[i].is_boolean())
        {
            FailKey(key, "a list of true and false");
        }
        flags.add_values((*values)[i].get<bool>());
    }
}

/// @param object with a list "attr" @param add makes an attribute of the message
template <typename F>
void
AddAttributes(const Json& object, F add)
{
    const Json* list = Find(object, "attr");
    if (list == nullptr)
    {
        return;
    }
    if (!list->is_array())
    {
        FailKey("attr", "a list");
    }
    for (const Json& element : *list)
    {
        if (!element.is_object())
        {
            FailKey("attr", "a list of objects");
        }
        pb::ChakraAttribute& attribute = *add();
        for (const auto& [key, value] : element.items())
        {
            const bool isValue = EndsWith(key, "Val") || EndsWith(key, "_val") ||
                                 EndsWith(key, "List") || EndsWith(key, "_list");
            if (isValue && attribute.value_case() != pb::ChakraAttribute::VALUE_NOT_SET)
            {
                throw std::invalid_argument("an attribute has two values, the second one \"" + key +
                                            '"');
            }
            if (isValue)
            {
                CheckType(key);
            }
            if (key == "name")
            {
                attribute.set_name(ToText(key, value));
            }
            else if (EndsWith(key, "Val") || EndsWith(key, "_val"))
            {
                SetValue(key, value, attribute);
            }
            else if (key == "boolList" || key == "bool_list")
            {
                SetFlags(key, value, attribute);
            }
            else if (EndsWith(key, "List") || EndsWith(key, "_list"))
            {
                attribute.mutable_string_list(); // which nothing that is read may be
            }
            else
            {
                CheckKeys({{key, nullptr}}, {"name", "doc_string"});
            }
        }
    }
}

/// @param text of a message @param known keys that it may have @return it
Json
ParseObject(const std::string& text, const std::vector<std::string>& known)
{
    std::vector<std::set<std::string>> open; // keys of the objects around what is read
    const auto check = [&open](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start)
        {
            open.emplace_back();
        }
        else if (event == Json::parse_event_t::object_end)
        {
            open.pop_back();
        }
        else if (event == Json::parse_event_t::key &&
                 !open.back().insert(value.get<std::string>()).second)
        {
            throw std::invalid_argument("the key " + value.dump() + " appears twice");
        }
        return true;
    };
    try
    {
        Json object = Json::parse(text, check);
        if (object.is_object())
        {
            CheckKeys(object, known);
            return object;
        }
    }
    catch (const Json::exception& error)
    {
        throw std::invalid_argument(std::string("this is no JSON: ") + error.what());
    }
    throw std::invalid_argument("a message must be a JSON object");
}

/// @param key of a list of ids @param add takes each
template <typename F>
void
AddIds(const Json& object, const std::string& key, F add)
{
    const Json* list = Find(object, key);
    if (list != nullptr && !list->is_array())
    {
        FailKey(key, "a list");
    }
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
    {
        add(ToWhole<uint64_t>(key, (*list)[i]));
    }
}

int
ToType(const Json& value)
{
    if (value.is_string())
    {
        const auto found = std::find(TYPES.begin(), TYPES.end(), value.get<std::string>());
        if (found == TYPES.end())
        {
            FailKey("type", "the name of a type, such as COMP_NODE");
        }
        return static_cast<int>(found - TYPES.begin());
    }
    return ToWhole<int>("type", value);
}

} // namespace

bool
IsChakraJson(const std::string& begin)
{
    // The metadata may be an empty object; the first key of it is the version, of a node the id.
    std::string text;
    std::copy_if(begin.begin(), begin.end(), std::back_inserter(text), [](unsigned char c) {
        return std::isspace(c) == 0;
    });
    const std::size_t at = text.compare(0, 2, "{}") == 0 ? 2 : 0;
    return text.compare(at, 11, "{\"version\":") == 0 || text.compare(at, 6, "{\"id\":") == 0;
}

void
ParseChakraJson(const std::string& json, pb::ChakraMetadata& metadata)
{
    const Json object = ParseObject(json, {"version", "attr"});
    if (const Json* version = Find(object, "version"))
    {
        metadata.set_version(ToText("version", *version));
    }
    AddAttributes(object, [&] { return metadata.add_attr(); });
}

void
ParseChakraJson(const std::string& json, pb::ChakraNodeMessage& node)
{
    const Json object = ParseObject(json,
                                    {"id",
                                     "name",
                                     "type",
                                     "ctrl_deps",
                                     "data_deps",
                                     "start_time_micros",
                                     "duration_micros",
                                     "inputs",
                                     "outputs",
                                     "attr"});
    node.Clear();
    if (const Json* id = Find(object, "id"))
    {
        node.set_id(ToWhole<uint64_t>("id", *id));
    }
    if (const Json* name = Find(object, "name"))
    {
        node.set_name(ToText("name", *name));
    }
    if (const Json* type = Find(object, "type"))
    {
        node.set_type(static_cast<decltype(node.type())>(ToType(*type)));
    }
    if (const Json* duration = Find(object, "duration_micros"))
    {
        node.set_duration_micros(ToWhole<uint64_t>("duration_micros", *duration));
    }
    AddIds(object, "ctrl_deps", [&](uint64_t id) { node.add_ctrl_deps(id); });
    AddIds(object, "data_deps", [&](uint64_t id) { node.add_data_deps(id); });
    if (const Json* start = Find(object, "start_time_micros"))
    {
        ToWhole<uint64_t>("start_time_micros", *start); // is not needed
    }
    for (const std::string key : {"inputs", "outputs"})
    {
        const Json* operands = Find(object, key);
        if (operands == nullptr)
        {
            continue;
        }
        if (!operands->is_object())
        {
            FailKey(key, "an object");
        }
        CheckKeys(*operands, {"values", "shapes", "types"});
        for (const auto& [part, value] : operands->items())
        {
            ToText(part, value);
        }
        if (key == "inputs" && operands->contains("values"))
        {
            node.mutable_inputs()->set_values(ToText("values", (*operands)["values"]));
        }
    }
    AddAttributes(object, [&] { return node.add_attr(); });
}

} // namespace proteus
} // namespace ns3
