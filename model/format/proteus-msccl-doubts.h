/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MSCCL_DOUBTS_H
#define PROTEUS_MSCCL_DOUBTS_H

#include "proteus-msccl.h"
#include "proteus-xml.h"

#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What an MSCCL schedule says and does not need, or MSCCL would not take.
 */

namespace ns3
{
namespace proteus
{

namespace msccl
{

/// Elements that stand somewhere in a document.
using XmlElements = std::vector<std::reference_wrapper<const XmlElement>>;

/// @param gpu an element "gpu" @return its thread blocks
XmlElements GetBlocks(const XmlElement& gpu);

/// @param algo the outermost element of a schedule that can run @param schedule that was made of it
/// @return what it says in vain, or MSCCL would refuse, a text each, which begins with "LINE: "
std::vector<std::string> FindDoubts(const XmlElement& algo, const MscclSchedule& schedule);

} // namespace msccl

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MSCCL_DOUBTS_H
