/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "corruptions.h"
#include "kineto-text.h"

#include "ns3/proteus-kineto.h"
#include "ns3/proteus-trace-file.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;

namespace
{

namespace fs = std::filesystem;

std::string
Nccl(const std::string& collective,
     uint64_t elements,
     const std::string& more = R"("Process Group Ranks": "[0, 1]")",
     const std::string& type = "Float")
{
    return R"("Collective name": ")" + collective + R"(", "In msg nelems": )" +
           std::to_string(elements) + R"(, "Out msg nelems": )" + std::to_string(elements) +
           R"(, "Group size": 2, "dtype": ")" + type +
           R"(", "Process Group Name": "0", "Process Group Description": "default_pg")" +
           (more.empty() ? "" : ", ") + more;
}

ExecutionGraph
Read(const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    return ReadKineto(MakeTraceFiles(texts), "trace", options);
}

std::string
ErrorOf(const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    return TraceErrorOf([&] { Read(texts, options); });
}

TaskId
Find(const ExecutionGraph& graph, const std::string& name, std::size_t n = 0)
{
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        if (graph.GetName(graph.GetTask(id)) == name && n-- == 0)
        {
            return id;
        }
    }
    ADD_FAILURE() << "there is no task " << name;
    return 0;
}

std::vector<std::string>
Before(const ExecutionGraph& graph, const std::string& name, std::size_t n = 0)
{
    std::vector<std::string> names;
    for (const TaskId id : graph.GetDependencies(Find(graph, name, n)))
    {
        names.push_back(graph.GetName(graph.GetTask(id)));
    }
    std::sort(names.begin(), names.end());
    return names;
}

using Names = std::vector<std::string>;

} // namespace

TEST(Kineto, KernelsThatBeginBeforeTheirLaunches)
{
    TraceText text;
    text.Kernel("early", 7, 10, 5, 1).Call("cudaLaunchKernel", 100, 5, 1);
    text.Kernel("late", 7, 20, 5, 2).Call("cudaLaunchKernel", 5, 5, 2);
    text.Call("cudaDeviceSynchronize", 30, 20, 3);
    const std::string error = ErrorOf({text.Get()});
    EXPECT_NE(error.find("the dependencies form a cycle"), std::string::npos) << error;
    EXPECT_NE(error.find("; 1 kernel would begin before the host launches it, early with "
                         "correlation 1 by 90 us: the clocks of host and GPU differ"),
              std::string::npos)
        << error;
}

TEST(Kineto, KernelsAndTheirLaunches)
{
    TraceText text;
    text.Kernel("gemm", 7, 110, 50, 2).Call("cudaLaunchKernel", 100, 5, 2);
    text.Kernel("Memset (Device)", 7, 160.5, 1.25, 3, "", "gpu_memset");
    text.Call("cudaMemsetAsync", 107, 3, 3);
    text.Kernel("late", 7, 300, 10, 4).Call("cuLaunchKernel", 280, 5, 4, "cuda_driver");
    text.Call("cudaGetDevice", 290, 1, 9); // launches nothing
    text.Add(
        R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 90, "dur": 30, "args": {}})");
    text.Add(R"({"ph": "i", "name": "an instant", "ts": 90})");
    text.Add(R"({"ph": "M", "name": "process_name", "args": {"name": "python"}})");
    const auto graph = Read({text.Get()});
    EXPECT_EQ(graph.GetNDevices(), 1u);
    EXPECT_EQ(graph.GetStreams(), (Names{"host", "stream 7"}));
    EXPECT_EQ(graph.GetStreamOrder(1), StreamOrder::IN_ORDER);
    EXPECT_TRUE(graph.IsHostStream(0));
    EXPECT_FALSE(graph.IsHostStream(1));
    ASSERT_EQ(graph.GetNTasks(), 6u);
    const auto duration = [&](const char* name) {
        return graph.GetTask(Find(graph, name)).durationPs;
    };
    // With what the GPU needed to begin: 5 us after the launch, 0.5 us after the kernel before.
    EXPECT_EQ(duration("gemm"), 55000000);
    EXPECT_EQ(duration("Memset (Device)"), 1750000);
    // The host: from the return of one call to that of the next.
    EXPECT_EQ(duration("cudaLaunchKernel"), 5000000);
    EXPECT_EQ(duration("cudaMemsetAsync"), 5000000);
    EXPECT_EQ(duration("cuLaunchKernel"), 175000000);
    EXPECT_EQ(Before(graph, "gemm"), (Names{"cudaLaunchKernel"}));
    EXPECT_EQ(Before(graph, "Memset (Device)"), (Names{"cudaMemsetAsync", "gemm"}));
    EXPECT_EQ(Before(graph, "late"), (Names{"Memset (Device)", "cuLaunchKernel"}));
    EXPECT_EQ(Before(graph, "cuLaunchKernel"), (Names{"cudaMemsetAsync"}));
}

