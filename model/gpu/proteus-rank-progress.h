/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANK_PROGRESS_H
#define PROTEUS_RANK_PROGRESS_H

#include "ns3/proteus-executor.h"

#include <memory>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * How far the processes (MPI ranks) of a run are together, which the first one shows: the others
 * tell it now and then, a few times a second, and nobody waits for that. It changes no result.
 */
class RankProgress
{
  public:
    /// For the run that begins.
    RankProgress();
    ~RankProgress();

    RankProgress(const RankProgress&) = delete;
    RankProgress& operator=(const RankProgress&) = delete;

    /// @param own progress of this rank @return on the first rank, that of all ranks together, as
    /// far as these have told; on others, what was given
    RunProgress Add(const RunProgress& own);

    /// Takes in what is still under way; all ranks have to call it when the run is over.
    void Finish();

  private:
    class Messages;

    std::unique_ptr<Messages> m_messages; //!< to the first rank; null with one rank
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_PROGRESS_H
