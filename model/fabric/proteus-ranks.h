/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANKS_H
#define PROTEUS_RANKS_H

#include "ns3/proteus-output-follower.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <type_traits>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The processes that run one simulation together, over MPI. Without MPI there is one.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What ends a simulation on one of several processes while the others go on.
class RankFailure : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// @ingroup proteus
/// Another process has failed, and says why: this one ends without a word.
class RanksGone : public std::exception
{
  public:
    /// @return what nobody needs to see
    const char* what() const noexcept override
    {
        return "another rank has failed";
    }
};

/// @ingroup proteus
/// @return this process among those of the simulation, from 0; 0 if it is the only one
uint32_t GetRank();

/// @ingroup proteus
/// @return how many processes run the simulation; 1 without RankSession
uint32_t GetNRanks();

/// @ingroup proteus
/// For what several processes cannot do. @param what that is @param instead what to do without it
/// @throw std::invalid_argument if several processes run the simulation
void RequireOneProcess(const std::string& what, const std::string& instead);

/// @ingroup proteus
/// Adds up over all ranks, which have to call it. @param values gets the sums, on every rank
void SumOverRanks(std::vector<uint64_t>& values);

/// @ingroup proteus
/// The same with the largest. @param values gets them, on every rank
void MaxOverRanks(std::vector<int64_t>& values);

/// @ingroup proteus
/// All ranks have to call it. @param text of this rank @return that of the lowest rank that has
/// one, on every rank; empty if none has
std::string GetFirstTextOfRanks(const std::string& text);

/// @ingroup proteus
/// Puts what all ranks have one behind the other, in the order of the ranks, which have to call it.
/// @param bytes of this rank @return those of all ranks, on every rank
std::vector<uint8_t> JoinBytesOfRanks(const std::vector<uint8_t>& bytes);

/// @ingroup proteus
/// The same for plain records. @param own records of this rank @return those of all, on every rank
template <typename T>
std::vector<T>
JoinRecordsOfRanks(const std::vector<T>& own)
{
    static_assert(std::is_trivially_copyable_v<T>, "ranks send each other plain records");
    if (GetNRanks() == 1)
    {
        return own;
    }
    std::vector<uint8_t> bytes(own.size() * sizeof(T));
    if (!own.empty())
    {
        std::memcpy(bytes.data(), own.data(), bytes.size());
    }
    const std::vector<uint8_t> joined = JoinBytesOfRanks(bytes);
    std::vector<T> all(joined.size() / sizeof(T));
    if (!all.empty())
    {
        std::memcpy(all.data(), joined.data(), joined.size());
    }
    return all;
}

/// @ingroup proteus
/// Simulator::Destroy(), after which another simulation may follow, also on several ranks, which
/// all have to call it. @throw RanksGone if one of them has failed instead
void DestroySimulation();

/**
 * @ingroup proteus
 * A program that may be started as several processes. If mpirun or srun has started this one, MPI
 * and ns-3's distributed simulator are used from here on; only the first rank writes files,
 * warnings and the standard output. Make it before anything that asks the simulator.
 */
class RankSession
{
  public:
    /**
     * @param argc of main()
     * @param argv of main()
     * @throw std::runtime_error if there are several processes and proteus is built without MPI
     */
    RankSession(int argc, char* argv[]);
    ~RankSession();

    RankSession(const RankSession&) = delete;
    RankSession& operator=(const RankSession&) = delete;

    /// Agree(): no rank has failed.
    static constexpr int ALL_WELL = -1;
    /// Agree(): this rank has failed, and the others do not come to the same point.
    static constexpr int ALONE = -2;

    /**
     * Waits for the others at a point that all ranks come to: when what is to be simulated has been
     * set up, and at the end.
     * @param isWell whether this rank has come here without an error
     * @return the lowest rank that has failed, ALL_WELL, or ALONE
     */
    static int Agree(bool isWell);

    /// Ends all ranks at once. @param exitCode of the program
    [[noreturn]] static void Abort(int exitCode);

  private:
    /// Takes what is written, and forgets it.
    class Nowhere : public std::streambuf
    {
        int_type overflow(int_type character) override
        {
            return traits_type::not_eof(character);
        }
    };

    Nowhere m_nowhere;                        //!< for std::cout of other ranks than the first
    std::streambuf* m_output{nullptr};        //!< what std::cout had before, if it was changed
    std::optional<OutputFollower> m_follower; //!< of other ranks than the first
    bool m_isEnabled{false};                  //!< MPI is used
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANKS_H
