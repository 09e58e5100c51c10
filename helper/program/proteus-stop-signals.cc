/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stop-signals.h"

#include "proteus-held-output.h"

#include "ns3/proteus-output-file.h"
#include "ns3/proteus-output-plan.h"

#include <atomic>
#include <unistd.h>

namespace ns3
{
namespace proteus
{

namespace
{

static_assert(std::atomic<int>::is_always_lock_free, "a handler must not wait for a lock");

constexpr int EXIT_CODE = 128; //!< of what a signal ended: its number more

/// What the handler leaves behind: it may set such a variable, and little else.
std::atomic<int> g_signal{0};
/// Whether somebody has ended early for it.
std::atomic<bool> g_isObeyed{false};
/// Whether the handler ends the program, see EndAtOnce.
std::atomic<bool> g_endsAtOnce{false};
/// Whose handler it is.
std::atomic<const StopSignals*> g_owner{nullptr};

/// A signal that ends runs.
struct StopSignal
{
    int number;       //!< of the system
    const char* name; //!< of it
};

/// All that are noted.
constexpr std::array<StopSignal, 3> SIGNALS{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}}};

/// @param signal one of SIGNALS @return which of them
std::size_t
FindSignal(int signal)
{
    std::size_t i = 0;
    while (i + 1 < SIGNALS.size() && SIGNALS[i].number != signal)
    {
        ++i;
    }
    return i;
}

extern "C" void
NoteSignal(int signal)
{
    g_signal = signal;
    if (g_endsAtOnce)
    {
        const std::string& words = g_owner.load()->DescribeEarlyEnd(signal);
        const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
        static_cast<void>(written); // nobody is left to hear of a failure
        OutputPlan::RemoveEmptyFolders();
        _exit(EXIT_CODE + signal);
    }
}

} // namespace

StopSignals::StopSignals(const std::string& program)
{
    for (std::size_t i = 0; i < SIGNALS.size(); ++i)
    {
        m_noted[i].earlyEnd = program + ": ended by " + SIGNALS[i].name +
                              " before there was a result: nothing is written\n";
    }
    g_owner = this;
    g_signal = 0;
    g_isObeyed = false;
    struct sigaction action = {};
    action.sa_handler = NoteSignal;
    // The second one ends the program; and a write that is under way goes on.
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < SIGNALS.size(); ++i)
    {
        struct sigaction& before = m_noted[i].before;
        sigaction(SIGNALS[i].number, nullptr, &before);
        if (SIGNALS[i].number != SIGHUP || before.sa_handler != SIG_IGN)
        {
            sigaction(SIGNALS[i].number, &action, nullptr);
        }
    }
}

StopSignals::~StopSignals()
{
    for (std::size_t i = 0; i < SIGNALS.size(); ++i)
    {
        sigaction(SIGNALS[i].number, &m_noted[i].before, nullptr);
    }
    g_owner = nullptr;
    g_signal = 0;
    g_isObeyed = false;
}

const std::string&
StopSignals::DescribeEarlyEnd(int signal) const
{
    return m_noted[FindSignal(signal)].earlyEnd;
}

int
StopSignals::Get()
{
    return g_signal;
}

bool
StopSignals::Obey()
{
    EndAtOnce::Cancel();
    HeldOutput::Release();
    if (g_signal != 0)
    {
        g_isObeyed = true;
    }
    return g_isObeyed;
}

bool
StopSignals::IsObeyed()
{
    return g_isObeyed;
}

std::string
StopSignals::GetName()
{
    return SIGNALS[FindSignal(g_signal)].name;
}

int
StopSignals::GetExitCode()
{
    return EXIT_CODE + g_signal;
}

EndAtOnce::EndAtOnce()
{
    g_endsAtOnce = g_owner.load() != nullptr;
    if (g_signal != 0)
    {
        g_endsAtOnce = false;
        throw RunStopped("stopped before it began");
    }
}

EndAtOnce::~EndAtOnce()
{
    Cancel();
}

void
EndAtOnce::Cancel()
{
    g_endsAtOnce = false;
}

void
RequireWhole(const RunRecord& record)
{
    if (record.isPartial)
    {
        throw RunStopped("a run was stopped");
    }
}

void
ThrowIfStopped()
{
    if (StopSignals::Obey())
    {
        throw RunStopped("stopped between two runs");
    }
}

std::string
DescribeStop(std::size_t done, std::size_t total, const std::string& things)
{
    return !StopSignals::IsObeyed()
               ? ""
               : "Note: PARTIAL, ended by " + StopSignals::GetName() + ": " + std::to_string(done) +
                     " of " + std::to_string(total) + " " + things + "\n";
}

void
WriteCsvFile(const std::string& path, const std::function<void(std::ostream&)>& write)
{
    if (path.empty())
    {
        return;
    }
    WriteFile(path, [&](std::ostream& out) {
        if (StopSignals::IsObeyed())
        {
            out << "# PARTIAL: ended by " << StopSignals::GetName() << '\n';
        }
        write(out);
    });
}

} // namespace proteus
} // namespace ns3
