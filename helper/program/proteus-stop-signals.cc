/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-stop-signals.h"

#include "ns3/proteus-output-file.h"

#include <atomic>

namespace ns3
{
namespace proteus
{

namespace
{

static_assert(std::atomic<int>::is_always_lock_free, "a handler must not wait for a lock");

/// What the handler leaves behind: it may set such a variable, and little else.
std::atomic<int> g_signal{0};
/// Whether somebody has ended early for it.
std::atomic<bool> g_isObeyed{false};

extern "C" void
NoteSignal(int signal)
{
    g_signal = signal;
}

} // namespace

StopSignals::StopSignals()
{
    g_signal = 0;
    g_isObeyed = false;
    struct sigaction action = {};
    action.sa_handler = NoteSignal;
    // The second one ends the program; and a write that is under way goes on.
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &m_interrupt);
    sigaction(SIGTERM, &action, &m_terminate);
}

StopSignals::~StopSignals()
{
    sigaction(SIGINT, &m_interrupt, nullptr);
    sigaction(SIGTERM, &m_terminate, nullptr);
    g_signal = 0;
    g_isObeyed = false;
}

int
StopSignals::Get()
{
    return g_signal;
}

bool
StopSignals::Obey()
{
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
    return g_signal == SIGTERM ? "SIGTERM" : "SIGINT";
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
