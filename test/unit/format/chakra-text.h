/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_TEXT_H
#define PROTEUS_CHAKRA_TEXT_H

#include "trace-texts.h"

#include "ns3/proteus-chakra.h"
#include "ns3/proteus-chakra.pb.h"
#include "ns3/proteus-trace-file.h"

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Chakra traces that tests write down, and what the reader says of them.
 */

namespace ns3
{
namespace proteus
{
namespace chakratest
{

/// A node as it stands in a file.
using Node = pb::ChakraNodeMessage;

/// @param message a message @return it with its length before it
inline std::string
Delimited(const google::protobuf::Message& message)
{
    std::string length;
    for (auto n = message.ByteSizeLong();;)
    {
        length += static_cast<char>(n < 0x80 ? n : (n & 0x7f) | 0x80);
        n >>= 7;
        if (n == 0)
        {
            return length + message.SerializeAsString();
        }
    }
}

/// Writes the file of a rank.
class TraceText
{
  public:
    TraceText()
    {
        pb::ChakraMetadata metadata;
        metadata.set_version("0.0.4");
        m_text = Delimited(metadata);
    }

    /// Adds a node; `fill` sets what it has besides.
    TraceText& Add(uint64_t id,
                   pb::ChakraNodeKind type,
                   const std::vector<uint64_t>& before,
                   const std::function<void(Node&)>& fill = {})
    {
        Node node;
        node.set_id(id);
        node.set_name("n" + std::to_string(id));
        node.set_type(type);
        for (const uint64_t other : before)
        {
            node.add_data_deps(other);
        }
        if (fill)
        {
            fill(node);
        }
        m_text += Delimited(node);
        return *this;
    }

    const std::string& Get() const
    {
        return m_text;
    }

  private:
    std::string m_text;
};

/// @param texts of the files of a trace @param options of the reader @return the graph
inline ExecutionGraph
Read(const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    return ReadChakra(MakeTraceFiles(texts), "trace", options);
}

/// @param texts of the files of a trace @param options of the reader @return what is wrong with it
inline std::string
ErrorOf(const std::vector<std::string>& texts, const TraceOptions& options = {})
{
    return TraceErrorOf([&] { Read(texts, options); });
}

/// @param graph a graph @param tasks of it @return their names
inline std::vector<std::string>
NamesOf(const ExecutionGraph& graph, IdRange tasks)
{
    std::vector<std::string> names;
    for (const TaskId id : tasks)
    {
        names.push_back(graph.GetName(graph.GetTask(id)));
    }
    return names;
}

/// @param graph a graph @param name of a task @param place of it; NO_ID for any @return the task
inline TaskId
FindTask(const ExecutionGraph& graph, const std::string& name, uint32_t place = NO_ID)
{
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        const Task& task = graph.GetTask(id);
        if (graph.GetName(task) == name && (place == NO_ID || task.place == place))
        {
            return id;
        }
    }
    ADD_FAILURE() << "there is no task " << name;
    return 0;
}

} // namespace chakratest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_TEXT_H
