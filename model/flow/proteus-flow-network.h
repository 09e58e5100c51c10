/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_NETWORK_H
#define PROTEUS_FLOW_NETWORK_H

#include "proteus-flow-clock.h"
#include "proteus-flow-profile.h"
#include "proteus-flow-series.h"
#include "proteus-shared-resources.h"

#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-network.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-pool.h"
#include "ns3/proteus-task-instance.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

class CongestedFlows;
class MeetingReplays;

/// @ingroup proteus
/// What happens to devices in a FlowNetwork.
class FlowListener
{
  public:
    virtual ~FlowListener() = default;

    /// @param device whose communication begins to move bytes, or has stopped to
    /// @param delta +1 or -1
    virtual void ChangeCommunication(DeviceId device, int delta) = 0;
};

/**
 * @ingroup proteus
 * The network in which communication flows: a collective moves its bytes at a rate that changes
 * only when something that shares resources with it begins or ends.
 *
 * A collective begins CollectiveProfile::launchPs after the last of its ranks has joined. (In the
 * packet network, ranks that are there begin with what they can do alone.) Its flows are divided
 * into classes (FlowProfiles). A class waits for the latencies before its bytes, moves them at its
 * share, and its ranks end when the latencies behind the bytes have passed. Shares are max-min fair
 * over all resources, for the rate of the largest flow of a class and up to the rate that the class
 * has alone. When something changes, shares are computed anew only for classes that are joined with
 * the change by resources which they can fill.
 *
 * Collectives whose messages meet, at a resource that cannot bear all that may be under way or on
 * connections of their group, go on as replays, whose messages share the resources with classes
 * (MeetingReplays).
 *
 * Where ports of RoCE switches may be wanted for more than they have, a class has no more than the
 * congestion control of its queue pairs gives it (CongestedFlows). A collective that begins then is
 * replayed beside the run, if it can be (FlowProfiles::GetWhole()), and ends when its replay does.
 */
class FlowNetwork : public Network
{
  public:
    /**
     * @param graph whose communication is carried; must outlive this object
     * @param cluster that carries it; must outlive this object
     * @param paths of the cluster; must outlive this object
     * @param clock of the run; must outlive this object
     * @param parameters of the model
     * @param settings of the collectives' programs
     */
    FlowNetwork(const ExecutionGraph& graph,
                const Cluster& cluster,
                const Paths& paths,
                FlowClock& clock,
                const FlowParameters& parameters = FlowParameters(),
                const ProgramSettings& settings = ProgramSettings());

    ~FlowNetwork() override;

    /// @param listener whom to tell, or null; must outlive the run
    void SetListener(FlowListener* listener);

    /// Keeps the use of links over time, from now on.
    void RecordSeries();

    /// @param messages of collectives that are followed one by one, as they meet others, at most;
    /// beyond that mean rates share what they use
    void SetMostReplayed(uint64_t messages)
    {
        m_messagesLeft = messages;
    }

    /// @return collectives that met others when so many messages had been followed
    uint64_t GetNNotReplayed() const
    {
        return m_nNotReplayed;
    }

    /// @return the use of links over time, up to now; empty without RecordSeries()
    LinkSeries GetSeries() const;

    // Inherited from Network
    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override;
    std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const override;

    /**
     * The speed of a collective changes with what its devices do besides.
     * @param device whose collectives have their shares computed anew
     * @param isComputing whether it computes from now on
     */
    void SetComputing(DeviceId device, bool isComputing);

    /// @return what every direction of every link carried; packets are not counted
    std::vector<LinkStatistics> GetLinkStatistics() const;

    /// @return the network's work: messages are collectives, events are computations of shares
    NetworkStatistics GetStatistics() const;

    /// @return notifications of congestion control
    uint64_t GetNotifications() const;

    /// @return bytes that ranks have sent, those of protocols included
    uint64_t GetSentBytes() const
    {
        return m_sentBytes;
    }

    /// @return the profiles of the graph's collectives
    FlowProfiles& GetProfiles()
    {
        return m_profiles;
    }