TEST(Kineto, CallsThatWaitForTheGpu)
{
    TraceText text;
    text.Kernel("a", 7, 110, 50, 1).Call("cudaLaunchKernel", 100, 5, 1);
    text.Kernel("b", 20, 120, 500, 2).Call("cudaLaunchKernel", 106, 5, 2);
    text.Call("cudaStreamSynchronize", 120, 45, 3); // until a has ended, not b
    text.Kernel("c", 7, 180, 10, 4).Call("cudaLaunchKernel", 170, 5, 4);
    text.Kernel("Memcpy DtoH", 7, 200, 8, 5, "", "gpu_memcpy").Call("cudaMemcpyAsync", 190, 25, 5);
    text.Kernel("d", 7, 230, 10, 6).Call("cudaLaunchKernel", 220, 5, 6);
    const auto graph = Read({text.Get()});
    const auto duration = [&](const char* name, std::size_t n) {
        return graph.GetTask(Find(graph, name, n)).durationPs;
    };
    // What the host did before it; how late it returned is the time of the call after it.
    EXPECT_EQ(duration("cudaStreamSynchronize", 0), 9000000);
    EXPECT_EQ(Before(graph, "cudaLaunchKernel", 2), (Names{"a", "cudaStreamSynchronize"}));
    EXPECT_EQ(duration("cudaLaunchKernel", 2), (10 + 5) * 1000000);
    EXPECT_EQ(duration("cudaMemcpyAsync", 0), 15000000);
    EXPECT_EQ(Before(graph, "cudaLaunchKernel", 3), (Names{"Memcpy DtoH", "cudaMemcpyAsync"}));
    EXPECT_EQ(duration("cudaLaunchKernel", 3), (10 + 7) * 1000000);
}

TEST(Kineto, CopiesOfPageableMemoryRunBesideTheirCalls)
{
    // The clock of the GPU is 30 us late: the copy ends after the call that waited for it.
    TraceText text;
    text.Kernel("a", 7, 110, 50, 1).Call("cudaLaunchKernel", 100, 5, 1);
    text.Kernel("Memcpy HtoD (Pageable -> Device)", 7, 240, 1000, 2, "", "gpu_memcpy")
        .Call("cudaMemcpyAsync", 200, 1010, 2);
    text.Kernel("b", 7, 1270, 10, 3).Call("cudaLaunchKernel", 1260, 5, 3);
    // Of this one the larger part runs when its call has returned: the host does not wait for it.
    text.Kernel("Memcpy HtoD (Pinned -> Device)", 7, 1304, 100, 4, "", "gpu_memcpy")
        .Call("cudaMemcpyAsync", 1300, 10, 4);
    text.Kernel("c", 7, 1410, 10, 5).Call("cudaLaunchKernel", 1330, 5, 5);
    const auto graph = Read({text.Get()});
    const auto duration = [&](const char* name, std::size_t n) {
        return graph.GetTask(Find(graph, name, n)).durationPs;
    };
    EXPECT_EQ(duration("cudaMemcpyAsync", 0), 95000000); // from the launch to the call
    EXPECT_EQ(Before(graph, "cudaLaunchKernel", 1),
              (Names{"Memcpy HtoD (Pageable -> Device)", "cudaMemcpyAsync"}));
    EXPECT_EQ(duration("cudaLaunchKernel", 1), (1265 - 1240) * 1000000);
    EXPECT_EQ(duration("cudaMemcpyAsync", 1), (1310 - 1265) * 1000000);
    EXPECT_EQ(Before(graph, "cudaLaunchKernel", 2), (Names{"cudaMemcpyAsync"}));
    EXPECT_EQ(duration("cudaLaunchKernel", 2), (1335 - 1310) * 1000000);
}

