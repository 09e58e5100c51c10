/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Variables that change no time here, and those that cannot be honoured.

#include "proteus-nccl-variables.h"

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = NcclVariableRegistry::Registration;

/// @param reason why it does nothing @return the variable
NcclVariable
MakeIdle(const char* reason)
{
    NcclVariable variable;
    variable.idle = reason;
    return variable;
}

/// @param reason why it cannot be honoured @return the variable
NcclVariable
MakeUnread(const char* reason)
{
    NcclVariable variable;
    variable.unread = reason;
    return variable;
}

const char* const PRINTS = "it says what NCCL prints and checks";
const char* const STARTS = "it is about how communicators are made, which takes no time here";
const char* const RETRIES = "it is about failures of the network, of which there are none here";
const char* const ONE_PAIR = "a connection has one queue pair here";
const char* const HOST = "the host's own times are those of --launchMode";
const char* const REGISTERED = "buffers of users are not registered here";
const char* const NICS = "which NICs a GPU has, and what each carries, is said by --cluster";
const char* const ADDRESSES = "addresses of NICs have no versions here";
const char* const ROUTING = "how the fabric routes and orders packets is an attribute of its own";
const char* const MEMORY = "how memory is registered with a NIC takes no time here";
const char* const FLUSHES = "that what a NIC wrote is seen is part of the latency of a step";
const char* const SOCKET_BUFFERS = "sockets have all the room that they need here";
const char* const UNMODELLED = "it is not modelled";
const char* const DOMAINS = "servers are one domain of NVLink where the cluster has it so";

const Registration REGISTER_DEBUG("NCCL_DEBUG", MakeIdle(PRINTS));
const Registration REGISTER_DEBUG_FILE("NCCL_DEBUG_FILE", MakeIdle(PRINTS));
const Registration REGISTER_DEBUG_SUBSYS("NCCL_DEBUG_SUBSYS", MakeIdle(PRINTS));
const Registration REGISTER_CHECK_POINTERS("NCCL_CHECK_POINTERS", MakeIdle(PRINTS));
const Registration REGISTER_TOPO_DUMP_FILE("NCCL_TOPO_DUMP_FILE", MakeIdle(PRINTS));
const Registration REGISTER_GRAPH_DUMP_FILE("NCCL_GRAPH_DUMP_FILE", MakeIdle(PRINTS));
const Registration REGISTER_NVTX_DISABLE("NCCL_NVTX_DISABLE", MakeIdle(PRINTS));
const Registration REGISTER_RAS_ENABLE("NCCL_RAS_ENABLE", MakeIdle(PRINTS));

const Registration REGISTER_COMM_ID("NCCL_COMM_ID", MakeIdle(STARTS));
const Registration REGISTER_COMM_BLOCKING("NCCL_COMM_BLOCKING", MakeIdle(STARTS));
const Registration REGISTER_HOSTID("NCCL_HOSTID", MakeIdle(STARTS));
const Registration REGISTER_OOB_NET_ENABLE("NCCL_OOB_NET_ENABLE", MakeIdle(STARTS));
const Registration REGISTER_OOB_NET_IFNAME("NCCL_OOB_NET_IFNAME", MakeIdle(STARTS));
const Registration REGISTER_RUNTIME_CONNECT("NCCL_RUNTIME_CONNECT", MakeIdle(STARTS));
const Registration REGISTER_SOCKET_FAMILY("NCCL_SOCKET_FAMILY", MakeIdle(STARTS));
const Registration REGISTER_SET_STACK_SIZE("NCCL_SET_STACK_SIZE", MakeIdle(STARTS));
const Registration REGISTER_CUMEM_ENABLE("NCCL_CUMEM_ENABLE", MakeIdle(STARTS));
const Registration REGISTER_SOCKET_IFNAME(
    "NCCL_SOCKET_IFNAME",
    MakeIdle("the NICs are those of the cluster, whatever they are called"));

