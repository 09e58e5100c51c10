/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-text.h"

#include "proteus-bundles.h"
#include "proteus-cluster-changes.h"
#include "proteus-fabric-variant.h"
#include "proteus-gpu-model.h"
#include "proteus-server-preset.h"
#include "proteus-staging-rate.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-ratio.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double BYTES_PER_GBIT = 1e9 / 8;
constexpr double MOST_GBITS = 1e6;
constexpr double MOST_COUNT = 4294967295.0;
constexpr double MOST_SWITCHES = 128; //!< as many as there can be cards

/// Keys that are no options of a fabric.
const char* const KEYS[] = {"nodes",
                            "nic",
                            "gpu",
                            "fabric",
                            "leafs",
                            "bundles",
                            "mtu",
                            "pcie",
                            "cpu",
                            "p2p",
                            "memory",
                            "switches",
                            "bridges"};

/// Those of servers of cards.
constexpr std::string_view CARD_KEYS[] = {"pcie", "cpu", "p2p", "memory", "switches", "bridges"};

/// @param typed a key @return its name in the tables; what was typed if no table has it
std::string
FindKey(const std::string& typed)
{
    if (IsSameName(typed, "leaves"))
    {
        return "leafs";
    }
    std::vector<std::string> names(std::begin(KEYS), std::end(KEYS));
    for (const std::string& kind : GetFabricKinds())
    {
        for (const FabricOptionField& field : GetFabricOptionFields(kind))
        {
            names.emplace_back(field.name);
        }
    }
    const std::string name = FindAlias(typed, names);
    return name.empty() ? typed : name;
}

/// Reads the changes of a preset.
class TextReader
{
  public:
    /// @param text see MakeTextCluster() @param servers see there
    /// @param base of the network @param isWhole whether the text says what else there is of it
    TextReader(const std::string& text, uint32_t servers, const FabricVariant& base, bool isWhole)
        : m_text(text),
          m_servers(servers),
          m_isWhole(isWhole),
          m_variant(base)
    {
    }

    Cluster Read()
    {
        const std::string preset = GetTextPreset(m_text);
        std::map<std::string, std::string> options; // of the fabric, which comes first
        std::set<std::string> keys;
        if (preset.size() + 1 == m_text.size())
        {
            Refuse("there is nothing behind the colon: leave it out, or name a change, e.g. "
                   "nic=4x200G-roce");
        }
        for (const std::string& item : SplitList(m_text.substr(preset.size() + 1)))
        {
            const std::size_t equals = item.find('=');
            if (equals == 0 || equals == std::string::npos || equals + 1 == item.size())
            {
                Refuse("'" + item + "' is not KEY=VALUE, e.g. nic=4x200G-roce");
            }
            const std::string key = FindKey(item.substr(0, equals));
            if (!keys.insert(key).second)
            {
                Refuse(item.substr(0, equals) + " stands there twice");
            }
            if (!m_isWhole && key != "nic" && key != "gpu" && key != "mtu" && !IsCardKey(key))
            {
                Refuse(item.substr(0, equals) +
                       " is not of the servers: --nodes and --fabrics say how many there are, and "
                       "how they are joined");
            }
            ReadItem(key, item.substr(equals + 1), options);
        }
        const bool isOfServer = std::all_of(keys.begin(), keys.end(), IsCardKey);
        m_servers = m_servers != 0 ? m_servers : isOfServer ? 1 : 2;
        if (m_leafs && keys.count("servers_per_leaf") > 0)
        {
            Refuse("leafs and servers_per_leaf say the same: give one of them");
        }
        if (m_leafs)
        {
            SetLeafs();
        }
        for (const auto& [key, value] : options)
        {
            SetOption(key, value);
        }
        if (m_variant.fabric.kind == "nvlink-domain")
        {
            Refuse(
                "a short form joins NICs; nvlink-domain joins NVSwitches: leave the changes out");
        }
        m_variant.name = m_isWhole ? m_variant.fabric.kind : m_variant.name;
        ApplyNics();
        const bool isOfCards = !FindCardServer(preset).empty();
        const ServerPreset server = isOfCards ? MakeCards(preset) : GetServerPreset(preset);
        const Cluster cluster = m_servers == 1 ? MakeCluster(server, 1) // has no network
                                               : Join(server);
        WarnOfBundles(server, cluster);
        const Cluster changed = m_mtu ? SetMtu(cluster, *m_mtu) : cluster;
        if (isOfCards)
        {
            if (m_gpu)
            {
                Refuse("the name of the server says the GPU: leave gpu out");
            }
            return ChangeCards(changed, m_cards);
        }
        for (const std::string_view key : CARD_KEYS)
        {
            if (keys.count(std::string(key)) > 0)
            {
                Refuse(std::string(key) + " belongs to servers of cards, such as 8xL40S, not to " +
                       preset);
            }
        }
        return m_gpu ? ReplaceGpus(changed, *m_gpu) : changed;
    }

