/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_TRACE_OPTIONS_H
#define PROTEUS_PACKET_TRACE_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"

#include "ns3/nstime.h"
#include "ns3/proteus-fabric-helper.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-transport.h"

#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Options of the programs that write what happens on the links to files.
 */
struct PacketTraceOptions
{
    CommandLineText pcap;                  //!< prefix of captures, if not empty
    CommandLineText ascii;                 //!< file to write, if not empty
    CommandLineText linkSeries;            //!< file to write, if not empty
    CommandLineText congestionSeries;      //!< file to write, if not empty
    Time seriesInterval{MicroSeconds(10)}; //!< between samples

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// @return whether there is anything to write
    bool IsOn() const
    {
        return !(pcap.empty() && ascii.empty() && linkSeries.empty() && congestionSeries.empty());
    }

    /// @throw std::invalid_argument if an option makes no sense, std::runtime_error if a file
    /// cannot be written
    void Check() const;

    /**
     * Begins to write what the options ask for.
     * @param fabric of the links
     * @param transport of the queue pairs
     * @return what FabricHelper::FinishFiles() is to be called of after the run
     * @throw std::invalid_argument if an option makes no sense, std::runtime_error if a file cannot
     * be written
     */
    FabricHelper Enable(Ptr<Fabric> fabric, Ptr<Transport> transport) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_TRACE_OPTIONS_H
