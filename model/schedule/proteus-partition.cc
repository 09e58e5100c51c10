/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-partition.h"

#include <algorithm>
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

std::vector<uint64_t>
PartitionRows(uint64_t rows, uint64_t elements, uint64_t partElements)
{
    if (rows == 0 || elements == 0 || partElements == 0)
    {
        throw std::invalid_argument(
            "a tensor of " + std::to_string(rows) + " rows and " + std::to_string(elements) +
            " elements cannot be cut into parts of " + std::to_string(partElements) +
            " elements: all must be at least 1");
    }
    const uint64_t wanted = elements / partElements + (elements % partElements > 0);
    const uint64_t count = std::min(wanted, rows);
    std::vector<uint64_t> parts(count, rows / count);
    std::for_each(parts.end() - static_cast<std::ptrdiff_t>(rows % count),
                  parts.end(),
                  [](uint64_t& part) { ++part; });
    return parts;
}

} // namespace proteus
} // namespace ns3
