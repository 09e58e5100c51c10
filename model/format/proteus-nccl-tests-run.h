/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TESTS_RUN_H
#define PROTEUS_NCCL_TESTS_RUN_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How nccl-tests ran, as the comments of a log say.
struct NcclTestsRun
{
    uint32_t warmUps{1};     //!< iterations before those that are timed; not 0 if not known
    uint32_t iterations{0};  //!< timed ones (-n); 0: not known
    uint32_t aggregated{1};  //!< operations of one group (-m)
    uint32_t graphs{0};      //!< launches of a CUDA graph (-G); 0: no graph
    bool failed{false};      //!< whether it says that results were wrong
    bool countsWrong{false}; //!< whether the column #wrong has a number of elements
    bool isBlocking{false};  //!< whether the host waits after each operation (-z)
    uint32_t unaligned{0};   //!< elements by which buffers are off (unalign)
    std::optional<double> averageGBps; //!< bus bandwidth of all lines, as it says itself
    std::set<std::string> unread;      //!< columns that nobody reads

    std::map<uint32_t, uint32_t> ranks;        //!< that have lines of devices, and how many each
    std::set<std::string> groups;              //!< of these lines
    uint32_t ofProcess{0};                     //!< GPUs of a process (nThread, nGpus); 0: not known
    std::map<std::string, uint32_t> processes; //!< "HOST, Pid 123", and how many ranks each has
    std::set<std::string> places;              //!< "HOST, Pid 123, device 0 [0x07]"
    std::string sharedPlace;                   //!< one of these that several ranks have, or empty

    uint64_t minBytes{0};   //!< least size that was asked for; 0: not known
    uint64_t maxBytes{0};   //!< largest one; 0: not known
    uint64_t stepFactor{0}; //!< of a size to the next; 0: not known, or steps are in bytes
    uint64_t stepBytes{0};  //!< from a size to the next; 0: not known, or steps are factors
    std::string failure;    //!< what a test says that failed, or empty

    std::set<std::string> settings; //!< of NCCL's environment, as FindSettings() has them
    bool saysBinding{false}; //!< whether its text says what cores processes are bound to

    /// Takes what any line of a log says. @param line of it
    void NoteSettings(const std::string& line);

    /// @return those of the settings that NCCL reads, and not nccl-tests
    std::set<std::string> GetVariables() const;

    /// Takes a line of a device: "# Rank  0 Group  0 Pid  123 on HOST device  0 [0x07] NAME".
    /// @param words of it
    void NoteDevice(const std::vector<std::string>& words);

    /// Takes what a comment says of sizes: "# nThread 1 nGpus 8 minBytes 8 maxBytes 1024 step:
    /// 2(factor) ...". @param words of it
    void ReadSizes(const std::vector<std::string>& words);

    /// Takes a line that is no comment and no row: "HOST: Test NCCL failure FILE:LINE 'CAUSE'".
    void NoteFailure(const std::string& line);

    /// @return ranks by the highest that there is
    uint32_t CountRanks() const;

    /// Takes what a comment says: "# nThread 1 ... warmup iters: 1 iters: 20 agg iters: 1 ...
    /// graph: 0", "# Out of bounds values : 0 OK". @param words of it
    void Read(const std::vector<std::string>& words);
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TESTS_RUN_H
