/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-aicb.h"

#include "proteus-trace-doubts.h"

#include "ns3/proteus-sort-unique.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::optional<AicbMicroBatches>
FindMicroBatches(const AicbWorkload& workload)
{
    const auto& rows = workload.rows;
    const std::size_t n = workload.gradientAccumulation;
    const auto begins = [&](std::size_t i, const char* word) {
        return rows[i].name.rfind(word, 0) == 0;
    };
    std::size_t first = 0;
    while (first < rows.size() && !begins(first, "embedding_layer"))
    {
        first++;
    }
    std::size_t end = first;
    while (end < rows.size() && !begins(end, "cross_entropy") && !begins(end, "optimizer"))
    {
        end++;
    }
    const std::size_t length = (end - first) / n;
    bool isGood = length > 0 && (end - first) % n == 0;
    for (std::size_t i = first + length; isGood && i < end; i++)
    {
        isGood = rows[i].name == rows[i - length].name;
    }
    return isGood ? std::optional<AicbMicroBatches>({first, length}) : std::nullopt;
}

namespace
{

/// Makes the graph of an iteration.
class AicbGraph
{
  public:
    AicbGraph(const AicbWorkload& workload, const std::string& name, uint32_t nRanks)
        : m_workload(workload),
          m_builder(nRanks),
          m_nRanks(nRanks),
          m_tensor(workload.isMicro ? 1 : workload.tensorParallel),
          m_expert(workload.expertParallel),
          m_nStages(workload.isMicro ? 1 : workload.pipelineParallel),
          m_data(nRanks / m_nStages / m_tensor),
          m_phase(m_builder.AddPhase("iteration")),
          m_compute(m_builder.AddStream("compute", StreamOrder::IN_ORDER)),
          m_blocking(m_builder.AddStream("communication", StreamOrder::IN_ORDER)),
          m_gradients(m_builder.AddStream("gradients", StreamOrder::IN_ORDER)),
          m_updates(m_builder.AddStream("update", StreamOrder::READY)),
          m_pipeline(m_builder.AddStream("pipeline", StreamOrder::IN_ORDER)),
          m_after(nRanks)
    {
        WorkloadFacts facts;
        facts.name = name;
        m_builder.SetFacts(facts);
    }

    ExecutionGraph Make()
    {
        const auto n = m_workload.rows.size();
        if (m_workload.isMicro)
        {
            SetStage(0);
            for (const AicbRow& row : m_workload.rows)
            {
                RunBlocking(row, 0);
                RunBlocking(row, 1);
                const auto weights = RunPass(row, 2, m_blocking);
                Update(row, weights);
                Wait(weights);
            }
        }
        else if (m_nStages == 1)
        {
            SetStage(0);
            RunForward(0, n);
            RunBackward(0, n);
        }
        else
        {
            RunPipeline();
        }
        return m_builder.Build();
    }

  private:
    /// Everything that follows is of the ranks of this stage.
    void SetStage(uint32_t stage)
    {
        const uint32_t perStage = m_nRanks / m_nStages;
        m_first = stage * perStage;
        m_end = m_first + perStage;
    }

    void RunForward(std::size_t first, std::size_t end)
    {
        for (std::size_t i = first; i < end; i++)
        {
            RunBlocking(m_workload.rows[i], 0);
        }
    }

    void RunBackward(std::size_t first, std::size_t end)
    {
        for (std::size_t i = end; i-- > first;)
        {
            const AicbRow& row = m_workload.rows[i];
            Recompute(i);
            const auto inputs = RunPass(row, 1, m_blocking);
            const auto weights = RunPass(row, 2, m_gradients);
            Update(row, weights);
            Wait(inputs);
        }
    }

    /// @param row whose weights are updated @param weights by rank, the collective that it takes
    /// part in; empty if there is none
    void Update(const AicbRow& row, const std::vector<TaskId>& weights)
    {
        for (DeviceId rank = m_first; !weights.empty() && row.updatePs > 0 && rank < m_end; rank++)
        {
            m_builder.AddCompute(m_phase,
                                 rank,
                                 m_updates,
                                 row.name + " update",
                                 row.updatePs,
                                 {weights[rank]});
        }
    }

