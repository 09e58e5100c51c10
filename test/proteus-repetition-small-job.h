/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_SMALL_JOB_H
#define PROTEUS_REPETITION_SMALL_JOB_H

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-helper.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Small training jobs for the tests of repetition.
 */

namespace ns3
{
namespace proteus
{
namespace repetitiontest
{

/// A small training job on some cluster.
struct SmallJob
{
    std::string name;     //!< what it is
    std::string strategy; //!< short form
    std::string model;    //!< variables of the model
    Cluster cluster;      //!< that it runs on
    std::string window;   //!< JoinWindow
};

/// A job drawn at random: pipelines, overlapped gradients, several fabrics.
class SmallJobMaker
{
  public:
    /// @param seed of all choices
    explicit SmallJobMaker(uint32_t seed)
        : m_random(seed),
          m_seed(seed)
    {
    }

    /// Servers have NICs over RoCE from now on.
    void UseRoce()
    {
        m_nics = ":nic=" + Pick<std::string>({"4x200G", "4x100G", "2x100G", "1x25G"}) + "-roce";
    }

    /// @return the job
    SmallJob Make()
    {
        SmallJob job;
        const uint32_t servers = Pick<uint32_t>({1, 2, 2, 4});
        const std::string preset = Pick<std::string>({"dgx-a100", "dgx1-v100", "dgx-h100"});
        job.cluster = LoadCluster(preset + m_nics, servers, ChooseFabric());
        job.window = Pick<std::string>({"0us", "100ns", "1us", "100us"});
        job.strategy = ChooseStrategy(8 * servers);
        job.model = "layers=4,hidden=" + Pick<std::string>({"128", "256", "512"}) +
                    ",heads=8,sequence=" + Pick<std::string>({"64", "256"}) + ",vocabulary=1000";
        job.name = "seed " + std::to_string(m_seed) + ": " + std::to_string(servers) + " x " +
                   preset + m_nics + ", " + m_fabric + ", window " + job.window + ", " +
                   job.strategy + ", " + job.model;
        return job;
    }

  private:
    /// @param choices some values @return one of them
    template <typename T>
    T Pick(const std::vector<T>& choices)
    {
        return choices[m_random() % choices.size()];
    }

    /// @return a fabric between servers
    FabricOptions ChooseFabric()
    {
        FabricOptions options;
        m_fabric = Pick<std::string>(
            {"leaf-spine", "leaf-spine", "rail-optimised", "fat-tree", "single-switch"});
        options.kind = m_fabric;
        options.serversPerLeaf = Pick<uint32_t>({1, 1, 2});
        options.spines = Pick<uint32_t>({1, 2, 4});
        return options;
    }

    /// @param nDevices of the job @return a plan of all of them
    std::string ChooseStrategy(uint32_t nDevices)
    {
        const uint32_t pp = Pick<uint32_t>({1, 2, 4, 4});
        const uint32_t tp = std::min(Pick<uint32_t>({1, 1, 2, 4, 8}), nDevices / pp);
        const uint32_t dp = nDevices / pp / tp;
        std::string text = "pp=" + std::to_string(pp) + ",tp=" + std::to_string(tp) +
                           ",dp=" + std::to_string(dp) +
                           ",globalBatch=" + std::to_string(dp * Pick<uint32_t>({1, 2, 4, 4}));
        text += ",recompute=" + Pick<std::string>({"none", "full", "selective"});
        text += ",buckets=" + Pick<std::string>({"ddp", "ddp", "whole"});
        text += ",bucketMbytes=" + Pick<std::string>({"0.1", "1"}) + ",firstBucketMbytes=0.1";
        text += ",zero=" + Pick<std::string>({"0", "0", "1", "2"});
        if (pp > 1)
        {
            text += ",schedule=" + Pick<std::string>({"1f1b", "1f1b", "gpipe"});
            text += ",scatterGather=" + Pick<std::string>({"false", "false", "true"});
        }
        return text;
    }

    std::mt19937 m_random; //!< of all choices
    uint32_t m_seed;       //!< of that
    std::string m_fabric;  //!< chosen
    std::string m_nics;    //!< changes of servers; empty
};

} // namespace repetitiontest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_SMALL_JOB_H
