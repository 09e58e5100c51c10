/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-msccl.h"

#include "proteus-input-file.h"
#include "proteus-msccl-doubts.h"
#include "proteus-xml.h"

#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-warning.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_GPUS = 1024;
constexpr uint32_t MOST_BLOCKS = 32768;
constexpr uint32_t MOST_STEPS = 1000000;
constexpr uint32_t MOST_CHUNKS = 1u << 20; // of a buffer
constexpr uint32_t MOST_CHANNELS = 1024;
constexpr uint64_t DEFAULT_MAX_BYTES = uint64_t{1} << 27; // 128 MiB

/// @param text from a file @return it in quotes, for a message of one line
std::string
Quote(const std::string& text)
{
    constexpr std::size_t MOST = 40;
    std::string quoted = "\"";
    for (const char c : text.substr(0, MOST))
    {
        quoted += c >= ' ' && c <= '~' ? c : '?';
    }
    return quoted + (text.size() > MOST ? "...\"" : "\"");
}

/// What there is in schedules, as msccl-tools writes them and NCCL's interpreter reads them.
const XmlFormat FORMAT{
    {"algo",
     {{"name",
       "proto",
       "nchannels",
       "nchunksperloop",
       "ngpus",
       "coll",
       "inplace",
       "outofplace",
       "minBytes",
       "maxBytes",
       "redop",
       "root",
       "nthreadblocks"},
      {"gpu"}}},
    {"gpu", {{"id", "i_chunks", "o_chunks", "s_chunks"}, {"tb", "copy"}}},
    {"copy", {{"i_off", "o_off"}, {}}},
    {"tb", {{"id", "send", "recv", "chan"}, {"step"}}},
    {"step",
     {{"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"},
      {}}}};

/// Reads the elements of a file.
class Reader
{
  public:
    Reader(std::istream& input, const std::string& fileName)
        : m_document(input, fileName),
          m_fileName(fileName)
    {
    }

    MscclSchedule Read()
    {
        const XmlElement& algo = m_document.GetRoot();
        m_document.RequireRoot("algo", "as in schedules of MSCCL");
        MscclSchedule schedule;
        const std::string* name = algo.Find("name");
        schedule.name = name ? *name : "";
        schedule.collective = ReadCollective(algo);
        if (const std::string* protocol = algo.Find("proto"))
        {
            try
            {
                schedule.protocol = ProtocolFromString(*protocol);
            }
            catch (const std::invalid_argument&)
            {
                m_document.Fail(algo,
                                "unknown protocol " + Quote(*protocol) +
                                    "; known are Simple, LL, LL128");
            }
        }
        const auto gpus = static_cast<uint32_t>(Number(algo, "ngpus", 2, MOST_GPUS));
        schedule.channels = static_cast<uint32_t>(Number(algo, "nchannels", 1, MOST_CHANNELS));
        schedule.chunks = static_cast<uint32_t>(Number(algo, "nchunksperloop", 1, MOST_CHUNKS));
        schedule.root = static_cast<uint32_t>(Optional(algo, "root", 0, gpus - 1, 0));
        Demand(algo,
               schedule.root == 0 || HasRoot(schedule.collective),
               std::string("root belongs to a broadcast or a reduce, not to ") +
                   ToString(schedule.collective));
        schedule.minBytes = Optional(algo, "minBytes", 0, UINT64_MAX / 2, 0);
        schedule.maxBytes = DEFAULT_MAX_BYTES;
        if (algo.Find("maxBytes"))
        {
            const int64_t most = Signed(algo, "maxBytes", -1, INT64_MAX);
            // No bound: 0 in ROCm/rccl, src/misc/msccl/msccl_lifecycle.cc, and -1 in
            // microsoft/msccl, src/collectives/all_to_all_api.cc.
            schedule.maxBytes = most <= 0 ? UINT64_MAX / 2 : static_cast<uint64_t>(most);
        }
        Demand(algo,
               schedule.minBytes <= schedule.maxBytes,
               "minBytes " + std::to_string(schedule.minBytes) + " is above maxBytes " +
                   std::to_string(schedule.maxBytes));
        Optional(algo, "nthreadblocks", 0, MOST_BLOCKS, 0); // how many there are is counted
        const bool inPlace = Optional(algo, "inplace", 0, 1, 0) == 1;
        // Before it had the attribute "outofplace", MSCCL ran what is in place so only.
        const bool outOfPlace = Optional(algo, "outofplace", 0, 1, inPlace ? 0 : 1) == 1;
        Demand(algo, inPlace || outOfPlace, "is neither in place nor out of place");
        schedule.inPlace = !outOfPlace;
        const bool isAllToAll = schedule.collective == Collective::ALL_TO_ALL;
        Demand(algo, !isAllToAll || outOfPlace, "an all-to-all must be out of place");
        const bool hasSegments = isAllToAll || schedule.collective == Collective::ALL_GATHER ||
                                 schedule.collective == Collective::REDUCE_SCATTER;
        Demand(algo,
               !hasSegments || schedule.chunks % gpus == 0,
               "nchunksperloop must be a multiple of ngpus");
        schedule.gpus.resize(gpus);
        std::set<uint64_t> seen;
        for (const XmlElement& element : algo.children)
        {
            Demand(element, element.name == "gpu", "expected an element \"gpu\"");
            const uint64_t id = Number(element, "id", 0, gpus - 1);
            Demand(element, seen.insert(id).second, "a second GPU of this id");
            ReadGpu(element, schedule, schedule.gpus[id]);
        }
        Demand(algo,
               seen.size() == gpus,
               "has " + std::to_string(seen.size()) + " of " + std::to_string(gpus) + " GPUs");
        CheckSchedule(schedule);
        // Last: what is refused is one message.
        for (const std::string& doubt : msccl::FindDoubts(algo, schedule))
        {
            Warn(m_fileName + ":" + doubt);
        }
        const std::string unknown = m_document.DescribeUnknown(FORMAT);
        if (!unknown.empty())
        {
            Warn(m_fileName + ": unknown, and not read: " + unknown);
        }
        return schedule;
    }

