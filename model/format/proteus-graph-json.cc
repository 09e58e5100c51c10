/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <streambuf>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* FORMAT = "proteus-graph";
constexpr uint64_t VERSION = 1;
/// Containers inside each other; a graph has five: file, schedules, schedule, order, entry.
constexpr std::size_t MAX_DEPTH = 8;
/// Bytes of a value that a message shows.
constexpr std::size_t MAX_SHOWN = 80;

std::string
Shorten(const std::string& text, std::size_t length = MAX_SHOWN)
{
    return text.size() > length ? text.substr(0, length) + "..." : text;
}

/// A key as part of a JSON pointer (RFC 6901), on one line.
std::string
PointerToken(const std::string& key)
{
    std::string token;
    for (const char c : Shorten(key))
    {
        if (c == '~')
        {
            token += "~0";
        }
        else if (c == '/')
        {
            token += "~1";
        }
        else
        {
            token += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        }
    }
    return token;
}

std::string
Element(const std::string& path, std::size_t index)
{
    return path + "/" + std::to_string(index);
}

/// Where a value stands: the file, and the JSON pointer in it.
[[noreturn]] void
Fail(const std::string& file, const std::string& path, const std::string& cause)
{
    throw std::invalid_argument(file + ": " + (path.empty() ? "" : path + ": ") + cause);
}

/// Calls a function of the graph, whose errors know no file.
template <typename FUNCTION>
auto
InFile(const std::string& file, const std::string& path, FUNCTION function)
{
    try
    {
        return function();
    }
    catch (const std::invalid_argument& error)
    {
        Fail(file, path, error.what());
    }
}

std::string
Shown(const Json& value)
{
    return Shorten(value.dump());
}

uint64_t
ToUnsigned(const std::string& file, const std::string& path, const Json& value, uint64_t max)
{
    // The JSON library keeps an integer that fits 64 bits exact and makes any other a float.
    const bool isNatural =
        value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0);
    if (!isNatural || value.get<uint64_t>() > max)
    {
        Fail(file,
             path,
             "must be an integer from 0 to " + std::to_string(max) + ", not " + Shown(value));
    }
    return value.get<uint64_t>();
}

std::string
ToText(const std::string& file, const std::string& path, const Json& value)
{
    if (!value.is_string())
    {
        Fail(file, path, "must be a string, not " + Shown(value));
    }
    return value.get<std::string>();
}

const Json&
ToArray(const std::string& file, const std::string& path, const Json& value)
{
    if (!value.is_array())
    {
        Fail(file, path, "must be a list, not " + Shown(value));
    }
    return value;
}

template <typename ID>
std::vector<ID>
ToIds(const std::string& file, const std::string& path, const Json& value)
{
    std::vector<ID> ids;
    ids.reserve(ToArray(file, path, value).size());
    for (std::size_t i = 0; i < value.size(); i++)
    {
        ids.push_back(static_cast<ID>(
            ToUnsigned(file, Element(path, i), value[i], std::numeric_limits<ID>::max())));
    }
    return ids;
}

/// An object whose fields are all asked for by name; what is left over is an error.
class Fields
{
  public:
    Fields(const std::string& file, std::string path, const Json& object)
        : m_file(file),
          m_path(std::move(path)),
          m_object(object)
    {
        if (!object.is_object())
        {
            Fail(m_file, m_path, "must be an object, not " + Shown(object));
        }
    }

    std::string PathOf(const char* key) const
    {
        return m_path + "/" + key;
    }

    /// @return the value, or null if there is none
    const Json* Find(const char* key)
    {
        m_known.emplace_back(key);
        const auto found = m_object.find(key);
        return found == m_object.end() ? nullptr : &*found;
    }

    const Json& Get(const char* key)
    {
        const Json* value = Find(key);
        if (value == nullptr)
        {
            Fail(m_file, PathOf(key), "is missing");
        }
        return *value;
    }

