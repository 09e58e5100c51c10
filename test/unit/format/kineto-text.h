/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_TEXT_H
#define PROTEUS_KINETO_TEXT_H

#include "trace-texts.h"

#include <sstream>
#include <string>

/**
 * @file
 * @ingroup proteus-tests
 * Traces of PyTorch's profiler that tests write down.
 */

namespace ns3
{
namespace proteus
{

/// Writes the file of a rank as Kineto does.
class TraceText
{
  public:
    /// A kernel, and 2 us before it the end of its launch, if it has a correlation.
    TraceText& Kernel(const std::string& name,
                      int stream,
                      double start,
                      double duration,
                      int correlation,
                      const std::string& more = "",
                      const std::string& category = "kernel")
    {
        std::ostringstream text;
        text << R"({"ph": "X", "cat": ")" << category << R"(", "name": ")" << name
             << R"(", "pid": 0, "tid": )" << stream << R"(, "ts": )" << start << R"(, "dur": )"
             << duration << R"(, "args": {"device": 0, "context": 1, "stream": )" << stream
             << R"(, "correlation": )" << correlation << (more.empty() ? "" : ", ") << more << "}}";
        return Add(text.str());
    }

    TraceText& Call(const std::string& name,
                    double start,
                    double duration,
                    int correlation,
                    const std::string& category = "cuda_runtime")
    {
        std::ostringstream text;
        text << R"({"ph": "X", "cat": ")" << category << R"(", "name": ")" << name
             << R"(", "pid": 77, "tid": 5, "ts": )" << start << R"(, "dur": )" << duration
             << R"(, "args": {"correlation": )" << correlation << "}}";
        return Add(text.str());
    }

    TraceText& Add(const std::string& event)
    {
        m_events += (m_events.empty() ? "" : ",\n") + event;
        return *this;
    }

    std::string Get(int rank = 0, int worldSize = 1) const
    {
        return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "distributedInfo": )"
               R"({"backend": "nccl", "rank": )" +
               std::to_string(rank) + R"(, "world_size": )" + std::to_string(worldSize) +
               R"(, "pg_config": [{"pg_name": "tp", "ranks": [0, 1]}]},)" + "\n" +
               R"("traceEvents": [)" + m_events + R"(], "traceName": "t.json"})";
    }

  private:
    std::string m_events;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_TEXT_H
