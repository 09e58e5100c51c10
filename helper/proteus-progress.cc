/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-progress.h"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double TERMINAL_SECONDS = 0.25; //!< between two updates of a terminal
constexpr double PLAIN_SECONDS = 5;       //!< between two plain lines

} // namespace

ProgressLine::ProgressLine()
    : m_terminal(isatty(STDERR_FILENO) != 0),
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

void
ProgressLine::Update(const TrainingJob::Progress& progress)
{
    const double elapsed = GetElapsedSeconds();
    if (elapsed < m_nextSeconds)
    {
        return;
    }
    m_nextSeconds = elapsed + (m_terminal ? TERMINAL_SECONDS : PLAIN_SECONDS);
    // Bytes are what takes time; a run without communication is over before this is called.
    const double done = progress.totalBytes > 0 ? static_cast<double>(progress.bytes) /
                                                      static_cast<double>(progress.totalBytes)
                                                : 0;
    std::ostringstream line;
    line << std::fixed << "simulating " << std::setprecision(0) << std::floor(100 * done) << " %, "
         << std::setprecision(1) << progress.timePs * 1e-9 << " ms simulated, "
         << std::setprecision(1) << progress.packetHops / elapsed * 1e-6 << " M packet-hops/s, "
         << std::setprecision(0) << elapsed << " s";
    if (done > 0.01)
    {
        line << ", about " << std::ceil(elapsed * (1 - done) / done) << " s left";
    }
    std::string text = line.str();
    if (!m_terminal)
    {
        std::cerr << text << std::endl;
        return;
    }
    const std::size_t width = text.size();
    text.resize(std::max(width, m_width), ' ');
    m_width = width;
    std::cerr << '\r' << text << std::flush;
}

} // namespace proteus
} // namespace ns3
