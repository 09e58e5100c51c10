/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REHEARSAL_H
#define PROTEUS_REHEARSAL_H

#include "proteus-repetition-records.h"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <sys/types.h>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What executing communications alone has brought.
struct RehearsalResult
{
    std::shared_ptr<const RepetitionRecord> record; //!< null: something happened that does not
                                                    //!< repeat
    uint64_t packets{0};                            //!< data units that were sent for it
    uint64_t packetHops{0};                         //!< link crossings of all units
    uint64_t events{0};                             //!< events that the packet engine handled
    bool isTaken{false};                            //!< whether somebody has counted this
    bool isGivenUp{false};                          //!< it was not waited for
};

/**
 * @ingroup proteus
 * Executes communications in child processes, several at a time, while this process goes on. A
 * child is a copy of this process as it is when the child begins, and ends with what it was to find
 * out; what it changes is not seen here. So results do not depend on how many there are.
 */
class Rehearsals
{
  public:
    /// What a child does. It may change whatever it likes, but must not write files or text.
    using Execution = std::function<RehearsalResult()>;

    /// One execution: waiting for its turn, under way, or over.
    class Rehearsal
    {
      public:
        /// Ends the child, if it is under way.
        ~Rehearsal();

        Rehearsal(const Rehearsal&) = delete;
        Rehearsal& operator=(const Rehearsal&) = delete;

      private:
        friend class Rehearsals;

        /// @param execution that the child is to do
        explicit Rehearsal(Execution execution)
            : m_execution(std::move(execution))
        {
        }

        Execution m_execution;    //!< what the child does
        pid_t m_process{-1};      //!< the child, once it has begun
        int m_pipe{-1};           //!< from which its result comes
        bool m_isOver{false};     //!< m_result is there
        RehearsalResult m_result; //!< what it was
    };

    /// @param count children at a time, at least 1
    void SetThreads(uint32_t count)
    {
        m_threads = count;
    }

    /// @param goOn called several times a second while an execution is waited for; if it says no,
    /// the execution ends without a result
    void SetWaitCheck(std::function<bool()> goOn)
    {
        m_goOn = std::move(goOn);
    }

    /// Has something executed, now or when others are done.
    /// @param execution what; it stays valid until it is over, or what is returned is destroyed
    /// @return what Wait() takes; the child ends early if it is destroyed
    std::shared_ptr<Rehearsal> Start(Execution execution);

    /// Has something executed that begins now. @param execution what @return as Start()
    std::shared_ptr<Rehearsal> StartAtOnce(Execution execution);

    /// Waits until an execution is over. @param rehearsal of Start()
    /// @return its result; without a record if the child could not be made, has failed, or was not
    /// waited for, see SetWaitCheck()
    RehearsalResult& Wait(Rehearsal& rehearsal);

  private:
    /// @param rehearsal whose child is under way @return whether to read its result, which begins
    bool Await(const Rehearsal& rehearsal) const;
    /// Has waiting executions begin, as many as may.
    void StartWaiting();
    /// @param rehearsal whose child is to begin
    static void Fork(Rehearsal& rehearsal);

    std::function<bool()> m_goOn;                  //!< see SetWaitCheck(); may be null
    uint32_t m_threads{1};                         //!< children at a time
    std::list<std::weak_ptr<Rehearsal>> m_waiting; //!< in the order of Start()
    std::list<std::weak_ptr<Rehearsal>> m_running; //!< begun, and not waited for
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REHEARSAL_H
