/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OTHER_NAMES_H
#define PROTEUS_OTHER_NAMES_H

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What other frameworks, launchers and simulators call what has a name here: parts of a strategy,
 * number formats, executors.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param name of something here, e.g. "globalBatch" @return what others call it, as it may be
/// typed, in any case; none if nothing is known
std::vector<std::string> ListOtherNames(const std::string& name);

/// @ingroup proteus
/// @param word that is not among some names, e.g. "train_batch_size" @param names that there are
/// @return the one that others call so; else empty
std::string FindByOtherName(const std::string& word, const std::vector<std::string>& names);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OTHER_NAMES_H
