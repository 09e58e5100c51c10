/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-foreign-files.h"

#include <algorithm>
#include <cstddef>

namespace ns3
{
namespace proteus
{

namespace
{

/// A kind of file.
struct ForeignFile
{
    std::vector<std::string> keys; //!< of such a file
    std::ptrdiff_t least;          //!< of the keys have to be there
    const char* what;              //!< it is, and who reads it
};

} // namespace

std::string
DescribeForeignFile(const std::vector<std::string>& keys)
{
    static const std::vector<ForeignFile> files{
        {{"traceEvents"}, 1, "a trace of PyTorch's profiler, which proteus-run --trace reads"},
        {{"workload_graph"}, 1, "a Chakra trace in the JSON of its feeder, which is not read"},
        {{"model_type"}, 1, "a config.json of Hugging Face, which --model reads"},
        {{"zero_optimization",
          "train_batch_size",
          "train_micro_batch_size_per_gpu",
          "gradient_accumulation_steps",
          "gradient_clipping",
          "optimizer",
          "bf16",
          "fp16"},
         2,
         "a configuration of DeepSpeed; what it says belongs into --strategy, e.g. "
         "dp=8,zero=3,microBatch=4,globalBatch=64,dataType=bf16, with --framework=deepspeed"},
        {{"topologies-per-dim", "topology-name"},
         1,
         "a network of ASTRA-sim, which is not read; proteus-cluster --output writes a cluster to "
         "begin with"},
        {{"all-reduce-implementation", "collective-optimization"},
         1,
         "a system of ASTRA-sim, which is not read; algorithms are NCCL's, or --algorithm"},
    };
    for (const ForeignFile& file : files)
    {
        if (std::count_if(file.keys.begin(), file.keys.end(), [&keys](const std::string& key) {
                return std::find(keys.begin(), keys.end(), key) != keys.end();
            }) >= file.least)
        {
            return std::string("this is ") + file.what;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