TEST(Kineto, WaitsBetweenStreamsAsTheProfilerTells)
{
    TraceText text;
    text.Kernel("a", 7, 110, 50, 1).Call("cudaLaunchKernel", 100, 2, 1);
    text.Call("cudaEventRecord", 103, 1, 2);
    text.Kernel("later", 7, 160, 50, 3).Call("cudaLaunchKernel", 105, 2, 3);
    text.Call("cudaStreamWaitEvent", 108, 1, 4);
    text.Kernel("b", 20, 170, 5, 5).Call("cudaLaunchKernel", 110, 2, 5);
    text.Kernel("c", 20, 176, 5, 6).Call("cudaLaunchKernel", 113, 2, 6);
    text.Add(R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20,)"
             R"( "ts": 109, "dur": 0, "args": {"cuda_sync_kind": "Stream Wait Event",)"
             R"( "stream": 20, "correlation": 4, "wait_on_stream": 7,)"
             R"( "wait_on_cuda_event_record_corr_id": 2, "wait_on_cuda_event_id": 9}})");
    const auto graph = Read({text.Get()});
    EXPECT_EQ(Before(graph, "b"), (Names{"a", "cudaLaunchKernel"})); // not "later"
    EXPECT_EQ(Before(graph, "c"), (Names{"b", "cudaLaunchKernel"}));
}

TEST(Kineto, WaitsBetweenStreamsAsTimesSuggest)
{
    TraceText text;
    text.Kernel("a", 7, 110, 50, 1).Call("cudaLaunchKernel", 100, 2, 1);
    text.Kernel("waits", 20, 162, 5, 2).Call("cudaLaunchKernel", 103, 2, 2);
    text.Kernel("does not", 21, 111, 5, 3).Call("cudaLaunchKernel", 108, 2, 3);
    text.Kernel("nor this", 20, 400, 5, 4).Call("cudaLaunchKernel", 398, 2, 4); // the host was late
    const auto graph = Read({text.Get()});
    EXPECT_EQ(Before(graph, "waits"), (Names{"a", "cudaLaunchKernel"}));
    EXPECT_EQ(Before(graph, "does not"), (Names{"cudaLaunchKernel"}));
    EXPECT_EQ(Before(graph, "nor this"), (Names{"cudaLaunchKernel", "waits"}));
}

