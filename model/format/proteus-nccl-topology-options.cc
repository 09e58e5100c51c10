/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-topology.h"
#include "proteus-nccl-values.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-split.h"

#include <boost/algorithm/string/predicate.hpp>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param typed name of a GPU, in any case @return name of its data sheet
std::string
FindModel(const std::string& typed)
{
    std::string known;
    for (const std::string& model : GetGpuModels())
    {
        if (boost::algorithm::iequals(model, typed))
        {
            return model;
        }
        AppendName(known, model);
    }
    throw std::invalid_argument("gpu=" + typed + ": there is no data sheet of it; known: " + known);
}

} // namespace

NcclTopologyOptions
ParseNcclTopologyOptions(const std::string& text)
{
    NcclTopologyOptions options;
    for (const auto& [key, value] :
         SplitSettings("behind an NCCL topology: " + text, text, "gpu=A100-SXM4-40GB"))
    {
        if (key == "gpu")
        {
            options.gpu = FindModel(value);
        }
        else if (key == "nvlink" && (value == "nvswitch" || value == "none"))
        {
            options.nvlink = value;
        }
        else if (key == "gdr" && (value == "on" || value == "off"))
        {
            options.gdr = value;
        }
        else if (key == "p2p" && (value == "on" || value == "off"))
        {
            options.peers = value;
        }
        else
        {
            throw std::invalid_argument(
                "'" + key + "=" + value +
                "': behind an NCCL topology there can be gpu=MODEL, "
                "nvlink=nvswitch or nvlink=none, gdr=on or gdr=off, and p2p=on or p2p=off, e.g. "
                "topo.xml:gpu=A100-SXM4-40GB,nvlink=nvswitch");
        }
    }
    return options;
}

} // namespace proteus
} // namespace ns3