    std::string GetText(const char* key)
    {
        return ToText(m_file, PathOf(key), Get(key));
    }

    std::string FindText(const char* key, const std::string& otherwise)
    {
        const Json* value = Find(key);
        return value == nullptr ? otherwise : ToText(m_file, PathOf(key), *value);
    }

    uint64_t GetUnsigned(const char* key, uint64_t max)
    {
        return ToUnsigned(m_file, PathOf(key), Get(key), max);
    }

    uint64_t FindUnsigned(const char* key, uint64_t max, uint64_t otherwise)
    {
        const Json* value = Find(key);
        return value == nullptr ? otherwise : ToUnsigned(m_file, PathOf(key), *value, max);
    }

    double FindNumber(const char* key)
    {
        const Json* value = Find(key);
        if (value == nullptr)
        {
            return 0;
        }
        if (!value->is_number() || value->get<double>() < 0)
        {
            Fail(m_file, PathOf(key), "must be a number, 0 or more, not " + Shown(*value));
        }
        return value->get<double>();
    }

    bool FindBool(const char* key)
    {
        const Json* value = Find(key);
        if (value != nullptr && !value->is_boolean())
        {
            Fail(m_file, PathOf(key), "must be true or false, not " + Shown(*value));
        }
        return value != nullptr && value->get<bool>();
    }

    /// @param what of what kind the object is, for the message about a field it cannot have
    void Finish(const std::string& what) const
    {
        for (const auto& item : m_object.items())
        {
            if (std::find(m_known.begin(), m_known.end(), item.key()) == m_known.end())
            {
                std::string known;
                for (const auto& key : m_known)
                {
                    known += (known.empty() ? "" : ", ") + key;
                }
                Fail(m_file,
                     m_path + "/" + PointerToken(item.key()),
                     "unknown field; " + what + " has " + known);
            }
        }
    }

  private:
    const std::string& m_file;
    std::string m_path;
    const Json& m_object;
    std::vector<std::string> m_known; //!< what was asked for
};

/// Names of streams or phases, and their ids.
template <typename ID>
class Names
{
  public:
    explicit Names(const char* what)
        : m_what(what)
    {
    }

    void Add(const std::string& name, ID id)
    {
        m_ids.emplace(name, id);
    }

    ID Get(const std::string& file, const std::string& path, const Json& value) const
    {
        const auto found = m_ids.find(ToText(file, path, value));
        if (found == m_ids.end())
        {
            Fail(file, path, "the graph has no " + m_what + " " + Shown(value));
        }
        return found->second;
    }

  private:
    std::string m_what;
    std::unordered_map<std::string, ID> m_ids;
};

/// Takes the parts of a file as they come and makes the graph of them.
class GraphAssembler
{
  public:
    explicit GraphAssembler(const std::string& file)
        : m_file(file)
    {
    }

    /// @return whether a graph file has such a field
    static bool IsField(const std::string& key)
    {
        static const std::set<std::string> FIELDS{"format",
                                                  "version",
                                                  "facts",
                                                  "devices",
                                                  "streams",
                                                  "phases",
                                                  "groups",
                                                  "schedules",
                                                  "gates",
                                                  "tasks"};
        return FIELDS.count(key) != 0;
    }

    /// A field of the file other than the tasks.
    void OnField(const std::string& key, Json&& value)
    {
        m_fields[key] = std::move(value);
    }

    /// Before the first task, or at the end of a file without tasks.
    void BeginTasks()
    {
        for (const char* key : {"devices", "streams", "phases"})
        {
            if (!m_isComplete && m_fields.count(key) == 0)
            {
                // Streams and phases may be absent, but must not come later.
                m_late.insert(key);
            }
        }
        const auto devices = m_fields.find("devices");
        if (devices == m_fields.end())
        {
            Fail(m_file,
                 "/devices",
                 m_isComplete ? "is missing" : "is missing; it must come before the tasks");
        }
        const uint64_t nDevices =
            ToUnsigned(m_file, "/devices", devices->second, std::numeric_limits<uint32_t>::max());
        m_builder = InFile(m_file, "/devices", [&] {
            return std::make_unique<GraphBuilder>(static_cast<uint32_t>(nDevices));
        });
        AddStreams();
        AddPhases();
    }

