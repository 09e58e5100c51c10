/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What NCCL chooses from (NVIDIA/nccl v2.30.7, src/graph/tuning.cc, parseList() and what follows
// "Protocols/Algorithms enable/disable, and user overrides"). Since when is that of the tags.

#include "proteus-nccl-variables.h"

#include "ns3/proteus-split.h"

#include <boost/algorithm/string/case_conv.hpp>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = NcclVariableRegistry::Registration;
using Choices = std::map<Collective, std::set<std::string>>;

constexpr uint32_t FIRST_BY_COLLECTIVE = 224; // version

/// What NCCL's tuner decides, by NCCL's names in small letters.
const std::map<std::string, Collective> TUNED{{"broadcast", Collective::BROADCAST},
                                              {"reduce", Collective::REDUCE},
                                              {"allgather", Collective::ALL_GATHER},
                                              {"reducescatter", Collective::REDUCE_SCATTER},
                                              {"allreduce", Collective::ALL_REDUCE}};

const std::set<std::string>
    ALGORITHMS{"tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"};
const std::set<std::string> PROTOCOLS{"ll", "ll128", "simple"};

/// @param names that there are @return them as a message has them
std::string
Show(const std::set<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
    {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

/// @param list "a,b" or "^a,b", of all but these @param known names @return the names
std::set<std::string>
ReadNames(const std::string& list, const std::set<std::string>& known)
{
    const bool isWithout = !list.empty() && list.front() == '^';
    std::set<std::string> names = isWithout ? known : std::set<std::string>();
    for (const std::string& name : SplitList(isWithout ? list.substr(1) : list))
    {
        if (known.count(name) == 0)
        {
            throw std::invalid_argument("there is no \"" + name + "\", there are " + Show(known));
        }
        if (isWithout)
        {
            names.erase(name);
        }
        else
        {
            names.insert(name);
        }
    }
    if (names.empty())
    {
        throw std::invalid_argument("leaves nothing to choose from");
    }
    return names;
}

/// @param value "Ring,Tree", "^NVLS", and from 2.24 on "AllReduce:Tree;Broadcast:Ring"
/// @param known names @param version of NCCL @return what each collective may take
Choices
ReadChoices(std::string value, const std::set<std::string>& known, uint32_t version)
{
    boost::algorithm::to_lower(value);
    if (version < FIRST_BY_COLLECTIVE && value.find_first_of(":;") != std::string::npos)
    {
        throw std::invalid_argument("NCCL before 2.24 has one list for all collectives");
    }
    Choices choices;
    const auto entries = SplitList(value, ';');
    for (std::size_t i = 0; i < entries.size(); ++i)
    {
        const std::size_t colon = entries[i].find(':');
        if (colon == std::string::npos)
        {
            if (i > 0)
            {
                throw std::invalid_argument("only the first list may be without a collective");
            }
            for (const auto& [name, collective] : TUNED)
            {
                choices[collective] = ReadNames(entries[i], known);
            }
            continue;
        }
        const auto collective = TUNED.find(entries[i].substr(0, colon));
        if (collective == TUNED.end())
        {
            throw std::invalid_argument("there is no collective \"" + entries[i].substr(0, colon) +
                                        "\", there are allgather, allreduce, broadcast, reduce and "
                                        "reducescatter");
        }
        choices[collective->second] = ReadNames(entries[i].substr(colon + 1), known);
    }
    return choices;
}

/// @param value 0, or bytes @return it
uint64_t
ReadThreshold(const std::string& value)
{
    return value == "0" ? 0 : ReadNcclBytes(value);
}

// What NCCL chose by before 2.5, see proteus-nccl-thresholds.h.
constexpr uint32_t FIRST_TREES = 204;
constexpr uint32_t FIRST_MODEL = 205;
const Registration REGISTER_TREE_THRESHOLD("NCCL_TREE_THRESHOLD",
                                           {[](const std::string& value, NcclVariables& variables) {
                                                variables.treeThresholdBytes = ReadThreshold(value);
                                            },
                                            FIRST_TREES,
                                            "",
                                            "",
                                            "algorithm",
                                            "",
                                            FIRST_MODEL});
const Registration REGISTER_LL_THRESHOLD("NCCL_LL_THRESHOLD",
                                         {[](const std::string& value, NcclVariables& variables) {
                                              variables.llThresholdBytes = ReadThreshold(value);
                                          },
                                          0,
                                          "",
                                          "",
                                          "protocol",
                                          "",
                                          FIRST_MODEL});
const Registration REGISTER_ALGO("NCCL_ALGO",
                                 {[](const std::string& value, NcclVariables& variables) {
                                      variables.algorithms =
                                          ReadChoices(value, ALGORITHMS, variables.version);
                                  },
                                  205,
                                  "",
                                  "",
                                  "algorithm"});
const Registration REGISTER_PROTO("NCCL_PROTO",
                                  {[](const std::string& value, NcclVariables& variables) {
                                       variables.protocols =
                                           ReadChoices(value, PROTOCOLS, variables.version);
                                   },
                                   205,
                                   "",
                                   "",
                                   "protocol"});
const Registration REGISTER_NVLS_ENABLE("NCCL_NVLS_ENABLE",
                                        {[](const std::string& value, NcclVariables& variables) {
                                             variables.nvls = ReadNcclNumber(value, 0, 2) > 0;
                                         },
                                         217});
const Registration REGISTER_PAT_ENABLE(
    "NCCL_PAT_ENABLE",
    {[](const std::string& value, NcclVariables& variables) {
         const uint32_t enable = ReadNcclNumber(value, 0, 2);
         if (enable == 1)
         {
             throw std::invalid_argument("PAT of several GPUs in a server is not modelled; 0 or 2, "
                                         "which has it with one in each");
         }
         variables.pat = enable > 0;
     },
     223});
const Registration REGISTER_LL128_C2C("NCCL_LL128_C2C",
                                      {[](const std::string& value, NcclVariables& variables) {
                                           variables.c2cLl128 = ReadNcclNumber(value, 0, 1) > 0;
                                       },
                                       227});
const Registration REGISTER_COLLNET_ENABLE(
    "NCCL_COLLNET_ENABLE",
    {[](const std::string& value, NcclVariables&) {
         if (ReadNcclNumber(value, 0, 1) > 0)
         {
             throw std::invalid_argument(
                 "when NCCL takes sums of the network's switches is not "
                 "modelled; --algorithm=sharp and --algorithm=sharp-chain take "
                 "them");
         }
     },
     206,
     "",
     "NCCL has none unless it says so"});

} // namespace

} // namespace proteus
} // namespace ns3
