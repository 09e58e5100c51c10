/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-job-test-tools.h"

#include "ns3/proteus-helper.h"
#include "ns3/test.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::jobtest;

/**
 * @ingroup proteus-tests
 * A pipeline with negligible transfers against (m + p - 1)(f + b), and its live activations.
 */
class ProteusPipeline : public TestCase
{
  public:
    ProteusPipeline()
        : TestCase("a pipeline takes (m + p - 1)(f + b)")
    {
    }

    /// What a pipeline run is made of.
    struct Pipeline
    {
        PipelineSchedule schedule;
        std::vector<double> forward;  //!< seconds by stage
        std::vector<double> backward; //!< seconds by stage
        uint32_t microBatches;
    };

    /// Stages on GPUs of a cluster, joined by messages of one byte.
    static ExecutionGraph MakeGraph(const Pipeline& pipeline)
    {
        const auto stages = static_cast<uint32_t>(pipeline.forward.size());
        GraphBuilder builder(stages);
        const StreamId compute = builder.AddStream("compute");
        const StreamId down = builder.AddStream("activations");
        const StreamId up = builder.AddStream("gradients");
        const PhaseId forward = builder.AddPhase("forward", pipeline.microBatches);
        const PhaseId backward = builder.AddPhase("backward", pipeline.microBatches);
        std::vector<TaskId> forwards;
        std::vector<TaskId> activations;
        TaskId received = NO_ID;
        for (uint32_t s = 0; s < stages; ++s)
        {
            const auto name = "stage" + std::to_string(s);
            std::vector<TaskId> after;
            if (s > 0)
            {
                received = builder.AddCommunication(forward,
                                                    builder.AddGroup({s - 1, s}),
                                                    down,
                                                    name + ".activation",
                                                    Collective::SEND_RECV,
                                                    1,
                                                    Parallelism::PIPELINE,
                                                    {forwards[s - 1]});
                after.push_back(received);
            }
            forwards.push_back(builder.AddCompute(forward,
                                                  s,
                                                  compute,
                                                  name + ".forward",
                                                  static_cast<int64_t>(pipeline.forward[s] * 1e12),
                                                  after));
            activations.push_back(
                builder.AddMemory(forward, s, name + ".saved", 1, {forwards.back()}));
        }
        TaskId gradient = NO_ID;
        for (uint32_t s = stages; s-- > 0;)
        {
            const auto name = "stage" + std::to_string(s);
            std::vector<TaskId> after{activations[s]};
            if (gradient != NO_ID)
            {
                after.push_back(gradient);
            }
            const TaskId task =
                builder.AddCompute(backward,
                                   s,
                                   compute,
                                   name + ".backward",
                                   static_cast<int64_t>(pipeline.backward[s] * 1e12),
                                   after);
            if (s > 0)
            {
                gradient = builder.AddCommunication(backward,
                                                    builder.AddGroup({s, s - 1}),
                                                    up,
                                                    name + ".gradient",
                                                    Collective::SEND_RECV,
                                                    1,
                                                    Parallelism::PIPELINE,
                                                    {task});
            }
            builder.SetSchedule(s,
                                MakePipelineSchedule(pipeline.schedule,
                                                     stages,
                                                     s,
                                                     pipeline.microBatches,
                                                     forward,
                                                     backward));
            if (pipeline.schedule == PipelineSchedule::ONE_FORWARD_ONE_BACKWARD)
            {
                builder.AddGate(
                    {s, forward, backward, std::min(pipeline.microBatches, stages - s)});
            }
        }
        return builder.Build();
    }

  private:
    /// @param pipeline to run @return its outcome
    static Outcome RunPipeline(const Pipeline& pipeline)
    {
        return RunGraph(MakeHelper(), MakeCluster("dgx-a100", 1), MakeGraph(pipeline));
    }

    /// @param stages p @param microBatches m @param schedule which @return f = 1, b = 2
    static Pipeline Uniform(uint32_t stages, uint32_t microBatches, PipelineSchedule schedule)
    {
        return {schedule,
                std::vector<double>(stages, 1.0),
                std::vector<double>(stages, 2.0),
                microBatches};
    }

    void DoRun() override
    {
        const auto gpipe = PipelineSchedule::GPIPE;
        const auto oneFOneB = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
        const double tolerance = 0.001;

        struct Case
        {
            uint32_t stages;
            uint32_t microBatches;
            double seconds;
        };

        // DistSim A1.
        for (const Case& c : std::vector<Case>{{4, 4, 21},
                                               {4, 8, 33},
                                               {8, 8, 45},
                                               {8, 32, 117},
                                               {4, 1, 12},
                                               {1, 4, 12}})
        {
            for (const auto schedule : {gpipe, oneFOneB})
            {
                const auto outcome = RunPipeline(Uniform(c.stages, c.microBatches, schedule));
                NS_TEST_EXPECT_MSG_EQ_TOL(outcome.timeline.endPs * 1e-12,
                                          c.seconds,
                                          tolerance,
                                          "A1 with p = " << c.stages << ", m = " << c.microBatches);
            }
        }
        // A3: live activations are the peak memory, at a byte each.
        const std::vector<uint64_t> live{4, 3, 2, 1};
        NS_TEST_EXPECT_MSG_EQ(
            (RunPipeline(Uniform(4, 8, oneFOneB)).timeline.peakMemoryBytes == live),
            true,
            "1F1B keeps p - s");
        NS_TEST_EXPECT_MSG_EQ((RunPipeline(Uniform(4, 8, gpipe)).timeline.peakMemoryBytes ==
                               std::vector<uint64_t>(4, 8)),
                              true,
                              "GPipe keeps m");
        // A4: ends of the stages.
        const auto timeline = RunPipeline(Uniform(4, 8, oneFOneB)).timeline;
        const std::vector<double> ends{33, 31, 29, 27};
        for (DeviceId s = 0; s < 4; ++s)
        {
            int64_t end = 0;
            for (const Span& span : timeline.spans)
            {
                end = span.device == s ? std::max(end, span.endPs) : end;
            }
            // The last span of a stage but the first is its send, which ends a transfer later.
            NS_TEST_EXPECT_MSG_EQ_TOL(end * 1e-12, ends[s], tolerance, "A4, stage " << s);
        }
        // A7, A8: stages of different length.
        NS_TEST_EXPECT_MSG_EQ_TOL(RunPipeline({gpipe, {1, 2, 1}, {2, 4, 2}, 4}).timeline.endPs *
                                      1e-12,
                                  30,
                                  tolerance,
                                  "A7 GPipe");
        NS_TEST_EXPECT_MSG_EQ_TOL(RunPipeline({oneFOneB, {1, 2, 1}, {2, 4, 2}, 4}).timeline.endPs *
                                      1e-12,
                                  28,
                                  tolerance,
                                  "A7 1F1B");
        NS_TEST_EXPECT_MSG_EQ_TOL(RunPipeline({oneFOneB, {1, 3}, {2, 6}, 4}).timeline.endPs * 1e-12,
                                  39,
                                  tolerance,
                                  "A8");
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusPipelineTestSuite : public TestSuite
{
  public:
    ProteusPipelineTestSuite()
        : TestSuite("proteus-pipeline")
    {
        AddTestCase(new ProteusPipeline);
    }
};

static ProteusPipelineTestSuite g_proteusPipelineTestSuite; //!< registers itself