    void OnTask(const Json& value)
    {
        const TaskId id = m_nTasks;
        Fields fields(m_file, Element("/tasks", id), value);
        const uint64_t givenId = fields.FindUnsigned("id", NO_ID - 1, id);
        if (givenId != id)
        {
            Fail(m_file,
                 fields.PathOf("id"),
                 "must be the position in the list, " + std::to_string(id) + ", not " +
                     std::to_string(givenId));
        }
        const std::string name = fields.GetText("name");
        Task task;
        const std::string kind = fields.GetText("kind");
        task.kind = InFile(m_file, fields.PathOf("kind"), [&] { return TaskKindFromString(kind); });
        task.phase = m_phases.Get(m_file, fields.PathOf("phase"), fields.Get("phase"));
        switch (task.kind)
        {
        case TaskKind::COMPUTE:
            ReadCompute(fields, task);
            break;
        case TaskKind::COMMUNICATION:
            ReadCommunication(fields, task);
            break;
        case TaskKind::MEMORY:
            task.place = static_cast<uint32_t>(fields.GetUnsigned("device", NO_ID));
            task.bytes = fields.GetUnsigned("bytes", std::numeric_limits<uint64_t>::max());
            task.persistent = fields.FindBool("persistent");
            break;
        }
        const Json* list = fields.Find("dependencies");
        const auto dependencies = list == nullptr
                                      ? std::vector<TaskId>()
                                      : ToIds<TaskId>(m_file, fields.PathOf("dependencies"), *list);
        fields.Finish(std::string("a ") + ToString(task.kind) + " task");
        InFile(m_file, Element("/tasks", id), [&] {
            return m_builder->AddTask(task, name, dependencies);
        });
        m_nTasks++;
    }

    ExecutionGraph Finish()
    {
        m_isComplete = true;
        CheckFormat();
        if (m_builder == nullptr)
        {
            BeginTasks();
        }
        for (const auto& key : m_late)
        {
            if (m_fields.count(key) != 0)
            {
                Fail(m_file, "/" + key, "must come before the tasks");
            }
        }
        AddFacts();
        AddGroups();
        AddSchedules();
        AddGates();
        return InFile(m_file, "", [&] { return m_builder->Build(); });
    }

  private:
    /// @return the list in this field, or an empty one
    const Json& FindArray(const std::string& key) const
    {
        static const Json EMPTY = Json::array();
        const auto found = m_fields.find(key);
        return found == m_fields.end() ? EMPTY : ToArray(m_file, "/" + key, found->second);
    }

    void CheckFormat() const
    {
        const auto format = m_fields.find("format");
        if (format == m_fields.end())
        {
            Fail(m_file, "/format", std::string("is missing; it must be \"") + FORMAT + "\"");
        }
        if (format->second != FORMAT)
        {
            Fail(m_file,
                 "/format",
                 std::string("must be \"") + FORMAT + "\", not " + Shown(format->second));
        }
        const auto version = m_fields.find("version");
        if (version == m_fields.end())
        {
            Fail(m_file, "/version", "is missing; it must be " + std::to_string(VERSION));
        }
        if (version->second != VERSION)
        {
            Fail(m_file,
                 "/version",
                 "must be " + std::to_string(VERSION) + ", not " + Shown(version->second));
        }
    }

    void AddStreams()
    {
        const Json& streams = FindArray("streams");
        for (std::size_t i = 0; i < streams.size(); i++)
        {
            const std::string path = Element("/streams", i);
            const std::string name = ToText(m_file, path, streams[i]);
            m_streams.Add(name, InFile(m_file, path, [&] { return m_builder->AddStream(name); }));
        }
    }

