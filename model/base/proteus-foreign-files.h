/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FOREIGN_FILES_H
#define PROTEUS_FOREIGN_FILES_H

#include "proteus-registry.h"

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Files of other programs (JSON, XML, YAML, TOML, scripts, archives), which somebody may give where
 * a file of this module belongs. Each kind is registered by the file that knows it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A kind of file.
struct ForeignFile
{
    std::vector<std::string> keys;    //!< of such a file
    std::size_t least{1};             //!< of the keys have to be there
    std::string what;                 //!< it is, and who reads it or what to give in its place
    std::string magic;                //!< bytes of a binary one, which tell it alone; empty: a text
    std::size_t magicAt{0};           //!< how many bytes stand before these
    std::vector<std::string> endings; //!< of names that no other kind has, e.g. ".nsys-rep"
    bool isJson{false};               //!< as JSON only: another text with its keys is not read
    std::vector<std::string> common;  //!< keys that it may have, too, and that do not tell it
};

/// @ingroup proteus
/// All kinds, by names that stand nowhere else.
using ForeignFileRegistry = Registry<ForeignFile>;

/// @ingroup proteus
/// @param keys of the object that a file holds, or ListTextKeys() @param own keys of what was
/// expected: a file with one of them is no foreign one that has it not @param isText whether they
/// are ListTextKeys() of a file that is no JSON
/// @return what the file looks like, by most of its keys, and who reads it, e.g. "this is a
/// configuration of DeepSpeed: ..."; empty if that is not known
std::string DescribeForeignFile(const std::vector<std::string>& keys,
                                const std::vector<std::string>& own = {},
                                bool isText = false);

/// @ingroup proteus
/// @param begin first bytes of a file, decompressed @return what a binary file that begins so is,
/// as DescribeForeignFile()
std::string DescribeForeignBegin(const std::string& begin);

/// @ingroup proteus
/// @param path of a file, which is not opened @return what its name's ending tells that it is, as
/// DescribeForeignFile()
std::string DescribeForeignName(const std::string& path);

/// @ingroup proteus
/// @param input a text @return what is left of it, or its first 64 KiB
std::string ReadTextBegin(std::istream& input);

/// @ingroup proteus
/// @param text of a file @return what stands there as a key does in YAML ("key:"), TOML ("key =",
/// "[section]"), scripts ("--key", without what follows), lists of words ("KEY value") and XML
/// ("<key", with the bracket)
std::vector<std::string> ListTextKeys(const std::string& text);

/// @ingroup proteus
/// @param input a text, of which ReadTextBegin() is read @return ListTextKeys() of it
std::vector<std::string> ListTextKeys(std::istream& input);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FOREIGN_FILES_H
