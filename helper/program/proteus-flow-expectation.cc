/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-expectation.h"

#include "proteus-outer-links.h"

#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-flow-errors.h"
#include "ns3/proteus-input-file.h"

namespace ns3
{
namespace proteus
{

std::string
GetFlowErrorsFile(const std::string& workloads)
{
    return workloads + "/evaluation/flow-errors.json";
}

std::vector<std::string>
DescribeFlowRun(const std::string& path,
                const std::string& work,
                const Cluster& cluster,
                const RunRecord& record)
{
    const std::vector<LinkId> crossed = record.crossed.value_or(std::vector<LinkId>());
    if (path.empty() || record.isPartial || crossed.empty() || !FindChangedEngineSettings().empty())
    {
        return {};
    }
    InputFile file(path);
    const std::string line = DescribeFlowErrors(ReadFlowErrors(file.GetStream(), path),
                                                record.executor,
                                                work,
                                                FindFlowSetting(cluster, crossed));
    return line.empty() ? std::vector<std::string>() : std::vector<std::string>{line};
}

} // namespace proteus
} // namespace ns3
