/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * @param what technology, for the message
 * @param generation asked for; 0 for the default
 * @param standard the default
 * @param least first one known
 * @param most last one known
 * @return the generation
 */
uint32_t
ChooseGeneration(const char* what,
                 uint32_t generation,
                 uint32_t standard,
                 uint32_t least,
                 uint32_t most)
{
    if (generation == 0)
    {
        return standard;
    }
    if (generation < least || generation > most)
    {
        throw std::invalid_argument(
            std::string(what) + " generation " + std::to_string(generation) +
            " is not known; known: " + std::to_string(least) + " to " + std::to_string(most));
    }
    return generation;
}

/**
 * What loads and stores of multicast addresses cost (PTX ISA, multimem.ld_reduce and multimem.st).
 * A load asks the switch, which asks every member and adds up the answers; a store goes to the
 * switch, which writes it to every member, the sender included. (That every member's link carries
 * all it contributes and all that is stored, its own too, is measured: NVIDIA developer forum,
 * "Unnecessary traffic in load-reduce and store operations on a multicast object", 356726.)
 *
 * Packets carry a line of 128 bytes, what a warp's accesses to consecutive addresses are cut into.
 * In flits of 16 bytes: a request 2, header and address; its answer a header and the data; a store
 * header, address and data; its response 1. In an all-reduce among n, a link then carries, for
 * every line of the buffer, 8 + (8 + 1)/n + 1 + 2/n flits from a GPU, and 2 + 8 + 2 + (8 + 1 + 1)/n
 * flits to it, which is more: for n = 8, 13.25 flits or 212 bytes, 60.4 % for data that are
 * counted once. Measured on eight H100, as bus bandwidth over 14/8: 274.4 of 450 GB/s, 61.0 %.
 * @param framing to complete
 * @param moreBytes that each packet, request and response costs in addition
 */
void
SetMultimemFraming(LinkFraming& framing, uint32_t moreBytes)
{
    constexpr uint32_t FLIT = 16;
    framing.multimemPacketBytes = 128;
    framing.reduceHeaderBytes = FLIT + moreBytes;
    framing.reduceReverseBytes = 2 * FLIT + moreBytes;
    framing.multicastHeaderBytes = 2 * FLIT + moreBytes;
    framing.multicastReverseBytes = FLIT + moreBytes;
}

/**
 * Flits of 16 bytes, up to 256 bytes of payload in a packet, each flit of a header with room for
 * the acknowledgements and credits of the opposite direction (Foley and Danskin, "Ultra-Performance
 * Pascal GPU and NVLink Interconnect", IEEE Micro 37(2), 2017). What stands beside the payload
 * differs between generations and has no public source for those after the first: whole or half
 * flits per packet, so that the measured rates come out. A unit without payload is a packet of two
 * flits.
 * @param generation 2 to 5
 * @return its framing
 */