    void AddPhases()
    {
        const Json& phases = FindArray("phases");
        for (std::size_t i = 0; i < phases.size(); i++)
        {
            const std::string path = Element("/phases", i);
            Fields fields(m_file, path, phases[i]);
            const std::string name = fields.GetText("name");
            const auto microBatches = static_cast<uint32_t>(
                fields.FindUnsigned("micro_batches", std::numeric_limits<uint32_t>::max(), 1));
            fields.Finish("a phase");
            m_phases.Add(name, InFile(m_file, path, [&] {
                             return m_builder->AddPhase(name, microBatches);
                         }));
        }
    }

    void AddFacts()
    {
        const auto found = m_fields.find("facts");
        if (found == m_fields.end())
        {
            return;
        }
        constexpr uint64_t MAX = std::numeric_limits<uint64_t>::max();
        Fields fields(m_file, "/facts", found->second);
        WorkloadFacts facts;
        facts.name = fields.FindText("name", "");
        facts.modelFlopsPerIteration = fields.FindNumber("model_flops_per_iteration");
        facts.tokensPerIteration = fields.FindUnsigned("tokens_per_iteration", MAX, 0);
        facts.samplesPerIteration = fields.FindUnsigned("samples_per_iteration", MAX, 0);
        fields.Finish("the field facts");
        m_builder->SetFacts(facts);
    }

    void AddGroups()
    {
        const Json& groups = FindArray("groups");
        for (std::size_t i = 0; i < groups.size(); i++)
        {
            const std::string path = Element("/groups", i);
            const GroupId id = m_builder->AddGroup(ToIds<DeviceId>(m_file, path, groups[i]));
            if (id != i)
            {
                Fail(m_file, path, "is the same group as " + Element("/groups", id));
            }
        }
    }

    void AddSchedules()
    {
        const Json& schedules = FindArray("schedules");
        std::map<DeviceId, std::size_t> scheduled;
        for (std::size_t i = 0; i < schedules.size(); i++)
        {
            Fields fields(m_file, Element("/schedules", i), schedules[i]);
            const std::string path = fields.PathOf("devices");
            const auto devices = ToIds<DeviceId>(m_file, path, fields.Get("devices"));
            for (std::size_t j = 0; j < devices.size(); j++)
            {
                const auto added = scheduled.emplace(devices[j], i);
                if (!added.second)
                {
                    Fail(m_file,
                         Element(path, j),
                         "device " + std::to_string(devices[j]) + " already has its schedule in " +
                             Element("/schedules", added.first->second));
                }
            }
            auto order = ReadOrder(fields.PathOf("order"), fields.Get("order"));
            fields.Finish("a schedule");
            m_builder->SetSchedule(devices, std::move(order));
        }
    }

    std::vector<ScheduleEntry> ReadOrder(const std::string& path, const Json& list) const
    {
        std::vector<ScheduleEntry> order;
        order.reserve(ToArray(m_file, path, list).size());
        for (std::size_t i = 0; i < list.size(); i++)
        {
            const std::string at = Element(path, i);
            if (ToArray(m_file, at, list[i]).size() != 2)
            {
                Fail(m_file, at, "must be a pair: phase, micro-batch");
            }
            ScheduleEntry entry;
            entry.phase = m_phases.Get(m_file, Element(at, 0), list[i][0]);
            entry.microBatch =
                static_cast<uint32_t>(ToUnsigned(m_file,
                                                 Element(at, 1),
                                                 list[i][1],
                                                 std::numeric_limits<uint32_t>::max()));
            order.push_back(entry);
        }
        return order;
    }

