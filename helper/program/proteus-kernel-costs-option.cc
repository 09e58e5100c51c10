/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-costs-option.h"

#include "ns3/boolean.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-kernel-costs-json.h"
#include "ns3/proteus-packet-network.h"

namespace ns3
{
namespace proteus
{

void
KernelCostsOption::AddTo(OptionList& command)
{
    command.AddValue("kernelCosts",
                     "costs of NCCL's kernels, a JSON file; what it leaves out is as it is built "
                     "in, which proteus-validate --saveKernelCosts=FILE writes",
                     file);
    command.AddIdle("kernelCosts", []() -> std::string {
        TypeId::AttributeInformation information;
        PacketNetwork::GetTypeId().LookupAttributeByName("KernelCosts", &information);
        const auto value = DynamicCast<const BooleanValue>(information.initialValue);
        return value && !value->Get()
                   ? "--ns3::proteus::PacketNetwork::KernelCosts=false leaves them out"
                   : "";
    });
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
