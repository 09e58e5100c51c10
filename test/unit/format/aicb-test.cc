/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "corruptions.h"
#include "trace-texts.h"

#include "ns3/proteus-aicb.h"
#include "ns3/proteus-trace-file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

namespace
{

namespace fs = std::filesystem;

const fs::path SAMPLES = fs::path(PROTEUS_SOURCE_DIR) / "../shared/data/aicb";

#define SKIP_WITHOUT_SAMPLES()                                                                     \
    if (!fs::exists(SAMPLES))                                                                      \
    {                                                                                              \
        GTEST_SKIP() << "the sample workloads are not there: " << SAMPLES;                         \
    }

AicbWorkload
Parse(const std::string& text)
{
    std::istringstream in(text);
    return ParseAicb(in, "w.txt");
}

/// @return what is wrong with a workload
std::string
ErrorOf(const std::string& text, const TraceOptions& options = {})
{
    try
    {
        MakeAicbGraph(Parse(text), "w.txt", options);
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "no error";
}

const std::string HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 "
                         "vpp: 4 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 "
                         "pp_comm: 0\n";
const std::string ROWS = "2\n"
                         "a -1 10 ALLREDUCE 100 20 ALLGATHER 200 30 REDUCESCATTER_DP_EP 300 5\n"
                         "b -1 40 ALLTOALL_EP 400 50 NONE 0 60 ALLREDUCE 600 7\n";

/// Bytes per kind, parallelism and size of the group, and how many there are.
using Inventory = std::map<std::tuple<Collective, Parallelism, uint64_t, uint64_t>, uint64_t>;

Inventory
Count(const ExecutionGraph& graph)
{
    Inventory counts;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            counts[{task.collective,
                    task.parallelism,
                    graph.GetGroup(task.place).size(),
                    task.bytes}]++;
        }
    }
    return counts;
}

/// @return the groups of a collective
std::set<std::vector<DeviceId>>
GroupsOf(const ExecutionGraph& graph, const std::string& name)
{
    std::set<std::vector<DeviceId>> groups;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION && graph.GetName(task) == name)
        {
            groups.insert(graph.GetGroup(task.place));
        }
    }
    return groups;
}

} // namespace

TEST(Aicb, TheSampleHasTheInventoryOfItsFile)
{
    SKIP_WITHOUT_SAMPLES();
    const fs::path path = SAMPLES / "gpt13b_megatron_tp8_pp1_mbs1_A100.txt";
    // Counted from the file's text, field by field.
    const uint32_t nData = 2;
    Inventory expected;
    std::ifstream text(path);
    std::string line;
    std::getline(text, line);
    std::getline(text, line);
    EXPECT_EQ(line, "92");
    uint32_t nAttention = 0;
    for (uint32_t row = 0; row < 92; row++)
    {
        ASSERT_TRUE(std::getline(text, line));
        std::istringstream words(line);
        std::vector<std::string> w(12);
        for (std::string& word : w)
        {
            ASSERT_TRUE(words >> word);
        }
        nAttention += w[0] == "attention_layer" && w[2] == "752000" && w[3] == "ALLREDUCE" &&
                      w[4] == "20971520";
        for (int pass = 0; pass < 3; pass++)
        {
            const std::string& kind = w[3 + 3 * pass];
            const uint64_t bytes = std::stoull(w[4 + 3 * pass]);
            if (kind == "NONE")
            {
                continue;
            }
            const Collective collective = kind == "ALLREDUCE"   ? Collective::ALL_REDUCE
                                          : kind == "ALLGATHER" ? Collective::ALL_GATHER
                                          : kind == "BROADCAST" ? Collective::BROADCAST
                                                                : Collective::REDUCE_SCATTER;
            const bool isData = pass == 2;
            expected[{collective,
                      isData ? Parallelism::DATA : Parallelism::TENSOR,
                      isData ? nData : 8,
                      bytes}] += isData ? 8 : nData;
        }
    }
    EXPECT_EQ(nAttention, 40u);
    TraceOptions options;
    options.availableRanks = 16;
    const auto graph = LoadTrace(path.string(), options);
    EXPECT_EQ(graph.GetNDevices(), 16u);
    EXPECT_EQ(Count(graph), expected);
    // All-reduces of a layer and direction: 2048 tokens x 5120 x 2 bytes.
    EXPECT_EQ(expected.at({Collective::ALL_REDUCE, Parallelism::TENSOR, 8, 20971520}),
              nData * 2u * 81u);
}

