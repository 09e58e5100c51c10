/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERIES_MONITOR_H
#define PROTEUS_SERIES_MONITOR_H

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/proteus-sample-clock.h"

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What monitors that look at something at regular times have in common: begin, end, interval, and
 * the file that their samples are written to.
 */
class SeriesMonitor : public Object, protected Sampler
{
  public:
    SeriesMonitor();
    ~SeriesMonitor() override;

    /**
     * Writes samples to a file from now on, as CSV with a header line. See WriteCsvHeader() of
     * the monitor.
     * @param stream to write to; what it does not take ends the run
     * @param name of its file, for that error
     */
    void SetStream(Ptr<OutputStreamWrapper> stream, const std::string& name = "the series");

    /// Takes a last sample, if time has passed since the last one, and ends. Needed only where the
    /// simulator is stopped before it has run out of events.
    void Stop();

  protected:
    void DoDispose() override;

    /// Begins, now. @throw std::invalid_argument if the interval is not above 0
    void Begin();

    /// Ends one interval and begins the next. @param sample gets its end and length,
    /// as timePs and intervalPs
    template <class Sample>
    void EndInterval(Sample& sample)
    {
        const int64_t beganPs = m_lastPs;
        m_lastPs = GetNowPs();
        sample.timePs = m_lastPs;
        sample.intervalPs = m_lastPs - beganPs;
    }

    /// Writes a line, if there is a file. @param line writes it
    void WriteLine(const std::function<void(std::ostream&)>& line);

    Time m_interval; //!< attribute of the monitors

  private:
    /// @return whether it has begun and not ended
    virtual bool IsLooking() const = 0;
    /// Lets go of what it looks at.
    virtual void Release() = 0;
    /// @param out gets the names of the columns
    virtual void WriteHeader(std::ostream& out) const = 0;

    /// @return the time of the simulator
    static int64_t GetNowPs();

    Ptr<OutputStreamWrapper> m_stream; //!< or null
    std::string m_streamName;          //!< for errors
    int64_t m_lastPs{0};               //!< time of the last sample
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERIES_MONITOR_H
