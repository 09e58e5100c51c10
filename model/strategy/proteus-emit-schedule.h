/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_SCHEDULE_H
#define PROTEUS_EMIT_SCHEDULE_H

#include "proteus-emit-context.h"
#include "proteus-emit-gradients.h"
#include "proteus-emit-pieces.h"
#include "proteus-stage-schedule.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: phases, streams and schedules of the graph of CompileModel().
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Makes phases and streams before all else, and the schedules of the devices in the end.
class ScheduleEmitter
{
  public:
    /// @param context of the compilation; outlives this object
    explicit ScheduleEmitter(EmitContext& context)
        : m_context(context),
          m_pieces(context)
    {
    }

    /// Says what is trained.
    void AddFacts();
    /// Adds phases and streams. @throw std::invalid_argument for stages that share some devices
    void AddPhases();
    /// Adds schedules and gates. @param gradients all of them
    /// @throw std::invalid_argument for a schedule that cannot run
    void AddSchedules(const GradientEmitter& gradients);

  private:
    bool HasScattered() const;
    void FindChunks();
    void AddOperatorPhases();
    void AddStreams();
    void AddDataLoading();
    void CheckSchedule() const;
    std::vector<ScheduleEntry> MakePasses(
        uint32_t rank,
        const std::vector<std::vector<StageEntry>>& limited) const;
    std::vector<ScheduleEntry> MakeOverlappedPasses(uint32_t rank, bool isReducedBeside) const;
    uint32_t GetLimit(uint32_t rank) const;

    EmitContext& m_context;
    LayerPieces m_pieces; //!< where exchanges of experts run beside another micro-batch
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_SCHEDULE_H