    void AddGates()
    {
        const Json& gates = FindArray("gates");
        for (std::size_t i = 0; i < gates.size(); i++)
        {
            Fields fields(m_file, Element("/gates", i), gates[i]);
            MicroBatchGate gate;
            gate.device = static_cast<DeviceId>(fields.GetUnsigned("device", NO_ID));
            gate.acquire = m_phases.Get(m_file, fields.PathOf("acquire"), fields.Get("acquire"));
            gate.release = m_phases.Get(m_file, fields.PathOf("release"), fields.Get("release"));
            gate.limit = static_cast<uint32_t>(
                fields.GetUnsigned("limit", std::numeric_limits<uint32_t>::max()));
            fields.Finish("a gate");
            m_builder->AddGate(gate);
        }
    }

    void ReadCompute(Fields& fields, Task& task) const
    {
        task.place = static_cast<uint32_t>(fields.GetUnsigned("device", NO_ID));
        task.stream = m_streams.Get(m_file, fields.PathOf("stream"), fields.Get("stream"));
        if (const Json* duration = fields.Find("duration_ps"))
        {
            task.durationPs = static_cast<int64_t>(ToUnsigned(m_file,
                                                              fields.PathOf("duration_ps"),
                                                              *duration,
                                                              std::numeric_limits<int64_t>::max()));
        }
        task.flops = fields.FindNumber("flops");
        task.bytes = fields.FindUnsigned("bytes", std::numeric_limits<uint64_t>::max(), 0);
        const std::string type = fields.FindText("data_type", ToString(task.dataType));
        task.dataType =
            InFile(m_file, fields.PathOf("data_type"), [&] { return DataTypeFromString(type); });
    }

    void ReadCommunication(Fields& fields, Task& task) const
    {
        task.place = static_cast<uint32_t>(fields.GetUnsigned("group", NO_ID));
        task.stream = m_streams.Get(m_file, fields.PathOf("stream"), fields.Get("stream"));
        const std::string collective = fields.GetText("collective");
        task.collective = InFile(m_file, fields.PathOf("collective"), [&] {
            return CollectiveFromString(collective);
        });
        task.bytes = fields.GetUnsigned("bytes", std::numeric_limits<uint64_t>::max());
        const std::string parallelism = fields.FindText("parallelism", ToString(task.parallelism));
        task.parallelism = InFile(m_file, fields.PathOf("parallelism"), [&] {
            return ParallelismFromString(parallelism);
        });
        task.root = static_cast<uint16_t>(
            fields.FindUnsigned("root", std::numeric_limits<uint16_t>::max(), 0));
    }

    const std::string& m_file;
    std::map<std::string, Json> m_fields;
    std::set<std::string> m_late; //!< fields that were not there when the tasks began
    bool m_isComplete{false};
    std::unique_ptr<GraphBuilder> m_builder; //!< made when the number of devices is known
    Names<StreamId> m_streams{"stream"};
    Names<PhaseId> m_phases{"phase"};
    TaskId m_nTasks{0};
};

/// Counts lines and columns while the parser reads, since it reports bytes only.
class Position
{
  public:
    void Advance(char c)
    {
        m_line += m_startsLine ? 1 : 0;
        m_column = m_startsLine ? 1 : m_column + 1;
        m_startsLine = c == '\n';
        m_bytes++;
    }

    /// @param bytes where the parser is: past the last character if the text ended too early
    std::string ToText(uint64_t bytes) const
    {
        Position position = *this;
        if (bytes > m_bytes)
        {
            position.Advance(' ');
        }
        return std::to_string(position.m_line) + ":" + std::to_string(position.m_column);
    }

  private:
    uint64_t m_bytes{0}; //!< that were read
    uint64_t m_line{1};
    uint64_t m_column{0}; //!< of the last character that was read
    bool m_startsLine{false};
};

/// Input iterator over a stream's buffer that keeps a Position.
class CountingIterator
{
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    CountingIterator() = default;

    CountingIterator(std::streambuf* buffer, Position* position)
        : m_buffer(buffer),
          m_position(position)
    {
    }

    char operator*() const
    {
        return std::streambuf::traits_type::to_char_type(m_buffer->sgetc());
    }

