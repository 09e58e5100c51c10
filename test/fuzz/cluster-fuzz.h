/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef CLUSTER_FUZZ_H
#define CLUSTER_FUZZ_H

#include "fuzz-target.h"

#include "ns3/proteus-cluster-json.h"

#include <sstream>
#include <string>

/**
 * @file
 * What the fuzz targets of clusters share.
 */

/// @param cluster a cluster @return it as JSON
inline std::string
WriteCluster(const ns3::proteus::Cluster& cluster)
{
    std::ostringstream output;
    ns3::proteus::WriteClusterJson(cluster, output);
    return output.str();
}

/// What can be read can be written as JSON, and is the same when it is read again.
/// @param text that the fuzzer made up @param read makes a cluster of a stream
template <typename F>
void
TryCluster(const std::string& text, F read)
{
    std::istringstream input(text);
    std::string first;
    if (IsTaken([&]() { first = WriteCluster(read(input)); }))
    {
        std::istringstream back(first);
        Demand(WriteCluster(ns3::proteus::ReadClusterJson(back, "again")) == first,
               "a cluster changes when it is written and read");
    }
}

#endif // CLUSTER_FUZZ_H
