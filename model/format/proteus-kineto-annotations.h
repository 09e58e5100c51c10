/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_ANNOTATIONS_H
#define PROTEUS_KINETO_ANNOTATIONS_H

#include "proteus-kineto-events.h"

#include "ns3/proteus-json.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What annotations of torch.distributed tell of kernels of NCCL that do not say it themselves.
 */

namespace ns3
{
namespace proteus
{
namespace kineto
{

/**
 * @ingroup proteus
 * The annotations "nccl:all_reduce", "nccl:_all_gather_base", "nccl:send 0->1", ... that
 * ProcessGroupNCCL puts around its calls. With record_shapes they have the shapes and formats of
 * what is sent. PyTorch before 2.2 says it nowhere else; it never says the process group there. A
 * kernel belongs to the annotation of the thread that launches it, at the time of the launch.
 */
class NcclAnnotations
{
  public:
    /// @param name of an annotation of a user @return whether it is one of NCCL's
    static bool IsOne(const std::string& name);

    /// @param element one of NCCL's @param startUs its begin @param thread of the host
    void Add(JsonValue element, double startUs, uint32_t thread);

    /// @return whether there is any
    bool HasAny() const
    {
        return !m_threads.empty();
    }

    /**
     * @param thread that launched a kernel
     * @param us when
     * @param kernel in words, for messages
     * @return what NCCL was asked to do there, by all ranks; nothing if no annotation tells
     * @throw std::invalid_argument if the annotation tells no sizes, or belongs to another kernel,
     * too
     */
    std::optional<Communication> Take(uint32_t thread, double us, const std::string& kernel);

  private:
    /// One of them.
    struct Annotation
    {
        double startUs{0};
        double endUs{0};
        double lastEndUs{0}; //!< of this one and those before it
        Communication told;
        std::string flaw;    //!< why it does not tell sizes; empty: it does
        bool isTaken{false}; //!< whether a kernel belongs to it
    };

    /// Brings a thread's annotations into the order of their begins.
    static void Sort(std::vector<Annotation>& list);

    std::map<uint32_t, std::vector<Annotation>> m_threads;
    std::map<uint32_t, bool> m_isSorted; //!< by thread
};

} // namespace kineto
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_ANNOTATIONS_H
