/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROFILE_JSON_H
#define PROTEUS_PROFILE_JSON_H

#include "ns3/proteus-profile-table.h"

#include <istream>
#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Measured operator times as a JSON file.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads measured operator times:
 * @code{.json}
 * {"format": "proteus-profile", "version": 1,
 *  "description": "how the times were taken",
 *  "times": [
 *   {"gpu": "A100-SXM4-80GB", "operator": "gemm", "pass": "forward", "data_type": "bf16",
 *    "shape": [1, 2048, 12288, 4096], "time_us": 850.5}]}
 * @endcode
 * KernelClass says which sizes the shape of an operator has. Left out, a pass is "forward", a data
 * type "bf16". Times are those of the GPU, without the host, read to the nearest picosecond.
 *
 * @param input the text
 * @param fileName for errors
 * @return the table
 * @throw std::invalid_argument of one line: "FILE:LINE:COLUMN: cause" for syntax, "FILE:
 * /times/3/shape: cause" for content; a key that is not known is an error
 */
ProfileTable ReadProfileJson(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * Writes a table, one measurement per line. Equal tables give equal bytes; reads back to the same
 * table.
 * @param table to write
 * @param output where to
 */
void WriteProfileJson(const ProfileTable& table, std::ostream& output);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROFILE_JSON_H
