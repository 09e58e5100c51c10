/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEARCH_OPTIONS_H
#define PROTEUS_SEARCH_OPTIONS_H

#include "proteus-command-line-text.h"
#include "proteus-model-options.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"

#include <cstdint>
#include <set>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What proteus-search is asked for.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the user asked for, besides what all programs have.
struct SearchOptions : ProgramOptions
{
    ModelOptions model;
    double memory{0};       //!< GB of a GPU; 0: data sheet
    int64_t globalBatch{0}; //!< samples per iteration
    std::string objective{"time"};
    double budget{0};       //!< seconds; 0: none
    int64_t reduced{0};     //!< plans for which a small job is run by flows
    int64_t flows{20};      //!< strategies that are run by flows
    int64_t packets{2};     //!< strategies that are run by packets
    int64_t threads{1};     //!< for flows
    int64_t mostTensor{0};  //!< 0: GPUs of a server
    int64_t mostContext{0}; //!< 0: by the length of sequences
    int64_t mostMicroBatch{16};
    std::string dataType{"bf16"};
    std::string optimizer{"adam"};
    std::string vary{"all"};
    CommandLineText csv;
    CommandLineText output;
    CommandLineText report;
    PlotOption plot;
    std::string plotOf{"times"}; //!< what it shows: times, or front (time against memory)
    CommandLineText log;
    std::string experts;             //!< files of strategies, separated by commas
    int64_t layoutPlans{4};          //!< plans in whose stages layouts are searched
    bool isSensitivityWanted{false}; //!< whether other networks and memories are looked at
    CommandLineText prices;          //!< table, a JSON file

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// @return what --vary names @throw std::invalid_argument for what there is not
    std::set<std::string> GetChoices() const;

    /// @param command that names what other options leave nothing to do for
    void AddIdleTo(OptionList& command) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEARCH_OPTIONS_H