  private:
    void Demand(const XmlElement& element, bool condition, const std::string& cause) const
    {
        if (!condition)
        {
            m_document.Fail(element, cause);
        }
    }

    /// @return the value of an attribute, between two bounds; -1 for nothing where that may be
    int64_t Signed(const XmlElement& element,
                   const char* attribute,
                   int64_t least,
                   int64_t most) const
    {
        const auto value = ParseWholeNumber<int64_t>(m_document.Get(element, attribute));
        Demand(element,
               value && *value >= least && *value <= most,
               std::string(attribute) + " must be a whole number from " + std::to_string(least) +
                   " to " + std::to_string(most));
        return *value;
    }

    uint64_t Number(const XmlElement& element,
                    const char* attribute,
                    uint64_t least,
                    uint64_t most) const
    {
        return static_cast<uint64_t>(
            Signed(element, attribute, static_cast<int64_t>(least), static_cast<int64_t>(most)));
    }

    uint64_t Optional(const XmlElement& element,
                      const char* attribute,
                      uint64_t least,
                      uint64_t most,
                      uint64_t otherwise) const
    {
        return element.Find(attribute) ? Number(element, attribute, least, most) : otherwise;
    }

    Collective ReadCollective(const XmlElement& algo) const
    {
        static const std::map<std::string, Collective> known{
            {"allreduce", Collective::ALL_REDUCE},
            {"allgather", Collective::ALL_GATHER},
            {"reduce_scatter", Collective::REDUCE_SCATTER},
            {"reducescatter", Collective::REDUCE_SCATTER},
            {"broadcast", Collective::BROADCAST},
            {"reduce", Collective::REDUCE},
            {"alltoall", Collective::ALL_TO_ALL}};
        const std::string& text = m_document.Get(algo, "coll");
        const auto found = known.find(text);
        Demand(algo,
               found != known.end(),
               "unknown collective " + Quote(text) +
                   "; known are allreduce, allgather, reduce_scatter, broadcast, reduce, "
                   "alltoall");
        return found->second;
    }

    MscclBuffer ReadBuffer(const XmlElement& step, const char* attribute) const
    {
        const std::string& text = m_document.Get(step, attribute);
        Demand(step,
               text == "i" || text == "o" || text == "s",
               std::string(attribute) + " must be i, o or s");
        return text == "i"   ? MscclBuffer::INPUT
               : text == "o" ? MscclBuffer::OUTPUT
                             : MscclBuffer::SCRATCH;
    }

