/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-ranks.h"

#include "ns3/proteus-config.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#if PROTEUS_HAS_MPI
#include "ns3/global-value.h"
#include "ns3/mpi-interface.h"
#include "ns3/string.h"

#include <chrono>
#include <climits>
#include <mpi.h>
#include <numeric>
#include <thread>
#endif

namespace ns3
{
namespace proteus
{

namespace
{

/// Variables that say how many processes mpirun (Open MPI, MPICH) or srun has started.
constexpr const char* SIZE_VARIABLES[]{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

/// @return the variable that says how many processes were started together; empty: none does
std::string
FindSizeVariable()
{
    for (const char* name : SIZE_VARIABLES)
    {
        if (std::getenv(name) != nullptr)
        {
            return name;
        }
    }
    // srun --mpi=pmix says it of every step, also of one without MPI.
    return std::getenv("PMIX_RANK") && std::getenv("SLURM_NTASKS") ? "SLURM_NTASKS" : "";
}

/// @return processes that were started together, as far as the environment says; 1 if it does not
int
GetStartedProcesses()
{
    const std::string name = FindSizeVariable();
    return name.empty() ? 1 : std::max(1, std::atoi(std::getenv(name.c_str())));
}

#if PROTEUS_HAS_MPI
/// How long a rank that has failed waits for the others to come to the same point.
constexpr std::chrono::seconds AGREEMENT_LIMIT{10};
/// Bytes of one broadcast: MPI counts in int.
constexpr std::size_t MOST_BYTES = std::size_t{1} << 30;
#endif

} // namespace

void
RequireOneProcess(const std::string& what, const std::string& instead)
{
    if (GetNRanks() > 1)
    {
        throw std::invalid_argument(what + " needs one process: leave --mpi away, or " + instead);
    }
}

#if PROTEUS_HAS_MPI

uint32_t
GetRank()
{
    return MpiInterface::IsEnabled() ? MpiInterface::GetSystemId() : 0;
}

uint32_t
GetNRanks()
{
    return MpiInterface::IsEnabled() ? MpiInterface::GetSize() : 1;
}

void
SumOverRanks(std::vector<uint64_t>& values)
{
    if (GetNRanks() > 1)
    {
        MPI_Allreduce(MPI_IN_PLACE,
                      values.data(),
                      static_cast<int>(values.size()),
                      MPI_UINT64_T,
                      MPI_SUM,
                      MpiInterface::GetCommunicator());
    }
}

void
MaxOverRanks(std::vector<int64_t>& values)
{
    if (GetNRanks() > 1)
    {
        MPI_Allreduce(MPI_IN_PLACE,
                      values.data(),
                      static_cast<int>(values.size()),
                      MPI_INT64_T,
                      MPI_MAX,
                      MpiInterface::GetCommunicator());
    }
}

std::string
GetFirstTextOfRanks(const std::string& text)
{
    if (GetNRanks() == 1)
    {
        return text;
    }
    const MPI_Comm communicator = MpiInterface::GetCommunicator();
    int first = text.empty() ? INT_MAX : static_cast<int>(GetRank());
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, communicator);
    if (first == INT_MAX)
    {
        return "";
    }
    uint64_t size = text.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, first, communicator);
    std::string common = text;
    common.resize(size);
    MPI_Bcast(common.data(), static_cast<int>(size), MPI_CHAR, first, communicator);
    return common;
}

std::vector<uint8_t>
JoinBytesOfRanks(const std::vector<uint8_t>& bytes)
{
    if (GetNRanks() == 1)
    {
        return bytes;
    }
    const MPI_Comm communicator = MpiInterface::GetCommunicator();
    std::vector<uint64_t> sizes(GetNRanks(), 0);
    sizes[GetRank()] = bytes.size();
    SumOverRanks(sizes);
    std::vector<uint8_t> all(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
    std::size_t begin = 0;
    for (uint32_t rank = 0; rank < sizes.size(); ++rank)
    {
        const std::size_t end = begin + sizes[rank];
        if (rank == GetRank())
        {
            std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<int64_t>(begin));
        }
        for (; begin < end; begin += std::min(MOST_BYTES, end - begin))
        {
            MPI_Bcast(all.data() + begin,
                      static_cast<int>(std::min(MOST_BYTES, end - begin)),
                      MPI_BYTE,
                      static_cast<int>(rank),
                      communicator);
        }
    }
    return all;
}

void
DestroySimulation()
{
    // A rank that failed since, as at a full disk, does not do what follows.
    if (RankSession::Agree(true) != RankSession::ALL_WELL)
    {
        throw RanksGone();
    }
    Simulator::Destroy();
    if (MpiInterface::IsEnabled())
    {
        // Which has freed what the interface receives into, and does not make it again.
        MpiInterface::Disable();
        MpiInterface::Enable(MPI_COMM_WORLD);
    }
}

RankSession::RankSession(int argc, char* argv[])
{
    const int started = GetStartedProcesses();
    const std::string variable = FindSizeVariable(); // MPI may take what tells it away
    if (started == 1)
    {
        return;
    }
    // ns-3 ends what it has begun itself, after the first simulation: see DestroySimulation().
    MPI_Init(&argc, &argv);
    int found = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &found);
    if (found != started)
    {
        MPI_Finalize();
        throw std::runtime_error(
            "the environment is that of " + std::to_string(started) + " processes, and MPI finds " +
            std::to_string(found) +
            ": start it with the mpirun of the MPI that it is built with, or as one process "
            "without " +
            variable);
    }
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DistributedSimulatorImpl"));
    MpiInterface::Enable(MPI_COMM_WORLD);
    m_isEnabled = true;
    if (GetRank() != 0)
    {
        m_output = std::cout.rdbuf(&m_nowhere);
        m_follower.emplace();
    }
}