    /// Messages by direction (0 forward, 1 backward), sending stage and micro-batch: one for each
    /// rank of the stage.
    using Messages = std::array<std::vector<std::vector<std::vector<TaskId>>>, 2>;

    /// Stages run their micro-batches as 1F1B, and pass on pp_comm bytes between them.
    void RunPipeline()
    {
        const uint32_t n = m_workload.gradientAccumulation;
        const auto found = FindMicroBatches(m_workload);
        if (!found)
        {
            throw std::invalid_argument(
                "the rows between embedding_layer and cross_entropy are not the same for each of " +
                std::to_string(n) + " micro-batches (ga), so the " + std::to_string(m_nStages) +
                " pipeline stages cannot be told what to do when");
        }
        const AicbMicroBatches& rows = *found;
        std::vector<std::vector<ScheduleEntry>> schedules; // phase 0 forward, 1 backward
        for (uint32_t stage = 0; stage < m_nStages; stage++)
        {
            schedules.push_back(MakePipelineSchedule(PipelineSchedule::ONE_FORWARD_ONE_BACKWARD,
                                                     m_nStages,
                                                     stage,
                                                     n,
                                                     0,
                                                     1));
            SetStage(stage);
            RunForward(0, rows.first);
        }
        Messages sent;
        sent.fill({m_nStages, std::vector<std::vector<TaskId>>(n)});
        std::vector<std::size_t> next(m_nStages, 0);
        for (std::size_t left = std::size_t{2} * n * m_nStages; left > 0;)
        {
            for (uint32_t stage = 0; stage < m_nStages; stage++)
            {
                if (next[stage] < schedules[stage].size() &&
                    RunEntry(stage, schedules[stage][next[stage]], rows, sent))
                {
                    next[stage]++;
                    left--;
                }
            }
        }
        const std::size_t behind = rows.first + n * rows.length;
        for (uint32_t stage = 0; stage < m_nStages; stage++)
        {
            SetStage(stage);
            RunForward(behind, m_workload.rows.size());
            RunBackward(behind, m_workload.rows.size());
            RunBackward(0, rows.first);
        }
    }

    /**
     * Runs a micro-batch on a stage, unless the messages that it waits for are not there yet.
     * @param stage where
     * @param entry what
     * @param rows of the micro-batches
     * @param sent messages so far; gets those of the stage
     * @return whether it did
     */
    bool RunEntry(uint32_t stage,
                  const ScheduleEntry& entry,
                  const AicbMicroBatches& rows,
                  Messages& sent)
    {
        const bool isForward = entry.phase == 0;
        const bool hasSource = isForward ? stage > 0 : stage + 1 < m_nStages;
        const bool hasTarget = isForward ? stage + 1 < m_nStages : stage > 0;
        const uint32_t source = isForward ? stage - 1 : stage + 1;
        auto& directions = sent[entry.phase];
        if (hasSource && directions[source][entry.microBatch].empty())
        {
            return false;
        }
        SetStage(stage);
        const uint32_t perStage = m_end - m_first;
        for (uint32_t k = 0; hasSource && k < perStage; k++)
        {
            m_after[m_first + k].push_back(directions[source][entry.microBatch][k]);
        }
        const std::size_t first = rows.first + entry.microBatch * rows.length;
        isForward ? RunForward(first, first + rows.length)
                  : RunBackward(first, first + rows.length);
        for (uint32_t k = 0; hasTarget && k < perStage; k++)
        {
            const DeviceId to = isForward ? m_first + perStage + k : m_first - perStage + k;
            directions[stage][entry.microBatch].push_back(
                m_builder.AddCommunication(m_phase,
                                           m_builder.AddGroup({m_first + k, to}),
                                           m_pipeline,
                                           isForward ? "activations" : "gradients of activations",
                                           Collective::SEND_RECV,
                                           std::max<uint64_t>(m_workload.pipelineBytes, 1),
                                           Parallelism::PIPELINE,
                                           m_after[m_first + k]));
        }
        return true;
    }

