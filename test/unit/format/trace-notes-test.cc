/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "trace-texts.h"

#include "ns3/proteus-aicb.h"
#include "ns3/proteus-chakra.h"
#include "ns3/proteus-kineto.h"
#include "ns3/proteus-warning.h"

#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

using Reader = ExecutionGraph (*)(const std::vector<TraceFile>&,
                                  const std::string&,
                                  const TraceOptions&,
                                  Recording*);

/// @return what is wrong with a trace of these files, or what is warned of, a line each
std::string
NotesOf(Reader read, const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    std::string notes;
    const WarningListener listener([&notes](const std::string& text) {
        notes += text + "\n";
        return false;
    });
    try
    {
        read(MakeTraceFiles(texts), "trace", options, nullptr);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return notes;
}

/// @return a Chakra trace of two ranks in one file @param nodes as JSON
std::string
Chakra(const std::string& nodes)
{
    return "{\"version\": \"0.0.4\"}" + nodes;
}

/// @return an all-reduce of Chakra @param more attributes @param keys more keys of the node
std::string
AllReduce(const std::string& more, const std::string& keys = "")
{
    return R"({"id": 2, "name": "sum", "type": "COMM_COLL_NODE")" + keys +
           R"(, "attr": [{"name": "comm_type", "int64Val": "0"},
 {"name": "comm_size", "int64Val": "4096"})" +
           more + "]}";
}

const std::string KERNEL = R"({"id": 1, "name": "k", "type": "COMP_NODE", "durationMicros": "7"})";

/// Expects that a text has a part.
void
ExpectPart(const std::string& text, const std::string& part)
{
    EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
}

/// @return a Kineto trace @param events of it
std::string
Kineto(const std::string& events)
{
    return R"({"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [)" + events + "]}";
}

/// @return a kernel of Kineto @param name of it @param start in us @param more arguments
std::string
Kernel(const std::string& name, double start, const std::string& more = "")
{
    std::ostringstream text;
    text << R"({"ph": "X", "cat": "kernel", "name": ")" << name << R"(", "ts": )" << start
         << R"(, "dur": 100, "args": {"stream": 7)" << more << "}}";
    return text.str();
}

} // namespace

TEST(TraceNotes, CollectivesOfChakraWhoseRanksAreNotKnown)
{
    TraceOptions two;
    two.ranks = 2;
    const auto notes = [&](const std::string& nodes) {
        return NotesOf(&ReadChakra, {Chakra(nodes)}, two);
    };
    const auto dimensions = [](const std::string& values) {
        return R"(, {"name": "involved_dim", "boolList": {"values": [)" + values + "]}}";
    };
    EXPECT_EQ(notes(AllReduce("")), "");
    EXPECT_EQ(notes(AllReduce(dimensions("true, true"))), "");
    ExpectPart(notes(AllReduce(dimensions("true, false"))),
               "f0: node 2: involved_dim leaves out dimensions");
    ExpectPart(notes(AllReduce(R"(, {"name": "comm_size", "int64Val": "1"})")),
               "attribute comm_size is there twice");
    ExpectPart(notes(R"({"id": 1, "type": 7, "attr": [{"name": "comm_size", "int64Val": "1"}]})"),
               "node 1 is a collective and does not say which (comm_type)");
    ExpectPart(notes(AllReduce("", R"(, "dataDep": [1])")),
               "the unknown key 'dataDep'; did you mean data_deps?");
    ExpectPart(notes(AllReduce("", R"(, "id": 3)")), "the key \"id\" appears twice");
    ExpectPart(notes(AllReduce(R"(, {"name": "x", "int64_value": "1"})")), "the unknown key");
    ExpectPart(notes(AllReduce("", R"(, "zzzzzzzz": 1)")),
               "the unknown key 'zzzzzzzz'; there are id, name");
}

