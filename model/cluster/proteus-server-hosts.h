/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERVER_HOSTS_H
#define PROTEUS_SERVER_HOSTS_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Hosts without GPUs that carry parameter servers.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The CPU of such hosts, where nothing else is said: a name of a data sheet.
extern const char* const DEFAULT_SERVER_CPU;

/**
 * @ingroup proteus
 * Adds hosts with parameter servers: a CPU, which sums up and stands among the devices of the
 * cluster behind all GPUs, and a NIC. Its PCI Express and its NIC are those of the first server
 * that has a NIC at a network switch. The hosts are spread over the switches that have NICs, in
 * their order. Between the cores and the root complex is the memory's rate.
 * @param cluster to add to
 * @param hosts how many
 * @param cpu name of a data sheet
 * @throw std::invalid_argument if the cluster has no network switch with NICs
 */
void AddServerHosts(Cluster& cluster, uint32_t hosts, const std::string& cpu = DEFAULT_SERVER_CPU);

/**
 * @ingroup proteus
 * The rate at which a CPU adds gradients to a sum: for every byte of gradients, memory reads two
 * and writes one, and nothing else counts.
 * @param cpu name of a data sheet
 * @return bytes of gradients per second
 */
double GetAggregationRate(const std::string& cpu);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERVER_HOSTS_H
