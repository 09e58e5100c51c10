/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-perfetto-trace.h"

#include "proteus-trace-sink.h"

#include "ns3/proteus-perfetto.pb.h"

#include <cmath>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace ns3
{
namespace proteus
{

namespace
{

namespace pb = google::protobuf;

/// @param text any @return it, with '?' for every byte beyond ASCII unless all of it is UTF-8
std::string
ToUtf8(std::string_view text)
{
    std::size_t left = 0; // continuation bytes
    bool isValid = true;
    for (const char c : text)
    {
        const auto byte = static_cast<unsigned char>(c);
        if (left > 0)
        {
            isValid &= (byte & 0xc0U) == 0x80U;
            --left;
        }
        else if (byte >= 0x80U)
        {
            left = byte >= 0xf0U ? 3 : byte >= 0xe0U ? 2 : 1;
            isValid &= byte >= 0xc2U && byte < 0xf5U;
        }
    }
    std::string result(text);
    if (!isValid || left > 0)
    {
        for (char& c : result)
        {
            c = static_cast<unsigned char>(c) < 0x80U ? c : '?';
        }
    }
    return result;
}

/// Numbers for strings, from 1 on.
class Interned
{
  public:
    /// @param text a string @param isNew set if it has not been asked for before @return its number
    uint64_t Find(std::string_view text, bool& isNew)
    {
        const auto found = m_ids.emplace(std::string(text), m_ids.size() + 1);
        isNew = found.second;
        return found.first->second;
    }

  private:
    std::unordered_map<std::string, uint64_t> m_ids;
};

/// Writes the trace. All packets are of one sequence, whose interned strings hold to its end.
class PerfettoSink : public TraceSink
{
  public:
    explicit PerfettoSink(std::ostream& out)
        : m_file(&out),
          m_out(&m_file)
    {
    }

    void AddProcess(uint32_t process, const std::string& name) override
    {
        auto* descriptor = m_packet.mutable_track_descriptor();
        descriptor->set_uuid(ProcessUuid(process));
        descriptor->set_name(ToUtf8(name));
        descriptor->mutable_process()->set_pid(static_cast<int32_t>(process + 1));
        descriptor->mutable_process()->set_process_name(ToUtf8(name));
        descriptor->set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
        Write();
    }

    void AddTrack(uint32_t track, uint32_t process, const std::string& name) override
    {
        Describe(track, process, name);
        Write();
    }

    void AddCounter(uint32_t counter,
                    uint32_t process,
                    const std::string& name,
                    const char* unit) override
    {
        auto* descriptor = Describe(counter, process, name);
        if (unit == std::string("bytes"))
        {
            descriptor->mutable_counter()->set_unit(perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
        }
        else
        {
            descriptor->mutable_counter()->set_unit_name(unit);
        }
        Write();
    }

    void AddSlice(uint32_t track, const TraceSlice& slice) override
    {
        perfetto::TrackEvent* event = Begin(slice.startNs, track);
        event->set_type(perfetto::TrackEvent::TYPE_SLICE_BEGIN);
        event->set_name_iid(Intern(m_names, slice.name, [this] {
            return m_packet.mutable_interned_data()->add_event_names();
        }));
        event->add_category_iids(Intern(m_categories, slice.category, [this] {
            return m_packet.mutable_interned_data()->add_event_categories();
        }));
        for (const TraceArgument& argument : slice.arguments)
        {
            AddArgument(*event->add_debug_annotations(), argument);
        }
        if (slice.arrowEnd == ArrowEnd::FROM)
        {
            event->add_flow_ids(slice.arrow);
        }
        Write();
        event = Begin(slice.endNs, track);
        event->set_type(perfetto::TrackEvent::TYPE_SLICE_END);
        if (slice.arrowEnd == ArrowEnd::TO)
        {
            // Perfetto draws arrows from the earlier event to the later one, and a receive may
            // begin before its send: so the arrow leads to the end of the receive.
            event->add_terminating_flow_ids(slice.arrow);
        }
        Write();
    }

    void AddValue(uint32_t counter, int64_t timeNs, double value) override
    {
        constexpr double EXACT = 9007199254740992.0; // 2^53
        perfetto::TrackEvent* event = Begin(timeNs, counter);
        event->set_type(perfetto::TrackEvent::TYPE_COUNTER);
        if (std::fabs(value) < EXACT && value == std::floor(value))
        {
            event->set_counter_value(static_cast<int64_t>(value));
        }
        else
        {
            event->set_double_counter_value(value);
        }
        Write();
    }

  private:
    static uint64_t ProcessUuid(uint32_t process)
    {
        return uint64_t{1} << 32 | process;
    }

    static uint64_t TrackUuid(uint32_t track)
    {
        return uint64_t{2} << 32 | track;
    }

    perfetto::TrackDescriptor* Describe(uint32_t track, uint32_t process, const std::string& name)
    {
        auto* descriptor = m_packet.mutable_track_descriptor();
        descriptor->set_uuid(TrackUuid(track));
        descriptor->set_parent_uuid(ProcessUuid(process));
        descriptor->set_name(ToUtf8(name));
        descriptor->set_sibling_order_rank(static_cast<int32_t>(track));
        return descriptor;
    }

    perfetto::TrackEvent* Begin(int64_t timeNs, uint32_t track)
    {
        m_packet.set_timestamp(static_cast<uint64_t>(timeNs));
        auto* event = m_packet.mutable_track_event();
        event->set_track_uuid(TrackUuid(track));
        return event;
    }

    /// @param add makes the place for a new string in the packet @return number of the string
    template <typename F>
    uint64_t Intern(Interned& strings, std::string_view text, F add)
    {
        bool isNew = false;
        const uint64_t id = strings.Find(text, isNew);
        if (isNew)
        {
            auto* entry = add();
            entry->set_iid(id);
            if constexpr (std::is_same_v<decltype(entry), perfetto::InternedString*>)
            {
                entry->set_str(ToUtf8(text));
            }
            else
            {
                entry->set_name(ToUtf8(text));
            }
        }
        return id;
    }

    void AddArgument(perfetto::DebugAnnotation& annotation, const TraceArgument& argument)
    {
        annotation.set_name_iid(Intern(m_argumentNames, argument.name, [this] {
            return m_packet.mutable_interned_data()->add_debug_annotation_names();
        }));
        if (const auto* number = std::get_if<int64_t>(&argument.value))
        {
            annotation.set_int_value(*number);
        }
        else if (const auto* real = std::get_if<double>(&argument.value))
        {
            annotation.set_double_value(*real);
        }
        else
        {
            annotation.set_string_value_iid(
                Intern(m_values, std::get<std::string_view>(argument.value), [this] {
                    return m_packet.mutable_interned_data()->add_debug_annotation_string_values();
                }));
        }
    }

    /// Writes the packet as the next element of Trace::packet, and empties it.
    void Write()
    {
        constexpr uint32_t PACKET_TAG = 1 << 3 | 2; // field 1, with a length
        m_packet.set_trusted_packet_sequence_id(1);
        m_packet.set_sequence_flags(m_isFirst ? perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED
                                              : perfetto::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
        m_isFirst = false;
        m_out.WriteTag(PACKET_TAG);
        m_out.WriteVarint32(static_cast<uint32_t>(m_packet.ByteSizeLong()));
        m_packet.SerializeWithCachedSizes(&m_out);
        m_packet.Clear();
    }

    pb::io::OstreamOutputStream m_file;
    pb::io::CodedOutputStream m_out;
    perfetto::TracePacket m_packet;
    Interned m_names;
    Interned m_categories;
    Interned m_argumentNames;
    Interned m_values;
    bool m_isFirst{true};
};

} // namespace

void
WritePerfettoTrace(const ExecutionGraph& graph,
                   const Cluster& cluster,
                   const RunRecord& result,
                   std::ostream& out,
                   const std::vector<IterationUse>& iterations)
{
    PerfettoSink sink(out);
    TraceContent content;
    content.channels = true;
    content.iterations = iterations;
    WalkTimeline(graph, cluster, result, content, sink);
}

} // namespace proteus
} // namespace ns3
