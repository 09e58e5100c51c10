/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-compiler.h"

#include "proteus-emit-optimizer.h"
#include "proteus-emit-passes.h"
#include "proteus-emit-schedule.h"
#include "proteus-emit-units.h"

namespace ns3
{
namespace proteus
{

ExecutionGraph
CompileModel(const Model& model, const StrategyTree& tree, const CompileOptions& options)
{
    const Placement placement = PlaceModel(model, tree);
    EmitContext context(model, placement, tree, options);
    ScheduleEmitter schedule(context);
    schedule.AddFacts();
    schedule.AddPhases();
    RecentKernels recent;
    EmitNextIteration next;
    Converter converter(context, recent, next);
    GradientEmitter gradients(context, converter);
    PassEmitter(context, gradients, recent, converter, next).Emit();
    gradients.EmitGradients();
    OrderUnits(context);
    gradients.EmitTies();
    OptimizerEmitter(context, gradients, next).EmitOptimizer();
    schedule.AddSchedules(gradients);
    if (options.carried)
    {
        *options.carried = next.carried;
    }
    return context.builder.Build();
}

} // namespace proteus
} // namespace ns3
