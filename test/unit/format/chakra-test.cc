/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-chakra-json.h"
#include "ns3/proteus-chakra.h"
#include "ns3/proteus-chakra.pb.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-trace-doubts.h"
#include "ns3/proteus-trace-file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>
#include <zlib.h>

using namespace ns3::proteus;

namespace
{

namespace fs = std::filesystem;
using Node = pb::ChakraNodeMessage;

const fs::path SAMPLES = fs::path(PROTEUS_SOURCE_DIR) / "../shared/data/chakra";

std::string
Delimited(const google::protobuf::Message& message)
{
    std::string length;
    for (auto n = message.ByteSizeLong();;)
    {
        length += static_cast<char>(n < 0x80 ? n : (n & 0x7f) | 0x80);
        n >>= 7;
        if (n == 0)
        {
            return length + message.SerializeAsString();
        }
    }
}

std::string
Compressed(const std::string& text)
{
    z_stream zlib{};
    deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&zlib, text.size()) + 64, '\0');
    zlib.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
    zlib.avail_in = static_cast<unsigned>(text.size());
    zlib.next_out = reinterpret_cast<unsigned char*>(&out[0]);
    zlib.avail_out = static_cast<unsigned>(out.size());
    EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    out.resize(out.size() - zlib.avail_out);
    deflateEnd(&zlib);
    return out;
}

/// Writes the file of a rank.
class TraceText
{
  public:
    TraceText()
    {
        pb::ChakraMetadata metadata;
        metadata.set_version("0.0.4");
        m_text = Delimited(metadata);
    }

    /// Adds a node; `fill` sets what it has besides.
    TraceText& Add(uint64_t id,
                   pb::ChakraNodeKind type,
                   const std::vector<uint64_t>& before,
                   const std::function<void(Node&)>& fill = {})
    {
        Node node;
        node.set_id(id);
        node.set_name("n" + std::to_string(id));
        node.set_type(type);
        for (const uint64_t other : before)
        {
            node.add_data_deps(other);
        }
        if (fill)
        {
            fill(node);
        }
        m_text += Delimited(node);
        return *this;
    }

    const std::string& Get() const
    {
        return m_text;
    }

  private:
    std::string m_text;
};

pb::ChakraAttribute*
Attribute(Node& node, const char* name)
{
    auto* attribute = node.add_attr();
    attribute->set_name(name);
    return attribute;
}

std::function<void(Node&)>
Lasts(uint64_t micros, bool isCpu = false)
{
    return [=](Node& node) {
        node.set_duration_micros(micros);
        Attribute(node, "is_cpu_op")->set_bool_val(isCpu);
    };
}

std::function<void(Node&)>
Collects(ChakraCollective collective, int64_t bytes, const std::string& group = "")
{
    return [=](Node& node) {
        Attribute(node, "comm_type")->set_int64_val(static_cast<int64_t>(collective));
        Attribute(node, "comm_size")->set_int64_val(bytes);
        if (!group.empty())
        {
            Attribute(node, "pg_name")->set_string_val(group);
        }
    };
}

std::function<void(Node&)>
Moves(int32_t from, int32_t to, int64_t bytes, int32_t tag = 0)
{
    return [=](Node& node) {
        Attribute(node, "comm_src")->set_int32_val(from);
        Attribute(node, "comm_dst")->set_int32_val(to);
        Attribute(node, "comm_tag")->set_int32_val(tag);
        Attribute(node, "comm_size")->set_int64_val(bytes);
    };
}

ExecutionGraph
Read(const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    std::vector<TraceFile> files;
    for (std::size_t i = 0; i < texts.size(); i++)
    {
        const std::string& text = texts[i];
        files.push_back({"f" + std::to_string(i),
                         [text]() { return std::make_unique<std::istringstream>(text); }});
    }
    return ReadChakra(files, "trace", options);
}

/// @return what is wrong with a trace
std::string
ErrorOf(const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    try
    {
        Read(texts, options);
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "no error";
}

std::vector<std::string>
NamesOf(const ExecutionGraph& graph, IdRange tasks)
{
    std::vector<std::string> names;
    for (const TaskId id : tasks)
    {
        names.push_back(graph.GetName(graph.GetTask(id)));
    }
    return names;
}

TaskId
FindTask(const ExecutionGraph& graph, const std::string& name, uint32_t place = NO_ID)
{
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        const Task& task = graph.GetTask(id);
        if (graph.GetName(task) == name && (place == NO_ID || task.place == place))
        {
            return id;
        }
    }
    ADD_FAILURE() << "there is no task " << name;
    return 0;
}

/// Counts of nodes in a file, by type and where they run.
struct Inventory
{
    explicit Inventory(const fs::path& path)
    {
        std::ifstream in(path, std::ios::binary);
        ChakraReader reader(in, path.filename());
        version = reader.GetVersion();
        input = reader.GetAttribute("input_file");
        ChakraNode node;
        while (reader.Read(node))
        {
            nNodes++;
            counts[{node.type, node.isCpu}]++;
            micros[{node.type, node.isCpu}] += node.durationMicros;
            if (node.type == ChakraNodeType::COMM_SEND)
            {
                sentBytes += node.bytes;
            }
            if (node.type == ChakraNodeType::COMM_COLL && !node.isCpu)
            {
                collectives.push_back(node);
            }
        }
    }

    std::string version;
    std::string input;
    uint64_t nNodes{0};
    uint64_t sentBytes{0};
    std::map<std::pair<ChakraNodeType, bool>, uint64_t> counts;
    std::map<std::pair<ChakraNodeType, bool>, uint64_t> micros;
    std::vector<ChakraNode> collectives;
};

#define SKIP_WITHOUT_SAMPLES()                                                                     \
    if (!fs::exists(SAMPLES))                                                                      \
    {                                                                                              \
        GTEST_SKIP() << "the sample traces are not there: " << SAMPLES;                            \
    }

} // namespace

