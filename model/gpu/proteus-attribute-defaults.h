/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ATTRIBUTE_DEFAULTS_H
#define PROTEUS_ATTRIBUTE_DEFAULTS_H

#include "ns3/boolean.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Present defaults of attributes.
 */

namespace ns3
{
namespace proteus
{

/// @param type of an object @param name of an attribute of it @return what is known of it
/// @throw std::logic_error if there is no such attribute
inline TypeId::AttributeInformation
FindAttribute(TypeId type, const std::string& name)
{
    TypeId::AttributeInformation information;
    if (!type.LookupAttributeByName(name, &information))
    {
        throw std::logic_error(type.GetName() + " has no attribute " + name);
    }
    return information;
}

/// @tparam T kind of value that the attribute has @param type of an object
/// @param name of an attribute of it @return what objects get by default
/// @throw std::logic_error if there is no such attribute
template <typename T>
T
ReadDefault(TypeId type, const std::string& name)
{
    return dynamic_cast<const T&>(*FindAttribute(type, name).initialValue);
}

/// @param type of an object @param name of an attribute of it that is true or false
/// @return whether objects get it as true by default
/// @throw std::logic_error if there is no such attribute
inline bool
IsOn(TypeId type, const std::string& name)
{
    return ReadDefault<BooleanValue>(type, name).Get();
}

/// @tparam T kind of value that the attribute has @param type of an object
/// @param name of an attribute of it @return its default, whatever the command line says
/// @throw std::logic_error if there is no such attribute
template <typename T>
T
ReadBuiltInDefault(TypeId type, const std::string& name)
{
    return dynamic_cast<const T&>(*FindAttribute(type, name).originalInitialValue);
}

/// @param attribute of an object @return whether its default is another one than is built in
inline bool
IsChanged(const TypeId::AttributeInformation& attribute)
{
    return attribute.initialValue->SerializeToString(attribute.checker) !=
           attribute.originalInitialValue->SerializeToString(attribute.checker);
}

/// An attribute whose default is another one than is built in.
struct ChangedAttribute
{
    TypeId type;       //!< of the objects that have it
    std::string name;  //!< without the type
    std::string value; //!< its default now

    /// @return the name with the type, as a command line has it
    std::string GetFullName() const
    {
        return type.GetName() + "::" + name;
    }
};

/// @return all of them, in the order in which types were registered
inline std::vector<ChangedAttribute>
FindChangedAttributes()
{
    std::vector<ChangedAttribute> changed;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        for (std::size_t a = 0; a < type.GetAttributeN(); ++a)
        {
            const TypeId::AttributeInformation attribute = type.GetAttribute(a);
            if (IsChanged(attribute))
            {
                changed.push_back({type,
                                   attribute.name,
                                   attribute.initialValue->SerializeToString(attribute.checker)});
            }
        }
    }
    return changed;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ATTRIBUTE_DEFAULTS_H
