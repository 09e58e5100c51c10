/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-result-tables.h"

#include "proteus-breakdown.h"
#include "proteus-hot-spots.h"
#include "proteus-time-account.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;
constexpr std::size_t MOST_HOT_SPOTS = 50;

using Row = std::vector<Cell>;

double
Seconds(int64_t ps)
{
    return static_cast<double>(ps) / PS_PER_S;
}

/// @param part @param whole @return part / whole, 0 where there is no whole
double
Share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/// @return number of bytes or things as it is; nothing for 0
Cell
OrNothing(double value)
{
    return value > 0 ? Cell(value) : Cell();
}

Column
ExecutorColumn()
{
    return {"executor", "", "who ran the graph; \"packet\": every packet is simulated"};
}

/// @return how tables call a parallelism
std::string
NameOf(Parallelism parallelism)
{
    return parallelism == Parallelism::NONE ? "other" : ToString(parallelism);
}

/// @return whether two kinds of communication are the same
bool
IsAlike(const CollectiveUse& a, const CollectiveUse& b)
{
    return a.collective == b.collective && a.parallelism == b.parallelism && a.bytes == b.bytes &&
           a.ranks == b.ranks && a.servers == b.servers;
}

/// Makes the tables of a run.
class Maker
{
  public:
    explicit Maker(const ReportedRun& input)
        : m_input(input)
    {
        if (input.results.empty())
        {
            throw std::invalid_argument("report: there is no result");
        }
        for (const RunRecord& result : input.results)
        {
            Summary summary = Summarize(input.graph,
                                        input.cluster,
                                        result.timeline,
                                        result.links,
                                        result.network,
                                        input.dataType);
            summary.wallS = result.wallS;
            m_summaries.push_back(std::move(summary));
            m_links.push_back(BusiestLinks(input.cluster,
                                           result.links,
                                           result.timeline.endPs,
                                           std::numeric_limits<std::size_t>::max()));
        }
    }

    std::vector<Table> Make() const
    {
        std::vector<Table> tables{MakeRun(),
                                  MakeSummary(),
                                  MakeBreakdown(),
                                  MakeTimeAccounts(),
                                  MakePhases(),
                                  MakeCollectives(),
                                  MakeLinks(),
                                  MakeHotSpots(),
                                  MakeMemory()};
        if (m_input.results.size() > 1)
        {
            tables.push_back(MakeComparison());
        }
        return tables;
    }

  private:
    Table MakeRun() const;
    Table MakeSummary() const;
    Table MakeBreakdown() const;
    Table MakeTimeAccounts() const;
    Table MakePhases() const;
    Table MakeCollectives() const;
    Table MakeLinks() const;
    Table MakeHotSpots() const;
    Table MakeMemory() const;
    Table MakeComparison() const;

    /// @return vertex of a device's GPU
    const Vertex& GetGpu(DeviceId device) const
    {
        return m_input.cluster.GetVertices()[m_input.cluster.GetGpus()[device]];
    }

    const ReportedRun& m_input;
    std::vector<Summary> m_summaries;
    std::vector<std::vector<LinkUse>> m_links;
};

Table
Maker::MakeRun() const
{
    Table table{"run",
                "Run",
                "What was run, and how.",
                {{"item", "", "what"}, {"value", "", "its value"}},
                {}};
    const RunInformation& information = m_input.information;
    const auto add = [&](const std::string& item, const std::string& value) {
        table.rows.push_back({item, value});
    };
    add("command", information.command);
    add("proteus version", information.version);
    add("ns-3 version", information.ns3Version);
    add("graph", m_summaries.front().graph);
    add("devices", std::to_string(m_input.graph.GetNDevices()));
    add("tasks", std::to_string(m_input.graph.GetNTasks()));
    add("cluster", m_input.cluster.GetName());
    add("GPU", m_summaries.front().gpu);
    add("servers", std::to_string(m_input.cluster.GetNServers()));
    add("vertices", std::to_string(m_input.cluster.GetVertices().size()));
    add("links", std::to_string(m_input.cluster.GetLinks().size()));
    for (const RunInput& file : information.inputs)
    {
        std::string crc;
        for (int shift = 28; shift >= 0; shift -= 4)
        {
            crc += "0123456789abcdef"[file.crc32 >> shift & 15U];
        }
        add("input",
            file.path + (file.files > 1 ? ", " + std::to_string(file.files) + " files" : "") +
                ", " + std::to_string(file.bytes) + " bytes, CRC-32 " + crc);
    }
    return table;
}

