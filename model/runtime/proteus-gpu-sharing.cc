/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-sharing.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part of the memory bandwidth on the data sheet that can be had: copies of long arrays reach 0.9
/// of it on A100 and H100.
constexpr double SUSTAINED = 0.9;
/// Part of the memory bandwidth that collectives cannot take from a kernel: a fair share of two.
constexpr double LEAST_SHARE = 0.5;
/// How notes on it begin.
constexpr const char* SHARING_NOTE = "kernels beside communication took ";

} // namespace

GpuSharing::GpuSharing(const ExecutionGraph& graph,
                       std::vector<const GpuDatasheet*> gpus,
                       const RooflineModel& roofline,
                       Clock& clock,
                       std::function<CommunicationUse(TaskId)> use)
    : m_graph(graph),
      m_gpus(std::move(gpus)),
      m_roofline(roofline),
      m_clock(clock),
      m_use(std::move(use)),
      m_devices(graph.GetNDevices())
{
}

GpuSharing::Kernel
GpuSharing::MakeKernel(DeviceId device, const Task& task) const
{
    const GpuDatasheet& gpu = *m_gpus[device];
    Kernel kernel;
    kernel.alonePs = m_roofline.ComputeTimePs(task, gpu);
    kernel.startPs = m_clock.GetTimePs();
    if (task.flops == 0 && task.bytes == 0 && task.threadBlocks == 0)
    {
        return kernel; // no more than its time is known
    }
    kernel.lengthPs = static_cast<double>(kernel.alonePs) * (100 - task.hostPercent) / 100;
    if (task.durationPs < 0)
    {
        RooflineModel unhurried = m_roofline;
        unhurried.launchIntervalPs = 0;
        kernel.lengthPs = static_cast<double>(unhurried.ComputeTimePs(task, gpu));
    }
    const double arithmetic =
        task.flops / (gpu.PeakFlops(task.dataType) * m_roofline.flopsEfficiency);
    const double traffic = static_cast<double>(task.bytes) / gpu.memoryBytesPerSecond;
    kernel.isComputing =
        task.threadBlocks > 0 || arithmetic * m_roofline.memoryEfficiency >= traffic;
    constexpr double PS_PER_S = 1e12;
    kernel.memoryDemand = kernel.isComputing && kernel.lengthPs > 0
                              ? std::min(1.0, traffic / SUSTAINED * PS_PER_S / kernel.lengthPs)
                              : 1;
    if (task.threadBlocks > 0 && kernel.lengthPs > 0)
    {
        const uint64_t all = gpu.multiprocessors;
        const uint64_t waves = (task.threadBlocks + all - 1) / all;
        kernel.waves.emplace(task.threadBlocks,
                             kernel.lengthPs / static_cast<double>(waves),
                             GetProcessors(device));
    }
    return kernel;
}

uint32_t
GpuSharing::GetProcessors(DeviceId device) const
{
    const uint32_t taken = m_devices[device].multiprocessors;
    const uint32_t all = m_gpus[device]->multiprocessors;
    return taken < all ? all - taken : 1;
}

double
GpuSharing::GetPace(DeviceId device, const Kernel& kernel) const
{
    const GpuDatasheet& gpu = *m_gpus[device];
    const double drawn =
        m_devices[device].memoryBytesPerSecond / (gpu.memoryBytesPerSecond * SUSTAINED);
    const double left = std::max(LEAST_SHARE, 1 - drawn);
    const double processors = kernel.isComputing ? static_cast<double>(GetProcessors(device)) /
                                                       static_cast<double>(gpu.multiprocessors)
                                                 : 1;
    // On fewer multiprocessors it wants less of the memory.
    const double wanted = kernel.memoryDemand * processors;
    const double ofMemory = wanted > left ? left / wanted : 1;
    return kernel.waves ? ofMemory : ofMemory * processors;
}

void
GpuSharing::StartKernel(DeviceId device, const Task& task, std::function<void()> done)
{
    BeginMoves(device);
    Advance(device, m_clock.GetTimePs());
    Kernel kernel = MakeKernel(device, task);
    kernel.id = m_kernels++;
    kernel.done = std::move(done);
    auto& kernels = m_devices[device].kernels;
    kernels.push_back(std::move(kernel));
    Predict(device, kernels.back(), m_clock.GetTimePs());
}

