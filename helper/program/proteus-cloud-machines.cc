/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cloud-machines.h"

#include "ns3/proteus-nearest-name.h"

#include <boost/algorithm/string/predicate.hpp>

namespace ns3
{
namespace proteus
{

const std::vector<CloudMachine>&
GetCloudMachines()
{
    // Where a machine has more NICs than the preset has places, fewer with the same rate in sum.
    // GPUs and network: "Accelerated computing instances" of Amazon EC2, "GPU machine types" of
    // Google Compute Engine, "ND family VM size series" of Azure, "Compute shapes" of Oracle.
    static const std::vector<CloudMachine> machines{
        {{"p3dn.24xlarge", "p3dn"}, "dgx1-v100:nic=1x100G-roce", "efa-v1-2022"},
        {{"p4d.24xlarge", "p4d"}, "dgx-a100:gpu=A100-SXM4-40GB,nic=4x100G-roce", "efa-v1"},
        {{"p4de.24xlarge", "p4de"}, "dgx-a100:nic=4x100G-roce", "efa-v1"},
        {{"p5.48xlarge", "p5"}, "dgx-h100:nic=8x400G-roce", "efa"},
        {{"p5e.48xlarge", "p5e"}, "dgx-h200:nic=8x400G-roce", "efa"},
        {{"p5en.48xlarge", "p5en"}, "dgx-h200:nic=8x400G-roce", "efa-v3"},
        {{"p6-b200.48xlarge", "p6-b200"}, "hgx-b200:nic=8x400G-roce", "efa-v3"},
        {{"p6-b300.48xlarge", "p6-b300"}, "hgx-b300:nic=8x800G-roce", "efa-v3"},
        {{"p6e-gb200.36xlarge", "u-p6e-gb200x72", "p6e-gb200"},
         "gb200-nvl72:nic=400G-roce",
         "efa-v3"},
        {{"a2-highgpu-8g"}, "dgx-a100:gpu=A100-SXM4-40GB,nic=1x100G-roce", ""},
        {{"a2-ultragpu-8g"}, "dgx-a100:nic=1x100G-roce", ""},
        {{"a3-highgpu-8g", "a3-high"}, "dgx-h100:nic=4x200G-roce", ""},
        {{"a3-megagpu-8g", "a3-mega"}, "dgx-h100:nic=8x200G-roce", "fastrak"},
        {{"a3-ultragpu-8g", "a3-ultra"}, "dgx-h200:nic=8x400G-roce", "gib"},
        {{"a4-highgpu-8g", "a4-high", "a4"}, "hgx-b200:nic=8x400G-roce", "gib"},
        {{"a4x-highgpu-4g", "a4x"}, "gb200-nvl72:nic=400G-roce", "gib"},
        {{"a4x-maxgpu-4g-metal", "a4x-max"}, "gb300-nvl72:nic=800G-roce", "gib"},
        {{"g4dn.12xlarge"}, "4xT4:cpu=intel,nic=1x50G-roce", "sockets-aws"},
        {{"g4dn.metal"}, "2x4xT4:cpu=intel,nic=1x100G-roce", "sockets-aws"},
        {{"g5.12xlarge"}, "4xA10G:nic=1x40G-roce", "sockets-aws"},
        {{"g5.48xlarge"}, "2x4xA10G:nic=1x100G-roce", "sockets-aws"},
        {{"g6.48xlarge"}, "2x4xL4:nic=1x100G-roce", "sockets-aws"},
        {{"g6e.12xlarge"}, "4xL40S:nic=1x100G-roce", "sockets-aws"},
        {{"g6e.48xlarge"}, "2x4xL40S:nic=1x400G-roce", "sockets-aws"},
        {{"ND96amsr_A100_v4", "Standard_ND96amsr_A100_v4", "NDm-A100-v4"}, "dgx-a100", ""},
        {{"ND96asr_v4", "Standard_ND96asr_v4", "NDv4", "ND-A100-v4"},
         "dgx-a100:gpu=A100-SXM4-40GB",
         ""},
        {{"ND96isr_H100_v5", "Standard_ND96isr_H100_v5", "NDv5", "ND-H100-v5"}, "dgx-h100", ""},
        {{"ND96isr_H200_v5", "Standard_ND96isr_H200_v5", "ND-H200-v5"}, "dgx-h200", ""},
        {{"ND128isr_NDR_GB200_v6", "Standard_ND128isr_NDR_GB200_v6", "ND-GB200-v6"},
         "gb200-nvl72",
         ""},
        {{"ND128isr_GB300_v6", "Standard_ND128isr_GB300_v6", "ND-GB300-v6"}, "gb300-nvl72", ""},
        {{"BM.GPU4.8"}, "dgx-a100:gpu=A100-SXM4-40GB,nic=8x200G-roce", ""},
        {{"BM.GPU.A100-v2.8"}, "dgx-a100:nic=8x200G-roce", ""},
        {{"BM.GPU.H100.8"}, "dgx-h100:nic=8x400G-roce", ""},
        {{"BM.GPU.H200.8"}, "dgx-h200:nic=8x400G-roce", ""},
        {{"BM.GPU.B200.8"}, "hgx-b200:nic=8x400G-roce", ""},
        {{"BM.GPU.GB200.4"}, "gb200-nvl72:nic=400G-roce", ""},
        // Of computing centres: JSC, CINECA, BSC, CSCS and NERSC, each by its user documentation.
        {{"JUPITER", "JUPITER Booster"}, "quad-gh200", ""},
        {{"JUWELS Booster"}, "hgx-a100-4gpu", ""},
        {{"Leonardo", "Leonardo Booster"},
         "hgx-a100-4gpu:gpu=A100-SXM-64GB,nic=4x100G-infiniband",
         ""},
        {{"MareNostrum 5", "MareNostrum"},
         "hgx-h100-4gpu:gpu=H100-SXM5-64GB,nic=4x200G-infiniband",
         ""},
        {{"Alps"}, "quad-gh200:gpu=GH200-96GB-660W,nic=4x200G-roce", "cxi"},
        // The variables are those of its module nccl-plugin, as public logs of 2024 have them.
        {{"Perlmutter"}, "quad-a100", "cxi", "NCCL_NET_GDR_LEVEL=PHB,NCCL_CROSS_NIC=1"},
    };
    return machines;
}

std::string
DescribeCloudMachine(const std::string& name)
{
    for (const CloudMachine& machine : GetCloudMachines())
    {
        if (!FindAlias(name, machine.names).empty())
        {
            return "no preset is called so; --cluster=" + machine.cluster +
                   (machine.plugin.empty() ? "" : " with --netPlugin=" + machine.plugin) +
                   (machine.variables.empty() ? "" : " and --nccl=" + machine.variables) +
                   " has this machine's GPUs and the rate of its network";
        }
    }
    return "";
}

std::string
DescribeOtherAdapters(const std::string& plugin, const std::string& gpu)
{
    /// Machines of Amazon that have adapters of one generation.
    struct Generation
    {
        std::string gpu;    //!< begin of the model of their GPUs
        std::string plugin; //!< begin of the plug-ins of the generation
        std::string machines;
    };

    static const std::vector<Generation> generations{{"A100-SXM", "efa-v1", "P4d and P4de"},
                                                     {"H100-SXM", "efa", "P5"},
                                                     {"B200", "efa-v3", "P6"},
                                                     {"B300", "efa-v3", "P6"}};
    if (!boost::algorithm::starts_with(plugin, "efa"))
    {
        return "";
    }
    const std::string own = boost::algorithm::starts_with(plugin, "efa-v1")   ? "efa-v1"
                            : boost::algorithm::starts_with(plugin, "efa-v3") ? "efa-v3"
                                                                              : "efa";
    for (const Generation& one : generations)
    {
        if (boost::algorithm::starts_with(gpu, one.gpu) && own != one.plugin)
        {
            return "--netPlugin=" + plugin + " is of other machines than those with these GPUs, " +
                   one.machines + ", which have " + one.plugin;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
