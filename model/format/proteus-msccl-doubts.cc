/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-msccl-doubts.h"

#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace msccl
{

namespace
{

/// A number of a schedule that MSCCL has a bound for.
struct Limit
{
    const char* element;
    const char* attribute;
    int64_t most;
};

/// Bounds of MSCCL's own: microsoft/msccl, src/include/msccl.h, and its reader in
/// src/graph/topo.cc. (RCCL has 64 or 256 steps, by version, and 1,024 thread blocks.)
constexpr std::array<Limit, 4> LIMITS{
    {{"tb", "id", 215}, {"tb", "chan", 32}, {"step", "s", 255}, {"step", "cnt", 71}}};

/// @param element of a schedule that was read @param attribute a whole number
/// @return it, or -1 if it does not stand there
int64_t
GetNumber(const XmlElement& element, const char* attribute)
{
    const std::string* text = element.Find(attribute);
    return text ? ParseWholeNumber<int64_t>(*text).value_or(-1) : -1;
}

/// @param number an attribute @param value of it @return both, as a message shows them
std::string
Say(const char* number, int64_t value)
{
    return std::string(number) + " = " + std::to_string(value);
}

/// Looks at a schedule.
class Finder
{
  public:
    Finder(const XmlElement& algo, const MscclSchedule& schedule)
        : m_algo(algo),
          m_schedule(schedule)
    {
    }

    std::vector<std::string> Find()
    {
        if (m_algo.Find("proto") == nullptr)
        {
            Add(m_algo, "does not say its protocol (proto); taken for Simple");
        }
        FindWaits();
        FindUnawaited();
        FindCopies();
        FindLimits();
        FindWhole();
        FindBuffers();
        return std::move(m_doubts);
    }

  private:
    void Add(const XmlElement& element, const std::string& text)
    {
        m_doubts.push_back(std::to_string(element.line) + ": " + text);
    }

    /// A step, and the thread block that it is of.
    struct PlacedStep
    {
        const XmlElement& block;
        const XmlElement& step;
    };

    /// @param gpu of the schedule @return its steps, by thread block
    static std::vector<PlacedStep> ListSteps(const XmlElement& gpu)
    {
        std::vector<PlacedStep> steps;
        for (const XmlElement& block : GetBlocks(gpu))
        {
            for (const XmlElement& step : block.children)
            {
                steps.push_back({block, step});
            }
        }
        return steps;
    }

    /// Names the first step that waits where MSCCL never would go on, and the first that says a
    /// step to wait for and no thread block.
    void FindWaits()
    {
        for (const XmlElement& gpu : m_algo.children)
        {
            const std::vector<PlacedStep> steps = ListSteps(gpu);
            // MSCCL counts up the steps of a block that others may wait for, which say so (hasdep).
            std::map<int64_t, int64_t> lastSeen;
            for (const auto& [block, step] : steps)
            {
                int64_t& last = lastSeen.emplace(GetNumber(block, "id"), -1).first->second;
                const std::string* seen = step.Find("hasdep");
                last = seen == nullptr || *seen == "1" ? GetNumber(step, "s") : last;
            }
            for (const auto& [block, step] : steps)
            {
                const int64_t waitFor = GetNumber(step, "depid");
                const int64_t until = GetNumber(step, "deps");
                if (waitFor < 0 && until >= 0)
                {
                    Add(step, Say("deps", until) + " has no effect without depid, a thread block");
                    return;
                }
                if (waitFor >= 0 && lastSeen.emplace(waitFor, -1).first->second < until)
                {
                    Add(step,
                        "waits for step " + std::to_string(until) + " of thread block " +
                            std::to_string(waitFor) +
                            ", where hasdep is 0: MSCCL would wait for ever; here it goes on when "
                            "that step has ended");
                    return;
                }
            }
        }
    }

    /// Names the first step that says that another one waits for it, where none does.
    void FindUnawaited()
    {
        for (const XmlElement& gpu : m_algo.children)
        {
            const std::vector<PlacedStep> steps = ListSteps(gpu);
            std::set<std::pair<int64_t, int64_t>> awaited; // thread block and step
            for (const auto& [block, step] : steps)
            {
                awaited.emplace(GetNumber(step, "depid"), GetNumber(step, "deps"));
            }
            for (const auto& [block, step] : steps)
            {
                if (GetNumber(step, "hasdep") == 1 &&
                    awaited.count({GetNumber(block, "id"), GetNumber(step, "s")}) == 0)
                {
                    Add(step, "hasdep = 1 has no effect: no step waits for this one");
                    return;
                }
            }
        }
    }

    /// Names the first chunk that is to be copied, as tools of SCCL's time write it, and does not
    /// lie there anyway: MSCCL passes copies over (microsoft/msccl, src/graph/topo.cc).
    void FindCopies()
    {
        const auto gpus = static_cast<int64_t>(m_schedule.gpus.size());
        for (const XmlElement& gpu : m_algo.children)
        {
            const int64_t part = m_schedule.collective == Collective::ALL_GATHER
                                     ? GetNumber(gpu, "id") * m_schedule.chunks / gpus
                                     : 0;
            for (const XmlElement& child : gpu.children)
            {
                if (child.name == "copy" &&
                    (!m_schedule.inPlace ||
                     GetNumber(child, "i_off") + part != GetNumber(child, "o_off")))
                {
                    Add(child, "a copy is not carried out, as MSCCL passes it over");
                    return;
                }
            }
        }
    }

    /// Names the first number of each kind that MSCCL itself would refuse.
    void FindLimits()
    {
        std::set<const Limit*> named;
        const auto check = [&](const XmlElement& element) {
            for (const Limit& limit : LIMITS)
            {
                const int64_t value =
                    element.name == limit.element ? GetNumber(element, limit.attribute) : -1;
                if (value > limit.most && named.insert(&limit).second)
                {
                    Add(element,
                        Say(limit.attribute, value) + ": MSCCL has at most " +
                            std::to_string(limit.most) +
                            " and refuses the schedule; it is simulated all the same");
                }
            }
        };
        for (const XmlElement& gpu : m_algo.children)
        {
            for (const XmlElement& block : GetBlocks(gpu))
            {
                check(block);
                std::for_each(block.children.begin(), block.children.end(), check);
            }
        }
    }

    /// Names what the outermost element says and does not need.
    void FindWhole()
    {
        if (!m_schedule.inPlace && GetNumber(m_algo, "inplace") == 1)
        {
            Add(m_algo,
                "may run in place and out of place (inplace, outofplace): runs out of place");
        }
        const std::string* operation = m_algo.Find("redop");
        if (operation && *operation != "sum" && *operation != "nop" && *operation != "copy")
        {
            Add(m_algo,
                "redop \"" + ShownName(*operation) + "\" is not heeded: a reduction is a sum");
        }
        std::size_t blocks = 0;
        std::set<uint16_t> used;
        for (const MscclGpu& gpu : m_schedule.gpus)
        {
            blocks = std::max(blocks, gpu.blocks.size());
            for (const MscclBlock& block : gpu.blocks)
            {
                used.insert(block.channel);
            }
        }
        const int64_t said = GetNumber(m_algo, "nthreadblocks");
        if (said >= 0 && static_cast<std::size_t>(said) != blocks)
        {
            Add(m_algo, Say("nthreadblocks", said) + ", but a GPU has " + std::to_string(blocks));
        }
        if (used.size() < m_schedule.channels)
        {
            Add(m_algo,
                Say("nchannels", m_schedule.channels) + ", but thread blocks have " +
                    std::to_string(used.size()) + " different channels");
        }
    }

    /// Names the first GPU whose buffers are longer than what is in them, of input and output, and
    /// of what lies between.
    void FindBuffers()
    {
        // Out of place, a rank has its part alone of what is gathered or scattered.
        const uint32_t all = m_schedule.chunks;
        const uint32_t part =
            m_schedule.inPlace ? all : all / static_cast<uint32_t>(m_schedule.gpus.size());
        const bool gathers = m_schedule.collective == Collective::ALL_GATHER;
        const bool scatters = m_schedule.collective == Collective::REDUCE_SCATTER;
        bool isNamed = false;
        bool isScratchNamed = false;
        for (const XmlElement& element : m_algo.children)
        {
            for (const auto& [name, most] : {std::make_pair("i_chunks", gathers ? part : all),
                                             std::make_pair("o_chunks", scatters ? part : all)})
            {
                const int64_t chunks = GetNumber(element, name);
                if (!isNamed && chunks > most)
                {
                    Add(element,
                        Say(name, chunks) + ", but of " + std::to_string(all) +
                            " chunks (nchunksperloop) this " + ToString(m_schedule.collective) +
                            " has " + std::to_string(most) + " there");
                    isNamed = true; // of GPUs that are alike, the first
                }
            }
            const auto id = static_cast<std::size_t>(GetNumber(element, "id"));
            const uint32_t scratch = FindScratch(m_schedule.gpus.at(id));
            const int64_t chunks = GetNumber(element, "s_chunks");
            if (!isScratchNamed && chunks > scratch)
            {
                Add(element,
                    Say("s_chunks", chunks) + ", but steps use " + std::to_string(scratch) +
                        " there");
                isScratchNamed = true;
            }
        }
    }

    /// @return chunks of the buffer between input and output up to the last that a step uses
    static uint32_t FindScratch(const MscclGpu& gpu)
    {
        uint32_t most = 0;
        for (const MscclBlock& block : gpu.blocks)
        {
            for (const MscclStep& step : block.steps)
            {
                for (const auto& [buffer, offset] :
                     {std::make_pair(step.sourceBuffer, step.sourceOffset),
                      std::make_pair(step.targetBuffer, step.targetOffset)})
                {
                    if (buffer == MscclBuffer::SCRATCH)
                    {
                        most = std::max(most, offset + step.count);
                    }
                }
            }
        }
        return most;
    }

    const XmlElement& m_algo;
    const MscclSchedule& m_schedule;
    std::vector<std::string> m_doubts;
};

} // namespace

XmlElements
GetBlocks(const XmlElement& gpu)
{
    XmlElements blocks;
    std::copy_if(gpu.children.begin(),
                 gpu.children.end(),
                 std::back_inserter(blocks),
                 [](const XmlElement& child) { return child.name == "tb"; });
    return blocks;
}

std::vector<std::string>
FindDoubts(const XmlElement& algo, const MscclSchedule& schedule)
{
    return Finder(algo, schedule).Find();
}

} // namespace msccl

} // namespace proteus
} // namespace ns3
