/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHECKED_ATTRIBUTE_H
#define PROTEUS_CHECKED_ATTRIBUTE_H

#include "ns3/attribute.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * As ObjectFactory::Set(), which ends the program for a mistake, without a word of what would do.
 * @param factory of objects of a type
 * @param name of an attribute of the type
 * @param value its value
 * @throw std::invalid_argument "TYPE::ATTRIBUTE...: cause" for an unknown attribute, or a value
 * that is none of it
 */
void SetAttributeChecked(ObjectFactory& factory,
                         const std::string& name,
                         const AttributeValue& value);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHECKED_ATTRIBUTE_H