void
GpuSharing::Advance(DeviceId device, int64_t timePs)
{
    Device& state = m_devices[device];
    const int64_t passed = timePs - state.sincePs;
    const bool isShared = state.multiprocessors > 0 || state.memoryBytesPerSecond > 0;
    for (Kernel& kernel : state.kernels)
    {
        kernel.workPs += static_cast<double>(passed) * GetPace(device, kernel);
        m_statistics.besidePs += isShared ? passed : 0;
    }
    state.sincePs = timePs;
}

void
GpuSharing::Retime(DeviceId device, int64_t timePs)
{
    for (Kernel& kernel : m_devices[device].kernels)
    {
        if (kernel.waves)
        {
            kernel.waves->SetProcessors(kernel.workPs, GetProcessors(device));
        }
        Predict(device, kernel, timePs);
    }
}

void
GpuSharing::Predict(DeviceId device, Kernel& kernel, int64_t timePs)
{
    const double end = kernel.waves ? kernel.waves->GetEnd() : kernel.lengthPs;
    const double rest = std::max(0.0, end - kernel.workPs) / GetPace(device, kernel);
    const int64_t endPs =
        std::max<int64_t>(kernel.startPs + kernel.alonePs, timePs + std::llround(rest));
    if (kernel.version > 0 && endPs == kernel.endPs)
    {
        return;
    }
    kernel.endPs = endPs;
    m_clock.Schedule(device,
                     std::max<int64_t>(0, endPs - m_clock.GetTimePs()),
                     [this, device, id = kernel.id, version = ++kernel.version]() {
                         Finish(device, id, version);
                     });
}

void
GpuSharing::Finish(DeviceId device, uint64_t id, uint32_t version)
{
    BeginMoves(device);
    auto& kernels = m_devices[device].kernels;
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [id](const Kernel& other) {
        return other.id == id;
    });
    if (kernel == kernels.end() || kernel->version != version)
    {
        return; // its share has changed since
    }
    Advance(device, m_clock.GetTimePs());
    m_statistics.addedPs += kernel->endPs - kernel->startPs - kernel->alonePs;
    const std::function<void()> done = std::move(kernel->done);
    kernels.erase(kernel);
    done(); // which may start the next kernel
}

void
GpuSharing::Change(DeviceId device,
                   int64_t multiprocessors,
                   double memoryBytesPerSecond,
                   int64_t timePs)
{
    Advance(device, timePs);
    Device& state = m_devices[device];
    state.multiprocessors =
        static_cast<uint32_t>(static_cast<int64_t>(state.multiprocessors) + multiprocessors);
    state.memoryBytesPerSecond += memoryBytesPerSecond;
    if (state.communications == 0)
    {
        state.memoryBytesPerSecond = 0; // what rounding left
    }
    Retime(device, timePs);
}

GpuSharing::Open&
GpuSharing::GetOpen(TaskInstance instance)
{
    const auto [place, isNew] = m_open.emplace(instance, Open());
    Open& open = place->second;
    if (isNew)
    {
        open.use = m_use(instance.task);
        if (m_ranks.isLocal)
        {
            const auto& group = m_graph.GetGroup(m_graph.GetTask(instance.task).place);
            open.nHere =
                static_cast<uint32_t>(std::count_if(group.begin(), group.end(), m_ranks.isLocal));
        }
    }
    return open;
}

void
GpuSharing::Join(DeviceId device, TaskInstance instance)
{
    BeginMoves(device);
    const Task& task = m_graph.GetTask(instance.task);
    const auto& group = m_graph.GetGroup(task.place);
    const int64_t now = m_clock.GetTimePs();
    Open& open = GetOpen(instance);
    const bool isPosted = task.collective == Collective::SEND_RECV && device != group.front();
    open.parts.push_back({device, isPosted});
    ++m_devices[device].communications;
    if (!isPosted)
    {
        Change(device, open.use.multiprocessors, 0, now);
    }
    open.lastJoinPs = now;
    ++open.joined;
    if (++open.joinedHere == open.nHere && open.nHere < group.size())
    {
        m_ranks.tell(instance, open.nHere);
    }
    if (HaveAllJoined(instance))
    {
        SetMove(instance);
    }
}