// The three files whose content reference/formats.md gives (D1 to D3).

TEST(ChakraSamples, AllReduce)
{
    SKIP_WITHOUT_SAMPLES();
    const Inventory file(SAMPLES / "all_reduce_4/all_reduce.0.et");
    EXPECT_EQ(file.version, "0.0.4");
    ASSERT_EQ(file.nNodes, 1u);
    ASSERT_EQ(file.collectives.size(), 1u);
    EXPECT_EQ(file.collectives[0].name, "all_reduce_4npus_1MB");
    EXPECT_EQ(file.collectives[0].collective, ChakraCollective::ALL_REDUCE);
    EXPECT_EQ(file.collectives[0].bytes, 1048576u);
    const auto graph = LoadTrace((SAMPLES / "all_reduce_4").string());
    EXPECT_EQ(graph.GetNDevices(), 4u);
    ASSERT_EQ(graph.GetNTasks(), 1u);
    EXPECT_EQ(graph.GetTask(0).collective, Collective::ALL_REDUCE);
    EXPECT_EQ(graph.GetTask(0).bytes, 1048576u);
    EXPECT_EQ(graph.GetGroup(graph.GetTask(0).place), (std::vector<DeviceId>{0, 1, 2, 3}));
}

TEST(ChakraSamples, AllToAll)
{
    SKIP_WITHOUT_SAMPLES();
    const auto graph = LoadTrace((SAMPLES / "all_to_all_4").string());
    EXPECT_EQ(graph.GetNDevices(), 4u);
    ASSERT_EQ(graph.GetNTasks(), 1u);
    EXPECT_EQ(graph.GetTask(0).collective, Collective::ALL_TO_ALL);
    EXPECT_EQ(graph.GetTask(0).bytes, 1048576u);
}

TEST(ChakraSamples, CustomRing)
{
    SKIP_WITHOUT_SAMPLES();
    const Inventory file(SAMPLES / "custom_ring_8/custom_allreduce.0.et");
    EXPECT_EQ(file.nNodes, 35u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMM_SEND, false}), 14u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMM_RECV, false}), 14u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMP, false}), 7u);
    EXPECT_EQ(file.micros.at({ChakraNodeType::COMP, false}), 7u * 7u);
    EXPECT_EQ(file.sentBytes, 1835008u);
    EXPECT_EQ(file.input.substr(0, 6), "<algo ");

    const auto graph = LoadTrace((SAMPLES / "custom_ring_8").string());
    EXPECT_EQ(graph.GetNDevices(), 8u);
    std::map<DeviceId, uint64_t> sent;
    uint64_t nMessages = 0;
    uint64_t nComputed = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            EXPECT_EQ(task.collective, Collective::SEND_RECV);
            EXPECT_EQ(task.bytes, 131072u);
            const auto& pair = graph.GetGroup(task.place);
            EXPECT_EQ(pair[1], (pair[0] + 1) % 8);
            sent[pair[0]] += task.bytes;
            nMessages++;
        }
        else if (task.durationPs > 0)
        {
            EXPECT_EQ(task.durationPs, 7000000);
            nComputed++;
        }
    }
    EXPECT_EQ(nMessages, 8u * 14u);
    EXPECT_EQ(nComputed, 8u * 7u);
    for (DeviceId device = 0; device < 8; device++)
    {
        EXPECT_EQ(sent[device], 1835008u);
    }
}

TEST(ChakraSamples, PyTorchDdp)
{
    SKIP_WITHOUT_SAMPLES();
    const fs::path path = SAMPLES / "pytorch_resnet50_ddp.0.et.gz";
    const Inventory file(path);
    EXPECT_EQ(file.nNodes, 3664u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMP, true}), 2434u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMP, false}), 1209u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMM_COLL, true}), 14u);
    EXPECT_EQ(file.micros.at({ChakraNodeType::COMP, false}), 292828u);
    std::vector<std::pair<uint64_t, uint64_t>> reduced;
    std::vector<uint64_t> broadcast;
    uint64_t reducedBytes = 0;
    for (const ChakraNode& node : file.collectives)
    {
        if (node.collective == ChakraCollective::ALL_REDUCE)
        {
            reduced.emplace_back(node.bytes, node.durationMicros);
            reducedBytes += node.bytes;
        }
        else
        {
            EXPECT_EQ(node.collective, ChakraCollective::BROADCAST);
            broadcast.push_back(node.bytes);
        }
    }
    EXPECT_EQ(reduced,
              (std::vector<std::pair<uint64_t, uint64_t>>{{8196000, 5572},
                                                          {31502336, 9093},
                                                          {26255360, 8512},
                                                          {26550272, 8178},
                                                          {9724160, 5327}}));
    EXPECT_EQ(reducedBytes, 25557032u * 4u); // the parameters of ResNet-50
    EXPECT_EQ(broadcast, (std::vector<uint64_t>{212480, 424}));

    // One rank's file stands for all of them.
    TraceOptions options;
    options.ranks = 4;
    const auto graph = LoadTrace(path.string(), options);
    EXPECT_EQ(graph.GetNDevices(), 4u);
    std::map<TaskKind, uint64_t> counts;
    for (const Task& task : graph.GetTasks())
    {
        counts[task.kind]++;
    }
    EXPECT_EQ(counts[TaskKind::COMMUNICATION], 7u);
    EXPECT_EQ(counts[TaskKind::COMPUTE], 4u * (2434 + 1209 + 14));
}

