/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kineto-text.h"

#include "ns3/proteus-kineto.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// An annotation of torch.distributed on thread 5. @param arguments of it
std::string
Annotation(const std::string& name, double start, double duration, const std::string& arguments)
{
    std::ostringstream text;
    text << R"({"ph": "X", "cat": "user_annotation", "name": "nccl:)" << name
         << R"(", "pid": 9, "tid": 5, "ts": )" << start << R"(, "dur": )" << duration
         << R"(, "args": {)" << arguments << "}}";
    return text.str();
}

/// A launch on a thread.
std::string
Launch(int thread, double start, int correlation)
{
    std::ostringstream text;
    text << R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": )"
         << thread << R"(, "ts": )" << start << R"(, "dur": 3, "args": {"correlation": )"
         << correlation << "}}";
    return text.str();
}

const std::string FLOATS = R"("Input Dims": [[8, 64]], "Input type": ["float"])";

ExecutionGraph
Read(const std::vector<std::string>& texts)
{
    return ReadKineto(MakeTraceFiles(texts), "trace", {});
}

std::string
ErrorOf(const std::vector<std::string>& texts)
{
    return TraceErrorOf([&] { Read(texts); });
}

} // namespace

// PyTorch before 2.2, with record_shapes.
TEST(Kineto, AnnotationsExplainKernelsThatTheyLaunch)
{
    TraceText text;
    text.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1);
    text.Kernel("ncclKernel_AllGather", 20, 200, 60, 2);
    text.Kernel("ncclKernel_SendRecv", 20, 300, 60, 3);
    text.Add(Annotation("all_reduce", 80, 15, FLOATS)).Add(Launch(5, 90, 1));
    text.Add(
            Annotation("_all_gather_base",
                       100,
                       15,
                       R"("Input Dims": [[10], [6, 2]], "Input type": ["c10::Half", "c10::Half"])"))
        .Add(Launch(5, 110, 2));
    text.Add(Annotation("send 0->1", 120, 9, FLOATS)).Add(Launch(5, 125, 3));
    text.Add(Launch(6, 90, 4)); // another thread
    std::vector<std::string> warnings;
    const WarningListener listener([&warnings](const std::string& warning) {
        warnings.push_back(warning);
        return true;
    });
    TraceText receiver;
    receiver.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1);
    receiver.Kernel("ncclKernel_AllGather", 20, 200, 60, 2);
    receiver.Kernel("ncclKernel_SendRecv", 20, 300, 60, 3);
    receiver.Add(Annotation("all_reduce", 80, 15, FLOATS)).Add(Launch(5, 90, 1));
    receiver
        .Add(Annotation("_all_gather_base",
                        100,
                        15,
                        R"("Input Dims": [[22]], "Input type": ["c10::Half"])"))
        .Add(Launch(5, 110, 2));
    receiver.Add(Annotation("recv 1<-0", 120, 9, FLOATS)).Add(Launch(5, 125, 3));
    const auto graph = Read({text.Get(0, 2), receiver.Get(1, 2)});
    std::map<Collective, uint64_t> bytes;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            bytes[task.collective] += task.bytes;
        }
    }
    EXPECT_EQ(bytes,
              (std::map<Collective, uint64_t>{{Collective::ALL_REDUCE, 8 * 64 * 4},
                                              {Collective::ALL_GATHER, 22 * 2 * 2},
                                              {Collective::SEND_RECV, 8 * 64 * 4}}));
    ASSERT_FALSE(warnings.empty());
    EXPECT_NE(std::find_if(warnings.begin(),
                           warnings.end(),
                           [](const std::string& warning) {
                               return warning.find("trace: 6 communications whose sizes only the "
                                                   "annotations nccl:... around the launches "
                                                   "tell") == 0;
                           }),
              warnings.end())
        << warnings.front();
}

TEST(Kineto, AnnotationsThatDoNotTell)
{
    const auto errorOf = [](const std::string& annotation, const std::string& launch) {
        TraceText text;
        text.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1).Add(annotation).Add(launch);
        return ErrorOf({text.Get(0, 2)});
    };
    const std::string kernel = "f0: kernel ncclKernel_AllReduce with correlation 1: the annotation "
                               "'nccl:all_reduce' around its launch ";
    EXPECT_EQ(errorOf(Annotation("all_reduce", 80, 15, ""), Launch(5, 90, 1))
                  .find(kernel + "tells no size: it has no shapes"),
              0u);
    EXPECT_EQ(errorOf(Annotation("all_reduce",
                                 80,
                                 15,
                                 R"("Input Dims": [[1], [1]], "Input type": ["int", "float"])"),
                      Launch(5, 90, 1))
                  .find(kernel + "tells no size: its tensors have several formats"),
              0u);
    // Not around the launch, or of another thread.
    const std::string none = "f0: kernel ncclKernel_AllReduce tells neither";
    EXPECT_EQ(errorOf(Annotation("all_reduce", 80, 5, FLOATS), Launch(5, 90, 1)).find(none), 0u);
    EXPECT_EQ(errorOf(Annotation("all_reduce", 80, 15, FLOATS), Launch(6, 90, 1)).find(none), 0u);
    TraceText two;
    two.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1)
        .Kernel("ncclKernel_AllReduce", 20, 200, 6, 2);
    two.Add(Annotation("all_reduce", 80, 15, FLOATS)).Add(Launch(5, 85, 1)).Add(Launch(5, 90, 2));
    EXPECT_NE(ErrorOf({two.Get(0, 2)}).find("belongs to another kernel, too"), std::string::npos);
    // Launched before the recording began.
    TraceText before;
    before.Kernel("ncclKernel_AllReduce", 20, 50, 25, -1);
    before.Kernel("ncclKernel_AllReduce", 20, 100, 60, 1);
    before.Add(Annotation("all_reduce", 80, 15, FLOATS)).Add(Launch(5, 90, 1));
    const auto graph = Read({before.Get(0, 2)});
    EXPECT_EQ(std::count_if(graph.GetTasks().begin(),
                            graph.GetTasks().end(),
                            [](const Task& task) { return task.kind == TaskKind::COMMUNICATION; }),
              1);
}