TEST(Aicb, IsNoRecording)
{
    TraceOptions options;
    options.isCommunicationRecorded = true;
    EXPECT_EQ(TraceErrorOf([&] { ReadAicb(MakeTraceFiles({"any"}), "work.txt", options); }),
              "work.txt: communication as it was recorded: such a trace has no times of "
              "communication; have it simulated");
}

TEST(Aicb, TheBenchmarkRunsItsRowsOneAfterTheOther)
{
    SKIP_WITHOUT_SAMPLES();
    TraceOptions options;
    options.ranks = 3;
    const auto graph = LoadTrace((SAMPLES / "micro_all_reduce.txt").string(), options);
    std::vector<uint64_t> bytes;
    uint32_t nUpdates = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            EXPECT_EQ(graph.GetGroup(task.place).size(), 3u);
            bytes.push_back(task.bytes);
        }
        nUpdates += graph.GetName(task) == "micro_test update" ? 1 : 0;
    }
    EXPECT_EQ(nUpdates, 19 * options.ranks); // each takes a nanosecond
    ASSERT_EQ(bytes.size(), 19u);
    for (std::size_t i = 0; i < bytes.size(); i++)
    {
        EXPECT_EQ(bytes[i], uint64_t{4096} << i);
    }
}

TEST(Aicb, ReadsHeads)
{
    const auto workload = Parse(HEAD + ROWS);
    EXPECT_EQ(workload.tensorParallel, 2u);
    EXPECT_EQ(workload.expertParallel, 2u);
    EXPECT_EQ(workload.pipelineParallel, 1u);
    EXPECT_EQ(workload.virtualPipeline, 4u);
    EXPECT_EQ(workload.gpus, 8u);
    ASSERT_EQ(workload.rows.size(), 2u);
    EXPECT_EQ(workload.rows[0].name, "a");
    EXPECT_EQ(workload.rows[0].passes[0].computePs, 10000);
    EXPECT_EQ(workload.rows[0].updatePs, 5000);
    EXPECT_TRUE(workload.rows[0].passes[2].isExpertData);
    EXPECT_FALSE(workload.rows[1].passes[1].hasCollective);
    // Other order, no colon, lists of checkpoints, tabs, empty lines, another line ending.
    const auto other = Parse("HYBRID_TRANSFORMER_FWD_IN_BCKWD\tpp_comm 77 checkpoints: 2 0 1 "
                             "checkpoint_initiates: 1 1 model_parallel_NPU_group: 4\r\n\n2\r\n"
                             "\n  a\t-1 1.5 NONE 0   0 NONE 0 0 NONE 0 0\r\n"
                             "b -1 1e3 NONE 0 0 NONE 0 0 NONE 0 0");
    EXPECT_EQ(other.pipelineBytes, 77u);
    EXPECT_EQ(other.tensorParallel, 4u);
    EXPECT_EQ(other.gpus, 0u);
    EXPECT_EQ(other.checkpoints, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(other.checkpointInitiates, (std::vector<uint32_t>{1}));
    EXPECT_EQ(other.rows[0].passes[0].computePs, 1500);
    EXPECT_EQ(other.rows[1].passes[0].computePs, 1000000);
}

TEST(Aicb, ReadsWhatAicbWrites)
{
    // With sequence parallelism AICB divides pp_comm as Python does, by "/": it writes 4194304.0.
    // Its tests of several collectives call ep otherwise, and have many blanks in their first line.
    const auto workload = Parse("HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 2     "
                                "          expert_parallel_npu_group: 2 pp: 2 "
                                "ga: 1 all_gpus: 8 pp_comm: 4194304.0\n1\n"
                                "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 1024.00 1\n");
    EXPECT_EQ(workload.pipelineBytes, 4194304u);
    EXPECT_EQ(workload.expertParallel, 2u);
    EXPECT_EQ(workload.rows[0].passes[2].bytes, 1024u);
}

TEST(Aicb, HybridTransformerIsTheSameWithoutRecomputation)
{
    std::string head = HEAD;
    head.replace(0, head.find(' '), "HYBRID_TRANSFORMER");
    const auto graph = MakeAicbGraph(Parse(head + ROWS), "w");
    const auto same = MakeAicbGraph(Parse(HEAD + ROWS), "w");
    ASSERT_EQ(graph.GetNTasks(), same.GetNTasks());
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        EXPECT_EQ(graph.GetName(graph.GetTask(id)), same.GetName(same.GetTask(id)));
    }
    EXPECT_EQ(GroupsOf(graph, "b forward all-to-all"), GroupsOf(same, "b forward all-to-all"));
}

