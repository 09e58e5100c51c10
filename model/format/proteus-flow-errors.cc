/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-errors.h"

#include "proteus-error-list.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr ErrorListFormat FORMAT{"proteus-flow-errors", 1, "differences from packets", "errors"};
constexpr uint64_t MOST_JOBS = 1000000;
constexpr double MOST_ERROR = 1000;
/// Where the errors and what they are of stand.
constexpr const char* MANUAL = " (doc/flow-level.rst)";

/// @param errors of all kinds @param executor of a kind @param work of it @param setting of it
/// @return the kind, or the end
std::vector<FlowErrors>::const_iterator
FindKind(const std::vector<FlowErrors>& errors,
         const std::string& executor,
         const std::string& work,
         const std::string& setting)
{
    return std::find_if(errors.begin(), errors.end(), [&](const FlowErrors& kind) {
        return kind.executor == executor && kind.work == work && kind.setting == setting;
    });
}

FlowErrors
ReadKind(const JsonValue& json, const std::vector<FlowErrors>& before)
{
    json.AllowKeys(
        "errors",
        {"executor", "work", "setting", "jobs", "halfWithin", "nineOfTenWithin", "most"});
    FlowErrors kind;
    kind.executor = json.Get("executor").AsName();
    kind.work = json.Get("work").AsName();
    kind.setting = json.Get("setting").AsName();
    if (FindKind(before, kind.executor, kind.work, kind.setting) != before.end())
    {
        json.Fail("is of an executor, work and setting that have errors already");
    }
    kind.jobs = static_cast<uint32_t>(json.Get("jobs").AsWhole(1, MOST_JOBS));
    kind.halfWithin = json.Get("halfWithin").AsNumber(0, MOST_ERROR);
    kind.nineOfTenWithin = json.Get("nineOfTenWithin").AsNumber(kind.halfWithin, MOST_ERROR);
    kind.most = json.Get("most").AsNumber(kind.nineOfTenWithin, MOST_ERROR);
    return kind;
}

} // namespace

std::vector<FlowErrors>
ReadFlowErrors(std::istream& input, const std::string& fileName)
{
    return ReadErrorList(input, fileName, FORMAT, ReadKind);
}

std::string
DescribeFlowErrors(const std::vector<FlowErrors>& errors,
                   const std::string& executor,
                   const std::string& work,
                   const std::string& setting)
{
    if (std::none_of(errors.begin(), errors.end(), [&](const FlowErrors& kind) {
            return kind.executor == executor;
        }))
    {
        return "";
    }
    const std::string what = "random " + work + " on " + setting;
    const auto kind = FindKind(errors, executor, work, setting);
    if (kind == errors.end())
    {
        return "too few " + what + " were compared to say how far '" + executor +
               "' is from packets" + MANUAL;
    }
    const auto percent = [](double share) { return 100 * share; };
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "of " << kind->jobs << " " << what
         << " half take as long as by packets within " << percent(kind->halfWithin)
         << " %, nine of ten within " << percent(kind->nineOfTenWithin) << " %, all within "
         << percent(kind->most) << " %" << MANUAL;
    return text.str();
}

} // namespace proteus
} // namespace ns3
