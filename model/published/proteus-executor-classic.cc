/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-executor.h"

#include "ns3/proteus-executor.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// @return what the executor is
ExecutorTraits
DescribeClassic()
{
    ExecutorTraits traits;
    traits.name = "classic";
    traits.description = "the rules of the published Proteus";
    traits.position = 5;
    traits.isHtae = true;
    traits.hasStreams = false;
    return traits;
}

/// See RunClassic().
class ClassicExecutor : public Executor
{
  public:
    ClassicExecutor()
        : Executor(DescribeClassic())
    {
    }

  private:
    RunRecord DoRun(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ExecutorSettings& settings,
                    RunObserver& /* observer */) const override
    {
        ClassicOptions options;
        options.roofline = settings.runtime.roofline;
        RunRecord record;
        record.timeline = RunClassic(graph, cluster, options);
        return record;
    }
};

const ExecutorRegistration CLASSIC(std::make_unique<ClassicExecutor>());

} // namespace

} // namespace proteus
} // namespace ns3