LinkFraming
NvlinkFraming(uint32_t generation)
{
    LinkFraming framing;
    framing.packetBytes = 256;
    framing.controlBytes = 32;
    switch (generation)
    {
    case 2:
        // A header flit, and one for address or byte enables every other packet: 91.4 %. Measured,
        // one link of a V100: 22.5 of 25 GB/s, 90 %. Writes are acknowledged inside header flits:
        // rings of NCCL on all six links of eight V100 reach 90 % in both directions at once.
        framing.packetHeaderBytes = 24;
        break;
    case 3:
        // A header flit per packet of a DMA: 94.1 %, and a flit of write response per packet, both
        // ways 88.9 %. Measured, a pair of A100: 279.3 of 300 GB/s, 93.1 %, and 531 of 600, 88.5 %.
        framing.packetHeaderBytes = 16;
        framing.reverseBytes = 16;
        // Stores of the SMs leave in packets of 128 bytes, so there are two of each, 88.9 %.
        // Measured 258.4 of 300, 86.1 %. Both ways, calibrated, one more flit back: 76.2 %.
        // Measured 440 of 600, 73.3 %; but NCCL on eight A100 reaches 78 % in both directions.
        framing.smPacketHeaderBytes = 32;
        framing.smReverseBytes = 48;
        break;
    case 4:
        // Calibrated, two flits: 88.9 %, and half a flit back, both ways 86.5 %. Measured, a pair
        // of H200: 396 of 450 GB/s, 88.0 %, and 784 of 900, 87.1 %.
        framing.packetHeaderBytes = 32;
        framing.reverseBytes = 8;
        // Both ways 82.1 %: rings of NCCL reach 367 of 450 GB/s, 81.6 %, on eight H200 with 16 GiB
        // (S. Bekman, "Machine Learning Engineering", network/README.md). NCCL counts 20.6 of 25
        // GB/s, 82.4 %, for a link of an H100 (v2.30.7, src/graph/topo.h, SM90_NVLINK_BW).
        framing.smReverseBytes = 24;
        SetMultimemFraming(framing, 0);
        break;
    default:
        // As the generation before.
        framing.packetHeaderBytes = 32;
        framing.reverseBytes = 8;
        // As stores of A100, in packets of 128 bytes, two of each: one way 80 %. Measured, 16 GiB
        // by three to eight B200, 716 to 718 of 900 GB/s into the root of a gather, 79.8 %, 735 to
        // 747 out of that of a scatter, 83 %, and 709 of a broadcast between two (public logs of
        // nccl-tests, mghpcc/aicr-benchmarks). Both ways 76.2 %: rings reach 682, 75.8 %, on eight
        // B200 with 8 GiB (same book). NCCL counts 40.1 of 50 GB/s, 80.2 % (SM100_NVLINK_BW).
        framing.smPacketHeaderBytes = 64;
        framing.smReverseBytes = 16;
        // Calibrated: half a flit more than in the generation before.
        SetMultimemFraming(framing, 8);
        break;
    }
    return framing;
}

/**
 * Memory write with 64-bit address (PCI Express Base Specification, transaction and data link
 * layers): framing and sequence number 4, header 16, LCRC 4. For every packet an acknowledgement
 * (DLLP) of 8 bytes goes back, framing included. A unit without payload is a write of one 8-byte
 * flag. In generation 6 packets lie in flits, which carry acknowledgements and checks: their share
 * is in PcieX16BytesPerSecond(), and the rest is taken to be as in generation 5.
 * @param generation 3 to 6
 * @return its framing
 */
LinkFraming
PcieFraming(uint32_t generation)
{
    LinkFraming framing;
    framing.controlBytes = 32;
    framing.reverseBytes = 8;
    if (generation <= 4)
    {
        // Maximum payload of 128 bytes: 84.2 %, both ways 80 %. Measured, A100 on Gen4 x16: 26.2 of
        // 31.5 GB/s, 83.2 %, and 49.5 of 63, 78.6 %.
        framing.packetBytes = 128;
        framing.packetHeaderBytes = 24;
        // Calibrated, stores of SMs leave in packets of 64 bytes: both ways 66.7 %. Measured, NCCL
        // on four V100 behind one switch: 10.5 of 15.75 GB/s, 66.7 %.
        framing.smPacketHeaderBytes = 48;
        framing.smReverseBytes = 16;
    }
    else
    {
        // Maximum payload of 256 bytes. Calibrated: packets begin at a multiple of the 16 bytes
        // that an x16 link moves in a symbol time, 280 -> 288 bytes: 88.9 %. Measured, H200 on Gen5
        // x16: 55.4 of 63 GB/s, 87.9 %.
        framing.packetBytes = 256;
        framing.packetHeaderBytes = 32;
        // Stores of SMs leave in packets of 128 bytes, two of each: 84.2 %, both ways 80 %.
        // Measured, stores of H100 to host memory: 52.8 of 63 GB/s, 83.8 % (NVIDIA/nvbandwidth,
        // issue 24); into the root of a gather of four RTX PRO 6000: 51.5, 81.7 % (public logs of
        // nccl-tests, mghpcc/aicr-benchmarks).
        framing.smPacketHeaderBytes = 48;
        framing.smReverseBytes = 16;
    }
    return framing;
}

} // namespace