const Registration REGISTER_IB_TIMEOUT("NCCL_IB_TIMEOUT", MakeIdle(RETRIES));
const Registration REGISTER_IB_RETRY_CNT("NCCL_IB_RETRY_CNT", MakeIdle(RETRIES));
const Registration REGISTER_IB_GID_INDEX("NCCL_IB_GID_INDEX", MakeIdle(ADDRESSES));
const Registration REGISTER_IB_ROCE_VERSION_NUM("NCCL_IB_ROCE_VERSION_NUM", MakeIdle(ADDRESSES));
const Registration REGISTER_IB_QPS_PER_CONNECTION("NCCL_IB_QPS_PER_CONNECTION", MakeIdle(ONE_PAIR));
const Registration REGISTER_IB_SPLIT_DATA_ON_QPS("NCCL_IB_SPLIT_DATA_ON_QPS", MakeIdle(ONE_PAIR));
const Registration REGISTER_IB_PCI_RELAXED_ORDERING(
    "NCCL_IB_PCI_RELAXED_ORDERING",
    MakeIdle("writes over PCI Express do not wait for each other here"));
const Registration REGISTER_IB_TC(
    "NCCL_IB_TC",
    MakeIdle("traffic classes of the fabric are an attribute, TrafficClasses"));
const Registration REGISTER_IB_SL(
    "NCCL_IB_SL",
    MakeIdle("traffic classes of the fabric are an attribute, TrafficClasses"));

const Registration REGISTER_IGNORE_CPU_AFFINITY("NCCL_IGNORE_CPU_AFFINITY", MakeIdle(HOST));
const Registration REGISTER_LAUNCH_MODE("NCCL_LAUNCH_MODE", MakeIdle(HOST));
const Registration REGISTER_GRAPH_REGISTER("NCCL_GRAPH_REGISTER", MakeIdle(REGISTERED));
const Registration REGISTER_LOCAL_REGISTER("NCCL_LOCAL_REGISTER", MakeIdle(REGISTERED));
const char* const NETWORK = "--netPlugin says it: ib, sockets (\"Socket\"), efa and its kin (\"AWS "
                            "Libfabric\" on EFA), cxi "
                            "(the same on Slingshot), gib, fastrak";
const Registration REGISTER_NET("NCCL_NET", MakeUnread(NETWORK));
const Registration REGISTER_NET_PLUGIN("NCCL_NET_PLUGIN", MakeUnread(NETWORK));
const Registration REGISTER_IB_DISABLE("NCCL_IB_DISABLE",
                                       {[](const std::string& value, NcclVariables&) {
                                           if (ReadNcclNumber(value, 0, 1) == 1)
                                           {
                                               throw std::invalid_argument(
                                                   "--netPlugin=sockets says it");
                                           }
                                       }});
const Registration REGISTER_IB_HCA(
    "NCCL_IB_HCA",
    MakeUnread("the NICs are those of the cluster; --cluster says which, as in "
               "--cluster=dgx-h100:nic=4x400G-ib"));
const Registration REGISTER_TOPO_FILE("NCCL_TOPO_FILE", MakeUnread("--cluster=FILE says it"));
const Registration REGISTER_GRAPH_FILE(
    "NCCL_GRAPH_FILE",
    MakeUnread("rings and trees are always searched; --msccl has schedules of one's own"));
const Registration REGISTER_TUNER_PLUGIN("NCCL_TUNER_PLUGIN",
                                         MakeUnread("only NCCL's own tuner is modelled"));
const Registration REGISTER_THREAD_THRESHOLDS("NCCL_THREAD_THRESHOLDS",
                                              MakeUnread("it is not modelled"));
const Registration REGISTER_IGNORE_DISABLED_P2P(
    "NCCL_IGNORE_DISABLED_P2P",
    MakeUnread("what devices do not let pass is said by peer_to_peer in a file of --cluster"));
const Registration REGISTER_MNNVL_ENABLE("NCCL_MNNVL_ENABLE", MakeUnread(DOMAINS));

const Registration REGISTER_IB_ADAPTIVE_ROUTING("NCCL_IB_ADAPTIVE_ROUTING", MakeIdle(ROUTING));
const Registration REGISTER_IB_AR_THRESHOLD("NCCL_IB_AR_THRESHOLD", MakeIdle(ROUTING));
const Registration REGISTER_IB_OOO_RQ("NCCL_IB_OOO_RQ", MakeIdle(ROUTING));
const Registration REGISTER_IB_RECEIVER_SIDE_MATCHING_SCHEME(
    "NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME",
    MakeIdle(ROUTING));
