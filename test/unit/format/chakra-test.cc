/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-text.h"

#include "ns3/proteus-trace-doubts.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::chakratest;

namespace fs = std::filesystem;

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

TEST(Chakra, CommunicationMayLastAsItWasRecorded)
{
    const auto rank = [](uint64_t micros) {
        TraceText text;
        text.Add(0, pb::CHAKRA_COMM_COLL, {}, [micros](Node& node) {
            Collects(ChakraCollective::ALL_REDUCE, 4096)(node);
            node.set_duration_micros(micros);
        });
        return text.Get();
    };
    Recording recording;
    ReadChakra(MakeTraceFiles({rank(7), rank(5)}), "trace", {}, &recording);
    ASSERT_EQ(recording.collectives.size(), 1u);
    EXPECT_DOUBLE_EQ(recording.collectives[0].meanS, 5e-6);
    EXPECT_EQ(recording.lengthS, 0); // a Chakra trace does not say when it ran
    ReadChakra(MakeTraceFiles({rank(7), rank(0)}), "trace", {}, &recording);
    EXPECT_TRUE(recording.collectives.empty()); // not known of all
    TraceOptions options;
    options.isCommunicationRecorded = true;
    const auto graph = Read({rank(7), rank(5)}, options);
    ASSERT_EQ(graph.GetNTasks(), 2u);
    EXPECT_EQ(graph.GetTask(0).kind, TaskKind::COMPUTE);
    EXPECT_EQ(graph.GetTask(0).durationPs, 7000000);
    EXPECT_EQ(ErrorOf({rank(7), rank(0)}, options),
              "f1: node 0 communicates and has no duration (duration_micros), so that "
              "communication cannot last as it was recorded");
    TraceText silent;
    silent.Add(0, pb::CHAKRA_COMP, {}, Lasts(5, false));
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    Read({silent.Get()}, options);
    EXPECT_EQ(heard,
              std::vector<std::string>{
                  "trace: communication as it was recorded has no effect: there is none"});
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

TEST(Chakra, AttributesWithoutNameOrValueAreErrors)
{
    const auto errorOf = [](const std::string& name) {
        TraceText rank;
        rank.Add(0, pb::CHAKRA_COMM_COLL, {}, [&](Node& node) {
            Collects(ChakraCollective::ALL_REDUCE, 8)(node);
            Attribute(node, name.c_str());
        });
        return ErrorOf({rank.Get(), rank.Get()});
    };
    EXPECT_EQ(errorOf("root_rank"), "f0: byte 8: node 0: attribute root_rank has no value");
    EXPECT_EQ(errorOf("involved_dim"), "f0: byte 8: node 0: attribute involved_dim has no value");
    EXPECT_EQ(errorOf(""), "f0: byte 8: node 0: an attribute has no name");
    EXPECT_EQ(errorOf("op_schema"), ""); // which is not read
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
    testing::internal::CaptureStderr();
    const auto graph = LoadTrace(folder.string());
    EXPECT_EQ(graph.GetGroup(graph.GetTask(0).place), (std::vector<DeviceId>{1, 0}));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::ofstream(folder / "groups.json") << "{\"9\": [1, 0], \"12\": [0], \"8\": [1]}";
    for (const char* other : {"a.txt", "b.csv", "c", "d"})
    {
        std::ofstream(folder / other) << "";
    }
    testing::internal::CaptureStderr();
    LoadTrace(folder.string());
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "warning: " + folder.string() + ": not read: a.txt, b.csv, c and 1 more\nwarning: " +
                  folder.string() + "/groups.json: no collective of the trace is in '12', '8'\n");
    // ASTRA-sim reads names as numbers (std::stoi), and "0" as all ranks.
    const auto writeRanks = [&](const std::string& group) {
        std::ofstream(folder / "t.0.et", std::ios::binary) << rank(group, "");
        std::ofstream(folder / "t.1.et.gz", std::ios::binary) << Compressed(rank(group, ""));
    };
    std::ofstream(folder / "groups.json") << R"({"09": [1, 0]})";
    writeRanks("9.0");
    testing::internal::CaptureStderr();
    const auto byNumber = LoadTrace(folder.string());
    EXPECT_EQ(byNumber.GetGroup(byNumber.GetTask(0).place), (std::vector<DeviceId>{1, 0}));
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "warning: " + folder.string() + ": not read: a.txt, b.csv, c and 1 more\nwarning: " +
                  folder.string() + "/groups.json: names of groups are taken for numbers, as in " +
                  "ASTRA-sim: '9.0' is '09'\n");
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
    std::ofstream(folder / "groups.json") << R"({"09": [1, 0], "9": [0]})";
    EXPECT_EQ(error(),
              folder.string() + "/t.0.et: process group '9.0' may be '09' or '9' of " +
                  folder.string() + "/groups.json");
    std::ofstream(folder / "groups.json") << R"({"0": [0], "1": [1]})";
    std::ofstream(folder / "t.0.et", std::ios::binary) << rank("0", "");
    std::ofstream(folder / "t.1.et.gz", std::ios::binary) << Compressed(rank("1", ""));
    testing::internal::CaptureStderr();
    EXPECT_EQ(error(), "no error");
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  "groups.json: '0' is 1 rank of 2, as it says; ASTRA-sim takes '0' of a trace for "
                  "all ranks whatever the file says"),
              std::string::npos);
    std::ofstream(folder / "groups.json") << R"({"9": [1, 0]})";
    writeRanks("9");
    fs::rename(folder / "t.1.et.gz", folder / "t.2.et.gz");
    EXPECT_EQ(error(), folder.string() + ": there is no file of rank 1; the next is t.2.et.gz");
    fs::rename(folder / "t.2.et.gz", folder / "u.0.et.gz");
    EXPECT_EQ(error(),
              folder.string() + ": both t.0.et and u.0.et.gz are of rank 0; a folder must have "
                                "the files of one trace");
    fs::rename(folder / "u.0.et.gz", folder / "u.1.et.gz");
    testing::internal::CaptureStderr();
    EXPECT_EQ(error(), "no error");
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  folder.string() + ": the files of ranks have different names (t.0.et, "
                                    "u.1.et.gz), and are taken for those of one job"),
              std::string::npos);
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

