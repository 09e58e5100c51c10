/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace
{

using Rooms = std::map<std::string, std::set<std::string>>;

/// Which rooms of model/ a room may include; doc/proteus.rst has the same table.
const Rooms ALLOWED{
    {"base", {}},
    {"graph", {}},
    {"cluster", {}},
    {"cost", {"graph", "cluster"}},
    {"strategy", {"graph", "cluster", "cost"}},
    {"collective", {"base", "graph", "cluster", "cost"}},
    {"runtime", {"graph", "cluster", "cost", "collective"}},
    {"schedule", {}},
    {"flow", {"base", "graph", "cluster", "cost", "collective", "runtime"}},
    {"search",
     {"base", "graph", "cluster", "cost", "strategy", "collective", "runtime", "schedule", "flow"}},
    {"report", {"graph", "cluster", "cost", "collective", "runtime"}},
    {"format", {"graph", "cluster", "cost", "strategy", "collective", "runtime"}},
    {"calibration", {"graph", "cluster", "collective", "runtime", "flow", "format"}},
    {"fabric", {"graph", "cluster", "runtime"}},
    {"transport", {"cluster", "fabric"}},
    {"gpu",
     {"base",
      "graph",
      "cluster",
      "cost",
      "strategy",
      "collective",
      "runtime",
      "fabric",
      "transport"}},
};

/// Rooms that know the simulator.
const std::set<std::string> SIMULATED{"fabric", "transport", "gpu"};

} // namespace

TEST(Rooms, UseOnlyTheRoomsBelow)
{
    namespace fs = std::filesystem;
    const fs::path model = fs::path(PROTEUS_SOURCE_DIR) / "model";
    std::map<std::string, std::string> roomOfHeader;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(model))
    {
        const fs::path& path = entry.path();
        if (path.extension() == ".h" || path.extension() == ".cc")
        {
            files.push_back(path);
            if (path.parent_path() != model)
            {
                roomOfHeader[path.filename()] = path.parent_path().filename();
            }
        }
    }
    ASSERT_GT(files.size(), 20u);
    const std::regex include("^\\s*#\\s*include\\s*[\"<](ns3/)?([^\">]+)[\">]");
    for (const fs::path& path : files)
    {
        if (path.parent_path() == model)
        {
            continue; // the configuration and the compatibility header belong to no room
        }
        const std::string room = path.parent_path().filename();
        ASSERT_EQ(ALLOWED.count(room), 1u) << "unknown room " << room;
        std::ifstream file(path);
        std::smatch match;
        for (std::string line; std::getline(file, line);)
        {
            if (!std::regex_search(line, match, include))
            {
                continue;
            }
            const std::string header = match[2];
            const bool ours = header.rfind("proteus-", 0) == 0;
            if (roomOfHeader.count(header) && roomOfHeader[header] != room)
            {
                EXPECT_EQ(ALLOWED.at(room).count(roomOfHeader[header]), 1u)
                    << path << " includes " << header << " of room " << roomOfHeader[header];
            }
            if (match[1].matched && !ours)
            {
                EXPECT_EQ(SIMULATED.count(room), 1u) << path << " includes ns3/" << header;
            }
        }
    }
}
