/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPU_APPLICATION_H
#define PROTEUS_GPU_APPLICATION_H

#include "ns3/application.h"
#include "ns3/proteus-device-runtime.h"
#include "ns3/traced-callback.h"

#include <memory>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The application of one GPU: runs its device's part of an execution graph on the simulator's
 * clock, from its StartTime on.
 */
class GpuApplication : public Application
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    GpuApplication();
    ~GpuApplication() override;

    /**
     * @param runtime of the device; the application starts it
     */
    void SetRuntime(std::unique_ptr<DeviceRuntime> runtime);

    /// @return whether GetRuntime() has one: from SetRuntime() to Dispose()
    bool HasRuntime() const
    {
        return m_runtime != nullptr;
    }

    /// @return the runtime of the device
    const DeviceRuntime& GetRuntime() const
    {
        return *m_runtime;
    }

    /**
     * The signature of "TaskEnd".
     * @param span what has ended
     */
    typedef void (*SpanTracedCallback)(const Span& span);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    std::unique_ptr<DeviceRuntime> m_runtime;   //!< does the work
    bool m_isDisposed{false};                   //!< whether its job is gone
    TracedCallback<const Span&> m_taskEndTrace; //!< a task has ended
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPU_APPLICATION_H
