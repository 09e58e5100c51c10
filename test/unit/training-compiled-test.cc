/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The whole way to a time, against measured training iterations: model, strategy, compiler,
// operator cost and runtime, on a network without contention.

#include "training-data.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-device-runtime.h"
#include "ns3/proteus-kernel-times.h"

#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <utility>

using namespace ns3::proteus;
using namespace ns3::proteus::training;

namespace
{

constexpr double PS_PER_S = 1e12;

/// Runs events in order of time.
class EventClock : public Clock
{
  public:
    int64_t GetTimePs() const override
    {
        return m_time;
    }

    void Schedule(DeviceId /* device */, int64_t delayPs, std::function<void()> callback) override
    {
        m_events.emplace(std::make_pair(m_time + delayPs, m_next++), std::move(callback));
    }

    void Run()
    {
        while (!m_events.empty())
        {
            const auto event = m_events.begin();
            m_time = event->first.first;
            const auto callback = std::move(event->second);
            m_events.erase(event);
            callback();
        }
    }

  private:
    int64_t m_time{0};
    uint64_t m_next{0};
    std::map<std::pair<int64_t, uint64_t>, std::function<void()>> m_events;
};

/// A communication takes the time of a ring once all have joined that are executed: the others are
/// replicas of them, which do the same at the same time.
class RingNetwork : public Network
{
  public:
    RingNetwork(const ExecutionGraph& graph,
                const Job& job,
                const std::set<DeviceId>& executed,
                EventClock& clock)
        : m_graph(graph),
          m_job(job),
          m_executed(executed),
          m_clock(clock)
    {
    }

    void Join(DeviceId device, TaskId id, uint32_t microBatch, std::function<void()> done) override
    {
        auto& members = m_waiting[{id, microBatch}];
        members.emplace_back(device, std::move(done));
        const Task& task = m_graph.GetTask(id);
        const std::vector<DeviceId>& group = m_graph.GetGroup(task.place);
        const auto here = std::count_if(group.begin(), group.end(), [&](DeviceId member) {
            return m_executed.count(member) > 0;
        });
        if (members.size() < static_cast<std::size_t>(here))
        {
            return;
        }
        // Neighbours share a server; others reach each other over the network, if there is one.
        const auto [first, last] = std::minmax_element(group.begin(), group.end());
        const bool isServer = *first / SERVER == *last / SERVER;
        const Fabric& fabric = isServer ? m_job.fabric : m_job.network;
        const auto bytes = static_cast<double>(task.bytes);
        double seconds = AllReduce(fabric, group.size(), bytes);
        if (task.collective == Collective::SEND_RECV)
        {
            seconds = fabric.constant + bytes / fabric.bandwidth;
        }
        else if (task.collective != Collective::ALL_REDUCE)
        {
            seconds /= 2;
        }
        for (auto& [member, callback] : members)
        {
            m_clock.Schedule(member, static_cast<int64_t>(seconds * PS_PER_S), std::move(callback));
        }
        m_waiting.erase({id, microBatch});
    }

    std::string DescribeWait(DeviceId /* device */,
                             TaskId /* task */,
                             uint32_t /* microBatch */) const override
    {
        return "waits for others";
    }

  private:
    static constexpr DeviceId SERVER = 8; //!< GPUs

