/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_PROFILE_H
#define PROTEUS_FLOW_PROFILE_H

#include "proteus-flow-routes.h"
#include "proteus-live-replay.h"
#include "proteus-replay-name.h"

#include "ns3/proteus-connection.h"
#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-program-cache.h"
#include "ns3/proteus-program-use.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A link between a NIC and the memory that it reads from or writes to, or what a device forwards
/// there, as a queue pair uses it.
struct FlowHost
{
    uint32_t resource{0}; //!< of the flow network
    double amount{1};     //!< of it for a byte of payload
    double least{0};  //!< of it per second: what the queue pair's class leaves to a NIC while it
                      //!< goes on as fast as links allow
    double beside{0}; //!< of it for each byte of the class's largest flow: the queue pair's part
                      //!< of what the class takes there beside what the NIC moves
};

/// @ingroup proteus
/// A flow of a class that crosses ports of switches that mark packets, on a queue pair.
struct FlowPair
{
    uint64_t key{0};        //!< of the queue pair
    uint32_t flow{0};       //!< of the program
    double part{0};         //!< payload for every byte of the largest flow
    double messageBytes{0}; //!< payload of a message
    uint32_t slots{1};      //!< messages that its receiver has room for
    double sender{0};       //!< payload per second that its thread block allows
    double source{0};       //!< payload per second that all allows but switches
    double line{0};         //!< wire bytes per second of its slowest link
    double lineWire{1};     //!< bytes on that for one of payload
    int64_t latencyPs{0};   //!< of its packets when nothing queues
    int64_t toNicPs{0};     //!< of that, from the first switch to the receiver's NIC
    int64_t returnPs{0};    //!< of what that sends back, to the sender's NIC
    uint32_t unitBytes{1};  //!< payload of a packet
    FlowReading reading;    //!< what its NIC reads ahead
    /// Links of the network on its way and wire bytes on them for one of payload; the first one is
    /// left by a NIC, the others by switches.
    std::vector<std::pair<uint32_t, double>> hops;
    /// What may be slower than the first of them between the sender and its NIC, in the order of
    /// the way: queue pairs share that before they share the NIC.
    std::vector<FlowHost> reads;
    /// What is between the receiver's NIC and the first memory behind it, where what comes off the
    /// network waits for what came before it.
    std::vector<FlowHost> writes;
    /// Links that what the receiver's NIC sends back takes, with wire bytes of its packets there.
    std::vector<std::pair<uint32_t, double>> returns;
};

/// @ingroup proteus
/// What a class takes of a link whose inputs take turns.
struct FlowTurn
{
    uint32_t resource{0}; //!< of the flow network
    uint32_t input{0};    //!< the link that brings it
    double amount{0};     //!< for each byte of the class's largest flow
};

/// @ingroup proteus
/// A rank whose part of a class ends while others go on.
struct EarlyRank
{
    uint32_t rank; //!< which one
    double left;   //!< payload of the class's largest flow that is left then
};

/**
 * @ingroup proteus
 * Flows of one collective that go on together as one, such as those of a ring, where every hop
 * waits for the one before. Its bytes and its rate are those of its largest flow.
 */
struct FlowClass
{
    std::vector<FlowUse> uses;   //!< amounts for every byte of the largest flow, all flows together
    std::vector<double> peaks;   //!< by use: what messages of all flows that are under way at once
                                 //!< want of it
    double bytes{0};             //!< payload of the largest flow
    double linkRate{0};          //!< bytes per second that idle links allow
    double rate{0};              //!< bytes per second when alone: no more than linkRate, and less
                                 //!< where steps wait for each other
    std::vector<FlowPair> pairs; //!< those that congestion control may slow down
    std::vector<FlowTurn> turns; //!< of its uses, if that is modelled, by resource
    int64_t beforePs{0};         //!< latencies before the bytes begin to move
    std::vector<int64_t> afterPs; //!< by rank: from the last byte to the end of its part; negative
                                  //!< for ranks without part
    std::vector<EarlyRank> early; //!< those of them that end before, the first to end first
    int64_t alonePs{0};           //!< from the first step to the end, on idle links
    int64_t latencyPs{0};         //!< of its steps, if each carried one chunk, in no time
};

/// @ingroup proteus
/// What the flow network knows about a collective of a group.
struct CollectiveProfile
{
    std::vector<FlowClass> classes; //!< none for a group of one
    uint64_t sentBytes{0};          //!< by all ranks together, that of the protocol included
    int64_t alonePs{0};             //!< from the first step to the end of the last part
    int64_t launchPs{0};            //!< from a rank's joining to its first step
    uint32_t multiprocessors{0};    //!< that its kernel occupies on a GPU
    double memoryBytesPerSecond{0}; //!< traffic of the device memory, alone, of the rank that
                                    //!< has most
};

