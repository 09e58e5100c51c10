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

/// @param isCalibrated whether a calibration is needed @return what the executor is
ExecutorTraits
DescribeFlow(bool isCalibrated)
{
    ExecutorTraits traits;
    traits.name = isCalibrated ? "flow_calibrated" : "flow";
    traits.description = isCalibrated ? "max-min fair flows, calibrated" : "max-min fair flows";
    traits.position = isCalibrated ? 3 : 2;
    traits.hasSlowdowns = true;
    traits.sharesGpus = true;
    traits.hasPaths = true;
    traits.hasCongestion = true;
    traits.isHtae = !isCalibrated;
    traits.needsCalibration = isCalibrated;
    traits.refines = isCalibrated ? "flow" : "";
    traits.collectiveFields = GetFlowCollectiveFields();
    traits.scenarioParts = {"slow devices"};
    return traits;
}

/// HTAE's flow network: flows share links, max-min fair.
class FlowLevelExecutor : public Executor
{
  public:
    /// @param isCalibrated whether the parameters come from a calibration
    explicit FlowLevelExecutor(bool isCalibrated)
        : Executor(DescribeFlow(isCalibrated))
    {
    }

  private:
    RunRecord DoRun(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ExecutorSettings& settings,
                    RunObserver& observer) const override
    {
        return RunFlowRung(graph,
                           cluster,
                           settings,
                           GetTraits().needsCalibration,
                           FlowRung::FLOW,
                           observer);
    }
};

const ExecutorRegistration FLOW(std::make_unique<FlowLevelExecutor>(false));
const ExecutorRegistration FLOW_CALIBRATED(std::make_unique<FlowLevelExecutor>(true));

} // namespace

} // namespace proteus
} // namespace ns3
