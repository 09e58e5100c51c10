/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_KERNELS_H
#define PROTEUS_EMIT_KERNELS_H

#include "proteus-emit-context.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: kernels and persistent memory of the graph of CompileModel().
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A kernel whose result is reduced and scattered piece by piece.
struct KernelPieces
{
    uint32_t pieces{1}; //!< how many
    Row first;          //!< by position: the kernel of the first of them
};

/// @ingroup proteus
/// Makes the kernels of operators.
class KernelEmitter
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param tensors where they are; outlive this object
    /// @param recent last kernels; outlive this object
    KernelEmitter(EmitContext& context, const EmitTensors& tensors, RecentKernels& recent);

    /**
     * @param id an operator
     * @param part its forward pass, or a part of the backward pass
     * @param phase when it runs
     * @param name of the kernel
     * @param reads what it reads; where something arrives in pieces, all of the kernel but the
     * share of the last one runs beside its collective
     * @param written of a result in pieces, how many; gets the kernel of the first one; or null
     * @return its tasks on the operator's mesh, the last ones
     */
    Row EmitKernel(OperatorId id,
                   const OperatorPart& part,
                   PhaseId phase,
                   const std::string& name,
                   const std::vector<Value>& reads,
                   KernelPieces* written = nullptr);

    /// Adds what is there from the beginning: parameters, gradients, state and data.
    /// @param losses results that nobody reads
    void AddPersistentMemory(const std::set<TensorId>& losses);

    /// @param mesh of kernels that wait from now on @param row for what, by position; empty: for
    /// nothing more
    void SetTrigger(const MeshPtr& mesh, const Row& row)
    {
        m_triggerMesh = mesh;
        m_trigger = row;
    }

    /// @param mesh of an operator @return whether its devices share experts
    static bool SharesExperts(const DeviceMesh& mesh);

  private:
    uint64_t CountTraffic(const PlacedOperator& placed,
                          const OperatorPart& part,
                          uint32_t position,
                          const std::vector<uint64_t>& extents) const;

    /// A kernel without its place.
    struct Kernel
    {
        Task task;             //!< of it
        uint64_t heldBytes{0}; //!< memory while it runs, besides what it reads and writes
    };

    Kernel MakePiece(const PlacedOperator& placed,
                     const OperatorPart& part,
                     PhaseId phase,
                     uint32_t position,
                     const std::vector<uint64_t>& extents,
                     uint32_t pieces) const;
    bool StaysInHalfPrecision(const ModelOperator& op) const;
    const Access* FindFrozenWeight(const ModelOperator& op) const;
    bool IsInFourBits(const ModelOperator& op) const;
    double GetFrozenBytes(const PlacedTensor& placed) const;
    static std::vector<uint64_t> FindExtents(const PlacedOperator& placed, uint32_t position);
    Kernel MakeKernel(const PlacedOperator& placed,
                      const OperatorPart& part,
                      PhaseId phase,
                      uint32_t position,
                      const std::vector<uint64_t>& extents,
                      uint32_t ring,
                      uint32_t pieces) const;

    EmitContext& m_context;
    const EmitTensors& m_tensors;
    RecentKernels& m_recent;
    bool m_hasBlocks;      //!< whether the model has numbered blocks
    Row m_trigger;         //!< what a recomputation waits for
    MeshPtr m_triggerMesh; //!< where
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_KERNELS_H
