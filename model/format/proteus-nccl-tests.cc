/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-tests.h"

#include "proteus-input-file.h"
#include "proteus-nccl-tests-doubts.h"
#include "proteus-nccl-tests-json.h"
#include "proteus-nccl-tests-lines.h"
#include "proteus-nccl-tests-words.h"
#include "proteus-text-reader.h"

#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MAX64 = std::numeric_limits<uint64_t>::max();
/// Most rows of a table, and most devices.
constexpr std::size_t MAX_ROWS = 1 << 20;
/// Most threads of a process, and GPUs of a thread.
constexpr uint64_t MAX_THREADS = 1024;

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
    NODES,
    RANKS,
    COLLECTIVE,
    SKIPPED,
};

/// A column, and whose it is.
struct Field
{
    Column column{Column::SKIPPED};
    bool isInPlace{false};
};

/// @param words of a comment @return the unit in the line below the header, such as "(ms)", that is
/// not one of nccl-tests, however it is set in brackets; empty if there is none, or the comment is
/// another
std::string
FindOtherUnit(const std::vector<std::string>& words)
{
    static const std::set<std::string> units{"B", "elements", "us", "GB/s"};
    static const std::regex any("B|bytes|elements|[num]?s|sec|[KMGT]i?[Bb](/s|ps)?");
    const auto strip = [](const std::string& word) {
        const bool isSet = word.size() > 2 && ((word.front() == '(' && word.back() == ')') ||
                                               (word.front() == '[' && word.back() == ']'));
        return isSet ? word.substr(1, word.size() - 2) : word;
    };
    const auto isUnit = [&](const std::string& word) {
        return strip(word) != word || std::regex_match(word, any);
    };
    if (!std::all_of(words.begin() + 1, words.end(), isUnit))
    {
        return "";
    }
    const auto other = std::find_if(words.begin() + 1, words.end(), [&](const std::string& word) {
        return units.count(strip(word)) == 0;
    });
    return other == words.end() ? "" : *other;
}

/// @param words of a comment @param unread gets columns that are not known
/// @return columns of a header that nccl-tests prints; empty if the words are none
std::vector<Field>
ParseHeader(const std::vector<std::string>& words, std::set<std::string>& unread)
{
    if (words.size() < 4 || words[0] != "#" || words[1] != "size" || words[2] != "count")
    {
        return {};
    }
    static const std::map<std::string, Column> known{{"size", Column::SIZE},
                                                     {"count", Column::COUNT},
                                                     {"type", Column::TYPE},
                                                     {"redop", Column::REDOP},
                                                     {"root", Column::ROOT},
                                                     {"time", Column::TIME},
                                                     {"algbw", Column::ALGBW},
                                                     {"busbw", Column::BUSBW},
                                                     {"#wrong", Column::WRONG},
                                                     {"error", Column::WRONG},
                                                     {"wrong", Column::WRONG},
                                                     {"timestamp", Column::SKIPPED}};
    std::vector<Field> fields;
    bool hadTime = false;
    bool isInPlace = false;
    for (std::size_t i = 1; i < words.size(); i++)
    {
        if (words[i] == "time")
        {
            isInPlace = hadTime; // the second group of columns
            hadTime = true;
        }
        const auto column = known.find(words[i]);
        if (column == known.end())
        {
            unread.insert(words[i]);
        }
        fields.push_back({column == known.end() ? Column::SKIPPED : column->second, isInPlace});
        if (words[i] == "timestamp")
        {
            fields.push_back(fields.back()); // a date and a time
        }
    }
    return hadTime ? fields : std::vector<Field>();
}

/// @return column of that name in CSV @param reader for errors
Field
ParseColumn(const TextReader& reader, const std::string& name)
{
    static const std::map<std::string, Field> known{
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
        {"nodes", {Column::NODES, false}},
        {"gpus", {Column::RANKS, false}},
        {"collective", {Column::COLLECTIVE, false}},
        {"source", {Column::SKIPPED, false}},
    };
    const auto found = known.find(name);
    if (found == known.end())
    {
        std::string message = "the unknown column " + QuotedText(name) + "; known are";
        for (const auto& entry : known)
        {
            message += " " + entry.first;
        }
        reader.Fail(message);
    }
    return found->second;
}

