/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPETITION_RECORDS_H
#define PROTEUS_REPETITION_RECORDS_H

#include "proteus-communication-ledger.h"

#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-program.h"
#include "ns3/proteus-queue-pair.h"

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the execution of communications depends on, whose links were as new when the first began.
struct RepetitionKey
{
    std::vector<const CollectiveProgram*> programs; //!< what ranks do, by communication
    uint32_t shape{0};              //!< of ports and queue pairs, see RepetitionPlans
    std::vector<int64_t> offsetsPs; //!< by communication and rank: from the first start to its own

    /// @param other another key @return whether both are the same
    bool operator==(const RepetitionKey& other) const
    {
        return programs == other.programs && shape == other.shape && offsetsPs == other.offsetsPs;
    }
};

/// @ingroup proteus
/// What a rank did, once it is done.
struct RankWork
{
    int64_t endPs{0};                //!< when it was done; in records, after the first start
    uint64_t messages{0};            //!< delivered to it
    CommunicationStatistics traffic; //!< what it moved; the task counts for nothing
};

/// @ingroup proteus
/// What the execution of communications leaves behind. Ports and queue pairs are named by their
/// positions in a RepetitionPlan; times count from the first start of a rank.
///
/// A record may end early, when another communication met those that were recorded: then it says
/// which ranks were done until that time, and nothing else.
struct RepetitionRecord
{
    /// "Not done", as RankWork::endPs.
    static constexpr int64_t NOT_DONE = INT64_MIN;

    std::vector<RankWork> ranks; //!< by communication and rank
    /// When thread blocks were done, after the first start: by communication, rank and block,
    /// NOT_DONE for one without steps or of a rank that is not done; empty, if nobody wants to know
    std::vector<int64_t> blockEndsPs;
    std::vector<std::pair<uint32_t, LinkStatistics>> ports; //!< of those that carried something
    std::vector<QueuePairWork> queuePairs;                  //!< by position
    int64_t restPs{0};          //!< from when on all links are as new, if it is whole
    int64_t untilPs{INT64_MAX}; //!< when it ends, that time included; INT64_MAX: it is whole
    uint64_t packets{0};        //!< data units sent
    uint64_t packetHops{0};     //!< link crossings

    /// @param endsPs of thread blocks, NOT_DONE where there is none @param count of blocks, if all
    /// are to have a place @param shiftPs to add @return the ends, later by so much
    static std::vector<int64_t> Shift(std::vector<int64_t> endsPs,
                                      std::size_t count,
                                      int64_t shiftPs);

    /// @return whether nothing else met what was recorded
    bool IsWhole() const
    {
        return untilPs == INT64_MAX;
    }

    /// @return memory that it takes, in bytes
    std::size_t GetBytes() const;

    /**
     * @param other of another execution
     * @return an empty text, or the first field that differs, with both values
     */
    std::string Compare(const RepetitionRecord& other) const;
};

/**
 * @ingroup proteus
 * Records by key, as many as fit into some memory. The one that was used longest ago is forgotten
 * first; the last one stays whatever its size.
 */
class RepetitionRecords
{
  public:
    /// @param bytes of memory for keys and records
    void SetMemory(uint64_t bytes)
    {
        m_memoryBytes = bytes;
    }

    /// @param key to look for @return its record, or null
    std::shared_ptr<const RepetitionRecord> Find(const RepetitionKey& key);

    /// @param key without a whole record @param record of it
    void Add(const RepetitionKey& key, std::shared_ptr<const RepetitionRecord> record);

    /// Forgets all.
    void Clear();

    /// A part of a key that is passed over in comparisons, so that tests can show that it counts.
    enum class Field
    {
        NONE,
        PROGRAM,
        SHAPE,
        OFFSETS,
    };

    /// For tests only. @param field that keys are compared without
    void SetPassedOver(Field field)
    {
        m_passedOver = field;
    }

  private:
    /// A key and its record.
    struct Entry
    {
        RepetitionKey key;                              //!< of it
        std::shared_ptr<const RepetitionRecord> record; //!< never null
        std::size_t bytes{0};                           //!< that both take
    };

    using Entries = std::list<Entry>;

    /// Hash of a key.
    struct KeyHash
    {
        /// @param key to hash @return its hash
        std::size_t operator()(const RepetitionKey& key) const;
    };

    /// @param key to look up @return the same without what is passed over
    RepetitionKey Reduce(const RepetitionKey& key) const;

    Entries m_entries; //!< the one used last first
    std::unordered_map<RepetitionKey, Entries::iterator, KeyHash> m_index; //!< by key
    uint64_t m_memoryBytes{UINT64_MAX};                                    //!< at most
    uint64_t m_bytes{0};                                                   //!< of all entries
    Field m_passedOver{Field::NONE};                                       //!< for tests
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPETITION_RECORDS_H