const Registration REGISTER_IB_PREPOST_RECEIVE_WORK_REQUESTS(
    "NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS",
    MakeIdle(ROUTING));
const Registration REGISTER_IB_SUBNET_AWARE_ROUTING("NCCL_IB_SUBNET_AWARE_ROUTING",
                                                    MakeIdle(ROUTING));
const Registration REGISTER_IB_FIFO_TC(
    "NCCL_IB_FIFO_TC",
    MakeIdle("traffic classes of the fabric are an attribute, TrafficClasses"));
const Registration REGISTER_IB_ADDR_FAMILY("NCCL_IB_ADDR_FAMILY", MakeIdle(ADDRESSES));
const Registration REGISTER_IB_ADDR_RANGE("NCCL_IB_ADDR_RANGE", MakeIdle(ADDRESSES));
const Registration REGISTER_IB_PKEY("NCCL_IB_PKEY", MakeIdle(ADDRESSES));
const Registration REGISTER_IB_ECE_ENABLE("NCCL_IB_ECE_ENABLE", MakeIdle(PRINTS));
const Registration REGISTER_IB_RETURN_ASYNC_EVENTS("NCCL_IB_RETURN_ASYNC_EVENTS", MakeIdle(PRINTS));
const Registration REGISTER_IB_WARN_RAIL_LOCAL("NCCL_IB_WARN_RAIL_LOCAL", MakeIdle(PRINTS));
const Registration REGISTER_CHECKS_DISABLE("NCCL_CHECKS_DISABLE", MakeIdle(PRINTS));
const Registration REGISTER_PROFILER_PLUGIN("NCCL_PROFILER_PLUGIN", MakeIdle(PRINTS));
const Registration REGISTER_DEBUG_TIMESTAMP_FORMAT("NCCL_DEBUG_TIMESTAMP_FORMAT", MakeIdle(PRINTS));
const Registration REGISTER_DEBUG_TIMESTAMP_LEVELS("NCCL_DEBUG_TIMESTAMP_LEVELS", MakeIdle(PRINTS));
const Registration REGISTER_WARN_ENABLE_DEBUG_INFO("NCCL_WARN_ENABLE_DEBUG_INFO", MakeIdle(PRINTS));
const Registration REGISTER_DMABUF_ENABLE("NCCL_DMABUF_ENABLE", MakeIdle(MEMORY));
const Registration REGISTER_IB_DATA_DIRECT("NCCL_IB_DATA_DIRECT", MakeIdle(MEMORY));
const Registration REGISTER_CUMEM_HOST_ENABLE("NCCL_CUMEM_HOST_ENABLE", MakeIdle(MEMORY));
const Registration REGISTER_LEGACY_CUDA_REGISTER("NCCL_LEGACY_CUDA_REGISTER", MakeIdle(MEMORY));
const Registration REGISTER_GDRCOPY_ENABLE("NCCL_GDRCOPY_ENABLE", MakeIdle(FLUSHES));
const Registration REGISTER_GDRCOPY_FLUSH_ENABLE("NCCL_GDRCOPY_FLUSH_ENABLE", MakeIdle(FLUSHES));
const Registration REGISTER_GDR_FLUSH_DISABLE("NCCL_GDR_FLUSH_DISABLE", MakeIdle(FLUSHES));
const Registration REGISTER_NET_FORCE_FLUSH("NCCL_NET_FORCE_FLUSH", MakeIdle(FLUSHES));
const Registration REGISTER_IB_USE_INLINE("NCCL_IB_USE_INLINE", MakeIdle(FLUSHES));
const Registration REGISTER_NET_OPTIONAL_RECV_COMPLETION("NCCL_NET_OPTIONAL_RECV_COMPLETION",
                                                         MakeIdle(FLUSHES));
const Registration REGISTER_SOCKET_SNDBUF("NCCL_SOCKET_SNDBUF", MakeIdle(SOCKET_BUFFERS));
const Registration REGISTER_SOCKET_RCVBUF("NCCL_SOCKET_RCVBUF", MakeIdle(SOCKET_BUFFERS));
const Registration REGISTER_SOCKET_RETRY_CNT("NCCL_SOCKET_RETRY_CNT", MakeIdle(RETRIES));
const Registration REGISTER_SOCKET_RETRY_SLEEP_MSEC("NCCL_SOCKET_RETRY_SLEEP_MSEC",
                                                    MakeIdle(RETRIES));
