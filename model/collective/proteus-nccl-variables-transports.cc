/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// How devices of a server reach each other (NVIDIA/nccl v2.30.7, src/graph/paths.cc,
// ncclGetLevel(), ncclTopoCheckP2p() and ncclTopoCheckGdr()). Since when is that of the tags.

#include "proteus-nccl-variables.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = NcclVariableRegistry::Registration;

const Registration REGISTER_P2P_DISABLE("NCCL_P2P_DISABLE",
                                        {[](const std::string& value, NcclVariables& variables) {
                                            variables.transports.peerToPeer =
                                                variables.transports.peerToPeer &&
                                                ReadNcclNumber(value, 0, 1) == 0;
                                        }});
const Registration REGISTER_P2P_LEVEL("NCCL_P2P_LEVEL",
                                      {[](const std::string& value, NcclVariables& variables) {
                                          variables.transports.p2pLevel = ReadPathLevel(value);
                                          if (!variables.transports.p2pLevel)
                                          {
                                              variables.transports.peerToPeer = false;
                                          }
                                      }});
// UsesHostMemory() reads it, since it makes another cluster.
const Registration REGISTER_SHM_DISABLE("NCCL_SHM_DISABLE",
                                        {[](const std::string& value, NcclVariables&) {
                                            ReadNcclNumber(value, 0, 1);
                                        }});
const Registration REGISTER_NET_GDR_LEVEL("NCCL_NET_GDR_LEVEL",
                                          {[](const std::string& value, NcclVariables& variables) {
                                              variables.transports.gdrLevel = ReadPathLevel(value);
                                              variables.transports.gdr =
                                                  variables.transports.gdrLevel.has_value();
                                          }});
const Registration REGISTER_NET_GDR_READ("NCCL_NET_GDR_READ",
                                         {[](const std::string& value, NcclVariables& variables) {
                                             variables.transports.gdrRead =
                                                 ReadNcclNumber(value, 0, 1) > 0;
                                         }});

const Registration REGISTER_CROSS_NIC("NCCL_CROSS_NIC",
                                      {[](const std::string& value, NcclVariables& variables) {
                                           const auto number = ReadNcclNumber(value, 0, 2);
                                           variables.transports.crossNic =
                                               number == 0   ? CrossNic::NEVER
                                               : number == 1 ? CrossNic::ALWAYS
                                                             : CrossNic::RAILS;
                                       },
                                       206});

constexpr uint32_t MOST_SOCKET_THREADS = 16; // MAX_THREADS of src/transport/net_socket.cc
constexpr uint32_t MOST_SOCKETS = 64;        // MAX_SOCKETS
const char* const SOCKETS = "--netPlugin=sockets heeds it, other networks have no sockets";

/// Takes one of the two numbers of sockets over, see NcclVariable::read.
/// @throw std::invalid_argument besides, for more sockets than NCCL has room for
template <std::optional<uint32_t> TransportRules::*NUMBER, uint32_t LEAST, uint32_t MOST>
void
ReadSockets(const std::string& value, NcclVariables& variables)
{
    TransportRules& rules = variables.transports;
    rules.*NUMBER = ReadNcclNumber(value, LEAST, MOST);
    if (rules.socketThreads.value_or(1) * rules.socketsPerThread.value_or(1) > MOST_SOCKETS)
    {
        throw std::invalid_argument("NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD is 64 at "
                                    "most");
    }
}

const Registration REGISTER_SOCKET_NTHREADS(
    "NCCL_SOCKET_NTHREADS",
    {ReadSockets<&TransportRules::socketThreads, 0, MOST_SOCKET_THREADS>,
     204,
     "",
     "",
     "",
     SOCKETS});
const Registration REGISTER_NSOCKS_PERTHREAD(
    "NCCL_NSOCKS_PERTHREAD",
    {ReadSockets<&TransportRules::socketsPerThread, 1, MOST_SOCKETS>, 204, "", "", "", SOCKETS});

} // namespace

} // namespace proteus
} // namespace ns3
