/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-costs-json.h"

#include "proteus-sourced-value.h"

#include "ns3/proteus-csv.h"
#include "ns3/proteus-warning.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-kernel-costs";
constexpr uint32_t VERSION = 1;
constexpr double MOST = 1e6; //!< microseconds, and 1e9 bytes per second
/// Of a rate, 1e9 bytes per second: less is rounded to 0 bytes, which is taken for no limit.
constexpr double LEAST_RATE = 1e-3;
/// The root of 1000: what is farther from the built-in number looks as if it were in another unit.
constexpr double FAR = 32;
constexpr NcclProtocol PROTOCOLS[] = {NcclProtocol::LL, NcclProtocol::LL128, NcclProtocol::SIMPLE};

/// @param fields of the table @return their names, for JsonValue::AllowKeys()
template <typename Field>
std::vector<const char*>
GetFieldNames(const std::vector<Field>& fields)
{
    std::vector<const char*> names;
    for (const Field& field : fields)
    {
        names.push_back(field.name);
    }
    return names;
}

/// @param object with the number @param key of it @param number to set, if it is there
/// @param least that it may be @return whether it is there
bool
ReadNumber(const JsonValue& object, const char* key, SourcedNumber& number, double least)
{
    const auto value = FindSourced(object, key);
    if (value)
    {
        const double usual = number.value;
        number = {value->AsNumber(least, MOST), object.Get(key).Get("source").AsName()};
        if (number.value > 0 && usual > 0 &&
            (number.value >= FAR * usual || usual >= FAR * number.value))
        {
            Warn(value->Describe("is " + value->Shown() + ", and built in is " + CsvReal(usual) +
                                 ": is it in another unit?"));
        }
    }
    return value.has_value();
}

/// @param json the rows of a generation @param field one of them @param generation to set it in
/// @return numbers that it has
std::size_t
ReadRow(const JsonValue& json, const CollectiveCostField& field, CollectiveGeneration& generation)
{
    const auto row = json.Find(field.name);
    if (!row)
    {
        return 0;
    }
    std::vector<const char*> protocols;
    for (const NcclProtocol protocol : PROTOCOLS)
    {
        if (field.only.value_or(protocol) == protocol)
        {
            protocols.push_back(ToString(protocol));
        }
    }
    row->AllowKeys(field.name, protocols);
    const bool isRate = std::string(field.name).find("GBps") != std::string::npos;
    std::size_t n = 0;
    for (const NcclProtocol protocol : PROTOCOLS)
    {
        SourcedNumber& number = (generation.*field.row)[static_cast<std::size_t>(protocol)];
        n += ReadNumber(*row, ToString(protocol), number, isRate ? LEAST_RATE : 0) ? 1 : 0;
    }
    return n;
}

/// @param json the generations @param table to set them in @return numbers that there are
std::size_t
ReadGenerations(const JsonValue& json, CollectiveCostTable& table)
{
    std::vector<const char*> names;
    for (const CollectiveGeneration& generation : table.generations)
    {
        names.push_back(generation.name.c_str());
    }
    json.AllowKeys("the list of generations", names);
    std::size_t n = 0;
    for (CollectiveGeneration& generation : table.generations)
    {
        if (const auto rows = json.Find(generation.name.c_str()))
        {
            rows->AllowKeys("a generation", GetFieldNames(GetCollectiveCostFields()));
            for (const CollectiveCostField& field : GetCollectiveCostFields())
            {
                n += ReadRow(*rows, field, generation);
            }
        }
    }
    return n;
}

/// @param json what the host takes @param launch to set @return numbers that there are
std::size_t
ReadLaunch(const JsonValue& json, CollectiveLaunch& launch)
{
    json.AllowKeys("the launch", GetFieldNames(GetCollectiveLaunchFields()));
    std::size_t n = 0;
    for (const CollectiveLaunchField& field : GetCollectiveLaunchFields())
    {
        n += ReadNumber(json, field.name, launch.*field.number, 0) ? 1 : 0;
    }
    return n;
}

/// @param name of a number @param number to write @return it as a field
std::string
ToField(const char* name, const SourcedNumber& number)
{
    return nlohmann::json(name).dump() + ": {\"value\": " + nlohmann::json(number.value).dump() +
           ", \"source\": " + nlohmann::json(number.source).dump() + "}";
}

/// @param fields of an object @param indent of a line @return the object
std::string
ToObject(const std::vector<std::string>& fields, const std::string& indent)
{
    std::string text = "{";
    for (const std::string& field : fields)
    {
        text += (text.size() > 1 ? ",\n" : "\n") + indent + " " + field;
    }
    return text + "}";
}

/// @param generation to write @return its rows as an object
std::string
ToObject(const CollectiveGeneration& generation)
{
    std::vector<std::string> rows;
    for (const CollectiveCostField& field : GetCollectiveCostFields())
    {
        std::vector<std::string> numbers;
        for (const NcclProtocol protocol : PROTOCOLS)
        {
            const SourcedNumber& number =
                (generation.*field.row)[static_cast<std::size_t>(protocol)];
            if (!number.source.empty())
            {
                numbers.push_back(ToField(ToString(protocol), number));
            }
        }
        if (!numbers.empty())
        {
            rows.push_back("\"" + std::string(field.name) + "\": " + ToObject(numbers, "   "));
        }
    }
    return ToObject(rows, "  ");
}

} // namespace

CollectiveCostTable
ReadKernelCostsJson(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    root.AllowKeys("costs of kernels",
                   {"format", "version", "description", "generations", "launch"});
    if (const auto description = root.Find("description"))
    {
        description->AsString();
    }
    CollectiveCostTable table = GetBuiltInCollectiveCostTable();
    std::size_t n = 0;
    if (const auto generations = root.Find("generations"))
    {
        n += ReadGenerations(*generations, table);
    }
    if (const auto launch = root.Find("launch"))
    {
        n += ReadLaunch(*launch, table.launch);
    }
    if (n == 0)
    {
        root.Fail("has no number: those of \"generations\" or \"launch\" are to be told");
    }
    return table;
}

void
WriteKernelCostsJson(const CollectiveCostTable& table,
                     const std::string& description,
                     std::ostream& output)
{
    std::vector<std::string> generations;
    for (const CollectiveGeneration& generation : table.generations)
    {
        generations.push_back(nlohmann::json(generation.name).dump() + ": " + ToObject(generation));
    }
    std::vector<std::string> launch;
    for (const CollectiveLaunchField& field : GetCollectiveLaunchFields())
    {
        launch.push_back(ToField(field.name, table.launch.*field.number));
    }
    output << "{\"format\": \"" << FORMAT << "\", \"version\": " << VERSION
           << ",\n \"description\": " << nlohmann::json(description).dump()
           << ",\n \"generations\": " << ToObject(generations, " ")
           << ",\n \"launch\": " << ToObject(launch, " ") << "}\n";
}

} // namespace proteus
} // namespace ns3
