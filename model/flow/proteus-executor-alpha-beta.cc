/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-run.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// @return what the executor is
ExecutorTraits
DescribeAlphaBeta()
{
    ExecutorTraits traits;
    traits.name = "alpha-beta";
    traits.description = "latency and bandwidth, no sharing";
    traits.position = 4;
    traits.sharesGpus = true;
    traits.collectiveFields = GetFlowCollectiveFields();
    traits.scenarioParts = {"slow devices"};
    return traits;
}

/// Every communication takes latency plus bytes over bandwidth: see AlphaBetaNetwork.
class AlphaBetaExecutor : public Executor
{
  public:
    AlphaBetaExecutor()
        : Executor(DescribeAlphaBeta())
    {
    }

  private:
    RunRecord DoRun(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ExecutorSettings& settings,
                    RunObserver& observer) const override
    {
        return RunFlowRung(graph, cluster, settings, false, FlowRung::ALPHA_BETA, observer);
    }
};

const ExecutorRegistration ALPHA_BETA(std::make_unique<AlphaBetaExecutor>());

} // namespace

} // namespace proteus
} // namespace ns3