/// Sets what a word of a row says; an empty one and "N/A" say nothing.
void
SetField(const TextReader& reader, const Field& field, const std::string& word, NcclTestsRow& row)
{
    auto& timing = field.isInPlace ? row.inPlace : row.outOfPlace;
    if (word.empty() && field.column == Column::SIZE)
    {
        reader.Fail("the size is missing");
    }
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
        get().timeUs = reader.ToNumber(word, "the time", NcclTestsTiming::MOST_US);
        break;
    case Column::ALGBW:
        get().algbwGBps =
            reader.ToNumber(word, "the algorithm bandwidth", NcclTestsTiming::MOST_GBPS);
        break;
    case Column::BUSBW:
        get().busbwGBps = reader.ToNumber(word, "the bus bandwidth", NcclTestsTiming::MOST_GBPS);
        break;
    case Column::WRONG:
        get().wrong =
            reader.ToNumber(word, "the number of errors", std::numeric_limits<double>::max());
        break;
    case Column::NODES:
    case Column::RANKS:
    case Column::COLLECTIVE:
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

/// @param line of a table @return its cells, without the blanks around them: those inside one, as
/// in "1 024", are part of it
std::vector<std::string>
SplitCsv(const std::string& line)
{
    std::vector<std::string> cells = SplitList(line);
    for (std::string& cell : cells)
    {
        cell.erase(cell.find_last_not_of(" \t") + 1);
        cell.erase(0, cell.find_first_not_of(" \t"));
    }
    return cells;
}

/// Reads a log or a table, line by line.
class Reader
{
  public:
    explicit Reader(TextReader& reader)
        : m_reader(reader)
    {
    }

    NcclTestsTable Read()
    {
        for (std::string line; m_reader.ReadLine(line);)
        {
            ReadWithMessages(m_isCsv ? line : StripColours(line));
        }
        if (m_table.rows.empty())
        {
            const std::string& failure = m_run.failure;
            m_reader.Fail(std::max<uint64_t>(m_reader.GetLine(), 1),
                          std::string(m_hasHeader
                                          ? "the table has no lines"
                                          : "there is no table of nccl-tests in this file, nor one "
                                            "of CSV, which begins with names of columns such as "
                                            "size_bytes,time_us") +
                              (failure.empty() ? "" : "; it says " + QuotedText(failure)));
        }
        FindDoubts();
        if (m_table.ranks == 0 && !m_table.devices.empty())
        { // a log that was shortened lists fewer than one process has
            const auto nDevices = static_cast<uint32_t>(m_table.devices.size());
            m_table.ranks = std::max({m_run.ofProcess, nDevices, m_run.CountRanks()});
            m_table.nodes = static_cast<uint32_t>(m_hosts.size());
        }
        return std::move(m_table);
    }

  private:
    /// @param line whatever it is; in a table, without what NCCL says in between
    void ReadWithMessages(const std::string& line)
    {
        if (m_isCsv || !m_hasHeader)
        {
            ReadAnyLine(line);
            return;
        }
        const NcclTestsLines::Parts parts = m_lines.Take(line, m_nPrefixWords, m_fields.size());
        if (!parts.message.empty())
        {
            m_run.NoteSettings(parts.message);
            ReadOther(parts.message, TextReader::Split(parts.message));
        }
        ReadAnyLine(parts.row);
    }

    /// @param line of something else than nccl-tests @param words of it
    void ReadOther(const std::string& line, const std::vector<std::string>& words)
    {
        m_run.NoteFailure(line);
        NoteCollective(FindCollective(line)); // what mpirun and NCCL say
        NoteVersion(words);
    }

    /// Reads a line, whatever it is. What launchers, containers and loggers put before the lines of
    /// nccl-tests, such as "[1,0]<stdout>:", "0: " or a time, is taken to have as many words
    /// everywhere as before the header of the table.
    void ReadAnyLine(const std::string& line)
    {
        auto words = TextReader::Split(line);
        if (words.empty())
        {
            return;
        }
        if (!m_isCsv)
        {
            m_run.NoteSettings(line);
        }
        if (!m_isCsv && HasLostItsHash(words))
        {
            ReadComment("# " + line, TextReader::Split("# " + line), 0);
            return;
        }
        const std::size_t comment =
            m_isCsv || words[0][0] == '#' ? line.find('#') : line.find("# ");
        if (comment != std::string::npos && (!m_isCsv || words[0][0] == '#'))
        {
            const std::string rest = line.substr(comment);
            ReadComment(rest,
                        TextReader::Split(rest),
                        TextReader::Split(line.substr(0, comment)).size());
            return;
        }
        if (!m_hasHeader && line.find("size_bytes") != std::string::npos)
        {
            if (line.find(',') != std::string::npos)
            {
                ReadCsvHeader(line);
                return;
            }
            if (const std::string other = TextReader::DescribeSeparator(line); !other.empty())
            {
                m_reader.Fail(other);
            }
        }
        if (m_isCsv)
        {
            ReadRow(SplitCsv(line));
            return;
        }
        words.erase(words.begin(),
                    words.begin() +
                        static_cast<std::ptrdiff_t>(std::min(m_nPrefixWords, words.size())));
        if (m_hasHeader && !words.empty() &&
            (words[0].find_first_not_of("0123456789") == std::string::npos || LooksLikeRow(words)))
        {
            ReadRow(words);
            return;
        }
        ReadOther(line, words);
    }

    /// @param words of a line @return whether it is a row whose size is no number, not what another
    /// program has printed
    bool LooksLikeRow(const std::vector<std::string>& words) const
    {
        return words.size() == m_fields.size() &&
               std::isdigit(static_cast<unsigned char>(words[0][0])) != 0 && !m_isWhole;
    }

    /// Notes what is odd about a table that was read.
    void FindDoubts()
    {
        m_table.iterations = m_run.iterations;
        m_table.doubts = proteus::FindDoubts(m_table, m_run);
        m_table.settings = m_run.GetVariables();
        if (!m_isCsv && !m_isWhole)
        {
            m_table.doubts.emplace_back("has no line '# Avg bus bandwidth': the run was stopped, "
                                        "or the end of the log is missing; what it has is used");
        }
    }

    /// @param line that begins with '#' @param words of it @param nBefore words before it
    void ReadComment(const std::string& line,
                     const std::vector<std::string>& words,
                     std::size_t nBefore)
    {
        std::set<std::string> unread;
        auto header = ParseHeader(words, unread);
        if (header.empty() && !m_isCsv && words.size() > 2 && words[1] == "size" &&
            std::find(words.begin(), words.end(), "cputime") != words.end())
        {
            m_reader.Fail("cputime is what launching took on the host (-C), not the operation; "
                          "run nccl-tests without -C");
        }
        if (!header.empty() && !m_isCsv)
        {
            if (m_hasHeader)
            {
                m_reader.Fail("a second table begins here; keep one run of nccl-tests in a file");
            }
            m_run.countsWrong = std::find(words.begin(), words.end(), "#wrong") != words.end();
            m_fields = std::move(header);
            m_run.unread = std::move(unread);
            m_hasHeader = true;
            m_nPrefixWords = nBefore;
        }
        if (const std::string unit = FindOtherUnit(words);
            m_hasHeader && !m_isCsv && m_table.rows.empty() && !unit.empty())
        {
            m_reader.Fail(QuotedText(unit) + " is no unit of nccl-tests, which prints B, elements, "
                                             "us and GB/s: convert the numbers to these");
        }
        // "#  Rank  0 Group  0 Pid  123 on HOST device  0 [0x07] NVIDIA A100"
        const auto bracket = line.find(']');
        if (words.size() > 6 && words[1] == "Rank" && bracket != std::string::npos &&
            m_table.devices.size() < MAX_ROWS)
        {
            const auto name = line.find_first_not_of(' ', bracket + 1);
            m_run.NoteDevice(words);
            m_table.devices.push_back(name == std::string::npos ? "" : line.substr(name));
            const auto on = std::find(words.begin(), words.end(), "on");
            if (on != words.end() && on + 1 != words.end())
            {
                m_hosts.insert(*(on + 1));
            }
        }
        // "# nThread 1 nGpus 8 minBytes 8 ..."
        if (words.size() > 4 && words[1] == "nThread" && words[3] == "nGpus")
        {
            m_run.ofProcess = static_cast<uint32_t>(
                m_reader.ToUnsigned(words[2], "the number of threads", MAX_THREADS) *
                m_reader.ToUnsigned(words[4], "the number of GPUs", MAX_THREADS));
            m_table.gpusOfThread = static_cast<uint32_t>(
                m_reader.ToUnsigned(words[4], "the number of GPUs", MAX_THREADS));
        }
        m_run.Read(words);
        m_isWhole = m_isWhole || line.find("Avg bus bandwidth") != std::string::npos;
        NoteVersion(words);
        NoteCollective(FindCollective(line)); // "# Collective test starting: all_reduce_perf"
    }

    /// Notes the version of NCCL that a line names: "# nccl-tests version 2.16.2 nccl-headers=22703
    /// nccl-library=22703", "NCCL version 2.27.3+cuda12.9". @param words of the line
    void NoteVersion(const std::vector<std::string>& words)
    {
        const std::string library = "nccl-library=";
        for (std::size_t i = 0; i < words.size() && m_table.ncclVersion.empty(); ++i)
        {
            if (words[i].rfind(library, 0) == 0)
            {
                m_table.ncclVersion = words[i].substr(library.size());
            }
            else if (i >= 2 && words[i - 2] == "NCCL" && words[i - 1] == "version")
            {
                m_table.ncclVersion = words[i];
            }
        }
    }

    void ReadCsvHeader(const std::string& line)
    {
        m_isCsv = true;
        m_hasHeader = true;
        for (const std::string& name : SplitCsv(line))
        {
            const Field field = ParseColumn(m_reader, name);
            const bool isThere =
                std::any_of(m_fields.begin(), m_fields.end(), [&field](const Field& other) {
                    return other.column == field.column && other.isInPlace == field.isInPlace;
                });
            if (isThere && field.column != Column::SKIPPED)
            {
                m_reader.Fail("the column " + QuotedText(name) +
                              " has what a column before it has, too");
            }
            m_fields.push_back(field);
        }
        if (std::none_of(m_fields.begin(), m_fields.end(), [](const Field& field) {
                return field.column == Column::TIME;
            }))
        {
            m_reader.Fail("no column has times; they are in microseconds, as time_us");
        }
    }

    /// Earlier nccl-tests leave the reduction of an all-to-all blank, below its header.
    /// @param values of a line @return them with an empty word there, if it is that what is missing
    std::vector<std::string> AddBlankReduction(std::vector<std::string> values) const
    {
        const auto redop = std::find_if(m_fields.begin(), m_fields.end(), [](const Field& field) {
            return field.column == Column::REDOP;
        });
        const auto at = static_cast<std::size_t>(redop - m_fields.begin());
        if (!m_isCsv && values.size() + 1 == m_fields.size() && at < values.size() &&
            std::isdigit(static_cast<unsigned char>(values[at].front())) != 0)
        {
            values.insert(values.begin() + static_cast<std::ptrdiff_t>(at), "");
        }
        return values;
    }

    void ReadRow(const std::vector<std::string>& words)
    {
        const std::vector<std::string> values = AddBlankReduction(words);
        if (values.size() != m_fields.size())
        {
            m_reader.Fail("the line has " + std::to_string(values.size()) +
                          " fields, but the table " + std::to_string(m_fields.size()) + " columns");
        }
        if (m_table.rows.size() == MAX_ROWS)
        {
            m_reader.Fail("the table has more than " + std::to_string(MAX_ROWS) + " lines");
        }
        NcclTestsRow row;
        for (std::size_t i = 0; i < values.size(); i++)
        {
            SetField(m_reader, m_fields[i], values[i], row);
            SetFact(m_fields[i].column, values[i]);
        }
        CheckRow(m_reader, row);
        m_table.rows.push_back(row);
    }

    /// Sets what a column says of the whole table.
    void SetFact(Column column, const std::string& word)
    {
        if (word.empty())
        {
            return;
        }
        if (column == Column::COLLECTIVE)
        {
            NoteCollective(word);
        }
        else if (column == Column::RANKS || column == Column::NODES)
        {
            uint32_t& fact = column == Column::RANKS ? m_table.ranks : m_table.nodes;
            const auto value = static_cast<uint32_t>(m_reader.ToUnsigned(
                word,
                column == Column::RANKS ? "the number of GPUs" : "the number of nodes",
                MAX_ROWS));
            if (value == 0)
            {
                m_reader.Fail("the number of GPUs or nodes must be at least 1");
            }
            if (fact != 0 && fact != value)
            {
                m_reader.Fail("the lines of the table are of different numbers of GPUs or nodes");
            }
            fact = value;
        }
    }

    /// @param collective that a line names, may be empty
    void NoteCollective(const std::string& collective)
    {
        if (collective.empty())
        {
            return;
        }
        if (!m_table.collective.empty() && m_table.collective != collective)
        {
            m_reader.Fail("is of " + collective + ", lines before it of " + m_table.collective +
                          "; keep one collective in a file");
        }
        m_table.collective = collective;
    }

    TextReader& m_reader;
    NcclTestsTable m_table;
    std::vector<Field> m_fields; //!< of the table
    std::set<std::string> m_hosts;
    NcclTestsRun m_run;            //!< what comments say
    NcclTestsLines m_lines;        //!< below the header
    std::size_t m_nPrefixWords{0}; //!< of a log, before what nccl-tests prints
    bool m_isCsv{false};
    bool m_hasHeader{false};
    bool m_isWhole{false}; //!< the log has its last line
};

/// @param input a log, a table or JSON @return what it has
NcclTestsTable
ReadAny(InputFile& input)
{
    if (input.GetStream().peek() == '{')
    {
        return ReadNcclTestsJson(input.GetStream(), input.GetName());
    }
    TextReader reader(input.GetStream(), input.GetName());
    return Reader(reader).Read();
}

} // namespace

NcclTestsTable
ReadNcclTests(std::istream& in, const std::string& fileName)
{
    InputFile input(in, fileName);
    return ReadAny(input);
}

NcclTestsTable
LoadNcclTests(const std::string& path)
{
    InputFile input(path);
    NcclTestsTable table = ReadAny(input);
    for (const std::string& doubt : table.doubts)
    {
        Warn(path + ": " + doubt);
    }
    return table;
}

} // namespace proteus
} // namespace ns3
