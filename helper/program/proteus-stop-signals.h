/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STOP_SIGNALS_H
#define PROTEUS_STOP_SIGNALS_H

#include "ns3/proteus-executor.h"

#include <array>
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
 * While it lives, notes SIGINT (Ctrl-C), SIGTERM, and SIGHUP (a terminal that is gone) where that
 * is not ignored (nohup), so that a program can come to a consistent point and write what it knows
 * by then. A second signal of the same kind ends the program at once, as usual; so does the first
 * one where there is nothing to lose, see EndAtOnce. There can be one object at a time: signals
 * concern the process as a whole.
 */
class StopSignals
{
  public:
    /// Catches the signals from now on. @param program its name, for DescribeEarlyEnd()
    explicit StopSignals(const std::string& program);
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

    /// @return name of the signal, "SIGINT", "SIGTERM" or "SIGHUP"
    static std::string GetName();

    /// @return exit code of a program that the signal ended, a shell's: 128 and its number
    static int GetExitCode();

    /// @param signal that ended the program before it knew anything @return the line that says so
    const std::string& DescribeEarlyEnd(int signal) const;

  private:
    /// A signal that is noted.
    struct Noted
    {
        struct sigaction before; //!< what was there before
        std::string earlyEnd;    //!< see DescribeEarlyEnd(); made before any signal
    };

    std::array<Noted, 3> m_noted; //!< in the order of the .cc file's SIGNALS
};

/**
 * @ingroup proteus
 * While it lives, until somebody asks StopSignals::Obey(), a signal ends the program at once, as
 * RunStopped does in RunProgram(): for what may take long and has nothing to lose, neither results
 * nor files, such as to compile a job or to set up a network.
 */
class EndAtOnce
{
  public:
    /// @throw RunStopped if a signal has come before
    EndAtOnce();
    ~EndAtOnce();

    EndAtOnce(const EndAtOnce&) = delete;
    EndAtOnce& operator=(const EndAtOnce&) = delete;

    /// There is something to lose from now on.
    static void Cancel();
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