    /// The pass back of row i may need the inputs of rows that were not kept.
    void Recompute(std::size_t i)
    {
        const auto has = [](const std::vector<uint32_t>& list, std::size_t row) {
            return std::find(list.begin(), list.end(), row) != list.end();
        };
        if (!has(m_workload.checkpointInitiates, i))
        {
            return;
        }
        std::size_t first = i;
        while (first > 0 && !has(m_workload.checkpoints, first))
        {
            first--;
        }
        for (std::size_t k = first; k < i; k++)
        {
            RunBlocking(m_workload.rows[k], 0, " again");
        }
    }

    void Wait(const std::vector<TaskId>& tasks)
    {
        for (DeviceId rank = m_first; !tasks.empty() && rank < m_end; rank++)
        {
            m_after[rank] = {tasks[rank]};
        }
    }

    void RunBlocking(const AicbRow& row, std::size_t pass, const std::string& note = "")
    {
        Wait(RunPass(row, pass, m_blocking, note));
    }

    /// @return by rank, the collective that it takes part in; empty if there is none
    std::vector<TaskId> RunPass(const AicbRow& row,
                                std::size_t pass,
                                StreamId stream,
                                const std::string& note = "")
    {
        const AicbPass& it = row.passes[pass];
        const std::string name = row.name + " " + AICB_PASSES[pass] + note;
        if (it.computePs > 0)
        {
            for (DeviceId rank = m_first; rank < m_end; rank++)
            {
                m_after[rank] = {
                    m_builder
                        .AddCompute(m_phase, rank, m_compute, name, it.computePs, m_after[rank])};
            }
        }
        if (!it.hasCollective)
        {
            return {};
        }
        std::vector<TaskId> tasks(m_nRanks);
        for (const auto& group : FindGroups(it))
        {
            std::vector<TaskId> before;
            for (const DeviceId rank : group)
            {
                before.insert(before.end(), m_after[rank].begin(), m_after[rank].end());
            }
            SortUnique(before);
            const TaskId task = m_builder.AddCommunication(m_phase,
                                                           m_builder.AddGroup(group),
                                                           stream,
                                                           name + " " + ToString(it.collective),
                                                           it.collective,
                                                           it.bytes,
                                                           it.parallelism,
                                                           before);
            for (const DeviceId rank : group)
            {
                tasks[rank] = task;
            }
        }
        return tasks;
    }

    /// @return who communicates with whom, every rank of the stage once
    std::vector<std::vector<DeviceId>> FindGroups(const AicbPass& pass) const
    {
        // Rank of a replica and a share of the layers.
        const auto rank = [this](uint32_t data, uint32_t tensor) {
            return m_first + data * m_tensor + tensor;
        };
        std::vector<std::vector<DeviceId>> groups;
        if (m_workload.isMicro)
        {
            groups.emplace_back(m_nRanks);
            std::iota(groups[0].begin(), groups[0].end(), 0U);
            return groups;
        }
        if (pass.parallelism == Parallelism::TENSOR)
        {
            for (uint32_t d = 0; d < m_data; d++)
            {
                groups.emplace_back();
                for (uint32_t t = 0; t < m_tensor; t++)
                {
                    groups.back().push_back(rank(d, t));
                }
            }
            return groups;
        }
        // Replicas d, d + step, ... of `size`; experts are spread over neighbours.
        const bool isExpert = pass.parallelism == Parallelism::EXPERT;
        const uint32_t size = isExpert ? m_expert : pass.isExpertData ? m_data / m_expert : m_data;
        const uint32_t step = pass.isExpertData ? m_expert : 1;
        for (uint32_t t = 0; t < m_tensor; t++)
        {
            for (uint32_t g = 0; g < m_data / size; g++)
            {
                groups.emplace_back();
                for (uint32_t k = 0; k < size; k++)
                {
                    groups.back().push_back(
                        rank(pass.isExpertData ? g + k * step : g * size + k, t));
                }
            }
        }
        return groups;
    }