    /// @return an empty text, or what is under way
    std::string CheckAtRest() const;

  private:
    /// A communication under way.
    struct Communication
    {
        /// One rank of it.
        struct Member
        {
            DeviceId device;
            uint32_t rank;
            int64_t joinedPs;
            std::function<void()> done;
        };

        TaskId task{0};
        uint32_t microBatch{0};
        uint32_t computing{0};  //!< ranks that compute
        bool isReplayed{false}; //!< message by message, beside the run
        bool isEarly{false};    //!< so, since before all ranks have joined
        bool isWaiting{false};  //!< whether it is in m_waiting
        const CollectiveProfile* profile{nullptr};
        /// What is left of its classes, if some rank was late; else null.
        const std::vector<LateClass>* late{nullptr};
        std::vector<Member> members; //!< that have joined
        std::vector<uint32_t> ready; //!< ranks that may have begun before the last one
        std::vector<uint32_t> ended; //!< ranks that are done before the last one has joined
        std::vector<uint32_t> left;  //!< by rank: classes that it waits for; none before that
        std::vector<int64_t> endsPs; //!< by rank: when its parts of the other classes end, at least
        std::vector<uint32_t> live;  //!< classes that move bytes
        uint32_t classesLeft{0};
        /// What its ranks do before the last one has joined, which may be all for some; or null.
        std::unique_ptr<LiveReplay> ahead;
        int64_t aheadPs{0};       //!< begin of that
        uint32_t aheadVersion{0}; //!< counts its steps; an event with an older one is void

        /// What has become of a class.
        enum class Part : uint8_t
        {
            WAITS, //!< for the latencies before its bytes
            LIVE,  //!< its bytes move
            DONE
        };

        std::vector<Part> parts;    //!< by class
        int64_t beginPs{0};         //!< when its last rank had been launched
        uint64_t number{0};         //!< of all communications
        bool isMeeting{false};      //!< whether m_meeting has it
        bool isHeld{false};         //!< whether congestion control holds back a class of it
        int64_t meetsPs{0};         //!< since when
        uint32_t ranksLeft{0};      //!< that are not done, since then
        std::vector<double> moved;  //!< by class: payload of its largest flow until then
        std::vector<uint32_t> held; //!< classes that congestion control knows of, since then
    };

    /// Part of the time alone by which a rank is late at least.
    static constexpr double LEAST_LATE = 0.02;
    /// Bytes per second that a class of flows has at least.
    static constexpr double LEAST_RATE = 1e3;
    /// LiveClass::endPs: its rate says when it ends.
    static constexpr int64_t NEVER = -1;
    /// LiveClass::endPs: its replay will say when it ends.
    static constexpr int64_t WAITS = -2;

    /// A class of flows under way.
    struct LiveClass
    {
        const FlowClass* flows{nullptr};
        uint32_t communication{0};
        uint32_t index{0};    //!< of the class
        double left{0};       //!< bytes of the largest flow
        double rate{0};       //!< bytes per second
        double cap{0};        //!< of congestion control, bytes per second
        int64_t endPs{NEVER}; //!< when its bytes will have moved, as its replay says
        int64_t sincePs{0};   //!< from when on it has had its rate
        uint32_t version{0};  //!< counts its rates; an event with an older one is void
        uint32_t nEarly{0};   //!< ranks of GetEarly() that have ended
    };