TEST(Kineto, CollectivesOfTwoRanks)
{
    const auto rank = [](int own, double start) {
        TraceText text;
        text.Kernel("gemm", 7, 110, 20, 1).Call("cudaLaunchKernel", 100, 2, 1);
        text.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                    20,
                    start,
                    60,
                    2,
                    Nccl("allreduce", 2049000));
        text.Call("cudaLaunchKernelExC", 104, 2, 2);
        text.Kernel("ncclKernel_AllGather", 20, 300, 6, 3, Nccl("_allgather_base", 100));
        text.Kernel(
            "ncclKernel_ReduceScatter",
            20,
            310,
            6,
            4,
            Nccl("_reduce_scatter_base", 100, R"("Process Group Ranks": [0, 1])", "BFloat16"));
        text.Kernel("ncclDevKernel_SendRecv",
                    20,
                    320,
                    6,
                    5,
                    Nccl(own == 0 ? "send" : "recv", 64, R"("Src Rank": 0, "Dst Rank": 1)"));
        text.Kernel("ncclKernel_AllReduce_barrier", 20, 330, 6, 6, Nccl("barrier", 0, ""));
        text.Kernel("end", 20, 340, 6, 7);
        return text.Get(own, 2);
    };
    const auto graph = Read({rank(1, 140), rank(0, 135)}); // in any order of files
    EXPECT_EQ(graph.GetNDevices(), 2u);
    const auto get = [&](const char* name) { return graph.GetTask(Find(graph, name)); };
    const Task reduce = get("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
    EXPECT_EQ(reduce.kind, TaskKind::COMMUNICATION);
    EXPECT_EQ(reduce.collective, Collective::ALL_REDUCE);
    EXPECT_EQ(reduce.bytes, 2049000u * 4);
    EXPECT_EQ(graph.GetGroup(reduce.place), (std::vector<DeviceId>{0, 1}));
    // It waits for what both ranks launched before it on another stream.
    EXPECT_EQ(Before(graph, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"),
              (Names{"cudaLaunchKernelExC", "cudaLaunchKernelExC", "gemm", "gemm"}));
    EXPECT_EQ(get("ncclKernel_AllGather").collective, Collective::ALL_GATHER);
    EXPECT_EQ(get("ncclKernel_AllGather").bytes, 2u * 100 * 4); // the gathered buffer
    EXPECT_EQ(get("ncclKernel_ReduceScatter").bytes, 100u * 2);
    const Task send = get("ncclDevKernel_SendRecv");
    EXPECT_EQ(send.collective, Collective::SEND_RECV);
    EXPECT_EQ(graph.GetGroup(send.place), (std::vector<DeviceId>{0, 1}));
    EXPECT_EQ(send.bytes, 256u);
    EXPECT_EQ(get("ncclKernel_AllReduce_barrier").bytes, 4u);
}

TEST(Kineto, OneTraceStandsForAllRanks)
{
    TraceText text;
    text.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1, Nccl("allreduce", 8));
    EXPECT_EQ(Read({text.Get(1, 2)}).GetNDevices(), 2u);
    TraceOptions options;
    options.ranks = 4;
    EXPECT_EQ(ErrorOf({text.Get(1, 2)}, options),
              "f0: kernel ncclKernel_AllReduce with correlation 1: its process group has 2 of 4 "
              "ranks; the trace of one rank can stand for all only if every collective is among "
              "all");
    EXPECT_EQ(ErrorOf({text.Get(0, 3), text.Get(1, 3)}),
              "trace: there are traces of 2 ranks, but the job has 3; give those of all, or that "
              "of one");
    EXPECT_EQ(ErrorOf({text.Get(0, 2), text.Get(0, 2)}), "trace: both f0 and f1 are of rank 0");
    TraceText message;
    message.Kernel("ncclDevKernel_SendRecv", 20, 1, 6, 5, Nccl("send", 64, R"("Dst Rank": 1)"));
    EXPECT_EQ(ErrorOf({message.Get(0, 2)}).substr(0, 77),
              "f0: kernel ncclDevKernel_SendRecv with correlation 5: it is a message; the tr");
}

TEST(Kineto, OperatorsExplainKernelsThatDoNot)
{
    TraceText text;
    text.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1, R"("External id": 55)");
    EXPECT_EQ(
        ErrorOf({text.Get(0, 2)}),
        "f0: kernel ncclKernel_AllReduce tells neither its size nor its process group "
        "(Collective name, In msg nelems, ...), which PyTorch from 2.2 on writes, nor does an "
        "annotation nccl:... around its launch; --traceCommunication=recorded needs neither");
    text.Add(R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 90, "dur": 3,)"
             R"( "args": {"External id": 55, )" +
             Nccl("allreduce", 1000) + "}}");
    const auto graph = Read({text.Get(0, 2)});
    EXPECT_EQ(graph.GetTask(0).bytes, 4000u);
}

TEST(Kineto, Folders)
{
    const fs::path folder =
        fs::temp_directory_path() / ("proteus-kineto-" + std::to_string(getpid()));
    fs::create_directories(folder);
    TraceText text;
    text.Kernel("gemm", 7, 110, 20, 1);
    text.Kernel("ncclKernel_AllReduce", 20, 140, 60, 2, Nccl("allreduce", 8));
    std::ofstream(folder / "host_1.17.pt.trace.json") << text.Get(1, 2);
    std::ofstream(folder / "host_2.18.pt.trace.json") << text.Get(0, 2);
    const auto graph = LoadTrace(folder.string());
    EXPECT_EQ(graph.GetNDevices(), 2u);
    EXPECT_EQ(graph.GetNTasks(), 3u);
    fs::remove_all(folder);
}

