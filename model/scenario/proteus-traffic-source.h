/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRAFFIC_SOURCE_H
#define PROTEUS_TRAFFIC_SOURCE_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Traffic that shares the fabric with jobs: messages between GPUs, as a rule says.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A message.
struct TrafficMessage
{
    VertexId from{0};   //!< GPU that sends
    VertexId to{0};     //!< GPU that receives
    uint64_t bytes{0};  //!< payload
    int64_t startPs{0}; //!< when
};

/// @ingroup proteus
/// A distribution of sizes: points of a size in bytes and the part of all messages that are no
/// larger, both ascending; the last part is 1. Between points it is linear. One point stands for a
/// fixed size.
using SizeDistribution = std::vector<std::pair<double, double>>;

/**
 * @ingroup proteus
 * @param sizes a distribution
 * @param part a number from 0 to 1
 * @return the size that this part of all messages does not exceed, a whole number of bytes, 1 or
 * more
 */
uint64_t FindSize(const SizeDistribution& sizes, double part);

/// @ingroup proteus
/// @param sizes a distribution @return the mean size, bytes
double FindMeanSize(const SizeDistribution& sizes);

/// @ingroup proteus
/// A rule for messages.
struct TrafficPattern
{
    /// Which rule.
    enum class Kind : uint8_t
    {
        LIST,    //!< messages as they are
        POISSON, //!< between two random GPUs of different servers, at random times
        ROUNDS,  //!< the same messages again and again
    };

    std::string name;                     //!< for tables
    Kind kind{Kind::LIST};                //!< which rule
    std::vector<TrafficMessage> messages; //!< LIST: all, by start; ROUNDS: those of the first round
    std::vector<std::vector<VertexId>> servers; //!< POISSON: GPUs that send and receive, by server;
                                                //!< two servers or more
    SizeDistribution sizes;                     //!< POISSON
    double messagesPerSecond{0};                //!< POISSON: of all together
    int64_t fromPs{0};                          //!< POISSON: from when on
    int64_t untilPs{0};                         //!< POISSON, ROUNDS: none begins from then on
    int64_t everyPs{0};                         //!< ROUNDS: from round to round, above 0
    uint64_t seed{0};                           //!< POISSON: of the random numbers
    uint32_t trafficClass{1};                   //!< of the messages
};

/**
 * @ingroup proteus
 * The messages of a pattern, one by one in order of time. Random numbers come from std::mt19937_64,
 * whose sequence the C++ standard fixes. The distributions of the standard library are not used,
 * because it does not fix theirs.
 */
class TrafficSource
{
  public:
    /// @param pattern which messages; must outlive this object
    explicit TrafficSource(const TrafficPattern& pattern);

    /// @return the next message; none: there is none any more
    std::optional<TrafficMessage> Next();

  private:
    /// @return a random number from 0 to 1, 1 not included
    double Draw();
    /// @return the next message of POISSON
    std::optional<TrafficMessage> NextRandom();

    const TrafficPattern& m_pattern;
    std::mt19937_64 m_random;
    std::size_t m_next{0}; //!< of the messages
    int64_t m_round{0};    //!< of ROUNDS
    double m_timePs{0};    //!< of POISSON
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRAFFIC_SOURCE_H
