/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_H
#define PROTEUS_REPETITION_H

#include "proteus-rehearsal.h"
#include "proteus-repetition-plan.h"
#include "proteus-repetition-records.h"
#include "proteus-repetition-user.h"

#include "ns3/proteus-graph.h"
#include "ns3/proteus-pool.h"
#include "ns3/proteus-transport.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What becomes of a communication that has been executed before.
enum class RepetitionMode : uint8_t
{
    OFF,    //!< it is executed
    ON,     //!< it gets the results of the one before
    VERIFY, //!< it is executed, and must have the results of the one before
};

/// @ingroup proteus
/// @param text off, on or verify @return what it names
/// @throw std::invalid_argument for any other text
RepetitionMode RepetitionModeFromString(const std::string& text);
/// @ingroup proteus
/// @return names of all modes
std::vector<std::string> GetRepetitionModeNames();

/**
 * @ingroup proteus
 * Finds communications that need not be executed, because an equal one was: they get its results,
 * equal to the bit.
 *
 * A *component* is a communication, or several that *meet*: that share links while one of them is
 * under way. What happens in it, on links that are as new, depends only on its RepetitionKey: the
 * programs, the shape of the links, and when the ranks begin relative to the first. No rank can be
 * done before all have begun. So ranks that begin are held until it is certain when the last one
 * will. If there is a record with that key, the ranks are done when it says. If a component with
 * that key is just being recorded, this one follows it. Otherwise it is executed late, when the
 * first of its ranks can be done: from its first start on, on links that nothing has crossed since;
 * and recorded. Until it has made up for that time it is alone in the processor's caches.
 *
 * If another communication touches one of its links before all of them are as new again, both are a
 * component with a key of its own, as soon as it is certain when all ranks of the other one begin.
 * What is being executed is executed on, with the other one. Of what was recorded until then there
 * is a record that ends there: whoever has that key is done as it says, and has met the same by
 * then, or is executed.
 *
 * What meets something that does not repeat, or of which a start is not certain, is executed, late
 * where need be, and goes on as packets. So is a rank that waits for the others; when it can do no
 * more and all links are as new, others may have them until the next rank begins.
 *
 * Over RoCE, that holds as long as congestion control has seen nothing, chance decides about no
 * mark, and shared buffers are calm. When chance decides first, what is being recorded is executed.
 * When a buffer is calm no longer, all that uses it is executed, from now on and for ever. Until
 * then nobody who uses a buffer knows of the others; but who does not know whether he will leave it
 * calm, as no record says so, is late only while he has it for himself.
 *
 * What depends on more than the key is always executed: communications with other congestion
 * control, or losses; operations of switches of several servers; those of GPUs whose
 * memory or copy engines are a limit; other collectives than those of NeedsAllRanks(); everything
 * after a link has changed, and while somebody watches what happens on links.
 *
 * On several MPI ranks, each repeats what it alone carries. A communication that other ranks take
 * part in or carry is executed without a word to this class, and with it, what shares links with
 * it.
 */
class Repetition : private CallTarget
{
  public:
    /**
     * @param graph whose communication is repeated; must outlive this
     * @param fabric that carries it
     * @param transport over which
     * @param user who executes ranks; must outlive this
     */
    Repetition(const ExecutionGraph& graph,
               Ptr<Fabric> fabric,
               Ptr<Transport> transport,
               RepetitionUser& user);

    /// Once, before the first Join(). @param mode what to do @param memoryBytes for records
    /// @param threads components that are executed at a time in processes of their own, at least 1
    /// @param longBytes payload from which on one is worth that
    void SetUp(RepetitionMode mode, uint64_t memoryBytes, uint32_t threads, uint64_t longBytes);

    /// @param goOn see Rehearsals::SetWaitCheck()
    void SetWaitCheck(std::function<bool()> goOn)
    {
        m_rehearsals.SetWaitCheck(std::move(goOn));
    }

    /// @return whether it has to be told of communications
    bool IsOn() const
    {
        return m_mode != RepetitionMode::OFF;
    }

    /// "No communication".
    static constexpr uint32_t NONE = NO_ID;

    /**
     * A rank joins a communication.
     * @param task which one
     * @param microBatch of the task
     * @param plan of its group and program
     * @param program of it; must outlive the run
     * @param number of the rank in the group
     * @param rank what RepetitionUser knows it by
     * @return the communication, for the other functions
     */
    uint32_t Join(TaskId task,
                  uint32_t microBatch,
                  const RepetitionPlan& plan,
                  const CollectiveProgram& program,
                  uint32_t number,
                  uint32_t rank);