TEST(Chakra, NodesBecomeTasks)
{
    TraceText rank;
    rank.Add(0, pb::CHAKRA_COMP, {}, Lasts(5, true));
    rank.Add(1, pb::CHAKRA_COMP, {0}, Lasts(7));
    rank.Add(2, pb::CHAKRA_COMP, {1}, [](Node& node) {
        Attribute(node, "num_ops")->set_int64_val(1000000);
        Attribute(node, "tensor_size")->set_uint64_val(4096);
    });
    rank.Add(3, pb::CHAKRA_COMP, {2});
    rank.Add(4, pb::CHAKRA_METADATA, {3});
    rank.Add(5, pb::CHAKRA_COMM_COLL, {4}, Collects(ChakraCollective::ALL_GATHER, 100));
    rank.Add(6, pb::CHAKRA_MEM_LOAD, {5}, [](Node& node) {
        Attribute(node, "tensor_size")->set_int32_val(77);
    });
    rank.Add(7, pb::CHAKRA_COMM_COLL, {6}, [](Node& node) {
        Collects(ChakraCollective::BARRIER, 0)(node);
    });
    rank.Add(8, pb::CHAKRA_COMM_COLL, {7}, [](Node& node) {
        Lasts(9, true)(node); // a call of the host that stands for a collective
    });
    const auto graph = Read({rank.Get(), rank.Get(), rank.Get()});
    EXPECT_EQ(graph.GetNDevices(), 3u);
    EXPECT_EQ(graph.GetStreams(),
              (std::vector<std::string>{"cpu", "compute", "communication", "(joins)"}));
    EXPECT_EQ(graph.GetStreamOrder(0), StreamOrder::READY);
    EXPECT_TRUE(graph.IsHostStream(0));
    EXPECT_FALSE(graph.IsHostStream(1));
    const auto get = [&](const char* name, uint32_t place) {
        return graph.GetTask(FindTask(graph, name, place));
    };
    EXPECT_EQ(get("n0", 2).durationPs, 5000000);
    EXPECT_EQ(get("n0", 2).stream, 0u);
    EXPECT_EQ(get("n1", 0).durationPs, 7000000);
    EXPECT_EQ(get("n1", 0).stream, 1u);
    EXPECT_EQ(get("n2", 1).durationPs, -1);
    EXPECT_EQ(get("n2", 1).flops, 1e6);
    EXPECT_EQ(get("n2", 1).bytes, 4096u);
    EXPECT_EQ(get("n3", 1).durationPs, 1000); // 1 ns
    EXPECT_EQ(get("n4", 1).durationPs, 0);
    const Task gather = get("n5", NO_ID);
    EXPECT_EQ(gather.collective, Collective::ALL_GATHER);
    EXPECT_EQ(gather.bytes, 300u); // the file counts one rank's part
    EXPECT_EQ(gather.stream, 2u);
    EXPECT_EQ(get("n6", 0).bytes, 77u);
    EXPECT_EQ(get("n6", 0).durationPs, -1);
    EXPECT_EQ(get("n7", NO_ID).collective, Collective::ALL_REDUCE);
    EXPECT_EQ(get("n7", NO_ID).bytes, 4u);
    EXPECT_EQ(get("n8", 1).kind, TaskKind::COMPUTE);
    EXPECT_EQ(get("n8", 1).durationPs, 9000000);
    // The collective waits for all three, by way of the metadata node.
    EXPECT_EQ(NamesOf(graph, graph.GetDependencies(FindTask(graph, "n5"))),
              (std::vector<std::string>{"n4", "n4", "n4"}));
    EXPECT_EQ(NamesOf(graph, graph.GetDependencies(FindTask(graph, "n6", 2))),
              (std::vector<std::string>{"n5"}));
}

TEST(Chakra, ComputeNodesByDurationOrByTheCostModel)
{
    TraceText rank;
    rank.Add(0, pb::CHAKRA_COMP, {}, [](Node& node) {
        node.set_duration_micros(3);
        Attribute(node, "num_ops")->set_double_val(5e9);
        Attribute(node, "tensor_size")->set_uint64_val(1 << 20);
    });
    EXPECT_EQ(Read({rank.Get()}).GetTask(0).durationPs, 3000000);
    TraceOptions options;
    options.isRoofline = true;
    options.dataType = DataType::FP16;
    const Task task = Read({rank.Get()}, options).GetTask(0);
    EXPECT_EQ(task.durationPs, -1);
    EXPECT_EQ(task.flops, 5e9);
    EXPECT_EQ(task.bytes, 1u << 20);
    EXPECT_EQ(task.dataType, DataType::FP16);
}

TEST(Chakra, AttributesMayBeOfAnyNumericType)
{
    const std::vector<std::function<void(pb::ChakraAttribute*)>> spellings{
        [](auto* a) { a->set_double_val(64); },
        [](auto* a) { a->set_float_val(64); },
        [](auto* a) { a->set_int32_val(64); },
        [](auto* a) { a->set_int64_val(64); },
        [](auto* a) { a->set_uint32_val(64); },
        [](auto* a) { a->set_uint64_val(64); },
        [](auto* a) { a->set_sint32_val(64); },
        [](auto* a) { a->set_sint64_val(64); },
        [](auto* a) { a->set_fixed32_val(64); },
        [](auto* a) { a->set_fixed64_val(64); },
        [](auto* a) { a->set_sfixed32_val(64); },
        [](auto* a) { a->set_sfixed64_val(64); },
        [](auto* a) { a->set_string_val("64"); },
    };
    for (std::size_t i = 0; i < spellings.size(); i++)
    {
        TraceText rank;
        rank.Add(0, pb::CHAKRA_COMM_COLL, {}, [&](Node& node) {
            spellings[i](Attribute(node, "comm_size"));
            Attribute(node, "comm_type")->set_uint32_val(0);
            Attribute(node, "is_cpu_op")->set_int32_val(0); // as STG writes it
        });
        const auto graph = Read({rank.Get(), rank.Get()});
        ASSERT_EQ(graph.GetNTasks(), 1u) << i;
        EXPECT_EQ(graph.GetTask(0).kind, TaskKind::COMMUNICATION) << i;
        EXPECT_EQ(graph.GetTask(0).bytes, 64u) << i;
    }
    for (const char* bad : {"-64", "64.5", "", "99999999999999999999"})
    {
        TraceText rank;
        rank.Add(0, pb::CHAKRA_COMM_COLL, {}, [&](Node& node) {
            Attribute(node, "comm_size")->set_string_val(bad);
        });
        EXPECT_EQ(ErrorOf({rank.Get(), rank.Get()}),
                  "f0: byte 8: node 0: attribute comm_size must be an integer from 0 to "
                  "18446744073709551615");
    }
    TraceText rank;
    rank.Add(0, pb::CHAKRA_COMM_COLL, {}, [&](Node& node) {
        Attribute(node, "comm_size")->set_double_val(1.5);
    });
    EXPECT_EQ(ErrorOf({rank.Get(), rank.Get()}).substr(0, 44),
              "f0: byte 8: node 0: attribute comm_size must");
}

