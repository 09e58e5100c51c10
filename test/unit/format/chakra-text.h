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
#include <zlib.h>

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

/// @param node a node @param name of an attribute that it gets @return the attribute
inline pb::ChakraAttribute*
Attribute(Node& node, const char* name)
{
    auto* attribute = node.add_attr();
    attribute->set_name(name);
    return attribute;
}

/// @param micros how long a kernel takes @param isCpu whether the CPU executes it @return sets that
inline std::function<void(Node&)>
Lasts(uint64_t micros, bool isCpu = false)
{
    return [=](Node& node) {
        node.set_duration_micros(micros);
        Attribute(node, "is_cpu_op")->set_bool_val(isCpu);
    };
}

/// @param collective what a node is @param bytes of it @param group its name; empty: of all
/// @return sets that
inline std::function<void(Node&)>
Collects(ChakraCollective collective, int64_t bytes, const std::string& group = "")
{
    return [=](Node& node) {
        Attribute(node, "comm_type")->set_int64_val(static_cast<int64_t>(collective));
        Attribute(node, "comm_size")->set_int64_val(bytes);
        if (!group.empty())
        {
            Attribute(node, "pg_name")->set_string_val(group);
        }
    };
}

/// @param from a rank @param to a rank @param bytes of a message between them @param tag of it
/// @return sets that
inline std::function<void(Node&)>
Moves(int32_t from, int32_t to, int64_t bytes, int32_t tag = 0)
{
    return [=](Node& node) {
        Attribute(node, "comm_src")->set_int32_val(from);
        Attribute(node, "comm_dst")->set_int32_val(to);
        Attribute(node, "comm_tag")->set_int32_val(tag);
        Attribute(node, "comm_size")->set_int64_val(bytes);
    };
}

/// @param text any @return it as gzip packs it
inline std::string
Compressed(const std::string& text)
{
    z_stream zlib{};
    deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&zlib, text.size()) + 64, '\0');
    zlib.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
    zlib.avail_in = static_cast<unsigned>(text.size());
    zlib.next_out = reinterpret_cast<unsigned char*>(&out[0]);
    zlib.avail_out = static_cast<unsigned>(out.size());
    EXPECT_EQ(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    out.resize(out.size() - zlib.avail_out);
    deflateEnd(&zlib);
    return out;
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
