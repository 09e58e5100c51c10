/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// How devices of a server reach each other (NVIDIA/nccl v2.30.7, src/graph/paths.cc,
// ncclGetLevel(), ncclTopoCheckP2p() and ncclTopoCheckGdr()). Since when is that of the tags.

#include "proteus-nccl-variables.h"

#include <stdexcept>

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

} // namespace

} // namespace proteus
} // namespace ns3
