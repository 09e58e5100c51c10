/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_ORTHOGONAL_H
#define PROTEUS_EMIT_ORTHOGONAL_H

#include "proteus-emit-gradients.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: what Muon does to updates before they are made.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes the updates of matrices orthogonal (Muon). Of matrices whose state replicas share, each has
 * some, so that the work is even, as Megatron-LM's layer-wise optimizer deals them out. Under ZeRO
 * 1 and 2 that is who gets the gradient of the matrix: nothing more is sent. Under ZeRO 3 a device
 * has a slice of each, so that momenta go to who has the matrix and updates come back, in 16 bits
 * (microsoft/dion, muon.py: all-to-all). What tensor-parallel devices have of one is a matrix of
 * its own (Megatron-LM, --muon-tp-mode blockwise).
 */
class OrthogonalEmitter
{
  public:
    /// By device: what comes before, or what ends something.
    using Ready = std::vector<std::vector<TaskId>>;

    /// @param context of the compilation; outlives this object
    /// @param gradients reduced ones; outlive this object
    OrthogonalEmitter(EmitContext& context, const GradientEmitter& gradients)
        : m_context(context),
          m_gradientsOf(gradients)
    {
    }

    /// @param ready the gradients of each device, and then its orthogonal updates
    void Emit(Ready& ready);

  private:
    /// A matrix whose update becomes orthogonal, and who shares its state.
    struct SharedMatrix
    {
        Matrices matrices;             //!< as they are on a device that has them whole
        std::vector<DeviceId> devices; //!< that share them, one of which has the work
        uint64_t elements{0};          //!< of all of it
    };

    /// Bytes that a device of each group has.
    using Exchanged = std::map<std::vector<DeviceId>, uint64_t>;

    Layout GetWhole(const PlacedTensor& parameter) const;
    std::vector<SharedMatrix> ListMatrices() const;
    void EmitExchange(const Exchanged& bytes, const std::string& name, Ready& ready);

    EmitContext& m_context;
    const GradientEmitter& m_gradientsOf;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_ORTHOGONAL_H
