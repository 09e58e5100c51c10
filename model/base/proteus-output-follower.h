/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OUTPUT_FOLLOWER_H
#define PROTEUS_OUTPUT_FOLLOWER_H

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * While one lives, this process writes no files and no warnings, since another process of the same
 * run does: WriteFile(), CheckWritable() and Warn() do nothing. Which process that is belongs to
 * the process as a whole, as its standard output does; RankSession owns it.
 */
class OutputFollower
{
  public:
    OutputFollower();
    ~OutputFollower();

    OutputFollower(const OutputFollower&) = delete;
    OutputFollower& operator=(const OutputFollower&) = delete;

    /// @return whether one lives
    static bool IsThere();
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OUTPUT_FOLLOWER_H