    /// Counts a communication with a plan that crosses to other MPI ranks: it is executed.
    void CountCrossing()
    {
        ++m_statistics.communications;
    }

    /// @return plans of groups and programs
    RepetitionPlans& GetPlans()
    {
        return m_plans;
    }

    /**
     * The time has come when a rank begins.
     * @param communication of the rank
     * @param number of the rank in the group
     * @return whether it is to be executed now
     */
    bool Start(uint32_t communication, uint32_t number);

    /// A rank that was executed is done. @param communication of the rank @param number of the rank
    /// in the group @param work what it did, and when it is done @param blockEndsPs when its thread
    /// blocks were; or always empty
    void Finish(uint32_t communication,
                uint32_t number,
                const RankWork& work,
                const std::vector<int64_t>& blockEndsPs);

    /**
     * Counts what is over, and forgets it.
     * @param atEnd whether the simulator has nothing left to do
     */
    void Settle(bool atEnd);

    /**
     * Has everything executed that is held or repeated at present, from outside of the fabric.
     * @return whether there was something
     */
    bool ExecuteAll();

    /// Executes everything from now on; what is under way, too.
    void SwitchOff();

    /// @return what was not done again
    const RepetitionStatistics& GetStatistics() const
    {
        return m_statistics;
    }

    /// @return empty, or why communications that could have been repeated were executed
    const std::string& GetObstacle() const
    {
        return m_obstacle;
    }

    /// Lets go of what it stands on.
    void Dispose();

    /// @return records, for tests
    RepetitionRecords& GetRecords()
    {
        return m_records;
    }

  private:
    /// A communication under way.
    struct Communication
    {
        TaskId task{0};                            //!< which one
        uint32_t microBatch{0};                    //!< of the task
        const RepetitionPlan* plan{nullptr};       //!< of its group and program
        const CollectiveProgram* program{nullptr}; //!< of it
        uint32_t component{NO_ID};                 //!< that it belongs to; NO_ID: not begun
        uint32_t nDone{0};                         //!< ranks that were executed and are done
        std::vector<uint32_t> ranks;               //!< as RepetitionUser knows them; NO_ID: to come
        std::vector<int64_t> startPs;              //!< by rank, where it is certain; else -1
        std::vector<bool> hasBegun;                //!< by rank
        std::vector<RankWork> works;               //!< by rank, of those that were executed
        std::vector<std::vector<int64_t>> blockEndsPs; //!< by rank, as above, and block; or empty
        std::vector<bool> isDone;                      //!< by rank: executed and done
        std::vector<int64_t> repeatedPs; //!< by rank: what RepetitionUser has, else NOT_DONE
    };

    /// What is known of a component.
    enum class State : uint8_t
    {
        HELD,      //!< it is not certain when all ranks begin, none is executed
        REPEATED,  //!< its ranks are done when a record says so
        AWAITED,   //!< another process executes it, and its ranks are done as that says
        POSTPONED, //!< executed later: before a rank can be done, or with what it meets
        FOLLOWING, //!< its ranks are done as those of another, which is being recorded
        RECORDED,  //!< executed, from the first start on
        EXECUTED,  //!< executed, not to be repeated, or with what is not
        WAITING,   //!< executed; one rank waits for the others, and owns no links
    };

    /// What a component that is being recorded was, until it met others.
    struct Past
    {
        RepetitionKey key;                    //!< that it had
        std::vector<uint32_t> communications; //!< of the key
        int64_t firstPs{0};                   //!< first start of a rank of these
        int64_t untilPs{0};                   //!< when it met others
    };

    /// What is called at a time of the fabric.
    enum CallKind : uint32_t
    {
        CHECK,     //!< whether it goes on with a component
        DRAW,      //!< what uses a link on which chance has decided
        CONTENTION //!< what uses a buffer that is calm no longer
    };

