/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-texts.h"

#include <gtest/gtest.h>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// The JSON text of a small graph with a part of it replaced.
std::string
Replaced(const std::string& part, const std::string& other)
{
    std::string text = ToJson(MakeSmallGraph());
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part << " is not in " << text;
    return text.replace(at, part.size(), other);
}

void
ExpectJsonError(const std::string& text, const std::string& message)
{
    const std::string error = ErrorOf([&] { FromJson(text); });
    EXPECT_EQ(error.substr(0, message.size()), message) << "for " << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

} // namespace

TEST(GraphJson, IsReadable)
{
    EXPECT_EQ(ToJson(MakeSmallGraph()),
              R"({
"format": "proteus-graph",
"version": 1,
"facts": {"name":"w","model_flops_per_iteration":10.0,"tokens_per_iteration":2,"samples_per_iteration":1},
"devices": 2,
"streams": ["s"],
"phases": [
{"name":"p","micro_batches":2},
{"name":"q","micro_batches":2}
],
"groups": [
[0,1]
],
"schedules": [
{"devices":[1],"order":[["p",0],["q",0],["p",1],["q",1]]}
],
"gates": [
{"device":1,"acquire":"p","release":"q","limit":1}
],
"tasks": [
{"id":0,"name":"a","kind":"compute","phase":"p","device":0,"stream":"s","duration_ps":100},
{"id":1,"name":"c","kind":"communication","phase":"p","group":0,"stream":"s","collective":"all-reduce","bytes":64,"parallelism":"tensor","dependencies":[0]},
{"id":2,"name":"m","kind":"memory","phase":"p","device":1,"bytes":64,"dependencies":[1]},
{"id":3,"name":"a","kind":"compute","phase":"q","device":1,"stream":"s","flops":2.5,"bytes":7,"data_type":"fp32","dependencies":[1,2]}
]
}
)");
}

TEST(GraphJson, TakesOtherOrderAndSpacing)
{
    // The order of keys that "jq --sort-keys" makes.
    const ExecutionGraph graph = FromJson(R"(  {
        "devices" : 1, "format" : "proteus-graph", "phases" : [ { "name" : "p" } ],
        "streams" : [ "s" ],
        "tasks" : [
            { "device" : 0, "flops" : 3, "kind" : "compute", "name" : "\u20ac", "phase" : "p",
              "stream" : "s" },
            { "dependencies" : [ 0, 0 ], "device" : 0, "kind" : "compute", "name" : "b",
              "phase" : "p", "stream" : "s" } ],
        "version" : 1 } )");
    ASSERT_EQ(graph.GetNTasks(), 2U);
    EXPECT_EQ(graph.GetName(graph.GetTask(0)), "\xe2\x82\xac");
    EXPECT_EQ(graph.GetTask(0).flops, 3);
    EXPECT_EQ(graph.GetDependencies(1).size(), 1U);
}

TEST(GraphJson, SyntaxErrorsNameThePlace)
{
    ExpectJsonError("", "FILE:1:1: the file is empty");
    ExpectJsonError("{\n  \"format\": \"proteus-graph\",\n  x\n}", "FILE:3:3: syntax error");
    ExpectJsonError("{\"version\": 1,}", "FILE:1:15: syntax error");
    ExpectJsonError("{\"version\": 1\n", "FILE:2:1: syntax error");
    ExpectJsonError("{\"version\": 1", "FILE:1:14: syntax error");
    ExpectJsonError("{\"version\": 1}\n}", "FILE:2:1: syntax error");
    ExpectJsonError("{\"format\": \"a\nb\"}", "FILE:1:14: syntax error");
    ExpectJsonError("{\"format\": \"\x80\"}", "FILE:1:13: syntax error");
    ExpectJsonError("{\n\"version\": 1e999}", "FILE:2:17: number overflow");
    ExpectJsonError(std::string(1000000, '['), "FILE: must hold an object, not a list");
    ExpectJsonError("{\"facts\": " + std::string(1000000, '['),
                    "FILE: /facts/0/0/0/0/0/0/0: is nested too deeply");
    std::string nested;
    for (int i = 0; i < 100000; i++)
    {
        nested += "{\"a/~\":";
    }
    ExpectJsonError("{\"devices\":1,\"tasks\":[1,", "FILE: /tasks/0: must be an object, not 1");
    ExpectJsonError("{\"devices\":1,\"tasks\":[" + nested,
                    "FILE: /tasks/0/a~1~0/a~1~0/a~1~0/a~1~0/a~1~0/a~1~0/a~1~0: is nested too");
}

