/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-memory-ledger.h"
#include "ns3/proteus-stream-queue.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Two messages to one receiver and one to another, on one stream, for three micro-batches each,
/// and a tensor that each of them reads.
ExecutionGraph
MakeMessages()
{
    GraphBuilder builder(3);
    const StreamId stream = builder.AddStream("send");
    const PhaseId phase = builder.AddPhase("all", 3);
    const TaskId tensor = builder.AddMemory(phase, 0, "tensor", 100);
    for (const DeviceId receiver : {1, 1, 2})
    {
        builder.AddCommunication(phase,
                                 builder.AddGroup({0, receiver}),
                                 stream,
                                 "message",
                                 Collective::SEND_RECV,
                                 10,
                                 Parallelism::PIPELINE,
                                 {tensor});
    }
    return builder.Build();
}

/// Tests move it on.
class HandClock : public Clock
{
  public:
    int64_t GetTimePs() const override
    {
        return timePs;
    }

    void Schedule(DeviceId, int64_t, std::function<void()>) override
    {
    }

    int64_t timePs{0};
};

} // namespace

TEST(StreamQueue, InOrderWaitsForTheFirstAndRunsOne)
{
    const ExecutionGraph graph = MakeMessages();
    const DeviceTasks tasks(graph, 0, nullptr);
    const auto queue = MakeStreamQueue(StreamOrder::IN_ORDER, tasks);
    std::vector<uint32_t> pending(tasks.GetNStates(), 0);
    pending[tasks.GetState({1, 0})] = 1;
    queue->Admit({1, 0});
    queue->Admit({2, 0});
    EXPECT_FALSE(queue->IsOfReadyTasks());
    EXPECT_FALSE(queue->TakeNext(pending)); // the second is ready, and behind the first
    EXPECT_EQ(queue->GetHead(), (LocalInstance{1, 0}));
    EXPECT_FALSE(queue->IsRunning());
    pending[tasks.GetState({1, 0})] = 0;
    EXPECT_EQ(queue->TakeNext(pending), (LocalInstance{1, 0}));
    EXPECT_TRUE(queue->IsRunning());
    EXPECT_FALSE(queue->TakeNext(pending));
    queue->Finish({1, 0});
    EXPECT_EQ(queue->TakeNext(pending), (LocalInstance{2, 0}));
    queue->Finish({2, 0});
    EXPECT_FALSE(queue->GetHead());
}

TEST(StreamQueue, ReadyTasksGoByAdmissionAndMessagesToOneReceiverFollowEachOther)
{
    const ExecutionGraph graph = MakeMessages();
    const DeviceTasks tasks(graph, 0, nullptr);
    const auto queue = MakeStreamQueue(StreamOrder::READY, tasks);
    const std::vector<uint32_t> pending(tasks.GetNStates(), 0);
    EXPECT_TRUE(queue->IsOfReadyTasks());
    queue->SetReady({3, 0}, 2); // admitted last
    queue->SetReady({2, 1}, 1);
    queue->SetReady({1, 1}, 1); // of one entry: by their places in the graph
    EXPECT_EQ(queue->TakeNext(pending), (LocalInstance{1, 1}));
    EXPECT_EQ(queue->TakeNext(pending), (LocalInstance{2, 1})); // to the same receiver
    EXPECT_FALSE(queue->TakeNext(pending));                     // to another one
    queue->Finish({2, 1});
    EXPECT_FALSE(queue->TakeNext(pending));
    queue->Finish({1, 1});
    EXPECT_EQ(queue->TakeNext(pending), (LocalInstance{3, 0}));
}

TEST(MemoryLedger, ATensorIsFreedByItsLastConsumer)
{
    const ExecutionGraph graph = MakeMessages();
    const DeviceTasks tasks(graph, 0, nullptr);
    HandClock clock;
    MemoryLedger ledger(tasks, clock);
    ledger.Start();
    const LocalInstance tensor{0, 2};
    ledger.Allocate(tensor);
    ledger.Allocate(tensor); // once is enough
    clock.timePs = 5;
    ledger.Allocate({0, 1});
    clock.timePs = 7;
    for (int consumer = 0; consumer < 3; ++consumer)
    {
        EXPECT_EQ(ledger.GetSamples().back().bytes, 200u);
        ledger.Release(tensor, 1);
    }
    ASSERT_EQ(ledger.GetSamples().size(), 3u); // times 0, 5 and 7
    EXPECT_EQ(ledger.GetSamples()[0].bytes, 100u);
    EXPECT_EQ(ledger.GetSamples()[1].bytes, 200u);
    EXPECT_EQ(ledger.GetSamples()[2].bytes, 100u);
    EXPECT_EQ(ledger.GetSamples()[2].timePs, 7);
    EXPECT_EQ(ledger.GetPeakBytes(), 200u);
}