RankSession::~RankSession()
{
    if (m_output)
    {
        std::cout.rdbuf(m_output);
    }
    if (m_isEnabled)
    {
        Simulator::Destroy();
        if (MpiInterface::IsEnabled())
        {
            MpiInterface::Disable();
        }
        MPI_Finalize();
    }
}

int
RankSession::Agree(bool isWell)
{
    if (GetNRanks() == 1)
    {
        return isWell ? ALL_WELL : 0;
    }
    // Not the communicator of the simulator and of what is gathered: what the others do there must
    // not be taken for an answer.
    const int own = isWell ? INT_MAX : static_cast<int>(GetRank());
    int lowest = INT_MAX;
    MPI_Request request;
    MPI_Iallreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    const auto start = std::chrono::steady_clock::now();
    int isDone = 0;
    for (MPI_Test(&request, &isDone, MPI_STATUS_IGNORE); isDone == 0;
         MPI_Test(&request, &isDone, MPI_STATUS_IGNORE))
    {
        if (!isWell && std::chrono::steady_clock::now() - start > AGREEMENT_LIMIT)
        {
            return ALONE;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return lowest == INT_MAX ? ALL_WELL : lowest;
}

void
RankSession::Abort(int exitCode)
{
    MPI_Abort(MPI_COMM_WORLD, exitCode);
    std::abort(); // MPI_Abort() does not return, but does not say so
}

#else

uint32_t
GetRank()
{
    return 0;
}

uint32_t
GetNRanks()
{
    return 1;
}

void
SumOverRanks(std::vector<uint64_t>& /* values */)
{
    // Those of the one rank that there is.
}

void
MaxOverRanks(std::vector<int64_t>& /* values */)
{
    // As SumOverRanks().
}

std::string
GetFirstTextOfRanks(const std::string& text)
{
    return text;
}

std::vector<uint8_t>
JoinBytesOfRanks(const std::vector<uint8_t>& bytes)
{
    return bytes;
}

void
DestroySimulation()
{
    Simulator::Destroy();
}

RankSession::RankSession(int /* argc */, char* /* argv */[])
{
    if (const int processes = GetStartedProcesses(); processes > 1)
    {
        throw std::runtime_error("started as " + std::to_string(processes) +
                                 " processes, but built without MPI: install Open MPI (Debian: "
                                 "libopenmpi-dev and openmpi-bin) and build again");
    }
}

RankSession::~RankSession() = default;

int
RankSession::Agree(bool isWell)
{
    return isWell ? ALL_WELL : 0;
}

void
RankSession::Abort(int exitCode)
{
    std::exit(exitCode);
}

#endif

} // namespace proteus
} // namespace ns3