Table
Maker::MakeSummary() const
{
    Table table{"summary",
                "Summary",
                "One number each; times and shares are means over the GPUs where they differ.",
                {ExecutorColumn(),
                 {"quantity", "", "what"},
                 {"value", "", "a number, or text"},
                 {"unit", "", "of the number"}},
                {}};
    for (std::size_t i = 0; i < m_summaries.size(); ++i)
    {
        const Summary& s = m_summaries[i];
        const NetworkStatistics& n = s.network;
        const double hidden = 1 - Share(s.mean.exposedCommunicationS, s.mean.communicationS);
        std::vector<std::tuple<const char*, Cell, const char*>> lines{
            {"iteration time", s.iterationS, "s"},
            {"tokens", OrNothing(s.tokensPerS), "1/s"},
            {"samples", OrNothing(s.samplesPerS), "1/s"},
            {"model FLOP utilisation", OrNothing(s.modelFlopUtilisation), "share"},
            {"model FLOPs per iteration", OrNothing(s.modelFlops), "FLOP"},
            {"peak of all GPUs", s.peakFlops, "FLOP/s"},
            {"compute", s.mean.computeS, "s"},
            {"exposed communication", s.mean.exposedCommunicationS, "s"},
            {"idle", s.mean.idleS, "s"},
            {"communication in flight", s.mean.communicationS, "s"},
            {"communication hidden behind compute",
             s.mean.communicationS > 0 ? Cell(hidden) : Cell(),
             "share"},
            {"peak memory of the fullest GPU", s.peakMemoryBytes, "B"},
            {"memory of that GPU", s.memoryCapacityBytes, "B"},
            {"fullest GPU", s.gpuNames.at(s.peakMemoryDevice), ""},
            {"fits in memory",
             std::string(s.outOfMemory            ? "no"
                         : s.peakMemoryBytes == 0 ? "not known"
                                                  : "yes"),
             ""},
            {"packets", n.packets, ""},
            {"control packets", n.controlPackets, ""},
            {"packet-hops", n.packetHops, ""},
            {"events", n.events, ""},
            {"messages", n.messages, ""},
            {"queue pairs", n.queuePairs, ""},
            {"wall time", s.wallS, "s"},
            {"congestion", s.congestion, ""},
        };
        for (auto& line : lines)
        {
            table.rows.push_back({m_input.results[i].executor,
                                  std::string(std::get<0>(line)),
                                  std::move(std::get<1>(line)),
                                  std::string(std::get<2>(line))});
        }
    }
    return table;
}

Table
Maker::MakeBreakdown() const
{
    Table table{"breakdown",
                "Iteration by GPU",
                "compute_s + exposed_communication_s + idle_s = iteration_s for every GPU.",
                {ExecutorColumn(),
                 {"device", "", "rank"},
                 {"gpu", "", "name in the cluster"},
                 {"iteration_s", "s", "from the start to the end of the last task of all GPUs"},
                 {"compute_s", "s", "a compute task runs"},
                 {"exposed_communication_s", "s", "none runs, and communication is in flight"},
                 {"idle_s", "s", "neither"},
                 {"communication_s", "s", "communication is in flight, exposed or not"},
                 {"hidden_share", "share", "of communication_s: a compute task runs meanwhile"},
                 {"activity_s", "s", "from the begin of the first to the end of the last activity"},
                 {"idle_between_s", "s", "idle within activity_s"}},
                {}};
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        table.columns.push_back({"exposed_" + NameOf(parallelism) + "_s",
                                 "s",
                                 "of exposed_communication_s: for " + NameOf(parallelism) +
                                     (parallelism == Parallelism::NONE ? "" : " parallelism")});
    }
    for (const RunRecord& result : m_input.results)
    {
        const auto breakdowns = BreakDown(m_input.graph, result.timeline);
        for (DeviceId device = 0; device < breakdowns.size(); ++device)
        {
            const DeviceBreakdown& b = breakdowns[device];
            const auto communication = static_cast<double>(b.communicationPs);
            Row row{result.executor,
                    uint64_t{device},
                    GetGpu(device).name,
                    Seconds(b.totalPs),
                    Seconds(b.computePs),
                    Seconds(b.GetExposedPs()),
                    Seconds(b.idlePs),
                    Seconds(b.communicationPs),
                    communication > 0
                        ? Cell(1 - static_cast<double>(b.GetExposedPs()) / communication)
                        : Cell(),
                    Seconds(b.activityPs),
                    Seconds(b.GetIdleBetweenPs())};
            for (Parallelism parallelism : EXPOSURE_PRIORITY)
            {
                row.emplace_back(Seconds(b.GetExposedPs(parallelism)));
            }
            table.rows.push_back(std::move(row));
        }
    }
    return table;
}