TEST(Chakra, MessagesAreMatchedByTagAndOrder)
{
    TraceText a;
    a.Add(7, pb::CHAKRA_COMM_SEND, {}, Moves(0, 1, 100, 1));
    a.Add(3, pb::CHAKRA_COMM_SEND, {7}, Moves(0, 1, 200, 1)); // second, in spite of its id
    a.Add(1, pb::CHAKRA_COMM_SEND, {}, Moves(0, 1, 300, 2));
    TraceText b;
    b.Add(0, pb::CHAKRA_COMP, {}, Lasts(4));
    b.Add(1, pb::CHAKRA_COMM_RECV, {}, Moves(0, 1, 300, 2));
    b.Add(2, pb::CHAKRA_COMM_RECV, {}, Moves(0, 1, 100, 1));
    b.Add(3, pb::CHAKRA_COMM_RECV, {0}, Moves(0, 1, 0, 1)); // takes the size of its send
    b.Add(4, pb::CHAKRA_COMP, {1, 2}, Lasts(5));
    b.Add(5, pb::CHAKRA_COMP, {3}, Lasts(6));
    const auto graph = Read({a.Get(), b.Get()});
    const auto before = [&](const char* name) {
        return NamesOf(graph, graph.GetDependencies(FindTask(graph, name)));
    };
    // Tasks have the names of their sends; names of rank 1 that are the same are of computations.
    const TaskId compute = FindTask(graph, "n4");
    std::vector<uint64_t> bytes;
    for (const TaskId id : graph.GetDependencies(compute))
    {
        bytes.push_back(graph.GetTask(id).bytes);
    }
    std::sort(bytes.begin(), bytes.end());
    EXPECT_EQ(bytes, (std::vector<uint64_t>{100, 300}));
    // The receive that has to wait is a join of the message and of what it waits for.
    ASSERT_EQ(before("n5").size(), 1u);
    const TaskId join = *graph.GetDependencies(FindTask(graph, "n5")).begin();
    EXPECT_EQ(graph.GetTask(join).durationPs, 0);
    uint64_t joined = 0;
    for (const TaskId id : graph.GetDependencies(join))
    {
        joined += graph.GetTask(id).bytes;
    }
    EXPECT_EQ(joined, 200u);
    EXPECT_EQ(graph.GetDependencies(join).size(), 2u);
}

TEST(Chakra, AReceiveWaitsForTheIssueOfASend)
{
    // Both ranks send, then receive: neither may wait for the other to receive first.
    TraceText a;
    a.Add(0, pb::CHAKRA_COMP, {}, Lasts(1));
    a.Add(1, pb::CHAKRA_COMM_SEND, {0}, Moves(0, 1, 100));
    a.Add(2, pb::CHAKRA_COMM_RECV, {1}, Moves(1, 0, 100));
    a.Add(3, pb::CHAKRA_COMP, {2}, Lasts(1));
    TraceText b;
    b.Add(0, pb::CHAKRA_COMP, {}, Lasts(1));
    b.Add(1, pb::CHAKRA_COMM_SEND, {0}, Moves(1, 0, 100));
    b.Add(2, pb::CHAKRA_COMM_RECV, {1}, Moves(0, 1, 100));
    b.Add(3, pb::CHAKRA_COMP, {2}, Lasts(1));
    const auto graph = Read({a.Get(), b.Get()});
    const TaskId join = *graph.GetDependencies(FindTask(graph, "n3", 0)).begin();
    std::vector<TaskId> before(graph.GetDependencies(join).begin(),
                               graph.GetDependencies(join).end());
    ASSERT_EQ(before.size(), 2u);
    // The computation that its own send waits for, and the message of the other rank.
    EXPECT_EQ(graph.GetTask(before[0]).kind, TaskKind::COMPUTE);
    EXPECT_EQ(graph.GetTask(before[0]).place, 0u);
    EXPECT_EQ(graph.GetGroup(graph.GetTask(before[1]).place), (std::vector<DeviceId>{1, 0}));
}

TEST(Chakra, CollectivesAreMatchedInTheOrderOfIssue)
{
    // Rank 1 has its ids in another order than its dependencies.
    TraceText a;
    a.Add(0, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 100));
    a.Add(1, pb::CHAKRA_COMM_COLL, {0}, Collects(ChakraCollective::ALL_REDUCE, 200));
    TraceText b;
    b.Add(9, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 100));
    b.Add(5, pb::CHAKRA_COMM_COLL, {9}, Collects(ChakraCollective::ALL_REDUCE, 200));
    const auto graph = Read({a.Get(), b.Get()});
    ASSERT_EQ(graph.GetNTasks(), 2u);
    EXPECT_EQ(graph.GetDependencies(FindTask(graph, "n1")).size(), 1u);
}

