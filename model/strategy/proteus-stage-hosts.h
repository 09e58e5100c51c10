/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STAGE_HOSTS_H
#define PROTEUS_STAGE_HOSTS_H

#include <cstdint>
#include <map>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What the hosts of a pipeline's stages keep from one pass to the next, where nothing lets them
 * wait in between. In the steady state of forward and backward passes in turn a stage adds what its
 * GPU needs to its host's lead, and its host's time takes it away: if the GPU needs as much or
 * more, it never waits. Else the lead is used up somewhere in both passes, so that what is left at
 * the end does not depend on the lead at their beginning.
 */
class StageHosts
{
  public:
    /**
     * Told of every kernel of a pass in order, by stages.
     * @param stage of the pipeline @param hostPs of the kernel @param gpuPs of it, picoseconds
     * @param leadPs how long the GPU is busy when the host has issued it, picoseconds
     */
    void Add(uint32_t stage, int64_t hostPs, int64_t gpuPs, int64_t leadPs);

    /// Says that all kernels of both passes are known.
    void Finish()
    {
        m_isKnown = true;
    }

    /**
     * @param stage of the pipeline, one of whose passes begins
     * @return how long the GPU is busy with what was issued before, picoseconds
     */
    int64_t GetLead(uint32_t stage) const;

  private:
    struct Stage
    {
        int64_t hostPs{0}; //!< of both passes
        int64_t gpuPs{0};  //!< of both passes
        int64_t leadPs{0}; //!< at the end of what was told last
    };

    bool m_isKnown{false};
    std::map<uint32_t, Stage> m_stages;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STAGE_HOSTS_H