TEST(TraceNotes, WhatOfChakraIsLeftOut)
{
    TraceOptions two;
    two.ranks = 2;
    const auto notes = [&](const std::string& nodes) {
        return NotesOf(&ReadChakra, {Chakra(nodes)}, two);
    };
    ExpectPart(notes(KERNEL + AllReduce("", R"(, "ctrlDeps": [1, 77, 78])")),
               "control dependencies on nodes that are not in the file are left out (2)");
    ExpectPart(
        notes(R"({"id": 1, "name": "k", "type": "COMP_NODE", "durationMicros": "7", "ctrlDeps": [2],
  "attr": [{"name": "fw_parent", "int64Val": "0"}]})" +
              AllReduce("", R"(, "dataDeps": [1])")),
        "the control dependencies of 1 file, which contradict");
    ExpectPart(notes(R"({"id": 1, "name": "k", "type": "COMP_NODE"})"),
               "neither a duration nor FLOPs (num_ops) of 1 kernel");
    ExpectPart(notes(R"({"id": 1, "name": "k", "type": "MEM_LOAD_NODE"})"),
               "neither a duration nor bytes (tensor_size) of 1 node of memory");
    const std::string load = R"("name": "m", "type": "MEM_LOAD_NODE", "attr": [
 {"name": "tensor_size", "uint64Val": "4096"}])";
    ExpectPart(notes("{\"id\": 1, " + load + "}"),
               "1 node of memory without a duration: the GPU's own memory moves its bytes");
    EXPECT_EQ(notes("{\"id\": 1, \"durationMicros\": \"7\", " + load + "}"), "");
    ExpectPart(
        NotesOf(&ReadChakra, {R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"}, two),
        "this is an execution trace of PyTorch (ExecutionTraceObserver), without times");
    ExpectPart(notes(R"({"id": 1, "name": "k", "type": "COMP_NODE", "durationMicros": "7",
 "attr": [{"name": "comm_size", "int64Val": "4096"}]})"),
               "1 node with what is moved (comm_type, comm_size), of a type that moves nothing");
    EXPECT_EQ(notes(AllReduce(R"(, {"name": "tensor_loc", "int32Val": 0})")), "");
    ExpectPart(notes(AllReduce(R"(, {"name": "root_rnk", "int32Val": 0})")),
               "the attribute 'root_rnk' is not known, and not read; did you mean root_rank?");
    ExpectPart(notes(AllReduce(R"(, {"name": "is_cpu_op", "boolVal": true})")),
               "all its communication (1 node) is of the host");
    ExpectPart(notes(AllReduce(R"(, {"name": "comm_priority", "int32Val": 3})")),
               "priorities (comm_priority, of 1 communication) are not heeded");
    ExpectPart(
        notes(KERNEL + R"({"id": 2, "type": 7, "attr": [{"name": "comm_type", "int64Val": "0"}]})"),
        "moves nothing for 1 collective without a size");
    ExpectPart(notes(R"({"id": 1, "name": "ProfilerStep#3", "type": 4, "durationMicros": 7})"
                     R"({"id": 2, "name": "ProfilerStep#4", "type": 4, "durationMicros": 7})"),
               "has 2 steps of the profiler");
    two.isRoofline = true;
    ExpectPart(notes(KERNEL), "the roofline has no effect");
}

TEST(TraceNotes, WhatOfChakraIsDoubtful)
{
    const auto notes = [](const std::string& nodes) {
        return NotesOf(ReadChakra, {Chakra(nodes), Chakra(nodes)});
    };
    const std::string ends = R"("attr": [{"name": "comm_size", "int64Val": "64"}, {"name": )";
    const auto message = [&ends](const std::string& type, const std::string& peers) {
        return Chakra(R"({"id": 1, "name": "m", "type": ")" + type + "\", " + ends + peers + "}]}");
    };
    const std::string to = R"("comm_dst", "int32Val": 1}, {"name": "comm_src", "int32Val": )";
    const std::string receive = message("COMM_RECV_NODE", R"("comm_src", "int32Val": 0)");
    EXPECT_EQ(NotesOf(ReadChakra, {message("COMM_SEND_NODE", to + "0"), receive}), "");
    EXPECT_EQ(NotesOf(ReadChakra, {message("COMM_SEND_NODE", to + "1"), receive}),
              "trace: 1 message of another rank than that of the file (comm_src of a send, "
              "comm_dst of a receive): the file counts\n");
    EXPECT_EQ(notes(KERNEL + R"({"id": 2, "name": "x", "durationMicros": "9"})"),
              "trace: 2 nodes of no type that is known (INVALID_NODE), or with a duration and no "
              "work (METADATA_NODE): they take no time\n");
    std::string broadcast = AllReduce("");
    broadcast.replace(broadcast.find("\"0\""), 3, "\"5\"");
    EXPECT_EQ(notes(broadcast),
              "trace: 2 collectives with a root that do not say which (root_rank): rank 0 "
              "counts\n");
    const std::string other = "{\"version\": \"2.0\"}" + KERNEL;
    EXPECT_EQ(NotesOf(ReadChakra, {"\xef\xbb\xbf" + Chakra(KERNEL)}), ""); // as editors write it
    EXPECT_EQ(NotesOf(ReadChakra, {other}),
              "trace: is of version '2.0' of the schema; known is 0.0.4, as which it is read\n");
    // Lists where there must be numbers, and two values of one attribute.
    ExpectPart(notes(AllReduce(R"(, {"name": "root_rank", "int64List": {"values": [1, 2]}})")),
               "attribute root_rank must be an integer from 0 to");
    ExpectPart(notes(AllReduce(R"(, {"name": "involved_dim", "int64List": {"values": [1]}})")),
               "attribute involved_dim must be a list of true and false");
    ExpectPart(notes(AllReduce(R"(, {"name": "pg_name", "int64Val": 1, "stringVal": "0"})")),
               "an attribute has two values, the second one");
    const auto groups = [&notes](const std::string& values) {
        return notes(R"({"id": 1, "name": "## process_group:init ##", "type": "METADATA_NODE",
 "inputs": {"values": ")" +
                     values + "\"}}" + AllReduce(""));
    };
    const std::string group = R"([{\"pg_name\": \"0\", \"ranks\": [0, 1], \"group_size\": )";
    EXPECT_EQ(groups(group + "2}]"), "");
    ExpectPart(groups(group + "4}]"), "process group \"0\" has 2 ranks and is said to have 4");
    ExpectPart(groups(group), "node 1: the list of process groups is cut off");
}

TEST(TraceNotes, ProcessGroupsOfChakra)
{
    const auto rank = [](const std::string& groups, const std::string& group) {
        std::string quoted;
        for (const char c : groups)
        {
            quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
        }
        return Chakra(
            R"({"id": 0, "name": "## process_group:init ##", "type": 1, "inputs": {"values": ")" +
            quoted + "\"}}" + AllReduce(R"(, {"name": "pg_name", "stringVal": ")" + group + "\"}"));
    };
    const std::string all = R"([{"pg_name": "0", "ranks": [], "group_size": 8}])";
    ExpectPart(
        NotesOf(&ReadChakra, {rank(all, "0"), rank(all, "0")}),
        "process group '0' has 8 ranks, but the trace does not tell which, and the job has 2");
    const std::string four = R"([{"pg_name": "0", "ranks": [], "pg_size": 4}])";
    ExpectPart(NotesOf(&ReadChakra, {rank(four, "0"), rank(four, "0")}),
               "process group '0' has 4 ranks");
    // STAGE's older traces call the attribute comm_group.
    const auto older = [](const std::string& more) {
        return Chakra(AllReduce(R"(, {"name": "comm_group", "int32Val": 7})" + more));
    };
    ExpectPart(NotesOf(&ReadChakra, {older(""), older("")}), "there is no process group '7'");
    ExpectPart(NotesOf(&ReadChakra, {older(R"(, {"name": "pg_name", "stringVal": "8"})")}),
               "pg_name and comm_group name different process groups, '7' and '8'");
    // One name for the groups of different ranks, as when a group is split.
    const auto split = [](const std::string& ranks) {
        return R"([{"pg_name": "3", "ranks": [)" + ranks + "]}]";
    };
    EXPECT_EQ(NotesOf(&ReadChakra,
                      {rank(split("0, 1"), "3"),
                       rank(split("0, 1"), "3"),
                       rank(split("2, 3"), "3"),
                       rank(split("2, 3"), "3")}),
              "");
    ExpectPart(
        NotesOf(&ReadChakra,
                {rank(R"([{"pg_name": "3", "ranks": [0]}, {"pg_name": "3", "ranks": [1]}])", "3")}),
        "the process group '3' is there twice, of different ranks");
}

