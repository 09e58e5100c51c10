/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_QUEUE_PAIR_MAKER_H
#define PROTEUS_QUEUE_PAIR_MAKER_H

#include "proteus-congestion-type.h"
#include "proteus-copy-limiters.h"
#include "proteus-rate-control.h"
#include "proteus-read-requests.h"
#include "proteus-send-ports.h"
#include "proteus-transport-core.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes queue pairs: finds out what the path of each is like. By that and by the settings it
 * decides which congestion control it gets, when packets are acknowledged, and how lost ones are
 * repeated.
 */
class QueuePairMaker
{
  public:
    /// @param core of the transport @param limiters of copies @param reads of memories
    /// @param ports queue pairs take turns on @param rates of queue pairs
    QueuePairMaker(TransportCore& core,
                   CopyLimiters& limiters,
                   ReadRequests& reads,
                   SendPorts& ports,
                   RateControl& rates);

    /**
     * The fabric is known.
     * @param pathSeed of the hashes from which paths are picked
     * @throw std::invalid_argument for settings that make no sense together
     */
    void SetUp(uint64_t pathSeed);

    /// @param options of a new queue pair @return its id, without ports and control
    uint32_t Add(const QueuePairOptions& options);

    /**
     * @param options of a new queue pair
     * @return its id, ready to send
     * @throw std::invalid_argument as Transport::CreateQueuePair()
     */
    uint32_t Create(const QueuePairOptions& options);

    /// Forgets the kinds of congestion control.
    void Clear()
    {
        m_congestionTypes.clear();
    }

  private:
    /// What the path of a queue pair crosses.
    enum class PathKind
    {
        LOCAL,      //!< links inside servers only
        INFINIBAND, //!< an InfiniBand network
        ROCE,       //!< an Ethernet network
    };

    /// @param id a queue pair @return the links of its path
    /// @throw std::invalid_argument if there is none
    std::vector<LinkId> WalkPath(uint32_t id) const;
    /// @param links of a path @return what it crosses
    PathKind Classify(const std::vector<LinkId>& links) const;
    /// @param id a queue pair whose path is to be measured @param links of it
    void MeasurePath(uint32_t id, const std::vector<LinkId>& links);
    /// @param name of a congestion control @return its kind
    Ptr<CongestionType> GetCongestionType(const std::string& name);
    /// @param name of the options, may be empty @param kind of the path
    /// @return name of the congestion control
    std::string ChooseControl(const std::string& name, PathKind kind) const;
    /// @param id a queue pair, which ends in a NIC of its receiver's server if it passes one
    void SetUpNicEnd(uint32_t id);
    /// @param id a queue pair @param type of its congestion control
    void SetUpControl(uint32_t id, const CongestionType& type);
    /// @param id a queue pair @param needs of its congestion control: how losses are found
    void SetUpRepetition(uint32_t id, const CongestionNeeds& needs);
    /// @param id a queue pair whose copies may be limited
    void SetUpCopies(uint32_t id);
    /// @param id a queue pair @return which NIC reads it from which memory on its way; null if
    /// none does
    std::unique_ptr<MemoryStage> MakeStage(uint32_t id) const;
    /// @param id a queue pair that a device may read @param links of its path
    void SetUpReads(uint32_t id, const std::vector<LinkId>& links);

    TransportCore& m_core;                                        //!< of the transport
    CopyLimiters& m_limiters;                                     //!< of copies
    ReadRequests& m_reads;                                        //!< of memories
    SendPorts& m_ports;                                           //!< queue pairs take turns on
    RateControl& m_rates;                                         //!< of queue pairs
    std::map<std::string, Ptr<CongestionType>> m_congestionTypes; //!< used so far, by name
    uint64_t m_pathSeed{0};                                       //!< of the hashes of flows
    bool m_multipath{false}; //!< switches choose paths per packet
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_QUEUE_PAIR_MAKER_H
