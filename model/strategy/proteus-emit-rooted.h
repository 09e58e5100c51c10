/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_ROOTED_H
#define PROTEUS_EMIT_ROOTED_H

#include "proteus-emit-conversion.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: scatters and gathers that may become an all-to-all.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Holds scatters and gathers back until one is needed. Where those of a group make an all-to-all
/// together, it makes that instead.
class RootedEmitter
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param tensors where they are; outlive this object
    /// @param converter that makes the single ones; outlives this object
    RootedEmitter(EmitContext& context, EmitTensors& tensors, Converter& converter)
        : m_context(context),
          m_tensors(tensors),
          m_converter(converter)
    {
    }

    /**
     * @param tensor that was made, or whose gradient was
     * @param isGradient which of them
     * @param made how it was made
     * @param cargo what it is
     * @return whether its conversion is put off
     */
    bool Defer(TensorId tensor, bool isGradient, const Value& made, const Cargo& cargo);

    /// Makes what was put off.
    void EmitDeferred();

    /// @param tensor a tensor @param isGradient whether its gradient is meant
    /// @return whether it is put off
    bool IsDeferred(TensorId tensor, bool isGradient) const;

  private:
    /// A scatter or a gather that waits for others.
    struct Rooted
    {
        TensorId tensor{0};
        bool isGradient{false};
        Value value; //!< before
        BoxingStep step;
        Cargo cargo;
    };

    bool EmitAllToAll();

    EmitContext& m_context;
    EmitTensors& m_tensors;
    Converter& m_converter;
    std::vector<Rooted> m_deferred; //!< of one kind and group
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_ROOTED_H