    CountingIterator& operator++()
    {
        m_position->Advance(std::streambuf::traits_type::to_char_type(m_buffer->sbumpc()));
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
        return IsAtEnd() == other.IsAtEnd(); // good enough to compare with the end
    }

    bool operator!=(const CountingIterator& other) const
    {
        return !(*this == other);
    }

  private:
    bool IsAtEnd() const
    {
        return m_buffer == nullptr || m_buffer->sgetc() == std::streambuf::traits_type::eof();
    }

    std::streambuf* m_buffer{nullptr};
    Position* m_position{nullptr};
};

/**
 * Cuts the stream of parser events into the fields of the file and the tasks. Keeps one field or
 * one task at a time as a value.
 */
class GraphHandler : public nlohmann::json_sax<Json>
{
  public:
    GraphHandler(const std::string& file, std::istream& in)
        : m_file(file),
          m_begin(in.rdbuf(), &m_position),
          m_assembler(file)
    {
    }

    ExecutionGraph Parse()
    {
        Json::sax_parse(m_begin, CountingIterator(), this);
        return m_assembler.Finish();
    }

    bool null() override
    {
        return OnValue(Json());
    }

    bool boolean(bool value) override
    {
        return OnValue(Json(value));
    }

    bool number_integer(number_integer_t value) override
    {
        return OnValue(Json(value));
    }

    bool number_unsigned(number_unsigned_t value) override
    {
        return OnValue(Json(value));
    }

    bool number_float(number_float_t value, const string_t& /* text */) override
    {
        return OnValue(Json(value));
    }

    bool string(string_t& value) override
    {
        return OnValue(Json(std::move(value)));
    }

    bool binary(binary_t& /* value */) override
    {
        throw std::logic_error("JSON text has no binary values");
    }

    bool start_object(std::size_t /* size */) override
    {
        if (!m_isInFile)
        {
            m_isInFile = true;
            return true;
        }
        return Open(Json::object());
    }

    bool start_array(std::size_t /* size */) override
    {
        if (m_isInFile && m_open.empty() && m_field == "tasks" && !m_isInTasks)
        {
            m_isInTasks = true;
            m_assembler.BeginTasks();
            return true;
        }
        return Open(Json::array());
    }

    bool key(string_t& value) override
    {
        if (!m_open.empty())
        {
            m_keys.back() = std::move(value);
            if (m_open.back().contains(m_keys.back()))
            {
                Fail(m_file, GetPath(), "appears twice");
            }
            return true;
        }
        m_field = std::move(value);
        if (!GraphAssembler::IsField(m_field))
        {
            Fail(m_file,
                 "/" + PointerToken(m_field),
                 "unknown field; a graph has format, version, facts, devices, streams, phases, "
                 "groups, schedules, gates and tasks");
        }
        if (!m_fieldsSeen.insert(m_field).second)
        {
            Fail(m_file, "/" + m_field, "appears twice");
        }
        return true;
    }

    bool end_object() override
    {
        return m_open.empty() || Close();
    }

    bool end_array() override
    {
        if (m_open.empty())
        {
            m_isInTasks = false;
            return true;
        }
        return Close();
    }

    bool parse_error(std::size_t position,
                     const std::string& /* token */,
                     const nlohmann::detail::exception& error) override
    {
        // "[json.exception...] parse error at line 1, column 2: cause"; the place is ours
        std::string cause = error.what();
        const std::size_t tag = cause.find("] ");
        cause.erase(0, tag == std::string::npos ? 0 : tag + 2);
        if (cause.compare(0, 15, "parse error at ") == 0 && cause.find(": ") != std::string::npos)
        {
            cause.erase(0, cause.find(": ") + 2);
        }
        throw std::invalid_argument(m_file + ":" + m_position.ToText(position) + ": " +
                                    Shorten(cause, 3 * MAX_SHOWN));
    }

