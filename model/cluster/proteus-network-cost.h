/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NETWORK_COST_H
#define PROTEUS_NETWORK_COST_H

#include "proteus-cluster.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the network of a cluster can carry, and what it costs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Cables up to a length.
struct CableClass
{
    std::string name; //!< e.g. "copper"; an item of a price table
    double upToM{std::numeric_limits<double>::infinity()}; //!< longest, metres
};

/// @ingroup proteus
/// What one thing costs.
struct PriceItem
{
    std::string name;         //!< "switch-port", "nic", or that of a class of cables
    double gbitsPerSecond{0}; //!< rate up to which it does
    double price{0};          //!< in the table's currency
    double powerW{0};         //!< electrical power, both ends of a cable
    std::string source;       //!< where the numbers are from
};

/// @ingroup proteus
/// What a GPU costs to rent, with its share of the server and the network.
struct GpuRent
{
    std::string gpu;        //!< data sheet
    double pricePerHour{0}; //!< in the table's currency
    std::string source;     //!< where the number is from
};

/// @ingroup proteus
/// Where racks stand; switches stand in the middle of what they are joined with.
struct RackLayout
{
    uint32_t serversPerRack{4}; //!< in order of their numbers
    uint32_t racksPerRow{16};   //!< in order, too
    double rackWidthM{0.6};     //!< from rack to rack in a row
    double rowDistanceM{3};     //!< from row to row
    double withinRackM{2};      //!< of every cable, added to the way between racks
};

/// @ingroup proteus
/// Prices, powers and where things stand.
struct PriceTable
{
    std::string currency{"USD"};     //!< of prices
    RackLayout layout;               //!< decides how long cables are
    std::vector<CableClass> classes; //!< by length, the last one without bound
    std::vector<PriceItem> items;    //!< any order
    std::vector<GpuRent> rents;      //!< by GPU; may be empty

    /// @param gpu data sheet @return what it costs an hour
    /// @throw std::invalid_argument if the table does not say
    double FindRent(const std::string& gpu) const;

    /// @param name of an item @param gbitsPerSecond rate that it must do
    /// @return the slowest one that does @throw std::invalid_argument if there is none
    const PriceItem& Find(const std::string& name, double gbitsPerSecond) const;
};

/// @ingroup proteus
/// Things of one kind in a bill.
struct BillLine
{
    std::string item;         //!< of the price table
    double gbitsPerSecond{0}; //!< of the item that was taken
    uint64_t count{0};        //!< how many
    double price{0};          //!< all together
    double powerW{0};         //!< all together
};

/**
 * @ingroup proteus
 * Adds up switch ports, NICs and cables of the network of a cluster. A link faster than a NIC's is
 * a bundle of as many cables as its rate takes, as CountNetwork() counts.
 * @param cluster any
 * @param prices of everything
 * @return lines by item and rate
 * @throw std::invalid_argument if a price is missing
 */
std::vector<BillLine> MakeBill(const Cluster& cluster, const PriceTable& prices);

/// @ingroup proteus
/// What a network can carry at once between two halves of its servers.
struct Bisection
{
    double bytesPerSecond{0}; //!< least of the divisions that were tried, one direction
    double share{0};          //!< of what the NICs of a half can send; 0 for a single server
    std::string division;     //!< which one it was
};

/**
 * @ingroup proteus
 * Divides the servers into halves in two ways, the first ones from the last ones and the even
 * numbers from the odd ones, and finds the greatest flow between the halves over the links of the
 * network (Dinic's algorithm). The bisection bandwidth is the least over all divisions; the smaller
 * of the two results bounds it from above.
 * @param cluster any
 * @return the result
 */
Bisection FindBisection(const Cluster& cluster);

/**
 * @ingroup proteus
 * @param cluster any
 * @return shortest paths through the network between the first NIC, or host, of the first server
 * and that of the last one; 0 for a single server
 */
uint64_t CountPaths(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NETWORK_COST_H