/// @ingroup proteus
/// What is left of a class of flows when the last rank joins, as the others have begun before.
struct LateClass
{
    double bytes{0};              //!< payload of the largest flow
    int64_t beforePs{0};          //!< see FlowClass
    std::vector<int64_t> afterPs; //!< see FlowClass; negative for ranks that are done, too
    std::vector<EarlyRank> early; //!< see FlowClass
};

/// @ingroup proteus
/// What the replay of a program says about its classes.
struct ClassTimes
{
    std::vector<double> endPs;                 //!< by class
    std::vector<std::vector<double>> rankEnds; //!< by class and rank; negative: no part
};

/**
 * @ingroup proteus
 * Derives profiles from the programs of collectives: which bytes pass over which resources, and how
 * long a program takes alone, which ReplayProgram() finds out.
 *
 * If some flows stay inside servers and others, which do not depend on these, leave them, as in an
 * all-to-all, they make two classes; otherwise there is one.
 *
 * A program of many messages is neither made nor replayed as a whole. Two shorter ones with the
 * same chunks are, and bytes and time are taken to grow by the same for every further byte. All
 * sizes of a collective with the same channels and chunks share these two. Between two sizes whose
 * programs have equally many messages, times are interpolated.
 */
class FlowProfiles
{
  public:
    /**
     * @param graph whose communication is profiled; must outlive this object
     * @param cluster that carries it; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param parameters of the flow network
     * @param settings of the programs
     */
    FlowProfiles(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const Paths& paths,
                 const FlowParameters& parameters,
                 const ProgramSettings& settings = ProgramSettings());

    /**
     * The same with programs that are there already.
     * @param graph whose communication is profiled; must outlive this object
     * @param cluster that carries it; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param parameters of the flow network
     * @param programs of the graph; those that it keeps are not made again
     */
    FlowProfiles(const ExecutionGraph& graph,
                 const Cluster& cluster,
                 const Paths& paths,
                 const FlowParameters& parameters,
                 std::shared_ptr<ProgramCache> programs);

    /// @param goOn called often while a profile is made, which may take seconds; ends that by
    /// throwing
    void SetStopCheck(std::function<void()> goOn)
    {
        m_goOn = std::move(goOn);
    }

    /**
     * @param task a communication
     * @return its profile, valid as long as this object
     * @throw std::invalid_argument if it has no program that is made of flows
     */
    const CollectiveProfile& Get(TaskId task);

    /**
     * The plain alpha-beta time of a collective (Hockney, Parallel Computing 20(3), 1994; Thakur,
     * Rabenseifner and Gropp, IJHPCA 19(1), 2005): the latencies of the steps that depend on each
     * other when no buffer is cut into chunks, and the bytes of the busiest link at its rate.
     * @param task a communication
     * @return picoseconds from the first step to the end
     */
    int64_t GetAlphaBetaPs(TaskId task);

    /**
     * What those that come first do at once: they send to each other as far as the slots of
     * receivers go.
     * @param task a communication
     * @param joinsPs by rank: when it joins, from when the first one does
     * @return by class, what is left when the last one joins, on idle links; empty if its program
     * is too long for that, or has sums of switches, for which all wait
     */
    const std::vector<LateClass>& GetLate(TaskId task, const std::vector<int64_t>& joinsPs);

    /// @param task a communication @return messages of its program
    uint64_t CountMessagesOf(TaskId task);

    /**
     * @param task a communication
     * @return its program as a whole, to be replayed beside the run; null if it is too long
     */
    std::shared_ptr<const ReplayInput> GetWhole(TaskId task);

    /// @param task a communication that has a whole @param isCarried by flow: see LiveReplay;
    /// empty: none @param carry see there @param isWhole see there @return its replay
    std::unique_ptr<LiveReplay> MakeReplay(TaskId task,
                                           std::vector<bool> isCarried,
                                           LiveReplay::Carry carry,
                                           bool isWhole = true);

    /// @return where replays of programs go; valid as long as this object
    ReplayWays GetWays() const
    {
        return m_routes.GetWays();
    }

    /// @return what classes use
    const std::vector<FlowResource>& GetResources() const
    {
        return m_routes.GetResources();
    }

  private:
    /// A program, its connections, and what its steps cost.
    struct Part
    {
        uint64_t bytes{0};                                //!< of the collective
        CollectiveRequest request;                        //!< of the program
        Protocol protocol{Protocol::SIMPLE};              //!< of the program
        std::shared_ptr<const CollectiveProgram> program; //!< null while it is not needed, if it is
                                                          //!< a large one
        ProgramUse use;                                   //!< of a GPU
        std::vector<ProgramFlow> flows;
        ReplayCosts costs;
        /// How long the classes take, by what groups whose flows meet alike have in common: the
        /// rates of the classes.
        std::map<std::vector<int64_t>, const ClassTimes*> timed;
    };

