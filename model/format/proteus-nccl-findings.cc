/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-findings.h"

#include "proteus-nccl-doubts.h"
#include "proteus-nccl-values.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::vector<std::string>
DescribeFindings(const NcclFindings& findings,
                 const XmlDocument& document,
                 const std::string& fileName,
                 uint32_t servers)
{
    std::vector<std::string> warnings;
    const auto warn = [&](const std::string& text) { warnings.push_back(fileName + ": " + text); };
    for (const std::string& maker : findings.unknownMakers)
    {
        warn("unknown CPUs, taken as NCCL takes them, with 6 GB/s between them: " + maker);
    }
    if (findings.withoutRdma > 0 && servers > 1)
    {
        warn("gdr=\"0\" (of " + FormatThings(findings.withoutRdma, "device") +
             ") is not heeded: NICs that share a PCIe switch with a GPU read and write the memory "
             "of GPUs (GPUDirect RDMA); to say so, add gdr=on, and gdr=off if all goes by way of "
             "the memory of the host: " +
             fileName + ":gdr=off");
    }
    if (!findings.lostTargets.empty())
    {
        warn("NVLinks to " + FormatThings(findings.lostTargets.size(), "GPU") +
             " that the file does not have, such as " + QuotedText(*findings.lostTargets.begin()) +
             ", are left out");
    }
    if (!findings.oneSided.empty())
    {
        warn(FormatThings(findings.oneSided.size(), "NVLink") +
             " that one of both GPUs does not list, taken for both directions: " +
             (findings.oneSided.size() > 1 ? "the first is" : "it is") + " in line " +
             std::to_string(*std::min_element(findings.oneSided.begin(), findings.oneSided.end())));
    }
    if (findings.devs.size() < findings.gpus)
    {
        warn("several GPUs have the same dev: these are ranked in "
             "the order of the file");
    }
    if (findings.guessedNics > 0 && servers > 1)
    {
        warn("does not say the speed of " + FormatThings(findings.guessedNics, "NIC") +
             ", taken for " + FormatCount(findings.guessedGbps) +
             " Gb/s by the generation of PCIe; <nic><net speed=\"MBITS\"/></nic> within its pci "
             "says it");
    }
    if (!findings.repeatedNics.empty())
    {
        warn("lists " + QuotedText(*findings.repeatedNics.begin()) +
             (findings.repeatedNics.size() > 1 ? " and others" : "") +
             " below several CPUs, which is one NIC and is taken for that of the first");
    }
    if (findings.unlinkedGpus > 0 && findings.unlinkedGpus < findings.gpus && findings.hasNvlinks)
    {
        warn(FormatThings(findings.unlinkedGpus, "GPU") +
             " without an NVLink, beside others that have some");
    }
    if (!findings.crowded.empty())
    {
        warn("more NVLinks than a GPU of its kind has: " + findings.crowded);
    }
    for (const std::string& doubt : FindNcclDoubts(document))
    {
        warn(doubt);
    }
    if (findings.nicsLeftOut > 0 && servers > 1)
    {
        warn(FormatThings(findings.nicsLeftOut, "NIC") +
             " left out, slower than the fastest one, or of another technology");
    }
    const std::string* version = document.GetRoot().Find("version");
    if (version == nullptr)
    {
        warn("does not say its version; known is 1, as which it is read");
    }
    else if (*version != "1")
    {
        warn("is of version " + QuotedText(*version) + "; known is 1, as which it is read");
    }
    const std::string unknown = document.DescribeUnknown(GetNcclFormat());
    if (!unknown.empty())
    {
        warn("unknown, and not read: " + unknown);
    }
    for (const auto& [reason, model] : findings.guesses)
    {
        warn("does not say which GPUs it has; taken for " + model->sheet.model + " by " + reason +
             "; to say it, add gpu=MODEL: " + fileName + ":gpu=" + model->sheet.model);
    }
    if (findings.mayHaveNvlinks)
    {
        warn("has no NVLinks, so that its GPUs talk over PCIe; if they have "
             "some, add nvlink=nvswitch, otherwise nvlink=none: " +
             fileName + ":nvlink=nvswitch");
    }
    return warnings;
}

} // namespace proteus
} // namespace ns3
