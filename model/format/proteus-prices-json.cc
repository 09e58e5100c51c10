/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-prices-json.h"

#include "ns3/proteus-csv.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-warning.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-prices";
constexpr uint32_t VERSION = 1;
constexpr double MOST = 1e12;

/// @param text of a field @return whether there is nothing to read in it
bool
IsBlank(const std::string& text)
{
    return text.find_first_not_of(' ') == std::string::npos;
}

/// Refuses what a list has already, since one of both would be lost.
/// @param json the element @param before those before it @param isSame whether one is the same
template <class T, class Same>
void
RefuseTwice(const JsonValue& json, const std::vector<T>& before, const Same& isSame)
{
    const auto found = std::find_if(before.begin(), before.end(), isSame);
    if (found != before.end())
    {
        json.Fail("is there already, as number " + std::to_string(found - before.begin()) +
                  " of this list; keep one");
    }
}

/// Between which numbers a field is what is sold and built; others are probably in another unit.
struct UsualRange
{
    const char* key;
    double least;
    double most;
    const char* unit;
};

/// Racks are 0.6 m wide (EIA-310-E, Open Rack) and up to 2.5 m high; no hall has rows farther apart
/// than it is long. A rack has up to 60 units, of which a server takes half a one or more.
constexpr UsualRange USUAL_LAYOUT[] = {{"servers_per_rack", 1, 120, "servers"},
                                       {"racks_per_row", 1, 200, "racks"},
                                       {"rack_width_m", 0.3, 3, "m"},
                                       {"row_distance_m", 0.5, 50, "m"},
                                       {"within_rack_m", 0.1, 10, "m"}};
/// Between the reach of DR (500 m) and FR modules (2 km, IEEE 802.3).
constexpr UsualRange USUAL_REACH{"up_to_m", 0.1, 1000, "m"};
/// Ports on sale have 1 to 1600 Gb/s; a switch of 128 of them takes some kilowatts.
constexpr UsualRange USUAL_ITEM[] = {{"gbits_per_s", 1, 3200, "Gb/s"}, {"power_w", 0, 200, "W"}};

/// Names a number that is far from what there is. @param json object with it @param usual its range
void
WarnOfUnit(const JsonValue& json, const UsualRange& usual)
{
    const auto value = json.Find(usual.key);
    const double number = value ? value->AsNumber(0, MOST) : usual.least;
    if (number < usual.least || number > usual.most)
    {
        Warn(value->Describe(value->Shown() + ' ' + usual.unit + ": usual are " +
                             CsvReal(usual.least) + " to " + CsvReal(usual.most) + ' ' +
                             usual.unit));
    }
}

/// Names what costs, or takes, more than the same thing of a higher rate.
/// @param items the list @param table what was read of it
void
WarnOfOrder(const JsonValue& items, const PriceTable& table)
{
    for (const auto& [key, field] : {std::make_pair("price", &PriceItem::price),
                                     std::make_pair("power_w", &PriceItem::powerW)})
    {
        for (std::size_t i = 0; i < table.items.size(); ++i)
        {
            const PriceItem& item = table.items[i];
            const auto other =
                std::find_if(table.items.begin(), table.items.end(), [&](const PriceItem& it) {
                    return it.name == item.name && it.gbitsPerSecond > item.gbitsPerSecond &&
                           it.*field < item.*field;
                });
            if (other != table.items.end())
            {
                Warn(items.At(i).Get(key).Describe(
                    "is more than " + CsvReal((*other).*field) + " of " + other->name + " at " +
                    CsvReal(other->gbitsPerSecond) + " Gb/s, which is faster"));
                break; // one of a kind
            }
        }
    }
}

void
ReadLayout(const JsonValue& json, RackLayout& layout)
{
    json.AllowKeys("a layout",
                   {"servers_per_rack",
                    "racks_per_row",
                    "rack_width_m",
                    "row_distance_m",
                    "within_rack_m",
                    "source"});
    for (const auto& [key, field] :
         {std::make_pair("servers_per_rack", &RackLayout::serversPerRack),
          std::make_pair("racks_per_row", &RackLayout::racksPerRow)})
    {
        if (const auto value = json.Find(key))
        {
            layout.*field = static_cast<uint32_t>(value->AsWhole(1, MAX_SERVERS));
        }
    }
    for (const auto& [key, field] : {std::make_pair("rack_width_m", &RackLayout::rackWidthM),
                                     std::make_pair("row_distance_m", &RackLayout::rowDistanceM),
                                     std::make_pair("within_rack_m", &RackLayout::withinRackM)})
    {
        if (const auto value = json.Find(key))
        {
            layout.*field = value->AsNumber(0, MOST);
        }
    }
    for (const UsualRange& usual : USUAL_LAYOUT)
    {
        WarnOfUnit(json, usual);
    }
}