TEST(Chakra, ProcessGroups)
{
    const auto rank = [](const std::string& group, const std::string& operands) {
        TraceText text;
        if (!operands.empty())
        {
            text.Add(0, pb::CHAKRA_METADATA, {}, [&](Node& node) {
                node.set_name("## process_group:init ##");
                node.mutable_inputs()->set_values(operands);
            });
        }
        text.Add(1, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 100, group));
        return text.Get();
    };
    const std::string json =
        R"([{"pg_name": "7", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP", "ranks": [1, 0]},)"
        R"({"pg_name": "8", "ranks": [2, 3]}, {"pg_name": "0", "ranks": [], "group_size": 4}])";
    std::string escaped = "['";
    for (const char c : json)
    {
        escaped += c == '"' ? "\\\"" : std::string(1, c);
    }
    escaped += "']";
    for (const std::string& operands : {json, escaped})
    {
        const auto graph = Read(
            {rank("7", operands), rank("7", operands), rank("8", operands), rank("8", operands)});
        ASSERT_EQ(graph.GetNTasks(), 2u);
        EXPECT_EQ(graph.GetGroup(graph.GetTask(0).place), (std::vector<DeviceId>{1, 0}));
        EXPECT_EQ(graph.GetTask(0).parallelism, Parallelism::TENSOR);
        EXPECT_EQ(graph.GetGroup(graph.GetTask(1).place), (std::vector<DeviceId>{2, 3}));
        // All ranks; one file, and the group says how many there are.
        const auto world = Read({rank("0", operands)});
        EXPECT_EQ(world.GetNDevices(), 4u);
        EXPECT_EQ(world.GetGroup(world.GetTask(0).place).size(), 4u);
        EXPECT_EQ(ErrorOf({rank("7", operands)}),
                  "f0: process group '7' has 2 of 4 ranks; the trace of one rank can stand for "
                  "all only if every collective is among all");
    }
    EXPECT_EQ(ErrorOf({rank("9", json), rank("9", json)}),
              "f0: there is no process group '9'; known are '0', '7', '8'; a file {\"NAME\": "
              "[RANK, ...]} can say who is in it (--traceGroups)");
    EXPECT_EQ(ErrorOf({rank("8", json), rank("8", json)}),
              "trace: process group '8' of 2 ranks has rank 3, but the job has 2 ranks");
    EXPECT_EQ(ErrorOf({rank("0", "[{\"pg_name\": }]"), rank("0", "")}),
              "f0: byte 8: node 0: the process groups are no JSON list");
    EXPECT_EQ(ErrorOf({rank("0", "[{\"ranks\": []}]"), rank("0", "")}),
              "f0: byte 8: node 0: a process group has no pg_name");

    // As ASTRA-sim has them: a file of their own, here beside the traces.
    const fs::path folder =
        fs::temp_directory_path() / ("proteus-chakra-" + std::to_string(getpid()));
    fs::create_directories(folder);
    std::ofstream(folder / "groups.json") << "{\"9\": [1, 0]}";
    std::ofstream(folder / "t.0.et", std::ios::binary) << rank("9", "");
    std::ofstream(folder / "t.1.et.gz", std::ios::binary) << Compressed(rank("9", ""));
    const auto graph = LoadTrace(folder.string());
    EXPECT_EQ(graph.GetGroup(graph.GetTask(0).place), (std::vector<DeviceId>{1, 0}));
    const auto error = [&] {
        try
        {
            LoadTrace(folder.string());
        }
        catch (const std::invalid_argument& e)
        {
            return std::string(e.what());
        }
        return std::string("no error");
    };
    fs::rename(folder / "t.1.et.gz", folder / "t.2.et.gz");
    EXPECT_EQ(error(), folder.string() + ": there is no file of rank 1; the next is t.2.et.gz");
    fs::rename(folder / "t.2.et.gz", folder / "u.0.et.gz");
    EXPECT_EQ(error(),
              folder.string() + ": both t.0.et and u.0.et.gz are of rank 0; a folder must have "
                                "the files of one trace");
    fs::remove_all(folder);
    EXPECT_NE(error().find("cannot be read: No such file"), std::string::npos);
}

