/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_RELEASES_H
#define PROTEUS_NCCL_RELEASES_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * Releases of NCCL whose tuner is not that of the others of their minor version.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Releases of one minor version have one tuner here, though some differ (src/graph/tuning.cc of
 * NCCL's tags from 2.5.6 to 2.30.7).
 * @param text a version, as ParseNcclVersion() takes it
 * @return what the tuner of exactly this release has that is not simulated; empty: nothing, or the
 * text does not say a release
 * @throw std::invalid_argument as ParseNcclVersion()
 */
std::string DescribeUnlikeRelease(const std::string& text);

/**
 * @ingroup proteus
 * @param text a version, as ParseNcclVersion() takes it; or empty
 * @return it as people write it, e.g. 2.27.3 for the NCCL_VERSION_CODE 22703; any other text as it
 * is
 * @throw std::invalid_argument as ParseNcclVersion()
 */
std::string FormatNcclRelease(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_RELEASES_H