  private:
    /// @param preset of a server of cards @return it, with the layout that the keys say
    ServerPreset MakeCards(const std::string& preset)
    {
        m_cards.layout.nics = m_nics;
        try
        {
            return MakeCardServer(preset, m_cards.layout);
        }
        catch (const std::invalid_argument& error)
        {
            Refuse(error.what());
        }
    }

    /// @param preset of the servers @return all of them, joined
    Cluster Join(const ServerPreset& preset) const
    {
        try
        {
            return MakeVariantCluster(preset, m_servers, m_variant);
        }
        catch (const std::invalid_argument& error)
        {
            Refuse(error.what());
        }
    }

    /// Names cables that are the same as whole bundles. @param cluster that was made of a preset
    void WarnOfBundles(const ServerPreset& preset, const Cluster& cluster)
    {
        if (m_variant.bundling != Bundling::CABLES)
        {
            return;
        }
        m_variant.bundling = Bundling::WHOLE;
        if (m_servers == 1 || Join(preset).GetLinks().size() == cluster.GetLinks().size())
        {
            Warn("--cluster=" + m_text +
                 ": bundles=cables has no effect: no link between two switches is of several "
                 "cables");
        }
    }

    [[noreturn]] void Refuse(const std::string& why) const
    {
        throw std::invalid_argument("--cluster=" + m_text + ": " + why);
    }

    /// @return a number, all of the value
    double ToNumber(const std::string& key,
                    const std::string& value,
                    double least,
                    double most) const
    {
        static const std::regex number("[0-9]{1,12}(\\.[0-9]{1,12})?");
        const double read = std::regex_match(value, number) ? std::stod(value) : -1;
        if (!(read >= least && read <= most))
        {
            std::ostringstream range;
            range.precision(12);
            range << least << " to " << most;
            Refuse(key + " must be a number from " + range.str() + ", not '" + value + "'");
        }
        return read;
    }

    /// @return a ratio from the least on, as options have it
    double ToRatio(const std::string& key, const std::string& value, double least) const
    {
        const double ratio = ParseRatio(value).value_or(-1);
        if (!(ratio >= least && ratio <= MOST_GBITS))
        {
            Refuse(key + " must be a ratio from " + std::to_string(static_cast<uint64_t>(least)) +
                   " to 1e6, such as 2:1 or 2, not '" + value + "'");
        }
        return ratio;
    }

    uint32_t ToWhole(const std::string& key,
                     const std::string& value,
                     double least,
                     double most) const
    {
        if (value.find('.') != std::string::npos)
        {
            Refuse(key + " must be a whole number, not '" + value + "'");
        }
        return static_cast<uint32_t>(ToNumber(key, value, least, most));
    }

    /// @return the one of the names that the value is
    std::string ReadName(const std::string& key,
                         const std::string& value,
                         const std::vector<std::string>& names) const
    {
        const std::string name = FindAlias(value, names);
        if (name.empty())
        {
            Refuse(key + " must be one of " + ListNames(names) + ", not '" + value + "'");
        }
        return name;
    }

