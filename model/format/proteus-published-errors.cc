/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-published-errors.h"

#include "proteus-error-list.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr ErrorListFormat FORMAT{"proteus-published-errors",
                                 1,
                                 "errors of published iterations",
                                 "errors"};
constexpr uint64_t MOST_ROWS = 1000000;
constexpr double MOST_ERROR = 100;
/// Where the errors and what they are of stand.
constexpr const char* MANUAL = " (doc/published-iterations.rst)";

/// @param errors of all kinds @param framework of a kind @param gpu of it
/// @return the kind, or the end
std::vector<PublishedErrors>::const_iterator
FindKind(const std::vector<PublishedErrors>& errors,
         const std::string& framework,
         const std::string& gpu)
{
    return std::find_if(errors.begin(), errors.end(), [&](const PublishedErrors& kind) {
        return kind.framework == framework &&
               std::find(kind.gpus.begin(), kind.gpus.end(), gpu) != kind.gpus.end();
    });
}

PublishedErrors
ReadKind(const JsonValue& json, const std::vector<PublishedErrors>& before)
{
    json.AllowKeys(
        "errors",
        {"framework", "gpu", "gpus", "rows", "halfWithin", "nineOfTenWithin", "mean", "what"});
    PublishedErrors kind;
    kind.framework = json.Get("framework").AsName();
    kind.gpu = json.Get("gpu").AsName();
    kind.what = json.Get("what").AsName();
    const JsonValue gpus = json.Get("gpus");
    for (std::size_t i = 0; i < gpus.Size(); ++i)
    {
        const std::string& gpu = gpus.At(i).AsName();
        gpus.At(i).Check([&] { return FindGpuDatasheet(gpu); });
        if (FindKind(before, kind.framework, gpu) != before.end())
        {
            gpus.At(i).Fail("has errors of " + kind.framework + " already");
        }
        kind.gpus.push_back(gpu);
    }
    kind.rows = static_cast<uint32_t>(json.Get("rows").AsWhole(1, MOST_ROWS));
    kind.halfWithin = json.Get("halfWithin").AsNumber(0, MOST_ERROR);
    kind.nineOfTenWithin = json.Get("nineOfTenWithin").AsNumber(kind.halfWithin, MOST_ERROR);
    kind.mean = json.Get("mean").AsNumber(-1, MOST_ERROR);
    return kind;
}

} // namespace

std::vector<PublishedErrors>
ReadPublishedErrors(std::istream& input, const std::string& fileName)
{
    return ReadErrorList(input, fileName, FORMAT, ReadKind);
}

std::string
DescribePublishedErrors(const std::vector<PublishedErrors>& errors,
                        const std::string& framework,
                        const std::string& gpu)
{
    const auto kind = FindKind(errors, framework, FindGpuDatasheet(gpu).model);
    if (kind == errors.end())
    {
        return "too few published iterations of " + framework + " on " + gpu +
               " were compared to say how far its times are off" + MANUAL;
    }
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "of " << kind->rows << " published iterations of "
         << framework << " on " << kind->gpu << " (" << kind->what << ") half are computed within "
         << 100 * kind->halfWithin << " %, nine of ten within " << 100 * kind->nineOfTenWithin
         << " %, " << 100 * std::abs(kind->mean)
         << (kind->mean < 0 ? " % too short" : " % too long") << " in the mean" << MANUAL;
    return text.str();
}

} // namespace proteus
} // namespace ns3