    /// What is replayed: a whole program, or two shorter ones for all sizes.
    struct Family
    {
        std::vector<std::shared_ptr<Part>> parts; //!< shorter first; the second when it is needed
        uint64_t leastBytes{0};    //!< of a program whose chunks are as long as they get
        double bytesPerMessage{0}; //!< of the collective; 0 until it is known
        /// By class: latencies of the steps that depend on each other when every flow carries one
        /// chunk, picoseconds; empty until they are known.
        std::vector<double> latenciesPs;
        bool isWhole{false};                 //!< whether every size must be made as a whole
        Protocol protocol{Protocol::SIMPLE}; //!< of the programs
        /// Whole programs, by bytes of the collective.
        std::map<uint64_t, std::shared_ptr<Part>> wholes;
    };

    /// What groups that stand alike share.
    struct Shape
    {
        uint64_t bytes{0};              //!< of the collective
        std::vector<ProgramFlow> flows; //!< of the whole program
        std::shared_ptr<Family> family; //!< that is replayed
        std::shared_ptr<Family>
            common;                  //!< of all sizes; another one if this is replayed as a whole
        uint32_t ranks{0};           //!< of the group
        std::shared_ptr<Part> whole; //!< FindWhole(); null until it is asked for
    };

    /// What names a Family: a request without its bytes, and how the ranks stand.
    using FamilyKey = std::tuple<Collective,
                                 uint32_t,
                                 uint32_t,
                                 std::string,
                                 Protocol,
                                 uint32_t,
                                 uint64_t,
                                 uint32_t,
                                 uint32_t,
                                 uint64_t,
                                 uint32_t>;

    /// What names a profile.
    using ProfileKey = std::tuple<Collective, uint64_t, uint32_t, GroupId>;

    /// What names a connection of any group.
    struct ConnectionName
    {
        DeviceId from;         //!< sender
        DeviceId to;           //!< receiver
        VertexId sendingNic;   //!< that the channel takes
        VertexId receivingNic; //!< that the channel takes
        bool gdrRead;          //!< ListGdrReads(), of the sender in the group

        /// @param other a name @return whether both are the same
        bool operator==(const ConnectionName& other) const
        {
            return from == other.from && to == other.to && sendingNic == other.sendingNic &&
                   receivingNic == other.receivingNic && gdrRead == other.gdrRead;
        }
    };

    /// A connection of any group and channel.
    struct PlannedConnection
    {
        Connection connection;    //!< but for its flow
        uint32_t route{NO_ID};    //!< if it is known, and the same for all groups and channels
        uint32_t messageBytes{0}; //!< of that, if they are short
    };

    /// Hashes a ConnectionName.
    struct HashOfName
    {
        /// @param name to hash @return its hash
        std::size_t operator()(const ConnectionName& name) const
        {
            return MixHash(MixHash(uint64_t{name.from} << 32 | name.to,
                                   uint64_t{name.sendingNic} << 32 | name.receivingNic),
                           name.gdrRead);
        }
    };

