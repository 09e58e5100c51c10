/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_INPUT_SHARES_H
#define PROTEUS_INPUT_SHARES_H

#include "proteus-flow-route-table.h"

#include <cstdint>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What flows get of a link that several inputs of a switch lead to.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Shares of flows behind switches with credits.
 *
 * A full output serves what waits for it in the order of arrival. An input with more to send than
 * its receive buffer holds keeps that full. So such inputs take turns, and the flows of one input
 * share what that gets, and so on back to the senders (the parking lot problem; Dally and Towles,
 * "Principles and Practices of Interconnection Networks", 2004, section 15.4.1): a flow that comes
 * by an input of its own is ahead of those that share one. Where messages are so short that the
 * buffers hold those of all flows, the flows take turns.
 *
 * Flows are added with what holds each of them, as max-min fairness says.
 */
class InputShares
{
  public:
    /// @param bytes that the receive buffer of an input holds
    void SetBuffer(double bytes)
    {
        m_bufferBytes = bytes;
    }

    /// Forgets all flows.
    void Clear()
    {
        m_flows.clear();
        m_held.clear();
    }

    /**
     * Adds equal flows.
     * @param count of them
     * @param bytes that each has to send at this time, in the mean
     * @param inputs that they come by, in the order of the way; must outlive the next Find()
     * @param held resource that holds them; NO_ID for none
     */
    void AddFlows(uint32_t count,
                  double bytes,
                  const std::vector<FlowInput>& inputs,
                  uint32_t held);

    /// Computes the weights. @return whether some flow has another one than 1
    bool Find();

    /// @param flows in the order of AddFlows(), from 0 @return the rate of each over the mean of
    /// the flows that the same resource holds
    double GetWeight(uint32_t flows) const
    {
        return m_flows[flows].weight;
    }

  private:
    /// Equal flows.
    struct Flows
    {
        uint32_t count{0};                             //!< of them
        double bytes{0};                               //!< that each has to send
        const std::vector<FlowInput>* inputs{nullptr}; //!< in the order of the way
        uint32_t held{NO_ID};                          //!< by which resource
        uint32_t turn{0};                              //!< FlowInput::turn of that
        std::size_t end{0};                            //!< inputs up to that
        double weight{1};                              //!< see GetWeight()
    };

    /// Flows at one place of their ways, and the input that they come by.
    struct Place
    {
        uint32_t resource; //!< output
        uint32_t turn;     //!< of that, from the turn of what holds the flows
        uint32_t from;     //!< input
        uint32_t fromTurn; //!< of that, from the turn of what holds the flows
        uint32_t flows;    //!< in m_flows
    };

    /// Some of m_held that one resource holds.
    using Range = std::pair<std::size_t, std::size_t>;

    /// Sets the weights of flows. @param range of a resource
    void Weigh(const Range& range);

    /// Shares out what each input gets at one place of the way. @param range of a resource
    /// @param distance from the resource @param turns that an input has at most, in flows
    void ShareInputs(const Range& range, std::size_t distance, double turns);

    double m_bufferBytes{0};      //!< of an input
    std::vector<Flows> m_flows;   //!< in the order of AddFlows()
    std::vector<uint32_t> m_held; //!< those that a resource behind a switch holds, by resource
    std::vector<Place> m_places;  //!< of ShareInputs()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_INPUT_SHARES_H