TEST(Kineto, WhatTheFileLacksOrContradictsIsNamed)
{
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    TraceText text;
    text.Kernel("gemm", 7, 110, 20, 1).Call("cudaLaunchKernel", 100, 2, 1);
    text.Kernel("ncclKernel_AllReduce", 20, 140, 6, 2, Nccl("allreduce", 100));
    text.Call("cudaLaunchKernelExC", 104, 2, 2);
    Read({text.Get(0, 2)});
    EXPECT_TRUE(heard.empty()) << heard.front();

    std::string odd = TraceText(text)
                          .Call("cuLaunchKernel", 150, 2, 3)  // has no kernel
                          .Call("cudaMemsetAsync", 160, 2, 4) // may move nothing
                          .Get(0, 2);
    odd.replace(odd.find("\"Out msg nelems\": 100"), 21, "\"Out msg nelems\": 50");
    odd.replace(odd.find("\"schemaVersion\": 1"), 18, "\"schemaVersion\": 2");
    Read({odd});
    ASSERT_EQ(heard.size(), 3U);
    EXPECT_EQ(heard[0],
              "trace: 1 of its 3 launches have no kernel in the file: work of the GPU was lost, "
              "cut out, or only captured into a graph, and is not run");
    EXPECT_EQ(heard[1],
              "trace: allreduce has 100 elements (In msg nelems) and results in 50 (Out msg "
              "nelems), which should be as many; the first number is taken");
    EXPECT_EQ(heard[2],
              "trace: is of version 2 of the format (schemaVersion), and is read as version 1");
    for (const auto& [from, to] : {std::make_pair("pg_config", "pg_configs"),
                                   std::make_pair("deviceProperties", "device_properties"),
                                   std::make_pair("schemaVersion", "schemVersion"),
                                   std::make_pair("\"rank\"", "\"rnak\"")})
    {
        heard.clear();
        Read({Exchange(text.Get(0, 2), from, to)});
        ASSERT_EQ(heard.size(), 1U) << to;
        const auto bare = [](std::string key) {
            key.erase(std::remove(key.begin(), key.end(), '"'), key.end());
            return key;
        };
        EXPECT_EQ(heard[0],
                  "trace: the key '" + bare(to) + "' is not read; did you mean " + bare(from) +
                      "?");
    }
}

TEST(Kineto, SetUpThatTakesMostOfTheTime)
{
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    const auto read = [&](double setUpUs, double kernelUs) {
        heard.clear();
        Read({TraceText()
                  .Call("cudaLaunchKernel", 0, 1, 1)
                  .Kernel("k", 7, 2, kernelUs, 1)
                  .Call("cudaFree", 10, setUpUs, -1)
                  .Call("cudaLaunchKernel", 10 + setUpUs, 1, 2)
                  .Kernel("k", 7, 12 + setUpUs, 40, 2)
                  .Get()});
        return heard;
    };
    ASSERT_EQ(read(100, 4).size(), 1U);
    EXPECT_EQ(heard[0],
              "trace: cudaFree takes the host 100.000 us of 152.000 us, in which the GPU does "
              "nothing, and which is simulated: if that is CUDA's set-up, record after some steps, "
              "schedule(wait=1, warmup=1, active=1)");
    EXPECT_EQ(read(40, 4).size(), 0U);
    EXPECT_EQ(read(100, 90).size(), 0U); // it waits for the GPU, perhaps
}

TEST(Kineto, MisspeltKeysAreNamedBeforeWhatTheyAreMissedFor)
{
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    TraceText text;
    text.Kernel("ncclKernel_AllReduce", 20, 140, 60, 2, Nccl("allreduce", 100));
    const auto get = [&](uint32_t rank) {
        return Exchange(text.Get(rank, 4), "world_size", "world_sise");
    };
    EXPECT_EQ(ErrorOf({get(0), get(3)}),
              "trace: there are traces of 2 ranks, but the job has 4; give those of all, or that "
              "of one");
    EXPECT_EQ(heard,
              std::vector<std::string>{
                  "trace: the key 'world_sise' is not read; did you mean world_size?"});
}

