/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Files of frameworks that have a base.

#include "framework-tools.h"

#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

using namespace ns3::proteus;

namespace fs = std::filesystem;

namespace
{

/// Folders of frameworks that refer to each other.
class FrameworkBase : public testing::Test
{
  protected:
    FrameworkBase()
        : m_root(fs::path(testing::TempDir()) / ("framework-base-" + std::to_string(getpid())))
    {
        fs::create_directories(m_root / "ours");
    }

    ~FrameworkBase() override
    {
        fs::remove_all(m_root);
    }

    /// @param name of a file @param fields besides those that every one has @return its path
    std::string Write(const std::string& name, const std::string& fields)
    {
        const fs::path path = m_root / name;
        std::ofstream(path) << R"({"format": "proteus-framework", "version": 1, "name": ")"
                            << path.stem().string() << R"(", "description": "d")" << fields << "}";
        return path.string();
    }

    Framework Load(const std::string& path) const
    {
        return LoadFramework(path, (m_root / "ours").string());
    }

    std::string GetError(const std::string& path) const
    {
        return ErrorOf([&] { Load(path); });
    }

    const fs::path m_root;
};

const std::string BASE = R"(, "host": {"kernelUs": {"value": 5, "source": "a"},
                                       "operatorUs": {"value": 7, "source": "b"},
                                       "isAhead": {"value": true, "source": "c"}},
                            "operators": {"add": {
                                "forward": {"kernels": 2, "compute": 3, "source": "e"},
                                "backward": {"kernels": 4, "source": "f"}}},
                            "plan": {"source": "g", "zero": 3, "buckets": "unit"})";

} // namespace

TEST_F(FrameworkBase, AFileSaysWhatIsOther)
{
    Write("b.json", BASE);
    const Framework framework = Load(Write("own.json", R"(, "base": "b.json",
        "host": {"kernelUs": {"value": 6, "source": "x"}, "isAhead": null},
        "operators": {"add": {"forward": {"kernels": 1, "source": "y"}}},
        "plan": {"source": "z", "zero": 2})"));
    EXPECT_EQ(framework.name, "own");
    EXPECT_EQ(framework.kernels.hostPerKernelPs, 6'000'000);
    EXPECT_EQ(framework.host.operatorPs, 7'000'000);
    EXPECT_FALSE(framework.host.isAhead);
    const OperatorRule& add = framework.operators.at("add");
    // What has a source counts as a whole: it would not be the source of what the base says.
    EXPECT_EQ(add.forward->kernels, 1U);
    EXPECT_EQ(add.forward->computeElements, 0);
    EXPECT_EQ(add.backward->kernels, 4U);
    EXPECT_EQ(framework.defaults.plan.at("zero"), "2");
    EXPECT_EQ(framework.defaults.plan.count("buckets"), 0U);
}

TEST_F(FrameworkBase, IsInTheFolderOfTheFileOrInOurs)
{
    Write("ours/b.json", BASE);
    const std::string own = Write("own.json", R"(, "base": "b.json")");
    EXPECT_EQ(Load(own).host.operatorPs, 7'000'000);
    Write("b.json", "");
    EXPECT_NE(Load(own).host.operatorPs, 7'000'000);
    Write("c.json", R"(, "base": "ours/b.json", "operators": {"add": null})");
    const Framework second = Load(Write("d.json", R"(, "base": "c.json")"));
    EXPECT_EQ(second.host.operatorPs, 7'000'000);
    EXPECT_EQ(second.operators.count("add"), 0U);
}

TEST_F(FrameworkBase, MistakesNameTheFileAndThePlace)
{
    const auto expect = [&](const std::string& path, const std::string& cause) {
        EXPECT_NE(GetError(path).find(cause), std::string::npos) << GetError(path);
    };
    Write("b.json", BASE);
    expect(Write("1.json", R"(, "base": "none.json")"), "1.json: /base: ");
    expect(Write("2.json", R"(, "base": 5)"), "2.json: /base: must be a string");
    expect(Write("3.json", R"(, "base": "b.json", "operators": {"dropout": null})"),
           "3.json: /operators/dropout: null leaves out what the base has");
    expect(Write("4.json", R"(, "base": "b.json", "host": {"kernelUs": {"value": 5}})"),
           "4.json: /host/kernelUs");
    expect(Write("5.json", R"(, "base": "5.json")"), "maybe of itself");
    Write("wrong.json", R"(, "host": {"kernelUs": {"value": -1, "source": "s"}})");
    expect(Write("6.json", R"(, "base": "wrong.json")"), "wrong.json: /host/kernelUs/value: ");
    Write("6b.json", R"(, "hots": {})");
    expect(Write("7.json", R"(, "base": "6b.json", "hots": null)"), "6b.json: ");
    const fs::path bare = m_root / "8.json";
    std::ofstream(bare) << R"({"format": "proteus-framework", "version": 1, "base": "b.json"})";
    expect(bare.string(), "8.json: ");
    std::ofstream(bare) << R"({"base": "b.json", "name": "n", "description": "d"})";
    expect(bare.string(), "8.json: ");
}

// A line that says what the base says would have to be kept like it.
TEST(FrameworkFile, OursSayNothingThatTheirBaseSays)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    const auto read = [&](const std::string& name) {
        std::ifstream file(folder + name);
        return nlohmann::json::parse(file);
    };
    uint32_t derived = 0;
    for (const auto& entry : fs::directory_iterator(folder))
    {
        const nlohmann::json own = read(entry.path().filename().string());
        if (!own.contains("base"))
        {
            continue;
        }
        ++derived;
        const nlohmann::json base = read(own["base"].get<std::string>());
        for (const char* key : {"attention", "images", "weights", "fp8", "fuses", "plan"})
        {
            EXPECT_TRUE(!own.contains(key) || !base.contains(key) || own[key] != base[key])
                << entry.path() << " " << key;
        }
    }
    EXPECT_GT(derived, 10U);
}
