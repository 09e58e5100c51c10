/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-method.h"

#include "ns3/proteus-comma-list.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

const std::vector<LayoutMethod>&
GetLayoutMethods()
{
    static const std::vector<LayoutMethod> methods{MakeReductionMethod(),
                                                   MakeDescentMethod(),
                                                   MakeExhaustiveMethod()};
    return methods;
}

const LayoutMethod&
FindLayoutMethod(const std::string& name)
{
    std::string names;
    for (const LayoutMethod& method : GetLayoutMethods())
    {
        if (method.name == name)
        {
            return method;
        }
        AppendName(names, method.name);
    }
    throw std::invalid_argument("unknown layout search \"" + name + "\": choose one of " + names);
}

} // namespace proteus
} // namespace ns3