TEST(Kineto, CountsAndEndsThatContradictEachOtherAreNamed)
{
    std::vector<std::string> heard;
    const WarningListener listener([&heard](const std::string& text) {
        heard.push_back(text);
        return false;
    });
    const auto read = [&heard](const std::string& collective, int in, int out) {
        heard.clear();
        TraceText text;
        text.Kernel("ncclKernel_X", 20, 140, 6, 2, Nccl(collective, in)).Call("c", 130, 2, 2);
        std::string changed = text.Get(0, 2);
        const std::string from = "\"Out msg nelems\": " + std::to_string(in);
        changed.replace(changed.find(from),
                        from.size(),
                        "\"Out msg nelems\": " + std::to_string(out));
        Read({changed});
        return heard.empty() ? std::string() : heard.front();
    };
    EXPECT_EQ(read("_allgather_base", 100, 200), "");
    EXPECT_EQ(read("_reduce_scatter_base", 100, 50), "");
    EXPECT_EQ(read("_allgather_base", 100, 50),
              "trace: 1 collective whose elements (In msg nelems, Out msg nelems) do not fit the "
              "size of their group, the first _allgather_base of 2 ranks, with 100 in and 50 out, "
              "of which the former is taken");
    EXPECT_NE(read("_reduce_scatter_base", 100, 100), "");
    EXPECT_EQ(read("allreduce", 0, 100),
              "trace: allreduce has 0 elements (In msg nelems) and results in 100 (Out msg "
              "nelems), which should be as many; the second number is taken");
    EXPECT_NE(read("allreduce", 100, 0), "");

    heard.clear();
    const auto rank = [](int own, int source) {
        TraceText text;
        text.Kernel("ncclDevKernel_SendRecv",
                    20,
                    320,
                    6,
                    5,
                    Nccl(own == 0 ? "send" : "recv",
                         64,
                         R"("Dst Rank": 1, "Src Rank": )" + std::to_string(source)));
        text.Kernel("ncclKernel_AllReduce", 20, 330, 6, 6, Nccl("allreduce", 8));
        return text.Call("c", 310, 2, 5).Call("d", 315, 2, 6).Get(own, 2);
    };
    Read({rank(0, 0), rank(1, 0)});
    EXPECT_TRUE(heard.empty()) << heard.front();
    Read({rank(0, 1), rank(1, 0)});
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0],
              "trace: 1 message whose own end is another rank than that of their file, which "
              "counts; the first a send (Src Rank 1) in that of rank 0");

    // Both sizes of a message are its own.
    heard.clear();
    std::string odd = rank(0, 0);
    odd.replace(odd.find("\"Out msg nelems\": 64"), 20, "\"Out msg nelems\": 32");
    Read({odd, rank(1, 0)});
    ASSERT_EQ(heard.size(), 1u);
    EXPECT_EQ(heard[0],
              "trace: send has 64 elements (In msg nelems) and results in 32 (Out msg nelems), "
              "which should be as many; the larger number is taken");
}

