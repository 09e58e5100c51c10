/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-strategy-fields.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double MOST_MBYTES = 1e9;
constexpr double MOST_SAMPLES_PER_S = 1e12;

} // namespace

void
ReadBool(const JsonValue& object, const char* key, bool& value)
{
    if (const auto field = object.Find(key))
    {
        value = field->AsBool();
    }
}

void
ReadPositive(const JsonValue& object, const char* key, double most, double& value)
{
    if (const auto field = object.Find(key))
    {
        value = field->AsNumber(1e-9, most);
    }
}

void
ReadForm(const JsonValue& object,
         const char* key,
         const std::string& first,
         const std::string& second,
         bool& isFirst)
{
    if (const auto value = object.Find(key))
    {
        const std::string name = value->AsName();
        if (name != first && name != second)
        {
            value->Fail("must be \"" + first + "\" or \"" + second + "\"");
        }
        isFirst = name == first;
    }
}

const std::vector<const char*>&
ListPassFields()
{
    static const std::vector<const char*> fields{
        "maxInFlight",
        "interleave",
        "scatterGather",
        "tpOverlap",
        "cpOverlap",
        "overlapExpertCommunication",
        "delayWeightGradients",
        "expertDispatch",
        "expertDomain",
        "recomputeStopsEarly",
        "forwardFirst",
        "dataSamplesPerS",
    };
    return fields;
}

void
ReadPasses(const JsonValue& object, ScheduleSpec& schedule)
{
    if (const auto list = object.Find("maxInFlight"))
    {
        if (!list->IsList())
        {
            list->Fail("must be a list with a number for every stage, [2, 1], or behind --strategy "
                       "2+1");
        }
        for (std::size_t i = 0; i < list->Size(); ++i)
        {
            schedule.maxInFlight.push_back(
                static_cast<uint32_t>(list->At(i).AsWhole(0, MAX_MICRO_BATCHES)));
        }
    }
    ReadCount(object, "interleave", 0, MAX_MICRO_BATCHES, schedule.interleave);
    ReadBool(object, "scatterGather", schedule.isScatterGather);
    ReadBool(object, "tpOverlap", schedule.overlapsTensor);
    ReadBool(object, "cpOverlap", schedule.overlapsContext);
    ReadBool(object, "overlapExpertCommunication", schedule.overlapsExperts);
    ReadBool(object, "delayWeightGradients", schedule.delaysWeights);
    ReadName(object, "expertDispatch", ExpertDispatchFromString, schedule.expertDispatch);
    ReadCount(object, "expertDomain", 1, MAX_DEVICES, schedule.expertDomain);
    ReadBool(object, "recomputeStopsEarly", schedule.stopsRecomputation);
    ReadBool(object, "forwardFirst", schedule.runsForwardFirst);
    ReadPositive(object, "dataSamplesPerS", MOST_SAMPLES_PER_S, schedule.dataSamplesPerSecond);
}

void
ReadZeroForms(const JsonValue& object, OptimizerSpec& optimizer)
{
    bool inFirst = optimizer.scattersGradients;
    bool inSecond = optimizer.scattersGradients;
    ReadForm(object, "zero1Gradients", "reduce-scatter", "all-reduce", inFirst);
    ReadForm(object, "zero2Gradients", "reduce-scatter", "all-reduce", inSecond);
    optimizer.scattersGradients = optimizer.zero == 2 ? inSecond : inFirst;
    ReadForm(object, "zero1Gathers", "forward", "update", optimizer.gathersInForward);
    ReadForm(object, "zero3Gathers", "unit", "tensor", optimizer.gathersUnits);
    ReadForm(object, "zero3Shares", "16-bit", "fp32", optimizer.hasHalfShares);
}

void
ReadStored(const JsonValue& object, PrecisionSpec& precision)
{
    ReadBool(object, "masterWeights", precision.hasMaster);
    ReadForm(object, "frozenType", "nf4", "16-bit", precision.hasFrozenInFourBits);
}

void
ReadBuckets(const JsonValue& object, GradientSpec& gradients)
{
    ReadName(object, "buckets", BucketPolicyFromString, gradients.policy);
    ReadPositive(object, "bucketMbytes", MOST_MBYTES, gradients.bucketMegabytes);
    ReadPositive(object, "firstBucketMbytes", MOST_MBYTES, gradients.firstBucketMegabytes);
}

} // namespace proteus
} // namespace ns3