TEST(TraceNotes, ProcessGroupsOfChakraAreReadStrictly)
{
    const auto notes = [](const std::string& group) {
        std::string quoted;
        for (const char c : R"([{"pg_name": "0", )" + group + "}]")
        {
            quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
        }
        return NotesOf(
            &ReadChakra,
            {Chakra(
                R"({"id": 0, "name": "## process_group:init ##", "type": 1, "inputs": {"values": ")" +
                quoted + "\"}}" + KERNEL)});
    };
    const std::string begin = "node 0: the process group \"0\"";
    EXPECT_EQ(notes(R"("pg_desc": "default_pg", "ranks": [0], "group_size": 1, "group_count": 1)"),
              "");
    ExpectPart(notes(R"("ranks": "0, 1")"),
               begin + ": ranks must be a list of ranks, not \"0, 1\"");
    ExpectPart(notes(R"("rank": [0])"), begin + " has the unknown key 'rank'; did you mean ranks?");
    ExpectPart(notes(R"("ranks": [0], "group_size": "1")"),
               begin + ": group_size must be a whole number from 0 to");
    ExpectPart(notes(R"("ranks": [], "pg_size": -2)"),
               begin + ": pg_size must be a whole number from 0 to");
    ExpectPart(notes(R"("ranks": [], "group_size": 4, "pg_size": 8)"),
               begin + " has 4 ranks and is said to have 8");
}

