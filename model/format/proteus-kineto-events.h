/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KINETO_EVENTS_H
#define PROTEUS_KINETO_EVENTS_H

#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a trace of PyTorch's profiler says, before anything is concluded from it. Times in
 * microseconds, as there.
 */

namespace ns3
{
namespace proteus
{

/// Events of a Kineto trace.
namespace kineto
{

/// Largest time in a trace, microseconds: 300 years after 1970.
constexpr double MAX_TIME_US = 1e16;

/// Something that ran on the GPU.
struct GpuEvent
{
    uint32_t name{0};
    int64_t stream{0};
    double startUs{0};
    double durationUs{0};
    int64_t correlation{-1};
    uint32_t communication{NO_ID}; //!< position in Rank::communications
    bool isCopy{false};

    double EndUs() const
    {
        return startUs + durationUs;
    }
};

/// A call of the CUDA runtime or driver.
struct HostCall
{
    /// What the call does.
    enum class Kind : uint8_t
    {
        OTHER,       //!< launches something if the correlation says so
        SYNCHRONIZE, //!< waits for the GPU
        RECORD,      //!< records an event
    };

    Kind kind{Kind::OTHER};
    double startUs{0};
    double endUs{0};
    int64_t correlation{-1};
    uint32_t name{0};
    uint32_t thread{0}; //!< number of the thread that calls
};

/// A wait, of a stream or of the host, as the profiler tells it.
struct SyncEvent
{
    bool isStreamWait{false};      //!< else the host waits
    int64_t stream{-1};            //!< that waits, or is waited for by the host
    int64_t waitedStream{-1};      //!< that is waited for
    int64_t recordCorrelation{-1}; //!< call that recorded the event waited for
    int64_t correlation{-1};       //!< call that makes it wait
    double startUs{0};
};

/// What NCCL was asked to do.
struct Communication
{
    std::string collective;
    std::string type;
    std::string group;
    std::string groupId; //!< where there is no name of the group: its number (PyTorch 2.3 in work)
    std::string description;
    std::vector<DeviceId> ranks; //!< empty: look the group up, else all
    uint64_t groupSize{0};
    uint64_t inElements{0};
    uint64_t outElements{0};
    bool isUneven{false}; //!< whether its split sizes differ
    std::optional<uint64_t> source;
    std::optional<uint64_t> destination;
};

/// What the file of a rank says.
struct Rank
{
    std::string file;             //!< its name
    std::optional<uint32_t> rank; //!< where it says so
    uint32_t worldSize{0};        //!< 0: it does not say
    std::string schema{"1"};      //!< version of the format, as it is written
    std::string gpuModel;         //!< name of the first device; empty: it does not say
    std::vector<std::string> names;
    std::vector<GpuEvent> gpu;
    std::vector<HostCall> calls;
    std::vector<SyncEvent> syncs;
    std::vector<Communication> communications;
    std::map<std::string, std::vector<DeviceId>> groups;    //!< pg_config
    std::map<std::string, std::string> groupNames;          //!< of pg_config, by "uid"
    std::map<std::string, std::pair<double, double>> steps; //!< of the profiler: begin, end; us
    double overlapUs{0};  //!< for which kernels of one stream ran at the same time
    double recordedUs{0}; //!< from the first event to the end of the last that is run
    /// When the first collective of a group (TraceGraph::AddGroup()) ended, from the first event
    /// on.
    std::map<uint32_t, double> firstEndUs;
    bool hasMessages{false};    //!< whether it sends or receives some
    double beginUs{0};          //!< how much later than the first rank it began
    uint64_t nPauses{0};        //!< pauses that nothing in the file explains
    double pausesUs{0};         //!< all of them together
    uint64_t nRecorded{0};      //!< communications that last as recorded
    uint64_t nForeign{0};       //!< kernels of libraries of communication that are not NCCL
    std::string exampleForeign; //!< name of one
    std::string ncclVersion;    //!< empty: it does not say
    std::string backend;        //!< of torch.distributed, e.g. "nccl"; empty: it does not say
    /// Events on streams of categories that are not known: how many of each.
    std::map<std::string, uint64_t> unread;
    /// Keys of the file that are not read and look like one that is, and that one.
    std::map<std::string, std::string> misspelt;
    uint64_t nKindless{0};   //!< events with a duration and no category, or another phase than X
    uint64_t nPartGroups{0}; //!< of pg_config, without a name or ranks
    uint64_t nOddGroups{0}; //!< communications of other ranks, or another order, than pg_config has
    std::string oddGroup;   //!< the group of one of them
    uint64_t nSyncs{0};     //!< waits that the profiler tells
    uint64_t nLostSyncs{0}; //!< those that do not say who waits for what
    uint64_t nAnnotated{0}; //!< communications told by annotations around their launches
    uint64_t nUntold{0};    //!< kernels of NCCL that were launched before the recording began
    uint64_t nEmpty{0};     //!< collectives that move no element, but for barriers
    uint64_t nRootless{0};  //!< collectives with a root that do not say which
    uint64_t nUneven{0};    //!< all-to-alls of unequal splits
    uint64_t nOddSizes{0};  //!< collectives whose result does not follow from their input
    std::string exampleOddSize; //!< the first of them, in words
    uint64_t nOthers{0};        //!< messages whose own rank is another one than that of the file
    std::string exampleOther;   //!< the first of them, in words
};

/// @param text to look at @param begin of it @return whether the text begins so
bool BeginsWith(const std::string& text, const char* begin);

/// @param text to look at @param part of it @return whether the text has it
bool Contains(const std::string& text, const char* part);

/**
 * @param file to read
 * @param isCommunicationRecorded whether kernels of NCCL are kernels like others, whatever they say
 * @return what it says
 * @throw std::invalid_argument that names file, place and cause
 */
Rank ReadRank(const TraceFile& file, bool isCommunicationRecorded);

} // namespace kineto

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KINETO_EVENTS_H
