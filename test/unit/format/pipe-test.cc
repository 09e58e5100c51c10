/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-texts.h"
#include "kineto-text.h"

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-trace-file.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a shell makes of <(...): a pipe, which gives its bytes once.
class Pipe
{
  public:
    /// @param text that comes out of it, less than 64 KiB
    explicit Pipe(const std::string& text)
    {
        if (pipe(m_ends) != 0 ||
            write(m_ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        {
            throw std::runtime_error("no pipe");
        }
        close(m_ends[1]);
    }

    ~Pipe()
    {
        close(m_ends[0]);
    }

    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    /// @return its name
    std::string GetPath() const
    {
        return "/dev/fd/" + std::to_string(m_ends[0]);
    }

  private:
    int m_ends[2]; //!< to read from, to write to
};

} // namespace

TEST(Pipe, CanBeReadTwice)
{
    const Pipe pipe("some text");
    for (int i = 0; i < 2; ++i)
    {
        InputFile file(pipe.GetPath());
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file.GetStream()), {}), "some text");
    }
}

TEST(Pipe, TellsTheFormatOfAGraphByItsBegin)
{
    const ExecutionGraph graph = MakeFullGraph();
    for (const std::string& text : {ToJson(graph), " \n" + ToJson(graph), ToProtobuf(graph)})
    {
        const Pipe pipe(text);
        EXPECT_TRUE(LoadGraph(pipe.GetPath()) == graph) << text.substr(0, 20);
    }
    const Pipe other("id,src,dst");
    EXPECT_NE(ErrorOf([&] { LoadGraph(other.GetPath()); }).find(other.GetPath() + ": "),
              std::string::npos);
}

TEST(Pipe, HoldsATraceOfAnyJson)
{
    const std::string kineto =
        TraceText().Call("cudaLaunchKernel", 1, 2, 1).Kernel("gemm", 7, 5, 20, 1).Get();
    const Pipe pipe(kineto);
    EXPECT_GT(LoadTrace(pipe.GetPath()).GetNTasks(), 0U);
    const ExecutionGraph graph = MakeFullGraph();
    const Pipe native(ToJson(graph));
    EXPECT_TRUE(LoadTrace(native.GetPath()) == graph);
}

} // namespace proteus
} // namespace ns3
