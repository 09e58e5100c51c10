/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SETTLED_ATTRIBUTES_H
#define PROTEUS_SETTLED_ATTRIBUTES_H

#include "ns3/object.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The attributes of objects that have been read: what is set later would have no effect, or on some
 * parts only.
 */
class SettledAttributes
{
  public:
    /// @param object whose attributes have been read
    void Add(Ptr<const Object> object);

    /// @throw std::logic_error that names the first attribute that has another value since Add()
    void RequireUnchanged() const;

  private:
    /// An object, and its attributes then.
    struct Entry
    {
        Ptr<const Object> object;                                //!< whose
        std::vector<std::pair<std::string, std::string>> values; //!< TYPE::ATTRIBUTE, value
    };

    /// @param object any @return its attributes, those of its parents included
    static std::vector<std::pair<std::string, std::string>> Read(const Object& object);

    std::vector<Entry> m_entries; //!< by object
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SETTLED_ATTRIBUTES_H