TEST(Aicb, GroupsAreThoseOfMegatron)
{
    // 8 GPUs: 2 share a layer, 4 replicas, experts over 2 of them.
    const auto graph = MakeAicbGraph(Parse(HEAD + ROWS), "w");
    using Groups = std::set<std::vector<DeviceId>>;
    EXPECT_EQ(graph.GetNDevices(), 8u);
    EXPECT_EQ(GroupsOf(graph, "a forward all-reduce"), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(GroupsOf(graph, "b weight gradient all-reduce"),
              (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
    EXPECT_EQ(GroupsOf(graph, "b forward all-to-all"), (Groups{{0, 2}, {4, 6}, {1, 3}, {5, 7}}));
    EXPECT_EQ(GroupsOf(graph, "a weight gradient reduce-scatter"),
              (Groups{{0, 4}, {2, 6}, {1, 5}, {3, 7}}));
}

TEST(Aicb, PassesComeInSimAisOrder)
{
    const auto graph = MakeAicbGraph(Parse(HEAD + ROWS), "w");
    std::vector<std::string> names;
    std::map<std::string, TaskId> ids;
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        const Task& task = graph.GetTask(id);
        const bool isHere = task.kind == TaskKind::COMMUNICATION
                                ? graph.GetGroup(task.place).front() == 0
                                : task.place == 0;
        if (isHere)
        {
            names.push_back(graph.GetName(task));
            ids[names.back()] = id;
        }
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{
                  "a forward",
                  "a forward all-reduce",
                  "b forward",
                  "b forward all-to-all",
                  "b input gradient",
                  "b weight gradient",
                  "b weight gradient all-reduce",
                  "b update",
                  "a input gradient",
                  "a input gradient all-gather",
                  "a weight gradient",
                  "a weight gradient reduce-scatter",
                  "a update",
              }));
    const auto dependsOn = [&](const char* after, const char* before) {
        for (const TaskId id : graph.GetDependencies(ids.at(after)))
        {
            if (id == ids.at(before))
            {
                return true;
            }
        }
        return false;
    };
    EXPECT_TRUE(dependsOn("b forward", "a forward all-reduce"));
    EXPECT_TRUE(dependsOn("b input gradient", "b forward all-to-all"));
    // The collective of the inputs goes on beside the weights' gradient, that of the weights
    // beside all that comes after it.
    EXPECT_FALSE(dependsOn("a weight gradient", "a input gradient all-gather"));
    EXPECT_FALSE(dependsOn("a input gradient", "b weight gradient all-reduce"));
    EXPECT_TRUE(dependsOn("b update", "b weight gradient all-reduce"));
}

TEST(Aicb, CheckpointsRepeatTheForwardPass)
{
    const std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 "
        "checkpoint_initiates: 1 2\n3\n"
        "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"
        "b -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"
        "c -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    const auto graph = MakeAicbGraph(Parse(text), "w");
    std::vector<std::string> names;
    for (const Task& task : graph.GetTasks())
    {
        names.push_back(graph.GetName(task));
    }
    EXPECT_EQ((std::vector<std::string>(names.begin() + 3, names.begin() + 6)),
              (std::vector<std::string>{"a forward again", "b forward again", "c input gradient"}));
}

TEST(Aicb, PipelineStages)
{
    const std::string head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 "
                             "pp: 2 vpp: 4 ga: 3 all_gpus: 4 pp_comm: 77\n";
    const std::string layers = "embedding_layer -1 10 NONE 0 10 NONE 0 10 NONE 0 1\n"
                               "mlp_layer -1 20 NONE 0 20 NONE 0 20 ALLREDUCE 8 1\n";
    const std::string rows = "grad_norm -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n" + layers + layers +
                             layers + "cross_entropy1 -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    const auto graph = MakeAicbGraph(Parse(head + "8\n" + rows), "w");
    EXPECT_EQ(graph.GetNDevices(), 4u);
    using Groups = std::set<std::vector<DeviceId>>;
    EXPECT_EQ(GroupsOf(graph, "activations"), (Groups{{0, 2}, {1, 3}}));
    EXPECT_EQ(GroupsOf(graph, "gradients of activations"), (Groups{{2, 0}, {3, 1}}));
    EXPECT_EQ(GroupsOf(graph, "mlp_layer weight gradient all-reduce"), (Groups{{0, 1}, {2, 3}}));
    const auto counts = Count(graph);
    EXPECT_EQ(counts.at({Collective::SEND_RECV, Parallelism::PIPELINE, 2, 77}), 2u * 2u * 3u);
    // 1F1B: two warm-up forwards of stage 0, one of stage 1.
    const auto order = [&](DeviceId device) {
        std::string text;
        for (const Task& task : graph.GetTasks())
        {
            const std::string& name = graph.GetName(task);
            if (task.kind == TaskKind::COMPUTE && task.place == device)
            {
                text += name == "embedding_layer forward"    ? "F"
                        : name == "mlp_layer input gradient" ? "B"
                                                             : "";
            }
        }
        return text;
    };
    EXPECT_EQ(order(0), "FFBFBB");
    EXPECT_EQ(order(2), "FBFBFB");
    EXPECT_EQ(ErrorOf(head + "7\n" + rows.substr(0, rows.rfind("mlp_layer")) +
                      "cross_entropy1 -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"),
              "w.txt: the rows between embedding_layer and cross_entropy are not the same for each "
              "of 3 micro-batches (ga), so the 2 pipeline stages cannot be told what to do when");
}

TEST(Aicb, DataAndModelOfAstraSimAreAmongAllRanks)
{
    const std::string row = "a -1 1 ALLGATHER 64 1 ALLREDUCE 64 1 ALLREDUCE 32 1\n";
    TraceOptions options;
    options.availableRanks = 6;
    // Of the groups of one rank, nothing is to be sent.
    const auto widths = [&](const std::string& head) {
        const ExecutionGraph graph = MakeAicbGraph(Parse(head + "\n1\n" + row), "w.txt", options);
        std::map<uint64_t, std::size_t> groups; // by bytes
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            if (task.kind == TaskKind::COMMUNICATION)
            {
                groups[task.bytes] =
                    std::max(groups[task.bytes], graph.GetGroup(task.place).size());
            }
        }
        return groups;
    };
    auto data = widths("DATA");
    EXPECT_EQ(data[32], 6u);
    EXPECT_LE(data[64], 1u);
    auto model = widths("MODEL");
    EXPECT_EQ(model[64], 6u);
    EXPECT_LE(model[32], 1u);
}

