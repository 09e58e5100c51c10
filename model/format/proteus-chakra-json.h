/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_JSON_H
#define PROTEUS_CHAKRA_JSON_H

#include <string>

/**
 * @file
 * @ingroup proteus
 * Chakra execution traces as chakra_jsonizer of MLCommons writes them: the messages of the file,
 * one after the other, in the JSON of protocol buffers. Internal to the reader of Chakra traces.
 */

namespace ns3
{
namespace proteus
{

namespace pb
{
class ChakraMetadata;
class ChakraNodeMessage;
} // namespace pb

/// @ingroup proteus
/// @param begin the first characters of a file @return whether it is a Chakra trace in JSON
bool IsChakraJson(const std::string& begin);

/**
 * @ingroup proteus
 * Keys may be written as in the schema (data_deps) or as protocol buffers write them in JSON
 * (dataDeps); numbers of 64 bits may be text. Lists as values of attributes are left out.
 * @param json the text of an object
 * @param metadata gets what it says
 * @throw std::invalid_argument that says what is wrong
 */
void ParseChakraJson(const std::string& json, pb::ChakraMetadata& metadata);

/// @ingroup proteus
/// @copydoc ParseChakraJson(const std::string&,pb::ChakraMetadata&)
void ParseChakraJson(const std::string& json, pb::ChakraNodeMessage& metadata);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_JSON_H
