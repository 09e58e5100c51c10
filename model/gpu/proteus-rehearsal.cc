/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rehearsal.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3
{
namespace proteus
{

namespace
{

/// Milliseconds between two calls of Rehearsals::SetWaitCheck().
constexpr int CHECK_INTERVAL_MS = 100;

/// Writes plain values to a pipe.
class PipeWriter
{
  public:
    explicit PipeWriter(int pipe)
        : m_pipe(pipe)
    {
    }

    /// @param data to write @param bytes of it @return whether all of it was taken
    bool Write(const void* data, std::size_t bytes)
    {
        const auto* next = static_cast<const char*>(data);
        while (bytes > 0)
        {
            const ssize_t written = write(m_pipe, next, bytes);
            if (written < 0 && errno == EINTR)
            {
                continue;
            }
            if (written <= 0)
            {
                return false;
            }
            next += written;
            bytes -= static_cast<std::size_t>(written);
        }
        return true;
    }

    /// @param value to write @return whether it was taken
    template <typename T>
    bool Value(T& value)
    {
        return Write(&value, sizeof(value));
    }

    /// @param values to write, behind their number @return whether they were taken
    template <typename T>
    bool Values(std::vector<T>& values)
    {
        uint64_t size = values.size();
        return Value(size) && Write(values.data(), size * sizeof(T));
    }

  private:
    int m_pipe; //!< where to
};

/// Reads what a PipeWriter has written.
class PipeReader
{
  public:
    explicit PipeReader(int pipe)
        : m_pipe(pipe)
    {
    }

    /// @param value that is read @return whether it was all there
    template <typename T>
    bool Value(T& value)
    {
        return Read(&value, sizeof(value));
    }

    /// @param values that are read @return whether they were all there
    template <typename T>
    bool Values(std::vector<T>& values)
    {
        uint64_t size = 0;
        if (!Value(size))
        {
            return false;
        }
        values.resize(size);
        return Read(values.data(), size * sizeof(T));
    }

  private:
    /// @param data to read @param bytes of it @return whether all of it was there
    bool Read(void* data, std::size_t bytes)
    {
        auto* next = static_cast<char*>(data);
        while (bytes > 0)
        {
            const ssize_t got = read(m_pipe, next, bytes);
            if (got < 0 && errno == EINTR)
            {
                continue;
            }
            if (got <= 0)
            {
                return false;
            }
            next += got;
            bytes -= static_cast<std::size_t>(got);
        }
        return true;
    }

    int m_pipe; //!< where from
};

/// @param pipe PipeWriter or PipeReader @param result that goes through, but for its record
/// @param record of it @return whether all of it did
template <typename Pipe>
bool
Pass(Pipe& pipe, RehearsalResult& result, RepetitionRecord& record)
{
    return pipe.Value(result.packets) && pipe.Value(result.packetHops) &&
           pipe.Value(result.events) && pipe.Values(record.ranks) &&
           pipe.Values(record.blockEndsPs) && pipe.Values(record.ports) &&
           pipe.Values(record.queuePairs) && pipe.Value(record.restPs) &&
           pipe.Value(record.untilPs) && pipe.Value(record.packets) &&
           pipe.Value(record.packetHops);
}

/// Does what a child is to do, and ends it. @param execution what @param pipe for the result
[[noreturn]] void
ExecuteAsChild(const Rehearsals::Execution& execution, int pipe)
{
    // Ctrl-C is for the parent, which ends its children.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    bool isWell = false;
    try
    {
        RehearsalResult result = execution();
        if (result.record)
        {
            RepetitionRecord record = *result.record;
            PipeWriter writer(pipe);
            isWell = Pass(writer, result, record);
        }
    }
    catch (const std::exception&)
    {
        isWell = false; // the parent executes it itself, and says what is wrong
    }
    _exit(isWell ? EXIT_SUCCESS : EXIT_FAILURE);
}

} // namespace

Rehearsals::Rehearsal::~Rehearsal()
{
    if (m_process > 0 && !m_isOver)
    {
        close(m_pipe);
        kill(m_process, SIGKILL);
        waitpid(m_process, nullptr, 0);
    }
}

std::shared_ptr<Rehearsals::Rehearsal>
Rehearsals::Start(Execution execution)
{
    std::shared_ptr<Rehearsal> rehearsal(new Rehearsal(std::move(execution)));
    m_waiting.push_back(rehearsal);
    StartWaiting();
    return rehearsal;
}

std::shared_ptr<Rehearsals::Rehearsal>
Rehearsals::StartAtOnce(Execution execution)
{
    std::shared_ptr<Rehearsal> rehearsal(new Rehearsal(std::move(execution)));
    Fork(*rehearsal);
    return rehearsal;
}

void
Rehearsals::StartWaiting()
{
    const auto isGone = [](const std::weak_ptr<Rehearsal>& one) {
        const auto rehearsal = one.lock();
        return !rehearsal || rehearsal->m_isOver;
    };
    m_running.remove_if(isGone);
    m_waiting.remove_if([](const std::weak_ptr<Rehearsal>& one) {
        const auto rehearsal = one.lock();
        return !rehearsal || rehearsal->m_process > 0 || rehearsal->m_isOver;
    });
    while (!m_waiting.empty() && m_running.size() < m_threads)
    {
        Fork(*m_waiting.front().lock());
        m_running.push_back(m_waiting.front());
        m_waiting.pop_front();
    }
}

void
Rehearsals::Fork(Rehearsal& rehearsal)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        rehearsal.m_isOver = true;
        return;
    }
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0)
    {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        close(ends[0]);
        if (getppid() != parent) // it is gone already
        {
            _exit(EXIT_FAILURE);
        }
        ExecuteAsChild(rehearsal.m_execution, ends[1]);
    }
    close(ends[1]);
    if (process < 0)
    {
        close(ends[0]);
        rehearsal.m_isOver = true;
        return;
    }
    rehearsal.m_process = process;
    rehearsal.m_pipe = ends[0];
}

bool
Rehearsals::Await(const Rehearsal& rehearsal) const
{
    pollfd pipe{rehearsal.m_pipe, POLLIN, 0};
    while (m_goOn && poll(&pipe, 1, CHECK_INTERVAL_MS) <= 0)
    {
        if (!m_goOn())
        {
            return false;
        }
    }
    return true;
}

RehearsalResult&
Rehearsals::Wait(Rehearsal& rehearsal)
{
    if (rehearsal.m_isOver)
    {
        return rehearsal.m_result;
    }
    if (rehearsal.m_process < 0)
    {
        Fork(rehearsal); // nothing else goes on here meanwhile
    }
    if (!rehearsal.m_isOver)
    {
        auto record = std::make_shared<RepetitionRecord>();
        PipeReader reader(rehearsal.m_pipe);
        if (!Await(rehearsal))
        {
            kill(rehearsal.m_process, SIGKILL);
            rehearsal.m_result.isGivenUp = true;
        }
        else if (Pass(reader, rehearsal.m_result, *record))
        {
            rehearsal.m_result.record = std::move(record);
        }
        else
        {
            rehearsal.m_result = RehearsalResult();
        }
        close(rehearsal.m_pipe);
        while (waitpid(rehearsal.m_process, nullptr, 0) < 0 && errno == EINTR)
        {
        }
        rehearsal.m_isOver = true;
    }
    StartWaiting();
    return rehearsal.m_result;
}

} // namespace proteus
} // namespace ns3
