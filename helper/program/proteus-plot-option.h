/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLOT_OPTION_H
#define PROTEUS_PLOT_OPTION_H

#include "proteus-command-line-text.h"
#include "proteus-option-list.h"

#include <functional>
#include <ostream>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The option --plot of programs that compare: a picture of their table.
struct PlotOption
{
    CommandLineText path; //!< file .svg or .png, or empty

    /// @param command to add --plot to
    void AddTo(OptionList& command);

    /// @throw std::invalid_argument if the file cannot be written, its name says no format that
    /// there is, or what makes a .png is not installed
    void Check() const;

    /**
     * Writes the picture, if it is wanted.
     * @param write writes it as SVG
     * @throw std::invalid_argument if the file cannot be written
     */
    void Write(const std::function<void(std::ostream&)>& write) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLOT_OPTION_H
