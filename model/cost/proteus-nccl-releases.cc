/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-releases.h"

#include "proteus-nccl-tuner.h"

#include <array>
#include <cstdint>
#include <optional>

namespace ns3
{
namespace proteus
{

namespace
{

/// Releases of a minor version whose tuner is not the one that is simulated.
struct UnlikeReleases
{
    uint32_t version;      //!< 100 times the major and the minor number
    uint32_t first;        //!< release
    uint32_t last;         //!< release
    const char* simulated; //!< release that is simulated in their place
    const char* difference;
};

// Found by comparing src/graph/tuning.cc of all tags of NCCL.
constexpr std::array<UnlikeReleases, 5> UNLIKE_RELEASES{{
    {218, 0, 2, "2.18.3", "trees of Simple count as 28 us a hop, not 4 to 14"},
    {227, 0, 4, "2.27.5", "LL128 does not leave by the NIC of another GPU (PXN)"},
    {228,
     0,
     6,
     "2.28.7",
     "rings of LL128 in two servers of Blackwell count as 73.4 GB/s for a channel, not 34.6"},
    {228,
     9,
     99,
     "2.28.7",
     "NVLSTree between servers counts as 20.9 us, not 14; --ncclVersion=2.29 has that"},
    {229,
     7,
     99,
     "2.29.3",
     "rings of LL128 on Blackwell count as 40 GB/s for a channel, not 34.5; --ncclVersion=2.30 "
     "has that"},
}};

/// @param text of a version that ParseNcclVersion() takes @return its third number; none: it has
/// no such number
std::optional<uint32_t>
FindRelease(const std::string& text)
{
    constexpr std::size_t FOUR_DIGITS = 4; // NCCL_VERSION_CODE, from 2.9 on five
    constexpr uint32_t HUNDRED = 100;      // its last two are the release
    const std::size_t minor = text.find('.');
    if (minor == std::string::npos)
    {
        return text.size() >= FOUR_DIGITS ? std::optional<uint32_t>(std::stoul(text) % HUNDRED)
                                          : std::nullopt;
    }
    const std::size_t release = text.find_first_not_of("0123456789", minor + 1);
    return release != std::string::npos && text[release] == '.'
               ? std::optional<uint32_t>(std::stoul(text.substr(release + 1)))
               : std::nullopt;
}

} // namespace

std::string
DescribeUnlikeRelease(const std::string& text)
{
    const uint32_t version = ParseNcclVersion(text);
    const std::optional<uint32_t> release = FindRelease(text);
    for (const UnlikeReleases& unlike : UNLIKE_RELEASES)
    {
        if (release && version == unlike.version && *release >= unlike.first &&
            *release <= unlike.last)
        {
            return "NCCL " + FormatNcclVersion(version) + "." + std::to_string(*release) +
                   " is simulated as " + unlike.simulated + ": to its tuner " + unlike.difference;
        }
    }
    return "";
}

std::string
FormatNcclRelease(const std::string& text)
{
    const std::optional<uint32_t> release = FindRelease(text);
    const bool isCode = text.find_first_not_of("0123456789") == std::string::npos;
    return isCode && release
               ? FormatNcclVersion(ParseNcclVersion(text)) + "." + std::to_string(*release)
               : text;
}

} // namespace proteus
} // namespace ns3
