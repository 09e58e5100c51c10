/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-attribute-watch.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-dcqcn-use.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/proteus-packet-network.h"
#include "ns3/proteus-shared-marks.h"
#include "ns3/proteus-transport.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Of a default: whether an object has taken it.
class Mark
{
  public:
    virtual ~Mark() = default;

    /// @return whether an object has taken it, of this process or of one that it has forked
    bool IsTaken() const
    {
        return m_isTaken;
    }

  protected:
    std::atomic<bool>& m_isTaken{TakeSharedMark()}; //!< ObjectBase::ConstructSelf() sets a copy
};

/// A default that knows whether it was taken.
template <typename Value>
class MarkedValue : public Value, public Mark
{
  public:
    explicit MarkedValue(const Value& value)
        : Value(value)
    {
    }

    Ptr<AttributeValue> Copy() const override
    {
        m_isTaken = true;
        return Value::Copy();
    }
};

/// @param value of a type @return the same, marked; null if it is of another type
template <typename Value>
Ptr<const AttributeValue>
MarkAs(const AttributeValue& value)
{
    const auto* known = dynamic_cast<const Value*>(&value);
    return known ? Create<MarkedValue<Value>>(*known) : nullptr;
}

/// @param value of any type @return the same, marked; null if its type is not known here
template <typename... Values>
Ptr<const AttributeValue>
MarkAsOneOf(const AttributeValue& value)
{
    Ptr<const AttributeValue> marked;
    ((marked = marked ? marked : MarkAs<Values>(value)), ...);
    return marked;
}

/// An attribute of a type.
struct Attribute
{
    TypeId type;          //!< whose
    std::size_t index{0}; //!< which of it

    /// @return its default
    const AttributeValue& GetDefault() const
    {
        return *type.GetAttribute(index).initialValue;
    }
};

/// @param name TYPE::ATTRIBUTE, or an option @return the attribute; nothing for an option
std::optional<Attribute>
FindAttribute(const std::string& name)
{
    const std::size_t colons = name.rfind("::");
    Attribute found;
    if (colons == std::string::npos ||
        !TypeId::LookupByNameFailSafe(name.substr(0, colons), &found.type))
    {
        return std::nullopt;
    }
    for (TypeId type = found.type;; type = type.GetParent()) // the default is the parent's
    {
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            if (type.GetAttribute(i).name == name.substr(colons + 2))
            {
                return Attribute{type, i};
            }
        }
        if (type.GetParent() == type)
        {
            return std::nullopt;
        }
    }
}

/// @param attribute to mark anew, as not taken
void
Watch(Attribute attribute)
{
    const AttributeValue& value = attribute.GetDefault();
    if (const auto marked = MarkAsOneOf<BooleanValue,
                                        DataRateValue,
                                        DoubleValue,
                                        EnumValueOf<FlowTrigger>,
                                        EnumValueOf<Reliability>,
                                        EnumValueOf<RoutingMode>,
                                        IntegerValue,
                                        StringValue,
                                        TimeValue,
                                        TypeIdValue,
                                        UintegerValue>(value))
    {
        attribute.type.SetAttributeInitialValue(attribute.index, marked);
    }
}

/// @param attribute of which a mark is asked @return whether it is marked, and was not taken
bool
IsIdle(const Attribute& attribute)
{
    const auto* mark = dynamic_cast<const Mark*>(&attribute.GetDefault());
    return mark && !mark->IsTaken();
}

/// @param type of an attribute @param name of the attribute @param readers of a run without packets
/// @return whether these read it, or have named it
bool
IsReadBy(TypeId type, const std::string& name, AttributeReaders readers)
{
    const bool isOfPackets = type == Fabric::GetTypeId() || type == Transport::GetTypeId() ||
                             type.IsChildOf(CongestionType::GetTypeId());
    if (type == PacketNetwork::GetTypeId())
    {
        const auto& fields = GetCollectiveFields();
        const bool isField =
            std::any_of(fields.begin(), fields.end(), [&name](const CollectiveField& field) {
                return field.name == name;
            });
        const bool isJoin = name.compare(0, 4, "Join") == 0;
        return readers == AttributeReaders::EXECUTORS && (isField || isJoin);
    }
    return readers == AttributeReaders::EXECUTORS && isOfPackets;
}

} // namespace

void
WatchAttributes(const Configuration& given)
{
    GetDcqcnUse().Forget();
    Watch({Fabric::GetTypeId(), 0}); // says whether there were packets at all
    for (const auto& option : given)
    {
        if (const auto attribute = FindAttribute(option.first))
        {
            Watch(*attribute);
        }
    }
}

std::vector<std::string>
FindIdleAttributes(const Configuration& given, AttributeReaders readers)
{
    const bool hasPackets = !IsIdle({Fabric::GetTypeId(), 0});
    std::vector<std::string> lines;
    for (const auto& [name, value] : given)
    {
        const auto attribute = FindAttribute(name);
        if (attribute && IsIdle(*attribute) &&
            (hasPackets || !IsReadBy(attribute->type, name.substr(name.rfind(':') + 1), readers)))
        {
            lines.push_back("--" + name + "=" + value + " has no effect: no " +
                            name.substr(0, name.rfind("::")) + " of this run takes it");
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
