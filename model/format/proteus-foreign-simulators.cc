/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-foreign-files.h"

/**
 * @file
 * @ingroup proteus
 * Inputs of other simulators that are not read, with what to give in their place, and files of
 * other programs that another option reads.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ForeignFileRegistry::Registration;

const Registration ASTRA_NETWORK_JSON(
    "ASTRA-sim network in JSON",
    {{"topologies-per-dim", "topology-name", "dimension-type", "units-count"},
     1,
     "a network of ASTRA-sim, which is not read; proteus-cluster --output writes a cluster to "
     "begin with"});

// The analytical network of ASTRA-sim 2 (inputs/network/analytical).
const Registration ASTRA_NETWORK_YAML(
    "ASTRA-sim network in YAML",
    {{"topology", "npus_count", "bandwidth", "latency"},
     2,
     "a network of ASTRA-sim, which is not read: its dimensions are rings or switches without "
     "servers, NICs or links; --cluster=PRESET:nodes=N or proteus-cluster --output make a cluster, "
     "where links have the rates of 'bandwidth' (1e9 bytes per second) and the delays of "
     "'latency' (ns)"});

const Registration ASTRA_SYSTEM(
    "ASTRA-sim system",
    {{"all-reduce-implementation",
      "all-reduce-implementation-custom",
      "collective-optimization",
      "preferred-dataset-splits"},
     1,
     "a system of ASTRA-sim, which is not read; algorithms are NCCL's, or --algorithm"});

// examples/network/ns3 of ASTRA-sim.
const Registration ASTRA_DIMENSIONS(
    "ASTRA-sim logical dimensions",
    {{"logical-dims"},
     1,
     "the logical topology of ASTRA-sim's ns-3 network, which is not read: collectives find their "
     "rings and trees on the cluster; the physical one, a text, is read by --cluster"});

const Registration ASTRA_MEMORY(
    "ASTRA-sim memory",
    {{"memory-type", "remote-mem-bw", "remote-mem-latency"},
     1,
     "a remote memory of ASTRA-sim, which is not read; memory is the GPU's, as its data sheet "
     "says"});

// config.txt of HPCC (alibaba-edu/High-Precision-Congestion-Control), and SimAI.conf.
const Registration HPCC_CONFIGURATION(
    "HPCC configuration",
    {{"TOPOLOGY_FILE",
      "FLOW_FILE",
      "PACKET_PAYLOAD_SIZE",
      "ENABLE_QCN",
      "USE_DYNAMIC_PFC_THRESHOLD",
      "CC_MODE",
      "BUFFER_SIZE",
      "KMAX_MAP",
      "SIMULATOR_STOP_TIME"},
     2,
     "a configuration of the simulator of HPCC, or of SimAI; of what it names --cluster reads the "
     "topology and proteus-flows --flows the flows, and the rest are attributes "
     "(--PrintAttributes=ns3::proteus::Fabric and ns3::proteus::Transport)"});

// slurm.schedmd.com/topology.html
constexpr const char* OF_SLURM =
    "a topology of Slurm, which says neither rates nor what servers are made of, and is not read; "
    "--cluster=PRESET with --fabric=leaf-spine and --serversPerLeaf=N (proteus-cluster --output "
    "writes it as a file) has such switches";

const Registration SLURM_TOPOLOGY("topology.conf of Slurm",
                                  {{"SwitchName", "BlockName"}, 1, OF_SLURM});

const Registration SLURM_YAML("topology.yaml of Slurm",
                              {{"cluster_default", "tree", "block", "switches", "block_sizes"},
                               2,
                               OF_SLURM});

// github.com/casys-kaist/LLMServingSim: rows for its own converter to Chakra.
const Registration SERVING_ROWS("trace of LLMServingSim",
                                {{"COLOCATED", "Layername"},
                                 1,
                                 "a trace of LLMServingSim, which is not read"});

// workload/physical of AICB: what its own benchmark runs on GPUs.
const Registration AICB_LIST(
    "list of AICB",
    {{"comm_type", "CommType.all_reduce", "CommType.computation"},
     1,
     "a list of communications that AICB runs on GPUs, which says no ranks; "
     "its workload for SimAI (.txt) is read"});

// workload/aiob_inputs of AICB.
const Registration AIOB_TIMES("times of AIOB",
                              {{"train_iter", "time_gpu_max", "time_gpu_min", "time_gpu_avg"},
                               2,
                               "what AIOB has measured of a model's kernels, of which AICB makes a "
                               "workload for SimAI (.txt), "
                               "which proteus-run --trace reads"});

// scripts/inference_configs of AICB.
const Registration AICB_MODEL(
    "model of AICB",
    {{"computation_enable", "router_expert", "duped_expert", "expert_dim", "moe_router_topk"},
     3,
     "a model of AICB's inference, which is not read; --model reads a config.json of Hugging "
     "Face"});

// example/busbw.yaml of SimAI.
const Registration SIMAI_BANDWIDTHS(
    "bandwidths of SimAI",
    {{"allreduce", "allgather", "reducescatter", "alltoall", "busbw"},
     4,
     "a list of bus bandwidths for SimAI's analytical mode, which is not read: they follow from "
     "the cluster"});

const Registration KINETO("trace of PyTorch",
                          {{"traceEvents"},
                           1,
                           "a trace of PyTorch's profiler, which proteus-run --trace reads"});

const Registration PYTORCH_EXECUTION("execution trace of PyTorch",
                                     {{"nodes", "schema"},
                                      2,
                                      "an execution trace of PyTorch (ExecutionTraceObserver), "
                                      "without times of kernels; chakra_trace_link joins it with "
                                      "the profiler's, and chakra_converter makes a Chakra trace "
                                      "of both, which proteus-run --trace reads"});

const Registration FEEDER("graph of Chakra's feeder",
                          {{"workload_graph"},
                           1,
                           "a Chakra trace in the JSON of its feeder, which is not read"});

const Registration MODEL_CONFIG(
    "config.json",
    {{"model_type"}, 1, "a config.json of Hugging Face, which --model reads", "", 0, {}, true});

// mscclpp/python/mscclpp/language: what MSCCL++'s executor runs.
const Registration MSCCLPP(
    "MSCCL++ plan",
    {{"inplace", "inter_gpu_num", "num_threads_per_block", "reuse_resources", "use_double_scratch"},
     1,
     "an execution plan of MSCCL++, which is not read: its kernels put, signal and wait on "
     "channels of memory, where NCCL's send chunks; proteus-collective --msccl=FILE.xml reads "
     "schedules of MSCCL"});

const Registration MSCCL("MSCCL schedule",
                         {{"<algo"},
                          1,
                          "a schedule of MSCCL, which proteus-collective --msccl reads"});

const Registration NCCL_TOPOLOGY("NCCL topology",
                                 {{"<system"}, 1, "a topology of NCCL, which --cluster reads"});

// NCCL_GRAPH_DUMP_FILE (src/graph/search.cc, ncclTopoDumpGraphs()).
const Registration NCCL_GRAPHS(
    "NCCL graphs",
    {{"<graphs"},
     1,
     "what NCCL's search has found (NCCL_GRAPH_DUMP_FILE), which is not read: the search is done "
     "here, on the topology (NCCL_TOPO_DUMP_FILE), which --cluster reads; proteus-collective "
     "--topology shows what it finds"});

// Tables and lists that tell what a machine is made of.
const Registration NVIDIA_SMI(
    "nvidia-smi topo",
    {{"GPU0", "GPU1", "NIC0", "NIC1"},
     2,
     "a table of nvidia-smi topo -m, which says no rates and is not read; --cluster reads what "
     "NCCL writes of the same machine (NCCL_TOPO_DUMP_FILE=FILE.xml)"});

const Registration IBNETDISCOVER(
    "ibnetdiscover",
    {{"vendid", "devid", "sysimgguid", "switchguid", "caguid"},
     3,
     "a list of ibnetdiscover, which is not read; --fabric and its options describe a network, or "
     "a cluster file (proteus-cluster --output writes one to begin with)"});

const Registration HWLOC("hwloc topology",
                         {{"<topology", "<object"},
                          1,
                          "a topology of hwloc (lstopo), which says nothing of NVLinks and is not "
                          "read; --cluster reads what NCCL writes of the same machine "
                          "(NCCL_TOPO_DUMP_FILE=FILE.xml)"});

} // namespace

} // namespace proteus
} // namespace ns3
