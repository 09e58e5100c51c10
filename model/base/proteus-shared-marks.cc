/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-shared-marks.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/mman.h>

namespace ns3
{
namespace proteus
{

namespace
{

/// Where marks are set: in memory that the processes share which a program forks to simulate in.
class MarkPage
{
  public:
    MarkPage()
    {
        void* memory = mmap(nullptr,
                            SIZE * sizeof(Place),
                            PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS,
                            -1,
                            0);
        if (memory == MAP_FAILED)
        {
            throw std::runtime_error("no memory that processes share: " +
                                     std::string(std::strerror(errno)));
        }
        m_places = static_cast<Place*>(memory); // all zero, which is no mark
    }

    MarkPage(const MarkPage&) = delete;
    MarkPage& operator=(const MarkPage&) = delete;

    /// @return a place without a mark; of more than there are, the first ones anew
    std::atomic<bool>& Take()
    {
        Place& place = m_places[m_next++ % SIZE];
        place = false;
        return place;
    }

  private:
    using Place = std::atomic<bool>;
    static_assert(Place::is_always_lock_free, "processes set marks without a lock");
    static constexpr std::size_t SIZE = 1 << 16; //!< more than the attributes of a command line

    Place* m_places{nullptr}; //!< for as long as the process lives, as defaults do
    std::size_t m_next{0};    //!< place that is taken next
};

} // namespace

std::atomic<bool>&
TakeSharedMark()
{
    static MarkPage page;
    return page.Take();
}

} // namespace proteus
} // namespace ns3
