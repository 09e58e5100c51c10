/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-expectation.h"

#include "proteus-outer-links.h"

#include "ns3/proteus-flow-errors.h"
#include "ns3/proteus-input-file.h"

namespace ns3
{
namespace proteus
{

std::string
FindComparedSetting(const Cluster& cluster,
                    const RunRecord& record,
                    const std::vector<EngineSetting>& changed)
{
    const std::vector<LinkId> crossed = record.crossed.value_or(std::vector<LinkId>());
    return record.isPartial || crossed.empty() || !changed.empty()
               ? ""
               : FindFlowSetting(cluster, crossed);
}

std::string
DescribeFlowDistance(const std::string& workloads,
                     const std::string& executor,
                     const std::string& work,
                     const std::string& setting)
{
    if (workloads.empty() || setting.empty())
    {
        return "";
    }
    const std::string path = workloads + "/evaluation/flow-errors.json";
    InputFile file(path);
    return DescribeFlowErrors(ReadFlowErrors(file.GetStream(), path), executor, work, setting);
}

} // namespace proteus
} // namespace ns3
