/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SOCKET_RATES_H
#define PROTEUS_SOCKET_RATES_H

/**
 * @file
 * @ingroup proteus
 * What CPUs carry between the devices of a server.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What traffic of devices gets between two sockets, bytes per second: as NCCL counts it
 * (NVIDIA/nccl v2.30.7, src/graph/topo.h: BDW_, SKL_, SRP_, ERP_QPI_BW, AMD_BW, P9_BW, ARM_BW), or,
 * of later CPUs of AMD, as it was measured.
 */
struct SocketRates
{
    static constexpr double BROADWELL = 6e9;        //!< of Intel, and before
    static constexpr double SKYLAKE = 10e9;         //!< of Intel
    static constexpr double SAPPHIRE_RAPIDS = 22e9; //!< of Intel, with PCI Express Gen5
    static constexpr double EMERALD_RAPIDS = 40e9;  //!< of Intel
    static constexpr double ARM = 6e9;              //!< Grace and others
    static constexpr double POWER = 32e9;           //!< POWER9
    /// Of AMD up to Zen 2; NCCL's search of rings takes it for all of AMD.
    static constexpr double ZEN_2 = 16e9;
    /// Of AMD's Zen 3 and 4: copies of GPUs to the other socket get 20.6 to 22.5 GB/s
    /// (p2pBandwidthLatencyTest beside eight RTX 4090 of the twelfth set of logs,
    /// doc/measured-collectives-sets.rst).
    static constexpr double ZEN_3 = 21.5e9;
    static constexpr double ZEN_5 = 32.2e9; //!< of AMD, measured: NVIDIA/nccl 2f1c174c, issue 2441
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SOCKET_RATES_H
