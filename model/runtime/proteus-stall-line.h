/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STALL_LINE_H
#define PROTEUS_STALL_LINE_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * A line on why a device does not go on.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a stream or a communication of a device waits for.
struct StallLine
{
    std::string text;      //!< without a line end
    bool isReceive{false}; //!< a receive, which waits for what other lines say
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STALL_LINE_H