    const ExecutionGraph& m_graph;
    const Job& m_job;
    const std::set<DeviceId>& m_executed;
    EventClock& m_clock;
    std::map<std::pair<TaskId, uint32_t>, std::vector<std::pair<DeviceId, std::function<void()>>>>
        m_waiting;
};

/// Makes Megatron-LM's GPT and the strategy of a job, side by side.
class GptMaker
{
  public:
    GptMaker(const Job& job, uint32_t microBatches)
        : m_job(job),
          m_builder("gpt"),
          m_last(static_cast<uint32_t>(job.pp * job.virtualStages) - 1)
    {
        m_tree.name = "gpt";
        m_tree.axisNames = {"pp", "dp", "tp"};
        m_tree.axisSizes = {static_cast<uint32_t>(job.pp),
                            static_cast<uint32_t>(job.dp),
                            static_cast<uint32_t>(job.tp)};
        m_tree.schedule.microBatches = microBatches;
        m_tree.schedule.kind = job.virtualStages > 1 ? ScheduleKind::INTERLEAVED
                                                     : ScheduleKind::ONE_FORWARD_ONE_BACKWARD;
        m_tree.gradients.policy = job.overlapGradients ? BucketPolicy::DDP : BucketPolicy::WHOLE;
        m_tree.optimizer.zero = job.overlapGradients ? 1 : 0;
        m_tree.optimizer.zeroAxes = {"dp"};
        m_tree.gradients.isInPlace = true;
        m_tree.precision.compute = job.type;
        m_tree.precision.gradient = job.gradientBytes == 4 ? DataType::FP32 : job.type;
        const Shape tokens{job.microBatch * job.dp, job.sequence};
        const std::vector<std::string> names{"batch", "sequence"};
        const TensorId words = m_builder.AddInput("tokens", tokens, names, ElementKind::INDEX);
        const TensorId labels = m_builder.AddInput("labels", tokens, names, ElementKind::INDEX);
        const auto vocabulary = static_cast<int64_t>(
            PadGptVocabulary(static_cast<uint32_t>(job.vocabulary), static_cast<uint32_t>(job.tp)));
        const auto hidden = static_cast<int64_t>(job.hidden);

        StrategyNode& root = m_tree.root;
        TensorId x = Add(root,
                         "embedding",
                         "",
                         "word",
                         {words},
                         {{"rows", {vocabulary}}, {"width", {hidden}}},
                         0,
                         "rows")[0];
        SplitResult(root);
        x = Add(root,
                "position-embedding",
                "",
                "position",
                {x},
                {{"dropout", {1}}},
                0,
                SEQUENCE)[0];
        for (uint32_t layer = 0; layer < job.layers; ++layer)
        {
            x = AddLayer(layer, x);
        }
        x = Add(root, "layer-norm", "", "norm", {x}, {}, m_last, SEQUENCE)[0];
        x = Add(root,
                "linear",
                "",
                "output",
                {x},
                {{"outputs", {vocabulary}}, {"bias", {0}}},
                m_last,
                "out",
                {{"weight", m_builder.FindTensor("word.weight")}})[0];
        const TensorId maximum =
            Add(root, "vocabulary-maximum", "", "maximum", {x}, {}, m_last, "classes")[0];
        const std::vector<TensorId> sums =
            Add(root, "vocabulary-sum", "", "sum", {x, labels, maximum}, {}, m_last, "classes");
        Add(root, "vocabulary-loss", "", "loss", {x, sums[0], sums[1]}, {}, m_last, "classes");
    }

    ExecutionGraph Compile(const KernelCostModel& cost)
    {
        CompileOptions options;
        options.kernelTime =
            MakeKernelTimer(cost, m_job.type, static_cast<uint32_t>(m_job.gradientBytes));
        return CompileModel(m_builder.Build(), m_tree, options);
    }

  private:
    using Numbers = std::map<std::string, std::vector<int64_t>>;

    /// Split over the sequence where the job says so.
    static constexpr const char* SEQUENCE = "1";

    /// Adds an operator, replicas along the batch, tensor parallel along `split` ("": replicated).
    std::vector<TensorId> Add(StrategyNode& parent,
                              const std::string& kind,
                              const std::string& prefix,
                              const std::string& name,
                              const std::vector<TensorId>& inputs,
                              const Numbers& numbers,
                              uint32_t stage,
                              const std::string& split,
                              const std::map<std::string, TensorId>& shared = {})
    {
        StrategyNode node;
        node.name = name;
        node.stage = stage;
        node.op.mesh.emplace().slice = {{"pp", stage % static_cast<uint32_t>(m_job.pp)}};
        node.op.splits = std::vector<SplitSpec>{{"0", 0, {"dp"}}};
        if (!split.empty() && (split != SEQUENCE || m_job.sequenceParallel))
        {
            node.op.splits->push_back({split, 0, {"tp"}});
        }
        parent.children.push_back(node);
        OperatorAttributes attributes;
        attributes.numbers = numbers;
        return m_builder.Add(kind, prefix + name, inputs, attributes, shared);
    }

    /// The result of the operator before is reduced and scattered along the sequence.
    void SplitResult(StrategyNode& parent)
    {
        if (m_job.sequenceParallel)
        {
            parent.children.back().items["out"].splits =
                std::vector<SplitSpec>{{"0", 0, {"dp"}}, {"1", 0, {"tp"}}};
        }
    }

    TensorId AddLayer(uint32_t layer, TensorId x)
    {
        const auto stage =
            static_cast<uint32_t>(layer / (m_job.layers / m_job.pp / m_job.virtualStages));
        const auto hidden = static_cast<int64_t>(m_job.hidden);
        const auto heads = static_cast<int64_t>(m_job.heads);
        StrategyNode node;
        node.name = "layer" + std::to_string(layer);
        const std::string prefix = node.name + ".";
        auto add = [&](const std::string& kind,
                       const std::string& name,
                       const std::vector<TensorId>& inputs,
                       const std::string& split,
                       const Numbers& numbers = {}) {
            return Add(node, kind, prefix, name, inputs, numbers, stage, split);
        };
        TensorId residual = x;
        x = add("layer-norm", "norm1", {x}, SEQUENCE)[0];
        const std::vector<TensorId> qkv =
            add("linear",
                "qkv",
                {x},
                "out",
                {{"outputs", {hidden, hidden, hidden}}, {"groups", {heads}}});
        const int64_t isFused = m_job.fusedAttention ? 1 : 0;
        x = add("attention",
                "core",
                qkv,
                "heads",
                {{"heads", {heads}}, {"fused", {isFused}}, {"dropout", {1 - isFused}}})[0];
        if (m_job.recompute == Recompute::SELECTIVE && !m_job.fusedAttention)
        {
            node.children.back().recompute = true;
        }
        x = add("linear", "projection", {x}, "in", {{"outputs", {hidden}}})[0];
        SplitResult(node);
        x = residual = add("dropout-add", "dropout1", {x, residual}, SEQUENCE)[0];
        x = add("layer-norm", "norm2", {x}, SEQUENCE)[0];
        x = add("linear", "fc1", {x}, "out", {{"outputs", {4 * hidden}}})[0];
        x = add("gelu", "gelu", {x}, "2")[0];
        x = add("linear", "fc2", {x}, "in", {{"outputs", {hidden}}})[0];
        SplitResult(node);
        x = add("dropout-add", "dropout2", {x, residual}, SEQUENCE)[0];
        if (m_job.recompute == Recompute::FULL)
        {
            node.recompute = true;
        }
        m_tree.root.children.push_back(node);
        return x;
    }