TEST(Aicb, Errors)
{
    const std::string row = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    const std::string head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n";
    EXPECT_EQ(ErrorOf(""), "w.txt:0: the file is empty; this is no workload of AICB");
    EXPECT_EQ(ErrorOf("{}"),
              "w.txt:1: a workload of AICB or ASTRA-sim begins with "
              "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER, DATA, MODEL or MICRO, not "
              "'{}'");
    EXPECT_EQ(ErrorOf("HYBRID_TRANSFORMER checkpoints: 1 0\n1\n" + row),
              "w.txt:1: HYBRID_TRANSFORMER repeats no forward pass, so that it has no checkpoints; "
              "HYBRID_TRANSFORMER_FWD_IN_BCKWD does");
    EXPECT_EQ(ErrorOf("MICRO ep: 2 expert_parallel_npu_group: 2\n1\n" + row),
              "w.txt:1: 'expert_parallel_npu_group' is there twice");
    for (const char* bytes : {"2097152.5", ".0", "2097152.", "1e6", "1.0.0"})
    {
        EXPECT_EQ(ErrorOf("MICRO pp_comm: " + std::string(bytes) + "\n1\n" + row),
                  "w.txt:1: pp_comm must be an integer from 0 to 18446744073709551615, not '" +
                      std::string(bytes) + "'");
    }
    EXPECT_NE(ErrorOf("HYBRID_DATA_MODEL\n1\n" + row).find("from the dimensions of ASTRA-sim's"),
              std::string::npos);
    // What has another name than it should, or none.
    EXPECT_NE(ErrorOf("scheduling-policy: LIFO\nall-reduce-implementation: ring\n")
                  .find("this is a system of ASTRA-sim"),
              std::string::npos);
    EXPECT_NE(ErrorOf("SwitchName=s0 Nodes=n[0-3]\n").find("this is a topology of Slurm"),
              std::string::npos);
    EXPECT_NE(ErrorOf("COLOCATED\t\tmodel_parallel_NPU_group: 2\n2\n")
                  .find("this is a trace of LLMServingSim"),
              std::string::npos);
    EXPECT_EQ(ErrorOf("HYBRID_TRANSFORMER_FWD_IN_BCKWD,ga:\n").find("dimensions"),
              std::string::npos);
    EXPECT_EQ(ErrorOf("DATA ga: 2\n1\n" + row), "w.txt:1: DATA stands alone, without 'ga:'");
    EXPECT_EQ(ErrorOf("MICRO\n"),
              "w.txt:1: the second line must have the number of rows and nothing else");
    EXPECT_EQ(ErrorOf("MICRO tp: 8\n1\n" + row),
              "w.txt:1: the unknown word 'tp'; known are model_parallel_NPU_group, ep, pp, vpp, "
              "ga, all_gpus, checkpoints, checkpoint_initiates, pp_comm");
    EXPECT_EQ(ErrorOf("MICRO ga:\n1\n" + row), "w.txt:1: 'ga' has no value");
    EXPECT_EQ(ErrorOf("MICRO ep: 0\n1\n" + row), "w.txt:1: ep must be at least 1");
    EXPECT_EQ(ErrorOf("MICRO ep: 99999999\n1\n" + row),
              "w.txt:1: ep must be an integer from 0 to 1048576, not '99999999'");
    EXPECT_EQ(ErrorOf("MICRO checkpoints: 3 1\n1\n" + row),
              "w.txt:1: checkpoints must be followed by 3 rows");
    EXPECT_EQ(ErrorOf("MICRO checkpoints: 1 1\n1\n" + row),
              "w.txt:1: there is no row 1 for a checkpoint");
    EXPECT_EQ(ErrorOf("MICRO\n2\n" + row),
              "w.txt:3: the file ends after 1 of 2 rows; it was cut off; to run the rows that are "
              "there, write 1 into the second line");
    EXPECT_EQ(ErrorOf("MICRO\n1\n" + row + row),
              "w.txt:4: there are more rows than the 1 that the second line says");
    EXPECT_EQ(ErrorOf("MICRO\n1\na -1 1 NONE 0\n"), "w.txt:3: a row has 12 fields, not 5");
    EXPECT_EQ(ErrorOf("MICRO\n2\n" + row + "#" + row), // which would run
              "w.txt:4: a workload has no comments: leave this line out, and if it was a row, "
              "write one row less into the second line");
    EXPECT_EQ(ErrorOf("MICRO\n1\na -1 -1 NONE 0 1 NONE 0 1 NONE 0 1\n"),
              "w.txt:3: forward nanoseconds must be a number from 0 to 9e+15, not '-1'");
    EXPECT_EQ(ErrorOf("MICRO\n1\na -1 1 NONE 0 nan NONE 0 1 NONE 0 1\n"),
              "w.txt:3: input gradient nanoseconds must be a number from 0 to 9e+15, not 'nan'");
    EXPECT_EQ(ErrorOf("MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE -5 1\n"),
              "w.txt:3: weight gradient bytes must be an integer from 0 to 18446744073709551615, "
              "not '-5'");
    EXPECT_EQ(ErrorOf("MICRO\n1\na -1 1 HALO 5 1 NONE 0 1 NONE 0 1\n"),
              "w.txt:3: the unknown collective 'HALO'; known are NONE, ALLREDUCE, ALLGATHER, "
              "REDUCESCATTER, ALLTOALL and BROADCAST, and each with _TP, _DP, _EP or _DP_EP "
              "behind it");
    EXPECT_EQ(ErrorOf("MICRO\n1\n" + std::string(100000, 'a')),
              "w.txt:3: the line is longer than 65536 characters");
    TraceOptions options;
    options.ranks = 12;
    EXPECT_EQ(ErrorOf(head + "1\n" + row, options),
              "w.txt: 12 GPUs cannot be split into 1 pipeline stages of groups of 8 for tensor "
              "parallelism");
    EXPECT_EQ(ErrorOf(HEAD + ROWS, options), "w.txt: the workload is for 8 GPUs, not for 12");
    EXPECT_EQ(ErrorOf("HYBRID_TRANSFORMER_FWD_IN_BCKWD ep: 4 all_gpus: 6\n1\n" + row),
              "w.txt: 6 replicas cannot be split into groups of 4 for expert parallelism");
    options.ranks = 1 << 20;
    EXPECT_EQ(ErrorOf(head + "9\n" + row + row + row + row + row + row + row + row + row, options),
              "w.txt: 9 rows on 1048576 GPUs make too large a graph; the most is 67108864 tasks");
}

TEST(Aicb, TruncationsAndCorruptionsAreHarmless)
{
    const std::string text = HEAD + ROWS;
    for (std::size_t n = 0; n + 2 < text.size(); n++)
    {
        EXPECT_NE(ErrorOf(text.substr(0, n)), "no error") << n;
    }
    DamageAtRandom(text, 3000, [](const std::string& bad) { ErrorOf(bad); });
}
