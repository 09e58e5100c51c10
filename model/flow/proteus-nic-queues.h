/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NIC_QUEUES_H
#define PROTEUS_NIC_QUEUES_H

#include "proteus-flow-route-table.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What NICs have read of memories and not sent yet, first come, first served.
 *
 * A NIC reads faster than it sends, and what it has read goes in the order in which it came. So a
 * message that begins while another one is sent waits for what of that has been read: the head
 * start of the other one grows by the ratio of both rates. Messages whose reading meets share the
 * way to the NIC evenly, and what the NIC sends later, too: there the max-min share of its port
 * stands for the queue.
 *
 * Times are picoseconds, and never go back.
 */
class NicQueues
{
  public:
    /**
     * A flow that has sent all before has a message to send.
     * @param flow which one
     * @param reading of its route
     * @param rate bytes per picosecond that its sender allows; infinite for all
     * @param bytes of the message
     * @param nowPs when
     * @return how long its first byte waits for what the NIC has read of others
     */
    double Begin(uint32_t flow,
                 const FlowReading& reading,
                 double rate,
                 double bytes,
                 double nowPs);

    /// A flow has one more message to send, behind those that it has begun. @param flow which one
    /// @param reading of its route @param rate see Begin() @param bytes of the message @param nowPs
    /// when
    void Add(uint32_t flow, const FlowReading& reading, double rate, double bytes, double nowPs);

    /// A flow is read at another rate from now on. @param flow which one @param reading of its
    /// route @param rate see Begin() @param nowPs when @return bytes of it that are not read yet
    double SetRate(uint32_t flow, const FlowReading& reading, double rate, double nowPs);

    /// @param port of a NIC @param nowPs when @return bytes that it has read and not sent
    double GetQueued(uint32_t port, double nowPs);

  private:
    /// A flow of which there is something to read.
    struct Reader
    {
        uint32_t flow;  //!< which one
        uint32_t from;  //!< resource that brings it
        double bytes;   //!< not read yet
        double comes;   //!< bytes per picosecond of that resource
        double allowed; //!< bytes per picosecond of the sender
    };

    /// A port of a NIC to the network.
    struct Queue
    {
        double sincePs{0};           //!< when it was so
        double bytes{0};             //!< read and not sent
        double room{0};              //!< for what is read
        double goes{0};              //!< bytes per picosecond of the port
        std::vector<Reader> readers; //!< in the order in which they began
    };

    /// @param queue of a port @param flow a flow @return its reader, the end if there is none
    static std::vector<Reader>::iterator Find(Queue& queue, uint32_t flow);
    /// @param queue whose readers share what brings their bytes @param rates gets what each has
    /// @return the sum
    static double FindRates(const Queue& queue, std::vector<double>& rates);
    /// Time goes on. @param queue of a port @param nowPs until when
    void Advance(Queue& queue, double nowPs);

    std::unordered_map<uint32_t, Queue> m_queues; //!< by port
    std::vector<double> m_rates;                  //!< of Advance(), by reader
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NIC_QUEUES_H
