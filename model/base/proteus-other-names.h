/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OTHER_NAMES_H
#define PROTEUS_OTHER_NAMES_H

#include "proteus-registry.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What other frameworks, launchers and simulators call what has a name here, and what has a name
 * there and is not modelled here. The file that has the thing registers its words.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What others call a thing.
struct OtherNames
{
    std::vector<std::string> words; //!< in any case, with or without hyphens
};

/// @ingroup proteus
/// All of them, by the name of here, e.g. "globalBatch".
using OtherNamesRegistry = Registry<OtherNames>;

/// @ingroup proteus
/// Something of others that there is none of here.
struct MissingThing
{
    std::string kind;               //!< of names among which it is looked for, e.g. "optimizer"
    std::vector<std::string> words; //!< that it is called, in any case, with or without hyphens
    std::string cause;              //!< why there is none, and what to take in its place
};

/// @ingroup proteus
/// All of them, each by its kind and its usual name.
using MissingThingRegistry = Registry<MissingThing>;

/// @ingroup proteus
/// @param name of something here, e.g. "globalBatch" @return what others call it, as it may be
/// typed, in any case; none if nothing is known
std::vector<std::string> ListOtherNames(const std::string& name);

/// @ingroup proteus
/// @param word that is not among some names, e.g. "train_batch_size" @param names that there are
/// @return the one that others call so; else empty
std::string FindByOtherName(const std::string& word, const std::vector<std::string>& names);

/// @ingroup proteus
/// @param kind of names, e.g. "optimizer" @param word that is not among them
/// @return why there is no such thing, if others have it; else empty
std::string FindMissingCause(const std::string& kind, const std::string& word);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OTHER_NAMES_H
