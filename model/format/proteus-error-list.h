/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ERROR_LIST_H
#define PROTEUS_ERROR_LIST_H

#include "ns3/proteus-json.h"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Files that say how far results are off, by kind.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What such a file is called.
struct ErrorListFormat
{
    const char* name;    //!< its "format"
    uint32_t version;    //!< its "version"
    const char* meaning; //!< of the file, for errors
    const char* list;    //!< key of the kinds
};

/**
 * @ingroup proteus
 * Reads such a file.
 * @tparam KIND what it says of a kind
 * @param input the file
 * @param fileName for errors
 * @param format of the file
 * @param read reads a kind, beside those before it
 * @return all kinds
 * @throw std::invalid_argument of one line, "FILE: /LIST/0/KEY: cause"
 */
template <typename KIND>
std::vector<KIND>
ReadErrorList(std::istream& input,
              const std::string& fileName,
              const ErrorListFormat& format,
              KIND (*read)(const JsonValue&, const std::vector<KIND>&))
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(format.name, format.version);
    document.GetRoot().AllowKeys(format.meaning, {"format", "version", "source", format.list});
    const JsonValue list = document.GetRoot().Get(format.list);
    std::vector<KIND> kinds;
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        kinds.push_back(read(list.At(i), kinds));
    }
    return kinds;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ERROR_LIST_H
