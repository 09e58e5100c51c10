/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-run-result.h"

#include "proteus-resources.h"

#include "ns3/proteus-config.h"

#include <array>
#include <filesystem>
#include <fstream>
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

/// @param path of a regular file @param file gets size and checksum @return whether it can be read
bool
ReadInput(const std::string& path, RunInput& file)
{
    std::ifstream in(path, std::ios::binary);
    std::array<char, 1U << 16> block;
    uLong crc = crc32(0, nullptr, 0);
    while (in.read(block.data(), block.size()) || in.gcount() > 0)
    {
        const auto n = static_cast<uInt>(in.gcount());
        crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), n);
        file.bytes += n;
    }
    file.path = path;
    file.crc32 = static_cast<uint32_t>(crc);
    return in.eof();
}

} // namespace

RunInformation
DescribeRun(const std::vector<std::string>& arguments)
{
    RunInformation information;
    information.version = GetResource("VERSION");
    information.version.erase(information.version.find_last_not_of(" \r\n") + 1);
    information.ns3Version = PROTEUS_NS3_VERSION == 399
                                 ? "3-dev"
                                 : std::to_string(PROTEUS_NS3_VERSION / 100) + "." +
                                       std::to_string(PROTEUS_NS3_VERSION % 100);
    for (std::size_t i = 0; i < arguments.size(); ++i)
    {
        const std::string& argument = arguments[i];
        if (i == 0)
        {
            information.program = std::filesystem::path(argument).filename().string();
            information.command = QuoteForShell(information.program);
            continue;
        }
        information.command += ' ' + QuoteForShell(argument);
        const auto equals = argument.find('=');
        const std::string path = equals == std::string::npos ? "" : argument.substr(equals + 1);
        std::error_code error;
        RunInput file;
        if (std::filesystem::is_regular_file(path, error) && ReadInput(path, file))
        {
            information.inputs.push_back(file);
        }
    }
    return information;
}

} // namespace proteus
} // namespace ns3
