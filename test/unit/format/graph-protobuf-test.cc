/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-texts.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

// Protobuf's encoding, to make files that the writer does not make.

std::string
Varint(uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
    {
        bytes += static_cast<char>(value | 0x80);
    }
    return bytes + static_cast<char>(value);
}

std::string
Number(uint32_t field, uint64_t value)
{
    return Varint(field << 3) + Varint(value);
}

std::string
Bytes(uint32_t field, const std::string& value)
{
    return Varint(field << 3 | 2) + Varint(value.size()) + value;
}

std::string
List(uint32_t field, const std::vector<uint64_t>& values)
{
    std::string bytes;
    for (const uint64_t value : values)
    {
        bytes += Varint(value);
    }
    return Bytes(field, bytes);
}

/// A signed number as sint64 has it.
uint64_t
ZigZag(int64_t value)
{
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

const std::string HEAD = Bytes(1, "proteus-graph") + Number(2, 1) + Number(4, 2) + Bytes(5, "s") +
                         Bytes(6, Bytes(1, "p") + Number(2, 1));

std::string
End(uint64_t tasks)
{
    return Bytes(11, Number(1, tasks));
}

/// Two compute tasks on device 1; the fields of the block can be replaced.
std::string
Block(const std::string& names = Bytes(1, "x"),
      const std::string& kinds = List(2, {0, 0}),
      const std::string& nameSteps = List(3, {0, 0}),
      const std::string& placeSteps = List(5, {ZigZag(1), 0}),
      const std::string& streams = List(6, {0, 0}),
      const std::string& rest = "")
{
    return Bytes(10, names + kinds + nameSteps + placeSteps + streams + rest);
}

void
ExpectProtobufError(const std::string& bytes, const std::string& cause)
{
    const std::string error = ErrorOf([&] { FromProtobuf(bytes); });
    EXPECT_NE(error, "") << cause;
    EXPECT_EQ(error.compare(0, 6, "FILE: "), 0) << error;
    EXPECT_NE(error.find(cause), std::string::npos) << "'" << cause << "' in: " << error;
}

} // namespace

TEST(GraphProtobuf, TruncationsAreRefused)
{
    const std::string text = ToProtobuf(MakeSmallGraph());
    for (std::size_t size = 0; size < text.size(); size++)
    {
        EXPECT_TRUE(TryDamaged(FromProtobuf, text.substr(0, size))) << size;
    }
}

TEST(GraphProtobuf, CorruptionsAreHarmless)
{
    TryCorruptions(FromProtobuf, ToProtobuf(MakeSmallGraph()));
}

TEST(GraphProtobuf, FullDisk)
{
    ExpectFailureOnFullDisk(WriteGraphProtobuf, ToProtobuf(MakeSmallGraph()).size());
}

TEST(GraphProtobuf, TakesOtherEncodings)
{
    const ExecutionGraph graph = FromProtobuf(HEAD + Block() + Block("") + End(4));
    ASSERT_EQ(graph.GetNTasks(), 4U);
    EXPECT_EQ(graph.GetName(graph.GetTask(3)), "x");
    EXPECT_EQ(graph.GetTask(3).place, 1U);
    EXPECT_EQ(graph.GetTask(3).dataType, DataType::BF16);
    EXPECT_EQ(graph.GetTask(3).durationPs, -1);
    // A negative zero is zero FLOPs.
    const std::string minusZero = std::string(15, '\0') + "\x80";
    const ExecutionGraph other = FromProtobuf(HEAD +
                                              Block(Bytes(1, "x"),
                                                    List(2, {0, 0}),
                                                    List(3, {0, 0}),
                                                    List(5, {0, 0}),
                                                    List(6, {0, 0}),
                                                    Bytes(9, minusZero)) +
                                              End(2));
    ExpectRoundTrips(other);
}

TEST(GraphProtobuf, WrongHeads)
{
    ExpectProtobufError("", "byte 0: the file ends too early");
    ExpectProtobufError("{\n\"format\"", "byte 0: this is no field of a graph");
    ExpectProtobufError(Bytes(1, "proteus-cluster") + Number(2, 1) + End(0), "format");
    ExpectProtobufError(Bytes(1, "proteus-graph") + Number(2, 2) + End(0), "version");
    ExpectProtobufError(Bytes(1, "proteus-graph") + Number(2, 1) + End(0), "devices");
    ExpectProtobufError(HEAD + HEAD + End(0), "field format is repeated or in the wrong place");
    ExpectProtobufError(HEAD + End(0) + End(0), "field end is repeated");
    ExpectProtobufError(HEAD + End(1), "should have 1 tasks, but has 0");
    ExpectProtobufError(HEAD + Block(), "ends too early");
    ExpectProtobufError(HEAD + Block() + End(3), "should have 3 tasks, but has 2");
    ExpectProtobufError(HEAD + Bytes(99, "new") + End(0), "byte 29: this is no field");
    ExpectProtobufError(HEAD + Bytes(6, Bytes(7, "new")) + End(0), "field phases is damaged");
    ExpectProtobufError(HEAD + std::string(1, '\0'), "this is no field");
    // A length that the file does not have must not be allocated.
    ExpectProtobufError(HEAD + Varint(10 << 3 | 2) + Varint(0x7fffffff) + "x",
                        "the file ends in field tasks");
    ExpectProtobufError(HEAD + Varint(10 << 3 | 2) + Varint(0xffffffff) + "x",
                        "the file ends in field tasks");
    const std::string group = Bytes(7, List(1, {0, ZigZag(1)}));
    ExpectProtobufError(HEAD + group + group + End(0), "group 1 is the same as group 0");
    ExpectProtobufError(HEAD + Bytes(7, List(1, {ZigZag(-1)})) + End(0), "device does not exist");
    ExpectProtobufError(HEAD + Bytes(7, List(1, {0, ZigZag(INT64_MAX), ZigZag(INT64_MIN)})) +
                            End(0),
                        "device does not exist");
    ExpectProtobufError(HEAD + Bytes(8, List(1, {0, 0})) + End(0), "device 0 has two schedules");
    ExpectProtobufError(HEAD + Bytes(8, List(2, {0, 0}) + List(3, {0})) + End(0),
                        "lists of unequal length");
    ExpectProtobufError(HEAD + Bytes(8, List(2, {65536}) + List(3, {0})) + End(0),
                        "phase 65536 is out of range");
    ExpectProtobufError(HEAD + Bytes(9, Number(2, 65536) + Number(4, 1)) + End(0),
                        "phase 65536 is out of range");
    ExpectProtobufError(HEAD + Bytes(9, Number(2, 3) + Number(4, 1)) + End(0),
                        "FILE: gate 0 on device 0 names phase 3");
}

