/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Buffers, channels and threads of collectives (NVIDIA/nccl v2.30.7, src/init.cc,
// computeBuffSizes(); src/graph/connect.cc, ncclMinNchannels() and ncclMaxNchannels();
// src/graph/tuning.cc, getNthreads(); src/transport/nvls.cc, ncclNvlsTuning()). Since when is that
// of the tags.

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
constexpr uint32_t WARP = 32;

/// @param protocol one @param value of a variable @param variables get it
void
SetBuffer(Protocol protocol, const std::string& value, NcclVariables& variables)
{
    // Of each slot a line, at least.
    const uint64_t bytes = ReadNcclBytes(value);
    const uint64_t least = uint64_t{CHUNK_SLOTS} * GetTraits(protocol).lineBytes;
    if (bytes < least)
    {
        throw std::invalid_argument("must be " + std::to_string(least) + " bytes or more");
    }
    variables.bufferBytes[static_cast<std::size_t>(protocol)] = bytes;
}

/// @param value of a variable @param least threads @param most threads @return it
uint32_t
ReadThreads(const std::string& value, uint32_t least, uint32_t most)
{
    const uint32_t threads = ReadNcclNumber(value, least, most);
    if (threads % WARP != 0)
    {
        throw std::invalid_argument("must be a multiple of " + std::to_string(WARP));
    }
    return threads;
}

const char* const THREADS_DOUBT =
    "channels follow it, but a thread block copies as fast here as one of all threads";

const Registration REGISTER_BUFFSIZE("NCCL_BUFFSIZE",
                                     {[](const std::string& value, NcclVariables& variables) {
                                         SetBuffer(Protocol::SIMPLE, value, variables);
                                     }});
const Registration REGISTER_LL_BUFFSIZE("NCCL_LL_BUFFSIZE",
                                        {[](const std::string& value, NcclVariables& variables) {
                                            SetBuffer(Protocol::LL, value, variables);
                                        }});
const Registration REGISTER_LL128_BUFFSIZE("NCCL_LL128_BUFFSIZE",
                                           {[](const std::string& value, NcclVariables& variables) {
                                                SetBuffer(Protocol::LL128, value, variables);
                                            },
                                            205});

/// What is said by two names, of which the newer counts, whatever the order.
template <uint32_t NcclVariables::*MEMBER>
void
SetChannels(const std::string& value, NcclVariables& variables)
{
    variables.*MEMBER = ReadNcclNumber(value, 1, MOST_CHANNELS);
}

/// The same by the older name.
template <uint32_t NcclVariables::*MEMBER>
void
SetRings(const std::string& value, NcclVariables& variables)
{
    const uint32_t rings = ReadNcclNumber(value, 1, MOST_CHANNELS);
    variables.*MEMBER = variables.*MEMBER > 0 ? variables.*MEMBER : rings;
}

const Registration REGISTER_MIN_NCHANNELS(
    "NCCL_MIN_NCHANNELS",
    {&SetChannels<&NcclVariables::leastChannels>, 205, "", "", "channels"});
const Registration REGISTER_MAX_NCHANNELS(
    "NCCL_MAX_NCHANNELS",
    {&SetChannels<&NcclVariables::mostChannels>, 205, "", "", "channels"});
const Registration REGISTER_MIN_NRINGS(
    "NCCL_MIN_NRINGS",
    {&SetRings<&NcclVariables::leastChannels>, 0, "", "", "channels"});
const Registration REGISTER_MAX_NRINGS(
    "NCCL_MAX_NRINGS",
    {&SetRings<&NcclVariables::mostChannels>, 0, "", "", "channels"});
const Registration REGISTER_MIN_CTAS(
    "NCCL_MIN_CTAS",
    {&SetChannels<&NcclVariables::leastBlocks>, 217, "", "", "channels"});
const Registration REGISTER_MAX_CTAS(
    "NCCL_MAX_CTAS",
    {&SetChannels<&NcclVariables::mostBlocks>, 217, "", "", "channels"});

const Registration REGISTER_NTHREADS("NCCL_NTHREADS",
                                     {[](const std::string& value, NcclVariables& variables) {
                                          variables.threads = ReadThreads(value, 2 * WARP, 512);
                                      },
                                      0,
                                      "",
                                      "",
                                      "",
                                      THREADS_DOUBT});
const Registration REGISTER_LL128_NTHREADS("NCCL_LL128_NTHREADS",
                                           {[](const std::string& value, NcclVariables& variables) {
                                                variables.ll128Threads =
                                                    ReadThreads(value, 160, 640);
                                            },
                                            205,
                                            "",
                                            "",
                                            "",
                                            THREADS_DOUBT});

const Registration REGISTER_NVLS_NCHANNELS(
    "NCCL_NVLS_NCHANNELS",
    {&SetChannels<&NcclVariables::nvlsChannels>, 217, "", "", "channels"});
const Registration REGISTER_NVLS_CHUNKSIZE("NCCL_NVLS_CHUNKSIZE",
                                           {[](const std::string& value, NcclVariables& variables) {
                                                variables.nvlsChunkBytes = ReadNcclBytes(value);
                                            },
                                            221});
const Registration REGISTER_NVLSTREE_MAX_CHUNKSIZE("NCCL_NVLSTREE_MAX_CHUNKSIZE",
                                                   {[](const std::string& value,
                                                       NcclVariables& variables) {
                                                        variables.nvlsTreeChunkBytes =
                                                            ReadNcclBytes(value);
                                                    },
                                                    220});

} // namespace

} // namespace proteus
} // namespace ns3
