/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-json.h"
#include "proteus-chakra-values.h"
#include "proteus-chakra.h"
#include "proteus-input-file.h"

#include "ns3/proteus-chakra.pb.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <streambuf>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Longest message: a node of a large operator has tens of kilobytes.
constexpr uint64_t MAX_MESSAGE_BYTES = 64 << 20;
/// Bytes that are read at a time: memory grows with what is there, not with what a length claims.
constexpr std::size_t PIECE_BYTES = 1 << 20;
constexpr int64_t PS_PER_US = 1000000;
/// White space between the first two characters of a JSON file.
constexpr std::size_t MAX_SPACE = 64;

static_assert(pb::CHAKRA_COMM_COLL == static_cast<int>(ChakraNodeType::COMM_COLL), "");

} // namespace

/// Reads messages behind their lengths.
class ChakraReader::Impl
{
  public:
    Impl(std::istream& in, const std::string& fileName)
        : m_input(in, fileName)
    {
        LookAhead();
        if (!ReadMessage())
        {
            Fail("the file is empty; this is no Chakra trace");
        }
        if (!Parse(m_metadata))
        {
            Fail("this is no Chakra trace: it does not begin with the trace's metadata");
        }
    }

    [[noreturn]] void Fail(const std::string& cause) const
    {
        throw std::invalid_argument(m_input.GetName() + ": byte " + std::to_string(m_start) + ": " +
                                    cause);
    }

    /// @return whether there was one
    bool ReadMessage()
    {
        return m_isJson ? ReadObject() : ReadBehindLength();
    }

    /// Finds out whether the file is JSON: a brace, then a key or another brace. Behind a length of
    /// as many bytes as the number of the brace, no message begins so.
    void LookAhead()
    {
        std::streambuf& file = *m_input.GetStream().rdbuf();
        int c = file.sbumpc();
        while (c >= 0 && (m_ahead.empty() ? c == '{' : std::isspace(c) != 0) &&
               m_ahead.size() < MAX_SPACE)
        {
            m_ahead += static_cast<char>(c);
            c = file.sbumpc();
        }
        m_isJson = !m_ahead.empty() && (c == '"' || c == '}');
        if (c >= 0)
        {
            m_ahead += static_cast<char>(c);
        }
    }

    /// Reads a JSON object. @return whether there was one
    bool ReadObject()
    {
        int c = Get();
        while (c >= 0 && std::isspace(c) != 0)
        {
            c = Get();
        }
        m_start = m_position - 1;
        if (c < 0)
        {
            m_start = m_position;
            return false;
        }
        m_text.clear();
        std::size_t depth = 0;
        bool isInText = false;
        do
        {
            if (c < 0)
            {
                FailCut();
            }
            if (m_text.size() == MAX_MESSAGE_BYTES)
            {
                Fail("an object has more than " + std::to_string(MAX_MESSAGE_BYTES) + " bytes");
            }
            m_text += static_cast<char>(c);
            if (isInText && c == '\\')
            {
                m_text += static_cast<char>(std::max(Get(), 0));
            }
            else if (c == '"')
            {
                isInText = !isInText;
            }
            else if (!isInText)
            {
                depth += c == '{' || c == '[' ? 1 : 0;
                depth -= (c == '}' || c == ']') && depth > 0 ? 1 : 0;
            }
            c = depth > 0 ? Get() : c;
        } while (depth > 0);
        return true;
    }

    /// @param message to make of the text that was read @return whether it is one
    template <typename T>
    bool Parse(T& message)
    {
        if (!m_isJson)
        {
            const bool isParsed = message.ParseFromString(m_text);
            NoteUnknown(message);
            return isParsed;
        }
        try
        {
            ParseChakraJson(m_text, message);
            return true;
        }
        catch (const std::invalid_argument& error)
        {
            Fail(error.what());
        }
    }

