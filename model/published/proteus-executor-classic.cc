/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-executor.h"

#include "ns3/proteus-executor.h"
#include "ns3/proteus-other-names.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Duan et al. 2024 call their executor the hierarchical topology-aware executor.
const OtherNamesRegistry::Registration WORDS("classic", {{"htae"}});

/// @param isPlain whether it is without the rules of overlap and sharing
/// @return what the executor is
ExecutorTraits
DescribeClassic(bool isPlain)
{
    ExecutorTraits traits;
    traits.name = isPlain ? "classic-plain" : "classic";
    traits.description =
        isPlain ? "the same without overlap and sharing" : "the rules of the published Proteus";
    traits.position = isPlain ? 6 : 5;
    traits.isHtae = !isPlain;
    traits.hasStreams = false;
    traits.hasNetwork = false;
    traits.hasOverlapFactor = !isPlain;
    return traits;
}

/// See RunClassic(). The plain one is what the paper compares with to say what its two effects at
/// run time are worth.
class ClassicExecutor : public Executor
{
  public:
    /// @param isPlain whether it is without the rules of overlap and sharing
    explicit ClassicExecutor(bool isPlain)
        : Executor(DescribeClassic(isPlain)),
          m_isPlain(isPlain)
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
        options.overlapFactor = m_isPlain ? 0 : settings.overlapFactor;
        options.sharesBandwidth = !m_isPlain && settings.sharesLinks;
        RunRecord record;
        record.timeline = RunClassic(graph, cluster, options);
        return record;
    }

    const bool m_isPlain;
};

const ExecutorRegistration CLASSIC(std::make_unique<ClassicExecutor>(false));
const ExecutorRegistration CLASSIC_PLAIN(std::make_unique<ClassicExecutor>(true));

} // namespace

} // namespace proteus
} // namespace ns3
