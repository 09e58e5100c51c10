/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-sourced-value.h"

namespace ns3
{
namespace proteus
{

std::optional<JsonValue>
FindSourced(const JsonValue& object, const char* key)
{
    const auto field = object.Find(key);
    if (!field)
    {
        return std::nullopt;
    }
    field->AllowKeys("a number with its source", {"value", "source"});
    const JsonValue source = field->Get("source");
    if (source.AsName().empty())
    {
        source.Fail("is empty: say where the value is from");
    }
    return field->Get("value");
}

} // namespace proteus
} // namespace ns3
