/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-variables.h"

#include "proteus-expression.h"

#include <limits>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

[[noreturn]] void
ThrowUnknown(const std::string& name)
{
    throw std::invalid_argument("variable " + name + " is not known");
}

} // namespace

void
ModelVariables::SetValue(const std::string& name, int64_t value)
{
    m_values[name] = value;
}

void
ModelVariables::SetExpression(const std::string& name, const JsonValue& value)
{
    m_values.erase(name);
    m_expressions.insert_or_assign(name, value);
}

std::set<std::string>
ModelVariables::GetNames() const
{
    std::set<std::string> names;
    for (const auto& [name, expression] : m_expressions)
    {
        names.insert(name);
    }
    return names;
}

int64_t
ModelVariables::Find(const std::string& name) const
{
    const auto known = m_values.find(name);
    if (known != m_values.end())
    {
        return known->second;
    }
    const auto expression = m_expressions.find(name);
    if (expression != m_expressions.end())
    {
        if (!m_open.insert(name).second)
        {
            throw std::invalid_argument("variable " + name + " depends on itself");
        }
        const int64_t value = Evaluate(expression->second);
        m_open.erase(name);
        m_values[name] = value;
        return value;
    }
    if (!m_outer)
    {
        ThrowUnknown(name);
    }
    return m_outer->Find(name);
}

int64_t
ModelVariables::Evaluate(const JsonValue& value) const
{
    if (!value.IsString())
    {
        return static_cast<int64_t>(value.AsWhole(0, std::numeric_limits<int64_t>::max()));
    }
    return value.Check([&] {
        return EvaluateExpression(value.AsName(),
                                  [&](const std::string& name) { return Find(name); });
    });
}

void
ModelVariables::Check(const JsonValue& value, const std::set<std::string>& more) const
{
    if (!value.IsString())
    {
        Evaluate(value);
        return;
    }
    value.Check([&] {
        CheckExpression(value.AsName(), [&](const std::string& name) {
            if (more.count(name) == 0 && m_values.count(name) == 0 &&
                m_expressions.count(name) == 0)
            {
                ThrowUnknown(name);
            }
        });
    });
}

} // namespace proteus
} // namespace ns3
