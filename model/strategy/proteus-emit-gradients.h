/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_GRADIENTS_H
#define PROTEUS_EMIT_GRADIENTS_H

#include "proteus-emit-conversion.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: the reduction of gradients of parameters.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A gradient of a parameter, on its way to the optimizer.
struct Leaf
{
    TensorId tensor{0};     //!< the parameter
    uint32_t stage{0};      //!< of the operator
    Value made;             //!< by the backward pass, with partial sums
    Value reduced;          //!< as the optimizer finds it
    uint32_t depth{0};      //!< of the backward operator
    uint32_t operatorId{0}; //!< of it
    uint32_t read{0};       //!< which read it belongs to
};

/// @ingroup proteus
/// Collects the gradients of parameters, and reduces them in buckets.
class GradientEmitter
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param converter of layouts; outlives this object
    GradientEmitter(EmitContext& context, Converter& converter)
        : m_context(context),
          m_converter(converter)
    {
    }

    /// @param leaf a gradient that was made; what is of one parameter and layout adds up
    void Add(const Leaf& leaf);
    /// Reduces all gradients.
    void EmitGradients();
    /// Adds up the gradients of copies of a parameter.
    void EmitTies();

    /// @param function called with every gradient, in the order of reduction
    template <typename F>
    void ForEachInOrder(F function) const
    {
        for (const uint32_t index : m_leavesInOrder)
        {
            function(m_leaves[index]);
        }
    }

    /// @return whether gradients go from device to device, in the stream of what operators need
    bool HasTransfers() const
    {
        return m_hasTransfers;
    }

    /// @return the gradients, in the order of their making
    const std::vector<Leaf>& GetLeaves() const
    {
        return m_leaves;
    }

  private:
    /// Who reduces together, and how.
    using BucketKey = std::pair<Collective, std::vector<DeviceId>>;

    /// Gradients that are reduced together.
    struct Bucket
    {
        PhaseId phase{0};
        StreamId stream{0};
        uint64_t bytes{0};
        uint64_t wholeBytes{0}; //!< of gradients of which these may be shares
        Parallelism parallelism{Parallelism::DATA};
        bool isScattered{false}; //!< whether it scatters what the backward pass has made
        std::vector<TaskId> ready;
        std::vector<uint32_t> leaves; //!< positions in m_leaves
    };

    /// @param tensor a parameter @return how its gradient lies when it is reduced
    const Layout& GetTarget(const PlacedTensor& tensor) const;

    /// @param leaf a gradient @return the unit that makes it last
    uint32_t GetUnit(const Leaf& leaf) const
    {
        return m_context.units.ofOperator[leaf.operatorId];
    }

    PhaseId FindPhase(const BoxingStep& step, uint32_t stage, bool isFirst) const;
    bool IsOfShares(const BoxingStep& step, bool isFirst) const;
    StreamId FindStream(const BoxingStep& step, bool isFirst);
    void SendReduced(const BoxingStep& step, Leaf& leaf);
    bool EmitReduction(const std::vector<uint32_t>& order, uint32_t stage, bool isFirst);
    bool IsFull(const BucketKey& key, const Bucket& bucket, uint32_t stage) const;
    /// Has gradients that are reduced at once wait for transfers to other stages: Megatron-LM's
    /// schedules end when their last transfer is over (p2p_communication.py waits for it, and then
    /// for the device), and reduce gradients then.
    void WaitForSends(const BucketKey& key, Bucket& bucket) const;
    void Flush(const BucketKey& key, Bucket& bucket);

    EmitContext& m_context;
    Converter& m_converter;
    std::vector<Leaf> m_leaves;                           //!< in the order of their making
    std::map<TensorId, uint32_t> m_leafOf;                //!< by tensor
    std::vector<uint32_t> m_leavesInOrder;                //!< by stage, in the order of reduction
    std::map<std::vector<DeviceId>, uint32_t> m_nFlushed; //!< buckets of the stage, by group
    bool m_hasTransfers{false};                           //!< whether some go point to point
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_GRADIENTS_H
