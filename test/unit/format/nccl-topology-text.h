/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TOPOLOGY_TEXT_H
#define PROTEUS_NCCL_TOPOLOGY_TEXT_H

#include "../error-of.h"
#include "corruptions.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-nccl-topology.h"

#include <cstdint>
#include <iostream>
#include <sstream>
#include <streambuf>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * Topologies of NCCL that tests write down.
 */

namespace ns3
{
namespace proteus
{

/// A server with NVSwitches, a CPU link, and NICs of two speeds.
const char* const SWITCHED = R"(<?xml version="1.0"?>
<!-- two GPUs -->
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:07:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:08:00.0" class="0x030200" device="0x2330" link_speed="32 GT/s" link_width="8">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:C4:00.0" count="5" tclass="0x068000"/>
          <nvlink target="0000:c5:00.0" count="4" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:09:00.0" class="0x030200" device="0x2330" link_speed="8.0 GT/s" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:c4:00.0" count="5" tclass="0x068000"/>
          <nvlink target="0000:c5:00.0" count="4" tclass="0x068000"/>
          <c2c bw="25000" count="18"/>
        </gpu>
      </pci>
      <pci busid="0000:0a:00.0" class="0x010802" link_speed="8 GT/s" link_width="4"/>
      <pci busid="0000:0b:00.0" class="0x020700" link_speed="64 GT/s" link_width="16">
        <nic>
          <net name="mlx5_1" dev="1" speed="200000"/>
          <net name="mlx5_2" dev="2" speed="200000"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:0d:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
      <nic><net name="mlx5_0" dev="0" speed="400000"/></nic>
    </pci>
    <nic><net name="eth0" dev="3" speed="10000"/></nic>
  </cpu>
</system>
)";

/// @param text of a topology @param servers of its kind @return the cluster
inline Cluster
Read(const std::string& text, uint32_t servers = 1)
{
    std::istringstream input(text);
    return ReadNcclTopology(input, "t.xml", servers);
}

/// @param text of a topology @return what is wrong with it; "" if nothing is
inline std::string
ErrorOf(const std::string& text)
{
    return ErrorOf([&] { Read(text); });
}

/// @return SWITCHED with a part of it exchanged
inline std::string
Exchange(const std::string& what, const std::string& with)
{
    return Exchange(std::string(SWITCHED), what, with);
}

/// Four GPUs and two NICs as a cloud writes them: no types, no NVLinks.
const char* const CLOUD = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="1:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="2:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="3:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
    <pci busid="4:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
  </cpu>
</system>
)";

/// @return what is printed on the standard error output while a topology is read
inline std::string
WarningsOf(const std::string& text, const std::string& options, uint32_t servers = 1)
{
    std::ostringstream printed;
    std::streambuf* const original = std::cerr.rdbuf(printed.rdbuf());
    std::istringstream input(text);
    ReadNcclTopology(input, "t.xml", servers, FabricOptions(), ParseNcclTopologyOptions(options));
    std::cerr.rdbuf(original);
    return printed.str();
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TOPOLOGY_TEXT_H
