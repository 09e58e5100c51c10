/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPTION_WORDS_H
#define PROTEUS_OPTION_WORDS_H

#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What other simulators, launchers and frameworks call the options of these programs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Words for one thing.
struct OptionWords
{
    std::vector<std::string> words;      //!< as they may be typed, in any case
    std::vector<std::string> options;    //!< that are meant: the first that a program has
    std::vector<std::string> attributes; //!< of ns-3 that are meant, TYPE::ATTRIBUTE
    std::string hint;                    //!< said where no option is there; may be empty
};

/// @ingroup proteus
/// @return all of them
const std::vector<OptionWords>& GetOptionWords();

/**
 * @ingroup proteus
 * @param word name of an option that a program does not have
 * @param hasOption whether it has one of that name
 * @return what to type instead; empty: nothing is known
 */
std::string FindOptionWord(const std::string& word,
                           const std::function<bool(const std::string& name)>& hasOption);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPTION_WORDS_H