void
GpuSharing::JoinElsewhere(TaskInstance instance, uint32_t devices, int64_t timePs)
{
    Open& open = GetOpen(instance);
    open.lastJoinPs = std::max(open.lastJoinPs, timePs);
    open.joined += devices;
    if (!HaveAllJoined(instance))
    {
        return;
    }
    if (open.parts.empty())
    {
        m_open.erase(instance);
        return;
    }
    if (open.lastJoinPs + open.use.newsPs <= m_clock.GetTimePs())
    {
        throw std::logic_error("GpuSharing: a process hears too late that another one has joined");
    }
    SetMove(instance);
}

bool
GpuSharing::HaveAllJoined(TaskInstance instance) const
{
    const GroupId group = m_graph.GetTask(instance.task).place;
    return m_open.at(instance).joined == m_graph.GetGroup(group).size();
}

void
GpuSharing::SetMove(TaskInstance instance)
{
    const Open& open = m_open.at(instance);
    Move move{open.lastJoinPs + open.use.newsPs, instance, open.use};
    std::vector<DeviceId> devices;
    for (const Part& part : open.parts)
    {
        move.more.multiprocessors = part.isPosted ? open.use.multiprocessors : 0;
        auto& moves = m_devices[part.device].moves;
        const auto isEarlier = [](const Move& a, const Move& b) {
            return std::tie(a.timePs, a.instance) < std::tie(b.timePs, b.instance);
        };
        moves.insert(std::upper_bound(moves.begin(), moves.end(), move, isEarlier), move);
        devices.push_back(part.device);
    }
    const auto begin = [this, devices] {
        for (const DeviceId device : devices)
        {
            BeginMoves(device);
        }
    };
    const int64_t now = m_clock.GetTimePs();
    if (move.timePs == now)
    {
        begin();
        return;
    }
    m_clock.Schedule(devices.front(), move.timePs - now, begin);
}

void
GpuSharing::BeginMoves(DeviceId device)
{
    auto& moves = m_devices[device].moves;
    while (!moves.empty() && moves.front().timePs <= m_clock.GetTimePs())
    {
        const Move move = moves.front();
        moves.erase(moves.begin());
        Change(device, move.more.multiprocessors, move.more.memoryBytesPerSecond, move.timePs);
    }
}

void
GpuSharing::Leave(DeviceId device, TaskInstance instance)
{
    BeginMoves(device);
    const auto place = m_open.find(instance);
    Open& open = place->second;
    const auto part = std::find_if(open.parts.begin(), open.parts.end(), [device](const Part& p) {
        return p.device == device;
    });
    auto& moves = m_devices[device].moves;
    const auto move = std::find_if(moves.begin(), moves.end(), [instance](const Move& one) {
        return one.instance == instance;
    });
    const bool isMoving = HaveAllJoined(instance) && move == moves.end();
    if (move != moves.end())
    {
        moves.erase(move); // it was done before it knew
    }
    --m_devices[device].communications;
    Change(device,
           isMoving || !part->isPosted ? -static_cast<int64_t>(open.use.multiprocessors) : 0,
           isMoving ? -open.use.memoryBytesPerSecond : 0,
           m_clock.GetTimePs());
    open.parts.erase(part);
    if (open.parts.empty() && HaveAllJoined(instance))
    {
        m_open.erase(place);
    }
}

bool
IsSharingNote(const std::string& note)
{
    return note.rfind(SHARING_NOTE, 0) == 0;
}

void
AddSharingNote(const SharingStatistics& statistics, uint32_t devices, RunRecord& record)
{
    if (statistics.addedPs == 0)
    {
        return;
    }
    constexpr double PS_PER_MS = 1e9;
    const double added = static_cast<double>(statistics.addedPs);
    const double alone = static_cast<double>(statistics.besidePs) - added;
    std::ostringstream text;
    text << std::fixed << std::setprecision(3) << SHARING_NOTE << added / devices / PS_PER_MS
         << " ms longer on the mean GPU, " << std::setprecision(1) << 100 * added / alone
         << " % of what they take alone there (--gpuSharing=off is without)";
    record.notes.push_back(text.str());
}

} // namespace proteus
} // namespace ns3
