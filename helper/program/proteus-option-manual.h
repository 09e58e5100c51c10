/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPTION_MANUAL_H
#define PROTEUS_OPTION_MANUAL_H

#include "proteus-option-list.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is made of the options of a program besides its help: a manual page, and scripts by which
/// shells complete them.
struct OptionManual
{
    const std::string& program;                    //!< name
    const std::string& usage;                      //!< what it does
    const std::vector<OptionList::Entry>& entries; //!< its options
    /// What all programs answer, and with what.
    const std::vector<std::pair<std::string, std::string>>& questions;

    /**
     * Writes a page in troff's man macros.
     * @param out where to
     */
    void WriteManualPage(std::ostream& out) const;

    /**
     * Writes a script that completes options, after the program's name and after ./ns3 run. Those
     * of several programs may be read one after the other.
     * @param shell bash or zsh; empty: bash
     * @param out where to
     * @throw std::invalid_argument for another shell
     */
    void WriteCompletion(const std::string& shell, std::ostream& out) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPTION_MANUAL_H
