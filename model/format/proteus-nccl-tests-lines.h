/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TESTS_LINES_H
#define PROTEUS_NCCL_TESTS_LINES_H

#include <cstddef>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Tells what nccl-tests prints from what NCCL does at the same time (NCCL_DEBUG=INFO),
 * "HOST:PID:TID [0] NCCL INFO ...". nccl-tests prints the begin of a row, runs the operation, and
 * prints the times behind it, so that messages stand in the middle of a row.
 */
class NcclTestsLines
{
  public:
    /// What a line brings.
    struct Parts
    {
        std::string row;     //!< of nccl-tests, maybe put together of several lines; may be empty
        std::string message; //!< of NCCL; may be empty
    };

    /// @param line of a log, below the header of the table
    /// @param nBefore words before what nccl-tests prints @param nColumns of the table
    /// @return its parts
    Parts Take(const std::string& line, std::size_t nBefore, std::size_t nColumns);

  private:
    std::string m_begin; //!< of a row whose end is still to come
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TESTS_LINES_H