TEST(Chakra, FieldsThatTheSchemaHasNotAreNamed)
{
    std::string notes;
    const WarningListener listener([&notes](const std::string& text) {
        notes += text;
        return false;
    });
    TraceText text;
    text.Add(1, pb::CHAKRA_COMP, {}, Lasts(7));
    TraceOptions options;
    options.ranks = 1;
    Read({text.Get()}, options);
    EXPECT_EQ(notes, "");
    text.Add(2, pb::CHAKRA_COMP, {}, [](Node& node) {
        node.set_duration_micros(5);
        node.GetReflection()->MutableUnknownFields(&node)->AddVarint(12, 3);
        auto* attribute = node.add_attr();
        attribute->set_name("comm_size");
        attribute->set_int64_val(0);
        attribute->GetReflection()->MutableUnknownFields(attribute)->AddVarint(40, 1);
    });
    Read({text.Get()}, options);
    EXPECT_EQ(notes,
              "trace: messages have fields that version 0.0.4 of the schema has not, by number 12, "
              "40: not read");
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
    EXPECT_EQ(
        doubts[0].find("1 of its 2 collectives, with 75 % of their bytes, wait for no kernel"),
        0U)
        << doubts[0];
    // One that all kernels wait for opens the iteration; a second one may be hidden.
    TraceText opening;
    opening.Add(1, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_GATHER, 3000));
    opening.Add(2, pb::CHAKRA_COMP, {1}, Lasts(7));
    opening.Add(3, pb::CHAKRA_COMM_COLL, {2}, Collects(ChakraCollective::ALL_REDUCE, 1000));
    EXPECT_TRUE(FindTraceDoubts(Read({opening.Get()}, options)).empty());
    opening.Add(4, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_GATHER, 9000));
    EXPECT_EQ(FindTraceDoubts(Read({opening.Get()}, options)).size(), 1U);
    // Without kernels there is nothing to wait for.
    TraceText bare;
    bare.Add(1, pb::CHAKRA_COMM_COLL, {}, Collects(ChakraCollective::ALL_REDUCE, 3000));
    EXPECT_TRUE(FindTraceDoubts(Read({bare.Get()}, options)).empty());
    options.ranks = 1;
    const auto lone = FindTraceDoubts(Read({bare.Get()}, options));
    ASSERT_EQ(lone.size(), 1U);
    EXPECT_EQ(lone[0].find("1 of its 1 collectives are of groups of one rank"), 0U) << lone[0];
}