TEST(Chakra, Errors)
{
    const auto one = [](const std::function<void(TraceText&)>& fill) {
        TraceText text;
        fill(text);
        return text.Get();
    };
    EXPECT_EQ(ErrorOf({""}), "f0: byte 0: the file is empty; this is no Chakra trace");
    EXPECT_EQ(ErrorOf({"hello, world"}),
              "f0: byte 0: the file ends in the middle of a message; it was cut off");
    EXPECT_EQ(ErrorOf({std::string("\x03") + "abc"}),
              "f0: byte 0: this is no Chakra trace: it does not begin with the trace's metadata");
    EXPECT_EQ(ErrorOf({std::string("\xff\xff\xff\xff\x0f")}),
              "f0: byte 0: a message is said to have 4294967295 bytes; the most is 67108864; the "
              "file is damaged, or is no Chakra trace");
    EXPECT_EQ(ErrorOf({std::string(9, '\xff')}),
              "f0: byte 0: a message has no length; the file is damaged, or is no Chakra trace");
    EXPECT_EQ(ErrorOf({one([](TraceText& t) { t.Add(0, pb::ChakraNodeKind(8), {}); })}),
              "f0: byte 8: node 0 is of the unknown type 8");
    EXPECT_EQ(ErrorOf({one([](TraceText& t) {
                  t.Add(0, pb::CHAKRA_COMP, {}, [](Node& n) { n.set_duration_micros(UINT64_MAX); });
              })}),
              "f0: byte 8: node 0 lasts 18446744073709551615 microseconds, which is too long");
    EXPECT_EQ(ErrorOf({one([](TraceText& t) {
                  t.Add(0, pb::CHAKRA_COMP, {}).Add(0, pb::CHAKRA_COMP, {});
              })}),
              "f0: byte 15: node 0 is there twice");
    EXPECT_EQ(ErrorOf({one([](TraceText& t) { t.Add(0, pb::CHAKRA_COMP, {3}); })}),
              "f0: node 0 depends on the data of node 3, which is not in the file");
    EXPECT_EQ(ErrorOf({one([](TraceText& t) {
                  t.Add(1, pb::CHAKRA_COMP, {2})
                      .Add(2, pb::CHAKRA_COMP, {3})
                      .Add(3, pb::CHAKRA_COMP, {1})
                      .Add(4, pb::CHAKRA_COMP, {3});
              })}),
              "f0: the dependencies form a cycle of 3 nodes: node 1 waits for node 2 waits for "
              "node 3 waits for node 1");
    EXPECT_EQ(
        ErrorOf({one([](TraceText& t) {
                     t.Add(0, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 8));
                 }),
                 one([](TraceText& t) {
                     t.Add(0, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 9));
                 })}),
        "f1: node 0 (n0): process group '' of 2 ranks: collective 0 is all-reduce of 9 "
        "bytes, but f0: node 0 (n0) makes it all-reduce of 8 bytes");
    EXPECT_EQ(
        ErrorOf({one([](TraceText& t) {
                     t.Add(0, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 8));
                 }),
                 one([](TraceText&) {})}),
        "trace: process group '' of 2 ranks: rank 1 (f1) takes part in 0 of its 1 "
        "collectives; the first that it misses is f0: node 0 (n0)");
    EXPECT_EQ(
        ErrorOf({one([](TraceText& t) { t.Add(0, pb::CHAKRA_COMM_SEND, {}, Moves(0, 1, 5, 3)); }),
                 one([](TraceText&) {})}),
        "trace: rank 0 (f0) sends 1 messages with tag 3 to rank 1 (f1), which receives 0");
    EXPECT_EQ(
        ErrorOf({one([](TraceText& t) { t.Add(0, pb::CHAKRA_COMM_SEND, {}, Moves(0, 1, 5)); }),
                 one([](TraceText& t) { t.Add(0, pb::CHAKRA_COMM_RECV, {}, Moves(0, 1, 6)); })}),
        "f0: node 0 (n0) sends 5 bytes, but f1: node 0 (n0) receives 6");
    EXPECT_EQ(
        ErrorOf({one([](TraceText& t) { t.Add(0, pb::CHAKRA_COMM_SEND, {}, Moves(0, 7, 5)); })}),
        "f0: node 0 (n0): rank 0 cannot send to rank 7; the job has 1 ranks");
    // A cycle that only the ranks together make.
    const auto crossed = [](int32_t own, int32_t other) {
        TraceText t;
        t.Add(0, pb::CHAKRA_COMM_RECV, {}, Moves(other, own, 5));
        t.Add(1, pb::CHAKRA_COMM_SEND, {0}, Moves(own, other, 5));
        return t.Get();
    };
    EXPECT_EQ(ErrorOf({crossed(0, 1), crossed(1, 0)}),
              "trace: the dependencies form a cycle of 2 tasks: task 0 (n1) waits for task 1 (n1) "
              "waits for task 0 (n1); remove one of these dependencies");
    TraceOptions options;
    options.ranks = 3;
    EXPECT_EQ(ErrorOf({TraceText().Get(), TraceText().Get()}, options),
              "trace: the trace has files of 2 ranks, not of 3");
    options.ranks = 1u << 20;
    TraceText many;
    for (uint64_t i = 0; i < 70; i++)
    {
        many.Add(i, pb::CHAKRA_COMP, {});
    }
    EXPECT_EQ(ErrorOf({many.Get()}, options),
              "trace: the trace has 73400320 nodes on 1048576 ranks; the most is 67108864");
}

TEST(Chakra, JsonIsTheSameTrace)
{
    // As chakra_jsonizer writes it, and with the schema's own keys: no separator between objects.
    const std::string json = R"({
  "version": "0.0.4"
}{
  "id": "1",
  "name": "n1",
  "type": "COMP_NODE",
  "durationMicros": "7",
  "attr": [{"name": "is_cpu_op", "boolVal": false}]
}{
  "id": 2,
  "name": "n2",
  "type": 7,
  "data_deps": ["1"],
  "attr": [
    {"name": "comm_type", "int64Val": "0"},
    {"name": "comm_size", "uint64_val": 4096},
    {"name": "text with } and \"", "stringVal": "{"}
  ]
}
)";
    TraceText text;
    text.Add(1, pb::CHAKRA_COMP, {}, Lasts(7));
    text.Add(2, pb::CHAKRA_COMM_COLL, {1}, Collects(ChakraCollective::ALL_REDUCE, 4096));
    TraceOptions options;
    options.ranks = 4;
    EXPECT_EQ(Read({json}, options), Read({text.Get()}, options));
    EXPECT_TRUE(IsChakraJson(json));
    EXPECT_TRUE(IsChakraJson("{}{\n \"id\": \"1\""));
    EXPECT_FALSE(IsChakraJson("{\"schemaVersion\": 1"));
    EXPECT_FALSE(IsChakraJson("{\"format\": \"proteus-graph\""));
    // Metadata of 123 bytes, the number of the brace: no JSON.
    pb::ChakraMetadata metadata;
    metadata.set_version(std::string(121, ' '));
    ASSERT_EQ(Delimited(metadata)[0], '{');
    std::istringstream long_(Delimited(metadata));
    EXPECT_EQ(ChakraReader(long_, "trace").GetVersion(), std::string(121, ' '));

    const auto errorOf = [&](const std::string& from, const std::string& to) {
        std::string changed = json;
        changed.replace(changed.find(from), from.size(), to);
        return ErrorOf({changed}, options);
    };
    EXPECT_NE(errorOf("COMP_NODE", "COOK_NODE").find("\"type\" must be"), std::string::npos);
    EXPECT_NE(errorOf("\"7\"", "\"7.5\"").find("\"duration_micros\" must be a whole number"),
              std::string::npos);
    EXPECT_NE(errorOf("[\"1\"]", "\"1\"").find("\"data_deps\" must be a list"),
              std::string::npos);
    EXPECT_NE(ErrorOf({json.substr(0, json.size() - 4)}, options).find("cut off"),
              std::string::npos);
    EXPECT_NE(errorOf("\"COMP_NODE\",", "\"COMP_NODE\"").find("no JSON"), std::string::npos);
}

