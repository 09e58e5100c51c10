/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-text.h"
#include "corruptions.h"

#include "ns3/proteus-chakra-json.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::chakratest;

namespace fs = std::filesystem;

TEST(Chakra, AFolderOfJsonHasAFileOfGroups)
{
    const auto trace = [](const std::string& group) {
        return R"({"version": "0.0.4"}{"id": 1, "name": "n1", "type": 7, "attr": [
  {"name": "comm_type", "int64_val": 0}, {"name": "comm_size", "uint64_val": 4096},
  {"name": "pg_name", "string_val": ")" +
               group + "\"}]}";
    };
    const fs::path folder =
        fs::temp_directory_path() / ("proteus-chakra-json-" + std::to_string(getpid()));
    fs::create_directories(folder);
    for (const char* rank : {"0", "1"})
    {
        std::ofstream(folder / ("t." + std::string(rank) + ".json")) << trace("9");
    }
    std::ofstream(folder / "groups.json") << "{\"9\": [1, 0]}"; // the first by name
    const auto getGroup = [&folder](const TraceOptions& options) {
        const auto graph = LoadTrace(folder.string(), options);
        return graph.GetGroup(graph.GetTask(0).place);
    };
    EXPECT_EQ(getGroup({}), (std::vector<DeviceId>{1, 0}));
    TraceOptions options;
    options.groupFile = (folder / "groups.json").string();
    EXPECT_EQ(getGroup(options), (std::vector<DeviceId>{1, 0}));
    std::ofstream(options.groupFile) << R"({"schemaVersion": 1, "traceEvents": []})";
    EXPECT_EQ(ns3::proteus::ErrorOf([&] { getGroup(options); }),
              options.groupFile + ": this is a trace of PyTorch's profiler, which proteus-run "
                                  "--trace reads");
    std::ofstream(options.groupFile) << "{\"9\": [1, 0]}";
    std::ofstream(folder / "more.json") << "{\"9\": [0, 1]}";
    for (const TraceOptions& tried : {TraceOptions(), options})
    {
        try
        {
            getGroup(tried);
            ADD_FAILURE() << "a file that is nothing was left out";
        }
        catch (const std::invalid_argument& e)
        {
            EXPECT_NE(std::string(e.what()).find("is no Chakra trace, as "), std::string::npos)
                << e.what();
        }
    }
    fs::remove_all(folder);
}

TEST(Chakra, JsonIsReadStrictly)
{
    const auto errorOf = [](const std::string& keys) {
        return ErrorOf(
            {R"({"version": "0.0.4"}{"id": 1, "name": "n1", "type": "COMP_NODE", )" + keys + "}"});
    };
    EXPECT_EQ(errorOf(R"("duration_micros": 7, "startTimeMicros": "3",
 "inputs": {"values": "[]", "shapes": "[]", "types": "[]"}, "outputs": {})"),
              "");
    EXPECT_EQ(errorOf(R"("dataDeps": [], "data_deps": [])"),
              "f0: byte 20: the key 'data_deps' appears twice, also as 'dataDeps'");
    EXPECT_EQ(errorOf(R"("attr": [{"name": "num_ops", "in64Val": 7}])"),
              "f0: byte 20: the unknown key 'in64Val' of an attribute; did you mean int64Val?");
    EXPECT_EQ(errorOf(R"("attr": [{"name": "num_ops", "sting_list": {}}])"),
              "f0: byte 20: the unknown key 'sting_list' of an attribute; did you mean "
              "string_list?");
    EXPECT_EQ(errorOf(R"("start_time_micros": "soon")"),
              "f0: byte 20: the value of \"start_time_micros\" must be a whole number from 0 to "
              "18446744073709551615");
    EXPECT_EQ(errorOf(R"("outputs": [1])"),
              "f0: byte 20: the value of \"outputs\" must be an object");
    EXPECT_EQ(errorOf(R"("inputs": {"value": "[]"})"),
              "f0: byte 20: the unknown key 'value'; did you mean values?");
    EXPECT_EQ(errorOf(R"("inputs": {"values": []})"),
              "f0: byte 20: the value of \"values\" must be text");
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
    // A number beyond what its type has would be another one.
    const std::string bounds = " must be a whole number from 0 to 18446744073709551615";
    EXPECT_NE(errorOf("\"7\"", "\"-7\"").find("\"duration_micros\"" + bounds), std::string::npos);
    EXPECT_NE(errorOf("[\"1\"]", "[-1]").find("\"data_deps\"" + bounds), std::string::npos);
    EXPECT_NE(errorOf("4096", "-4096").find("\"uint64_val\"" + bounds), std::string::npos);
    EXPECT_NE(errorOf("4096", "18446744073709551616").find("\"uint64_val\"" + bounds),
              std::string::npos);
    EXPECT_NE(errorOf("\"int64Val\": \"0\"", "\"int64Val\": \"9223372036854775808\"")
                  .find("\"int64Val\" must be a whole number from -9223372036854775808 to "),
              std::string::npos);
    EXPECT_NE(errorOf("\"stringVal\": \"{\"", "\"boolList\": {\"value\": [false]}")
                  .find("the unknown key 'value'; did you mean values?"),
              std::string::npos);
    EXPECT_NE(errorOf("[\"1\"]", "\"1\"").find("\"data_deps\" must be a list"), std::string::npos);
    EXPECT_NE(ErrorOf({json.substr(0, json.size() - 4)}, options).find("cut off"),
              std::string::npos);
    EXPECT_NE(errorOf("\"COMP_NODE\",", "\"COMP_NODE\"").find("no JSON"), std::string::npos);
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
        nRead += ErrorOf({text.substr(0, n), text}) == "";
    }
    EXPECT_LE(nRead, 1u); // cutting off whole nodes behind the collective leaves a shorter trace
    DamageAtRandom(text, 20000, [&](const std::string& bad) { ErrorOf({bad, text}); });
}
