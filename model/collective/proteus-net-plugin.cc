/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-net-plugin.h"

#include "ns3/proteus-comma-list.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

// NCCL's own for InfiniBand and RoCE. It tells no latency (NVIDIA/nccl v2.30.7,
// src/transport/net_ib/init.cc, "Not set").
const NetPluginRegistry::Registration REGISTER_IB("ib", {0, 0});

const std::set<Protocol> ALL{Protocol::LL, Protocol::LL128, Protocol::SIMPLE};
// The same where one core runs the threads of all ranks of a server. Open MPI binds each process to
// a core if there are no more than two, and otherwise to a package or a NUMA node (mpirun(1), 1.8
// to 5.0, "--bind-to"). NCCL keeps its threads to the cores that the process has (v2.30.7,
// ncclTopoGetCpuAffinity() in src/graph/topo.cc), and nccl-tests "might want to let other threads
// (including NCCL threads) use the CPU" (testStreamSynchronize() in src/common.cu).
const NetPluginRegistry::Registration REGISTER_IB_ONE_CORE(
    "ib-one-core",
    {0, 0, ALL, true, "", true, std::nullopt, true});
// NCCL's own for TCP, which tells none either (src/transport/net_socket.cc). What a chunk takes
// longer is that of two T4 of workloads/measurements. It writes into a socket without asking.
// Threads and sockets are those that it takes by the vendor of a NIC, from 2.5 on
// (ncclNetSocketGetNsockNthread()): none beside the proxy's for all but Amazon's (0x1d0f) and
// Google's (0x1ae0). What one flow carries between instances of EC2 is that of a cluster placement
// group; 5 Gb/s outside of one (Amazon EC2 user guide, "Amazon EC2 instance network bandwidth").
// Google and others state none.
const NetPluginRegistry::Registration REGISTER_SOCKETS(
    "sockets",
    {40, 0, ALL, true, "", false, SocketRules()});
const NetPluginRegistry::Registration REGISTER_SOCKETS_AWS(
    "sockets-aws",
    {40, 0, ALL, true, "", false, SocketRules{2, 8, 10e9 / 8}});
const NetPluginRegistry::Registration REGISTER_SOCKETS_GCP(
    "sockets-gcp",
    {40, 0, ALL, true, "", false, SocketRules{4, 1, 0}});

// Elastic Fabric Adapter (aws/aws-ofi-nccl 2daf7d30). src/platform-aws.cpp tells NCCL 75 us on P4d
// to P5e and 35 on P5en and P6. The plug-in's own cost model counts 20 us of a crossing
// (OFI_NCCL_TUNER_NET_LATENCY) where NCCL's counts 14: the difference, 6, is what the software of
// a chunk takes longer. A message of 8 bytes takes 15 us through the adapters up to P5 (OSU
// latency on c5n, aws/aws-parallelcluster, issue 1143), of which some 2 are those of any RDMA; what
// is left, 13, is the adapter's. Of those of P5en and P6 no such number is known.
// On P4d and P4de, whose adapters do not keep 128 bytes in order, it sets NCCL_PROTO=simple
// (platform_config_endpoint(), configure_nccl_proto(): "not safe, such as on P4d/P4e").
const NetPluginRegistry::Registration REGISTER_EFA_V1("efa-v1", {19, 75, {Protocol::SIMPLE}});
// Up to 1.6 of April 2023 the plug-in told 150 us of all adapters (v1.2.0-aws to v1.6.0,
// src/nccl_ofi_net.c, set_nic_props_default() and its forerunners), and there was no P5 yet. Of
// P3dn it tells that still (2daf7d30, src/platform-aws.cpp, platform_data_list).
const NetPluginRegistry::Registration REGISTER_EFA_V1_2022("efa-v1-2022",
                                                           {19, 150, {Protocol::SIMPLE}});
const NetPluginRegistry::Registration REGISTER_EFA("efa", {19, 75});
const NetPluginRegistry::Registration REGISTER_EFA_V3("efa-v3", {6, 35});
// From 1.9 of April 2024 on it sets chunks of NVLS on all platforms (v1.9.0-aws,
// src/platform-aws.c, platform_init(); v1.8.0-aws has that of trees), which matter from P5 on, and
// from 1.16 of June 2025 on buffers and chunks of messages as well (v1.16.0, src/platform-aws.cpp,
// platform_data_map; v1.15.0 does not).
const char* const SINCE_1_9 = "NCCL_NVLSTREE_MAX_CHUNKSIZE=512K,NCCL_NVLS_CHUNKSIZE=512K";
const char* const SINCE_1_16 = "NCCL_NVLSTREE_MAX_CHUNKSIZE=512K,NCCL_NVLS_CHUNKSIZE=512K,"
                               "NCCL_BUFFSIZE=8M,NCCL_P2P_NET_CHUNKSIZE=512K";