TEST(TraceDoubts, GradientsThatWaitForNoKernelAndLoneRanks)
{
    TraceOptions options;
    options.ranks = 4;
    TraceText good;
    good.Add(1, pb::CHAKRA_COMP, {}, Lasts(7));
    good.Add(2, pb::CHAKRA_COMM_COLL, {1}, Collects(ChakraCollective::ALL_REDUCE, 4096));
    good.Add(3, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 4000));
    EXPECT_TRUE(FindTraceDoubts(Read({good.Get()}, options)).empty());
    TraceText bad;
    bad.Add(1, pb::CHAKRA_COMP, {}, Lasts(7));
    bad.Add(2, pb::CHAKRA_COMM_COLL, {1}, Collects(ChakraCollective::ALL_REDUCE, 1000));
    bad.Add(3, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 3000));
    const auto doubts = FindTraceDoubts(Read({bad.Get()}, options));
    ASSERT_EQ(doubts.size(), 1U);
    EXPECT_EQ(doubts[0].find("1 of its 2 collectives, with 75 % of their bytes, wait for no kernel"),
              0U)
        << doubts[0];
    // Without kernels there is nothing to wait for.
    TraceText bare;
    bare.Add(1, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 3000));
    EXPECT_TRUE(FindTraceDoubts(Read({bare.Get()}, options)).empty());
    options.ranks = 1;
    const auto lone = FindTraceDoubts(Read({bare.Get()}, options));
    ASSERT_EQ(lone.size(), 1U);
    EXPECT_EQ(lone[0].find("1 of its 1 collectives are of groups of one rank"), 0U) << lone[0];
}

TEST(Chakra, CompressedFiles)
{
    TraceText rank;
    for (uint64_t i = 0; i < 5000; i++)
    {
        rank.Add(i, pb::CHAKRA_COMP, {}, Lasts(i + 1));
    }
    const std::string packed = Compressed(rank.Get());
    ASSERT_LT(packed.size() * 3, rank.Get().size());
    EXPECT_EQ(Read({packed}).GetNTasks(), 5000u);
    EXPECT_TRUE(Read({packed}) == Read({rank.Get()}));
    // Two members, one after the other, are one file.
    const std::string two =
        Compressed(rank.Get().substr(0, 1000)) + Compressed(rank.Get().substr(1000));
    EXPECT_EQ(Read({two}).GetNTasks(), 5000u);
    for (const std::size_t n : {std::size_t{2}, packed.size() / 2, packed.size() - 1})
    {
        EXPECT_NE(ErrorOf({packed.substr(0, n)})
                      .find("the compressed data end too early; the file was cut off"),
                  std::string::npos);
    }
    std::string damaged = packed;
    damaged[packed.size() / 2] ^= 0x55;
    EXPECT_EQ(ErrorOf({damaged}).compare(0, 9, "f0: byte "), 0);
}

TEST(Chakra, TruncationsAndCorruptionsAreHarmless)
{
    TraceText rank;
    rank.Add(0, pb::CHAKRA_COMP, {}, Lasts(5, true));
    rank.Add(1, pb::CHAKRA_COMM_COLL, {0}, Collects(ChakraCollective::ALL_TO_ALL, 100));
    rank.Add(2, pb::CHAKRA_COMP, {1}, Lasts(7));
    const std::string text = rank.Get();
    uint32_t nRead = 0;
    for (std::size_t n = 0; n < text.size(); n++)
    {
        nRead += ErrorOf({text.substr(0, n), text}) == "no error";
    }
    EXPECT_LE(nRead, 1u); // cutting off whole nodes behind the collective leaves a shorter trace
    std::mt19937 random(1);
    for (int i = 0; i < 20000; i++)
    {
        std::string damaged = text;
        for (int k = 0; k < 1 + i % 3; k++)
        {
            damaged[random() % damaged.size()] = static_cast<char>(random());
        }
        ErrorOf({damaged, text});
    }
}

