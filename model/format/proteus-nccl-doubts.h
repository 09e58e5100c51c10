/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_DOUBTS_H
#define PROTEUS_NCCL_DOUBTS_H

#include "proteus-xml.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What is odd in a topology file of NCCL, and can be read all the same.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Looks for numbers that are given twice, ranks in another order than GPUs, classes that do not
 * fit what is inside of a device, devices that are left out, and speeds that are not known.
 * @param document a topology file
 * @return what was found, a line of each kind
 * @throw std::invalid_argument "FILE:LINE: /path: cause" for a class that is no number
 */
std::vector<std::string> FindNcclDoubts(const XmlDocument& document);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_DOUBTS_H
