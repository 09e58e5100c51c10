/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition-records.h"

#include "ns3/proteus-flow-hash.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Collects the first difference of two records.
class Difference
{
  public:
    /// @param name of a value @param a in one record @param b in the other
    template <typename T>
    void Check(const std::string& name, const T& a, const T& b)
    {
        if (m_text.empty() && a != b)
        {
            m_text = name + " is " + std::to_string(b) + ", recorded as " + std::to_string(a);
        }
    }

    /// @return an empty text, or the first difference
    const std::string& Get() const
    {
        return m_text;
    }

  private:
    std::string m_text; //!< first difference
};

/// @param a of a record @param b of another @param difference that notes what differs
void
Compare(const std::vector<RankWork>& a, const std::vector<RankWork>& b, Difference& difference)
{
    difference.Check("number of ranks", a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    {
        const std::string rank = "rank " + std::to_string(i) + ": ";
        difference.Check(rank + "end in ps", a[i].endPs, b[i].endPs);
        difference.Check(rank + "messages", a[i].messages, b[i].messages);
        difference.Check(rank + "bytes sent", a[i].traffic.sentBytes, b[i].traffic.sentBytes);
        difference.Check(rank + "bytes expected",
                         a[i].traffic.expectedBytes,
                         b[i].traffic.expectedBytes);
        difference.Check(rank + "bytes received",
                         a[i].traffic.receivedBytes,
                         b[i].traffic.receivedBytes);
    }
}

/// @copydoc Compare
void
Compare(const std::vector<std::pair<uint32_t, LinkStatistics>>& a,
        const std::vector<std::pair<uint32_t, LinkStatistics>>& b,
        Difference& difference)
{
    difference.Check("number of ports used", a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    {
        const LinkStatistics& x = a[i].second;
        const LinkStatistics& y = b[i].second;
        const std::string port = "port " + std::to_string(a[i].first) + ": ";
        difference.Check(port + "position", a[i].first, b[i].first);
        difference.Check(port + "packets", x.packets, y.packets);
        difference.Check(port + "payload", x.payloadBytes, y.payloadBytes);
        difference.Check(port + "wire bytes", x.wireBytes, y.wireBytes);
        difference.Check(port + "packets received", x.receivedPackets, y.receivedPackets);
        difference.Check(port + "payload received", x.receivedPayloadBytes, y.receivedPayloadBytes);
        difference.Check(port + "busy ps", x.busyPs, y.busyPs);
        difference.Check(port + "longest queue", x.maxQueueBytes, y.maxQueueBytes);
        difference.Check(port + "ps without credit", x.creditStallPs, y.creditStallPs);
    }
}

/// @copydoc Compare
void
Compare(const std::vector<QueuePairWork>& a,
        const std::vector<QueuePairWork>& b,
        Difference& difference)
{
    difference.Check("number of queue pairs", a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    {
        const std::string pair = "queue pair " + std::to_string(i) + ": ";
        difference.Check(pair + "bytes", a[i].bytes, b[i].bytes);
        difference.Check(pair + "packets", a[i].packets, b[i].packets);
        difference.Check(pair + "messages", a[i].messages, b[i].messages);
        difference.Check(pair + "control packets", a[i].controlPackets, b[i].controlPackets);
        difference.Check(pair + "last round trip", a[i].lastRttPs, b[i].lastRttPs);
        difference.Check(pair + "smallest round trip", a[i].minRttPs, b[i].minRttPs);
    }
}

} // namespace

std::size_t
RepetitionRecord::GetBytes() const
{
    return sizeof(*this) + ranks.size() * sizeof(ranks[0]) + ports.size() * sizeof(ports[0]) +
           queuePairs.size() * sizeof(queuePairs[0]) + blockEndsPs.size() * sizeof(int64_t);
}

std::vector<int64_t>
RepetitionRecord::Shift(std::vector<int64_t> endsPs, std::size_t count, int64_t shiftPs)
{
    endsPs.resize(count, NOT_DONE);
    for (int64_t& endPs : endsPs)
    {
        endPs += endPs == NOT_DONE ? 0 : shiftPs;
    }
    return endsPs;
}

std::string
RepetitionRecord::Compare(const RepetitionRecord& other) const
{
    Difference difference;
    proteus::Compare(ranks, other.ranks, difference);
    proteus::Compare(ports, other.ports, difference);
    proteus::Compare(queuePairs, other.queuePairs, difference);
    difference.Check("time at rest in ps", restPs, other.restPs);
    difference.Check("number of thread blocks", blockEndsPs.size(), other.blockEndsPs.size());
    for (std::size_t i = 0; i < std::min(blockEndsPs.size(), other.blockEndsPs.size()); ++i)
    {
        difference.Check("end of thread block " + std::to_string(i) + " in ps",
                         blockEndsPs[i],
                         other.blockEndsPs[i]);
    }
    return difference.Get();
}

std::size_t
RepetitionRecords::KeyHash::operator()(const RepetitionKey& key) const
{
    uint64_t hash = MixHash(key.programs.size(), key.shape);
    for (const CollectiveProgram* program : key.programs)
    {
        hash = MixHash(hash, reinterpret_cast<uintptr_t>(program));
    }
    for (const int64_t offset : key.offsetsPs)
    {
        hash = MixHash(hash, static_cast<uint64_t>(offset));
    }
    return hash;
}

RepetitionKey
RepetitionRecords::Reduce(const RepetitionKey& key) const
{
    RepetitionKey reduced = key;
    if (m_passedOver == Field::PROGRAM)
    {
        reduced.programs.assign(key.programs.size(), nullptr);
    }
    reduced.shape = m_passedOver == Field::SHAPE ? 0 : key.shape;
    if (m_passedOver == Field::OFFSETS)
    {
        reduced.offsetsPs.assign(key.offsetsPs.size(), 0);
    }
    return reduced;
}

std::shared_ptr<const RepetitionRecord>
RepetitionRecords::Find(const RepetitionKey& key)
{
    const auto found = m_index.find(m_passedOver == Field::NONE ? key : Reduce(key));
    if (found == m_index.end())
    {
        return nullptr;
    }
    m_entries.splice(m_entries.begin(), m_entries, found->second);
    return m_entries.front().record;
}

void
RepetitionRecords::Add(const RepetitionKey& key, std::shared_ptr<const RepetitionRecord> record)
{
    Entry entry;
    entry.key = Reduce(key);
    entry.bytes =
        sizeof(Entry) + record->GetBytes() +
        2 * (key.offsetsPs.size() * sizeof(int64_t) + key.programs.size() * sizeof(void*));
    entry.record = std::move(record);
    const auto found = m_index.find(entry.key);
    if (found != m_index.end())
    {
        if (found->second->record->IsWhole())
        {
            return; // two equal ones were executed at a time
        }
        m_bytes -= found->second->bytes;
        m_entries.erase(found->second);
        m_index.erase(found);
    }
    m_entries.push_front(std::move(entry));
    m_index.emplace(m_entries.front().key, m_entries.begin());
    m_bytes += m_entries.front().bytes;
    while (m_bytes > m_memoryBytes && m_entries.size() > 1)
    {
        m_bytes -= m_entries.back().bytes;
        m_index.erase(m_entries.back().key);
        m_entries.pop_back();
    }
}

void
RepetitionRecords::Clear()
{
    m_index.clear();
    m_entries.clear();
    m_bytes = 0;
}

} // namespace proteus
} // namespace ns3
