/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-cost-table.h"

namespace ns3
{
namespace proteus
{

namespace
{

// Numbers that are fitted are what makes simulated times agree, and not measurements of single
// mechanisms: start and latency of Simple, of which there are no tables below 256 KiB, in
// particular. For comparison, NCCL's tuner counts 6.6, 14 and 8.4 us of start for rings, and for a
// hop, its transfer included, 0.6, 1.9 and 3.4 us on NVLink, 1, 2.5 and 5.7 on PCIe, and 2.7, 4 and
// 14 in a network.

constexpr const char* FITTED = "fitted to workloads/measurements, all tables of the generation";
constexpr const char* MOST_OF_LL =
    "NVIDIA/nccl v2.30.7, src/graph/tuning.cc, llMaxBws: 39, 87.7, 141 and 282 GB/s, over the "
    "channels of one server of the generation: 12, 24, 24 and 32";
constexpr const char* OF_A_CHANNEL =
    "NVIDIA/nccl v2.30.7, src/graph/tuning.cc, perChMaxTreeBws, that of a channel";
constexpr const char* SHORT_SLICES =
    "a public log of all-reduces by rings of four B300 that is not among the tables, 8 and 16 MiB "
    "(NCCL 2.29.3): a step of a ring takes 11 us and its slice. The tables do not tell";
constexpr const char* STEPS_OF_H800 =
    "public logs of rings of Simple among eight H800 that are not among the tables "
    "(Panlichen/nccl-tests, test_scripts/h800_8card; NCCL 2.12.12): the seven steps that an "
    "all-reduce of 32 KiB has more than an all-gather take 24 us, of which the wire has 3. The "
    "tables do not tell";
constexpr const char* AS_VOLTA = "as V100: no table of a later generation is over PCI Express";
constexpr const char* AS_NVLINK =
    "chosen: less than V100, as over NVLink; no table of the generation is over PCI Express";

constexpr const char* FENCE =
    "0.2 as inside a server, and 1 until the whole system sees a chunk (NVIDIA/nccl v2.30.7, "
    "src/device/prims_ll128.h, postSend(): __threadfence_system() from Hopper on): a public log of "
    "trees between two H100 that is not among the tables (NVIDIA/nccl, issue 1357)";
constexpr const char* LINES_OF_NVLINK =
    "as V100, and 0.2 less than A100, of which there are tables with rings inside a server; a "
    "public log of eight H20 that is not among the tables (kvcache-ai/Mooncake, pull request 3484) "
    "lies between 1 and this";

constexpr const char* OF_THE_HOST =
    "as H100, whose tables are of Intel's CPUs: LL between servers lies in the memory of the host "
    "whatever the GPU (NVIDIA/nccl v2.30.7, src/transport/net.cc, sendProxyConnect(): no GPUDirect "
    "for it), so what a crossing takes is the host's. networkLatencyUs is fitted to servers with "
    "CPUs of AMD, where NCCL's tuner, too, counts LL as slower (src/graph/tuning.cc, llMaxBws of "
    "several servers by the vendor of the CPU) and a post as twice as long (getNetOverhead())";

constexpr const char* PART_OF_RING =
    "nvlinkLatencyUs times 1.25 / 1.9: what a hop of a tree and one of a ring take with LL128 "
    "(NVIDIA/nccl v2.8.3 to v2.30.7, src/graph/tuning.cc, hwLat of NVLink)";
constexpr const char* HOP_OF_TREE =
    "NVIDIA/nccl v2.30.7, src/graph/tuning.cc, hwLat of NVLink: 1.25 us for a hop of a tree with "
    "LL128, of which the two links to and from an NVSwitch take 0.3";
constexpr const char* OF_B300 =
    "a public log of nccl-tests on eight B300 that is not among the tables (eunomia-bpf/nccl-eBPF, "
    "docs/eval-plan-b300.md; NCCL 2.29.7), rings of one to 32 channels: a step with LL takes 1 us "
    "for 6.6 KB, one with LL128 1.8 us and 1 us for 22 KB, from 32 KiB to 1 MiB a step, whatever "
    "the number of channels. A primitive is called for every chunk, and its threads wait for each "
    "other before and after (NVIDIA/nccl v2.30.7, src/device/prims_ll128.h, GenericOp())";

using PerProtocol = std::array<double, NCCL_PROTOCOLS>;

/// @param values of a row @param source of all of them @return the row
SourcedRow
MakeRow(const PerProtocol& values, const std::string& source = FITTED)
{
    SourcedRow row;
    for (std::size_t p = 0; p < NCCL_PROTOCOLS; ++p)
    {
        row[p] = {values[p], source};
    }
    return row;
}

/// @param value of Simple, which alone has it @param source of it @return the row
SourcedRow
MakeSimple(double value, const std::string& source = FITTED)
{
    return {{{}, {}, {value, source}}};
}

/// @param value of LL128, which alone has it @param source of it @return the row
SourcedRow
MakeLl128(double value, const std::string& source)
{
    return {{{}, {value, source}, {}}};
}

/// @return barriers and flags of a step inside a server, on all generations but for Simple on B200:
/// a step of Simple synchronises the thread block twice and fences, one of LL or LL128 only passes
/// on
SourcedRow
MakeBusy()
{
    return MakeRow({0.1, 0.2, 1.0}, "fitted to workloads/measurements, all generations together");
}

/// @return V100 and what came before
CollectiveGeneration
MakeVolta()
{
    CollectiveGeneration known;
    known.name = "V100";
    known.firstCapability = 0;
    known.startUs = MakeRow({6, 16.5, 14});
    known.busyUs = MakeBusy();
    known.blockGBps = {{{3.25, MOST_OF_LL}, {7.1, FITTED}, {26.5, OF_A_CHANNEL}}};
    known.messageGBps = MakeSimple(26.5, "as blockGBps");
    known.nvlinkLatencyUs = MakeRow({0.5, 3.1, 8.3});
    known.treeLatencyUs = MakeLl128(2.04, PART_OF_RING);
    known.pcieLatencyUs = MakeRow({0.6, 1.3, 3.9});
    known.networkLatencyUs = MakeRow({6.5, 3.2, 15});
    known.networkBusyUs = MakeRow({0.3, 0.5, 4.5});
    return known;
}

/// @return A100
CollectiveGeneration
MakeAmpere()
{
    CollectiveGeneration known;
    known.name = "A100";
    known.firstCapability = 80;
    known.startUs = MakeRow({6, 21, 23});
    known.busyUs = MakeBusy();
    known.blockGBps = {{{3.65, MOST_OF_LL}, {9.5, FITTED}, {24, OF_A_CHANNEL}}};
    known.messageGBps = MakeSimple(
        14.6,
        "two public logs of nccl-tests that are not among the tables: 55.2 GB/s by four channels "
        "between two A100 with four NVLinks (64 MiB), and 110.8 by eight among eight A100 (128 "
        "MiB), which agree within 1 %; a send and a receive share the warps of a block");
    known.warpGBps = MakeSimple(
        2.46,
        "a public log of gathers between two A100 that is not among the tables (NVIDIA/nccl-tests, "
        "issue 350; NCCL 2.16.5): 19.7 GB/s out of place by two channels, whose four warps receive "
        "beside what the root copies for itself; in place 22.3");
    known.gpuGBps = {{{}, {185, FITTED}, {285, FITTED}}};
    known.nvlinkLatencyUs = MakeRow({0.5, 3.3, 3});
    known.treeLatencyUs = MakeLl128(2.17, PART_OF_RING);
    known.pcieLatencyUs = MakeRow({0.6, 1.3, 3.9}, AS_VOLTA);
    known.networkLatencyUs = MakeRow({10.4, 6.9, 18});
    known.otherLatencyUs = {{{4.5, OF_THE_HOST}, {}, {}}};
    known.networkBusyUs = MakeRow({0.3, 0.5, 4.5});
    return known;
}

/// @return H100 and H200
CollectiveGeneration
MakeHopper()
{
    CollectiveGeneration known;
    known.name = "H100";
    known.firstCapability = 90;
    known.startUs = MakeRow({8, 13, 12});
    known.busyUs = MakeBusy();
    known.blockGBps = {
        {{7.85,
          "a public log of nccl-tests among four H100 that is not among the tables "
          "(waynehacking8/nccl-collectives-bench; NCCL 2.29.2): an all-reduce of 256 MiB by LL in "
          "2.74 ms, 7.2 GB/s of a thread block with what its steps take; NCCL's tuner counts 5.9"},
         {18, FITTED},
         {23,
          "two public logs of nccl-tests that are not among the tables: 358 GB/s of a pair of H100 "
          "with 24 channels, of which a block sends two chunks for every three that it handles, is "
          "22.4 GB/s with no time lost, and trees of two servers of four GH200 with 8 channels, "
          "91 GB/s, 22.7"}}};
    known.messageGBps = MakeSimple(
        20,
        "a public log of send-receives among eight H100 that is not among the tables: "
        "82.0 GB/s by four channels and 162.6 by eight, 20.4 a channel; another of GH200 "
        "(NVIDIA/nccl, issue 1272) has 18.3");
    known.warpGBps = MakeSimple(
        2.43,
        "a public log of all-to-alls between two H100 that is not among the tables "
        "(xxrjun/nccl-tests-cluster; NCCL 2.29.2): 8 GiB in 110.5 ms out of place by four "
        "channels, whose four warps receive beside what a rank copies for itself; in place 98.2");
    known.chunkUs = MakeLl128(
        0.7,
        "a public log of nccl-tests among four H100 that is not among the tables "
        "(waynehacking8/nccl-collectives-bench; NCCL 2.29.2): rings of 256 MiB take 1.5 us and 1 "
        "us for 16 KB with each of their steps");
    known.nvlinkLatencyUs = {{{0.4, FITTED}, {3.1, LINES_OF_NVLINK}, {3, STEPS_OF_H800}}};
    known.treeLatencyUs = MakeLl128(0.95, HOP_OF_TREE);
    known.pcieLatencyUs = {{{0.5, AS_NVLINK}, {1.3, AS_VOLTA}, {3.9, AS_VOLTA}}};
    known.networkLatencyUs = {
        {{4.5, FITTED},
         {4.5, "as LL: proxies, NICs and what the receiver polls are the same"},
         {20, FITTED}}};
    known.networkBusyUs = {{{0.3, FITTED}, {1.2, FENCE}, {0.5, FITTED}}};
    known.switchLatencyUs = MakeSimple(7.9);
    known.switchBusyUs = MakeSimple(0.9);
    known.switchBlockGBps = MakeSimple(23.5);
    known.switchWarpGBps = MakeSimple(
        3.15,
        "public logs of nccl-tests of two servers that are not among the tables: from 8 to 16 GiB "
        "15.58 GB/s for each of 16 channels on H100 (NDv5 of Azure, NCCL 2.29.7) and 16.3 on H200 "
        "(BM.GPU.H200.8 of OCI, 2.27.5), where five warps of a block gather");
    return known;
}

/// @return B200 and what comes after
CollectiveGeneration
MakeBlackwell()
{
    constexpr const char* AS_HOPPER = "as H100, since NICs and proxies are";
    CollectiveGeneration known;
    known.name = "B200";
    known.firstCapability = 100;
    known.startUs = MakeRow({9, 12, 13});
    known.busyUs = MakeBusy();
    known.busyUs[static_cast<std::size_t>(NcclProtocol::SIMPLE)] = {
        0.4,
        "two send-receives of B200 in workloads/measurements: a channel carries 20.7 GB/s in "
        "chunks of 512 KiB (one server), and 19.6 at least in chunks of 128 KiB (two), which "
        "leave 0.42 us; the fence is that of the warp that posts, beside the next copy "
        "(NVIDIA/nccl v2.30.7, src/device/prims_simple.h, postPeer())"};
    known.blockGBps = {
        {{7.2, OF_B300},
         {22, OF_B300},
         {35, std::string(OF_A_CHANNEL) + " of the search, which becomes two: half of it"}}};
    known.messageGBps = MakeSimple(21);
    known.warpGBps = MakeSimple(
        3.54,
        "a public log of all-to-alls among four GB300 of a rack that is not among the tables "
        "(oracle-quickstart/oci-gpu-quickstarts; NCCL 2.28.7): 16 GiB in place in 18.93 ms by 32 "
        "thread blocks, each of them for three peers with two warps either way");
    known.chunkUs = MakeLl128(1.2, OF_B300);
    known.nvlinkLatencyUs = {{{1, FITTED}, {3.1, AS_HOPPER}, {10.4, SHORT_SLICES}}};
    known.treeLatencyUs = MakeLl128(0.95, HOP_OF_TREE);
    known.pcieLatencyUs = {{{0.5, AS_NVLINK}, {1.3, AS_VOLTA}, {3.9, AS_VOLTA}}};
    known.networkLatencyUs = MakeRow({4.5, 4.5, 20}, AS_HOPPER);
    known.networkBusyUs = MakeRow({0.3, 1.2, 0.5}, AS_HOPPER);
    known.switchLatencyUs = MakeSimple(3.4);
    known.switchBusyUs = MakeSimple(1.3);
    known.switchBlockGBps = MakeSimple(28);
    return known;
}

/// @return what the host takes
CollectiveLaunch
MakeLaunch()
{
    // All-gather and all-reduce take 34.6 us with one channel, and 1.6 us more with each further
    // one, whatever the steps. All-to-all takes 87 us up to 2 MiB; a GPU has seven sends and seven
    // receives. One thread launches eight kernels, so a launch takes an eighth of these times. The
    // numbers are lower than the eighth, since the first of the twenty iterations takes longer.
    constexpr const char* MEASURED =
        "nccl-tests on eight A100 of one process (workloads/measurements/a100-8-*.csv)";
    CollectiveLaunch launch;
    launch.kernelUs = {4, MEASURED};
    launch.channelUs = {0.2, MEASURED};
    launch.peerUs = {0.47, MEASURED};
    launch.sharedThreadUs = {
        13.5,
        "fitted: tables of one process for eight GPUs, whatever the protocol, are slower by that "
        "than those of one process per GPU; of two V100, hardly. What takes the time is not known"};
    return launch;
}

} // namespace

const std::vector<CollectiveCostField>&
GetCollectiveCostFields()
{
    using G = CollectiveGeneration;
    static const std::vector<CollectiveCostField> fields{
        {"startUs", &G::startUs},
        {"busyUs", &G::busyUs},
        {"chunkUs", &G::chunkUs, NcclProtocol::LL128},
        {"blockGBps", &G::blockGBps},
        {"messageGBps", &G::messageGBps, NcclProtocol::SIMPLE},
        {"warpGBps", &G::warpGBps, NcclProtocol::SIMPLE},
        {"gpuGBps", &G::gpuGBps},
        {"nvlinkLatencyUs", &G::nvlinkLatencyUs},
        {"treeLatencyUs", &G::treeLatencyUs, NcclProtocol::LL128},
        {"pcieLatencyUs", &G::pcieLatencyUs},
        {"networkLatencyUs", &G::networkLatencyUs},
        {"otherLatencyUs", &G::otherLatencyUs, NcclProtocol::LL},
        {"networkBusyUs", &G::networkBusyUs},
        {"switchLatencyUs", &G::switchLatencyUs, NcclProtocol::SIMPLE},
        {"switchBusyUs", &G::switchBusyUs, NcclProtocol::SIMPLE},
        {"switchBlockGBps", &G::switchBlockGBps, NcclProtocol::SIMPLE},
        {"switchWarpGBps", &G::switchWarpGBps, NcclProtocol::SIMPLE}};
    return fields;
}

const std::vector<CollectiveLaunchField>&
GetCollectiveLaunchFields()
{
    using L = CollectiveLaunch;
    static const std::vector<CollectiveLaunchField> fields{{"kernelUs", &L::kernelUs},
                                                           {"channelUs", &L::channelUs},
                                                           {"peerUs", &L::peerUs},
                                                           {"sharedThreadUs", &L::sharedThreadUs}};
    return fields;
}

const CollectiveCostTable&
GetBuiltInCollectiveCostTable()
{
    static const CollectiveCostTable table{
        {MakeVolta(), MakeAmpere(), MakeHopper(), MakeBlackwell()},
        MakeLaunch()};
    return table;
}

} // namespace proteus
} // namespace ns3