    /// Reads a message behind its length. @return whether there was one
    bool ReadBehindLength()
    {
        m_start = m_position;
        uint64_t size = 0;
        for (int shift = 0;; shift += 7)
        {
            const int c = Get();
            if (c < 0)
            {
                if (shift == 0)
                {
                    return false;
                }
                FailCut();
            }
            if (shift > 28)
            {
                Fail("a message has no length; the file is damaged, or is no Chakra trace");
            }
            size |= static_cast<uint64_t>(c & 0x7f) << shift;
            if (c < 0x80)
            {
                break;
            }
        }
        if (size > MAX_MESSAGE_BYTES)
        {
            Fail("a message is said to have " + std::to_string(size) + " bytes; the most is " +
                 std::to_string(MAX_MESSAGE_BYTES) +
                 "; the file is damaged, or is no Chakra trace");
        }
        m_text.clear();
        while (m_text.size() < size && m_aheadAt < m_ahead.size())
        {
            m_text += static_cast<char>(Get());
        }
        while (m_text.size() < size)
        {
            const std::size_t had = m_text.size();
            const std::size_t more = std::min<std::size_t>(size - had, PIECE_BYTES);
            m_text.resize(had + more);
            const auto got = m_input.GetStream().rdbuf()->sgetn(&m_text[had],
                                                                static_cast<std::streamsize>(more));
            m_position += static_cast<uint64_t>(got);
            if (static_cast<std::size_t>(got) != more)
            {
                FailCut();
            }
        }
        return true;
    }

    bool Read(ChakraNode& node)
    {
        if (!ReadMessage())
        {
            return false;
        }
        if (!Parse(m_node))
        {
            Fail("a node is damaged");
        }
        node = ChakraNode();
        node.id = m_node.id();
        node.name = m_node.name();
        if (m_node.type() < 0 || m_node.type() > pb::CHAKRA_COMM_COLL)
        {
            Fail(Shown() + " is of the unknown type " + std::to_string(m_node.type()));
        }
        node.type = static_cast<ChakraNodeType>(m_node.type());
        node.controlDependencies.assign(m_node.ctrl_deps().begin(), m_node.ctrl_deps().end());
        node.dataDependencies.assign(m_node.data_deps().begin(), m_node.data_deps().end());
        node.durationMicros = m_node.duration_micros();
        if (node.durationMicros > std::numeric_limits<int64_t>::max() / PS_PER_US)
        {
            Fail(Shown() + " lasts " + std::to_string(node.durationMicros) +
                 " microseconds, which is too long");
        }
        if (node.name == CHAKRA_GROUP_NODE)
        {
            node.inputValues = m_node.inputs().values();
        }
        uint32_t seen = 0;
        for (const auto& attribute : m_node.attr())
        {
            NoteUnknown(attribute);
            ReadAttribute(attribute, node, seen);
        }
        return true;
    }

    const pb::ChakraMetadata& GetMetadata() const
    {
        return m_metadata;
    }

    const std::map<std::string, std::string>& GetMisspelt() const
    {
        return m_misspelt;
    }

    const std::set<int>& GetUnknownFields() const
    {
        return m_unknown;
    }

    uint64_t GetStart() const
    {
        return m_start;
    }

  private:
    /// Notes fields of a message that the schema does not have.
    void NoteUnknown(const google::protobuf::Message& message)
    {
        const auto& fields = message.GetReflection()->GetUnknownFields(message);
        for (int i = 0; i < fields.field_count(); ++i)
        {
            m_unknown.insert(fields.field(i).number());
        }
    }

    [[noreturn]] void FailCut() const
    {
        Fail("the file ends in the middle of a message; it was cut off");
    }

    int Get()
    {
        const int c = m_aheadAt < m_ahead.size() ? static_cast<unsigned char>(m_ahead[m_aheadAt++])
                                                 : m_input.GetStream().rdbuf()->sbumpc();
        m_position += c >= 0;
        return c;
    }

    /// @return how messages call the node
    std::string Shown() const
    {
        return "node " + std::to_string(m_node.id());
    }

    static constexpr uint64_t MAX64 = std::numeric_limits<uint64_t>::max();

    uint64_t GetUnsigned(const pb::ChakraAttribute& attribute, uint64_t most = MAX64) const
    {
        const auto number = ToChakraNumber(attribute);
        if (!number || !number->isWhole || number->magnitude > most ||
            (number->isNegative && number->magnitude != 0))
        {
            Fail(Shown() + ": attribute " + attribute.name() + " must be an integer from 0 to " +
                 std::to_string(most));
        }
        return number->magnitude;
    }

    uint32_t GetRank(const pb::ChakraAttribute& attribute) const
    {
        return static_cast<uint32_t>(GetUnsigned(attribute, MAX_DEVICES - 1));
    }

    double GetFlops(const pb::ChakraAttribute& attribute) const
    {
        const auto number = ToChakraNumber(attribute);
        if (!number || !(number->real >= 0) || !std::isfinite(number->real))
        {
            Fail(Shown() + ": attribute num_ops must be a number, 0 or more");
        }
        return number->real;
    }

