/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-aicb.h"
#include "proteus-text-reader.h"

#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_NS = 1000;
/// Longest time; in picoseconds it fits 64 bits.
constexpr double MAX_NS = 9e15;
/// Most rows: a thousand layers in a thousand micro-batches.
constexpr uint32_t MAX_ROWS = 1 << 20;
/// Fields of a row.
constexpr std::size_t N_FIELDS = 12;

/// @return picoseconds @param word nanoseconds, fractions allowed @param what they are
int64_t
ToPs(const TextReader& reader, const std::string& word, const std::string& what)
{
    return std::llround(reader.ToNumber(word, what, MAX_NS) * PS_PER_NS);
}

/**
 * @param reader of the file @param word bytes, also as AICB writes what it has divided (4194304.0)
 * @param what they are @return the number
 */
uint64_t
ToBytes(const TextReader& reader, const std::string& word, const std::string& what)
{
    const std::size_t point = word.find('.');
    const bool isWhole = point != std::string::npos && point > 0 && point + 1 < word.size() &&
                         word.find_first_not_of('0', point + 1) == std::string::npos;
    return reader.ToUnsigned(isWhole ? word.substr(0, point) : word,
                             what,
                             std::numeric_limits<uint64_t>::max());
}

/// Whether the text ends so; if it does, the end is cut off.
bool
CutEnd(std::string& text, const std::string& end)
{
    if (text.size() <= end.size() || text.compare(text.size() - end.size(), end.size(), end) != 0)
    {
        return false;
    }
    text.resize(text.size() - end.size());
    return true;
}

/// What AICB's tests of several collectives call "ep".
constexpr const char* EXPERTS_OF_MICRO_TESTS = "expert_parallel_npu_group";

/// Names in the first line of whole numbers from 1 on.
const std::vector<std::pair<const char*, uint32_t AicbWorkload::*>> SIZES{
    {"model_parallel_NPU_group", &AicbWorkload::tensorParallel},
    {"ep", &AicbWorkload::expertParallel},
    {EXPERTS_OF_MICRO_TESTS, &AicbWorkload::expertParallel},
    {"pp", &AicbWorkload::pipelineParallel},
    {"vpp", &AicbWorkload::virtualPipeline},
    {"ga", &AicbWorkload::gradientAccumulation},
    {"all_gpus", &AicbWorkload::gpus},
};

uint32_t
ParsePositive(const TextReader& reader, const std::string& word, const std::string& key)
{
    const auto value = static_cast<uint32_t>(reader.ToUnsigned(word, key, MAX_DEVICES));
    if (value == 0)
    {
        reader.Fail(key + " must be at least 1");
    }
    return value;
}

/**
 * Reads the rows of checkpoints.
 * @param reader of the file @param words of the first line @param key what the rows are
 * @param count word with the number of rows
 * @param next first of the rows; then what follows them
 * @param list where to
 */
void
ParseRows(const TextReader& reader,
          const std::vector<std::string>& words,
          const std::string& key,
          const std::string& count,
          std::size_t& next,
          std::vector<uint32_t>& list)
{
    const uint64_t n = reader.ToUnsigned(count, key, MAX_ROWS);
    if (n > words.size() - next)
    {
        reader.Fail(key + " must be followed by " + std::to_string(n) + " rows");
    }
    for (uint64_t k = 0; k < n; k++)
    {
        list.push_back(static_cast<uint32_t>(reader.ToUnsigned(words[next++], key, MAX_ROWS - 1)));
    }
}

/// Reads the first line.
void
ParseHead(TextReader& reader, const std::vector<std::string>& words, AicbWorkload& workload)
{
    workload.isMicro = words[0] == "MICRO";
    workload.isModelParallel = words[0] == "MODEL";
    const bool isPlain = workload.isModelParallel || words[0] == "DATA";
    static const std::set<std::string> ofDimensions{"HYBRID_DATA_MODEL",
                                                    "HYBRID_MODEL_DATA",
                                                    "HYBRID_CUSTOMIZED",
                                                    "HYBRID_DLRM",
                                                    "HYBRID_DLRM_ENHANCED"};
    const bool repeats = words[0] == "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
    if (!workload.isMicro && !isPlain && !repeats && words[0] != "HYBRID_TRANSFORMER")
    {
        std::string line;
        for (const std::string& word : words)
        {
            line += word + ' ';
        }
        if (const std::string foreign = reader.DescribeForeign(line); !foreign.empty())
        {
            reader.Fail(foreign);
        }
        reader.Fail("a workload of AICB or ASTRA-sim begins with HYBRID_TRANSFORMER_FWD_IN_BCKWD, "
                    "HYBRID_TRANSFORMER, DATA, MODEL or MICRO, not " +
                    QuotedText(words[0]) +
                    (ofDimensions.count(words[0]) == 1
                         ? "; which ranks share a layer would follow from the dimensions of "
                           "ASTRA-sim's network, which is not read"
                         : ""));
    }
    if (isPlain && words.size() > 1)
    {
        reader.Fail(words[0] + " stands alone, without " + QuotedText(words[1]));
    }
    std::set<std::string> keys;
    for (std::size_t i = 1; i < words.size();)
    {
        std::string key = words[i++];
        if (key.back() == ':')
        {
            key.pop_back();
        }
        const bool isNew = keys.insert(key == EXPERTS_OF_MICRO_TESTS ? "ep" : key).second;
        if (!isNew)
        {
            reader.Fail(QuotedText(key) + " is there twice");
        }
        if (i == words.size())
        {
            reader.Fail(QuotedText(key) + " has no value");
        }
        const std::string& value = words[i++];
        const auto size = std::find_if(SIZES.begin(), SIZES.end(), [&](const auto& entry) {
            return key == entry.first;
        });
        if (size != SIZES.end())
        {
            workload.*size->second = ParsePositive(reader, value, key);
        }
        else if (key == "pp_comm")
        {
            workload.pipelineBytes = ToBytes(reader, value, key);
        }
        else if (key == "checkpoints")
        {
            ParseRows(reader, words, key, value, i, workload.checkpoints);
        }
        else if (key == "checkpoint_initiates")
        {
            ParseRows(reader, words, key, value, i, workload.checkpointInitiates);
        }
        else
        {
            reader.Fail("the unknown word " + QuotedText(key) +
                        "; known are model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, "
                        "checkpoints, checkpoint_initiates, pp_comm");
        }
    }
    if (words[0] == "HYBRID_TRANSFORMER" &&
        !(workload.checkpoints.empty() && workload.checkpointInitiates.empty()))
    {
        reader.Fail("HYBRID_TRANSFORMER repeats no forward pass, so that it has no checkpoints; "
                    "HYBRID_TRANSFORMER_FWD_IN_BCKWD does");
    }
}