const Registration REGISTER_PROXY_CPUSET("NCCL_PROXY_CPUSET", MakeIdle(HOST));
const Registration REGISTER_GRAPH_MIXING_SUPPORT("NCCL_GRAPH_MIXING_SUPPORT", MakeIdle(HOST));
const Registration REGISTER_WORK_FIFO_DEPTH("NCCL_WORK_FIFO_DEPTH", MakeIdle(HOST));
const Registration REGISTER_WORK_FIFO_BYTES("NCCL_WORK_FIFO_BYTES", MakeIdle(HOST));
const Registration REGISTER_SET_THREAD_NAME("NCCL_SET_THREAD_NAME", MakeIdle(HOST));
const Registration REGISTER_SINGLE_PROC_MEM_REG_ENABLE("NCCL_SINGLE_PROC_MEM_REG_ENABLE",
                                                       MakeIdle(REGISTERED));
const Registration REGISTER_WIN_ENABLE("NCCL_WIN_ENABLE", MakeIdle(REGISTERED));
const Registration REGISTER_NETDEVS_POLICY("NCCL_NETDEVS_POLICY", MakeUnread(NICS));
const Registration REGISTER_IB_MERGE_NICS("NCCL_IB_MERGE_NICS", MakeUnread(NICS));
const Registration REGISTER_IB_MERGE_VFS("NCCL_IB_MERGE_VFS", MakeUnread(NICS));
const Registration REGISTER_NET_FORCE_MERGE("NCCL_NET_FORCE_MERGE", MakeUnread(NICS));
const Registration REGISTER_NET_MERGE_LEVEL("NCCL_NET_MERGE_LEVEL", MakeUnread(NICS));
const Registration REGISTER_CONF_FILE("NCCL_CONF_FILE", MakeUnread("its lines can be given here"));
const Registration REGISTER_RINGS(
    "NCCL_RINGS",
    MakeUnread("rings and trees are always searched; --msccl has schedules of one's own"));
const Registration REGISTER_CTA_POLICY("NCCL_CTA_POLICY", MakeUnread(UNMODELLED));
const Registration REGISTER_NET_GDR_C2C("NCCL_NET_GDR_C2C", MakeUnread(UNMODELLED));
const Registration REGISTER_PXN_C2C("NCCL_PXN_C2C", MakeUnread(UNMODELLED));
const Registration REGISTER_P2P_READ_ENABLE("NCCL_P2P_READ_ENABLE", MakeUnread(UNMODELLED));
const Registration REGISTER_P2P_DIRECT_DISABLE("NCCL_P2P_DIRECT_DISABLE", MakeUnread(UNMODELLED));
const Registration REGISTER_P2P_USE_CUDA_MEMCPY("NCCL_P2P_USE_CUDA_MEMCPY", MakeUnread(UNMODELLED));
const Registration REGISTER_SHM_USE_CUDA_MEMCPY("NCCL_SHM_USE_CUDA_MEMCPY", MakeUnread(UNMODELLED));
const Registration REGISTER_SHM_LOCALITY("NCCL_SHM_LOCALITY", MakeUnread(UNMODELLED));
const Registration REGISTER_NVB_DISABLE("NCCL_NVB_DISABLE", MakeUnread(UNMODELLED));
const Registration REGISTER_NET_SHARED_BUFFERS("NCCL_NET_SHARED_BUFFERS", MakeUnread(UNMODELLED));
const Registration REGISTER_CHUNK_SIZE("NCCL_CHUNK_SIZE", MakeUnread(UNMODELLED));

const char* const COLLNET =
    "sums in switches are asked for by --algorithm=sharp or sharp-chain, for any number of servers";
const char* const PYTORCH = "PyTorch reads it, and it is about errors and their reports";
const char* const GDR_LEVEL = "NCCL has not read it since 2.4, where NCCL_NET_GDR_LEVEL says it";
const char* const GIVEN = "what it sets can be given here";