    ChakraCollective GetCollective(const pb::ChakraAttribute& attribute, ChakraNodeType type) const
    {
        // The MSCCL converter writes the type of the node here, for sends and receives.
        const auto most = static_cast<uint64_t>(ChakraCollective::BARRIER);
        const uint64_t number =
            GetUnsigned(attribute, type == ChakraNodeType::COMM_COLL ? most : MAX64);
        return static_cast<ChakraCollective>(std::min(number, most));
    }

    int64_t GetTag(const pb::ChakraAttribute& attribute) const
    {
        const auto number = ToChakraNumber(attribute);
        constexpr auto MOST = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
        if (!number || !number->isWhole || number->magnitude > MOST)
        {
            Fail(Shown() + ": attribute " + attribute.name() + " must be an integer");
        }
        const auto tag = static_cast<int64_t>(number->magnitude);
        return number->isNegative ? -tag : tag;
    }

    void ReadGroupName(const pb::ChakraAttribute& attribute, ChakraNode& node) const
    {
        const auto text = ToChakraText(attribute);
        if (!text)
        {
            Fail(Shown() + ": attribute " + attribute.name() + " must be text or an integer");
        }
        if (!node.processGroup.empty() && node.processGroup != *text)
        {
            Fail(Shown() + ": attributes pg_name and comm_group name different process groups, " +
                 QuotedText(node.processGroup) + " and " + QuotedText(*text));
        }
        node.processGroup = *text;
    }

    /// Sets what an attribute says of a node.
    using Setter = void (*)(const Impl& reader,
                            const pb::ChakraAttribute& attribute,
                            ChakraNode& node);

    /// Attributes that are read: what each sets.
    static const std::vector<std::pair<const char*, Setter>>& GetSetters()
    {
        using A = pb::ChakraAttribute;
        using N = ChakraNode;
        static const std::vector<std::pair<const char*, Setter>> setters{
            {"is_cpu_op",
             [](const Impl& r, const A& a, N& node) { node.isCpu = r.GetUnsigned(a) != 0; }},
            {"num_ops", [](const Impl& r, const A& a, N& node) { node.flops = r.GetFlops(a); }},
            {"tensor_size",
             [](const Impl& r, const A& a, N& node) { node.tensorBytes = r.GetUnsigned(a); }},
            {"comm_type",
             [](const Impl& r, const A& a, N& node) {
                 node.collective = r.GetCollective(a, node.type);
                 node.hasCollective = true;
             }},
            {"comm_size",
             [](const Impl& r, const A& a, N& node) { node.bytes = r.GetUnsigned(a); }},
            {"comm_src", [](const Impl& r, const A& a, N& node) { node.source = r.GetRank(a); }},
            {"comm_dst",
             [](const Impl& r, const A& a, N& node) { node.destination = r.GetRank(a); }},
            {"root_rank",
             [](const Impl& r, const A& a, N& node) {
                 node.root = r.GetRank(a);
                 node.hasRoot = true;
             }},
            {"comm_tag", [](const Impl& r, const A& a, N& node) { node.tag = r.GetTag(a); }},
            {"comm_priority",
             [](const Impl& r, const A& a, N& node) { node.hasPriority = r.GetTag(a) != 0; }},
            {"pg_name", [](const Impl& r, const A& a, N& node) { r.ReadGroupName(a, node); }},
            // Older traces of STAGE (astra-sim/symbolic_tensor_graph) call it so.
            {"comm_group", [](const Impl& r, const A& a, N& node) { r.ReadGroupName(a, node); }},
            {"involved_dim",
             [](const Impl& r, const A& a, N& node) {
                 if (a.value_case() != A::kBoolList)
                 {
                     r.Fail(r.Shown() +
                            ": attribute involved_dim must be a list of true and false");
                 }
                 const auto& dimensions = a.bool_list().values();
                 node.leavesOutDimensions =
                     std::find(dimensions.begin(), dimensions.end(), false) != dimensions.end();
             }},
            {"fw_parent", [](const Impl&, const A&, N& node) { node.isFromPyTorch = true; }},
            {"proteus_task", [](const Impl& r, const A& a, N& node) { r.ReadTask(a, node); }},
        };
        return setters;
    }