    /// @param task a communication @return the name of its profile
    ProfileKey NameProfile(TaskId task) const;
    /// @param task a communication @return its shape
    Shape& FindShape(TaskId task);
    /// @param task a communication @param request of it with some number of bytes
    /// @param program of that; null: it is made
    /// @return the program with all that is to be known of it
    std::shared_ptr<Part> MakePart(
        TaskId task,
        const CollectiveRequest& request,
        std::shared_ptr<const CollectiveProgram> program = nullptr) const;
    /// @param request of a communication @param family of it, with its first part
    /// @return bytes of the longer program: it and one of half of them are at their pace
    uint64_t CountSteadyBytes(const CollectiveRequest& request, const Family& family) const;
    /// Makes the shorter programs of a family. @param task a communication of it
    /// @param request of that @param family to complete
    void MakeParts(TaskId task, CollectiveRequest request, Family& family) const;
    /// @param task a communication @param shape of it @return its profile
    CollectiveProfile Make(TaskId task, Shape& shape);
    /// Finds the queue pairs that congestion control may slow down. @param task a communication
    /// @param shape of it @param routes of its flows @param classOf by flow: its class
    /// @param classes gets them
    void AddPairs(TaskId task,
                  const Shape& shape,
                  const std::vector<uint32_t>& routes,
                  const std::vector<uint32_t>& classOf,
                  std::vector<FlowClass>& classes) const;
    /// @param routes by flow @param flows a class, whose queue pairs get what limits them before or
    /// behind their hops, beside what the class does inside servers @param isRead before them
    void LimitHosts(const std::vector<uint32_t>& routes, FlowClass& flows, bool isRead) const;
    /// @param shape of the collective @param routes by flow @param classOf by flow
    /// @param classes get FlowClass::turns
    void AddTurns(const Shape& shape,
                  const std::vector<uint32_t>& routes,
                  const std::vector<uint32_t>& classOf,
                  std::vector<FlowClass>& classes) const;
    /// @param task a communication @param flows of its program @return their routes
    std::vector<uint32_t> PlanRoutes(TaskId task, const std::vector<ProgramFlow>& flows);
    /// @param group of a communication @return its ListGdrReads()
    const std::vector<bool>& FindGdrReads(GroupId group) const;
    /// @param from device that sends @param to device that receives @param channel of a program
    /// @param gdrRead ListGdrReads(), of the sender in its group @return the connection, of some
    /// such group
    PlannedConnection& FindConnection(DeviceId from,
                                      DeviceId to,
                                      uint32_t channel,
                                      bool gdrRead) const;
    /// @param task a communication @param program of it @param flows of that
    /// @return what its steps cost
    ReplayCosts FindCosts(TaskId task,
                          const CollectiveProgram& program,
                          const std::vector<ProgramFlow>& flows) const;
    /// @param task a communication @return what the kernels of its ranks cost
    const CollectiveKernelCost& GetKernelCost(TaskId task) const;
    /// @param task a communication @param shape of it @return Family::latenciesPs
    const std::vector<double>& FindLatencies(TaskId task, Shape& shape);
    /// @param task a communication @return its program as a whole, which groups that stand alike
    /// share; null if it is too long
    std::shared_ptr<const Part> FindWhole(TaskId task);
    /// @param task a communication @return the name of its whole program on its routes, which
    /// groups that stand alike share; none if it is too long to be replayed for ranks that are
    /// late, or has sums of switches
    std::optional<ReplayName> NameLate(TaskId task);
    /// @param task a communication with a NameLate() @param joinsPs see GetLate()
    /// @return see GetLate()
    std::vector<LateClass> MakeLate(TaskId task, const std::vector<int64_t>& joinsPs);
    /// @param part to replay, unless one like it was @param routes of its flows
    /// @param classOf class by flow @param nClasses how many there are @param ranks of the group
    /// @return how long they take
    const ClassTimes& Replay(Part& part,
                             const std::vector<uint32_t>& routes,
                             const std::vector<uint32_t>& classOf,
                             std::size_t nClasses,
                             uint32_t ranks);
    /// @param part that is replayed @param routes of its flows @param classOf class by flow
    /// @param classes with their uses @param ranks of the group @return how long they take
    const ClassTimes& FindTiming(Part& part,
                                 const std::vector<uint32_t>& routes,
                                 const std::vector<uint32_t>& classOf,
                                 const std::vector<FlowClass>& classes,
                                 uint32_t ranks);
    /// Has a communication replayed as a whole, or stand between two that are. @param task which
    /// @param request of it @param shape to complete
    void SetWhole(TaskId task, const CollectiveRequest& request, Shape& shape) const;
    /// Has a communication stand by two programs. @param shape to complete, with its family
    static void SetBetween(Shape& shape);

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    const Paths& m_paths;
    const bool m_kernelCosts;
    const int64_t m_pluginPs; //!< of a chunk that crosses the network
    const int64_t m_launchPs;
    const bool m_hasCongestion; //!< whether congestion control is modelled
    FlowRoutes m_routes;
    const std::shared_ptr<ProgramCache> m_programs;
    std::map<ProgramCache::Key, Shape> m_shapes;
    std::map<FamilyKey, std::shared_ptr<Family>> m_families;
    std::map<ReplayName, ClassTimes> m_replays; //!< of parts of all families
    mutable std::unordered_map<ConnectionName, PlannedConnection, HashOfName> m_connections;
    mutable std::map<GroupId, std::vector<bool>> m_gdrReads; //!< FindGdrReads()
    const std::vector<CpuVendor> m_cpus;                     //!< by device: of its server
    TransportRules m_rules;                                  //!< of connections
    NicTable m_nics;                                         //!< of the cluster
    std::map<ProfileKey, CollectiveProfile> m_profiles;
    std::map<ProfileKey, std::shared_ptr<const ReplayInput>> m_wholes; //!< see GetWhole()
    std::map<ProfileKey, std::optional<ReplayName>> m_lateNames;       //!< NameLate()
    /// See GetLate().
    std::map<std::pair<ReplayName, std::vector<int64_t>>, std::vector<LateClass>> m_late;
    std::vector<const CollectiveProfile*> m_ofTask; //!< by task, null until it is known
    std::function<void()> m_goOn;                   //!< see SetStopCheck(); may be null
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_PROFILE_H
