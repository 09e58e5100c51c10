/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rank-progress.h"

#include "ns3/proteus-config.h"
#include "ns3/proteus-ranks.h"

#if PROTEUS_HAS_MPI
#include "ns3/mpi-interface.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <vector>
#endif

namespace ns3
{
namespace proteus
{

#if PROTEUS_HAS_MPI

/// Counts on their way to the first rank. What ranks tell each other otherwise, as long as ns-3
/// simulates, goes by ns-3's own communicator.
class RankProgress::Messages
{
  public:
    Messages()
        : m_ofRanks(GetNRanks())
    {
    }

    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    RunProgress Add(const RunProgress& own)
    {
        if (GetRank() != 0)
        {
            Tell({own.tasks, own.bytes, own.packetHops, own.repeatedHops});
            return own;
        }
        int isThere = 1;
        while (isThere != 0)
        {
            MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &isThere, MPI_STATUS_IGNORE);
            if (isThere != 0)
            {
                Take();
            }
        }
        RunProgress sum = own;
        for (const Counts& counts : m_ofRanks)
        {
            sum.tasks += counts[0];
            sum.bytes += counts[1];
            sum.packetHops += counts[2];
            sum.repeatedHops += counts[3];
        }
        return sum;
    }

    void Finish()
    {
        uint64_t messages = GetRank() == 0 ? 0 : m_messages;
        MPI_Allreduce(MPI_IN_PLACE,
                      &messages,
                      1,
                      MPI_UINT64_T,
                      MPI_SUM,
                      MpiInterface::GetCommunicator());
        while (GetRank() == 0 && m_messages < messages)
        {
            Take();
        }
        MPI_Wait(&m_request, MPI_STATUS_IGNORE);
    }

  private:
    using WallClock = std::chrono::steady_clock;
    /// Of RunProgress: tasks, bytes, packetHops, repeatedHops.
    using Counts = std::array<uint64_t, 4>;

    static constexpr int TAG = 1;                                //!< of all messages
    static constexpr std::chrono::milliseconds LEAST_PAUSE{100}; //!< between two of a rank

    /// Sends counts, unless the last ones have just left. @param own of this rank
    void Tell(const Counts& own)
    {
        int isSent = 1;
        MPI_Test(&m_request, &isSent, MPI_STATUS_IGNORE);
        const WallClock::time_point now = WallClock::now();
        if (isSent == 0 || now < m_next)
        {
            return;
        }
        m_next = now + LEAST_PAUSE;
        m_own = own;
        ++m_messages;
        MPI_Isend(m_own.data(),
                  static_cast<int>(m_own.size()),
                  MPI_UINT64_T,
                  0,
                  TAG,
                  MPI_COMM_WORLD,
                  &m_request);
    }

    /// Receives counts of another rank.
    void Take()
    {
        Counts counts;
        MPI_Status status;
        MPI_Recv(counts.data(),
                 static_cast<int>(counts.size()),
                 MPI_UINT64_T,
                 MPI_ANY_SOURCE,
                 TAG,
                 MPI_COMM_WORLD,
                 &status);
        m_ofRanks[static_cast<std::size_t>(status.MPI_SOURCE)] = counts;
        ++m_messages;
    }

    MPI_Request m_request{MPI_REQUEST_NULL}; //!< of the last one sent
    Counts m_own{};                          //!< of the last one sent
    std::vector<Counts> m_ofRanks;           //!< the last ones, by rank
    WallClock::time_point m_next{};          //!< when another one may be sent
    uint64_t m_messages{0};                  //!< sent; on the first rank, received
};

RankProgress::RankProgress()
    : m_messages(GetNRanks() > 1 ? std::make_unique<Messages>() : nullptr)
{
}

RunProgress
RankProgress::Add(const RunProgress& own)
{
    return m_messages ? m_messages->Add(own) : own;
}

void
RankProgress::Finish()
{
    if (m_messages)
    {
        m_messages->Finish();
    }
}

#else

class RankProgress::Messages
{
};

RankProgress::RankProgress() = default;

RunProgress
RankProgress::Add(const RunProgress& own)
{
    return own;
}

void
RankProgress::Finish()
{
    // There is nobody else.
}

#endif

RankProgress::~RankProgress() = default;

} // namespace proteus
} // namespace ns3
