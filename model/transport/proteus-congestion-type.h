/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONGESTION_TYPE_H
#define PROTEUS_CONGESTION_TYPE_H

#include "proteus-congestion-control.h"

#include "ns3/object.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A kind of congestion control: its parameters as attributes, and the maker of the controls of
 * queue pairs. A new kind derives from this in the file of its algorithm. There it is registered
 * with NS_OBJECT_ENSURE_REGISTERED, and gets its short name by PROTEUS_REGISTER_CONGESTION_CONTROL.
 */
class CongestionType : public Object
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    /// @param path of a queue pair @return its control; null where only credits hold it back
    virtual std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const = 0;

    /// @return what the controls need
    virtual CongestionNeeds GetNeeds() const = 0;
};

/**
 * @ingroup proteus
 * Finds a kind of congestion control.
 * @param name one of GetCongestionNames(), or the full name of a TypeId derived from CongestionType
 * @return a new object of the kind, with the attributes' default values
 * @throw std::invalid_argument that lists the known names
 */
Ptr<CongestionType> MakeCongestionType(const std::string& name);

/// @ingroup proteus
/// @return the short names that MakeCongestionType() knows: "none", and the others in alphabetical
/// order
std::vector<std::string> GetCongestionNames();

/// @ingroup proteus
/// @return the same as a list for people: "none, dcqcn, dctcp, ..."
std::string ListCongestionNames();

/// @ingroup proteus
/// Gives a kind of congestion control its short name; made once per kind, before main().
class CongestionRegistration
{
  public:
    /// @param name short, in lower case, of no other kind @param getTypeId of the kind
    CongestionRegistration(const char* name, TypeId (*getTypeId)());
};

/**
 * @ingroup proteus
 * Registers a kind of congestion control, in the file that defines it.
 * @param name short, in lower case, as typed on a command line
 * @param type class derived from CongestionType
 */
#define PROTEUS_REGISTER_CONGESTION_CONTROL(name, type)                                            \
    static const CongestionRegistration g_##type##Registration(name, &type::GetTypeId)

/// @ingroup proteus
/// No congestion control: credits, pauses and the transport's window only.
class NoCongestionControl : public CongestionType
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();
    // Inherited from CongestionType
    std::unique_ptr<CongestionControl> Create(const CongestionPath& path) const override;
    CongestionNeeds GetNeeds() const override;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONGESTION_TYPE_H