void
ReadClasses(const JsonValue& json, PriceTable& table)
{
    for (std::size_t i = 0; i < json.Size(); ++i)
    {
        const JsonValue element = json.At(i);
        element.AllowKeys("a class of cables", {"name", "up_to_m", "source"});
        CableClass made;
        made.name = element.Get("name").AsName();
        RefuseTwice(element, table.classes, [&](const CableClass& other) {
            return other.name == made.name;
        });
        const bool isLast = i + 1 == json.Size();
        if (isLast && element.Has("up_to_m"))
        {
            element.Get("up_to_m").Fail("the last class has no bound");
        }
        if (!isLast)
        {
            const double least = table.classes.empty() ? 0 : table.classes.back().upToM;
            made.upToM = element.Get("up_to_m").AsNumber(least, MOST);
            WarnOfUnit(element, USUAL_REACH);
        }
        table.classes.push_back(made);
    }
    if (table.classes.empty())
    {
        json.Fail("needs at least one class");
    }
}

void
ReadRents(const JsonValue& json, PriceTable& table)
{
    for (std::size_t i = 0; i < json.Size(); ++i)
    {
        const JsonValue element = json.At(i);
        element.AllowKeys("a rent", {"gpu", "price_per_hour", "source"});
        GpuRent rent;
        const JsonValue gpu = element.Get("gpu");
        rent.gpu = gpu.Check([&] { return FindGpuDatasheet(gpu.AsName()).model; });
        RefuseTwice(element, table.rents, [&](const GpuRent& other) {
            return other.gpu == rent.gpu;
        });
        rent.pricePerHour = element.Get("price_per_hour").AsNumber(1e-6, MOST);
        rent.source = element.Get("source").AsName();
        if (IsBlank(rent.source))
        {
            element.Get("source").Fail("must say where the number is from");
        }
        table.rents.push_back(rent);
    }
}

} // namespace

PriceTable
ReadPricesJson(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    root.AllowKeys("a table of prices",
                   {"format", "version", "currency", "layout", "classes", "items", "rents"});
    PriceTable table;
    const JsonValue currency = root.Get("currency");
    table.currency = currency.AsName();
    if (IsBlank(table.currency) || table.currency.find_first_of("0123456789") != std::string::npos)
    {
        currency.Fail("must be what the prices are in, such as \"USD\", not " + currency.Shown());
    }
    if (const auto layout = root.Find("layout"))
    {
        ReadLayout(*layout, table.layout);
    }
    ReadClasses(root.Get("classes"), table);
    if (const auto rents = root.Find("rents"))
    {
        ReadRents(*rents, table);
    }
    const JsonValue items = root.Get("items");
    for (std::size_t i = 0; i < items.Size(); ++i)
    {
        const JsonValue json = items.At(i);
        json.AllowKeys("an item", {"item", "gbits_per_s", "price", "power_w", "source"});
        PriceItem item;
        const JsonValue name = json.Get("item");
        item.name = name.AsName();
        const bool isClass = std::any_of(table.classes.begin(),
                                         table.classes.end(),
                                         [&](const CableClass& c) { return c.name == item.name; });
        if (item.name != "switch-port" && item.name != "nic" && !isClass)
        {
            name.Fail("must be switch-port, nic or the name of a class of cables");
        }
        item.gbitsPerSecond = json.Get("gbits_per_s").AsNumber(1e-3, MOST);
        RefuseTwice(json, table.items, [&](const PriceItem& other) {
            return other.name == item.name && other.gbitsPerSecond == item.gbitsPerSecond;
        });
        item.price = json.Get("price").AsNumber(0, MOST);
        if (item.price == 0)
        {
            Warn(json.Get("price").Describe("is 0: " + item.name + " costs nothing"));
        }
        item.powerW = json.Get("power_w").AsNumber(0, MOST);
        item.source = json.Get("source").AsName();
        if (IsBlank(item.source))
        {
            json.Get("source").Fail("must say where the numbers are from");
        }
        table.items.push_back(item);
        for (const UsualRange& usual : USUAL_ITEM)
        {
            WarnOfUnit(json, usual);
        }
    }
    WarnOfOrder(items, table);
    return table;
}

} // namespace proteus
} // namespace ns3