    const AicbWorkload& m_workload;
    GraphBuilder m_builder;
    const uint32_t m_nRanks;
    const uint32_t m_tensor;
    const uint32_t m_expert;
    const uint32_t m_nStages;
    const uint32_t m_data; //!< replicas of a stage
    const PhaseId m_phase;
    const StreamId m_compute;
    const StreamId m_blocking;
    const StreamId m_gradients;
    const StreamId m_updates;
    const StreamId m_pipeline;
    DeviceId m_first{0};                      //!< first rank of the stage
    DeviceId m_end{0};                        //!< behind its last rank
    std::vector<std::vector<TaskId>> m_after; //!< by rank: what its next task waits for
};

} // namespace

ExecutionGraph
MakeAicbGraph(const AicbWorkload& workload, const std::string& name, const TraceOptions& options)
{
    const auto fail = [&](const std::string& cause) {
        throw std::invalid_argument(name + ": " + cause);
    };
    if (workload.isModelParallel)
    {
        AicbWorkload split = workload;
        split.isModelParallel = false;
        split.gpus =
            options.ranks != 0 ? options.ranks : static_cast<uint32_t>(GuessRanks(options, name));
        split.tensorParallel = split.gpus;
        return MakeAicbGraph(split, name, options);
    }
    const uint64_t tensor = workload.isMicro ? 1 : workload.tensorParallel;
    const uint64_t stages = workload.isMicro ? 1 : workload.pipelineParallel;
    const uint64_t least = tensor * stages; // ranks of one replica
    uint64_t nRanks = workload.gpus;
    if (nRanks == 0)
    {
        nRanks = options.ranks != 0 ? options.ranks : GuessRanks(options, name, least);
    }
    if (options.ranks != 0 && options.ranks != nRanks)
    {
        fail("the workload is for " + std::to_string(nRanks) + " GPUs, not for " +
             std::to_string(options.ranks));
    }
    if (nRanks % least != 0 || nRanks > MAX_DEVICES)
    {
        fail(std::to_string(nRanks) + " GPUs cannot be split into " + std::to_string(stages) +
             " pipeline stages of groups of " + std::to_string(tensor) + " for tensor parallelism");
    }
    if (nRanks / least % workload.expertParallel != 0)
    {
        fail(std::to_string(nRanks / least) + " replicas cannot be split into groups of " +
             std::to_string(workload.expertParallel) + " for expert parallelism");
    }
    // Three passes and an update, and every checkpoint repeats some rows.
    const uint64_t nPasses = 8 * (1 + workload.checkpointInitiates.size()) * workload.rows.size() +
                             2 * uint64_t{workload.gradientAccumulation};
    if (nPasses * nRanks > MAX_TRACE_TASKS)
    {
        fail(std::to_string(workload.rows.size()) + " rows on " + std::to_string(nRanks) +
             " GPUs make too large a graph; the most is " + std::to_string(MAX_TRACE_TASKS) +
             " tasks");
    }
    try
    {
        return AicbGraph(workload, name, static_cast<uint32_t>(nRanks)).Make();
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(name + ": " + error.what());
    }
}

ExecutionGraph
ReadAicb(const std::vector<TraceFile>& files,
         const std::string& name,
         const TraceOptions& options,
         Recording* /* recording */)
{
    CheckIsRecording(name, options);
    const auto in = files.front().open();
    const AicbWorkload workload = ParseAicb(*in, files.front().name);
    for (const std::string& doubt : FindAicbDoubts(workload))
    {
        Warn(name + ": " + doubt);
    }
    return MakeAicbGraph(workload, name, options);
}

} // namespace proteus
} // namespace ns3
