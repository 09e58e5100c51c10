/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests.h"

#include "proteus-text-reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// A microsecond column of more than three years is no time.
constexpr double MAX_US = 1e14;
/// Nor is this a bandwidth.
constexpr double MAX_GBPS = 1e9;
constexpr uint64_t MAX64 = std::numeric_limits<uint64_t>::max();
/// Most rows of a table, and most devices.
constexpr std::size_t MAX_ROWS = 1 << 20;

/// What a column has.
enum class Column
{
    SIZE,
    COUNT,
    TYPE,
    REDOP,
    ROOT,
    TIME,
    ALGBW,
    BUSBW,
    WRONG,
    SKIPPED,
};

/// A column, and whose it is.
struct Field
{
    Column column{Column::SKIPPED};
    bool isInPlace{false};
};

/// @return columns of a header that nccl-tests prints; empty if the words are none
std::vector<Field>
ParseHeader(const std::vector<std::string>& words)
{
    if (words.size() < 4 || words[0] != "#" || words[1] != "size" || words[2] != "count")
    {
        return {};
    }
    std::vector<Field> fields;
    bool hadTime = false;
    bool isInPlace = false;
    for (std::size_t i = 1; i < words.size(); i++)
    {
        const std::string& word = words[i];
        Column column = Column::SKIPPED;
        if (word == "time")
        {
            isInPlace = hadTime; // the second group of columns
            hadTime = true;
            column = Column::TIME;
        }
        else if (word == "size")
        {
            column = Column::SIZE;
        }
        else if (word == "count")
        {
            column = Column::COUNT;
        }
        else if (word == "type")
        {
            column = Column::TYPE;
        }
        else if (word == "redop")
        {
            column = Column::REDOP;
        }
        else if (word == "root")
        {
            column = Column::ROOT;
        }
        else if (word == "algbw")
        {
            column = Column::ALGBW;
        }
        else if (word == "busbw")
        {
            column = Column::BUSBW;
        }
        else if (word == "#wrong" || word == "error" || word == "wrong")
        {
            column = Column::WRONG;
        }
        fields.push_back({column, isInPlace});
    }
    return hadTime ? fields : std::vector<Field>();
}

/// @return column of that name in CSV @param reader for errors
Field
ParseColumn(const TextReader& reader, const std::string& name)
{
    static const std::vector<std::pair<const char*, Field>> known{
        {"size_bytes", {Column::SIZE, false}},
        {"count", {Column::COUNT, false}},
        {"type", {Column::TYPE, false}},
        {"redop", {Column::REDOP, false}},
        {"root", {Column::ROOT, false}},
        {"oop_time_us", {Column::TIME, false}},
        {"oop_algbw_GBps", {Column::ALGBW, false}},
        {"oop_busbw_GBps", {Column::BUSBW, false}},
        {"ip_time_us", {Column::TIME, true}},
        {"ip_algbw_GBps", {Column::ALGBW, true}},
        {"ip_busbw_GBps", {Column::BUSBW, true}},
        {"time_us", {Column::TIME, false}},
        {"algbw_GBps", {Column::ALGBW, false}},
        {"busbw_GBps", {Column::BUSBW, false}},
        {"algorithm", {Column::SKIPPED, false}},
        {"protocol", {Column::SKIPPED, false}},
        {"channels", {Column::SKIPPED, false}},
        {"system", {Column::SKIPPED, false}},
        {"nodes", {Column::SKIPPED, false}},
        {"gpus", {Column::SKIPPED, false}},
        {"collective", {Column::SKIPPED, false}},
        {"source", {Column::SKIPPED, false}},
    };
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& entry) {
        return name == entry.first;
    });
    if (found == known.end())
    {
        std::string message = "the unknown column " + TextReader::Shown(name) + "; known are";
        for (const auto& entry : known)
        {
            message += std::string(" ") + entry.first;
        }
        reader.Fail(message);
    }
    return found->second;
}

/// Sets what a word of a row says. @param isText whether nccl-tests printed it, not CSV
void
SetField(const TextReader& reader, const Field& field, const std::string& word, NcclTestsRow& row)
{
    auto& timing = field.isInPlace ? row.inPlace : row.outOfPlace;
    if (word.empty() || word == "N/A")
    {
        return;
    }
    const auto get = [&]() -> NcclTestsTiming& {
        if (!timing)
        {
            timing.emplace();
        }
        return *timing;
    };
    switch (field.column)
    {
    case Column::SIZE:
        row.bytes = reader.ToUnsigned(word, "the size", MAX64);
        break;
    case Column::COUNT:
        row.count = reader.ToUnsigned(word, "the count", MAX64);
        break;
    case Column::TYPE:
        row.type = word;
        break;
    case Column::REDOP:
        row.redop = word;
        break;
    case Column::ROOT:
        row.root =
            word == "-1"
                ? -1
                : static_cast<int64_t>(
                      reader.ToUnsigned(word, "the root", std::numeric_limits<int32_t>::max()));
        break;
    case Column::TIME:
        get().timeUs = reader.ToNumber(word, "the time", MAX_US);
        break;
    case Column::ALGBW:
        get().algbwGBps = reader.ToNumber(word, "the algorithm bandwidth", MAX_GBPS);
        break;
    case Column::BUSBW:
        get().busbwGBps = reader.ToNumber(word, "the bus bandwidth", MAX_GBPS);
        break;
    case Column::WRONG:
        get().wrong =
            reader.ToNumber(word, "the number of errors", std::numeric_limits<double>::max());
        break;
    case Column::SKIPPED:
        break;
    }
}

