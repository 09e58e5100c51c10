/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TESTS_JSON_H
#define PROTEUS_NCCL_TESTS_JSON_H

#include "proteus-nccl-tests.h"

#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The JSON that nccl-tests writes.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads what nccl-tests writes with -J FILE (since 2025; src/util.cu, file versions 1 and 2). It
 * lists the first GPU of each process only: the others are taken to be like it.
 * @param in the file, plain
 * @param fileName what messages call it
 * @return the table, with its doubts
 * @throw std::invalid_argument "FILE:LINE:COLUMN: cause" or "FILE: /results/3: cause"
 */
NcclTestsTable ReadNcclTestsJson(std::istream& in, const std::string& fileName);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TESTS_JSON_H