const NetPluginRegistry::Registration REGISTER_EFA_1_9("efa-1.9", {19, 75, ALL, true, SINCE_1_9});
const NetPluginRegistry::Registration REGISTER_EFA_1_16("efa-1.16",
                                                        {19, 75, ALL, true, SINCE_1_16});
const NetPluginRegistry::Registration REGISTER_EFA_V1_1_16(
    "efa-v1-1.16",
    {19, 75, {Protocol::SIMPLE}, true, "NCCL_BUFFSIZE=8M,NCCL_P2P_NET_CHUNKSIZE=512K"});
const NetPluginRegistry::Registration REGISTER_EFA_V3_1_16("efa-v3-1.16",
                                                           {6, 35, ALL, true, SINCE_1_16});

// HPE Slingshot by aws-ofi-nccl ("AWS Libfabric" to NCCL) over libfabric's provider cxi. It tells
// 0: since 1.6 of April 2023 what it says of EFA is said of nothing else (v1.6.0,
// src/nccl_ofi_net.c, set_nic_props_default(), IS_EFA_PROVIDER; v1.7.4-aws, net_latency; 2daf7d30,
// include/nccl_ofi_param.h, NET_LATENCY), and releases up to 1.4 without "-aws" in their names tell
// nothing at all (v1.2.0 to v1.4.0). Those with it told 150 us wherever they ran (v1.3.0-aws to
// v1.5.0-aws). It sets no variables. What a chunk takes longer is not known; small sizes of Alps
// leave no room for any.
const NetPluginRegistry::Registration REGISTER_CXI("cxi", {0, 0});
const NetPluginRegistry::Registration REGISTER_CXI_2022("cxi-2022", {0, 150});

// Google's gIB, NCCL's own network for RoCE with the settings of A3 Ultra, A4 and A4X: those of its
// set_nccl_env.sh, as Google's nccl-plugin-gib-diagnostic images and their users write them out.
// What its tuner (NCCL_TUNER_CONFIG_PATH) chooses is not public.
const NetPluginRegistry::Registration REGISTER_GIB(
    "gib",
    {0,
     0,
     ALL,
     true,
     "NCCL_CROSS_NIC=0,NCCL_NET_GDR_LEVEL=PIX,NCCL_P2P_NET_CHUNKSIZE=128K,"
     "NCCL_P2P_PCI_CHUNKSIZE=128K,NCCL_P2P_NVL_CHUNKSIZE=512K,NCCL_NVLS_CHUNKSIZE=512K"});

// GPUDirect-TCPXO (FasTrak) of Google's A3 Mega, whose source is not public: what a chunk takes
// longer is that of the all-gather of workloads/measurements, whose small sizes take what LL takes;
// what it tells NCCL is not known. Before May 2025, and in the profile "simple" since, its
// checker enforces NCCL_PROTO=Simple, NCCL_ALGO=Ring,Tree and NCCL_NVLS_ENABLE=0
// (GoogleCloudPlatform/container-engine-accelerators, gpudirect-tcpxo/README.md, release notes).
const NetPluginRegistry::Registration REGISTER_FASTRAK("fastrak", {28, 0});
const NetPluginRegistry::Registration REGISTER_FASTRAK_SIMPLE("fastrak-simple",
                                                              {28, 0, {Protocol::SIMPLE}, false});

} // namespace

NcclVariables
GetNcclVariables(const std::string& plugin, const std::string& text, uint32_t version)
{
    return ParseNcclVariables(text,
                              version,
                              ParseNcclVariables(FindNetPlugin(plugin).variables, version));
}

std::string
ListNetPlugins()
{
    return ListNames(NetPluginRegistry::Get().GetNames());
}

const NetPlugin&
FindNetPlugin(const std::string& name)
{
    const NetPlugin* plugin = NetPluginRegistry::Get().Find(name.empty() ? "ib" : name);
    if (!plugin)
    {
        throw std::invalid_argument("unknown plug-in of the network \"" + name + "\"; known are " +
                                    ListNetPlugins());
    }
    return *plugin;
}

} // namespace proteus
} // namespace ns3
