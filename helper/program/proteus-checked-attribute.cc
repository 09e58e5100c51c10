/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-checked-attribute.h"

#include "proteus-attribute-check.h"

#include "ns3/string.h"
#include "ns3/type-id.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param name of an attribute, TYPE::ATTRIBUTE @param value of it
/// @return the value as ns-3 reads it
/// @throw std::invalid_argument as for an option of a command line, but named as in C++
std::string
NormaliseText(const std::string& name, const std::string& value)
{
    try
    {
        return NormaliseAttribute(name, value).value_or(value);
    }
    catch (const std::invalid_argument& error)
    {
        const std::string what = error.what();
        throw std::invalid_argument(what.rfind("--", 0) == 0 ? what.substr(2) : what);
    }
}

} // namespace

void
SetAttributeChecked(ObjectFactory& factory, const std::string& name, const AttributeValue& value)
{
    const TypeId type = factory.GetTypeId();
    const std::string full = type.GetName() + "::" + name;
    TypeId::AttributeInformation information;
    const auto* text = dynamic_cast<const StringValue*>(&value);
    if (text || !type.LookupAttributeByName(name, &information))
    {
        factory.Set(name, StringValue(NormaliseText(full, text ? text->Get() : "")));
        return;
    }
    if (!information.checker->Check(value))
    {
        const std::string expected = information.checker->GetUnderlyingTypeInformation();
        throw std::invalid_argument(full + ": is no value of this attribute, which is a " +
                                    information.checker->GetValueTypeName() +
                                    (expected.empty() ? "" : ", " + expected));
    }
    factory.Set(name, value);
}

} // namespace proteus
} // namespace ns3