const Registration REGISTER_RAS_ADDR("NCCL_RAS_ADDR", MakeIdle(PRINTS));
const Registration REGISTER_RAS_TIMEOUT_FACTOR("NCCL_RAS_TIMEOUT_FACTOR", MakeIdle(PRINTS));
const Registration REGISTER_TOPO_DUMP_FILE_RANK("NCCL_TOPO_DUMP_FILE_RANK", MakeIdle(PRINTS));
const Registration REGISTER_REPORT_CONNECT_PROGRESS("NCCL_REPORT_CONNECT_PROGRESS",
                                                    MakeIdle(PRINTS));
const Registration REGISTER_PROXY_DUMP_SIGNAL("NCCL_PROXY_DUMP_SIGNAL", MakeIdle(PRINTS));
const Registration REGISTER_UID_STAGGER_RATE("NCCL_UID_STAGGER_RATE", MakeIdle(STARTS));
const Registration REGISTER_UID_STAGGER_THRESHOLD("NCCL_UID_STAGGER_THRESHOLD", MakeIdle(STARTS));
const Registration REGISTER_IPC_USE_ABSTRACT_SOCKET("NCCL_IPC_USE_ABSTRACT_SOCKET",
                                                    MakeIdle(STARTS));
const Registration REGISTER_COMM_SPLIT_SHARE_RESOURCES("NCCL_COMM_SPLIT_SHARE_RESOURCES",
                                                       MakeIdle(STARTS));
const Registration REGISTER_COMM_SHRINK_SHARE_RESOURCES("NCCL_COMM_SHRINK_SHARE_RESOURCES",
                                                        MakeIdle(STARTS));
const Registration REGISTER_CREATE_THREAD_CONTEXT("NCCL_CREATE_THREAD_CONTEXT", MakeIdle(STARTS));
const Registration REGISTER_SET_CPU_STACK_SIZE("NCCL_SET_CPU_STACK_SIZE", MakeIdle(STARTS));
const Registration REGISTER_CONNECT_ROUND_MAX_PEERS("NCCL_CONNECT_ROUND_MAX_PEERS",
                                                    MakeIdle(STARTS));
const Registration REGISTER_LAUNCH_ORDER_IMPLICIT("NCCL_LAUNCH_ORDER_IMPLICIT", MakeIdle(HOST));
const Registration REGISTER_LAUNCH_RACE_FATAL("NCCL_LAUNCH_RACE_FATAL", MakeIdle(HOST));
const Registration REGISTER_GRAPH_HELPER_DISABLE("NCCL_GRAPH_HELPER_DISABLE", MakeIdle(HOST));
const Registration REGISTER_GRAPH_STREAM_ORDERING("NCCL_GRAPH_STREAM_ORDERING", MakeIdle(HOST));
const Registration REGISTER_WORK_ARGS_BYTES("NCCL_WORK_ARGS_BYTES", MakeIdle(HOST));
const Registration REGISTER_GDRCOPY_SYNC_ENABLE("NCCL_GDRCOPY_SYNC_ENABLE", MakeIdle(FLUSHES));
const Registration REGISTER_GDRCOPY_FIFO_ENABLE("NCCL_GDRCOPY_FIFO_ENABLE", MakeIdle(FLUSHES));
const Registration REGISTER_MEM_SYNC_DOMAIN("NCCL_MEM_SYNC_DOMAIN", MakeIdle(FLUSHES));
const Registration REGISTER_SYM_CTAS("NCCL_SYM_CTAS", MakeIdle(REGISTERED));
const Registration REGISTER_SYM_GIN_KERNELS_ENABLE("NCCL_SYM_GIN_KERNELS_ENABLE",
                                                   MakeIdle(REGISTERED));
const Registration REGISTER_GIN_ENABLE("NCCL_GIN_ENABLE", MakeIdle(REGISTERED));
const Registration REGISTER_GIN_TYPE("NCCL_GIN_TYPE", MakeIdle(REGISTERED));
const Registration REGISTER_COLLNET_NODE_THRESHOLD("NCCL_COLLNET_NODE_THRESHOLD",
                                                   MakeIdle(COLLNET));
