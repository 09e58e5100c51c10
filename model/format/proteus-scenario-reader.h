/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_READER_H
#define PROTEUS_SCENARIO_READER_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-scenario.h"

#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the readers of events, traffic and jobs of a scenario share.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Reads parts of scenarios: names of a cluster, and times.
class ScenarioReader
{
  public:
    /// @param cluster whose names are read @param folder where relative paths begin
    ScenarioReader(const Cluster& cluster, std::string folder)
        : m_cluster(cluster),
          m_folder(std::move(folder))
    {
    }

    /// @return the cluster
    const Cluster& GetCluster() const
    {
        return m_cluster;
    }

    /// @param path of a file as the scenario has it @return as this process sees it
    std::string GetPath(const std::string& path) const;

    /// @param json name of a vertex @return it
    VertexId ReadVertex(const JsonValue& json) const;

    /// @param json name of a GPU @return it
    VertexId ReadGpu(const JsonValue& json) const;

    /// @param json list of numbers of servers, and ranges of them such as "2-5" @return them
    std::vector<int32_t> ReadServers(const JsonValue& json) const;

    /// @param json object that may have "servers" and "gpus" @return GPUs of both, all of the
    /// cluster where it has neither
    std::vector<VertexId> ReadGpus(const JsonValue& json) const;

    /// @param json object with "link", "switch" or "nic" @param name gets what it is, for tables
    /// @return the links
    std::vector<LinkId> ReadLinks(const JsonValue& json, std::string& name) const;

    /// @param nic a vertex @return its links to network switches
    std::vector<LinkId> FindNetworkLinks(VertexId nic) const;

    /// @param json a time @return it
    static ScenarioTime ReadTime(const JsonValue& json);

    /// @param json a time that is no part of another @return picoseconds
    static int64_t ReadPs(const JsonValue& json);

    /// @param json object with times "at" or "from", and maybe "until" @param begin name of the
    /// first @param from gets it, 0 if it may be left out @param until gets the second
    static void ReadTimes(const JsonValue& json,
                          const char* begin,
                          ScenarioTime& from,
                          std::optional<ScenarioTime>& until);

  private:
    const Cluster& m_cluster;
    std::string m_folder;
};

/// @ingroup proteus
/// @param json an event @param reader of names @return it
ScenarioEvent ReadScenarioEvent(const JsonValue& json, const ScenarioReader& reader);

/// @ingroup proteus
/// @param json a source of traffic @param reader of names @return it
ScenarioTraffic ReadScenarioTraffic(const JsonValue& json, const ScenarioReader& reader);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_READER_H