    /// @param attribute to read @param node gets what it says
    /// @param seen a bit for each of GetSetters() that the node has had
    void ReadAttribute(const pb::ChakraAttribute& attribute, ChakraNode& node, uint32_t& seen)
    {
        const auto& setters = GetSetters();
        bool isKnown = false;
        if (attribute.name().empty())
        {
            Fail(Shown() + ": an attribute has no name");
        }
        for (std::size_t i = 0; i < setters.size(); ++i)
        {
            if (attribute.name() != setters[i].first)
            {
                continue;
            }
            isKnown = true;
            if ((seen >> i & 1) != 0)
            {
                Fail(Shown() + ": attribute " + attribute.name() + " is there twice");
            }
            if (attribute.value_case() == pb::ChakraAttribute::VALUE_NOT_SET)
            {
                Fail(Shown() + ": attribute " + attribute.name() + " has no value");
            }
            seen |= uint32_t{1} << i;
            setters[i].second(*this, attribute, node);
        }
        constexpr std::size_t MOST_UNREAD = 1000;
        if (!isKnown && m_unread.size() < MOST_UNREAD && m_unread.insert(attribute.name()).second)
        {
            NoteMisspelt(attribute.name());
        }
    }

    /// @param name of an attribute that is not read
    void NoteMisspelt(const std::string& name)
    {
        std::vector<std::string> known;
        for (const auto& setter : GetSetters())
        {
            known.emplace_back(setter.first);
        }
        if (const std::string meant = FindNearest(name, known); !meant.empty())
        {
            m_misspelt.emplace(name, meant);
        }
    }

    void ReadTask(const pb::ChakraAttribute& attribute, ChakraNode& node) const
    {
        pb::ChakraTaskRecord record;
        const auto fits8 = [](uint32_t value) { return value <= 0xff; };
        const auto fits16 = [](uint32_t value) { return value <= 0xffff; };
        if (!record.ParseFromString(attribute.bytes_val()) || !fits8(record.kind()) ||
            !fits8(record.collective()) || !fits8(record.parallelism()) ||
            !fits8(record.data_type()) || !fits16(record.stream()) || !fits16(record.phase()) ||
            !fits16(record.root()) || !fits8(record.host_percent()))
        {
            Fail(Shown() + ": attribute proteus_task is damaged");
        }
        ChakraTask task;
        task.id = record.id();
        task.task.kind = static_cast<TaskKind>(record.kind());
        task.task.collective = static_cast<Collective>(record.collective());
        task.task.parallelism = static_cast<Parallelism>(record.parallelism());
        task.task.dataType = static_cast<DataType>(record.data_type());
        task.task.stream = static_cast<StreamId>(record.stream());
        task.task.phase = static_cast<PhaseId>(record.phase());
        task.task.root = static_cast<uint16_t>(record.root());
        task.task.persistent = record.persistent();
        task.task.place = record.place();
        task.task.durationPs = record.duration_ps();
        task.task.flops = record.flops();
        task.task.threadBlocks = record.thread_blocks();
        task.task.hostPercent = static_cast<uint8_t>(record.host_percent());
        task.task.bytes = record.bytes();
        task.dependencies.assign(record.dependencies().begin(), record.dependencies().end());
        node.task = std::move(task);
    }

    InputFile m_input;
    uint64_t m_position{0};   //!< bytes read, decompressed
    uint64_t m_start{0};      //!< where the message begins
    std::string m_ahead;      //!< of the beginning of the file, read before the rest
    std::size_t m_aheadAt{0}; //!< next of it
    bool m_isJson{false};
    std::string m_text;
    std::set<int> m_unknown;                       //!< GetUnknownFields()
    std::set<std::string> m_unread;                //!< names of attributes that are not read
    std::map<std::string, std::string> m_misspelt; //!< GetMisspelt()
    pb::ChakraMetadata m_metadata;
    pb::ChakraNodeMessage m_node;
};

ChakraReader::ChakraReader(std::istream& in, const std::string& fileName)
    : m_impl(std::make_unique<Impl>(in, fileName))
{
}

ChakraReader::~ChakraReader() = default;

const std::string&
ChakraReader::GetVersion() const
{
    return m_impl->GetMetadata().version();
}

std::string
ChakraReader::GetAttribute(const std::string& name) const
{
    for (const auto& attribute : m_impl->GetMetadata().attr())
    {
        if (attribute.name() == name)
        {
            return ToChakraText(attribute).value_or("");
        }
    }
    return "";
}

const std::map<std::string, std::string>&
ChakraReader::GetMisspelt() const
{
    return m_impl->GetMisspelt();
}

const std::set<int>&
ChakraReader::GetUnknownFields() const
{
    return m_impl->GetUnknownFields();
}

bool
ChakraReader::Read(ChakraNode& node)
{
    return m_impl->Read(node);
}

uint64_t
ChakraReader::GetPosition() const
{
    return m_impl->GetStart();
}

} // namespace proteus
} // namespace ns3