    void ReadItem(const std::string& key,
                  const std::string& value,
                  std::map<std::string, std::string>& options)
    {
        if (key == "nodes")
        {
            const uint32_t nodes = ToWhole(key, value, 1, MAX_SERVERS);
            if (m_servers != 0 && m_servers != nodes)
            {
                Refuse("nodes=" + value + ", and --nodes=" + std::to_string(m_servers) +
                       ": give one of them");
            }
            m_servers = nodes;
        }
        else if (key == "nic")
        {
            ReadNic(value);
        }
        else if (key == "fabric")
        {
            m_variant.fabric.kind = ReadName(key, value, GetFabricKinds());
        }
        else if (key == "gpu")
        {
            try
            {
                const std::string name = FindAlias(value, GetGpuModels());
                m_gpu = FindGpuModel(name.empty() ? value : name);
            }
            catch (const std::invalid_argument& error)
            {
                Refuse(error.what());
            }
            if (m_gpu->isCpu)
            {
                Refuse("gpu must be the name of a GPU, not that of a CPU, " + value);
            }
        }
        else if (key == "leafs")
        {
            m_leafs = ToWhole(key, value, 1, MAX_SERVERS);
        }
        else if (key == "mtu")
        {
            m_mtu = ToWhole(key, value, 256, 4096);
            if ((*m_mtu & (*m_mtu - 1)) != 0)
            {
                Refuse("mtu must be 256, 512, 1024, 2048 or 4096, those of InfiniBand and RoCE, "
                       "not " +
                       value);
            }
        }
        else if (key == "pcie")
        {
            ReadSlots(value);
        }
        else if (key == "cpu")
        {
            m_cards.cpu = CpuVendorFromString(ReadName(key, value, GetCpuVendors()));
        }
        else if (key == "p2p")
        {
            m_cards.peers = ReadName(key, value, {"on", "off"}) == "on";
        }
        else if (key == "memory")
        {
            ReadMemory(value);
        }
        else if (key == "switches")
        {
            m_cards.layout.switches = ToWhole(key, value, 0, MOST_SWITCHES);
        }
        else if (key == "bridges")
        {
            m_cards.layout.bridged = ToWhole(key, value, 1, MOST_SWITCHES);
        }
        else if (key == "bundles")
        {
            m_variant.bundling = BundlingFromString(ReadName(key, value, GetBundlingNames()));
        }
        else
        {
            options[key] = value;
        }
    }

    /// Reads "4x200G-roce" and its parts.
    void ReadNic(const std::string& value)
    {
        static const std::regex nic("(?:([0-9]{1,4})x)?(?:([0-9]{1,6}(?:\\.[0-9]{1,6})?)G)?-?"
                                    "(?:(roce)|(infiniband|ib))?",
                                    std::regex::icase);
        std::smatch match;
        const bool isRead = std::regex_match(value, match, nic);
        if (!isRead || value.back() == '-' || value.front() == '-')
        {
            Refuse("nic must be COUNTxRATEG-TECHNOLOGY, such as 8x200G-roce, 400G, roce or "
                   "infiniband (ib), not '" +
                   value + "'");
        }
        if (match[1].matched)
        {
            m_nics = ToWhole("the number of NICs", match[1].str(), 1, MOST_COUNT);
        }
        if (match[2].matched)
        {
            m_variant.nicBytesPerSecond =
                ToNumber("the rate of a NIC", match[2].str(), 1e-3, MOST_GBITS) * BYTES_PER_GBIT;
        }
        m_technology = match[3].matched   ? ToString(LinkTechnology::ROCE)
                       : match[4].matched ? ToString(LinkTechnology::INFINIBAND)
                                          : "";
    }

    /// Takes of the NICs what the network does not say.
    void ApplyNics()
    {
        if (m_nics > 0 && m_variant.rails > m_nics)
        {
            Refuse("fabric '" + m_variant.name + "' is to use " + std::to_string(m_variant.rails) +
                   " NICs of each server, of which nic says " + std::to_string(m_nics));
        }
        if (!m_technology.empty() && !m_variant.technology.empty() &&
            m_technology != m_variant.technology)
        {
            Refuse("nic says " + m_technology + ", and fabric '" + m_variant.name + "' " +
                   m_variant.technology + ": leave one of them out");
        }
        m_variant.rails = m_variant.rails > 0 ? m_variant.rails : m_nics;
        m_variant.technology = m_variant.technology.empty() ? m_technology : m_variant.technology;
    }

    /// Reads "4x8" and "5".
    void ReadSlots(const std::string& value)
    {
        static const std::regex slots("(?:gen)?([3-6])(?:x(1|2|4|8|16))?", std::regex::icase);
        std::smatch match;
        if (!std::regex_match(value, match, slots))
        {
            Refuse("pcie must be GENERATIONxLANES, such as 4x16, 4x8 or 5, not '" + value + "'");
        }
        m_cards.generation = ToWhole("the generation", match[1].str(), 3, 6);
        m_cards.lanes =
            match[2].matched ? ToWhole("the number of lanes", match[2].str(), 1, 16) : 16;
    }