Table
Maker::MakeTimeAccounts() const
{
    Table table{
        "time_accounts",
        "Computing and waiting",
        "computing_s + waiting_for_data_s + waiting_for_peers_s + idle_s = iteration_s for "
        "every GPU.",
        {ExecutorColumn(),
         {"device", "", "rank"},
         {"gpu", "", "name in the cluster"},
         {"iteration_s", "s", "from the start to the end of the last task of all GPUs"},
         {"computing_s", "s", "a compute task runs"},
         {"waiting_for_data_s",
          "s",
          "none runs, and a communication that all its ranks have joined is in flight"},
         {"waiting_for_peers_s", "s", "neither, and a communication waits for other ranks to join"},
         {"idle_s", "s", "none of these"}},
        {}};
    for (const RunRecord& result : m_input.results)
    {
        const auto accounts = AccountTime(m_input.graph, result.timeline);
        for (DeviceId device = 0; device < accounts.size(); ++device)
        {
            const TimeAccount& account = accounts[device];
            table.rows.push_back({result.executor,
                                  uint64_t{device},
                                  GetGpu(device).name,
                                  Seconds(account.GetTotalPs()),
                                  Seconds(account.busyPs),
                                  Seconds(account.dataPs),
                                  Seconds(account.peersPs),
                                  Seconds(account.idlePs)});
        }
    }
    return table;
}

Table
Maker::MakePhases() const
{
    Table table{
        "phases",
        "Phases",
        "Times of a phase add up its tasks, and may overlap; means over the GPUs that have any.",
        {ExecutorColumn(),
         {"phase", "", "name in the graph"},
         {"micro_batches", "", "how often it runs"},
         {"gpus", "", "that have tasks of it"},
         {"compute_s", "s", "sum of its compute tasks on a GPU"},
         {"communication_s",
          "s",
          "sum of its communications on a GPU, waiting for others included"},
         {"start_s", "s", "begin of its first task"},
         {"end_s", "s", "end of its last task"}},
        {}};
    const auto& phases = m_input.graph.GetPhases();
    for (const RunRecord& result : m_input.results)
    {
        struct Sums
        {
            std::set<DeviceId> devices;
            double computePs{0};
            double communicationPs{0};
            int64_t startPs{std::numeric_limits<int64_t>::max()};
            int64_t endPs{0};
        };

        std::vector<Sums> sums(phases.size());
        for (const Span& span : result.timeline.spans)
        {
            const Task& task = m_input.graph.GetTask(span.task);
            Sums& sum = sums[task.phase];
            sum.devices.insert(span.device);
            (task.kind == TaskKind::COMPUTE ? sum.computePs : sum.communicationPs) +=
                static_cast<double>(span.endPs - span.startPs);
            sum.startPs = std::min(sum.startPs, span.startPs);
            sum.endPs = std::max(sum.endPs, span.endPs);
        }
        for (std::size_t i = 0; i < phases.size(); ++i)
        {
            const auto n = static_cast<double>(sums[i].devices.size());
            if (n > 0)
            {
                table.rows.push_back({result.executor,
                                      phases[i].name,
                                      uint64_t{phases[i].microBatches},
                                      uint64_t{sums[i].devices.size()},
                                      sums[i].computePs / n / PS_PER_S,
                                      sums[i].communicationPs / n / PS_PER_S,
                                      Seconds(sums[i].startPs),
                                      Seconds(sums[i].endPs)});
            }
        }
    }
    return table;
}