    const Job& m_job;
    ModelBuilder m_builder;
    StrategyTree m_tree;
    uint32_t m_last; //!< stage
};

/// @return seconds of so many micro-batches of a job, of which one replica is executed
double
Execute(const Job& job, const KernelCostModel& cost, uint32_t microBatches, bool isOneReplica)
{
    const ExecutionGraph graph = GptMaker(job, microBatches).Compile(cost);
    std::set<DeviceId> executed;
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        if (!isOneReplica || device / job.tp % job.dp == 0)
        {
            executed.insert(device);
        }
    }
    EventClock clock;
    RingNetwork network(graph, job, executed, clock);
    std::vector<std::unique_ptr<DeviceRuntime>> devices;
    int64_t endPs = 0;
    for (const DeviceId device : executed)
    {
        devices.push_back(std::make_unique<DeviceRuntime>(graph,
                                                          device,
                                                          cost.GetGpu(),
                                                          RuntimeOptions(),
                                                          clock,
                                                          network));
        devices.back()->SetSpanSink(
            [&endPs](const Span& span) { endPs = std::max(endPs, span.endPs); });
    }
    for (const auto& device : devices)
    {
        device->Start();
    }
    clock.Run();
    for (const auto& device : devices)
    {
        EXPECT_TRUE(device->IsDone());
    }
    return static_cast<double>(endPs) / PS_PER_S;
}

/// @return seconds of a job's iteration
double
Execute(const Job& job, const KernelCostModel& cost)
{
    return Execute(job, cost, static_cast<uint32_t>(job.GetNMicroBatches()), false);
}

/// The same for a large job: one replica, and a steady state that goes on as it began.
double
ExecuteLarge(const Job& job, const KernelCostModel& cost)
{
    const auto fewer = static_cast<uint32_t>(2 * job.pp);
    const double time = Execute(job, cost, fewer, true);
    const double more = Execute(job, cost, 2 * fewer, true);
    return more + (more - time) / fewer * static_cast<double>(job.GetNMicroBatches() - 2 * fewer);
}

} // namespace

TEST(TrainingCompiled, MeetsTheMeasurements)
{
    if (!std::filesystem::exists(TRAINING))
    {
        GTEST_SKIP() << "the measurements are not there: " << TRAINING;
    }
    const std::vector<Job> rows = ReadRows();
    ASSERT_EQ(rows.size(), 272u);
    const KernelCostModel cost(FindGpuDatasheet(rows[0].gpu));
    std::vector<double> times;
    for (const Job& job : rows)
    {
        times.push_back(Execute(job, cost));
    }
    const Errors all = Measure(rows, times);
    Print("compiled and executed, all", all);
    for (uint64_t tp : {1, 2, 4, 8})
    {
        const std::string what = "compiled and executed, tp " + std::to_string(tp);
        Print(what.c_str(), Measure(rows, times, [&](const Job& job) { return job.tp == tp; }));
    }
    const double rank = RankCorrelation(rows, times);
    std::printf("  rank correlation %.4f\n", rank);
    EXPECT_LE(all.meanAbsolute, 0.08);
    EXPECT_GE(rank, 0.95);
}

TEST(TrainingCompiled, LargeModel)
{
    if (!std::filesystem::exists(TRAINING))
    {
        GTEST_SKIP() << "the measurements are not there: " << TRAINING;
    }
    for (const Job& job : ReadPoints())
    {
        const KernelCostModel cost(FindGpuDatasheet(job.gpu));
        const bool isLarge = job.tp * job.pp * job.dp > 8;
        const double seconds = isLarge ? ExecuteLarge(job, cost) : Execute(job, cost);
        std::printf(
            "  %llu layers of %llu on %s, recomputation %s: %.3f s, measured %.3f, %+.1f %%\n",
            static_cast<unsigned long long>(job.layers),
            static_cast<unsigned long long>(job.hidden),
            job.gpu.c_str(),
            ToString(job.recompute),
            seconds,
            job.measured,
            100 * (seconds / job.measured - 1));
        EXPECT_NEAR(seconds / job.measured, 1, 0.1);
    }
}
