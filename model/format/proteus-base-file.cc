/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-base-file.h"

#include "ns3/proteus-readable-file.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_BASES = 20;

/// @param path of a file @return the folder it is in, with the slash; empty: it is here
std::string
GetFolder(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

} // namespace

std::string
FindBaseFile(const std::string& fileName, const std::string& base, const std::string& folder)
{
    const std::string beside = GetFolder(fileName) + base;
    const std::string other = folder + "/" + base;
    return folder.empty() || IsReadable(beside) || !IsReadable(other) ? beside : other;
}

void
CheckBases(const std::string& fileName, std::size_t nBefore)
{
    if (nBefore > MOST_BASES)
    {
        throw std::invalid_argument(fileName + ": is the base of too many others, maybe of itself");
    }
}

} // namespace proteus
} // namespace ns3