TEST(TraceNotes, WhatOfKinetoIsNotAsItWas)
{
    const auto notes = [](const std::string& events, const TraceOptions& options = {}) {
        return NotesOf(&ReadKineto, {Kineto(events)}, options);
    };
    const auto launch = [](int correlation) {
        return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 0, "dur": 1,
 "args": {"correlation": )" +
               std::to_string(correlation) + "}},";
    };
    const std::string pair =
        Kernel("a", 1, R"(, "correlation": 1)") + "," + Kernel("b", 101, R"(, "correlation": 2)");
    EXPECT_EQ(notes(launch(1) + launch(2) + pair), "");
    EXPECT_EQ(
        notes(launch(2) + pair),
        "trace: 1 of its 2 kernels and copies have no launch in the file (a call of the host "
        "with their correlation): they do not wait for the host; record the activities of the "
        "CPU, too\n");
    ExpectPart(notes(Kernel("a", 0) + "," + Kernel("b", 100)), "2 of its 2 kernels and copies");
    const auto step = [](int number, double start) {
        return R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
               std::to_string(number) + R"(", "ts": )" + std::to_string(start) +
               R"(, "dur": 100},)";
    };
    ExpectPart(notes(step(3, 0) + step(4, 100) + Kernel("a", 0) + "," + Kernel("b", 100)),
               "has 2 steps of the profiler");
    const std::string launched = launch(1) + Kernel("a", 0, R"(, "correlation": 1)");
    EXPECT_EQ(notes(step(3, 0) + step(4, 100) + step(5, 300) + launched), "");
    ExpectPart(notes(Kernel("a", 0) + "," + Kernel("b", 40)),
               "kernels of one stream ran at the same time for 60.000 us");
    ExpectPart(notes(Kernel("nvshmem_put", 0)), "1 kernel of other libraries than NCCL");
    ExpectPart(
        notes(Kernel("a", 0, R"(, "device": 0)") + "," + Kernel("b", 100, R"(, "device": 1)")),
        "/traceEvents/1/args/device: is GPU 1, after work of GPU 0");
    ExpectPart(notes(R"({"ph": "B", "cat": "kernel", "name": "a", "ts": 1})"),
               "/traceEvents/0: is the begin or the end of work of a GPU");
    ExpectPart(
        notes(Kernel("ncclDevKernel_AllReduce",
                     0,
                     R"(, "Collective name": "allreduce", "In msg nelems": 8, "Group size": 4,
 "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]")")),
        "has 2 ranks by its list and 4 by its size");
    // On streams, and nothing that is known; and what PyTorch before 1.13 called them.
    const auto exchange = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.find(from), from.size(), to);
    };
    const std::string kernel = Kernel("a", 0) + ",";
    ExpectPart(notes(kernel + exchange(Kernel("b", 100), "kernel", "mtia_work")),
               "1 event on streams of the category mtia_work, which is not known, not read");
    EXPECT_EQ(notes(exchange(launch(1), "cuda_runtime", "Runtime") +
                    exchange(Kernel("a", 1, R"(, "correlation": 1)"), "kernel", "Kernel")),
              "");
    const auto collective = [&](const std::string& name, const std::string& more) {
        return notes(launch(1) +
                     Kernel("ncclDevKernel",
                            1,
                            R"(, "correlation": 1, "dtype": "Float", "Process Group Ranks": [0, 1],
 "Collective name": ")" + name + "\"" +
                                more));
    };
    const std::string elements = R"(, "In msg nelems": 8, "Out msg nelems": 8)";
    EXPECT_EQ(collective("allreduce", elements), "");
    ExpectPart(collective("allreduce", ""), "moves nothing for 1 collective without elements");
    EXPECT_EQ(collective("barrier", ""), "");
    ExpectPart(collective("broadcast", elements), "1 collective with a root that do not say which");
    EXPECT_EQ(collective("broadcast", elements + R"(, "Src Rank": 1)"), "");
    EXPECT_EQ(collective("alltoallv", elements + R"(, "In split size": "[4, 4]")"), "");
    ExpectPart(collective("alltoallv", elements + R"(, "In split size": "[3, 5]")"),
               "1 all-to-all of unequal splits");
    ExpectPart(collective("alltoallv", elements + R"(, "Out split size": [3, 5])"),
               "1 all-to-all of unequal splits");
    const auto misnamed = [&](const std::string& name, const std::string& ofCollective) {
        return notes(launch(1) +
                     Kernel(name,
                            1,
                            R"(, "correlation": 1, "dtype": "Float", "Process Group Ranks": [0, 1],
 "Collective name": ")" + ofCollective +
                                "\"" + elements));
    };
    ExpectPart(misnamed("ncclDevKernel_AllGather_RING_LL(x)", "allreduce"),
               "1 kernel named after another operation than their Collective name says, the first "
               "ncclDevKernel_AllGather_RING_LL(x) of allreduce; the latter counts");
    EXPECT_EQ(misnamed("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "allreduce"), "");
    EXPECT_EQ(misnamed("ncclDevKernel_Generic(x)", "allreduce"), "");
    const std::string base = misnamed("ncclKernel_Broadcast_RING_LL(x)", "_allgather_base");
    EXPECT_EQ(base.find("named after"), std::string::npos) << base;
    ExpectPart(base,
               "_allgather_base of 2 ranks, with 8 in and 8 out, of which the former is taken");
    EXPECT_EQ(misnamed("ncclDevKernel_SendRecv(x)", "all_to_all"), "");
    TraceOptions newest;
    newest.ncclVersion = 230;
    const std::string ofNccl = exchange(Kineto(launched),
                                        "distributedInfo\": {",
                                        "distributedInfo\": {\"nccl_version\": \"2.18.3\", ");
    EXPECT_EQ(NotesOf(&ReadKineto, {ofNccl}), "");
    EXPECT_EQ(NotesOf(&ReadKineto, {ofNccl}, newest),
              "trace: was recorded with NCCL 2.18.3; simulated is 2.30, and with "
              "--ncclVersion=2.18.3 that of the trace\n");
    TraceOptions four;
    four.ranks = 4;
    ExpectPart(notes(Kernel("a", 0), four), "is of a job of 2 ranks, and --ranks=4 counts");
}

TEST(TraceNotes, KeysOfKinetoEventsAndWhatIsNoEvent)
{
    const std::string launch = R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
 "ts": 0, "dur": 1, "args": {"correlation": 1}},)";
    const std::string kernel = Kernel("a", 1, R"(, "correlation": 1)");
    const auto notes = [&](const std::string& events) {
        return NotesOf(&ReadKineto, {Kineto(launch + kernel + events)});
    };
    EXPECT_EQ(notes(R"(, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}},
 {"ph": "i", "s": "p", "name": "Iteration Start", "pid": 1, "tid": 1, "ts": 3},
 {"ph": "f", "id": 1, "cat": "ac2g", "name": "ac2g", "ts": 5, "bp": "e"})"),
              "");
    const std::string event = R"("name": "b", "ts": 200, "dur": 5, "args": {"stream": 7}})";
    ExpectPart(notes(R"(, {"ph": "X", "cta": "kernel", )" + event),
               "the key 'cta' is not read; did you mean cat?");
    for (const std::string kind :
         {R"("cat": "kernel", )", R"("ph": "X", )", R"("ph": "x", "cat": "kernel", )"})
    {
        ExpectPart(notes(", {" + kind + event),
                   "1 event with a duration (dur) and no category (cat), or of another phase (ph) "
                   "than X, not read");
    }
    ExpectPart(notes(R"(, {"ph": "E", "cat": "cuda_runtime", "name": "cudaLaunchKernel"})"),
               "/traceEvents/2: is the begin or the end of a call");
    // Arguments of communication, and of waits.
    const auto collective = [&](const std::string& more) {
        return notes(", " + Kernel("ncclDevKernel",
                                   101,
                                   R"(, "correlation": 1, "Collective name": "allreduce",
 "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float")" +
                                       more));
    };
    EXPECT_EQ(collective(R"(, "Process Group Ranks": [0, 1])"), "");
    ExpectPart(collective(R"(, "Proces Group Ranks": [0, 1])"),
               "the key 'Proces Group Ranks' is not read; did you mean Process Group Ranks?");
    const auto wait = [&](const std::string& arguments) {
        return notes(R"(, {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "ts": 150,
 "dur": 1, "args": {"correlation": 1, "stream": 7, )" +
                     arguments + "}}");
    };
    EXPECT_EQ(wait(R"("wait_on_stream": 8)"), "");
    const std::string unheeded = "1 wait (cuda_sync) of 1 that do not say who waits for what";
    ExpectPart(wait(R"("waits_on_stream": 8)"), "did you mean wait_on_stream?");
    ExpectPart(wait(R"("waits_on_stream": 8)"), unheeded);
    ExpectPart(notes(R"(, {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "ts": 150,
 "dur": 1})"),
               unheeded);
}