    void ReadGpu(const XmlElement& element, const MscclSchedule& schedule, MscclGpu& gpu)
    {
        gpu.inputChunks = static_cast<uint32_t>(Number(element, "i_chunks", 0, MOST_CHUNKS));
        gpu.outputChunks = static_cast<uint32_t>(Number(element, "o_chunks", 0, MOST_CHUNKS));
        gpu.scratchChunks = static_cast<uint32_t>(Number(element, "s_chunks", 0, MOST_CHUNKS));
        // Thread blocks are named by their ids, which may come in any order.
        std::map<int64_t, uint32_t> positions;
        for (const XmlElement& child : element.children)
        {
            Demand(child,
                   child.name == "tb" || child.name == "copy",
                   "expected an element \"tb\" or \"copy\"");
            if (child.name == "copy")
            {
                Number(child, "i_off", 0, MOST_CHUNKS);
                Number(child, "o_off", 0, MOST_CHUNKS);
            }
        }
        const msccl::XmlElements blocks = msccl::GetBlocks(element);
        for (const XmlElement& block : blocks)
        {
            const int64_t id = Signed(block, "id", 0, MOST_BLOCKS);
            Demand(block,
                   positions.emplace(id, static_cast<uint32_t>(positions.size())).second,
                   "a second thread block of this id");
        }
        m_blocks += positions.size();
        Demand(element, m_blocks <= MOST_BLOCKS, "there are too many thread blocks");
        for (const XmlElement& block : blocks)
        {
            gpu.blocks.push_back(ReadBlock(block, blocks, schedule, gpu, positions));
        }
    }

    MscclBlock ReadBlock(const XmlElement& element,
                         const msccl::XmlElements& blocks,
                         const MscclSchedule& schedule,
                         const MscclGpu& gpu,
                         const std::map<int64_t, uint32_t>& positions)
    {
        MscclBlock block;
        const auto most = static_cast<int64_t>(schedule.gpus.size()) - 1;
        const int64_t send = Signed(element, "send", -1, most);
        const int64_t receive = Signed(element, "recv", -1, most);
        block.sendPeer = send < 0 ? NO_RANK : static_cast<uint32_t>(send);
        block.receivePeer = receive < 0 ? NO_RANK : static_cast<uint32_t>(receive);
        block.channel = static_cast<uint16_t>(Number(element, "chan", 0, schedule.channels - 1));
        for (const XmlElement& child : element.children)
        {
            Demand(child, child.name == "step", "expected an element \"step\"");
            Demand(child,
                   Number(child, "s", 0, MOST_STEPS) == block.steps.size(),
                   "steps must be numbered from 0");
            MscclStep step = ReadStep(child, schedule, gpu);
            m_steps += std::max(step.count, 1u); // of one chunk each
            Demand(child, m_steps <= MOST_STEPS, "there are too many steps");
            Demand(child,
                   (!Sends(step.kind) || send >= 0) && (!Receives(step.kind) || receive >= 0),
                   "the thread block has no peer for this");
            const int64_t waitFor = Signed(child, "depid", -1, MOST_BLOCKS);
            const int64_t until = Signed(child, "deps", -1, MOST_STEPS);
            if (child.Find("hasdep") != nullptr)
            {
                Number(child, "hasdep", 0, 1); // which the steps that wait for it say, too
            }
            if (waitFor >= 0)
            {
                const auto found = positions.find(waitFor);
                const bool exists =
                    found != positions.end() && until >= 0 &&
                    static_cast<std::size_t>(until) < blocks[found->second].get().children.size();
                Demand(child, exists, "depends on a step that there is not");
                step.waitBlock = found->second;
                step.waitStep = static_cast<uint32_t>(until);
            }
            block.steps.push_back(step);
        }
        return block;
    }

