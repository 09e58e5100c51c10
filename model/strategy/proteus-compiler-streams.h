/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMPILER_STREAMS_H
#define PROTEUS_COMPILER_STREAMS_H

#include "ns3/proteus-enum-names.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Streams of the graphs that CompileModel() makes. A graph may have some that no task is on.
enum class CompilerStream : uint8_t
{
    COMPUTE,        //!< kernels
    COMMUNICATION,  //!< collectives that kernels wait for
    EXPERTS,        //!< what goes to experts and back, where it runs beside the rest
    PIPELINE,       //!< transfers between stages
    TURN_FORWARD,   //!< when a stage takes activations, where that waits for what it does
    TURN_BACKWARD,  //!< when it takes gradients
    GRADIENT,       //!< reduction of gradients
    REPEATING,      //!< of their shares, among groups of replicas that repeat them
    PARAMETER,      //!< gathering of parameters
    OPTIMIZER,      //!< updates as soon as gradients are there
    FORWARDING,     //!< inside servers, of what came from other ones
    DATA_LOADING,   //!< input pipeline
    DEVICE_TO_HOST, //!< copies of an offloaded optimizer
    HOST,           //!< its updates
    HOST_TO_DEVICE, //!< copies back
};

/// @ingroup proteus
/// What they are called.
inline constexpr EnumNames<CompilerStream, 15> COMPILER_STREAMS{
    "stream of the compiler",
    {{CompilerStream::COMPUTE, "compute"},
     {CompilerStream::COMMUNICATION, "communication"},
     {CompilerStream::EXPERTS, "experts"},
     {CompilerStream::PIPELINE, "pipeline"},
     {CompilerStream::TURN_FORWARD, "turn-forward"},
     {CompilerStream::TURN_BACKWARD, "turn-backward"},
     {CompilerStream::GRADIENT, "gradient"},
     {CompilerStream::REPEATING, "repeating"},
     {CompilerStream::PARAMETER, "parameter"},
     {CompilerStream::OPTIMIZER, "optimizer"},
     {CompilerStream::FORWARDING, "forwarding"},
     {CompilerStream::DATA_LOADING, "data-loading"},
     {CompilerStream::DEVICE_TO_HOST, "device-to-host"},
     {CompilerStream::HOST, "host"},
     {CompilerStream::HOST_TO_DEVICE, "host-to-device"}}};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMPILER_STREAMS_H