    /// Reads "8xDDR5-4800".
    void ReadMemory(const std::string& value)
    {
        static const std::regex channels("([0-9]{1,2})xddr[345]-([0-9]{3,5})", std::regex::icase);
        constexpr double MEGA = 1e6;
        std::smatch match;
        if (!std::regex_match(value, match, channels))
        {
            Refuse("memory must be CHANNELSxDDRn-RATE, the channels of each CPU, or of each of its "
                   "NUMA nodes, such as 8xDDR4-3200 or 12xDDR5-4800, not '" +
                   value + "'");
        }
        m_cards.memoryBytesPerSecond =
            GetStagingRate(ToWhole("the number of channels", match[1].str(), 1, 24),
                           ToWhole("transfers of a channel", match[2].str(), 400, 20000) * MEGA);
    }

    /// Shares the servers out to leaves.
    void SetLeafs()
    {
        FabricOptions& fabric = m_variant.fabric;
        if (fabric.kind == FabricOptions().kind)
        {
            fabric.kind = "leaf-spine";
        }
        if (fabric.kind != "leaf-spine")
        {
            Refuse("leafs belongs to leaf-spine, not to " + fabric.kind);
        }
        if (*m_leafs > m_servers)
        {
            Refuse("leafs=" + std::to_string(*m_leafs) + " for " + std::to_string(m_servers) +
                   (m_servers == 1 ? " server" : " servers") + ": no leaf may be without one");
        }
        fabric.serversPerLeaf = (m_servers - 1) / *m_leafs + 1;
        const uint32_t leafs = (m_servers - 1) / fabric.serversPerLeaf + 1;
        if (leafs != *m_leafs)
        {
            Refuse("leafs=" + std::to_string(*m_leafs) + ": " + std::to_string(m_servers) +
                   " servers in leafs of " + std::to_string(fabric.serversPerLeaf) + " make " +
                   std::to_string(leafs));
        }
    }

    /// Sets an option of the fabric.
    void SetOption(const std::string& key, const std::string& value)
    {
        std::string names;
        for (const char* const name : KEYS)
        {
            AppendName(names, std::string(name));
        }
        for (const FabricOptionField& field : GetFabricOptionFields(m_variant.fabric.kind))
        {
            names += std::string(", ") + field.name;
            if (field.name != key)
            {
                continue;
            }
            if (field.real != nullptr)
            {
                m_variant.fabric.*field.real = ToRatio(key, value, field.least);
            }
            else
            {
                m_variant.fabric.*field.whole = ToWhole(key, value, field.least, MOST_COUNT);
            }
            return;
        }
        Refuse("there is no key '" + key + "' for the fabric " + m_variant.fabric.kind +
               "; there are " + names);
    }

    const std::string& m_text;
    uint32_t m_servers;
    bool m_isWhole;           //!< whether the text is of the network, too
    uint32_t m_nics{0};       //!< of a server; 0: all
    std::string m_technology; //!< of them; empty: the preset's
    std::optional<uint32_t> m_leafs;
    std::optional<GpuModel> m_gpu; //!< in place of the preset's
    std::optional<uint32_t> m_mtu; //!< bytes, in place of 4096
    CardChanges m_cards;           //!< of a server of cards
    FabricVariant m_variant;
};

} // namespace

std::string
GetTextPreset(const std::string& text)
{
    return text.substr(0, text.find(':'));
}

bool
SaysServers(const std::string& text)
{
    const auto items = SplitList(text.substr(GetTextPreset(text).size() + 1));
    return std::any_of(items.begin(), items.end(), [](const std::string& item) {
        return FindKey(item.substr(0, item.find('='))) == "nodes";
    });
}

bool
IsClusterText(const std::string& text)
{
    const std::string preset = GetTextPreset(text);
    return preset.size() < text.size() && FindServerPreset(preset) == preset;
}

bool
IsCardKey(const std::string& key)
{
    return std::find(std::begin(CARD_KEYS), std::end(CARD_KEYS), FindKey(key)) !=
           std::end(CARD_KEYS);
}

Cluster
MakeTextCluster(const std::string& text, uint32_t servers, const FabricOptions& base)
{
    FabricVariant variant;
    variant.fabric = base;
    return TextReader(text, servers, variant, true).Read();
}

Cluster
MakeTextVariant(const std::string& text, uint32_t servers, const FabricVariant& variant)
{
    return IsClusterText(text) ? TextReader(text, servers, variant, false).Read()
                               : MakeVariantCluster(text, servers, variant);
}

} // namespace proteus
} // namespace ns3
