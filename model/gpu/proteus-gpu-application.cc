/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-application.h"

#include "ns3/log.h"
#include "ns3/proteus-number-text.h"
#include "ns3/simulator.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusGpuApplication");
NS_OBJECT_ENSURE_REGISTERED(GpuApplication);

TypeId
GpuApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::GpuApplication")
            .SetParent<Application>()
            .SetGroupName("Proteus")
            .AddConstructor<GpuApplication>()
            .AddTraceSource("TaskEnd",
                            "A task of the device has ended.",
                            MakeTraceSourceAccessor(&GpuApplication::m_taskEndTrace),
                            "ns3::proteus::GpuApplication::SpanTracedCallback");
    return tid;
}

GpuApplication::GpuApplication()
{
    NS_LOG_FUNCTION(this);
}

GpuApplication::~GpuApplication()
{
    NS_LOG_FUNCTION(this);
}

void
GpuApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_isDisposed = true;
    m_runtime.reset();
    Application::DoDispose();
}

void
GpuApplication::SetRuntime(std::unique_ptr<DeviceRuntime> runtime)
{
    m_runtime = std::move(runtime);
    m_runtime->SetSpanSink([this](const Span& span) { m_taskEndTrace(span); });
}

void
GpuApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_isDisposed) // its node was not initialized before, and does not know
    {
        return;
    }
    if (!m_runtime)
    {
        throw std::logic_error("GpuApplication: SetRuntime() was not called");
    }
    m_runtime->Start();
}

void
GpuApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_runtime && !m_runtime->IsDone())
    {
        throw std::runtime_error("ns3::Application::StopTime, " +
                                 FormatTime(Simulator::Now().GetSeconds()) +
                                 ", is before the last task of a GPU: a job runs to its end, "
                                 "unless TrainingJob::Stop() ends it");
    }
}

} // namespace proteus
} // namespace ns3
