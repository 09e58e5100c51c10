/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-progress.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double TERMINAL_SECONDS = 0.25; //!< between two updates of a terminal
constexpr double PLAIN_SECONDS = 5;       //!< between two plain lines

} // namespace

ProgressLine::ProgressLine(std::string name)
    : m_name(std::move(name)),
      m_terminal(isatty(STDERR_FILENO) != 0),
      m_start(WallClock::now())
{
}

ProgressLine::~ProgressLine()
{
    if (m_width > 0)
    {
        std::cerr << '\r' << std::string(m_width, ' ') << '\r' << std::flush;
    }
}

double
ProgressLine::GetElapsedSeconds() const
{
    return std::chrono::duration<double>(WallClock::now() - m_start).count();
}

bool
ProgressLine::IsDue()
{
    const double elapsed = GetElapsedSeconds();
    if (elapsed < m_nextSeconds)
    {
        return false;
    }
    m_nextSeconds = elapsed + (m_terminal ? TERMINAL_SECONDS : PLAIN_SECONDS);
    return true;
}

void
ProgressLine::Say(const std::string& text)
{
    if (IsDue())
    {
        Show(text);
    }
}

void
ProgressLine::Update(const RunProgress& progress)
{
    if (!IsDue())
    {
        return;
    }
    const double elapsed = GetElapsedSeconds();
    m_latestPs = std::max(m_latestPs, progress.timePs); // what is executed late goes back
    // Of packets, bytes are what takes time; a packet-level run without communication is over
    // before this is called.
    const bool hasPackets = progress.packetHops > 0;
    const auto part = static_cast<double>(hasPackets ? progress.bytes : progress.tasks);
    const auto whole = static_cast<double>(hasPackets ? progress.totalBytes : progress.totalTasks);
    const double done = whole > 0 ? std::min(1.0, part / whole) : 0; // traffic may add some
    const double rate = static_cast<double>(hasPackets ? progress.packetHops : progress.tasks);
    std::ostringstream line;
    line << std::fixed << std::setprecision(0) << std::floor(100 * done) << " %, "
         << std::setprecision(1) << m_latestPs * 1e-9 << " ms simulated, " << std::setprecision(1)
         << rate / elapsed * (hasPackets ? 1e-6 : 1e-3)
         << (hasPackets ? " M packet-hops/s, " : " thousand tasks/s, ");
    if (progress.repeatedHops > 0)
    {
        line << std::setprecision(0) << 100 * static_cast<double>(progress.repeatedHops) / rate
             << " % of them repeated, ";
    }
    line << std::setprecision(0) << elapsed << " s";
    if (done > 0.01)
    {
        line << ", " << std::ceil(elapsed * (1 - done) / done) << " s left";
    }
    Show(line.str());
}

void
ProgressLine::Show(std::string text)
{
    if (!m_terminal)
    {
        std::cerr << m_name << ": " << text << std::endl;
        return;
    }
    // What does not fit would wrap, and the carriage return would go to the last line only.
    const std::string colon = ": ";
    std::string name = m_name;
    winsize window{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
    {
        const std::size_t room = window.ws_col - 1U;
        text.resize(std::min(text.size(), room));
        const std::size_t left = room - text.size();
        name.resize(std::min(name.size(), left - std::min(left, colon.size())));
    }
    text = name + (name.empty() ? "" : colon) + text;
    const std::size_t width = text.size();
    text.resize(std::max(width, m_width), ' ');
    m_width = width;
    std::cerr << '\r' << text << std::flush;
}

} // namespace proteus
} // namespace ns3
