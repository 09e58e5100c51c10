/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace
{

/// The rooms of model/: each may include those before it, and none after it. doc/architecture.rst
/// has the same list.
const std::vector<std::string> ROOMS{
    "base",     "graph",   "cluster",     "record", "cost",      "collective", "strategy",
    "scenario", "runtime", "schedule",    "flow",   "published", "fabric",     "transport",
    "gpu",      "search",  "calibration", "report", "study",     "format"};

/// Rooms that know the simulator; the others include neither it nor these.
const std::set<std::string> SIMULATED{"fabric", "transport", "gpu"};

/// @return the place of a room in the list; its length if it is not there
std::size_t
FindRoom(const std::string& room)
{
    return static_cast<std::size_t>(std::find(ROOMS.begin(), ROOMS.end(), room) - ROOMS.begin());
}

/// @return whether files of one room may include headers of another
bool
MayUse(const std::string& room, const std::string& other)
{
    return FindRoom(other) < FindRoom(room) &&
           (SIMULATED.count(room) == 1 || SIMULATED.count(other) == 0);
}

namespace fs = std::filesystem;

/// @return whether a file is C++
bool
IsSource(const fs::path& path)
{
    return path.extension() == ".h" || path.extension() == ".cc";
}

/// @return the headers that CMakeLists.txt calls private, without folder, and their rooms
std::map<std::string, std::string>
FindPrivateHeaders()
{
    std::map<std::string, std::string> roomOf;
    std::ifstream file(fs::path(PROTEUS_SOURCE_DIR) / "CMakeLists.txt");
    const std::regex entry("^\\s*model/([a-z]+)/([a-z0-9-]+\\.h)\\s*$");
    std::smatch match;
    for (std::string line; std::getline(file, line);)
    {
        if (line.find(" model/") != std::string::npos && std::regex_match(line, match, entry))
        {
            EXPECT_TRUE(fs::exists(fs::path(PROTEUS_SOURCE_DIR) / "model" / match[1].str() /
                                   match[2].str()))
                << line;
            roomOf[match[2]] = match[1];
        }
    }
    return roomOf;
}

} // namespace

TEST(Rooms, KeepTheirPrivateHeaders)
{
    const std::map<std::string, std::string> roomOf = FindPrivateHeaders();
    ASSERT_GT(roomOf.size(), 50u);
    const std::regex include("^\\s*#\\s*include\\s*[\"<](?:ns3/)?([^\">]+)[\">]");
    for (const char* folder : {"model", "helper", "examples"})
    {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(PROTEUS_SOURCE_DIR) / folder))
        {
            const std::string room = entry.path().parent_path().filename();
            std::ifstream file(IsSource(entry.path()) ? entry.path() : fs::path());
            std::smatch match;
            for (std::string line; std::getline(file, line);)
            {
                const auto header =
                    std::regex_search(line, match, include) ? roomOf.find(match[1]) : roomOf.end();
                if (header != roomOf.end())
                {
                    EXPECT_EQ(room, header->second) << entry.path() << ": " << line;
                }
            }
        }
    }
}

TEST(Rooms, UseOnlyTheRoomsAbove)
{
    const fs::path model = fs::path(PROTEUS_SOURCE_DIR) / "model";
    std::map<std::string, std::string> roomOfHeader;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(model))
    {
        const fs::path& path = entry.path();
        if (IsSource(path))
        {
            files.push_back(path);
            if (path.parent_path() != model)
            {
                // ns-3 puts all headers into one folder: a name must not stand for two.
                EXPECT_TRUE(
                    roomOfHeader.emplace(path.filename(), path.parent_path().filename()).second)
                    << path << " has the name of another file";
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
        ASSERT_LT(FindRoom(room), ROOMS.size()) << "unknown room " << room;
        std::ifstream file(path);
        std::smatch match;
        for (std::string line; std::getline(file, line);)
        {
            if (line.rfind("#include", 0) != 0 || !std::regex_search(line, match, include))
            {
                continue;
            }
            const std::string header = match[2];
            const bool ours = header.rfind("proteus-", 0) == 0;
            if (roomOfHeader.count(header) && roomOfHeader[header] != room)
            {
                EXPECT_TRUE(MayUse(room, roomOfHeader[header]))
                    << path << " includes " << header << " of room " << roomOfHeader[header];
            }
            if (match[1].matched && !ours)
            {
                EXPECT_EQ(SIMULATED.count(room), 1u) << path << " includes ns3/" << header;
            }
        }
    }
}