const Registration REGISTER_BLOCKING_WAIT("NCCL_BLOCKING_WAIT", MakeIdle(PYTORCH));
const Registration REGISTER_ASYNC_ERROR_HANDLING("NCCL_ASYNC_ERROR_HANDLING", MakeIdle(PYTORCH));
const Registration REGISTER_DESYNC_DEBUG("NCCL_DESYNC_DEBUG", MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_BLOCKING_WAIT("TORCH_NCCL_BLOCKING_WAIT", MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_ASYNC_ERROR_HANDLING("TORCH_NCCL_ASYNC_ERROR_HANDLING",
                                                       MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_DESYNC_DEBUG("TORCH_NCCL_DESYNC_DEBUG", MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_ENABLE_MONITORING("TORCH_NCCL_ENABLE_MONITORING",
                                                    MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_HEARTBEAT_TIMEOUT_SEC("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
                                                        MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_TRACE_BUFFER_SIZE("TORCH_NCCL_TRACE_BUFFER_SIZE",
                                                    MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_DUMP_ON_TIMEOUT("TORCH_NCCL_DUMP_ON_TIMEOUT", MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_ENABLE_TIMING("TORCH_NCCL_ENABLE_TIMING", MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_AVOID_RECORD_STREAMS("TORCH_NCCL_AVOID_RECORD_STREAMS",
                                                       MakeIdle(PYTORCH));
const Registration REGISTER_TORCH_USE_COMM_NONBLOCKING("TORCH_NCCL_USE_COMM_NONBLOCKING",
                                                       MakeIdle(PYTORCH));
const Registration REGISTER_CGA_CLUSTER_SIZE("NCCL_CGA_CLUSTER_SIZE", MakeUnread(UNMODELLED));
const Registration REGISTER_ALLOC_P2P_NET_LL_BUFFERS("NCCL_ALLOC_P2P_NET_LL_BUFFERS",
                                                     MakeUnread(UNMODELLED));
const Registration REGISTER_NET_SHARED_COMMS("NCCL_NET_SHARED_COMMS", MakeUnread(UNMODELLED));
const Registration REGISTER_SHM_MEMCPY_MODE("NCCL_SHM_MEMCPY_MODE", MakeUnread(UNMODELLED));
const Registration REGISTER_NET_DISABLE_INTRA("NCCL_NET_DISABLE_INTRA", MakeUnread(UNMODELLED));
const Registration REGISTER_NET_OVERHEAD("NCCL_NET_OVERHEAD", MakeUnread(UNMODELLED));
const Registration REGISTER_L1_SHARED_MEMORY_CARVEOUT("NCCL_L1_SHARED_MEMORY_CARVEOUT",
                                                      MakeUnread(UNMODELLED));
const Registration REGISTER_PROXY_APPEND_BATCH_SIZE("NCCL_PROXY_APPEND_BATCH_SIZE",
                                                    MakeUnread(UNMODELLED));
const Registration REGISTER_PROGRESS_APPENDOP_FREQ("NCCL_PROGRESS_APPENDOP_FREQ",
                                                   MakeUnread(UNMODELLED));
const Registration REGISTER_P2P_EPOCH_ENABLE("NCCL_P2P_EPOCH_ENABLE", MakeUnread(UNMODELLED));
const Registration REGISTER_P2P_SCHEDULE_GROUP_SIZE("NCCL_P2P_SCHEDULE_GROUP_SIZE",
                                                    MakeUnread(UNMODELLED));
const Registration REGISTER_ALLGATHERV_ENABLE("NCCL_ALLGATHERV_ENABLE", MakeUnread(UNMODELLED));
const Registration REGISTER_MNNVL_UUID("NCCL_MNNVL_UUID", MakeUnread(DOMAINS));
const Registration REGISTER_MNNVL_CLIQUE_ID("NCCL_MNNVL_CLIQUE_ID", MakeUnread(DOMAINS));
const Registration REGISTER_IB_CUDA_SUPPORT("NCCL_IB_CUDA_SUPPORT", MakeUnread(GDR_LEVEL));
const Registration REGISTER_IB_GDR_LEVEL("NCCL_IB_GDR_LEVEL", MakeUnread(GDR_LEVEL));
const Registration REGISTER_ENV_PLUGIN("NCCL_ENV_PLUGIN", MakeUnread(GIVEN));

} // namespace

} // namespace proteus
} // namespace ns3
