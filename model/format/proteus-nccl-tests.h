/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TESTS_H
#define PROTEUS_NCCL_TESTS_H

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What nccl-tests prints (all_reduce_perf and its like; rccl-tests prints the same), and tables of
 * the same numbers as CSV.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Times of one size, out of place or in place. 1 GB is 1e9 bytes.
struct NcclTestsTiming
{
    static constexpr double MOST_US = 1e14;  //!< more, over three years, is no time
    static constexpr double MOST_GBPS = 1e9; //!< more is no bandwidth

    double timeUs{0};                //!< microseconds
    std::optional<double> algbwGBps; //!< size over time
    std::optional<double> busbwGBps; //!< that times a factor of the collective and the ranks
    std::optional<double> wrong;     //!< wrong elements, or in old versions the largest error
};

/// @ingroup proteus
/// One line of a table.
struct NcclTestsRow
{
    uint64_t bytes{0};                         //!< size as nccl-tests counts it
    std::optional<uint64_t> count;             //!< elements
    std::string type;                          //!< of an element, e.g. "float"; empty if unknown
    std::string redop;                         //!< e.g. "sum", "none"; empty if unknown
    std::optional<int64_t> root;               //!< rank; -1: there is none
    std::optional<NcclTestsTiming> outOfPlace; //!< other buffers for input and result
    std::optional<NcclTestsTiming> inPlace;    //!< the same buffer
};

/// @ingroup proteus
/// A run of nccl-tests.
struct NcclTestsTable
{
    std::vector<std::string> devices; //!< what each rank runs on, in the words of the log
    std::string collective;           //!< e.g. "all-reduce"; empty if the file does not say
    uint32_t ranks{0};                //!< 0 if the file does not say
    uint32_t nodes{0};                //!< hosts of the ranks; 0 if the file does not say
    std::string ncclVersion;         //!< as the log has it, e.g. "2.18.3"; empty if it does not say
    uint32_t gpusOfThread{0};        //!< that one host thread launches on; 0 if it does not say
    uint32_t iterations{0};          //!< that a time is the mean of; 0: it does not say
    std::vector<NcclTestsRow> rows;  //!< in the order of the file
    std::vector<std::string> doubts; //!< why the times may not be what they seem, a line each
    std::set<std::string> settings;  //!< of NCCL's environment, e.g. "NCCL_ALGO=Ring,Tree"
};

/**
 * @ingroup proteus
 * Reads what nccl-tests prints on its standard output, what it writes as JSON (with -J FILE, see
 * ReadNcclTestsJson()), or a table as CSV. Of a log, what other
 * programs print around the table is skipped, and so is what launchers put before a line:
 * "[1,0]<stdout>:" (mpirun --tag-output) and "0: " (srun --label). Ranks and hosts are those that
 * the log lists. The collective follows from the name of the program (all_reduce_perf), if a line
 * of the log has it. The version of NCCL is what nccl-tests or NCCL says ("nccl-library=22703",
 * "NCCL version 2.27.3+cuda12.9").
 *
 * Of CSV, the first line that does not begin with '#' names the columns. size_bytes is needed,
 * these are known, and any other is an error:
 *
 * size_bytes, count, type, redop, root, oop_time_us, oop_algbw_GBps, oop_busbw_GBps, ip_time_us,
 * ip_algbw_GBps, ip_busbw_GBps, and time_us, algbw_GBps, busbw_GBps for those out of place;
 * nodes, gpus (the ranks) and collective must be the same in all lines; algorithm, protocol,
 * channels, system and source are skipped.
 *
 * @param in the file, compressed or not
 * @param fileName what messages call it
 * @return the table
 * @throw std::invalid_argument "FILE:LINE: cause" if a line of the table is wrong, or there is no
 * table or a second one, or its times are of the host (-C)
 */
NcclTestsTable ReadNcclTests(std::istream& in, const std::string& fileName);

/**
 * @ingroup proteus
 * Reads a file, and warns of its NcclTestsTable::doubts.
 * @param path of a log or table
 * @return the table
 * @throw std::invalid_argument as ReadNcclTests(), or if the file cannot be read
 */
NcclTestsTable LoadNcclTests(const std::string& path);

/**
 * @ingroup proteus
 * Writes a table as CSV, which ReadNcclTests() reads back to the same rows. What is unknown is left
 * empty.
 * @param table to write
 * @param out where to
 */
void WriteNcclTestsCsv(const NcclTestsTable& table, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TESTS_H
