/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-settled-attributes.h"

#include "ns3/pointer.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::vector<std::pair<std::string, std::string>>
SettledAttributes::Read(const Object& object)
{
    std::vector<std::pair<std::string, std::string>> values;
    TypeId type = object.GetInstanceTypeId();
    for (bool isLast = false; !isLast; type = type.GetParent())
    {
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            const TypeId::AttributeInformation attribute = type.GetAttribute(i);
            const Ptr<AttributeValue> value = attribute.checker->Create();
            if (!DynamicCast<PointerValue>(value) && (attribute.flags & TypeId::ATTR_GET) &&
                attribute.accessor->HasGetter() && attribute.accessor->Get(&object, *value))
            {
                values.emplace_back(type.GetName() + "::" + attribute.name,
                                    value->SerializeToString(attribute.checker));
            }
        }
        isLast = !type.HasParent() || type.GetParent() == type;
    }
    return values;
}

void
SettledAttributes::Add(Ptr<const Object> object)
{
    m_entries.push_back({object, Read(*object)});
}

void
SettledAttributes::RequireUnchanged() const
{
    for (const Entry& entry : m_entries)
    {
        const auto now = Read(*entry.object);
        for (std::size_t i = 0; i < now.size(); ++i)
        {
            if (now[i].second != entry.values[i].second)
            {
                throw std::logic_error(now[i].first + "=" + now[i].second +
                                       ": was set after Install(), which had read " +
                                       entry.values[i].second + ": set it before");
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