    /// A rank begins with what it can do before others have joined. @param id of a communication
    /// @param rank that has been launched
    void BeginEarly(uint32_t id, uint32_t rank);
    /// The same where congestion control has that matter. @param id of a communication @param rank
    /// that has been launched
    void BeginCongested(uint32_t id, uint32_t rank);
    /// The same on idle links, to know which ranks are done. @param id of a communication with a
    /// root @param rank that has been launched
    void BeginAhead(uint32_t id, uint32_t rank);
    /// Goes on with Communication::ahead. @param id of a communication
    void StepAhead(uint32_t id);
    /// @param communication not all of whose ranks have joined @param rank that is done
    /// @param afterPs when
    void EndAhead(Communication& communication, uint32_t rank, int64_t afterPs);
    /// @param profile of a collective @return which of its classes crosses the network by queue
    /// pairs that congestion control knows, if it is one; else NO_ID
    static uint32_t FindPaired(const CollectiveProfile& profile);
    /// @param communication not all of whose ranks have joined @return whether some may begin
    bool CanBeginEarly(const Communication& communication);
    /// Congestion control matters from now on: what waits for ranks begins without them.
    void BeginWaiting();
    /// @param id of a communication all of whose ranks have joined
    void Begin(uint32_t id);
    /// Ranks that others stand for are no earlier than these. @param communication that all ranks
    /// have joined
    void JoinWithRepresentatives(Communication& communication) const;
    /// @param communication all of whose ranks have joined, in their order @return
    /// Communication::late
    const std::vector<LateClass>* FindLate(const Communication& communication);
    /// @param communication that has begun @param index of a class of it @return what is left of it
    /// where ranks were late; null: all, or its replay knows
    static const LateClass* FindLateClass(const Communication& communication, std::size_t index);
    /// @param communication that has begun @param index of a class of it @return its
    /// FlowClass::afterPs, or those of what is left
    static const std::vector<int64_t>& GetAfterPs(const Communication& communication,
                                                  std::size_t index);
    /// A replay does not know what its collective does inside servers at the same time, by which
    /// it is no faster than alone.
    /// @param live a class that is replayed @param left payload of its largest flow
    /// @return picoseconds until no more is left of it, at least, where its collective has other
    /// classes and all ranks were there when it began; else 0
    int64_t FindBeside(const LiveClass& live, double left) const;
    /// @param live a class @return its FlowClass::early, or those of what is left
    const std::vector<EarlyRank>& GetEarly(const LiveClass& live) const;
    /// Ranks whose part of a class is done end. @param live which class @param left payload of its
    /// largest flow that is left
    void EndEarly(LiveClass& live, double left);
    /// Some bytes of a class have moved, with which the parts of some ranks are done.
    /// @param id of it @param version of its rate
    void GoOn(uint32_t id, uint32_t version);
    /// @param communication that has begun early: all of its other ranks join it now
    void JoinLast(const Communication& communication);
    /// @param communication under way @return whether it is one message, between memories or their
    /// copy engines, which those on the same way follow in order, as on one queue pair
    bool IsMessage(const Communication& communication) const;
    /// @param id of a communication @param index of its class whose bytes may move when those
    /// before it on the same way have
    void Admit(uint32_t id, uint32_t index);
    /// @param id of a communication that is over: those behind it on the same way may go on
    void AdmitNext(uint32_t id);
    /// @param id of a communication @param index of its class whose bytes begin to move
    void Activate(uint32_t id, uint32_t index);
    /// @param id of a live class @param version of the prediction that it ends now
    void Finish(uint32_t id, uint32_t version);
    /// @param id of a communication that is over
    void Forget(uint32_t id);
    /// A rank is done with its part of a class. @param id of a communication @param rank of it
    /// @param afterPs when, from now on; it is done with all when that of its last class is
    void EndPart(uint32_t id, uint32_t rank, int64_t afterPs);
    /// @param id of a communication whose rank is done @param rank which one @param afterPs when
    void EndRank(uint32_t id, uint32_t rank, int64_t afterPs);
    /// Has shares computed before the clock goes on.
    void RequestShares();
    /// Computes the shares of what has changed and all that is joined with it.
    void ComputeShares();
    /// @param live a class whose rate ends now
    void Record(const LiveClass& live);
    /// Foretells the end of a class. @param id of it
    void Foretell(uint32_t id);
    /// @param id of a live class @param rate from now on
    void SetRate(uint32_t id, double rate);
    /// @param live a class @return payload that its largest flow has left now
    double GetLeft(const LiveClass& live) const;
    /// Tells congestion control of a class. @param place of a live class whose bytes begin to move
    /// @return whether what waits for ranks must begin now, as the class meets it
    bool BeginCongestion(uint32_t place);
    /// @param resource inside a server @param owners live classes that NICs move there @return of
    /// the resource, what inputs that bring it leave to them, which take turns
    double FindLeft(uint32_t resource, const std::vector<uint32_t>& owners) const;
    /// Congestion control holds back a class of a communication. @param communication whose other
    /// ones may have what that leaves
    void HoldBack(Communication& communication);
    /// Has congestion control go on to the present.
    void AdvanceCongestion();
    /// Ranks of what is replayed that are done end.
    void EndReplayed();
    /// Has congestion control go on when its step is over.
    void RequestStep();
    /// @param id of a communication @param index of its class whose bytes begin to move
    /// @return other communications under way with which it cannot have all that its messages want
    std::vector<uint32_t> FindMet(uint32_t id, uint32_t index) const;
    /// @param id of a communication under way @return whether it can be replayed beside the run
    bool CanMeet(uint32_t id);
    /// A class begins to move bytes: where messages of several collectives meet, these go on as
    /// replays. @param id of a communication @param index of the class
    void Meet(uint32_t id, uint32_t index);
    /// @param communication under way @return time of its replay alone that has come so far as its
    /// classes have, picoseconds
    double FindReplayedPs(const Communication& communication) const;
    /// A communication goes on as a replay. @param id of it
    void BeginMeeting(uint32_t id);
    /// Goes on with replays that meet.
    void StepMeeting();
    /// Has StepMeeting() called when something happens there next.
    void ScheduleMeeting();
    /// @param id of a communication whose replay is over
    void EndMeeting(uint32_t id);
    /// @param communication under way @param index of its class whose messages may come, or no
    /// longer @param sign +1 or -1
    void ChangePeaks(const Communication& communication, uint32_t index, int sign);
    /// @param communication under way @param flows a class of it @return the rate that it has
    /// alone, now
    double GetLimit(const Communication& communication, const FlowClass& flows) const;

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    FlowClock& m_clock;
    const FlowParameters m_parameters;
    FlowProfiles m_profiles;
    std::vector<bool> m_isStoodFor; //!< by device, see FindStoodFor()
    FlowListener* m_listener{nullptr};

