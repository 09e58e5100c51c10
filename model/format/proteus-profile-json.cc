/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-profile-json.h"

#include "ns3/proteus-json.h"
#include "ns3/proteus-warning.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-profile";
constexpr uint32_t VERSION = 1;
constexpr double PS_PER_US = 1e6;
constexpr double MOST_TIME_US = 1e9; // 1000 s, and exact in picoseconds
constexpr uint64_t MOST_SIZE = uint64_t{1} << 48;

/// @param json a measurement @return it
ProfileEntry
ReadEntry(const JsonValue& json)
{
    json.AllowKeys("a time", {"gpu", "operator", "pass", "data_type", "shape", "time_us"});
    ProfileEntry entry;
    entry.gpu = json.Get("gpu").AsString();
    const JsonValue kernelClass = json.Get("operator");
    const std::string& className = kernelClass.AsString();
    entry.kernelClass = kernelClass.Check([&] { return KernelClassFromString(className); });
    if (const auto pass = json.Find("pass"))
    {
        const std::string& name = pass->AsString();
        entry.pass = pass->Check([&] { return KernelPassFromString(name); });
    }
    if (const auto type = json.Find("data_type"))
    {
        const std::string& name = type->AsString();
        entry.type = type->Check([&] { return DataTypeFromString(name); });
    }
    const JsonValue shape = json.Get("shape");
    for (std::size_t i = 0; i < shape.Size(); ++i)
    {
        entry.shape.push_back(shape.At(i).AsWhole(1, MOST_SIZE));
    }
    entry.timePs = std::llround(json.Get("time_us").AsNumber(0, MOST_TIME_US) * PS_PER_US);
    return entry;
}

/// @param text any @return it as JSON
std::string
Quote(const std::string& text)
{
    return nlohmann::json(text).dump();
}

/// @param timePs picoseconds @return microseconds, every digit
std::string
Microseconds(int64_t timePs)
{
    const std::string digits = std::to_string(timePs % 1000000);
    return std::to_string(timePs / 1000000) + "." + std::string(6 - digits.size(), '0') + digits;
}

} // namespace

ProfileTable
ReadProfileJson(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    root.AllowKeys("a profile", {"format", "version", "description", "times"});
    ProfileTable table;
    if (const auto description = root.Find("description"))
    {
        table.description = description->AsString();
    }
    const JsonValue times = root.Get("times");
    std::map<std::string, std::size_t> missing; // what is taken, and of how many times
    for (std::size_t i = 0; i < times.Size(); ++i)
    {
        const JsonValue json = times.At(i);
        missing["pass, and are taken for forward"] += json.Find("pass") ? 0 : 1;
        missing["data_type, and are taken for bf16"] += json.Find("data_type") ? 0 : 1;
        const ProfileEntry entry = ReadEntry(json);
        json.Check([&] { table.Add(entry); });
    }
    for (const auto& [what, count] : missing)
    {
        if (count > 0)
        {
            Warn(fileName + ": " + std::to_string(count) + " of " + std::to_string(times.Size()) +
                 " times say no " + what);
        }
    }
    return table;
}

void
WriteProfileJson(const ProfileTable& table, std::ostream& output)
{
    output << "{\"format\": " << Quote(FORMAT) << ", \"version\": " << VERSION
           << ",\n \"description\": " << Quote(table.description) << ",\n \"times\": [";
    const char* separator = "\n";
    for (const ProfileEntry& entry : table.GetEntries())
    {
        output << separator << "  {\"gpu\": " << Quote(entry.gpu) << ", \"operator\": \""
               << ToString(entry.kernelClass) << "\", \"pass\": \"" << ToString(entry.pass)
               << "\", \"data_type\": \"" << ToString(entry.type) << "\", \"shape\": [";
        for (std::size_t i = 0; i < entry.shape.size(); ++i)
        {
            output << (i > 0 ? ", " : "") << entry.shape[i];
        }
        output << "], \"time_us\": " << Microseconds(entry.timePs) << "}";
        separator = ",\n";
    }
    output << "\n ]}\n";
}

} // namespace proteus
} // namespace ns3
