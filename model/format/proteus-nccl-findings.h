/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_FINDINGS_H
#define PROTEUS_NCCL_FINDINGS_H

#include "proteus-xml.h"

#include "ns3/proteus-gpu-model.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What was found in a topology of NCCL that a user may have to know.
struct NcclFindings
{
    std::set<std::string> unknownMakers; //!< of CPUs
    std::set<std::string> lostTargets;   //!< of NVLinks, that are no GPUs of the file
    std::set<std::string> repeatedNics;  //!< names of those that were there before
    std::set<uint64_t> devs;             //!< of GPUs
    std::string crowded;                 //!< first GPU that has too many NVLinks, in words
    std::vector<uint64_t> oneSided;      //!< lines of NVLinks that only one of both GPUs lists
    uint64_t guessedNics{0};             //!< whose speed the file does not say
    uint64_t guessedGbps{0};             //!< most that one is taken for
    std::size_t gpus{0};                 //!< how many there are
    std::size_t unlinkedGpus{0};         //!< without an NVLink
    uint32_t withoutRdma{0};             //!< devices with gdr="0", of which nobody says more
    uint32_t nicsLeftOut{0};             //!< slower than others, or of another technology
    bool hasNvlinks{false};              //!< whether the server has one
    bool mayHaveNvlinks{false};          //!< its GPUs can, and neither file nor user says
    /// What GPUs are taken for whose model the file does not say, by what it is followed from.
    std::map<std::string, const GpuModel*> guesses;
};

/**
 * @ingroup proteus
 * @param findings in a file
 * @param document of the file, of which FindNcclDoubts() and what is unknown are told, too
 * @param fileName of it
 * @param servers that are made of it
 * @return what the file does not say, and how to say it, and what it says that is not heeded; a
 * line each
 */
std::vector<std::string> DescribeFindings(const NcclFindings& findings,
                                          const XmlDocument& document,
                                          const std::string& fileName,
                                          uint32_t servers);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_FINDINGS_H
