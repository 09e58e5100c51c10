/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-oracle-maker.h"
#include "gpt-oracle.h"

#include "ns3/proteus-comma-list.h"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

void
Check(bool ok, const std::string& message)
{
    if (!ok)
    {
        throw std::invalid_argument(message);
    }
}

} // namespace

const std::vector<GptModel>&
GetGptModels()
{
    static const std::vector<GptModel> models{
        {"125M", 12, 768, 12, 2048, 50257},
        {"350M", 24, 1024, 16, 2048, 50257},
        {"760M", 24, 1536, 16, 2048, 50257},
        {"1.3B", 24, 2048, 16, 2048, 50257},
        {"2.7B", 32, 2560, 32, 2048, 50257},
        {"6.7B", 32, 4096, 32, 2048, 50257},
        {"13B", 40, 5120, 40, 2048, 50257},
        {"175B", 96, 12288, 96, 2048, 50257},
    };
    return models;
}

const GptModel&
FindGptModel(const std::string& name)
{
    std::string known;
    for (const GptModel& model : GetGptModels())
    {
        if (model.name == name)
        {
            return model;
        }
        AppendName(known, model.name);
    }
    throw std::invalid_argument("unknown GPT-3 model \"" + name + "\": choose one of " + known);
}

uint64_t
PadGptVocabulary(uint32_t vocabulary, uint32_t tensorParallel)
{
    const uint64_t multiple = uint64_t{128} * tensorParallel;
    return (vocabulary + multiple - 1) / multiple * multiple;
}

uint64_t
CountParameters(const GptModel& model, uint64_t paddedVocabulary)
{
    const uint64_t h = model.hidden;
    return model.layers * (12 * h * h + 13 * h) + (paddedVocabulary + model.sequenceLength) * h +
           2 * h;
}

const char*
ToString(Recompute recompute)
{
    switch (recompute)
    {
    case Recompute::NONE:
        return "none";
    case Recompute::SELECTIVE:
        return "selective";
    case Recompute::FULL:
        return "full";
    }
    throw std::invalid_argument("a value that is no Recompute");
}

Recompute
RecomputeFromString(const std::string& text)
{
    for (Recompute recompute : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL})
    {
        if (text == ToString(recompute))
        {
            return recompute;
        }
    }
    throw std::invalid_argument("unknown recomputation \"" + text +
                                "\": choose one of none, selective, full");
}

void
CheckGptPlan(const GptModel& model, const GptPlan& plan)
{
    const std::string who = "GPT-3 " + model.name;
    const std::vector<std::pair<const char*, uint32_t>> positive{
        {"layers of the model", model.layers},
        {"hidden size of the model", model.hidden},
        {"heads of the model", model.heads},
        {"sequence length of the model", model.sequenceLength},
        {"vocabulary of the model", model.vocabulary},
        {"tensor-parallel size", plan.tensorParallel},
        {"pipeline-parallel size", plan.pipelineParallel},
        {"data-parallel size", plan.dataParallel},
        {"global batch", plan.globalBatch},
        {"micro-batch", plan.microBatch},
    };
    for (const auto& [name, value] : positive)
    {
        Check(value > 0, who + ": the " + name + " is 0, must be at least 1");
    }
    auto text = [](uint64_t value) { return std::to_string(value); };
    Check(model.hidden % model.heads == 0,
          who + ": " + text(model.heads) + " heads do not divide the hidden size " +
              text(model.hidden));
    // Heads divide the hidden size, so a divisor of the heads divides it, 4 h and 3 h; the padded
    // vocabulary is a multiple of the tensor-parallel size by its making.
    Check(model.heads % plan.tensorParallel == 0,
          who + ": tensor-parallel size " + text(plan.tensorParallel) + " does not divide the " +
              text(model.heads) + " attention heads, choose a divisor of " + text(model.heads));
    Check(model.layers % plan.pipelineParallel == 0,
          who + ": pipeline-parallel size " + text(plan.pipelineParallel) +
              " does not divide the " + text(model.layers) + " layers, choose a divisor of " +
              text(model.layers));
    const uint64_t step = uint64_t{plan.microBatch} * plan.dataParallel;
    Check(plan.globalBatch % step == 0,
          who + ": global batch " + text(plan.globalBatch) + " is not a multiple of " + text(step) +
              " = micro-batch " + text(plan.microBatch) + " x data-parallel size " +
              text(plan.dataParallel));
    Check(plan.dataType == DataType::BF16 || plan.dataType == DataType::FP16 ||
              plan.dataType == DataType::FP8,
          who + ": data type " + ToString(plan.dataType) +
              " is none of mixed precision, choose bf16, fp16 or fp8");
    Check(plan.gradientType == DataType::FP32 || plan.gradientType == DataType::BF16 ||
              plan.gradientType == DataType::FP16,
          who + ": gradients cannot be accumulated in " + ToString(plan.gradientType) +
              ", choose fp32, bf16 or fp16");

    // The largest counts: bytes of the core's s x s matrices, of the logits, of an activation's
    // traffic with its gradient, and of a device's optimizer step.
    const long double tokens = static_cast<long double>(plan.microBatch) * model.sequenceLength;
    const long double h = model.hidden;
    const long double vocabulary = PadGptVocabulary(model.vocabulary, plan.tensorParallel);
    const long double largest =
        tokens * (32.0L * h + 32.0L * vocabulary + 32.0L * model.heads * model.sequenceLength) +
        64.0L *
            (model.layers * (12 * h * h + 13 * h) + (2 * vocabulary + model.sequenceLength) * h);
    Check(largest < static_cast<long double>(std::numeric_limits<int64_t>::max()),
          who + ": micro-batch " + text(plan.microBatch) +
              " on this model needs more bytes than 63 bits can count, choose a smaller one");

    // t <= heads and p <= layers keep t * p below 2^64; a replica more may overflow.
    const uint64_t modelParallel = uint64_t{plan.tensorParallel} * plan.pipelineParallel;
    const std::string sizes = "tensor-parallel size " + text(plan.tensorParallel) +
                              " x pipeline-parallel size " + text(plan.pipelineParallel) +
                              " x data-parallel size " + text(plan.dataParallel);
    Check(modelParallel <= MAX_DEVICES && plan.dataParallel <= MAX_DEVICES / modelParallel,
          who + ": " + sizes + " needs more than the " + text(MAX_DEVICES) +
              " devices that a graph can have, choose smaller sizes");
    Check(plan.globalBatch / step <= MAX_MICRO_BATCHES,
          who + ": " + text(plan.globalBatch / step) + " micro-batches are more than the " +
              text(MAX_MICRO_BATCHES) + " that a graph can have, choose a larger micro-batch");
    const uint64_t tasks =
        plan.GetNDevices() *
        (GptGraphMaker::MAX_LAYER_TASKS * (model.layers / plan.pipelineParallel) +
         CountParameters(model, model.vocabulary) / GptGraphMaker::BUCKET_PARAMETERS +
         GptGraphMaker::MAX_OTHER_TASKS);
    Check(tasks < NO_ID,
          who + ": " + sizes + " needs up to " + text(tasks) + " tasks, more than the " +
              text(NO_ID) + " that a graph can have, choose smaller sizes");
}

} // namespace proteus
} // namespace ns3
