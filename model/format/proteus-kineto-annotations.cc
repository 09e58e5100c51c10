/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-annotations.h"

#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ns3
{
namespace proteus
{
namespace kineto
{

namespace
{

constexpr double MAX_DURATION_US = 1e9;
constexpr double MAX_EXTENT = 9e15;
constexpr const char* PREFIX = "nccl:";

/// @param shape of a tensor @return its elements
double
CountElements(JsonValue shape)
{
    double elements = 1;
    for (std::size_t i = 0; i < shape.Size(); ++i)
    {
        elements *= static_cast<double>(shape.At(i).AsWhole(0, static_cast<uint64_t>(MAX_EXTENT)));
    }
    return elements;
}

/// Reads what is sent. @param arguments of an annotation @param told gets format and elements
/// @return why they do not tell it; empty if they do
std::string
ReadShapes(JsonValue arguments, Communication& told)
{
    const auto shapes = arguments.Find("Input Dims");
    const auto types = arguments.Find("Input type");
    if (!shapes || !types)
    {
        return "it has no shapes (Input Dims, Input type): record with record_shapes=True, or with "
               "PyTorch 2.2 or later";
    }
    double elements = 0;
    for (std::size_t i = 0; i < shapes->Size(); ++i)
    {
        elements += CountElements(shapes->At(i));
    }
    for (std::size_t i = 0; i < types->Size(); ++i)
    {
        const std::string& type = types->At(i).AsString();
        if (!told.type.empty() && type != told.type)
        {
            return "its tensors have several formats, " + QuotedText(told.type) + " and " +
                   QuotedText(type);
        }
        told.type = type;
    }
    if (shapes->Size() != types->Size() || elements > MAX_EXTENT)
    {
        return "its shapes make no sense: there are " + std::to_string(shapes->Size()) +
               ", and formats of " + std::to_string(types->Size());
    }
    told.inElements = static_cast<uint64_t>(elements);
    return "";
}

/// Reads the ends of a message. @param text e.g. "send 0->1", "recv 1<-0" @param told gets them
void
ReadEnds(const std::string& text, Communication& told)
{
    const std::size_t space = text.find(' ');
    const bool isSend = text.find("->") != std::string::npos;
    const std::size_t arrow = text.find(isSend ? "->" : "<-");
    if (space == std::string::npos || arrow == std::string::npos || arrow < space)
    {
        return;
    }
    const auto toRank = [](const std::string& digits) -> std::optional<uint64_t> {
        const bool isNumber = !digits.empty() && digits.size() <= 7 &&
                              digits.find_first_not_of("0123456789") == std::string::npos;
        return isNumber ? std::make_optional<uint64_t>(std::stoul(digits)) : std::nullopt;
    };
    const auto own = toRank(text.substr(space + 1, arrow - space - 1));
    const auto other = toRank(text.substr(arrow + 2));
    told.source = isSend ? own : other;
    told.destination = isSend ? other : own;
}

} // namespace

bool
NcclAnnotations::IsOne(const std::string& name)
{
    return BeginsWith(name, PREFIX);
}

void
NcclAnnotations::Add(JsonValue element, double startUs, uint32_t thread)
{
    Annotation annotation;
    annotation.startUs = startUs;
    annotation.endUs = startUs + element.Get("dur").AsNumber(0, MAX_DURATION_US);
    const std::string text =
        element.Get("name").AsString().substr(std::char_traits<char>::length(PREFIX));
    annotation.told.collective = text.substr(0, text.find(' '));
    ReadEnds(text, annotation.told);
    const auto arguments = element.Find("args");
    annotation.flaw = arguments ? ReadShapes(*arguments, annotation.told) : "it has no 'args'";
    if (Contains(annotation.told.collective, "all_reduce") ||
        Contains(annotation.told.collective, "allreduce"))
    {
        annotation.told.outElements = annotation.told.inElements; // in place
    }
    m_threads[thread].push_back(annotation);
    m_isSorted[thread] = false;
}

void
NcclAnnotations::Sort(std::vector<Annotation>& list)
{
    std::stable_sort(list.begin(), list.end(), [](const Annotation& a, const Annotation& b) {
        return a.startUs < b.startUs;
    });
    double last = -std::numeric_limits<double>::infinity();
    for (Annotation& annotation : list)
    {
        last = std::max(last, annotation.endUs);
        annotation.lastEndUs = last;
    }
}

std::optional<Communication>
NcclAnnotations::Take(uint32_t thread, double us, const std::string& kernel)
{
    const auto found = m_threads.find(thread);
    if (found == m_threads.end())
    {
        return std::nullopt;
    }
    std::vector<Annotation>& list = found->second;
    if (!m_isSorted[thread])
    {
        Sort(list);
        m_isSorted[thread] = true;
    }
    auto next = std::upper_bound(list.begin(), list.end(), us, [](double time, const auto& it) {
        return time < it.startUs;
    });
    // The innermost one that has not ended.
    while (next != list.begin() && std::prev(next)->lastEndUs >= us)
    {
        Annotation& annotation = *--next;
        if (annotation.endUs < us)
        {
            continue;
        }
        const std::string shown =
            "the annotation " + QuotedText(PREFIX + annotation.told.collective);
        if (!annotation.flaw.empty())
        {
            throw std::invalid_argument(kernel + ": " + shown +
                                        " around its launch tells no size: " + annotation.flaw +
                                        "; --traceCommunication=recorded needs none");
        }
        if (annotation.isTaken)
        {
            throw std::invalid_argument(kernel + ": " + shown +
                                        " around its launch belongs to another kernel, too, and "
                                        "does not tell what each of them sends");
        }
        annotation.isTaken = true;
        return annotation.told;
    }
    return std::nullopt;
}

} // namespace kineto
} // namespace proteus
} // namespace ns3