    /// Communications that share links, one of them at least being under way.
    struct Component
    {
        State state{State::HELD};                         //!< what becomes of it
        std::vector<uint32_t> communications;             //!< those of a key in its order
        std::vector<LinkId> links;                        //!< that it owns
        int64_t firstPs{0};                               //!< first start of a rank
        const RepetitionPlan* plan{nullptr};              //!< of all that the key is of
        RepetitionKey key;                                //!< REPEATED, FOLLOWING, RECORDED
        std::shared_ptr<const RepetitionRecord> record;   //!< REPEATED: which
        std::map<PortId, LinkStatistics> ports;           //!< RECORDED: before
        std::map<uint32_t, QueuePairWork> queuePairs;     //!< RECORDED: before
        std::vector<Past> pasts;                          //!< RECORDED: of which no record is kept
        std::vector<uint32_t> followers;                  //!< RECORDED: components
        std::shared_ptr<Rehearsals::Rehearsal> rehearsal; //!< AWAITED: which
        uint64_t eventsBefore{0};  //!< AWAITED: of the packet engine, when that began
        bool hasRehearsed{false};  //!< REPEATED: it was, and the record is that of it
        RehearsalResult cost;      //!< of that
        uint64_t vainHops{0};      //!< link crossings executed in vain for what it has met
        uint64_t wholeHops{0};     //!< those of what it has met, in all
        uint32_t leader{NO_ID};    //!< FOLLOWING: which component
        std::vector<uint32_t> led; //!< FOLLOWING: communications of that
        int64_t shiftPs{0};        //!< FOLLOWING: by which it is later
    };

    /// @param id of a communication of which a rank begins first @param number of that rank
    /// @return as Start()
    bool Open(uint32_t id, uint32_t number);
    /// @param id of a communication that is waiting, of which another rank begins
    /// @param number of that rank @return as Start()
    bool Wake(uint32_t id, uint32_t number);
    /// Has a communication executed together with others. @param id of it @param number of its
    /// rank that begins @param others components that it shares links with @return as Start()
    bool ExecuteWith(uint32_t id, uint32_t number, const std::vector<uint32_t>& others);
    /// Has those executed that another communication comes upon, but does not meet: of which one
    /// rank has begun, or which are still under way elsewhere. @param plan of the other one
    /// @param components that share links with it @return whether some of that lies in the past
    bool ExecuteUnmet(const RepetitionPlan& plan, const std::vector<uint32_t>& components);
    /// @param plan of a communication that begins @param component that shares links with it
    /// @return whether only such communications share them that are over, and others are not
    bool IsMetTooLate(const RepetitionPlan& plan, const Component& component) const;
    // proteus-repetition-buffers.cc
    /// @param plan what it uses @return whether a buffer of that is calm no longer
    bool IsContended(const RepetitionPlan& plan) const;
    /// @param plan of a communication that begins @return whether it can be repeated now
    bool CanRepeat(const RepetitionPlan& plan);
    /// @param id of a communication that uses buffers from now on
    void EnterBuffers(uint32_t id);
    /// @param id of a communication that is over
    void LeaveBuffers(uint32_t id);
    /// @param buffers as of RepetitionPlan @return components that use one of them, ascending
    std::vector<uint32_t> FindUsers(const std::vector<uint32_t>& buffers) const;
    /// @param id of a component @return others that share buffers with it, and may send data
    std::vector<uint32_t> FindSharers(uint32_t id) const;
    /// Others may send over buffers that a component is about to use, and do not know whether they
    /// leave them calm: they are executed. @param id of the component @return whether some of that
    /// lies in the past
    bool ExecuteUnknown(uint32_t id);
    /// @param id of a component @return whether nothing else is sent over its buffers but what is
    /// equal to it
    bool OwnsBuffers(uint32_t id) const;
    /// @param one a component @param other another one @return whether both wait to be executed,
    /// and will be alike
    bool AreEqual(const Component& one, const Component& other) const;
    /// Something has begun to depend on more than a key. @param kind DRAW or CONTENTION
    /// @param value that goes with it @throw std::runtime_error in another process, whose result is
    /// of no use any more
    void CallForChance(CallKind kind, uint32_t value);
    /// Chance has decided about a mark. @param link on which
    void HandleDraw(LinkId link);
    /// A buffer is calm no longer. @param buffer which one
    void HandleContention(uint32_t buffer);

