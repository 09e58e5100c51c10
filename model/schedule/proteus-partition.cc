/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-partition.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::vector<uint64_t>
PartitionBytes(uint64_t bytes, uint64_t partBytes)
{
    if (bytes == 0 || partBytes == 0)
    {
        throw std::invalid_argument("a buffer of " + std::to_string(bytes) +
                                    " bytes cannot be cut into parts of " +
                                    std::to_string(partBytes) + " bytes: both must be at least 1");
    }
    std::vector<uint64_t> parts(bytes / partBytes, partBytes);
    if (bytes % partBytes > 0)
    {
        parts.push_back(bytes % partBytes);
    }
    return parts;
}

} // namespace proteus
} // namespace ns3
