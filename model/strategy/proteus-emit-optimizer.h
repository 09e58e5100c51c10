/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_OPTIMIZER_H
#define PROTEUS_EMIT_OPTIMIZER_H

#include "proteus-emit-gradients.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: the update of parameters.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Makes the updates of parameters, and what distributes them.
class OptimizerEmitter
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param gradients reduced ones; outlive this object
    /// @param next what the next iteration waits for; outlives this object
    OptimizerEmitter(EmitContext& context,
                     const GradientEmitter& gradients,
                     EmitNextIteration& next)
        : m_context(context),
          m_gradientsOf(gradients),
          m_next(next)
    {
    }

    /// Makes all updates.
    /// @throw std::invalid_argument for immediate updates that the strategy does not allow
    void EmitOptimizer();

  private:
    /// What one update is about, on its device.
    struct Updated
    {
        uint64_t elements{0}; //!< of all its parameters
        uint64_t tensors{0};  //!< how many parameters
        uint64_t devices{1};  //!< KernelDescription::devices
        double stateBytes{0}; //!< of the optimizer's state for these elements
    };

    uint64_t CountUpdated(TensorId parameter, uint32_t position) const;
    Updated CountUpdate(TensorId parameter, uint32_t position, uint64_t devices) const;
    uint64_t CountEmitted(const DeviceMesh& mesh) const;
    TaskId EmitUpdate(DeviceId device,
                      const std::string& name,
                      const Updated& updated,
                      const std::vector<TaskId>& ready);
    std::map<DeviceId, TaskId> EmitUpdates(bool isFused);
    void EmitImmediateUpdates();
    void EmitParameterGathers(const std::map<DeviceId, TaskId>& updates);

    EmitContext& m_context;
    const GradientEmitter& m_gradientsOf;
    EmitNextIteration& m_next;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_OPTIMIZER_H
