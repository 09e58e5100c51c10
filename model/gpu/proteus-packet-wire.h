/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_WIRE_H
#define PROTEUS_PACKET_WIRE_H

#include "proteus-collective-groups.h"
#include "proteus-collective-kernels.h"
#include "proteus-collective-queue-pairs.h"
#include "proteus-communication-ledger.h"
#include "proteus-kernel-starts.h"
#include "proteus-program-facts.h"
#include "proteus-repetition.h"

#include "ns3/proteus-channel-span.h"
#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-network.h"
#include "ns3/proteus-pool.h"
#include "ns3/proteus-program-machine.h"
#include "ns3/proteus-rank-partition.h"
#include "ns3/proteus-rank-words.h"
#include "ns3/proteus-task-instance.h"
#include "ns3/proteus-transport.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
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
/// A thread block that sends packets: two cache lines.
struct alignas(64) PacketBlock : MachineBlock
{
    uint32_t sendQueuePair{NO_ID};    //!< to its send peer
    uint32_t receiveQueuePair{NO_ID}; //!< from its receive peer
    uint32_t sendPeerBlock{NO_ID};    //!< the peer's block, from its first grant
    uint32_t receivePeerBlock{NO_ID}; //!< the peer's block, from its first chunk
    int64_t startPs{0};               //!< when the rank's own work began
    uint32_t group{NO_ID};            //!< its network group, open
    uint32_t member{0};               //!< position of its rank in that
};

/// @ingroup proteus
/// A rank of a communication whose blocks send packets.
struct PacketRank : MachineRank
{
    uint32_t microBatch{0};                               //!< of the communication
    DeviceId device{0};                                   //!< that has joined
    uint32_t unacknowledged{0};                           //!< messages
    CommunicationStatistics traffic;                      //!< so far, and which task
    std::vector<std::pair<uint32_t, uint32_t>> groups;    //!< open ones, and its position there
    std::shared_ptr<const CollectiveProgram> keptProgram; //!< keeps the program alive
    const ProgramFacts* facts{nullptr};                   //!< of the program
    std::function<void()> done;                           //!< called when the rank is done
    int64_t startPs{0};                                   //!< when its own work begins
    bool isStartCertain{false};                           //!< whether that will not change
    uint64_t number{0};                                   //!< of joins before it
    uint64_t messages{0};                                 //!< delivered to it
    std::vector<int64_t> blockEndsPs;                     //!< when blocks were done; or empty
    uint32_t communication{Repetition::NONE};             //!< that may be repeated
    uint32_t end{NO_ID};                                  //!< of m_ends, while it is repeated
    int64_t toldPs{-1};                                   //!< when its end was told, repeated
};

/// @ingroup proteus
/// All devices of a process (MPI rank) have joined a communication.
struct JoinsOfRank
{
    TaskInstance instance; //!< of the communication
    uint32_t devices{0};   //!< so many
    int64_t timePs{0};     //!< when the last of them did
};

/**
 * @ingroup proteus
 * Packets as the wire of a ProgramMachine: queue pairs carry chunks, control units carry grants,
 * groups of the transport carry what switches do, and the simulator's clock says how long steps
 * take. PacketNetwork says what that means.
 */
class PacketWire : private TransportUser, private CallTarget, private RepetitionUser
{
  public:
    /**
     * @param graph whose communication is carried; must outlive this object
     * @param fabric that carries it
     * @param transport over which; gets the fabric
     * @param settings of all collectives
     * @param channelEnd told when a thread block has done its last step; must outlive this object
     */
    PacketWire(const ExecutionGraph& graph,
               Ptr<Fabric> fabric,
               Ptr<Transport> transport,
               const CollectiveSettings& settings,
               const TracedCallback<const ChannelSpan&>& channelEnd);

