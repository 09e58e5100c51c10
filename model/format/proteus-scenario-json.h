/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_JSON_H
#define PROTEUS_SCENARIO_JSON_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-scenario.h"

#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Scenarios as JSON files.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads a scenario; doc/scenarios.rst has the fields.
 * @param input the file
 * @param fileName for errors; files that it names are relative to its folder
 * @param cluster whose vertices it names
 * @return the scenario
 * @throw std::invalid_argument of one line, "FILE: /events/0/link/1: cause"
 */
Scenario ReadScenarioJson(std::istream& input, const std::string& fileName, const Cluster& cluster);

/**
 * @ingroup proteus
 * Changes values of a scenario before it is read, so that a study may vary them.
 * @param input the file
 * @param fileName for errors
 * @param changes "/jobs/0/start=3ms;/seed=2": places as JSON pointers (RFC 6901) of values that the
 * file has, each with its new value, JSON but for texts, which need no quotes
 * @return the file as it is now
 * @throw std::invalid_argument of one line that begins with --scenarioSet or the place in the file
 */
std::string ChangeScenarioJson(std::istream& input,
                               const std::string& fileName,
                               const std::string& changes);

/**
 * @ingroup proteus
 * Reads a distribution of sizes: lines "bytes,part", the part of all messages that are no larger,
 * both ascending, the last part 1; a first line "bytes,part" and lines that begin with "#" are
 * skipped.
 * @param input the text
 * @param fileName for errors
 * @return the distribution
 * @throw std::invalid_argument of one line, "FILE:LINE: cause"
 */
SizeDistribution ReadSizeDistribution(std::istream& input, const std::string& fileName);

/// @ingroup proteus
/// @param text "12.5us", "3ms", "0", or "30%", a part of the time of the first job alone
/// @param allowsShare whether it may be such a part
/// @return the time @throw std::invalid_argument if it is none
ScenarioTime ParseScenarioTime(const std::string& text, bool allowsShare = true);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_JSON_H
