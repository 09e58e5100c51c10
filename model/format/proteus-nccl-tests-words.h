/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TESTS_WORDS_H
#define PROTEUS_NCCL_TESTS_WORDS_H

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What lines of logs of nccl-tests are.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param line of a log @return the collective whose program it names, empty for none
std::string FindCollective(const std::string& line);

/**
 * @ingroup proteus
 * Finds variables of NCCL's environment that are set: "-x NCCL_ALGO=Ring,Tree", "NCCL_ALGO set by
 * environment to Ring,Tree.", "--export=ALL,NCCL_ALGO=Ring,NCCL_PROTO=LL". Those that do not change
 * times are left out: NCCL_DEBUG and its like. A value ends where the shell's word does, or the
 * quotes around it; a full stop or comma behind it is of the sentence.
 * @param line of a log
 * @return "NCCL_ALGO=Ring,Tree" for each
 */
std::vector<std::string> FindSettings(const std::string& line);

/// @ingroup proteus
/// @param line of a log @return it without the colours that a terminal is told: ESC [ ... m
std::string StripColours(const std::string& line);

/**
 * @ingroup proteus
 * Where a log is text of a page, its lines may have lost their "# ", which Markdown takes for that
 * of a heading.
 * @param words of a line
 * @return whether nccl-tests would have begun it with "# "
 */
bool HasLostItsHash(const std::vector<std::string>& words);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TESTS_WORDS_H