/// A timing must have a time.
void
CheckRow(const TextReader& reader, NcclTestsRow& row)
{
    for (auto* timing : {&row.outOfPlace, &row.inPlace})
    {
        // #wrong alone, where the test does not run in place
        if (*timing && (*timing)->timeUs == 0 && !(*timing)->algbwGBps && !(*timing)->busbwGBps)
        {
            timing->reset();
        }
        if (*timing && (*timing)->timeUs <= 0)
        {
            reader.Fail("the time must be above 0");
        }
    }
}

std::vector<std::string>
SplitCsv(const std::string& line)
{
    std::vector<std::string> words(1);
    for (const char c : line)
    {
        if (c == ',')
        {
            words.emplace_back();
        }
        else if (c != ' ' && c != '\t')
        {
            words.back() += c;
        }
    }
    return words;
}

/// Shortest text that reads back as the number.
std::string
ToText(double value)
{
    for (int digits = 6; digits < 17; digits++)
    {
        std::ostringstream text;
        text << std::setprecision(digits) << value;
        if (std::stod(text.str()) == value)
        {
            return text.str();
        }
    }
    std::ostringstream text;
    text << std::setprecision(17) << value;
    return text.str();
}

} // namespace

NcclTestsTable
ReadNcclTests(std::istream& in, const std::string& fileName)
{
    TextReader reader(in, fileName);
    NcclTestsTable table;
    std::vector<Field> fields;
    bool isCsv = false;
    bool hasHeader = false;
    for (std::string line; reader.ReadLine(line);)
    {
        const auto words = TextReader::Split(line);
        if (words.empty())
        {
            continue;
        }
        if (words[0][0] == '#')
        {
            auto header = ParseHeader(words);
            if (!header.empty() && !isCsv)
            {
                fields = std::move(header);
                hasHeader = true;
            }
            // "#  Rank  0 Group  0 Pid  123 on HOST device  0 [0x07] NVIDIA A100"
            const auto bracket = line.find(']');
            if (words.size() > 6 && words[1] == "Rank" && bracket != std::string::npos &&
                table.devices.size() < MAX_ROWS)
            {
                const auto name = line.find_first_not_of(' ', bracket + 1);
                table.devices.push_back(name == std::string::npos ? "" : line.substr(name));
            }
            continue;
        }
        if (!hasHeader && line.find(',') != std::string::npos &&
            line.find("size_bytes") != std::string::npos)
        {
            isCsv = true;
            hasHeader = true;
            for (const std::string& name : SplitCsv(line))
            {
                fields.push_back(ParseColumn(reader, name));
            }
            continue;
        }
        const bool isRow =
            hasHeader && (isCsv || words[0].find_first_not_of("0123456789") == std::string::npos);
        if (!isRow)
        {
            continue; // what mpirun and NCCL say
        }
        const auto values = isCsv ? SplitCsv(line) : words;
        if (values.size() != fields.size())
        {
            reader.Fail("the line has " + std::to_string(values.size()) +
                        " fields, but the table " + std::to_string(fields.size()) + " columns");
        }
        if (table.rows.size() == MAX_ROWS)
        {
            reader.Fail("the table has more than " + std::to_string(MAX_ROWS) + " lines");
        }
        NcclTestsRow row;
        for (std::size_t i = 0; i < values.size(); i++)
        {
            SetField(reader, fields[i], values[i], row);
        }
        CheckRow(reader, row);
        table.rows.push_back(row);
    }
    if (table.rows.empty())
    {
        reader.Fail(hasHeader ? "the table has no lines"
                              : "there is no table of nccl-tests in this file");
    }
    return table;
}

NcclTestsTable
LoadNcclTests(const std::string& path)
{
    if (IsFolder(path))
    {
        throw std::invalid_argument(path + ": cannot be read: it is a directory");
    }
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in)
    {
        throw std::invalid_argument(path + ": cannot be read: " + std::strerror(errno));
    }
    return ReadNcclTests(in, path);
}

void
WriteNcclTestsCsv(const NcclTestsTable& table, std::ostream& out)
{
    for (const std::string& device : table.devices)
    {
        out << "# " << device << "\n";
    }
    out << "size_bytes,count,type,redop,root,oop_time_us,oop_algbw_GBps,oop_busbw_GBps,ip_time_us,"
           "ip_algbw_GBps,ip_busbw_GBps\n";
    const auto write = [&](const std::optional<double>& value) {
        out << ',' << (value ? ToText(*value) : "");
    };
    for (const NcclTestsRow& row : table.rows)
    {
        out << std::to_string(row.bytes) << ',' << (row.count ? std::to_string(*row.count) : "")
            << ',' << row.type << ',' << row.redop << ','
            << (row.root ? std::to_string(*row.root) : "");
        for (const auto* timing : {&row.outOfPlace, &row.inPlace})
        {
            write(*timing ? std::make_optional((*timing)->timeUs) : std::nullopt);
            write(*timing ? (*timing)->algbwGBps : std::nullopt);
            write(*timing ? (*timing)->busbwGBps : std::nullopt);
        }
        out << "\n";
    }
}

} // namespace proteus
} // namespace ns3