    std::unordered_map<TaskInstance, uint32_t> m_index; //!< where in m_communications
    Pool<Communication> m_communications;
    std::vector<LiveClass> m_classes;              //!< by user of m_shares
    SharedResources m_shares;                      //!< users are live classes, of one flow each
    std::vector<bool> m_isComputing;               //!< by device
    std::vector<std::vector<uint32_t>> m_underWay; //!< communications that have begun, by device
    /// By group: messages that have come, the first of which moves bytes.
    std::unordered_map<GroupId, std::deque<uint32_t>> m_messages;

    std::unique_ptr<CongestedFlows> m_congested; //!< null: no congestion control
    std::vector<uint32_t> m_waiting; //!< communications that could begin without their last ranks
    bool m_isStepRequested{false};   //!< of that
    bool m_hasOthers{false}; //!< whether what m_congested does not know has begun since the last
                             //!< shares
    bool m_isRequested{false};

    /// What messages want of a resource.
    struct Peak
    {
        double wanted{0};      //!< if all that may come were under way, of its capacity
        uint32_t nClasses{0};  //!< whose messages these are
        uint32_t nReplayed{0}; //!< of m_meeting among them
    };

    std::vector<Peak> m_peaks;                 //!< by resource
    std::unique_ptr<MeetingReplays> m_meeting; //!< collectives that meet; null until some do
    int64_t m_meetingPs{NEVER};                //!< when StepMeeting() will be called
    uint32_t m_meetingVersion{0}; //!< counts these times; an event with an older one is void
    uint64_t m_messagesLeft;      //!< that may be replayed beside the run
    uint64_t m_nNotReplayed{0};   //!< GetNNotReplayed()

    std::vector<double> m_wireBytes;      //!< by resource
    std::vector<double> m_payloadBytes;   //!< by resource
    std::unique_ptr<FlowSeries> m_series; //!< null: nobody wants it
    uint64_t m_sentBytes{0};
    uint64_t m_collectives{0};
    uint64_t m_computations{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_NETWORK_H
