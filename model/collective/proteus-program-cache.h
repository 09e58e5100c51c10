/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_CACHE_H
#define PROTEUS_PROGRAM_CACHE_H

#include "proteus-collective-choice.h"
#include "proteus-program.h"

#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a network fixes about all its collectives.
struct ProgramSettings
{
    /// Makes the program of a request whose channels and chunks are chosen.
    using Maker = std::function<CollectiveProgram(const CollectiveRequest&)>;

    std::string algorithm;          //!< of the collectives that have it; empty, and for all others:
                                    //!< as NCCL's cost model chooses
    std::string protocol{"Simple"}; //!< "Simple", "LL" or "LL128"; empty: as NCCL chooses
    uint64_t chunkBytes{0};         //!< most bytes of one step; 0: as NCCL cuts
    uint32_t channels{0};           //!< of every collective; 0: as NCCL chooses
    uint32_t networkChannels{0};    //!< see CollectivePreferences
    uint32_t communicatorRanks{0};  //!< see CollectivePreferences
    uint32_t communicatorServers{0};  //!< see CollectivePreferences
    uint32_t communicatorChannels{0}; //!< see CollectivePreferences
    uint32_t ncclVersion{230};        //!< see CollectivePreferences
    std::string cpuVendor;            //!< see CollectivePreferences
    std::string netPlugin;            //!< name of a NetPlugin; empty: that of the network
    std::string ncclVariables;        //!< see ParseNcclVariables()
    Maker maker;                      //!< instead of the built-in algorithms; may be empty
    bool isMadeWhole{false}; //!< whether no shorter program of `maker` stands for a longer one
    std::shared_ptr<const CollectiveCosts> costs; //!< of kernels; null: those that are built in
};

/// @ingroup proteus
/// @param settings of collectives @return what they ask of NCCL, but for algorithm and channels
CollectivePreferences MakePreferences(const ProgramSettings& settings);

/**
 * @ingroup proteus
 * The programs of the collectives of a graph, the same for every executor. Groups whose ranks have
 * the same places, in servers that are built alike, share one program.
 */
class ProgramCache
{
  public:
    /**
     * @param graph whose collectives are wanted; must outlive this object
     * @param cluster where they run; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param settings of all programs
     */
    ProgramCache(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const Paths& paths,
                 const ProgramSettings& settings = ProgramSettings());

    /// @return what is fixed about all programs
    const ProgramSettings& GetSettings() const
    {
        return m_settings;
    }

    /// Names what a program depends on: collective, bytes, root, and how the ranks stand.
    using Key = std::tuple<Collective, uint64_t, uint32_t, uint32_t>;

    /// @param task a communication @return the same for tasks with the same program
    Key GetKey(TaskId task);

    /// @return the communications of the graph, of those with the same program the first
    std::vector<TaskId> ListDistinct();

    /// @param request all of it decided @return its program
    CollectiveProgram Make(const CollectiveRequest& request) const;

    /// @param task a communication @return what is wanted, all of it decided
    CollectiveRequest MakeRequest(TaskId task) const;

    /**
     * @param task a communication
     * @return its program, kept
     * @throw std::invalid_argument if there is none
     */
    std::shared_ptr<const CollectiveProgram> Get(TaskId task);

    /// @param task a communication @return its program, if it is kept already; else null
    std::shared_ptr<const CollectiveProgram> Find(TaskId task);

  private:
    /// @param group a group @return number of how its ranks stand
    uint32_t FindShape(GroupId group);

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    const Paths& m_paths;
    ProgramSettings m_settings;
    CollectiveChooser m_chooser;
    std::vector<uint32_t> m_serverKinds;                //!< by server: equal ones are built alike
    std::vector<VertexId> m_firstOfServer;              //!< by server: lowest vertex
    std::vector<uint32_t> m_shapeOf;                    //!< by group; NO_ID until it is known
    std::map<std::vector<uint32_t>, uint32_t> m_shapes; //!< how ranks stand, to its number
    std::map<Key, std::shared_ptr<const CollectiveProgram>> m_programs;
};

/**
 * @ingroup proteus
 * Which servers of a cluster are built alike: the same kinds and models of vertices and links
 * between them, in the same order, and the same links to the outside.
 * @param cluster to look at
 * @return by server, the number of its kind, from 0 in the order in which they first appear
 */
std::vector<uint32_t> FindServerKinds(const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_CACHE_H
