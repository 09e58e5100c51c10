/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SMALL_JOB_H
#define PROTEUS_SMALL_JOB_H

#include "start-program.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Small jobs, and parts of files, that tests of mistakes share.
 */

namespace ns3
{
namespace proteus
{

/// The graph of a message between two GPUs.
inline const std::string PING = "--graph=" + WORKLOADS + "/graphs/ping.json";

/// @return a file of two GPUs in a server @param link what the link says besides
inline std::string
TwoGpus(const std::string& link)
{
    return R"({"format": "proteus-cluster", "version": 1, "vertices": [
  {"name": "a", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"},
  {"name": "b", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"}],
 "links": [{"a": "a", "b": "b", "technology": "nvlink", "rate_gbytes_per_s": 100)" +
           link + "}]}";
}

/// @param more arguments @return those of a small job, and more
inline std::vector<std::string>
Small(const std::vector<std::string>& more)
{
    std::vector<std::string> words{"--model=gpt3-125m",
                                   "--variables=layers=2",
                                   "--nodes=1",
                                   "--executor=flow",
                                   "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SMALL_JOB_H