LinkFraming
DefaultFraming(LinkTechnology technology, uint32_t generation)
{
    LinkFraming framing;
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        framing = NvlinkFraming(ChooseGeneration("NVLink", generation, 3, 2, 5));
        break;
    case LinkTechnology::PCIE:
        framing = PcieFraming(ChooseGeneration("PCI Express", generation, 4, 3, 6));
        break;
    case LinkTechnology::CPU_INTERCONNECT:
        // The rates that are known for traffic of devices across sockets are measured payload rates
        // (see the server presets), which have the framing inside. Control: a line of 64 bytes.
        framing.packetBytes = 4096;
        framing.packetHeaderBytes = 0;
        framing.controlBytes = 64;
        break;
    case LinkTechnology::INFINIBAND:
        // InfiniBand Architecture Specification, volume 1: LRH 8, BTH 12, ICRC 4, VCRC 2. A unit
        // without payload is an acknowledgement: AETH 4 more. MTU 4096. (The RETH of 16 bytes that
        // the first packet of a write has is left out: 0.4 % of a message of one packet.)
        framing.packetBytes = 4096;
        framing.packetHeaderBytes = 26;
        framing.controlBytes = 30;
        break;
    case LinkTechnology::ROCE:
        // InfiniBand Architecture Specification, annex A17 (RoCEv2), over Ethernet: header 14, FCS
        // 4, preamble and gap 20, IPv4 20, UDP 8, BTH 12, ICRC 4. An acknowledgement has AETH 4
        // more. MTU 4096.
        framing.packetBytes = 4096;
        framing.packetHeaderBytes = 82;
        framing.controlBytes = 86;
        break;
    }
    // The largest MTU of InfiniBand and RoCE; bursts on the other links are as long.
    framing.unitBytes = 4096;
    return framing;
}

LinkFraming
NicFraming(LinkTechnology technology, double bytesPerSecond)
{
    LinkFraming framing = DefaultFraming(technology);
    if (technology == LinkTechnology::INFINIBAND)
    {
        // Calibrated to measured RDMA writes: HDR 23.3 of 25 GB/s, as if 11 ns passed between
        // packets, NDR 45.1 of 50, 8 ns. What is faster, not measured, has the efficiency of NDR;
        // EDR, on which NCCL reaches 96 % in both directions, has no such gap.
        constexpr double HDR = 200e9 / 8;
        constexpr double NDR = 400e9 / 8;
        framing.unitHeaderBytes = bytesPerSecond >= NDR ? 419 : bytesPerSecond >= HDR ? 272 : 0;
    }
    return framing;
}

int64_t
DefaultDelayPs(LinkTechnology technology)
{
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        // No public source: a parameter. An upper bound is the 0.6 us that NCCL's tuning model
        // counts for a whole LL step over NVLink, two hops and the work of both GPUs included.
        return 150000;
    case LinkTechnology::PCIE:
        // PLX PEX 8624, 8647 and 8664 product briefs: cut-through latency of 140 to 176 ns. Root
        // complexes have no public figure.
        return 150000;
    case LinkTechnology::CPU_INTERCONNECT:
        // No public source for traffic of devices: a parameter. About half of what a load from the
        // memory of the other socket takes longer than one from its own.
        return 70000;
    case LinkTechnology::INFINIBAND:
        // NVIDIA Quantum QM8700 data sheet: port to port below 130 ns; and 4 m of cable at 5 ns/m.
        return 150000;
    case LinkTechnology::ROCE:
        // NVIDIA Spectrum SN2700 data sheet: 300 ns port to port; and 4 m of cable at 5 ns/m.
        return 320000;
    }
    throw std::invalid_argument("link technology out of range");
}

uint32_t
DefaultCost(LinkTechnology technology)
{
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        return 1;
    case LinkTechnology::PCIE:
        // Two stages of NVSwitches (four hops) still beat one PCIe switch (two hops).
        return 4;
    case LinkTechnology::CPU_INTERCONNECT:
        return 8;
    case LinkTechnology::INFINIBAND:
    case LinkTechnology::ROCE:
        // Two hops cost more than any path inside a server, even through several PCIe switches in a
        // row; what is left inside the servers then only breaks ties between paths of as many
        // network hops.
        return 100;
    }
    throw std::invalid_argument("link technology out of range");
}

} // namespace proteus
} // namespace ns3