TEST(Kineto, Errors)
{
    const auto one = [](const std::string& event) { return TraceText().Add(event).Get(); };
    EXPECT_EQ(ErrorOf({"{}"}),
              "f0: /traceEvents: is missing; this is no trace of PyTorch's profiler");
    EXPECT_NE(
        ErrorOf({R"({"schema": "1.0.2-chakra.0.0.4", "nodes": []})"}).find("chakra_trace_link"),
        std::string::npos);
    EXPECT_EQ(ErrorOf({"[1]"}), "f0: must hold an object, not a list");
    EXPECT_EQ(
        ErrorOf({TraceText().Call("cudaLaunchKernel", 100, 5, 1).Get()}),
        "f0: none of its 1 events is of a GPU (category kernel, gpu_memcpy or gpu_memset), so "
        "that there is nothing to run; record with ProfilerActivity.CUDA");
    EXPECT_EQ(ErrorOf({one("{\"ph\": \"X\"").substr(0, 200)}).substr(0, 5), "f0:2:");
    EXPECT_NE(ErrorOf({one(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1,)"
                           R"( "args": {"stream": 7.5}})")})
                  .find("must be a whole number, not 7.5"),
              std::string::npos);
    EXPECT_EQ(ErrorOf({one(R"({"ph": "X", "cat": "kernel", "name": "k"})")}),
              "f0: /traceEvents/0/args: is missing");
    EXPECT_EQ(ErrorOf({one(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1,)"
                           R"( "args": {}})")}),
              "f0: /traceEvents/0/args/stream: is missing");
    EXPECT_EQ(ErrorOf({one(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": "soon", "dur": 1,)"
                           R"( "args": {"stream": 7}})")})
                  .substr(0, 42),
              "f0: /traceEvents/0/ts: must be a number fr");
    EXPECT_EQ(ErrorOf({one(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": -1,)"
                           R"( "args": {"stream": 7}})")}),
              "f0: /traceEvents/0/dur: must be a number from 0 to 1e+09, not -1");
    EXPECT_EQ(
        ErrorOf({TraceText().Kernel("gemm", 7, 110, 20, 1).Kernel("gemm", 7, 110, 20, 1).Get()}),
        "f0: /traceEvents/1: is there twice: gemm, with the time, stream and correlation of an "
        "event before it");
    EXPECT_EQ(
        ErrorOf({TraceText().Kernel("gemm", 7, 110, 20, 1).Kernel("gemm", 7, 140, 20, 1).Get()}),
        "");
    const auto nccl = [](const std::string& more) {
        return TraceText().Kernel("ncclKernel_X", 20, 1, 6, 5, more).Get(0, 2);
    };
    EXPECT_EQ(
        ErrorOf({nccl(Nccl("teleport", 5))}),
        "f0: kernel ncclKernel_X with correlation 5: the unknown collective 'teleport'; known "
        "are allreduce, allgather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
        "scatter, barrier, send and recv");
    EXPECT_EQ(ErrorOf({nccl(Nccl("allreduce", 5, "", "Quad"))}),
              "f0: kernel ncclKernel_X with correlation 5: the unknown dtype 'Quad'");
    EXPECT_EQ(ErrorOf({nccl(Nccl("allreduce", 5, R"("Process Group Ranks": "[0, 9999999]")"))}),
              "f0: /traceEvents/0/args/Process Group Ranks: has a rank that is too large");
    for (const char* wrong : {"[0, 1]x", "[0; 1]", "[0, -1]", "[0, 1e0]"})
    {
        const std::string list = wrong;
        EXPECT_EQ(
            ErrorOf({nccl(Nccl("allreduce", 5, R"("Process Group Ranks": ")" + list + R"(")"))}),
            "f0: /traceEvents/0/args/Process Group Ranks: must be a list of ranks, such as [0, 1], "
            "not '" +
                list + "'");
    }
    EXPECT_EQ(ErrorOf({nccl(Nccl("allreduce", 5, R"("Process Group Ranks": "[0, 5]")"))}),
              "trace: process group '0' of 2 ranks has rank 5, but the job has 2 ranks");
    EXPECT_EQ(ErrorOf({nccl(Nccl("send", 5))}),
              "f0: kernel ncclKernel_X with correlation 5: it does not tell where it sends to (Dst "
              "Rank)");
    EXPECT_EQ(ErrorOf({R"({"traceEvents": [], "distributedInfo": {"rank": 0, "world_size": 0}})"})
                  .substr(0, 51),
              "f0: /distributedInfo/world_size: must be an integer");
    EXPECT_EQ(ErrorOf({R"({"traceEvents": [], "distributedInfo": {"rank": 9, "world_size": 8}})"}),
              "f0: /distributedInfo/rank: is none of the 8 ranks of its job (world_size)");
    TraceText kernel;
    kernel.Kernel("k", 7, 110, 20, 1);
    EXPECT_EQ(ErrorOf({kernel.Get(0, 2), kernel.Get(1, 4)}),
              "f1: /distributedInfo/world_size: is 4, but 2 in f0; give files of one job");
}

TEST(Kineto, TruncationsAndCorruptionsAreHarmless)
{
    TraceText trace;
    trace.Kernel("a", 7, 110, 50, 1).Call("cudaLaunchKernel", 100, 5, 1);
    trace.Call("cudaStreamSynchronize", 120, 45, 3);
    trace.Kernel("ncclKernel_AllReduce", 20, 200, 60, 2, Nccl("allreduce", 8));
    trace.Add(R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "ts": 109, "dur": 0,)"
              R"( "args": {"stream": 20, "correlation": 2, "wait_on_stream": 7}})");
    const std::string text = trace.Get(0, 2);
    for (std::size_t n = 0; n < text.size(); n++)
    {
        EXPECT_NE(ErrorOf({text.substr(0, n)}), "") << n;
    }
    DamageAtRandom(text, 5000, [](const std::string& bad) { ErrorOf({bad}); });
}
