/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-costs-option.h"

#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-kernel-costs-json.h"
#include "ns3/proteus-packet-network.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param a numbers of a generation @param b the same of another table @return whether they agree
bool
AreEqual(const CollectiveGeneration& a, const CollectiveGeneration& b)
{
    const auto& fields = GetCollectiveCostFields();
    return std::all_of(fields.begin(), fields.end(), [&](const CollectiveCostField& field) {
        return std::equal(
            (a.*field.row).begin(),
            (a.*field.row).end(),
            (b.*field.row).begin(),
            [](const SourcedNumber& x, const SourcedNumber& y) { return x.value == y.value; });
    });
}

/// @param table of numbers @param cluster with GPUs @return whether none of them, and no launch,
/// costs anything else than is built in
bool
ChangesNothing(const CollectiveCostTable& table, const Cluster& cluster)
{
    const CollectiveCostTable& builtIn = GetBuiltInCollectiveCostTable();
    for (const CollectiveLaunchField& field : GetCollectiveLaunchFields())
    {
        if ((table.launch.*field.number).value != (builtIn.launch.*field.number).value)
        {
            return false;
        }
    }
    std::set<uint32_t> capabilities;
    for (const VertexId gpu : cluster.GetGpus())
    {
        capabilities.insert(FindComputeCapability(cluster.GetVertices()[gpu].model));
    }
    return std::all_of(capabilities.begin(), capabilities.end(), [&](uint32_t capability) {
        std::size_t i = table.generations.size() - 1;
        while (table.generations[i].firstCapability > capability)
        {
            --i;
        }
        return AreEqual(table.generations[i], builtIn.generations[i]);
    });
}

} // namespace

void
KernelCostsOption::AddTo(OptionList& command, const std::function<Cluster()>& cluster)
{
    command.AddValue("kernelCosts",
                     "costs of NCCL's kernels, a JSON file; what it leaves out is as it is built "
                     "in, which proteus-validate --saveKernelCosts=FILE writes",
                     file);
    command.AddInput("kernelCosts");
    command.AddIdle("kernelCosts", []() -> std::string {
        return IsOn(PacketNetwork::GetTypeId(), "KernelCosts")
                   ? ""
                   : "--ns3::proteus::PacketNetwork::KernelCosts=false leaves them out";
    });
    if (cluster)
    {
        command.AddIdle("kernelCosts", [this, cluster]() {
            return ChangesNothing(LoadTable(), cluster())
                       ? "what it says of these GPUs is as it is built in"
                       : "";
        });
    }
}

CollectiveCostTable
KernelCostsOption::LoadTable() const
{
    if (file.empty())
    {
        return GetBuiltInCollectiveCostTable();
    }
    InputFile input(file);
    return ReadKernelCostsJson(input.GetStream(), file);
}

std::shared_ptr<const CollectiveCosts>
KernelCostsOption::Load() const
{
    return file.empty() ? nullptr : std::make_shared<const CollectiveCosts>(LoadTable());
}

} // namespace proteus
} // namespace ns3