Table
Maker::MakeCollectives() const
{
    Table table{"collectives",
                "Collectives",
                "Communication by kind. Times count from the moment the last rank joins. Bandwidth "
                "as nccl-tests defines it; the ideal is what the links of a group alone allow.",
                {ExecutorColumn(),
                 {"collective", "", "what"},
                 {"parallelism", "", "that it serves"},
                 {"bytes", "B", "size as nccl-tests counts it"},
                 {"ranks", "", "of a group"},
                 {"servers", "", "that a group is spread over"},
                 {"count", "", "how often, all groups and micro-batches"},
                 {"mean_s", "s", "from the last rank's joining to the last rank's end, mean"},
                 {"least_s", "s", "the shortest"},
                 {"most_s", "s", "the longest"},
                 {"wait_s", "s", "from a rank's joining to the last rank's, mean"},
                 {"algbw_bytes_per_s", "B/s", "bytes / mean_s"},
                 {"busbw_bytes_per_s", "B/s", "algbw times the factor of the collective"},
                 {"ideal_busbw_bytes_per_s", "B/s", "of the group's links, headers not deducted"},
                 {"ideal_share", "share", "busbw / ideal"}},
                {}};
    for (std::size_t i = 0; i < m_summaries.size(); ++i)
    {
        for (const CollectiveUse& use : m_summaries[i].collectives)
        {
            table.rows.push_back({m_input.results[i].executor,
                                  std::string(ToString(use.collective)),
                                  NameOf(use.parallelism),
                                  use.bytes,
                                  uint64_t{use.ranks},
                                  uint64_t{use.servers},
                                  use.count,
                                  use.meanS,
                                  use.leastS,
                                  use.mostS,
                                  use.waitS,
                                  OrNothing(use.algorithmBytesPerS),
                                  OrNothing(use.busBytesPerS),
                                  OrNothing(use.idealBytesPerS),
                                  OrNothing(Share(use.busBytesPerS, use.idealBytesPerS))});
        }
    }
    return table;
}

Table
Maker::MakeLinks() const
{
    Table table{"links",
                "Links",
                "Every direction of a link that carried something, busiest first. Shares are of "
                "the iteration. An executor without packets knows no packets, stalls and queues.",
                {ExecutorColumn(),
                 {"link", "", "from -> to"},
                 {"technology", "", "of the link"},
                 {"rate_bytes_per_s", "B/s", "raw rate of the direction"},
                 {"busy_share", "share", "transmitting"},
                 {"payload_bytes_per_s", "B/s", "mean over the iteration"},
                 {"payload_bytes", "B", "sent"},
                 {"wire_bytes", "B", "sent, headers included"},
                 {"packets", "", "units sent, control units included"},
                 {"stalled_share", "share", "a unit ready, and the receiver's buffer full"},
                 {"paused_share", "share", "at least one traffic class paused by PFC"},
                 {"pauses", "", "PFC pauses received"},
                 {"marked_packets", "", "marked by ECN while they waited for the link"},
                 {"lost_packets", "", "on the wire"},
                 {"dropped_packets", "", "for want of room or of a way at its end"},
                 {"max_queue_bytes", "B", "most wire bytes that waited for the link at once"}},
                {}};
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        for (const LinkUse& use : m_links[i])
        {
            const auto ofPackets = [&use](auto value) {
                return use.packets > 0 ? Cell(value) : Cell();
            };
            table.rows.push_back({m_input.results[i].executor,
                                  use.name,
                                  std::string(ToString(use.technology)),
                                  use.rateBytesPerSecond,
                                  use.utilisation,
                                  use.payloadBytesPerSecond,
                                  use.payloadBytes,
                                  use.wireBytes,
                                  ofPackets(use.packets),
                                  ofPackets(use.creditStallShare),
                                  ofPackets(use.pausedShare),
                                  ofPackets(use.pauses),
                                  ofPackets(use.markedPackets),
                                  ofPackets(use.lostPackets),
                                  ofPackets(use.droppedPackets),
                                  ofPackets(use.maxQueueBytes)});
        }
    }
    return table;
}

Table
Maker::MakeHotSpots() const
{
    Table table{"hot_spots",
                "Hot spots",
                "Links that were held up (paused, or without room at their end), then long queues "
                "in switches; and who is to blame.",
                {ExecutorColumn(),
                 {"link", "", "from -> to"},
                 {"held_share", "share", "of the iteration: paused, or waiting for room"},
                 {"max_queue_bytes", "B", "most wire bytes that waited at once"},
                 {"drain_s", "s", "that the longest queue of a switch takes to leave"},
                 {"cause", "", "link or device that is to blame"},
                 {"sentence", "", "all of it in words"}},
                {}};
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        for (const HotSpot& spot : FindHotSpots(m_input.cluster, m_links[i], MOST_HOT_SPOTS))
        {
            table.rows.push_back({m_input.results[i].executor,
                                  spot.link.name,
                                  spot.heldShare,
                                  spot.link.maxQueueBytes,
                                  spot.drainS,
                                  spot.cause,
                                  spot.sentence});
        }
    }
    return table;
}

