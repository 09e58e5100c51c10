/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-json.h"

#include <functional>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param f that must fail @return the message of its JsonError
std::string
GetFailure(const std::function<void()>& f)
{
    try
    {
        f();
    }
    catch (const JsonError& error)
    {
        return error.what();
    }
    ADD_FAILURE() << "is no error of a place";
    return "";
}

TEST(JsonValue, AFailedCheckSaysWhere)
{
    std::istringstream text(R"({"outer": {"inner": 1}})");
    const JsonDocument document(text, "a.json");
    const JsonValue outer = document.GetRoot().Get("outer");
    EXPECT_EQ(GetFailure([&] { outer.Check([] { throw std::invalid_argument("is odd"); }); }),
              "a.json: /outer: is odd");
}

TEST(JsonValue, AFailedCheckKeepsThePlaceOfAPart)
{
    std::istringstream text(R"({"outer": {"inner": 1}})");
    const JsonDocument document(text, "a.json");
    const JsonValue outer = document.GetRoot().Get("outer");
    EXPECT_EQ(GetFailure([&] { outer.Check([&] { outer.Get("inner").Fail("is odd"); }); }),
              "a.json: /outer/inner: is odd");
}

TEST(JsonValue, AFailedCheckSaysWhereAnotherFileIsNamed)
{
    std::istringstream text(R"({"file": "b.json"})");
    const JsonDocument document(text, "a.json");
    std::istringstream otherText(R"({"inner": 1})");
    const JsonDocument other(otherText, "b.json");
    const JsonValue file = document.GetRoot().Get("file");
    EXPECT_EQ(GetFailure([&] { file.Check([&] { other.GetRoot().Get("inner").Fail("is odd"); }); }),
              "a.json: /file: b.json: /inner: is odd");
}

TEST(JsonDocument, FilesOfOtherProgramsAreRecognised)
{
    const auto check = [](const char* text) {
        std::istringstream input(text);
        const JsonDocument document(input, "a.json");
        return GetFailure([&] { document.CheckFormat("proteus-cluster", 1); });
    };
    EXPECT_EQ(check("{}"), "a.json: /format: is missing; it must be \"proteus-cluster\"");
    EXPECT_EQ(check(R"({"model_type": "llama"})"),
              "a.json: /format: is missing; it must be \"proteus-cluster\"; this is a config.json "
              "of Hugging Face, which --model reads");
    const auto allow = [](const char* text) {
        std::istringstream input(text);
        const JsonDocument document(input, "a.json");
        return GetFailure([&] { document.GetRoot().AllowKeys("a plan", {"dp", "globalBatch"}); });
    };
    EXPECT_EQ(allow(R"({"train_batch_size": 64})"),
              "a.json: /train_batch_size: unknown field; did you mean globalBatch? a plan has dp, "
              "globalBatch");
    EXPECT_EQ(allow(R"({"train_batch_size": 64, "zero_optimization": {"stage": 3}})").substr(0, 48),
              "a.json: this is a configuration of DeepSpeed; wh");
    // "optimizer" is a key of both.
    const auto allowOptimizer = [](const char* text) {
        std::istringstream input(text);
        const JsonDocument document(input, "a.json");
        return GetFailure([&] {
            document.GetRoot().AllowKeys("a plan", {"dp", "globalBatch", "optimizer"});
        });
    };
    EXPECT_EQ(
        allowOptimizer(R"({"train_batch_size": 64, "optimizer": {}, "fp16": {}})").substr(0, 48),
        "a.json: this is a configuration of DeepSpeed; wh");
    EXPECT_EQ(allowOptimizer(R"({"optimizer": "adam", "train_batch_size": 64})").substr(0, 41),
              "a.json: /train_batch_size: unknown field;");
    // A plan with a word of another program is a plan all the same.
    EXPECT_EQ(allow(R"({"dp": 8, "train_batch_size": 64, "zero_optimization": 3})").substr(0, 41),
              "a.json: /train_batch_size: unknown field;");
}

TEST(JsonDocument, TextsOfOtherProgramsAreRecognised)
{
    const auto read = [](const char* text) {
        return ErrorOf([&] {
            std::istringstream input(text);
            const JsonDocument document(input, "a");
        });
    };
    const auto begins = [&read](const char* text, const std::string& begin) {
        const std::string error = read(text);
        EXPECT_EQ(error.substr(0, begin.size()), begin);
    };
    begins(
        "# comment\n[training]\nlocal_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 2\n",
        "a: this is a configuration of torchtitan; ");
    begins("[training]\nlocal_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 2\n",
           "a: this is a configuration of torchtitan; ");
    begins("#!/bin/bash\ntorchrun pretrain_gpt.py --tensor-model-parallel-size 8 \\\n",
           "a: this is a script with arguments of Megatron-LM; ");
    begins("compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 16\n",
           "a: this is a configuration of Hugging Face Accelerate; ");
    begins("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\n",
           "a: this is a network of ASTRA-sim, ");
    begins("<algo name=\"ring\" ngpus=\"8\">\n", "a: this is a schedule of MSCCL, ");
    begins("train_iter:10\nEmb:\n    time_gpu_max: 857\n", "a: this is what AIOB has measured");
    begins(
        "settings:\n  cuda_env:\n  step_profile:\n    gradient_accumulation_steps: 1\n"
        "    dp_degree:\n      instance_key: dp_degree\n      pass_type: BY_REFERENCE\noptimizer:\n"
        "  component_key: optimizer\n",
        "a: this is a configuration of Modalities; ");
    begins("optimizer: adamw\ngradient_accumulation_steps: 4\n", "a:1:1: syntax error");
    begins("some: text\nthat: nobody\nknows: 1\n", "a:1:1: syntax error");
    begins("[1, 2]", "a: must hold an object, not a list");
    begins("[true]", "a: must hold an object, not a list");
    for (const char* toml : {"[model]\ndim = 5120\n", "[[tool.mypy]]\r\nx = 1\r\n"})
    {
        EXPECT_EQ(read(toml), "a: this is TOML, no JSON file, which begins with '{'");
    }
    // A comment is not what is wrong with a file that is no JSON without it, either.
    EXPECT_EQ(read("# Llama\n\n[model]\ndim = 5120\n"),
              "a:1:1: syntax error while parsing value - invalid literal; this is no JSON file, "
              "which begins with '{'");
    EXPECT_EQ(read("// of 2026\n{\"a\": 1}"),
              "a:1:1: syntax error while parsing value - invalid literal; JSON has no comments: "
              "leave it out");
}

} // namespace