namespace
{

/// Uses what Chakra has no word for.
ExecutionGraph
MakeGraph()
{
    GraphBuilder builder(4);
    builder.SetFacts({"a model", 1e15, 7, 3});
    const StreamId compute = builder.AddStream("compute");
    const StreamId network = builder.AddStream("network", StreamOrder::READY, true);
    const PhaseId forward = builder.AddPhase("forward", 3);
    const PhaseId backward = builder.AddPhase("backward", 3);
    const PhaseId once = builder.AddPhase("once");
    const GroupId all = builder.AddGroup({3, 1, 0, 2});
    const GroupId pair = builder.AddGroup({0, 1});
    builder.AddGroup({2, 3}); // nobody uses it
    for (DeviceId device = 0; device < 4; device++)
    {
        const TaskId weights = builder.AddMemory(once, device, "weights", 1000, {}, true);
        const TaskId f = builder.AddCompute(forward,
                                            device,
                                            compute,
                                            "layer",
                                            1234567 + device,
                                            std::vector<TaskId>{weights});
        const TaskId kept = builder.AddMemory(forward, device, "kept", 500, {f});
        builder.AddCompute(backward, device, compute, "back", 2.5e9, 77, DataType::FP8, {kept});
        builder.AddGate({device, forward, backward, 2});
    }
    builder.AddCommunication(forward,
                             pair,
                             network,
                             "send",
                             Collective::SEND_RECV,
                             100,
                             Parallelism::PIPELINE,
                             {1});
    for (const Collective collective : {Collective::ALL_REDUCE,
                                        Collective::ALL_GATHER,
                                        Collective::REDUCE_SCATTER,
                                        Collective::BROADCAST,
                                        Collective::REDUCE,
                                        Collective::GATHER,
                                        Collective::SCATTER,
                                        Collective::ALL_TO_ALL})
    {
        builder.AddCommunication(once,
                                 all,
                                 network,
                                 ToString(collective),
                                 collective,
                                 1001,
                                 Parallelism::DATA,
                                 {3, 7, 11, 15},
                                 HasRoot(collective) ? 2 : 0);
    }
    builder.SetSchedule(1,
                        {{forward, 0},
                         {forward, 1},
                         {backward, 0},
                         {forward, 2},
                         {backward, 1},
                         {backward, 2},
                         {once, 0}});
    builder.SetSchedule({0, 2, 3},
                        {{forward, 0},
                         {backward, 0},
                         {forward, 1},
                         {backward, 1},
                         {forward, 2},
                         {backward, 2},
                         {once, 0}});
    return builder.Build();
}

std::vector<std::string>
Write(const ExecutionGraph& graph)
{
    std::vector<std::string> files;
    for (DeviceId device = 0; device < graph.GetNDevices(); device++)
    {
        std::ostringstream out;
        WriteChakra(graph, device, out);
        files.push_back(out.str());
    }
    return files;
}

} // namespace

TEST(ChakraWriter, ReadsBackTheSameGraph)
{
    const auto graph = MakeGraph();
    const auto files = Write(graph);
    EXPECT_TRUE(Read(files) == graph);
    EXPECT_TRUE(Write(Read(files)) == files);
    EXPECT_EQ(ErrorOf({files[0], files[1]}),
              "trace: the graph has 4 devices, but there are files of 2");
    EXPECT_NE(ErrorOf({files[0], files[1], files[2], files[2]}), "no error");

    const fs::path folder =
        fs::temp_directory_path() / ("proteus-chakra-" + std::to_string(getpid()));
    fs::create_directories(folder);
    SaveChakra(graph, (folder / "graph").string());
    EXPECT_TRUE(fs::exists(folder / "graph.3.et"));
    EXPECT_TRUE(LoadTrace(folder.string()) == graph);
    fs::remove_all(folder);
}

TEST(ChakraWriter, ExamplesReadBackTheSame)
{
    for (const auto& entry :
         fs::directory_iterator(fs::path(PROTEUS_SOURCE_DIR) / "workloads/graphs"))
    {
        const auto graph = LoadTrace(entry.path().string()); // takes native graphs, too
        EXPECT_TRUE(Read(Write(graph)) == graph) << entry.path();
    }
}

TEST(ChakraWriter, OtherProgramsUnderstandTheNodes)
{
    // Without our own attributes the files are a trace like any other, with all micro-batches.
    const auto graph = MakeGraph();
    std::vector<std::string> files;
    for (const std::string& file : Write(graph))
    {
        std::istringstream in(file);
        ChakraReader reader(in, "file");
        EXPECT_EQ(reader.GetVersion(), "0.0.4");
        std::string text = TraceText().Get();
        std::size_t at = 0;
        bool isFirst = true;
        while (at < file.size())
        {
            std::size_t size = 0;
            for (int shift = 0;; shift += 7)
            {
                const auto c = static_cast<unsigned char>(file[at++]);
                size |= static_cast<std::size_t>(c & 0x7f) << shift;
                if (c < 0x80)
                {
                    break;
                }
            }
            Node node;
            if (!isFirst)
            {
                ASSERT_TRUE(node.ParseFromString(file.substr(at, size)));
                for (int i = node.attr_size(); i-- > 0;)
                {
                    if (node.attr(i).name() == "proteus_task")
                    {
                        node.mutable_attr()->DeleteSubrange(i, 1);
                    }
                }
                text += Delimited(node);
            }
            isFirst = false;
            at += size;
        }
        files.push_back(text);
    }
    const auto other = Read(files);
    EXPECT_EQ(other.GetNDevices(), 4u);
    std::map<std::string, uint32_t> counts;
    for (const Task& task : other.GetTasks())
    {
        counts[other.GetName(task)]++;
    }
    EXPECT_EQ(counts["layer"], 4u * 3u);
    EXPECT_EQ(counts["back"], 4u * 3u);
    EXPECT_EQ(counts["send"], 3u);
    EXPECT_EQ(counts["weights"], 0u);
    for (const char* name : {"all-reduce", "all-gather", "gather", "all-to-all", "broadcast"})
    {
        EXPECT_EQ(counts[name], 1u) << name;
        const Task& task = other.GetTask(FindTask(other, name));
        EXPECT_EQ(ToString(task.collective), std::string(name));
        // Of a gather, the file has one rank's part of 1001 bytes, rounded up.
        EXPECT_EQ(task.bytes,
                  std::string(name).find("gather") == std::string::npos ? 1001u : 1004u);
        EXPECT_EQ(other.GetGroup(task.place), (std::vector<DeviceId>{3, 1, 0, 2}));
        EXPECT_EQ(task.root, HasRoot(task.collective) ? 2u : 0u);
    }
    // Micro-batch 2 of device 0 is held back by the gate, by its place in the stream, or both.
    uint32_t nBackBeforeLayer = 0;
    for (TaskId id = 0; id < other.GetNTasks(); id++)
    {
        if (other.GetName(other.GetTask(id)) == "layer")
        {
            for (const std::string& name : NamesOf(other, other.GetDependencies(id)))
            {
                nBackBeforeLayer += name == "back";
            }
        }
    }
    EXPECT_GE(nBackBeforeLayer, 4u + 3u);
}