AicbPass
ParsePass(const TextReader& reader,
          const std::vector<std::string>& words,
          std::size_t pass,
          bool isMicro)
{
    AicbPass result;
    const std::size_t first = 2 + 3 * pass;
    result.computePs = ToPs(reader, words[first], std::string(AICB_PASSES[pass]) + " nanoseconds");
    result.bytes = ToBytes(reader, words[first + 2], std::string(AICB_PASSES[pass]) + " bytes");
    std::string name = words[first + 1];
    constexpr std::size_t WEIGHTS = 2;
    result.parallelism = isMicro           ? Parallelism::NONE
                         : pass == WEIGHTS ? Parallelism::DATA
                                           : Parallelism::TENSOR;
    if (CutEnd(name, "_DP_EP"))
    {
        result.parallelism = Parallelism::DATA;
        result.isExpertData = true;
    }
    else if (CutEnd(name, "_EP"))
    {
        result.parallelism = Parallelism::EXPERT;
    }
    else if (CutEnd(name, "_TP"))
    {
        result.parallelism = Parallelism::TENSOR;
    }
    else if (CutEnd(name, "_DP"))
    {
        result.parallelism = Parallelism::DATA;
    }
    result.hasCollective = name != "NONE" && result.bytes > 0;
    result.isEmpty = name != "NONE" && result.bytes == 0;
    result.hasIdleBytes = name == "NONE" && result.bytes > 0;
    static const std::vector<std::pair<const char*, Collective>> names{
        {"NONE", Collective::ALL_REDUCE},
        {"ALLREDUCE", Collective::ALL_REDUCE},
        {"ALLGATHER", Collective::ALL_GATHER},
        {"REDUCESCATTER", Collective::REDUCE_SCATTER},
        {"ALLTOALL", Collective::ALL_TO_ALL},
        {"BROADCAST", Collective::BROADCAST},
    };
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
        return name == entry.first;
    });
    if (found == names.end())
    {
        reader.Fail("the unknown collective " + QuotedText(words[first + 1]) +
                    "; known are NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL and "
                    "BROADCAST, and each with _TP, _DP, _EP or _DP_EP behind it");
    }
    result.collective = found->second;
    return result;
}

} // namespace

AicbWorkload
ParseAicb(std::istream& in, const std::string& fileName)
{
    TextReader reader(in, fileName);
    AicbWorkload workload;
    std::vector<std::string> words;
    if (!reader.ReadWords(words))
    {
        reader.Fail("the file is empty; this is no workload of AICB");
    }
    ParseHead(reader, words, workload);
    if (!reader.ReadWords(words) || words.size() != 1)
    {
        reader.Fail("the second line must have the number of rows and nothing else");
    }
    const uint64_t nRows = reader.ToUnsigned(words[0], "the number of rows", MAX_ROWS);
    while (reader.ReadWords(words))
    {
        if (words[0][0] == '#')
        {
            reader.Fail("a workload has no comments: leave this line out, and if it was a row, "
                        "write one row less into the second line");
        }
        if (workload.rows.size() == nRows)
        {
            reader.Fail("there are more rows than the " + std::to_string(nRows) +
                        " that the second line says");
        }
        if (words.size() != N_FIELDS)
        {
            reader.Fail("a row has " + std::to_string(N_FIELDS) + " fields, not " +
                        std::to_string(words.size()));
        }
        AicbRow row;
        row.name = words[0];
        row.hasDependency = words[1] != "-1";
        for (std::size_t pass = 0; pass < row.passes.size(); pass++)
        {
            row.passes[pass] = ParsePass(reader, words, pass, workload.isMicro);
        }
        row.updatePs = ToPs(reader, words[11], "update nanoseconds");
        workload.rows.push_back(std::move(row));
    }
    if (workload.rows.size() < nRows)
    {
        reader.Fail("the file ends after " + std::to_string(workload.rows.size()) + " of " +
                    std::to_string(nRows) +
                    " rows; it was cut off; to run the rows that are there, write " +
                    std::to_string(workload.rows.size()) + " into the second line");
    }
    for (const auto* list : {&workload.checkpoints, &workload.checkpointInitiates})
    {
        for (const uint32_t row : *list)
        {
            if (row >= nRows)
            {
                throw std::invalid_argument(fileName + ":1: there is no row " +
                                            std::to_string(row) + " for a checkpoint");
            }
        }
    }
    return workload;
}

} // namespace proteus
} // namespace ns3
