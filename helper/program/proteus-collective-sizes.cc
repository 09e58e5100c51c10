/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-sizes.h"

#include "proteus-option-values.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_SIZES = 10000;
/// Of GPUs whose memory is not known.
constexpr uint64_t MOST_BYTES = uint64_t{1} << 40;

} // namespace

std::vector<CollectiveSize>
ListCollectiveSizes(const CollectiveProgramOptions& options)
{
    const std::string first = options.min.empty() ? "8" : options.min;
    const std::string last = options.max.empty() ? "128M" : options.max;
    const uint64_t least = ParseSize(first, "min");
    const uint64_t most = ParseSize(last, "max");
    if (!(options.factor > 1))
    {
        std::ostringstream factor;
        factor << options.factor;
        throw std::invalid_argument("--factor=" + factor.str() + ": must be above 1");
    }
    if (most < least)
    {
        throw std::invalid_argument("--min=" + first + ": must not be above --max=" + last +
                                    (options.max.empty() ? ", its default: give both" : ""));
    }
    std::vector<CollectiveSize> sizes;
    double size = static_cast<double>(least);
    for (uint64_t bytes = least; bytes <= most;)
    {
        if (sizes.size() == MOST_SIZES)
        {
            throw std::invalid_argument("--factor: there are more than " +
                                        std::to_string(MOST_SIZES) + " sizes from --min to --max");
        }
        sizes.push_back({bytes, 0});
        do
        {
            size *= options.factor;
        } while (size < static_cast<double>(bytes) + 1);
        if (size >= static_cast<double>(most) + 1)
        {
            break; // it may be too large for a whole number
        }
        bytes = static_cast<uint64_t>(size);
    }
    return sizes;
}

std::vector<CollectiveSize>
ReadCollectiveSizes(const CollectiveProgramOptions& options, const NcclTestsTable& log)
{
    const uint64_t least = options.min.empty() ? 1 : ParseSize(options.min, "min");
    const uint64_t most = options.max.empty() ? UINT64_MAX : ParseSize(options.max, "max");
    std::vector<CollectiveSize> sizes;
    for (const NcclTestsRow& row : log.rows)
    {
        const auto& timing = row.outOfPlace ? row.outOfPlace : row.inPlace;
        if (timing && row.bytes >= least && row.bytes <= most)
        {
            sizes.push_back({row.bytes, timing->timeUs});
        }
    }
    if (sizes.empty())
    {
        throw std::invalid_argument(options.measured +
                                    ": no size of the log lies between --min and --max");
    }
    return sizes;
}

void
WarnOfSizes(const MscclSchedule& schedule,
            const std::vector<CollectiveSize>& sizes,
            const std::string& file)
{
    const auto outside = std::count_if(sizes.begin(), sizes.end(), [&](const CollectiveSize& size) {
        return size.bytes < schedule.minBytes || size.bytes > schedule.maxBytes;
    });
    const auto largest =
        std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
            return a.bytes < b.bytes;
        });
    if (largest != sizes.end() && largest->bytes > schedule.maxBytes)
    {
        const std::string mistake = FindMscclMistake(schedule, largest->bytes);
        if (!mistake.empty())
        {
            throw std::invalid_argument(
                "--msccl=" + file +
                ": is for sizes up to maxBytes = " + std::to_string(schedule.maxBytes) +
                ", and of " + std::to_string(largest->bytes) + " bytes " + mistake +
                "; leave out larger sizes: --max=" + std::to_string(schedule.maxBytes));
        }
    }
    if (outside > 0)
    {
        Warn(file + ": is for " + std::to_string(schedule.minBytes) + " to " +
             std::to_string(schedule.maxBytes) +
             " bytes (minBytes, maxBytes; without them 0 to 128 MiB). MSCCL leaves other sizes to "
             "NCCL; here " +
             std::to_string(outside) + " of " + std::to_string(sizes.size()) +
             " are run by it all the same");
    }
}

void
CheckCollectiveSizes(const std::vector<CollectiveSize>& sizes,
                     const Cluster& cluster,
                     const std::string& options)
{
    uint64_t most = 0;
    for (const CollectiveSize& size : sizes)
    {
        most = std::max(most, size.bytes);
    }
    CheckBufferSize(most, cluster, options);
}

void
CheckBufferSize(uint64_t bytes, const Cluster& cluster, const std::string& options)
{
    for (const VertexId gpu : cluster.GetGpus())
    {
        const Vertex& vertex = cluster.GetVertices()[gpu];
        const uint64_t memory =
            vertex.model.empty() ? 0 : FindGpuDatasheet(vertex.model).memoryBytes;
        const uint64_t room = memory > 0 ? memory : MOST_BYTES;
        if (bytes > room)
        {
            throw std::invalid_argument(
                FormatBytes(static_cast<double>(bytes)) + " do not fit into " +
                (memory > 0 ? "the memory of " + vertex.name + " (" + vertex.model + "), "
                            : vertex.name + ", whose memory is not known and taken for ") +
                FormatBytes(static_cast<double>(room)) + "; see " + options);
        }
    }
}

} // namespace proteus
} // namespace ns3