  private:
    /// @return JSON pointer to the value that is about to begin
    std::string GetPath() const
    {
        std::string path = m_field.empty() ? "" : "/" + m_field;
        if (m_isInTasks)
        {
            path = Element(path, m_nTasks);
        }
        for (std::size_t i = 0; i < m_open.size(); i++)
        {
            path = m_open[i].is_array() ? Element(path, m_open[i].size())
                                        : path + "/" + PointerToken(m_keys[i]);
        }
        return path;
    }

    bool Open(Json&& container)
    {
        if (!m_isInFile)
        {
            Fail(m_file, "", "must hold an object, not a list");
        }
        if (m_open.size() + 2 > MAX_DEPTH)
        {
            Fail(m_file, GetPath(), "is nested too deeply");
        }
        m_open.push_back(std::move(container));
        m_keys.emplace_back();
        return true;
    }

    bool Close()
    {
        Json value = std::move(m_open.back());
        m_open.pop_back();
        m_keys.pop_back();
        return OnValue(std::move(value));
    }

    bool OnValue(Json&& value)
    {
        if (!m_isInFile)
        {
            Fail(m_file, "", "must hold an object, not " + Shown(value));
        }
        if (!m_open.empty())
        {
            if (m_open.back().is_array())
            {
                m_open.back().push_back(std::move(value));
            }
            else
            {
                m_open.back()[m_keys.back()] = std::move(value);
            }
        }
        else if (m_isInTasks)
        {
            m_assembler.OnTask(value);
            m_nTasks++;
        }
        else if (m_field == "tasks")
        {
            Fail(m_file, "/tasks", "must be a list, not " + Shown(value));
        }
        else
        {
            m_assembler.OnField(m_field, std::move(value));
        }
        return true;
    }

    const std::string& m_file;
    Position m_position;
    CountingIterator m_begin;
    GraphAssembler m_assembler;
    bool m_isInFile{false};  //!< inside the outermost object
    bool m_isInTasks{false}; //!< inside the list of tasks
    std::string m_field;     //!< field of the file
    std::set<std::string> m_fieldsSeen;
    std::size_t m_nTasks{0};
    std::vector<Json> m_open;        //!< containers of the field or task, outermost first
    std::vector<std::string> m_keys; //!< of each of them, the key that was read last
};

/// Writes a list with one element per line.
class LineList
{
  public:
    LineList(std::ostream& out, const char* field)
        : m_out(out)
    {
        m_out << ",\n\"" << field << "\": [";
    }

    void Add(const OrderedJson& element)
    {
        m_out << (m_isEmpty ? "\n" : ",\n") << element.dump();
        m_isEmpty = false;
    }

    void Close()
    {
        m_out << "\n]";
    }

  private:
    std::ostream& m_out;
    bool m_isEmpty{true};
};

OrderedJson
ToJson(const WorkloadFacts& facts)
{
    OrderedJson json = OrderedJson::object();
    if (!facts.name.empty())
    {
        json["name"] = facts.name;
    }
    if (facts.modelFlopsPerIteration != 0)
    {
        json["model_flops_per_iteration"] = facts.modelFlopsPerIteration;
    }
    if (facts.tokensPerIteration != 0)
    {
        json["tokens_per_iteration"] = facts.tokensPerIteration;
    }
    if (facts.samplesPerIteration != 0)
    {
        json["samples_per_iteration"] = facts.samplesPerIteration;
    }
    return json;
}

