/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-congestion-type.h"

#include "ns3/object-factory.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-registry.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_OBJECT_ENSURE_REGISTERED(CongestionType);
NS_OBJECT_ENSURE_REGISTERED(NoCongestionControl);
PROTEUS_REGISTER_CONGESTION_CONTROL("none", NoCongestionControl);

namespace
{

/// What a short name stands for.
struct CongestionKind
{
    TypeId (*getTypeId)();
};

using Kinds = Registry<CongestionKind>;

} // namespace

CongestionRegistration::CongestionRegistration(const char* name, TypeId (*getTypeId)())
{
    Kinds::Registration(name, {getTypeId});
}

std::vector<std::string>
GetCongestionNames()
{
    std::vector<std::string> names{"none"};
    for (const std::string& name : Kinds::Get().GetNames())
    {
        if (name != names.front())
        {
            names.push_back(name);
        }
    }
    return names;
}

std::string
ListCongestionNames()
{
    return ListNames(GetCongestionNames());
}

Ptr<CongestionType>
MakeCongestionType(const std::string& name)
{
    TypeId tid;
    const CongestionKind* kind = Kinds::Get().Find(name);
    bool found = kind != nullptr;
    if (found)
    {
        tid = kind->getTypeId();
    }
    else if (TypeId::LookupByNameFailSafe(name, &tid))
    {
        found = tid.IsChildOf(CongestionType::GetTypeId()) && tid.HasConstructor();
    }
    if (!found)
    {
        throw std::invalid_argument("unknown congestion control '" + name +
                                    "'; known: " + ListCongestionNames() +
                                    ", and TypeIds derived from ns3::proteus::CongestionType");
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return factory.Create<CongestionType>();
}

TypeId
CongestionType::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::CongestionType").SetParent<Object>().SetGroupName("Proteus");
    return tid;
}

TypeId
NoCongestionControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::proteus::NoCongestionControl")
                            .SetParent<CongestionType>()
                            .SetGroupName("Proteus")
                            .AddConstructor<NoCongestionControl>();
    return tid;
}

std::unique_ptr<CongestionControl>
NoCongestionControl::Create(const CongestionPath& /* path */) const
{
    return nullptr;
}

CongestionNeeds
NoCongestionControl::GetNeeds() const
{
    return CongestionNeeds();
}

} // namespace proteus
} // namespace ns3