    MscclStep ReadStep(const XmlElement& element,
                       const MscclSchedule& schedule,
                       const MscclGpu& gpu) const
    {
        static const std::map<std::string, StepKind> known{
            {"s", StepKind::SEND},
            {"r", StepKind::RECV},
            {"rcs", StepKind::RECV_COPY_SEND},
            {"rrs", StepKind::RECV_REDUCE_SEND},
            {"rrc", StepKind::RECV_REDUCE},
            {"rrcs", StepKind::RECV_REDUCE_COPY_SEND},
            {"cpy", StepKind::COPY},
            {"re", StepKind::REDUCE},
            {"nop", StepKind::WAIT}};
        const std::string& type = m_document.Get(element, "type");
        const auto found = known.find(type);
        Demand(element,
               found != known.end(),
               "unknown step " + Quote(type) +
                   "; known are s, r, rcs, rrs, rrc, rrcs, cpy, re, nop");
        MscclStep step;
        step.kind = found->second;
        if (step.kind == StepKind::WAIT)
        {
            return step;
        }
        step.count = static_cast<uint32_t>(Number(element, "cnt", 1, MOST_CHUNKS));
        const auto place = [&](const char* bufferName,
                               const char* offsetName,
                               MscclBuffer& buffer,
                               uint32_t& offset) {
            buffer = ReadBuffer(element, bufferName);
            offset = static_cast<uint32_t>(Number(element, offsetName, 0, MOST_CHUNKS));
            // In place, input and output are one, as long as the longer.
            const uint32_t shared = std::max(gpu.inputChunks, gpu.outputChunks);
            const uint32_t chunks = buffer == MscclBuffer::SCRATCH ? gpu.scratchChunks
                                    : schedule.inPlace             ? shared
                                    : buffer == MscclBuffer::INPUT ? gpu.inputChunks
                                                                   : gpu.outputChunks;
            Demand(element,
                   step.count <= chunks && offset <= chunks - step.count,
                   std::string(offsetName) + " and cnt reach past the " + std::to_string(chunks) +
                       " chunks of the buffer");
        };
        if (ReadsBuffer(step.kind))
        {
            place("srcbuf", "srcoff", step.sourceBuffer, step.sourceOffset);
        }
        else
        {
            CheckOtherPlace(element, "srcbuf", "srcoff");
        }
        if (WritesBuffer(step.kind))
        {
            place("dstbuf", "dstoff", step.targetBuffer, step.targetOffset);
        }
        else
        {
            CheckOtherPlace(element, "dstbuf", "dstoff");
        }
        return step;
    }

    /// The place of a peer, which a step does not need and msccl-tools writes: MSCCL reads it, too.
    void CheckOtherPlace(const XmlElement& element,
                         const char* bufferName,
                         const char* offsetName) const
    {
        if (element.Find(bufferName) != nullptr)
        {
            ReadBuffer(element, bufferName);
        }
        if (element.Find(offsetName) != nullptr)
        {
            Signed(element, offsetName, -1, MOST_CHUNKS);
        }
    }

    /// Refuses a schedule that does not end, or computes something else, at sizes that it is for.
    void CheckSchedule(const MscclSchedule& schedule) const
    {
        const std::string mistake = FindMscclMistake(schedule, schedule.maxBytes);
        Demand(m_document.GetRoot(), mistake.empty(), mistake);
    }

    XmlDocument m_document;
    std::string m_fileName;
    std::size_t m_blocks{0}; //!< of all GPUs
    std::size_t m_steps{0};  //!< of all thread blocks
};

} // namespace

std::string
FindMscclMistake(const MscclSchedule& schedule, uint64_t mostBytes)
{
    const uint64_t mostChunk = std::max<uint64_t>(1, mostBytes / schedule.chunks);
    CollectiveRequest request;
    request.bytes = schedule.chunks * std::min(mostChunk, BytesOfAllSlices(schedule.protocol));
    request.vertices.resize(schedule.gpus.size());
    std::string mistake;
    try
    {
        mistake = CheckProgram(MakeProgram(schedule, request), MakeRequest(schedule, request));
    }
    catch (const std::invalid_argument& problem)
    {
        mistake = problem.what();
    }
    return mistake.empty() ? ""
                           : std::string("the schedule is no ") + ToString(schedule.collective) +
                                 ": " + mistake;
}

MscclSchedule
ReadMscclXml(std::istream& input, const std::string& fileName)
{
    if (input.peek() == '{')
    {
        const std::string foreign = DescribeForeignFile(ListTextKeys(input));
        throw std::invalid_argument(
            fileName + ":1: " +
            (foreign.empty() ? "is JSON: schedules of MSCCL, which are read, are XML" : foreign));
    }
    return Reader(input, fileName).Read();
}

MscclSchedule
LoadMscclXml(const std::string& path)
{
    InputFile file(path);
    return ReadMscclXml(file.GetStream(), file.GetName());
}

} // namespace proteus
} // namespace ns3
