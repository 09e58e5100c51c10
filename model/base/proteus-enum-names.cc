/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-enum-names.h"

#include "proteus-comma-list.h"
#include "proteus-meant-names.h"
#include "proteus-other-names.h"
#include "proteus-shown-name.h"

namespace ns3
{
namespace proteus
{

void
FailUnknownName(const std::string& what,
                const std::string& text,
                const std::vector<std::string>& known)
{
    if (const std::string cause = FindMissingCause(what, text); !cause.empty())
    {
        throw std::invalid_argument("the " + what + " '" + ShownName(text) + "' is not modelled: " +
                                    cause + "; known are " + ListNames(known));
    }
    const std::vector<std::string> meant = FindMeant(text, known);
    throw std::invalid_argument(
        "unknown " + what + " '" + ShownName(text) + "'; " +
        (meant.empty() ? "" : "did you mean " + ListAlternatives(meant) + "? ") + "known are " +
        ListNames(known));
}

} // namespace proteus
} // namespace ns3
