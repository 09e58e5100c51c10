/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_THEORY_H
#define PROTEUS_SCHEDULE_THEORY_H

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * What can be known about the order of communication without a simulation: how long an iteration
 * takes at least, and how much an order can gain.
 *
 * The iteration begins with the backward pass, last layer first. A layer's gradient is ready when
 * its backward pass is done; its forward pass of the next iteration waits for the transfer of the
 * gradient (all-reduce), or for its push to a parameter server and the pull that follows. Forward
 * passes run in order. One link carries the transfers; of a parameter server it is duplex.
 *
 * Let b, f and s be the times of backward pass, forward pass and transfer by layer, and
 * r(i) = b(i) + ... + b(n-1) the time when gradient i is ready. Take a link that never idles and
 * may interrupt a transfer at any time, and let the layer nearest to the input go first. Then every
 * prefix {0, ..., k} of the layers is served as early as any order can serve it, for all k at once.
 * Forward pass k waits for just that prefix. Hence priority by layer is optimal, and its time is a
 * closed form.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus-tests
/// Times of one layer, in seconds.
struct LayerTimes
{
    double backwardS{0}; //!< b: its backward pass
    double forwardS{0};  //!< f: its forward pass
    double transferS{0}; //!< s: its gradient over the link, in one direction
};

/**
 * @ingroup proteus-tests
 * T*: the least time of an iteration, of any order, for an all-reduce as for parameter servers:
 * max over j of b(j) + ... + b(n-1) + s(0) + ... + s(j) + f(j) + ... + f(n-1).
 * @param layers nearest to the input first, at least one
 * @return seconds
 */
double GetLeastIterationS(const std::vector<LayerTimes>& layers);

/**
 * @ingroup proteus-tests
 * Time of an iteration whose gradients go in the order in which they appear, each in one transfer
 * (all-reduce): max over j of b(j) + ... + b(n-1) + s(0) + ... + s(j), and then all of f.
 * @param layers nearest to the input first, at least one
 * @return seconds
 */
double GetArrivalOrderS(const std::vector<LayerTimes>& layers);

/**
 * @ingroup proteus-tests
 * Time of an iteration in which nothing overlaps: all of b, of s (twice for push and pull) and f.
 * @param layers nearest to the input first, at least one
 * @param isParameterServer whether there is a pull after the push
 * @return seconds
 */
double GetUnoverlappedS(const std::vector<LayerTimes>& layers, bool isParameterServer);

/**
 * @ingroup proteus-tests
 * What an iteration takes at most with priority by layer and parts that cannot be interrupted:
 * T* of transfers that have become longer by the overhead of their parts, and one part that blocks
 * (two with parameter servers: a pull waits for the whole part to be pushed).
 * @param layers nearest to the input first, at least one
 * @param partS time of a part on the link, more than 0
 * @param overheadS what every part costs in addition
 * @param isParameterServer whether there is a pull after the push
 * @return seconds
 */
double GetPartitionedBoundS(const std::vector<LayerTimes>& layers,
                            double partS,
                            double overheadS,
                            bool isParameterServer);

/// @ingroup proteus-tests
/// No order is faster than arrival order by this factor, where an all-reduce overlaps the backward
/// pass: the latter takes at most T* and the forward pass, which is shorter than T*.
constexpr double MOST_SPEEDUP_OF_ALL_REDUCE = 2;
/// @ingroup proteus-tests
/// No order is faster than no overlap at all by this factor: push, pull and computation take three
/// times the longest of them at most.
constexpr double MOST_SPEEDUP_OF_PARAMETER_SERVER = 3;

/**
 * @ingroup proteus-tests
 * Time of one tensor that is pushed and then pulled in n equal parts:
 * (n + 1) (bytes / (n rate) + overhead).
 * @param bytes of the tensor
 * @param bytesPerSecond of the link and direction
 * @param overheadS what a part costs in addition
 * @param parts n, at least 1
 * @return seconds
 */
double GetPushPullS(double bytes, double bytesPerSecond, double overheadS, uint64_t parts);

/**
 * @ingroup proteus-tests
 * The size of a part for which GetPushPullS() is least: sqrt(bytes overhead rate).
 * @param bytes of the tensor
 * @param bytesPerSecond of the link and direction
 * @param overheadS what a part costs in addition
 * @return bytes of a part
 */
double GetBestPartBytes(double bytes, double bytesPerSecond, double overheadS);

/**
 * @ingroup proteus-tests
 * GetPushPullS() with parts of the best size, were their number no integer:
 * bytes / rate + overhead + 2 sqrt(bytes overhead / rate).
 * @param bytes of the tensor
 * @param bytesPerSecond of the link and direction
 * @param overheadS what a part costs in addition
 * @return seconds
 */
double GetBestPushPullS(double bytes, double bytesPerSecond, double overheadS);

/**
 * @ingroup proteus-tests
 * Rate of a link under a credit window: min(rate, what is in flight / (part / rate + delay)).
 * @param creditBytes size of the window, at least 1
 * @param partBytes size of a part, at least 1
 * @param bytesPerSecond of the link
 * @param returnDelayS from the end of a part on the link until its credit is back
 * @return bytes per second
 */
double GetCreditThroughput(uint64_t creditBytes,
                           uint64_t partBytes,
                           double bytesPerSecond,
                           double returnDelayS);

/**
 * @ingroup proteus-tests
 * Longest time that an urgent part waits for those that have started: (credit + part) / rate.
 * @param creditBytes size of the window
 * @param partBytes size of a part
 * @param bytesPerSecond of the link
 * @return seconds
 */
double GetMostBlockingS(uint64_t creditBytes, uint64_t partBytes, double bytesPerSecond);

/**
 * @ingroup proteus-tests
 * Time of a ring all-reduce without latency: 2 (n - 1) / n bytes / rate.
 * @param bytes of the buffer of each rank
 * @param ranks n, at least 1
 * @param bytesPerSecond of a rank's link and direction
 * @return seconds
 */
double GetRingAllReduceS(double bytes, uint32_t ranks, double bytesPerSecond);

/// @ingroup proteus-tests
/// Where parameter servers are.
enum class ServerPlace : uint8_t
{
    WORKER_HOSTS, //!< on the first of the workers' hosts, and share their links
    OWN_HOSTS,    //!< on hosts of their own
};

/**
 * @ingroup proteus-tests
 * Time until all workers have pushed their gradients and pulled the sums, while pushes and pulls
 * overlap: what goes over the busiest link in one direction. A server has an equal share of all
 * tensors. On a worker's host, a server takes and gives its own worker's share without the link.
 * @param bytes of the gradients of a worker
 * @param workers hosts with workers, at least 1
 * @param servers number of servers, at least 1, no more than workers if they share hosts
 * @param place where the servers are
 * @param bytesPerSecond of a host's link and direction
 * @return seconds
 * @throw std::invalid_argument if there is no host for a server
 */
double GetParameterServerS(double bytes,
                           uint32_t workers,
                           uint32_t servers,
                           ServerPlace place,
                           double bytesPerSecond);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_THEORY_H