    /// @param id of a held communication of which another rank begins @return as Start()
    bool Hold(uint32_t id);
    /// Finds out when ranks will begin. @param id of a communication @return whether that is
    /// certain of all
    bool LearnStarts(uint32_t id);
    /// @param id of a communication that repeats, of which a rank begins first
    /// @param others components that it shares links with @return whether that has a key
    bool CanMeet(uint32_t id, const std::vector<uint32_t>& others);
    /// Makes one component of all that meet. @param id of a communication of which a rank begins
    /// first @param number of that rank @param others components that it shares links with
    /// @return as Start()
    bool Meet(uint32_t id, uint32_t number, const std::vector<uint32_t>& others);
    /// A component that is being recorded is about to meet another one. @param id of it
    void NotePast(uint32_t id);
    /// Makes a component that has a key part of another. @param from which one @param to which one
    void Absorb(uint32_t from, uint32_t to);
    /// Sets the key of a component, and what goes with it. @param id of it, all of whose starts are
    /// certain
    void SetKey(uint32_t id);
    /// Has a component with a key repeated, follow another one, or recorded. @param id of it
    void Decide(uint32_t id);
    /// @param id of a component with a key @return its record if it reaches beyond now, or null
    std::shared_ptr<const RepetitionRecord> FindRecord(uint32_t id);
    /// Has a component executed from its first start on. @param id of it
    void Record(uint32_t id);
    /// @param component with a key @return whether another process is to execute it, because it is
    /// long, and alone as far as is known. One that has met others is executed here, where it can
    /// meet more and go on, once as much was executed in vain as it takes
    bool CanRehearse(const Component& component) const;
    /// @param key of components @return the first that another process executes; NO_ID if there is
    /// none
    uint32_t FindAwaited(const RepetitionKey& key) const;
    /// Has a component executed by another process. @param id of it
    void Rehearse(uint32_t id);
    /// Has a component executed when the first of its ranks can be done. @param id of it @return
    /// whether that lies ahead
    bool Postpone(uint32_t id);
    /// Takes back what RepeatRank() has said of times to come. @param id of a component
    /// @return when the first of its ranks can be done, now at the earliest
    int64_t TakeBackEnds(uint32_t id);
    /// In that process: executes a component, and nothing else any more. @param id of it
    /// @return the result
    RehearsalResult ExecuteAlone(uint32_t id);
    /// @param component that has awaited another process @param rehearsal of that
    /// @param result of it, with a record @return whether it has left periods out, or was executed
    /// beside something else
    bool IsOfUse(const Component& component,
                 const Rehearsals::Rehearsal& rehearsal,
                 const RehearsalResult& result) const;
    /// Takes the result of another process. @param id of a component that awaits it
    void EndRehearsal(uint32_t id);
    /// @param id of a component that meets others, or is to be executed here: what another process
    /// executes of it, or has executed for it alone, is in vain
    void GiveUpRehearsal(uint32_t id);
    /// Has a component done as a record says. @param id of it @param record of its key
    void Repeat(uint32_t id, const std::shared_ptr<const RepetitionRecord>& record);
    /// @param id of a component with a key @return whether it follows one that is being recorded
    /// with that key
    bool Follow(uint32_t id);
    /// Has a component follow another one. @param id of it @param leader that has its key
    void Follow(uint32_t id, uint32_t leader);
    /// @param id of a component that follows another one, and is to do so no longer
    void Unfollow(uint32_t id);
    /// Has a rank done that is not executed. @param communication of it @param number of it in the
    /// group @param work that it did; NOT_DONE: nothing is known of its end
    /// @param blockEndsPs when its thread blocks were done; or empty
    void RepeatRank(Communication& communication,
                    uint32_t number,
                    const RankWork& work,
                    const std::vector<int64_t>& blockEndsPs);
    /// @param communication that was executed @param rank of it @param firstPs first start of its
    /// component @param record that gets the ends of the rank's thread blocks, if they are wanted
    void AppendBlockEnds(const Communication& communication,
                         std::size_t rank,
                         int64_t firstPs,
                         RepetitionRecord& record) const;
    /// @param record of a component @param from number of the first thread block of a rank there
    /// @param count of its blocks @param shiftPs to add @return when they were done; or empty
    static std::vector<int64_t> GetBlockEnds(const RepetitionRecord& record,
                                             std::size_t from,
                                             std::size_t count,
                                             int64_t shiftPs);
    /// Takes back what RepeatRank() has said, and has ranks executed that have begun. @param id of
    /// a component
    void StartAgain(uint32_t id);
    /// What a component was to leave to its followers is not to be had. Some of them take its
    /// place. @param id of it @return whether there were some
    bool Succeed(uint32_t id);
    /// Keeps records of what a component was before it met others, for its followers, too.
    /// @param id of it
    void EndPasts(uint32_t id);
    /// @param past of a component that is being recorded @return the record that ends there
    std::shared_ptr<const RepetitionRecord> MakeRecord(const Past& past) const;
    /// Has HandleCall() called. @param kind of the call @param value that goes with it; of CHECK, a
    /// component @param timePs when
    void SetCall(CallKind kind, uint32_t value, int64_t timePs);
    /// Time has passed the end of a record, or past. @param value the component that had it
    void HandleCall(uint32_t kind, uint32_t value) override;
    /// @param plan with links @return components that own some of them, ascending
    std::vector<uint32_t> FindOwners(const RepetitionPlan& plan) const;
    /// Lets go of what is over. @param plan with links @return components that still own some of
    /// them, ascending
    std::vector<uint32_t> ReleaseOwners(const RepetitionPlan& plan);
    /// @param id of a component that is to be executed with others @return whether some of that
    /// lies in the past
    bool Execute(uint32_t id);
    /// Makes the communications of a component those of another. @param from which one
    /// @param to which one
    void Merge(uint32_t from, uint32_t to);
    /// @param id of a component that gets links @param links which ones
    void Own(uint32_t id, const std::vector<LinkId>& links);
    /// @param id of a component @param nowPs present time @return whether its links are as new; it
    /// is counted and forgotten then
    bool Release(uint32_t id, int64_t nowPs);
    /// Lets go of what is over in a component that was executed with others, so that it is no
    /// larger than what is under way: what no longer shares links goes apart. @param id of it
    /// @param nowPs present time
    void Shrink(uint32_t id, int64_t nowPs);
    /// Forgets communications that are over, with all links and queue pairs that none that is
    /// under way uses. @param communications of a component @param nowPs present time @return the
    /// others
    std::vector<uint32_t> ForgetWhatIsOver(const std::vector<uint32_t>& communications,
                                           int64_t nowPs);
    /// @param communications that share links, directly or by way of others, or not
    /// @return those that do, together
    std::vector<std::vector<uint32_t>> FindParts(const std::vector<uint32_t>& communications) const;
    /// @param id of a communication @return the rank that has begun, if it is one; else NO_ID
    uint32_t FindOnlyRank(uint32_t id) const;
    /// @param id of a communication that is executed @param nowPs present time @return whether it
    /// leaves its links as new until a second rank begins
    bool IsWaiting(uint32_t id, int64_t nowPs) const;
    /// Makes a component own no more than its communications need, which are executed. @param id
    /// of it; NO_ID: a new one @param communications of it @param state EXECUTED or WAITING
    void SetExecuted(uint32_t id, const std::vector<uint32_t>& communications, State state);
    /// @param id of a communication @return whether all of its ranks were executed and are done
    bool IsDone(uint32_t id) const;
    /// Forgets a communication. @param id of it
    void Forget(uint32_t id);
    /// @param plan of a communication that was executed @return from when on its links are as new
    int64_t GetRestPs(const RepetitionPlan& plan) const;
    /// @param component that was executed @return from when on its links are as new
    int64_t GetRestPs(const Component& component) const;
    /// Counts what a repeated component has done. @param component which one
    void Count(const Component& component);
    /// Notes what a component has begun with, where that is not noted. @param component which one
    void TakeSnapshot(Component& component);
    /// Puts back what TakeSnapshot() has taken out. @param component which one
    void Restore(const Component& component);
    /// @param component that was recorded @param restPs from when on its links are as new
    /// @return the record, null if something happened that is not to be repeated
    std::shared_ptr<const RepetitionRecord> MakeRecord(const Component& component,
                                                       int64_t restPs) const;
    /// Keeps a record, or compares it with that which was to be met. @param id of a component that
    /// was recorded @param restPs from when on its links are as new @throw std::runtime_error if it
    /// differs
    void Keep(uint32_t id, int64_t restPs);
    /// @param component that was executed @param record of it @param other what that should be
    /// @param when other was made @throw std::runtime_error if they differ
    void Verify(const Component& component,
                const RepetitionRecord& record,
                const RepetitionRecord& other,
                const std::string& when) const;
    /// @return whether anything may be held
    bool CanHold();

