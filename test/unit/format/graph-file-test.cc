/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-texts.h"

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-warning.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>
#include <sys/resource.h>

namespace ns3
{
namespace proteus
{

namespace
{

/// An empty folder that is gone afterwards.
class TemporaryFolder
{
  public:
    TemporaryFolder()
        : m_path(::testing::TempDir() + "proteus-graph-" + std::to_string(std::random_device()()))
    {
        std::filesystem::create_directory(m_path);
    }

    ~TemporaryFolder()
    {
        std::filesystem::remove_all(m_path);
    }

    std::string operator/(const std::string& name) const
    {
        return (m_path / name).string();
    }

    std::size_t CountFiles() const
    {
        return std::distance(std::filesystem::directory_iterator(m_path),
                             std::filesystem::directory_iterator());
    }

  private:
    std::filesystem::path m_path;
};

} // namespace

TEST(GraphFile, SavesAndLoads)
{
    const TemporaryFolder folder;
    const ExecutionGraph graph = MakeFullGraph();
    for (const char* name : {"g.json", "g.pb", ".json.pb"})
    {
        SaveGraph(MakeSmallGraph(), folder / name);
        SaveGraph(graph, folder / name); // replaces
        EXPECT_TRUE(LoadGraph(folder / name) == graph) << name;
    }
    EXPECT_EQ(folder.CountFiles(), 3U);
    EXPECT_EQ(ReadText(folder / "g.json"), ToJson(graph));
    EXPECT_EQ(ReadText(folder / "g.pb"), ToProtobuf(graph));
}

TEST(GraphFile, WhatNoTaskIsOfIsNamed)
{
    const TemporaryFolder folder;
    std::string heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard += text + "\n";
        return false;
    });
    const auto make = [](bool hasMore) {
        GraphBuilder builder(2);
        const StreamId stream = builder.AddStream("compute");
        const PhaseId phase = builder.AddPhase("iteration");
        builder.AddCompute(phase, 0, stream, "kernel", 1);
        if (hasMore)
        {
            builder.AddStream("copies");
            builder.AddPhase("backward");
            builder.AddPhase("optimizer");
            builder.AddGroup({0, 1});
        }
        return builder.Build();
    };
    for (const char* name : {"g.json", "g.pb"})
    {
        const std::string path = folder / name;
        SaveGraph(make(false), path);
        LoadGraph(path);
        EXPECT_EQ(heard, "");
        SaveGraph(make(true), path);
        LoadGraph(path);
        EXPECT_EQ(heard,
                  path + ": no task is of stream 'copies', phase 'backward' and 1 more, group 0\n");
        heard.clear();
    }
}

TEST(GraphFile, FullDiskLeavesTheOldFile)
{
    const TemporaryFolder folder;
    GraphBuilder builder(1);
    builder.AddStream("s");
    builder.AddPhase("p");
    for (int i = 0; i < 20000; i++)
    {
        builder.AddCompute(0, 0, 0, "k" + std::to_string(i), 1);
    }
    const ExecutionGraph big = builder.Build();
    struct rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (const char* name : {"g.json", "g.pb"})
    {
        const std::string path = folder / name;
        SaveGraph(MakeSmallGraph(), path);
        auto* handler = std::signal(SIGXFSZ, SIG_IGN); // or the limit ends the process
        const struct rlimit limit = {10000, before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const std::string error = ErrorOf([&] { SaveGraph(big, path); });
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
        EXPECT_EQ(error, path + ": cannot be written: File too large");
        EXPECT_TRUE(LoadGraph(path) == MakeSmallGraph());
    }
    EXPECT_EQ(folder.CountFiles(), 2U);
}

TEST(GraphFile, Errors)
{
    const TemporaryFolder folder;
    const ExecutionGraph graph = MakeSmallGraph();
    const auto expect =
        [](const std::string& error, const std::string& path, const std::string& cause) {
            EXPECT_EQ(error.compare(0, path.size(), path), 0) << error;
            EXPECT_NE(error.find(cause), std::string::npos) << error;
        };
    for (const char* name : {"graph.txt", "json", ".pb", "graph.pb.gz"})
    {
        const std::string path = folder / name;
        const std::string bare = name; // a name of an ending alone is none
        expect(ErrorOf([&] { SaveGraph(graph, bare); }), bare, "end in .json or .pb");
        expect(ErrorOf([&] { LoadGraph(bare); }), bare, "end in .json or .pb");
    }
    for (const char* name : {"nowhere/graph.json", "nowhere/graph.pb"})
    {
        const std::string path = folder / name;
        expect(ErrorOf([&] { SaveGraph(graph, path); }), path, "cannot be written: No such file");
        expect(ErrorOf([&] { LoadGraph(path); }), path, "cannot be read: No such file");
    }
    const std::string directory = folder / "folder.json";
    std::filesystem::create_directory(directory);
    expect(ErrorOf([&] { SaveGraph(graph, directory); }), directory, "it is a directory");
    expect(ErrorOf([&] { LoadGraph(directory); }), directory, "it is a directory");
    const std::string broken = folder / "broken.json";
    std::ofstream(broken) << "{\n\"devices\": ?";
    expect(ErrorOf([&] { LoadGraph(broken); }), broken, ":2:12: syntax error");
    EXPECT_EQ(folder.CountFiles(), 2U); // nothing half written is left
}

} // namespace proteus
} // namespace ns3
