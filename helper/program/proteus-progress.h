/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRESS_H
#define PROTEUS_PROGRESS_H

#include "ns3/proteus-executor.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Tells on stderr how far a run is: on a terminal by one line that is rewritten, elsewhere by a
 * plain line every few seconds. It says nothing of a run that is over within two seconds.
 */
class ProgressLine
{
  public:
    /// @param name of the run, before everything that is said; of a narrow terminal cut short
    explicit ProgressLine(std::string name = "simulating");

    /// Wipes the line off a terminal.
    ~ProgressLine();

    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// @param progress of the job; call it as often as you like
    void Update(const RunProgress& progress);

    /// @param text of a program that has no job; shown as often as Update() shows progress
    void Say(const std::string& text);

    /// @return seconds of wall time since construction
    double GetElapsedSeconds() const;

  private:
    using WallClock = std::chrono::steady_clock;

    /// @return whether it is time for another line; if so, sets the time of the next
    bool IsDue();

    /// @param text to show
    void Show(std::string text);

    std::string m_name;            //!< of the run
    bool m_terminal;               //!< whether stderr is one
    WallClock::time_point m_start; //!< construction
    int64_t m_latestPs{0};         //!< simulated, that was shown
    double m_nextSeconds{2};       //!< elapsed time of the next line
    std::size_t m_width{0};        //!< of the line that stands on the terminal
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRESS_H
