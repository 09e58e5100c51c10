/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STOP_SIGNALS_H
#define PROTEUS_STOP_SIGNALS_H

#include "ns3/proteus-executor.h"

#include <csignal>
#include <functional>
#include <ostream>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * While it lives, notes SIGINT (Ctrl-C) and SIGTERM, so that a program can come to a consistent
 * point and write what it knows by then. A second signal of the same kind ends the program at once,
 * as usual. There can be one object at a time: signals concern the process as a whole.
 */
class StopSignals
{
  public:
    /// Catches the signals from now on.
    StopSignals();
    /// Gives them back to whoever had them.
    ~StopSignals();

    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// @return the signal that came since construction, 0 for none
    static int Get();

    /// For who can end early: @return whether a signal came; results are partial from then on.
    static bool Obey();

    /// @return whether Obey() was answered with yes
    static bool IsObeyed();

    /// @return name of the signal, "SIGINT" or "SIGTERM"
    static std::string GetName();

  private:
    struct sigaction m_interrupt; //!< what was there before, of SIGINT
    struct sigaction m_terminate; //!< the same of SIGTERM
};

/// @ingroup proteus
/// Ends a run when a signal has come.
class SignalObserver : public RunObserver
{
  public:
    // Inherited from RunObserver
    bool IsStopWanted() const override
    {
        return StopSignals::Obey();
    }
};

/// @ingroup proteus
/// @param record of a run @throw RunStopped if it is a part of one
void RequireWhole(const RunRecord& record);

/// @ingroup proteus
/// For a program with many runs, between two of them. @throw RunStopped if a signal has come
void ThrowIfStopped();

/**
 * @ingroup proteus
 * What stands in results that a signal cut short.
 * @param done how many of the rows, or runs, there are
 * @param total that there would be
 * @param things what they are, e.g. "sizes"
 * @return "Note: PARTIAL, ended by SIGINT: 3 of 12 sizes", a line with its end; empty if no signal
 * was obeyed
 */
std::string DescribeStop(std::size_t done, std::size_t total, const std::string& things);

/**
 * @ingroup proteus
 * WriteFile() for CSV: if a signal was obeyed, the first line is a comment that says so.
 * @param path the file; empty: none
 * @param write writes the content
 * @throw std::invalid_argument as WriteFile()
 */
void WriteCsvFile(const std::string& path, const std::function<void(std::ostream&)>& write);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STOP_SIGNALS_H
