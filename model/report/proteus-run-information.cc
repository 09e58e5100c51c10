/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-run-information.h"

#include "proteus-resources.h"

#include "ns3/proteus-config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>
#include <zlib.h>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param argument of a command line @return it as a POSIX shell takes it for one word
std::string
QuoteForShell(const std::string& argument)
{
    const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "@%+=:,./_-";
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos)
    {
        return argument;
    }
    std::string quoted = "'";
    for (char c : argument)
    {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + '\'';
}

/// @param argument first of main() @return name of the program: ns-3's decoration of binaries,
/// as in ns3.37-proteus-run-optimized, is not what one types
std::string
FindProgramName(const std::string& argument)
{
    std::string name = std::filesystem::path(argument).filename().string();
    const std::size_t begin = name.find("-proteus-");
    if (name.compare(0, 3, "ns3") == 0 && begin != std::string::npos)
    {
        name.erase(0, begin + 1);
        const std::string rest = name.substr(name.rfind('-'));
        for (const char* profile : {"-optimized", "-debug", "-release", "-default"})
        {
            if (rest == profile)
            {
                name.erase(name.size() - rest.size());
            }
        }
    }
    return name;
}

/// @param path of a regular file @param input its size is added, and its checksum goes on
/// @return whether it can be read
bool
ReadInput(const std::string& path, RunInput& input)
{
    std::ifstream in(path, std::ios::binary);
    std::array<char, 1U << 16> block;
    uLong crc = input.crc32;
    while (in.read(block.data(), block.size()) || in.gcount() > 0)
    {
        const auto n = static_cast<uInt>(in.gcount());
        crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), n);
        input.bytes += n;
    }
    input.crc32 = static_cast<uint32_t>(crc);
    return in.eof();
}

/// @param path of a file or folder @return the regular files that it is or has, by name
std::vector<std::string>
ListFiles(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error))
    {
        return {path};
    }
    std::vector<std::string> files;
    if (std::filesystem::is_directory(path, error))
    {
        for (const auto& entry : std::filesystem::directory_iterator(path, error))
        {
            if (entry.is_regular_file(error))
            {
                files.push_back(entry.path().string());
            }
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

RunInformation
DescribeRun(const std::vector<std::string>& arguments, const std::set<std::string>& inputOptions)
{
    RunInformation information;
    information.version = GetResource("VERSION");
    information.version.erase(information.version.find_last_not_of(" \r\n") + 1);
    information.ns3Version = PROTEUS_NS3_VERSION == 399
                                 ? "3-dev"
                                 : std::to_string(PROTEUS_NS3_VERSION / 100) + "." +
                                       std::to_string(PROTEUS_NS3_VERSION % 100);
    information.command = MakeLauncherCommand(arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i)
    {
        const std::string& argument = arguments[i];
        if (i == 0)
        {
            information.program = FindProgramName(argument);
            continue;
        }
        const auto name = argument.find_first_not_of('-');
        const auto equals = argument.find('=');
        if (name != std::string::npos && equals != std::string::npos && name < equals &&
            inputOptions.count(argument.substr(name, equals - name)) > 0)
        {
            AddRunInput(argument.substr(equals + 1), information);
        }
    }
    return information;
}

std::string
MakeLauncherCommand(const std::vector<std::string>& arguments)
{
    const std::string launcher = "./ns3 run ";
    std::string words;
    for (std::size_t i = 0; i < arguments.size(); ++i)
    {
        words += i == 0 ? FindProgramName(arguments[0]) : ' ' + QuoteForShell(arguments[i]);
    }
    if (arguments.size() < 2)
    {
        return launcher + words;
    }
    // Within double quotes the shell looks at these.
    const bool isPlain = words.find_first_of("\"\\$`!") == std::string::npos;
    return launcher + (isPlain ? '"' + words + '"' : QuoteForShell(words));
}

void
AddRunInput(const std::string& path, RunInformation& information)
{
    const auto files = ListFiles(path);
    RunInput input;
    input.path = path;
    input.files = static_cast<uint32_t>(files.size());
    bool isReadable = !files.empty();
    for (const std::string& file : files)
    {
        isReadable = isReadable && ReadInput(file, input);
    }
    if (isReadable)
    {
        information.inputs.push_back(std::move(input));
    }
}

} // namespace proteus
} // namespace ns3
