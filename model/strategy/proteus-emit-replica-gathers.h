/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_REPLICA_GATHERS_H
#define PROTEUS_EMIT_REPLICA_GATHERS_H

#include "proteus-emit-context.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: updated parameters, gathered while the forward pass begins (ZeRO
 * 1 and 2).
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Gathers the parameters that the update of the iteration before has left in shares, unit by unit
 * in the order of the forward pass, all before it in a phase of their own: Megatron-LM's
 * --overlap-param-gather, whose buckets a unit stands for. The forward pass of the first
 * micro-batch waits for a unit where it needs it.
 * @param context of the compilation
 * @param tensors get the gathers as what has to be done before a parameter is read: a row more
 * @param next what the next iteration waits for
 * @return the parameters that have a row more
 */
std::vector<TensorId> EmitReplicaGathers(EmitContext& context,
                                         EmitTensors& tensors,
                                         EmitNextIteration& next);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_REPLICA_GATHERS_H