TEST(GraphJson, WrongFields)
{
    ExpectJsonError("3", "FILE: must hold an object, not 3");
    ExpectJsonError("{}", "FILE: /format: is missing");
    ExpectJsonError(Replaced("proteus-graph", "proteus-cluster"),
                    "FILE: /format: must be \"proteus-graph\", not \"proteus-cluster\"");
    ExpectJsonError(Replaced("\"version\": 1", "\"version\": 2"), "FILE: /version: must be 1");
    ExpectJsonError(Replaced("\"version\": 1,", ""), "FILE: /version: is missing");
    ExpectJsonError(Replaced("\"version\"", "\"links\""), "FILE: /links: unknown field");
    ExpectJsonError(Replaced("\"version\"", "\"format\""), "FILE: /format: appears twice");
    ExpectJsonError(Replaced("\"devices\": 2,", ""), "FILE: /devices: is missing");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": 0"), "FILE: /devices: a graph has 1");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": 4294967295"),
                    "FILE: /devices: a graph has 1 to");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": 4294967296"),
                    "FILE: /devices: must be an integer from 0 to 4294967295");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": \"2\""),
                    "FILE: /devices: must be an integer from 0 to 4294967295, not \"2\"");
    ExpectJsonError(Replaced("[\"s\"]", "[5]"), "FILE: /streams/0: must be a string, not 5");
    ExpectJsonError(Replaced("[\"s\"]", "{}"), "FILE: /streams: must be a list, not {}");
    ExpectJsonError(Replaced("{\"name\":\"p\",\"micro_batches\":2}", "7"),
                    "FILE: /phases/0: must be an object, not 7");
    ExpectJsonError(
        Replaced("{\"name\":\"p\",\"micro", "{\"mame\":\"p\",\"micro"),
        "FILE: /phases/0/mame: unknown field; did you mean name? a phase has name, micro_batches");
    ExpectJsonError(Replaced("\"micro_batches\":2", "\"micro_batches\":-2"),
                    "FILE: /phases/0/micro_batches: must be an integer from 0 to 4294967295, "
                    "not -2");
    ExpectJsonError(Replaced("\"micro_batches\":2", "\"micro_batches\":0"),
                    "FILE: phase 0 (p) has 0 micro-batches");
    ExpectJsonError(Replaced("[0,1]", "[0,1.5]"), "FILE: /groups/0/1: must be an integer");
    ExpectJsonError(Replaced("[0,1]", "[0,1],[1,0],[0,1]"), "FILE: /groups/2: is the same group");
    ExpectJsonError(Replaced("[0,1]", "[0,2]"), "FILE: group 0 names device 2");
    ExpectJsonError(Replaced("\"order\":[[\"p\",0]", "\"order\":[[\"x\",0]"),
                    "FILE: /schedules/0/order/0/0: the graph has no phase \"x\"");
    ExpectJsonError(Replaced("[\"p\",0]", "[\"p\"]"), "FILE: /schedules/0/order/0: must be a pair");
    ExpectJsonError(Replaced("{\"devices\":[1]", "{\"devices\":[1,1]"),
                    "FILE: /schedules/0/devices/1: device 1 already has");
    ExpectJsonError(Replaced("\"limit\":1", "\"limit\":true"), "FILE: /gates/0/limit: must be an");
    ExpectJsonError(Replaced(",\"limit\":1", ""), "FILE: /gates/0/limit: is missing");
    ExpectJsonError(Replaced("\"facts\": {", "\"facts\": {\"x\":1,"),
                    "FILE: /facts/x: unknown field");
    ExpectJsonError(Replaced("iteration\":10.0", "iteration\":-10.0"),
                    "FILE: /facts/model_flops_per_iteration: must be a number, 0 or more");
    ExpectJsonError("{\"devices\":1,\"tasks\":5}", "FILE: /tasks: must be a list, not 5");
    ExpectJsonError("{\"tasks\":[", "FILE: /devices: is missing; it must come before the tasks");
    ExpectJsonError("{\"devices\":1,\"tasks\":[],\"phases\":[],\"version\":1,"
                    "\"format\":\"proteus-graph\"}",
                    "FILE: /phases: must come before the tasks");
}

