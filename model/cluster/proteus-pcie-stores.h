/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PCIE_STORES_H
#define PROTEUS_PCIE_STORES_H

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * Packets of what kernels store over PCI Express.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Payload of the longest packet that stores of a GPU make: a cache line of its L2, which holds
/// what the 32 threads of a warp store side by side. Copy engines fill longer packets where a link
/// has them.
constexpr uint32_t PCIE_STORE_BYTES = 128;

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PCIE_STORES_H
