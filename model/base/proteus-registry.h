/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REGISTRY_H
#define PROTEUS_REGISTRY_H

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * All things of one kind, e.g. executors, by their names. Each is registered in the file that has
 * it, by an object of class Registration at namespace scope, before main() begins. Nothing changes
 * after that. A static library must be linked as a whole, as for the TypeIds of ns-3.
 * @tparam T what is registered
 */
template <typename T>
class Registry
{
  public:
    /// @return the registry of the kind
    static const Registry& Get()
    {
        return Instance();
    }

    /// @param name of a thing @return it, or null if there is none
    const T* Find(const std::string& name) const
    {
        const auto found = m_things.find(name);
        return found == m_things.end() ? nullptr : &found->second;
    }

    /// @return all names, in alphabetical order
    std::vector<std::string> GetNames() const
    {
        std::vector<std::string> names;
        for (const auto& [name, thing] : m_things)
        {
            names.push_back(name);
        }
        return names;
    }

    /// @return all things, in the order of their names
    const std::map<std::string, T>& GetAll() const
    {
        return m_things;
    }

    /// Registers a thing by being made.
    class Registration
    {
      public:
        /// @param name of the thing @param thing to register
        /// @throw std::logic_error if the name is taken
        Registration(const std::string& name, T thing)
        {
            if (!Instance().m_things.emplace(name, std::move(thing)).second)
            {
                throw std::logic_error("'" + name + "' is registered twice");
            }
        }
    };

  private:
    static Registry& Instance()
    {
        static Registry registry; // made by the first that registers, whatever the order of files
        return registry;
    }

    std::map<std::string, T> m_things;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REGISTRY_H
