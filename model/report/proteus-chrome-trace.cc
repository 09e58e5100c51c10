/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chrome-trace.h"

#include "proteus-trace-sink.h"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text any @return a JSON string, quotation marks included
std::string
Quote(std::string_view text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// @param ns a time or length @return in microseconds, exactly
std::string
Microseconds(int64_t ns)
{
    const std::string digits = std::to_string(ns % 1000);
    return std::to_string(ns / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

/// @param value a number @return without a fraction where it has none
std::string
Number(double value)
{
    constexpr double EXACT = 9007199254740992.0; // 2^53
    return std::fabs(value) < EXACT && value == std::floor(value)
               ? std::to_string(static_cast<int64_t>(value))
               : nlohmann::json(value).dump();
}

/// Writes the trace. Process and thread ids start at 1: Perfetto takes 0 for the idle process.
class ChromeSink : public TraceSink
{
  public:
    explicit ChromeSink(std::ostream& out)
        : m_out(out)
    {
        m_text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    }

    void Finish()
    {
        m_text += "\n]}\n";
        Flush();
    }

    void AddProcess(uint32_t process, const std::string& name) override
    {
        WriteMetadata("process_name", process, 0, "\"name\":" + Quote(name));
        WriteMetadata("process_sort_index",
                      process,
                      0,
                      "\"sort_index\":" + std::to_string(process));
    }

    void AddTrack(uint32_t track, uint32_t process, const std::string& name) override
    {
        const std::size_t thread = FIRST_THREAD + track;
        WriteMetadata("thread_name", process, thread, "\"name\":" + Quote(name));
        WriteMetadata("thread_sort_index",
                      process,
                      thread,
                      "\"sort_index\":" + std::to_string(thread));
        m_where = ",\"pid\":" + std::to_string(process + 1) + ",\"tid\":" + std::to_string(thread) +
                  ",\"ts\":";
    }

    void AddSlice(uint32_t /* track */, const TraceSlice& slice) override
    {
        BeginEvent();
        m_text += "{\"ph\":\"X\"" + m_where + Microseconds(slice.startNs) +
                  ",\"dur\":" + Microseconds(slice.endNs - slice.startNs) + ",\"name\":";
        m_text += GetQuoted(slice.name);
        m_text += ",\"cat\":";
        m_text += GetQuoted(slice.category);
        m_text += ",\"args\":{";
        bool isFirst = true;
        for (const TraceArgument& argument : slice.arguments)
        {
            m_text += isFirst ? "\"" : ",\"";
            isFirst = false;
            m_text += argument.name;
            m_text += "\":";
            WriteValue(argument);
        }
        m_text += "}}";
        if (slice.arrowEnd != ArrowEnd::NONE)
        {
            BeginEvent();
            m_text +=
                slice.arrowEnd == ArrowEnd::TO ? "{\"ph\":\"f\",\"bp\":\"e\"" : "{\"ph\":\"s\"";
            m_text += m_where + Microseconds(slice.arrowNs) +
                      ",\"id\":" + std::to_string(slice.arrow) +
                      R"(,"name":"message","cat":"send-receive"})";
        }
    }

    void AddCounter(uint32_t /* counter */,
                    uint32_t process,
                    const std::string& name,
                    const char* unit) override
    {
        m_where = "{\"ph\":\"C\",\"pid\":" + std::to_string(process + 1) + ",\"ts\":";
        m_counter = ",\"name\":" + Quote(name) + ",\"args\":{\"" + unit + "\":";
    }

    void AddValue(uint32_t /* counter */, int64_t timeNs, double value) override
    {
        BeginEvent();
        m_text += m_where + Microseconds(timeNs) + m_counter + Number(value) + "}}";
    }

  private:
    /// Thread ids begin here, so that none is taken for the main thread of a process.
    static constexpr std::size_t FIRST_THREAD = 1U << 20;

    /// Starts a new line.
    void BeginEvent()
    {
        constexpr std::size_t BLOCK_BYTES = 1U << 16;
        if (m_text.size() >= BLOCK_BYTES)
        {
            Flush();
        }
        m_text += m_isFirst ? "\n" : ",\n";
        m_isFirst = false;
    }

    void Flush()
    {
        m_out << m_text;
        m_text.clear();
    }

    void WriteMetadata(const char* what,
                       std::size_t process,
                       std::size_t thread,
                       const std::string& arguments)
    {
        BeginEvent();
        m_text += "{\"ph\":\"M\",\"pid\":" + std::to_string(process + 1);
        if (thread != 0)
        {
            m_text += ",\"tid\":" + std::to_string(thread);
        }
        m_text += std::string(",\"name\":\"") + what + "\",\"args\":{" + arguments + "}}";
    }

    void WriteValue(const TraceArgument& argument)
    {
        std::visit(
            [this](const auto& value) {
                if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>)
                {
                    m_text += GetQuoted(value);
                }
                else
                {
                    m_text += nlohmann::json(value).dump();
                }
            },
            argument.value);
    }

    /// @param text a name, of which there are few @return it as JSON
    const std::string& GetQuoted(std::string_view text)
    {
        std::string& quoted = m_quoted[std::string(text)];
        if (quoted.empty())
        {
            quoted = Quote(text);
        }
        return quoted;
    }

    std::ostream& m_out;
    std::unordered_map<std::string, std::string> m_quoted; //!< as JSON, by text
    std::string m_where;                                   //!< of events of the present track
    std::string m_counter;                                 //!< the rest of the present counter
    bool m_isFirst{true};                                  //!< no event has been written
    std::string m_text;                                    //!< not handed to m_out
};

} // namespace

void
WriteChromeTrace(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const RunRecord& result,
                 std::ostream& out,
                 const std::vector<IterationUse>& iterations)
{
    ChromeSink sink(out);
    TraceContent content;
    content.channels = true;
    content.iterations = iterations;
    WalkTimeline(graph, cluster, result, content, sink);
    sink.Finish();
}

} // namespace proteus
} // namespace ns3