Table
Maker::MakeMemory() const
{
    Table table{"memory",
                "Memory",
                "Allocated bytes of every GPU.",
                {ExecutorColumn(),
                 {"device", "", "rank"},
                 {"gpu", "", "name in the cluster"},
                 {"model", "", "data sheet of the GPU"},
                 {"peak_bytes", "B", "most bytes allocated at once"},
                 {"peak_s", "s", "when that was first so"},
                 {"capacity_bytes", "B", "of the data sheet"},
                 {"used_share", "share", "peak / capacity"}},
                {}};
    for (const RunRecord& result : m_input.results)
    {
        for (DeviceId device = 0; device < m_input.graph.GetNDevices(); ++device)
        {
            const Vertex& gpu = GetGpu(device);
            const uint64_t capacity = FindGpuDatasheet(gpu.model).memoryBytes;
            const uint64_t peak = result.timeline.peakMemoryBytes.at(device);
            Cell when;
            if (device < result.timeline.memory.size())
            {
                const auto& samples = result.timeline.memory[device];
                const auto found = std::find_if(
                    samples.begin(),
                    samples.end(),
                    [peak](const MemorySample& sample) { return sample.bytes >= peak; });
                when = found == samples.end() ? Cell() : Cell(Seconds(found->timePs));
            }
            table.rows.push_back({result.executor,
                                  uint64_t{device},
                                  gpu.name,
                                  gpu.model,
                                  peak,
                                  when,
                                  capacity,
                                  Share(static_cast<double>(peak), static_cast<double>(capacity))});
        }
    }
    return table;
}

Table
Maker::MakeComparison() const
{
    const std::string& reference = m_input.results.front().executor;
    Table table{"comparison",
                "Executors side by side",
                "The same graph on the same cluster, by several executors.",
                {{"quantity", "", "what"}, {reference + "_s", "s", "by the executor " + reference}},
                {}};
    for (std::size_t i = 1; i < m_input.results.size(); ++i)
    {
        const std::string& executor = m_input.results[i].executor;
        table.columns.push_back({executor + "_s", "s", "by the executor " + executor});
        table.columns.push_back({executor + "_difference",
                                 "share",
                                 "how much more that is than by the executor " + reference});
    }
    const auto add = [&](const std::string& quantity, auto get) {
        const double first = get(m_summaries.front());
        Row row{quantity, first};
        double most = first;
        for (std::size_t i = 1; i < m_summaries.size(); ++i)
        {
            const double other = get(m_summaries[i]);
            most = std::max(most, other);
            row.emplace_back(other);
            row.push_back(first > 0 ? Cell(other / first - 1) : Cell());
        }
        if (most > 0)
        {
            table.rows.push_back(std::move(row));
        }
    };
    add("iteration time", [](const Summary& s) { return s.iterationS; });
    add("compute, mean", [](const Summary& s) { return s.mean.computeS; });
    add("exposed communication, mean",
        [](const Summary& s) { return s.mean.exposedCommunicationS; });
    for (Parallelism parallelism : EXPOSURE_PRIORITY)
    {
        const auto i = static_cast<std::size_t>(parallelism);
        add("exposed to " + NameOf(parallelism) + ", mean",
            [i](const Summary& s) { return s.mean.exposedS[i]; });
    }
    add("idle, mean", [](const Summary& s) { return s.mean.idleS; });
    for (const CollectiveUse& use : m_summaries.front().collectives)
    {
        add(std::string(ToString(use.collective)) + " for " + NameOf(use.parallelism) + ", " +
                FormatBytes(static_cast<double>(use.bytes)) + ", " + std::to_string(use.ranks) +
                " ranks in " + std::to_string(use.servers),
            [&use](const Summary& s) {
                const auto same = std::find_if(
                    s.collectives.begin(),
                    s.collectives.end(),
                    [&use](const CollectiveUse& other) { return IsAlike(use, other); });
                return same == s.collectives.end() ? 0 : same->meanS;
            });
    }
    add("wall time of the simulation", [](const Summary& s) { return s.wallS; });
    return table;
}

} // namespace

std::vector<Table>
MakeResultTables(const ReportedRun& input)
{
    return Maker(input).Make();
}

} // namespace proteus
} // namespace ns3