    Ptr<Fabric> m_fabric;                                    //!< that carries it
    Ptr<Transport> m_transport;                              //!< over which
    RepetitionUser& m_user;                                  //!< executes ranks
    RepetitionMode m_mode{RepetitionMode::OFF};              //!< what to do
    RepetitionPlans m_plans;                                 //!< of groups and programs
    RepetitionRecords m_records;                             //!< by key
    Pool<Communication> m_communications;                    //!< under way
    Pool<Component> m_components;                            //!< under way
    std::vector<uint32_t> m_open;                            //!< components, ascending
    std::vector<uint32_t> m_owner;                           //!< by link: component or NO_ID
    std::map<std::pair<TaskId, uint32_t>, uint32_t> m_index; //!< communications under way
    std::vector<std::vector<uint32_t>> m_users;              //!< by buffer: communications
    uint64_t m_longBytes{0};                                 //!< for Rehearsals, at least
    Rehearsals m_rehearsals;                                 //!< in other processes
    std::map<uint32_t, int32_t> m_rehearsed; //!< by shape: rehearsals of use, less those of none
    RepetitionStatistics m_statistics;       //!< so far
    std::string m_obstacle;                  //!< GetObstacle()
    bool m_isAlone{false};                   //!< within ExecuteAlone()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_H
