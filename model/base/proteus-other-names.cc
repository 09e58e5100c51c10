/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-other-names.h"

#include "proteus-nearest-name.h"

#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return names of here, each with those of Megatron-LM's arguments, DeepSpeed's and torchtitan's
/// configurations, Hugging Face's TrainingArguments, PyTorch and the papers
const std::map<std::string, std::vector<std::string>>&
GetAll()
{
    static const std::map<std::string, std::vector<std::string>> names{
        {"globalBatch", {"batch", "batchSize", "gbs", "globalBatchSize", "trainBatchSize"}},
        {"microBatch",
         {"mbs",
          "microBatchSize",
          "localBatchSize",
          "perDeviceTrainBatchSize",
          "trainMicroBatchSizePerGpu"}},
        {"tp",
         {"tensor",
          "tensorParallel",
          "tensorParallelDegree",
          "tensorParallelism",
          "tensorParallelSize",
          "tensorModelParallelSize",
          "tpDegree",
          "tpSize",
          "mp"}},
        {"pp",
         {"pipeline",
          "pipelineParallel",
          "pipelineParallelDegree",
          "pipelineParallelism",
          "pipelineParallelSize",
          "pipelineModelParallelSize",
          "pipelineStages",
          "ppDegree",
          "ppSize",
          "stages"}},
        {"dp",
         {"data",
          "dataParallel",
          "dataParallelDegree",
          "dataParallelism",
          "dataParallelReplicateDegree",
          "dataParallelSize",
          "dpDegree",
          "dpSize",
          "replicas"}},
        {"cp", {"contextParallel", "contextParallelDegree", "contextParallelSize", "cpSize"}},
        {"ep",
         {"expertParallel",
          "expertParallelDegree",
          "expertParallelSize",
          "expertModelParallelSize",
          "epSize"}},
        {"etp", {"expertTensorParallelSize", "etpSize"}},
        {"virtualStages",
         {"vpp", "vp", "virtualPipeline", "interleave", "virtualPipelineModelParallelSize"}},
        {"sequenceParallel", {"sp"}},
        {"zero", {"zeroStage", "zeroOptimization", "fsdp", "dpShard", "dataParallelShardDegree"}},
        {"recompute",
         {"recomputation",
          "checkpointing",
          "activationCheckpoint",
          "activationCheckpointing",
          "activationRecomputation",
          "gradientCheckpointing",
          "recomputeGranularity"}},
        {"dataType", {"dtype", "precision", "mixedPrecision"}},
        {"fp32", {"float32", "float", "f32", "single"}},
        {"tf32", {"tensorFloat32"}},
        {"bf16", {"bfloat16"}},
        {"fp16", {"float16", "half", "f16"}},
        {"fp8", {"float8", "e4m3", "fp8E4m3"}},
        // Duan et al. 2024 call their executor the hierarchical topology-aware executor.
        {"classic", {"htae"}},
    };
    return names;
}

} // namespace

std::vector<std::string>
ListOtherNames(const std::string& name)
{
    const auto found = GetAll().find(name);
    return found == GetAll().end() ? std::vector<std::string>() : found->second;
}

std::string
FindByOtherName(const std::string& word, const std::vector<std::string>& names)
{
    for (const std::string& name : names)
    {
        if (!FindAlias(word, ListOtherNames(name)).empty())
        {
            return name;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
