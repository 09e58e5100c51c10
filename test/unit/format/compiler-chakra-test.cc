/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-chakra.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-strategy-json.h"
#include "ns3/proteus-trace-file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>

// What the compiler makes reads back to the same graph, from each of the formats that it is written
// in.

using namespace ns3::proteus;

namespace
{

ExecutionGraph
Compile(const std::string& model, const std::string& strategy)
{
    std::istringstream input(strategy);
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    const Model loaded =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + model + ".json",
                  file.GetVariables());
    const KernelCostModel cost(FindGpuDatasheet("A100-SXM4-80GB"));
    CompileOptions options;
    options.kernelTime = MakeKernelTimer(cost, DataType::BF16, 4);
    return CompileModel(loaded, file.GetTree(loaded), options);
}

/// A folder that is gone afterwards.
class Folder
{
  public:
    explicit Folder(const std::string& name)
        : m_path(std::filesystem::path(testing::TempDir()) / name)
    {
        std::filesystem::remove_all(m_path);
    }

    ~Folder()
    {
        std::filesystem::remove_all(m_path);
    }

    std::string Get(const std::string& file = "") const
    {
        return (m_path / file).string();
    }

  private:
    std::filesystem::path m_path;
};

} // namespace

TEST(CompiledFiles, ReadBackToTheSameGraph)
{
    const Folder folder("proteus-compiled-files");
    for (const auto& [model, strategy] : std::initializer_list<std::pair<std::string, std::string>>{
             {"gpt3-125m", R"({"tp": 2, "dp": 2, "pp": 2, "globalBatch": 8})"},
             {"gpt3-125m", R"({"pp": 3, "virtualStages": 2, "globalBatch": 6, "zero": 0})"},
             {"gpt3-125m", R"({"pp": 4, "schedule": "zero-bubble", "globalBatch": 8})"},
             {"gpt3-125m", R"({"dp": 4, "zero": 3, "recompute": "full", "globalBatch": 8})"},
             {"gpt3-125m", R"({"dp": 2, "offloadOptimizer": true})"},
             {"alexnet", R"({"dp": 2, "buckets": "ddp", "optimizer": "sgd"})"}})
    {
        SCOPED_TRACE(model + " " + strategy);
        const ExecutionGraph graph = Compile(model, strategy);
        SaveChakraFolder(graph, folder.Get("chakra"));
        TraceOptions options;
        options.availableRanks = graph.GetNDevices() + 8; // of a larger cluster
        EXPECT_EQ(LoadTrace(folder.Get("chakra"), options), graph);
        for (const std::string file : {"graph.json", "graph.pb"})
        {
            SaveGraph(graph, folder.Get(file));
            EXPECT_EQ(LoadGraph(folder.Get(file)), graph) << file;
        }
    }
}

TEST(CompiledFiles, ASmallerTraceLeavesNothingOfALargerOne)
{
    const Folder folder("proteus-compiled-smaller");
    SaveChakraFolder(Compile("alexnet", R"({"dp": 4})"), folder.Get());
    const ExecutionGraph graph = Compile("alexnet", R"({"dp": 2})");
    SaveChakraFolder(graph, folder.Get());
    EXPECT_EQ(LoadTrace(folder.Get(), {}), graph);
}

TEST(CompiledFiles, AFolderThatCannotBeMadeIsNamed)
{
    const Folder folder("proteus-compiled-no-folder");
    std::filesystem::create_directories(folder.Get());
    std::ofstream(folder.Get("file")) << "no folder";
    try
    {
        SaveChakraFolder(Compile("alexnet", "{}"), folder.Get("file"));
        FAIL() << "a file is no folder";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()).rfind(folder.Get("file") + ": is no folder", 0), 0u);
    }
}

// On a full disk: no file may have a byte.
TEST(CompiledFiles, AFolderThatNothingCanBeWrittenToIsTakenAwayAgain)
{
    const Folder folder("proteus-compiled-full");
    std::filesystem::create_directories(folder.Get());
    const ExecutionGraph graph = Compile("alexnet", "{}");
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    {
        const OutputPlan plan;
        const rlimit none{0, usual.rlim_max};
        setrlimit(RLIMIT_FSIZE, &none);
        EXPECT_THROW(SaveChakraFolder(graph, folder.Get("traces")), OutputError);
        setrlimit(RLIMIT_FSIZE, &usual);
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_FALSE(std::filesystem::exists(folder.Get("traces")));
    EXPECT_TRUE(std::filesystem::exists(folder.Get()));
}
