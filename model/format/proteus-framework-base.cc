/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-framework-base.h"

#include "proteus-base-file.h"
#include "proteus-input-file.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MOST_BYTES = std::size_t{1} << 20; //!< of a file

/// Reads files of one chain of bases.
class BaseReader
{
  public:
    /// See ReadWithBase().
    BaseReader(std::string folder, const std::function<void(const JsonDocument&)>& check)
        : m_folder(std::move(folder)),
          m_check(check)
    {
    }

    /// @param input the text @param fileName for errors @return the file joined with its bases
    nlohmann::json Read(std::istream& input, const std::string& fileName)
    {
        const std::string text = ReadWhole(input, fileName, MOST_BYTES);
        std::istringstream copy(text);
        const JsonDocument document(copy, fileName);
        document.CheckFormat("proteus-framework", 1);
        const JsonValue root = document.GetRoot();
        nlohmann::json whole = nlohmann::json::parse(text);
        const auto base = root.Find("base");
        if (!base)
        {
            return whole;
        }
        for (const char* key : {"name", "description"}) // are its own
        {
            root.Get(key).AsName();
        }
        CheckBases(fileName, ++m_bases);
        nlohmann::json joined = base->Check([&] { return ReadBase(*base, fileName); });
        whole.erase("base");
        Join(root, whole, joined);
        return joined;
    }

  private:
    /// @param base the field @param fileName of its file @return what the base is
    nlohmann::json ReadBase(const JsonValue& base, const std::string& fileName)
    {
        const std::string path = FindBaseFile(fileName, base.AsName(), m_folder);
        InputFile file(path);
        nlohmann::json whole = Read(file.GetStream(), path);
        m_check(JsonDocument(path, "", nlohmann::json(whole)));
        return whole;
    }

    /// @param place of the object, for errors @param own fields of it, which may be null
    /// @param joined the base's, which become those of both
    static void Join(const JsonValue& place, const nlohmann::json& own, nlohmann::json& joined)
    {
        for (const auto& [key, value] : own.items())
        {
            const bool isThere = joined.contains(key);
            if (value.is_null())
            {
                if (!isThere)
                {
                    place.Get(key.c_str())
                        .Fail("null leaves out what the base has, and it has "
                              "nothing there");
                }
                joined.erase(key);
            }
            else if (isThere && IsJoined(value) && IsJoined(joined[key]))
            {
                Join(place.Get(key.c_str()), value, joined[key]);
            }
            else
            {
                joined[key] = value;
            }
        }
    }

    /// @return whether fields of an object count one by one
    static bool IsJoined(const nlohmann::json& value)
    {
        return value.is_object() && !value.contains("source");
    }

    std::string m_folder;
    const std::function<void(const JsonDocument&)>& m_check;
    std::size_t m_bases{0};
};

} // namespace

std::unique_ptr<JsonDocument>
ReadWithBase(std::istream& input,
             const std::string& fileName,
             const std::string& folder,
             const std::function<void(const JsonDocument&)>& check)
{
    BaseReader reader(folder, check);
    return std::make_unique<JsonDocument>(fileName, "", reader.Read(input, fileName));
}

} // namespace proteus
} // namespace ns3