    /**
     * A device joins a communication.
     * @param device which one
     * @param task which communication
     * @param microBatch of the task
     * @param program of the task
     * @param done called when its part is done
     */
    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::shared_ptr<const CollectiveProgram> program,
              std::function<void()> done);

    /// @param device that has joined @param task which communication @param microBatch of the task
    /// @return what it waits for, empty if it has not joined
    std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const;

    /// @param program of a communication @return what is known of it
    const ProgramFacts& GetFacts(const CollectiveProgram& program)
    {
        return m_facts.Get(program);
    }

    /// Makes all queue pairs that a communication needs now, and not when its first rank joins, so
    /// that their numbers do not depend on that. @param task a communication @param program of it
    void Prepare(TaskId task, const CollectiveProgram& program)
    {
        MakeQueuePairs(task, program, GetFacts(program));
    }

    /// Once all communications are prepared: finds out which of them other processes (MPI ranks)
    /// take part in or carry. @param getProgram of a communication
    void PlanRepetition(const std::function<const CollectiveProgram&(TaskId)>& getProgram);

    /// PacketNetwork::TellJoins(). @param joins which ones
    void TellJoins(const JoinsOfRank& joins);

    /// PacketNetwork::SetJoinReport(). @param report called with joins in other processes
    void SetJoinReport(std::function<void(const JoinsOfRank&)> report)
    {
        m_joinReport = std::move(report);
    }

    /// Adds up what communications moved over all processes (MPI ranks), which have to call it when
    /// the run is over.
    void Gather();

    /// @return what each communication moved of which some rank is done, by task
    std::vector<CommunicationStatistics> GetCommunicationStatistics() const
    {
        return m_ledger.GetAll();
    }

    /// @return messages delivered so far
    uint64_t GetMessages() const
    {
        return m_messages;
    }

    /// @return an empty text, or what is left of communications
    std::string CheckAtRest() const;

    /// @param classes by task of the graph: traffic class of its messages; what goes through
    /// network groups keeps class 1. Null: all have class 1.
    void SetTrafficClasses(std::shared_ptr<const std::vector<uint8_t>> classes)
    {
        m_trafficClasses = std::move(classes);
    }

    /// Says when kernels begin; before the first one. @param gridPs of KernelStarts
    /// @param windowPs of KernelStarts, for kernels that are launched ahead
    /// @param windowShare of the least time that a collective takes: its window, if that is longer
    void SetUpStarts(int64_t gridPs, int64_t windowPs, double windowShare)
    {
        m_starts.SetUp(gridPs, AreLaunchedAhead(m_kernels.GetSettings()) ? windowPs : 0);
        m_windowShare = windowShare;
    }

    /// Before the first rank joins: what thread blocks do is appended to a list, repeated or not.
    /// Those of a rank that is repeated come when it is done. @param channels the list, which must
    /// outlive the run
    void RecordChannels(std::vector<ChannelSpan>* channels)
    {
        m_channels = channels;
    }

    /// @return what need not be executed twice
    Repetition& GetRepetition()
    {
        return m_repetition;
    }

    /// Forgets what is under way.
    void Dispose();

  private:
    using Machine = ProgramMachine<PacketWire, PacketBlock, PacketRank>;
    friend Machine;

    /// Names a block of a rank of a communication: task, micro-batch, device, block.
    using BlockKey = std::tuple<TaskId, uint32_t, DeviceId, uint32_t>;

    /// Hash of a BlockKey.
    struct KeyHash
    {
        /// @param key to hash @return its hash
        std::size_t operator()(const BlockKey& key) const
        {
            return MixHash(
                MixHash(uint64_t{std::get<0>(key)} << 32 | std::get<1>(key), std::get<2>(key)),
                std::get<3>(key));
        }
    };

    /// What a control unit says. The fabric carries its index.
    struct ControlMessage
    {
        TaskId task{0};
        uint32_t microBatch{0};
        uint32_t block{NO_ID};         //!< of the sender, in its RankProgram
        uint32_t receiverBlock{NO_ID}; //!< the receiver's block, which chunks name
        uint32_t senderBlock{NO_ID};   //!< the sender's block, NO_ID where it is not known yet
        uint32_t chunks{0};            //!< granted
    };

    /// What the process of a receiver tells that of the sender before the control unit leaves.
    struct ControlWord
    {
        ControlMessage message; //!< that the unit stands for
        uint32_t queuePair;     //!< of the unit
    };

    /// Kinds of words of other processes.
    enum WordKind : uint32_t
    {
        CONTROL_WORD = TRANSPORT_USER_WORD, //!< ControlWord
        LAUNCH_WORD,                        //!< LaunchWord
        JOIN_WORD,                          //!< JoinsOfRank
    };

    /// What the process of a rank that has been launched tells those of the other ranks.
    struct LaunchWord
    {
        TaskId task;                               //!< of its communication
        uint32_t microBatch;                       //!< of the task
        KernelStarts::Communication communication; //!< which one
        KernelStarts::Rank rank;                   //!< of another process to who gets this
    };

    /// What a network group has brought.
    struct GroupArrival
    {
        uint32_t group;  //!< of the transport
        uint32_t member; //!< position of the rank
        uint64_t tag;    //!< of TransportUser::ReceiveGroupMessage()
        uint64_t bytes;  //!< of it
    };

    /// A rank that is done, or will be.
    struct RankEnd
    {
        DeviceId device{0};                //!< of the rank
        bool isRepeated{false};            //!< whether it was not executed
        uint32_t rank{NO_ID};              //!< that was not executed; NO_ID: executed, or forgotten
        RankWork work;                     //!< of a rank that was not executed
        std::vector<ChannelSpan> channels; //!< of such a rank, if they are recorded
        std::function<void()> done;        //!< to call; empty if it was taken back
    };

    // The wire, see ProgramMachine.
    void Send(uint32_t id, const Step& step);
    void Grant(uint32_t id, uint32_t chunks);
    bool IsThere(const PacketBlock& block, const Step& step) const;
    void Begin(uint32_t id, const Step& step);
    bool Occupy(uint32_t id, const Step& step);

    void End(uint32_t id, const Step& /* step */)
    {
        if (id == m_watchedBlock)
        {
            m_onStep();
        }
    }

    bool EndBlock(uint32_t id);

    // Inherited from TransportUser
    void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) override;
    void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) override;
    void ReceiveControl(uint32_t queuePair, uint32_t value) override;
    void ReceiveGroupMessage(uint32_t group,
                             uint32_t member,
                             uint64_t tag,
                             uint64_t bytes) override;
    void ReceiveGroupAcknowledgement(uint32_t group, uint32_t member, uint64_t tag) override;
    void HandleRankWord(uint32_t kind, const uint8_t* data) override;

    /// Kinds of calls of the fabric, and what their values name.
    enum CallKind : uint32_t
    {
        START,  //!< a rank's kernel begins: the rank
        ARRIVE, //!< a chunk can be used: the block
        FINISH, //!< a step is done: the block
        TAKE,   //!< what a network group brings can be used: of m_arrivals
        END,    //!< a rank is done, finally: of m_ends
        EXPIRE, //!< a rank has waited for others long enough: of m_starts
    };

    // Inherited from CallTarget
    void HandleCall(uint32_t kind, uint32_t value) override;

    void PrepareCall(uint32_t value) const override
    {
        m_machine.Prefetch(value);
    }

    // Inherited from RepetitionUser; proteus-packet-wire-repetition.cc
    void CallStart(uint32_t rank) override;
    void Repeat(uint32_t rank,
                const RankWork& work,
                const std::vector<int64_t>& blockEndsPs) override;
    bool RecordsBlocks() const override;
    void TakeBack(uint32_t rank) override;
    void Forget(uint32_t rank) override;
    int64_t GetStartPs(uint32_t rank) const override;
    int64_t GetLeastEndPs(uint32_t rank, int64_t lastPs) override; // proteus-packet-wire-least.cc
    void WatchSteps(uint32_t rank, std::function<void()> onStep) override;
    bool AppendState(const std::vector<uint32_t>& ranks,
                     std::vector<uint64_t>& words) const override;
    RankPosition GetPosition(uint32_t rank) const override;
    uint64_t CountPeriods(uint32_t rank, const RankPosition& before) const override;
    void Skip(uint32_t rank, const RankPosition& before, uint64_t periods) override;
    uint64_t GetControlWord(uint32_t value) const override;
    bool IsWatched() const override;
    bool IsWaiting(uint32_t rank) const override;
    /// @param task a communication @param program of it @param facts of the program
    /// @return what it can touch
    const RepetitionPlan& GetPlan(TaskId task,
                                  const CollectiveProgram& program,
                                  const ProgramFacts& facts);
    /// A rank joins a communication that may be repeated. @param id of the rank
    void JoinRepetition(uint32_t id);
    /// The end of a rank is told. @param value of the call
    void TellEnd(uint32_t value);
    /// Has a rank's end told. @param rank that is done @param timePs when @return in m_ends
    uint32_t CallEnd(PacketRank& rank, int64_t timePs);

    /// What has queue pairs of its own: a group, its program, a traffic class and a purpose.
    using Connections = std::tuple<GroupId, const CollectiveProgram*, uint32_t, Parallelism>;

    /// @param task a communication @param program of it @return what its queue pairs are of
    Connections GetConnections(TaskId task, const CollectiveProgram& program) const
    {
        return {m_graph.GetTask(task).place,
                &program,
                GetTrafficClass(task),
                m_graph.GetTask(task).parallelism};
    }

    /// Picoseconds that a rank takes at least.
    struct LeastTimes
    {
        int64_t fromStartPs{0}; //!< from its start on
        int64_t fromLastPs{0};  //!< from the start of the last rank on
    };

    // proteus-packet-wire-least.cc
    /// @param task of ranks @param program of it @param facts of the program @param rank of it
    /// @return what it takes at least: its bytes on links, and the steps of its busiest
    /// thread block
    LeastTimes FindLeastTimes(TaskId task,
                              const CollectiveProgram& program,
                              const ProgramFacts& facts,
                              uint32_t rank);

    // proteus-packet-wire-group.cc
    /// Opens the network groups of a rank that begins. @param rankRun of it
    void OpenGroups(uint32_t rankRun);
    /// @param block of a network group @param step that is done now
    void DoGroupStep(const PacketBlock& block, const Step& step);
    /// What a network group brought can be used. @param arrival what
    void TakeGroupMessage(const GroupArrival& arrival);
    /// @param block of a network group @param step of it, which is not ready
    /// @param name gives the name of a rank @return what it waits for
    std::string DescribeGroupWait(const PacketBlock& block,
                                  const Step& step,
                                  const std::function<std::string(uint32_t)>& name) const;

    /// The rank's own work begins: its kernel is launched. @param id of it
    void StartRank(uint32_t id);
    /// A block of a rank that begins gets its queue pairs and costs. @param id of it
    void SetUpBlock(uint32_t id);
    /// @param device whose kernel has the block @param program of it @param share of the block
    /// @param block of a rank @param sendQueuePair on which it sends @param receiveQueuePair on
    /// which it receives; NO_ID: it does not @return what the steps of the block cost
    BlockCost FindCost(DeviceId device,
                       const CollectiveProgram& program,
                       BlockShare share,
                       const ThreadBlock& block,
                       uint32_t sendQueuePair,
                       uint32_t receiveQueuePair) const;
    /// A rank begins, unless its communication is held. @param id of it
    void BeginRank(uint32_t id);
    /// Makes the queue pairs of all ranks, in an order that does not depend on who joins first.
    /// @param task that needs them @param program of it @param facts of the program
    /// @return how ranks begin
    KernelStarts::Communication MakeQueuePairs(TaskId task,
                                               const CollectiveProgram& program,
                                               const ProgramFacts& facts);
    // proteus-packet-wire-starts.cc
    /// Decides how ranks wait for each other. @param task of theirs, with all its queue pairs
    /// @param program of it @param facts of the program @param communication that gets the rule
    void SetStartRule(TaskId task,
                      const CollectiveProgram& program,
                      const ProgramFacts& facts,
                      KernelStarts::Communication& communication);
    /// @param task of ranks @param program of it @param facts of the program @return picoseconds
    /// that it takes at least: the bytes of the rank that sends most on all NVLinks of its GPU, or,
    /// without NVLink, on all links; and what a rank sends over the network on the other links
    double GetLeastPs(TaskId task, const CollectiveProgram& program, const ProgramFacts& facts);
    /// @param task of ranks @param program of it @param facts of the program @param rank of it
    /// @return bytes that the rank sends over the network
    uint64_t GetNetworkBytes(TaskId task,
                             const CollectiveProgram& program,
                             const ProgramFacts& facts,
                             uint32_t rank);
    /// A rank has been launched, and begins when its rule says so. @param id of it
    /// @param communication of it, whose rule is not APART
    void Launch(uint32_t id, const KernelStarts::Communication& communication);
    /// Has ranks begin that wait no longer. @param begins which ones
    void CallStarts(const std::vector<KernelStarts::Begin>& begins);
    /// Makes the network groups of a program, with all that they need. @param group of the ranks
    /// @param program of them @return queue pairs of the network groups
    std::vector<uint32_t> MakeGroups(GroupId group, const CollectiveProgram& program);
    /// @param group of ranks @return their GPUs
    std::vector<VertexId> GetGpus(GroupId group) const;
    /// @param group of the ranks @param network group of their program @return its members
    std::vector<VertexId> GetVertices(GroupId group, const NetworkGroup& network) const;

    /// @param task a communication @return traffic class of its messages
    uint32_t GetTrafficClass(TaskId task) const
    {
        return m_trafficClasses ? (*m_trafficClasses)[task] : DEFAULT_TRAFFIC_CLASS;
    }

    /// @param task of the ranks @param program of them @param facts of the program
    /// @param channel of the connection @param from sending rank @param to receiving rank
    /// @return the queue pair
    uint32_t GetQueuePair(TaskId task,
                          const CollectiveProgram& program,
                          const ProgramFacts& facts,
                          uint16_t channel,
                          uint32_t from,
                          uint32_t to);
    /// Calls HandleCall(). @param timePs when @param kind of the call @param value of the call
    void CallAt(int64_t timePs, CallKind kind, uint32_t value);
    /// A call of a rank, which comes at its place among those of other ranks at that time.
    /// @param rank whose @param timePs when @param kind of call @param value of it
    void CallOf(const PacketRank& rank, int64_t timePs, CallKind kind, uint32_t value);

    /// @param rank a rank @return its order among those of one time: by device and task
    static uint64_t GetOrder(const PacketRank& rank)
    {
        return uint64_t{rank.device} << 32 | rank.traffic.task;
    }

    // proteus-packet-wire-ranks.cc
    /// Sends a control unit. @param queuePair on which @param message that it stands for
    void SendControl(uint32_t queuePair, const ControlMessage& message);
    /// A control unit has come. @param queuePair on which @param value of it
    /// @return the message that it stands for
    ControlMessage TakeControl(uint32_t queuePair, uint32_t value);
    /// @param gpus of a communication @return whether it stays inside a server of another process
    bool IsElsewhere(const std::vector<VertexId>& gpus) const;
    /// Tells other processes with ranks of a communication that one has been launched.
    /// @param word about it
    void TellLaunch(LaunchWord word);
    /// @param group of ranks @return a GPU of it in each process but this one that has some
    const std::vector<VertexId>& FindElsewhere(GroupId group);
    /// @param group of the ranks @param program of them
    /// @throw std::invalid_argument if several processes cannot carry it
    void RequireRanks(GroupId group, const CollectiveProgram& program) const;

    /// @param key of a block @return that block, made if there is none
    uint32_t GetBlock(const BlockKey& key);
    /// @param rank that sends @param step whose bytes it sends @return what is on the wire, which
    /// counts as sent and unacknowledged from now on
    uint64_t CountSent(PacketRank& rank, const Step& step) const;
    /// @param id of a rank that may be done @return whether it was; its place is free then
    bool CheckDone(uint32_t id);

    const ExecutionGraph& m_graph;                          //!< whose communication is carried
    Ptr<Fabric> m_fabric;                                   //!< what carries it
    Ptr<Transport> m_transport;                             //!< over which
    CollectiveKernels m_kernels;                            //!< when they begin, what steps cost
    const TracedCallback<const ChannelSpan&>& m_channelEnd; //!< a thread block is done
    std::vector<ChannelSpan>* m_channels{nullptr};          //!< RecordChannels()
    Machine m_machine;                                      //!< what is under way
    CollectiveQueuePairs m_pairs;                           //!< of all connections
    CollectiveGroups m_groups;                              //!< inside switches
    Repetition m_repetition;                                //!< of what was executed before
    ProgramFactsTable m_facts;                              //!< by program
    std::unordered_map<BlockKey, uint32_t, KeyHash> m_blockIndex; //!< blocks under way
    std::unordered_map<BlockKey, uint32_t, KeyHash> m_rankIndex;  //!< ranks under way, block 0
    static constexpr uint32_t DEFAULT_TRAFFIC_CLASS = 1;          //!< of messages

    std::map<Connections, KernelStarts::Communication> m_known;   //!< how their ranks begin
    std::map<Connections, std::vector<LeastTimes>> m_leastTimes;  //!< by rank
    std::shared_ptr<const std::vector<uint8_t>> m_trafficClasses; //!< see SetTrafficClasses()
    Pool<ControlMessage> m_control;                               //!< in flight
    /// From receivers in other processes, by queue pair: units arrive in the order of the words.
    std::unordered_map<uint32_t, std::deque<ControlMessage>> m_controlOfOthers;
    Pool<GroupArrival> m_arrivals;                                  //!< not yet used
    Pool<RankEnd> m_ends;                                           //!< not yet told
    uint32_t m_watchedRank{NO_ID};                                  //!< WatchSteps()
    uint32_t m_watchedBlock{NO_ID};                                 //!< of that, once it begins
    std::function<void()> m_onStep;                                 //!< WatchSteps()
    KernelStarts m_starts;                                          //!< when kernels begin
    double m_windowShare{0};                                        //!< see SetUpStarts()
    LookaheadBounds m_lookahead;                                    //!< of parts of the cluster
    std::unordered_map<GroupId, std::vector<VertexId>> m_elsewhere; //!< see FindElsewhere()
    std::function<void(const JoinsOfRank&)> m_joinReport;           //!< see SetJoinReport()
    uint64_t m_joins{0};                                            //!< so far
    uint64_t m_calls{0};                                            //!< so far
    CommunicationLedger m_ledger;                                   //!< of ranks that are done
    uint64_t m_messages{0};                                         //!< delivered
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_WIRE_H
