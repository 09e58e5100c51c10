/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STRATEGY_FIELDS_H
#define PROTEUS_STRATEGY_FIELDS_H

#include "ns3/proteus-json.h"
#include "ns3/proteus-strategy-tree.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Fields that plans and trees have alike. Each is read if it is there, and throws JsonValue's
 * errors if it is wrong.
 */

namespace ns3
{
namespace proteus
{

constexpr uint32_t MAX_STAGES = 1U << 16; //!< of a strategy
constexpr uint32_t MAX_ZERO = 3;          //!< last stage of ZeRO

/// @ingroup proteus
/// @param object with the field @param key of it @param least value @param most value
/// @param value is set
template <typename T>
void
ReadCount(const JsonValue& object, const char* key, uint64_t least, uint64_t most, T& value)
{
    if (const auto field = object.Find(key))
    {
        value = static_cast<T>(field->AsWhole(least, most));
    }
}

/// @ingroup proteus
/// @param object with the field @param key of it @param fromString value of a name
/// @param value is set
template <typename T, typename F>
void
ReadName(const JsonValue& object, const char* key, F fromString, T& value)
{
    if (const auto field = object.Find(key))
    {
        // What is no text, as "true", is answered with the names, too.
        const std::string text = field->IsString() ? field->AsName() : field->Shown();
        value = field->Check([&] { return fromString(text); });
    }
}

/// @ingroup proteus
/// @param object with the field @param key of it @param value is set
void ReadBool(const JsonValue& object, const char* key, bool& value);

/// @ingroup proteus
/// @param object with the field @param key of it @param most value @param value is set
void ReadPositive(const JsonValue& object, const char* key, double most, double& value);

/// @ingroup proteus
/// Of two forms, the one that a field names.
/// @param object with the field @param key of it @param first form @param second form
/// @param isFirst is set
void ReadForm(const JsonValue& object,
              const char* key,
              const std::string& first,
              const std::string& second,
              bool& isFirst);

/// @ingroup proteus
/// @return keys of what is said of passes, which ReadPasses() reads
const std::vector<const char*>& ListPassFields();

/// @ingroup proteus
/// Reads what is said of passes. @param object a plan, or a tree's schedule @param schedule is set
void ReadPasses(const JsonValue& object, ScheduleSpec& schedule);

/// @ingroup proteus
/// Reads how ZeRO communicates. @param object a plan, or a tree's optimizer @param optimizer is set
void ReadZeroForms(const JsonValue& object, OptimizerSpec& optimizer);

/// @ingroup proteus
/// Reads how weights are kept. @param object a plan, or a tree's precision @param precision is set
void ReadStored(const JsonValue& object, PrecisionSpec& precision);

/// @ingroup proteus
/// Reads which gradients go together. @param object a plan, or a tree's gradients
/// @param gradients is set
void ReadBuckets(const JsonValue& object, GradientSpec& gradients);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STRATEGY_FIELDS_H