TEST(GraphProtobuf, WrongBlocks)
{
    const auto expect = [](const std::string& block, const std::string& cause) {
        ExpectProtobufError(HEAD + block + End(2), cause);
    };
    const std::string names = Bytes(1, "x");
    const std::string kinds = List(2, {0, 0});
    const std::string nameSteps = List(3, {0, 0});
    const std::string placeSteps = List(5, {0, 0});
    const std::string streams = List(6, {0, 0});
    expect(Bytes(10, "\x0a"), "a block of tasks is damaged");
    expect(Bytes(10, Bytes(77, "x")), "a block of tasks is damaged");
    expect(Block(names, List(2, {0, 3})), "unknown kind");
    expect(Block(""), "name that does not exist");
    expect(Block(names, kinds, List(3, {0, ZigZag(-1)})), "name that does not exist");
    expect(Block(names, kinds, List(3, {0})), "list name_steps");
    expect(Block(names, kinds, nameSteps, List(5, {0})), "list place_steps");
    expect(Block(names, kinds, nameSteps, List(5, {ZigZag(-1), 0})), "device or group");
    expect(Block(names, kinds, nameSteps, List(5, {ZigZag(5), 0})), "task 0 (x) is on device 5");
    expect(Block(names, kinds, nameSteps, placeSteps, List(6, {0, 0, 0})), "list streams");
    expect(Block(names, kinds, nameSteps, placeSteps, List(6, {0, 70000})), "stream 70000");
    expect(Block(names, kinds, nameSteps, placeSteps, List(6, {0, 4})), "task 1 (x) is on stream");
    const auto rest = [&](const std::string& fields, const std::string& cause) {
        expect(Block(names, kinds, nameSteps, placeSteps, streams, fields), cause);
    };
    rest(List(4, {0}), "list phases");
    rest(List(4, {0, 65536}), "phase 65536");
    rest(List(4, {0, 1}), "task 1 (x) is in phase 1");
    rest(List(7, {1, 2, 3}), "list bytes");
    rest(List(8, {0}), "list durations_ps");
    rest(List(8, {0, ZigZag(-2)}), "negative duration");
    rest(Bytes(9, std::string(8, '\0')), "list flops");
    rest(Bytes(9, std::string(14, '\0') + "\xf0\x7f"), "task 1 (x) has FLOPs");
    rest(List(10, {0, 6}), "unknown data type");
    rest(List(11, {0}), "list collectives");
    rest(List(14, {0}), "list persistent");
    rest(List(15, {0, 1}), "list dependency_steps");
    rest(List(15, {0, 1}) + List(16, {ZigZag(-2)}), "dependencies of a task");
    rest(List(15, {2, 0}) + List(16, {ZigZag(1), 0}), "dependencies of a task");
    rest(List(15, {1, 1}) + List(16, {ZigZag(1), ZigZag(-1)}), "cycle of 2 tasks");
    rest(List(15, {1, 0}) + List(16, {ZigZag(9)}), "task 0 (x) depends on task 9");
    const auto communication = [&](const std::string& fields, const std::string& cause) {
        ExpectProtobufError(
            HEAD + Bytes(7, List(1, {0, ZigZag(1)})) +
                Block(names, List(2, {1, 1}), nameSteps, placeSteps, streams, fields) + End(2),
            cause);
    };
    const std::string bytes = List(7, {1, 1});
    communication(bytes + List(11, {0, 9}), "unknown collective");
    communication(bytes + List(11, {0, 0}) + List(12, {8, 0}), "unknown parallelism");
    communication(bytes + List(11, {3, 3}) + List(13, {0, 65536}), "root 65536");
    communication(bytes + List(11, {3, 3}) + List(13, {0, 2}), "task 1 (x) has root 2");
    communication(List(11, {3, 3}), "task 0 (x) communicates 0 bytes");
}

} // namespace proteus
} // namespace ns3