TEST(TraceNotes, GroupsSizesAndRanksOfKinetoThatDisagree)
{
    const auto rank = [](const std::string& info, const std::string& more) {
        return R"({"distributedInfo": {)" + info + R"(}, "traceEvents": [
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 0, "dur": 1,
  "args": {"correlation": 1}}, )" +
               Kernel("ncclDevKernel",
                      1,
                      R"(, "correlation": 1, "dtype": "Float", "Process Group Name": "3")" + more) +
               "]}";
    };
    const auto config = [&](const std::string& groups) {
        return NotesOf(&ReadKineto,
                       {rank(R"("rank": 0, "world_size": 2, "pg_config": [)" + groups + "]",
                             R"(, "Collective name": "allreduce", "In msg nelems": 8,
 "Out msg nelems": 8, "Process Group Ranks": "[0, 1]")")});
    };
    EXPECT_EQ(config(R"({"pg_name": "3", "ranks": [0, 1], "pg_size": 2})"), "");
    const std::string unlike = "1 communication whose ranks (Process Group Ranks) are others, or "
                               "in another order, than those of their group in pg_config, such "
                               "as group '3'";
    ExpectPart(config(R"({"pg_name": "3", "ranks": [1, 0], "pg_size": 2})"), unlike);
    ExpectPart(config(R"({"pg_name": "3", "ranks": [0, 1], "pg_size": 4})"),
               "/distributedInfo/pg_config/0/pg_size: is 4, but 2 ranks are listed");
    ExpectPart(config(R"({"pg_name": "4", "ranks": [0]}, {"pg_name": "4", "ranks": [1]})"),
               "/distributedInfo/pg_config/1/pg_name: is there twice, of different ranks");
    ExpectPart(config(R"({"pg_name": "4"})"),
               "1 process group (pg_config) without a name or ranks, not read");
    ExpectPart(config(R"({"pg_name": "3", "ranks": [0]})"), unlike);
    // PyTorch had the number of a group for its name.
    const auto numbered = [&](const std::string& groups) {
        std::string file = rank(R"("rank": 0, "world_size": 2, "pg_config": [)" + groups + "]",
                                R"(, "Collective name": "allreduce", "In msg nelems": 8,
 "Out msg nelems": 8, "Group size": 1)");
        const std::string name = R"("Process Group Name": "3")";
        file.replace(file.find(name), name.size(), R"("Process Group ID": 7)");
        return NotesOf(&ReadKineto, {file});
    };
    ExpectPart(numbered(R"({"pg_name": "dp", "uid": 7, "ranks": [0, 1]})"),
               "its process group 'dp' has 2 ranks by its list and 1 by its size (Group size)");
    ExpectPart(numbered(R"({"pg_name": "dp", "uid": 6, "ranks": [0, 1]})"),
               "its process group '7' has 1 of 2 ranks, but the trace does not tell which");
    // All-to-alls of other sizes; and files that do not say whose they are.
    const auto exchange = [&](const std::string& info, const std::string& sizes) {
        return rank(info, R"(, "Collective name": "all_to_all", )" + sizes);
    };
    const std::string sizes = R"("In msg nelems": 8, "Out msg nelems": 8)";
    const std::string more = R"("In msg nelems": 16, "Out msg nelems": 16)";
    EXPECT_EQ(
        NotesOf(&ReadKineto, {exchange(R"("rank": 1)", sizes), exchange(R"("rank": 0)", sizes)}),
        "");
    ExpectPart(
        NotesOf(&ReadKineto, {exchange(R"("rank": 1)", sizes), exchange(R"("rank": 0)", more)}),
        "trace: 1 all-to-all with other sizes on other ranks: the largest of each counts, of the "
        "first 64 bytes, as f1: node 1 (ncclDevKernel) has it");
    ExpectPart(NotesOf(&ReadKineto,
                       {exchange(R"("rank": 0, "world_size": 2)",
                                 R"("In msg nelems": 8, "Out msg nelems": 6)")}),
               "all_to_all of 2 ranks, with 8 in and 6 out, of which the former is taken");
    ExpectPart(NotesOf(&ReadKineto, {exchange("", sizes), exchange("", sizes)}),
               "files that do not say their rank (distributedInfo) are taken in the order of their "
               "names, f0 for rank 0");
    // What only the second rank says; and what is refused, in one message.
    const auto second = [&](const std::string& info, const std::string& of) {
        TraceOptions here;
        here.ncclVersion = 230;
        here.gpuModel = "A100-SXM4-80GB";
        const std::string first = exchange(R"("rank": 0)", sizes);
        std::string other = exchange(R"("rank": 1)" + info, of);
        other.replace(0, 1, R"({"deviceProperties": [{"name": "NVIDIA H100 80GB"}], )");
        return NotesOf(&ReadKineto, {first, other}, here);
    };
    EXPECT_EQ(second("", sizes),
              "trace: was recorded on NVIDIA H100 80GB, whose times kernels keep; the cluster has "
              "A100-SXM4-80GB\n");
    ExpectPart(second(R"(, "nccl_version": "2.18.3")", sizes), "was recorded with NCCL 2.18.3");
    std::string onAmd = exchange(R"("rank": 0, "nccl_version": "2.18.3")", sizes);
    onAmd.replace(0, 1, R"({"deviceProperties": [{"name": "AMD Instinct MI300X"}], )");
    TraceOptions newest;
    newest.ncclVersion = 230;
    ExpectPart(NotesOf(&ReadKineto, {onAmd, exchange(R"("rank": 1)", sizes)}, newest),
               "was recorded with RCCL, which follows NCCL 2.18.3; simulated is NCCL 2.30");
    ExpectPart(second(R"(, "nccl_version": "new")", sizes),
               "nccl_version 'new' is no version of NCCL: it is not heeded");
    const auto versions = [&](const std::string& first, const std::string& other) {
        return NotesOf(&ReadKineto,
                       {exchange(R"("rank": 0, "nccl_version": ")" + first + '"', sizes),
                        exchange(R"("rank": 1, "nccl_version": ")" + other + '"', sizes)});
    };
    EXPECT_EQ(versions("2.21.5", "2.21.5"), "");
    EXPECT_EQ(versions("2.21.5", "2.18.3"),
              "trace: its files say 2 versions of NCCL (nccl_version), '2.18.3', '2.21.5', and a "
              "job has one\n");
    ExpectPart(second(R"(, "backend": "gloo")", sizes),
               "was recorded with the backend 'gloo' of torch.distributed; simulated is NCCL");
    EXPECT_EQ(second(R"(, "backend": "cpu:gloo,cuda:nccl")", sizes), second("", sizes));
    const std::string odd =
        R"(, "Collective name": "allreduce", "In msg nelems": 8, "Out msg nelems": 6)";
    std::string doubts;
    const WarningListener listener([&doubts](const std::string& text) {
        doubts += text;
        return false;
    });
    EXPECT_THROW(
        ReadKineto(MakeTraceFiles({exchange(R"("rank": 0)", sizes), rank(R"("rank": 1)", odd)}),
                   "trace",
                   {}),
        std::invalid_argument);
    EXPECT_EQ(doubts, "");
    TraceOptions many;
    many.ranks = 4096;
    ExpectPart(NotesOf(&ReadKineto,
                       {rank("", R"(, "Collective name": "allgather",
 "In msg nelems": 9007199254740992)")},
                       many),
               "36028797018963968 bytes of each of 4,096 ranks are too many");
}

TEST(TraceNotes, WhatOfAicbIsLeftOut)
{
    const auto notes = [](const std::string& head, const std::string& row) {
        return NotesOf(&ReadAicb,
                       {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 " + head +
                        "\n1\n" + row + "\n"});
    };
    const std::string good = "embedding_layer -1 1000 ALLREDUCE 64 1000 NONE 0 1000 NONE 0 1";
    EXPECT_EQ(notes("all_gpus: 2", good), "");
    ExpectPart(notes("ep: 1 ep: 2", good), "f0:1: 'ep' is there twice");
    ExpectPart(notes("pp: 2 vpp: 4 ga: 1 all_gpus: 4", good), "vpp: 4 is not heeded");
    ExpectPart(notes("pp: 2 ga: 1 all_gpus: 4", good), "pass on 1 byte");
    ExpectPart(notes("all_gpus: 4 ep: 2", good),
               "ep: 2 has no effect: no row communicates among experts (_EP)");
    ExpectPart(notes("all_gpus: 2 pp_comm: 64", good),
               "pp_comm: 64 has no effect: there is one stage (pp)");
    ExpectPart(notes("all_gpus: 2 vpp: 4", good), "vpp: 4 has no effect: there is one stage (pp)");
    EXPECT_EQ(notes("all_gpus: 2 vpp: 1", good), "");
    ExpectPart(notes("all_gpus: 2 ga: 2", good), "ga: 2 has no effect: rows run as they stand");
    EXPECT_EQ(notes("all_gpus: 2 ga: 1", good), "");
    ExpectPart(notes("all_gpus: 2 checkpoints: 1 0", good), "checkpoints: 1 has no effect");
    EXPECT_EQ(notes("all_gpus: 2 checkpoints: 1 0 checkpoint_initiates: 1 0", good), "");
    ExpectPart(notes("all_gpus: 2 checkpoint_initiates: 1 0", good),
               "there is no checkpoint before row 0");
    ExpectPart(notes("", "embedding_layer -1 9 NONE 0 9 NONE 0 9 ALLREDUCE 64 0"),
               "model_parallel_NPU_group: 2 has no effect");
    ExpectPart(notes("", "embedding_layer -1 9 ALLREDUCE 64 9 NONE 0 9 ALLREDUCE 0 0"),
               "collectives of 0 bytes, which take no time, 1 time");
    ExpectPart(notes("", "embedding_layer -1 9 NONE 64 9 NONE 0 9 NONE 0 0"), "bytes for NONE");
    ExpectPart(notes("", "embedding_layer 3 9 ALLREDUCE 64 9 NONE 0 9 NONE 0 0"),
               "dependencies of 1 row");
    ExpectPart(notes("", "embedding_layer -1 9 ALLREDUCE 64 9 NONE 0 9 NONE 0 1000"),
               "updates of weights that are not communicated (1.000 us) take no time");
    const auto micro = [](const std::string& head, const std::string& group) {
        return NotesOf(&ReadAicb,
                       {"MICRO all_gpus: 2 " + head + "\n1\nsum -1 0 ALLREDUCE" + group +
                        " 64 0 NONE 0 0 NONE 0 0\n"});
    };
    EXPECT_EQ(micro("ep: 1 pp_comm: 0", ""), "");
    const std::string cause =
        " has no effect: rows of MICRO are run one after the other by all GPUs\n";
    EXPECT_EQ(micro("model_parallel_NPU_group: 2", ""),
              "trace: model_parallel_NPU_group: 2" + cause);
    for (const std::string key : {"ep", "pp", "vpp", "ga", "pp_comm"})
    {
        EXPECT_EQ(micro(key + ": 2", ""), "trace: " + key + ": 2" + cause);
    }
    EXPECT_EQ(micro("checkpoints: 1 0 checkpoint_initiates: 1 0", ""),
              "trace: checkpoints: 1" + cause);
    ExpectPart(micro("", "_EP"), "groups behind names of collectives (_TP, _DP, _EP, _DP_EP)");
    // What editors write before a text.
    const std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2\n1\n" + good + "\n";
    EXPECT_EQ(NotesOf(&ReadAicb, {"\xef\xbb\xbf" + text}), "");
    for (const std::string& text : {std::string("\xff\xfeH"), std::string("\xff\xfeH\0Y\0", 6)})
    {
        ExpectPart(NotesOf(&ReadAicb, {text}), "f0:1: the file is UTF-16: save it as UTF-8");
    }
    ExpectPart(NotesOf(&ReadKineto, {"\xff\xfe{"}), "f0:1:1: the file is UTF-16");
}
