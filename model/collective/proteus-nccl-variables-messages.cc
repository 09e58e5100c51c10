/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Channels and chunks of messages (NVIDIA/nccl v2.30.7, src/graph/paths.cc,
// ncclTopoGetNchannels() and ncclTopoComputeP2pChannels(); src/init.cc, computeBuffSizes();
// src/enqueue.cc, addP2pToPlan(); src/graph/paths.cc, ncclPxnDisable()). Since when is that of the
// tags.

#include "proteus-nccl-variables.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = NcclVariableRegistry::Registration;

constexpr uint32_t MOST_CHANNELS = 64; // MAXCHANNELS

const Registration REGISTER_MIN_P2P_NCHANNELS("NCCL_MIN_P2P_NCHANNELS",
                                              {[](const std::string& value,
                                                  NcclVariables& variables) {
                                                   variables.leastMessageChannels =
                                                       ReadNcclNumber(value, 1, MOST_CHANNELS);
                                               },
                                               207});
const Registration REGISTER_MAX_P2P_NCHANNELS("NCCL_MAX_P2P_NCHANNELS",
                                              {[](const std::string& value,
                                                  NcclVariables& variables) {
                                                   variables.mostMessageChannels =
                                                       ReadNcclNumber(value, 1, MOST_CHANNELS);
                                               },
                                               207});
const Registration REGISTER_NCHANNELS_PER_NET_PEER("NCCL_NCHANNELS_PER_NET_PEER",
                                                   {[](const std::string& value,
                                                       NcclVariables& variables) {
                                                        variables.networkChannels =
                                                            ReadNcclNumber(value, 1, MOST_CHANNELS);
                                                    },
                                                    212,
                                                    "",
                                                    "",
                                                    "networkChannels"});
const Registration REGISTER_P2P_PER_CHANNEL_NET_BW("NCCL_P2P_PER_CHANNEL_NET_BW",
                                                   {[](const std::string& value,
                                                       NcclVariables& variables) {
                                                        variables.networkChannelGBps =
                                                            ReadNcclNumber(value, 1, 1000);
                                                    },
                                                    229,
                                                    "",
                                                    "",
                                                    "networkChannels"});

const Registration REGISTER_P2P_NET_CHUNKSIZE("NCCL_P2P_NET_CHUNKSIZE",
                                              {[](const std::string& value,
                                                  NcclVariables& variables) {
                                                   variables.networkChunkBytes =
                                                       ReadNcclBytes(value);
                                               },
                                               214});
const Registration REGISTER_P2P_NVL_CHUNKSIZE("NCCL_P2P_NVL_CHUNKSIZE",
                                              {[](const std::string& value,
                                                  NcclVariables& variables) {
                                                   variables.nvlinkChunkBytes =
                                                       ReadNcclBytes(value);
                                               },
                                               216});
const Registration REGISTER_P2P_PCI_CHUNKSIZE("NCCL_P2P_PCI_CHUNKSIZE",
                                              {[](const std::string& value,
                                                  NcclVariables& variables) {
                                                   variables.pcieChunkBytes = ReadNcclBytes(value);
                                               },
                                               216});
const Registration REGISTER_P2P_LL_THRESHOLD("NCCL_P2P_LL_THRESHOLD",
                                             {[](const std::string& value,
                                                 NcclVariables& variables) {
                                                  variables.llMessageBytes =
                                                      value == "0" ? 0 : ReadNcclBytes(value);
                                              },
                                              214});

const Registration REGISTER_PXN_DISABLE("NCCL_PXN_DISABLE",
                                        {[](const std::string& value, NcclVariables& variables) {
                                             variables.pxn = ReadNcclNumber(value, 0, 1) == 0;
                                         },
                                         212});
const Registration REGISTER_P2P_PXN_LEVEL(
    "NCCL_P2P_PXN_LEVEL",
    {[](const std::string& value, NcclVariables& variables) {
         const uint32_t level = ReadNcclNumber(value, 0, 2);
         if (level == 0)
         {
             throw std::invalid_argument(
                 "messages that go by other NICs than collectives are not modelled; 1 is the same "
                 "where every GPU has a NIC at its PCIe switch");
         }
         variables.messagesByPxn = level == 2;
     },
     212});

} // namespace

} // namespace proteus
} // namespace ns3
