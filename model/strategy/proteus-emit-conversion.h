/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_CONVERSION_H
#define PROTEUS_EMIT_CONVERSION_H

#include "proteus-emit-context.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: communication between layouts.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a conversion is about, besides the layouts.
struct Cargo
{
    std::string name;         //!< of the data
    Shape shape;              //!< of the whole tensor
    uint64_t elementBytes{0}; //!< bytes of an element
    PhaseId sendPhase{0};     //!< of the communication
    PhaseId receivePhase{0};  //!< of the result
    bool isTransfer{false};   //!< between stages
    bool isExchange{false};   //!< always all-to-all
    /// Of an exchange that has phases of its own: those, in place of the above.
    std::optional<ExchangePhases> exchange;
    ExpertRouting routing;   //!< of an exchange of tokens: which experts they may get
    bool isParameter{false}; //!< gathered ahead of its use
    bool isRead{false};      //!< for an operator that reads it
};

/// @ingroup proteus
/// Brings values from one layout to another.
class Converter
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param recent last kernels; outlive this object
    /// @param next what the next iteration waits for; outlives this object
    Converter(EmitContext& context, const RecentKernels& recent, EmitNextIteration& next)
        : m_context(context),
          m_recent(recent),
          m_next(next)
    {
    }

    /// @param value to convert @param target layout @param cargo what it is @return the result
    Value Convert(const Value& value, const Layout& target, const Cargo& cargo);

    /// @param step a collective @param shape of the tensor
    /// @return in how many pieces it runs beside kernels; 1: as a whole
    uint32_t CountPieces(const BoxingStep& step, const Shape& shape) const;
    /// @param value to convert @param step a collective @param cargo what it is @return the result
    Value EmitCollective(const Value& value, const BoxingStep& step, const Cargo& cargo);
    /// @param value to convert @param step an all-to-all of tokens that go once to a server
    /// @param cargo what it is @return the result
    Value EmitDispatch(const Value& value, const BoxingStep& step, const Cargo& cargo);
    /// @param value to convert @param step from point to point @param cargo what it is
    /// @return the result
    Value EmitTransfers(const Value& value, const BoxingStep& step, const Cargo& cargo);
    /// @param step of a conversion @return what its communication serves
    static Parallelism FindParallelism(const BoxingStep& step);

  private:
    std::vector<TaskId> FindReady(const Value& value,
                                  const BoxingStep& step,
                                  const std::vector<DeviceId>& devices,
                                  const Cargo& cargo) const;
    TaskId EmitGroup(const Value& value,
                     const BoxingStep& step,
                     const BoxingGroup& group,
                     const Cargo& cargo);
    void EmitDispatchStage(const Value& value,
                           const BoxingStep& step,
                           const DispatchStage& stage,
                           Task exchange,
                           const Cargo& cargo,
                           Row& done);
    static uint32_t FindScatterAxis(const BoxingStep& step,
                                    const std::vector<BoxingTransfer>& transfers);
    Value EmitScatterGather(const Value& value,
                            const BoxingStep& step,
                            const std::vector<BoxingTransfer>& transfers,
                            MeshAxis axis,
                            const Cargo& cargo);
    TaskId EmitSend(DeviceId from,
                    DeviceId to,
                    uint64_t bytes,
                    const std::vector<TaskId>& ready,
                    Parallelism parallelism,
                    const Cargo& cargo);
    static void AddOwn(const std::vector<std::vector<TaskId>>& producers,
                       const std::vector<bool>& isReceiver,
                       Value& result);

    EmitContext& m_context;
    const RecentKernels& m_recent;
    EmitNextIteration& m_next;
    /// By device and phase: what ends when all kernels of a pass have, of those that stages
    /// exchange the results of (CompileOptions::exchangesTransfers).
    std::map<std::pair<DeviceId, PhaseId>, TaskId> m_passed;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_CONVERSION_H