TEST(GraphJson, WrongTasks)
{
    ExpectJsonError(Replaced("\"id\":2", "\"id\":3"), "FILE: /tasks/2/id: must be the position");
    ExpectJsonError(Replaced("\"name\":\"a\",", ""), "FILE: /tasks/0/name: is missing");
    ExpectJsonError(Replaced("\"name\":\"a\"", "\"name\":null"), "FILE: /tasks/0/name: must be a");
    ExpectJsonError(Replaced("\"compute\"", "\"kernel\""),
                    "FILE: /tasks/0/kind: unknown kind of task 'kernel'; known are compute");
    ExpectJsonError(Replaced("\"phase\":\"q\"", "\"phase\":\"r\""),
                    "FILE: /tasks/3/phase: the graph has no phase \"r\"");
    ExpectJsonError(Replaced("\"stream\":\"s\"", "\"stream\":\"t\""),
                    "FILE: /tasks/0/stream: the graph has no stream \"t\"");
    ExpectJsonError(Replaced("\"stream\":\"s\",", ""), "FILE: /tasks/0/stream: is missing");
    ExpectJsonError(Replaced("\"device\":0,", ""), "FILE: /tasks/0/device: is missing");
    ExpectJsonError(Replaced("\"device\":0", "\"device\":2"), "FILE: task 0 (a) is on device 2");
    ExpectJsonError(Replaced("_ps\":100", "_ps\":-1"),
                    "FILE: /tasks/0/duration_ps: must be an integer from 0 to "
                    "9223372036854775807, not -1");
    ExpectJsonError(Replaced("_ps\":100", "_ps\":9223372036854775808"),
                    "FILE: /tasks/0/duration_ps: must be an integer");
    ExpectJsonError(Replaced("_ps\":100", "_ps\":100.0"), "FILE: /tasks/0/duration_ps: must be");
    ExpectJsonError(Replaced("\"duration_ps\"", "\"duration_ns\""),
                    "FILE: /tasks/0/duration_ns: unknown field; did you mean duration_ps? a "
                    "compute task has id, name");
    ExpectJsonError(Replaced("\"duration_ps\":100", "\"name\":\"b\""),
                    "FILE: /tasks/0/name: appears twice");
    ExpectJsonError(Replaced("\"device\":1,\"bytes\":64", "\"device\":1,\"bytes\":64,\"flops\":0"),
                    "FILE: /tasks/2/flops: unknown field; a memory task has");
    ExpectJsonError(Replaced("\"bytes\":64", "\"bytes\":18446744073709551616"),
                    "FILE: /tasks/1/bytes: must be an integer from 0 to 18446744073709551615");
    ExpectJsonError(Replaced("\"bytes\":64,", ""), "FILE: /tasks/1/bytes: is missing");
    ExpectJsonError(Replaced("\"bytes\":64", "\"bytes\":0"), "FILE: task 1 (c) communicates 0");
    ExpectJsonError(Replaced("all-reduce", "all-to-none"),
                    "FILE: /tasks/1/collective: unknown collective 'all-to-none'; known are all-");
    ExpectJsonError(Replaced("\"tensor\"", "\"x\""), "FILE: /tasks/1/parallelism: unknown");
    ExpectJsonError(Replaced("\"fp32\"", "\"fp23\""), "FILE: /tasks/3/data_type: unknown data");
    ExpectJsonError(Replaced("\"fp32\"", "\"fp64\""),
                    "FILE: /tasks/3/data_type: the data type 'fp64' is not modelled: ");
    ExpectJsonError(Replaced("\"parallelism\":\"tensor\"", "\"root\":65536"),
                    "FILE: /tasks/1/root: must be an integer from 0 to 65535");
    ExpectJsonError(Replaced("\"parallelism\":\"tensor\"", "\"root\":1"),
                    "FILE: task 1 (c) is a communication task (all-reduce) and can have no root");
    ExpectJsonError(Replaced("\"group\":0", "\"group\":1"), "FILE: task 1 (c) uses group 1");
    ExpectJsonError(Replaced("flops\":2.5", "flops\":-2.5"), "FILE: /tasks/3/flops: must be a");
    ExpectJsonError(Replaced("flops\":2.5", "flops\":\"1\""), "FILE: /tasks/3/flops: must be a");
    ExpectJsonError(Replaced("[1,2]", "[1,\"2\"]"), "FILE: /tasks/3/dependencies/1: must be an");
    ExpectJsonError(Replaced("[1,2]", "2"), "FILE: /tasks/3/dependencies: must be a list");
    ExpectJsonError(Replaced("[1,2]", "[1,4]"), "FILE: task 3 (a) depends on task 4, which does");
    ExpectJsonError(Replaced("\"duration_ps\":100", "\"dependencies\":[1]"),
                    "FILE: the dependencies form a cycle of 2 tasks: task 0 (a) waits for task 1 "
                    "(c) waits for task 0 (a)");
    ExpectJsonError(
        Replaced("\"bytes\":64,\"dependencies\"", "\"bytes\":64,\"persistent\":1,\"dependencies\""),
        "FILE: /tasks/2/persistent: must be true or false, not 1");
}

TEST(GraphJson, TruncationsAreRefused)
{
    const std::string text = ToJson(MakeSmallGraph());
    for (std::size_t size = 0; size + 1 < text.size(); size++)
    {
        EXPECT_TRUE(TryDamaged(FromJson, text.substr(0, size))) << size;
    }
    // The last byte is a line end that JSON does not need.
    EXPECT_TRUE(FromJson(text.substr(0, text.size() - 1)) == MakeSmallGraph());
}

TEST(GraphJson, CorruptionsAreHarmless)
{
    TryCorruptions(FromJson, ToJson(MakeSmallGraph()));
}

TEST(GraphJson, FullDisk)
{
    ExpectFailureOnFullDisk(WriteGraphJson, ToJson(MakeSmallGraph()).size());
}

} // namespace proteus
} // namespace ns3