OrderedJson
ToJson(const ExecutionGraph& graph, TaskId id)
{
    const Task defaults;
    const Task& task = graph.GetTask(id);
    OrderedJson json;
    json["id"] = id;
    json["name"] = graph.GetName(task);
    json["kind"] = ToString(task.kind);
    json["phase"] = graph.GetPhases()[task.phase].name;
    json[task.kind == TaskKind::COMMUNICATION ? "group" : "device"] = task.place;
    if (task.stream != NO_STREAM)
    {
        json["stream"] = graph.GetStreams()[task.stream];
    }
    if (task.kind == TaskKind::COMMUNICATION)
    {
        json["collective"] = ToString(task.collective);
    }
    if (task.durationPs >= 0)
    {
        json["duration_ps"] = task.durationPs;
    }
    if (task.flops != 0)
    {
        json["flops"] = task.flops;
    }
    if (task.bytes != 0 || task.kind != TaskKind::COMPUTE)
    {
        json["bytes"] = task.bytes;
    }
    if (task.dataType != defaults.dataType)
    {
        json["data_type"] = ToString(task.dataType);
    }
    if (task.parallelism != defaults.parallelism)
    {
        json["parallelism"] = ToString(task.parallelism);
    }
    if (task.root != 0)
    {
        json["root"] = task.root;
    }
    if (task.persistent)
    {
        json["persistent"] = true;
    }
    const IdRange dependencies = graph.GetDependencies(id);
    if (dependencies.size() != 0)
    {
        json["dependencies"] = std::vector<TaskId>(dependencies.begin(), dependencies.end());
    }
    return json;
}

} // namespace

void
WriteGraphJson(const ExecutionGraph& graph, std::ostream& out)
{
    out << "{\n\"format\": \"" << FORMAT << "\",\n\"version\": " << std::to_string(VERSION);
    const OrderedJson facts = ToJson(graph.GetFacts());
    if (!facts.empty())
    {
        out << ",\n\"facts\": " << facts.dump();
    }
    out << ",\n\"devices\": " << std::to_string(graph.GetNDevices());
    if (!graph.GetStreams().empty())
    {
        out << ",\n\"streams\": " << OrderedJson(graph.GetStreams()).dump();
    }
    if (!graph.GetPhases().empty())
    {
        LineList list(out, "phases");
        for (const auto& phase : graph.GetPhases())
        {
            OrderedJson json;
            json["name"] = phase.name;
            if (phase.microBatches != 1)
            {
                json["micro_batches"] = phase.microBatches;
            }
            list.Add(json);
        }
        list.Close();
    }
    if (!graph.GetGroups().empty())
    {
        LineList list(out, "groups");
        for (const auto& group : graph.GetGroups())
        {
            list.Add(group);
        }
        list.Close();
    }
    const auto scheduled = graph.FindScheduledDevices();
    if (!scheduled.empty())
    {
        LineList list(out, "schedules");
        for (const auto& devices : scheduled)
        {
            OrderedJson order = OrderedJson::array();
            for (const auto& entry : graph.GetSchedule(devices.front()))
            {
                order.push_back(
                    OrderedJson::array({graph.GetPhases()[entry.phase].name, entry.microBatch}));
            }
            OrderedJson json;
            json["devices"] = devices;
            json["order"] = std::move(order);
            list.Add(json);
        }
        list.Close();
    }
    if (!graph.GetGates().empty())
    {
        LineList list(out, "gates");
        for (const auto& gate : graph.GetGates())
        {
            OrderedJson json;
            json["device"] = gate.device;
            json["acquire"] = graph.GetPhases()[gate.acquire].name;
            json["release"] = graph.GetPhases()[gate.release].name;
            json["limit"] = gate.limit;
            list.Add(json);
        }
        list.Close();
    }
    if (graph.GetNTasks() != 0)
    {
        LineList list(out, "tasks");
        for (TaskId id = 0; id < graph.GetNTasks() && out; id++)
        {
            list.Add(ToJson(graph, id));
        }
        list.Close();
    }
    out << "\n}\n";
    if (!out.flush())
    {
        throw std::invalid_argument("the graph cannot be written: the output does not take it");
    }
}

ExecutionGraph
ReadGraphJson(std::istream& in, const std::string& fileName)
{
    return GraphHandler(fileName, in).Parse();
}

} // namespace proteus
} // namespace ns3
