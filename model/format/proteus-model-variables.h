/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_VARIABLES_H
#define PROTEUS_MODEL_VARIABLES_H

#include "ns3/proteus-json.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Variables of a model's file, each evaluated when it is asked for.
class ModelVariables
{
  public:
    /// @param outer those that hold where these say nothing; null: none
    explicit ModelVariables(const ModelVariables* outer = nullptr)
        : m_outer(outer)
    {
    }

    /// @param name of a variable @param value that goes before its expression
    void SetValue(const std::string& name, int64_t value);

    /// @param name of a variable @param value number or expression, in the place of an earlier one
    void SetExpression(const std::string& name, const JsonValue& value);

    /// @return the names of those with an expression
    std::set<std::string> GetNames() const;

    /// @param name of a variable @return its value
    /// @throw std::invalid_argument if there is none, or if it depends on itself
    int64_t Find(const std::string& name) const;

    /// @param value number or expression @return what it is
    /// @throw std::invalid_argument with its place, if it makes no sense
    int64_t Evaluate(const JsonValue& value) const;

    /// Checks what can be said of a number or an expression before it is evaluated.
    /// @param value number or expression @param more names of variables besides these
    /// @throw std::invalid_argument with its place: neither, or a variable that is nowhere
    void Check(const JsonValue& value, const std::set<std::string>& more) const;

  private:
    const ModelVariables* m_outer;
    mutable std::map<std::string, int64_t> m_values;
    std::map<std::string, JsonValue> m_expressions;
    mutable std::set<std::string> m_open; //!< being evaluated
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_VARIABLES_H
