/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_VARIABLES_H
#define PROTEUS_NCCL_VARIABLES_H

#include "proteus-protocol.h"
#include "proteus-transport-rules.h"

#include "ns3/proteus-nccl-cost.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-registry.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Variables of the environment that NCCL reads, as far as they are modelled. Each registers itself,
 * with what it does or why it does nothing.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the variables of a run say. A 0, an empty map and an empty optional: nothing.
struct NcclVariables
{
    uint32_t version{NEWEST_NCCL};                      //!< of NCCL, that reads them
    std::array<uint64_t, NCCL_PROTOCOLS> bufferBytes{}; //!< of a connection, by Protocol
    uint32_t leastChannels{0};                          //!< of a communicator
    uint32_t mostChannels{0};                           //!< of a communicator
    uint32_t leastBlocks{0};                            //!< thread blocks, of NVLS as well
    uint32_t mostBlocks{0};                             //!< thread blocks, of NVLS as well
    uint32_t threads{0};                                //!< of a thread block, LL and Simple
    uint32_t ll128Threads{0};                           //!< of a thread block, LL128
    uint32_t leastMessageChannels{0};                   //!< of all messages
    uint32_t mostMessageChannels{0};                    //!< of all messages
    uint32_t networkChannels{0};                        //!< of a peer in another server
    uint64_t networkChannelGBps{0};                     //!< that a channel of a peer is to carry
    uint64_t networkChunkBytes{0};                      //!< messages of several servers
    uint64_t nvlinkChunkBytes{0};                       //!< messages of one server, NVLink
    uint64_t pcieChunkBytes{0};                         //!< messages of one server, otherwise
    std::optional<uint64_t> llMessageBytes;             //!< most of a channel of LL
    uint32_t nvlsChannels{0};                           //!< of NVLS
    uint64_t nvlsChunkBytes{0};                         //!< of NVLS
    uint64_t nvlsTreeChunkBytes{0};                     //!< most of a chunk of NVLSTree
    std::optional<uint64_t> treeThresholdBytes;         //!< most bytes of a tree, before 2.5
    std::optional<uint64_t> llThresholdBytes;           //!< most bytes of LL, before 2.5
    bool nvls{true};                                    //!< whether there is NVLS
    bool pat{true};                                     //!< whether there is PAT
    bool c2cLl128{true};                                //!< LL128 where C2C leads to the NIC
    bool pxn{true};                                     //!< GPUs pass on to NICs of others
    bool messagesByPxn{true};                           //!< messages leave on the receiver's rail
    TransportRules transports; //!< how devices of a server reach each other; only what is said
    /// What a collective may take, in NCCL's names in small letters; no entry: what NCCL likes.
    std::map<Collective, std::set<std::string>> algorithms;
    std::map<Collective, std::set<std::string>> protocols; //!< as algorithms

    /// @param collective one @param algorithm of NCCL's tuner @return whether it may be taken
    bool Allows(Collective collective, NcclAlgorithm algorithm) const;

    /// @param collective one @param protocol one @return whether it may be taken
    bool Allows(Collective collective, Protocol protocol) const;
};

/// @ingroup proteus
/// A variable of NCCL.
struct NcclVariable
{
    /// Takes its value over. @param value as it was typed @param variables get it
    /// @throw std::invalid_argument with what the value must be
    void (*read)(const std::string& value, NcclVariables& variables){nullptr};

    uint32_t since{0};    //!< first version that reads it, 100 times the major and the minor number
    std::string unread{}; //!< why it cannot be honoured; empty: read() does
    std::string idle{};   //!< why it changes no result, whatever it says; empty: it may
    std::string option{}; //!< of the programs, that says the same; may be empty
    std::string doubt{};  //!< what of it is not modelled; may be empty
    uint32_t until{0};    //!< first version that reads it no more; 0: none

    /// @param version of NCCL @return whether it reads the variable
    bool IsReadBy(uint32_t version) const
    {
        return version >= since && (until == 0 || version < until);
    }
};

/// @ingroup proteus
/// The variables by their names, e.g. "NCCL_BUFFSIZE".
using NcclVariableRegistry = Registry<NcclVariable>;

/**
 * @ingroup proteus
 * Reads a list of settings. Algorithms and protocols are lists themselves:
 * "NCCL_ALGO=Ring,Tree,NCCL_BUFFSIZE=8M".
 * @param text of the list; empty: no setting
 * @param version of NCCL, 100 times the major and the minor number; what it does not know yet does
 * nothing
 * @param others that were set before, which these count more than
 * @return what they say
 * @throw std::invalid_argument for a name that is not known, twice there or cannot be honoured, or
 * a value that is none of it
 */
NcclVariables ParseNcclVariables(const std::string& text,
                                 uint32_t version,
                                 const NcclVariables& others = NcclVariables());

/// @ingroup proteus
/// @param text as ParseNcclVariables() reads it @return names and values
/// @throw std::invalid_argument if it is no list of settings
std::vector<std::pair<std::string, std::string>> SplitNcclVariables(const std::string& text);

/// @ingroup proteus
/// @param text that ParseNcclVariables() reads @param version the same as there
/// @return a line for each variable that does nothing, or of which not all is modelled, with why
std::vector<std::string> FindIdleVariables(const std::string& text, uint32_t version);

/// @ingroup proteus
/// @param value of a variable @return it; K, M and G may follow (1024, ...)
/// @throw std::invalid_argument if it is none from 1 to 1 TiB
uint64_t ReadNcclBytes(const std::string& value);

/// @ingroup proteus
/// @param value of a variable @param least that is allowed @param most that is allowed @return it
/// @throw std::invalid_argument if it is no such whole number
uint32_t ReadNcclNumber(const std::string& value, uint32_t least, uint32_t most);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_VARIABLES_H
