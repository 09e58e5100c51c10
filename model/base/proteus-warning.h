/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WARNING_H
#define PROTEUS_WARNING_H

#include <functional>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Warnings: what a user should know although the program goes on.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Prints "warning: TEXT" on the standard error output, on a line of its own.
 * @param text what, where, and how to mend it; one line
 */
void Warn(const std::string& text);

/**
 * @ingroup proteus
 * While it lives, it hears every warning of this process, so that a result can say them, too, and
 * says which are printed. Of several, the one that was made last hears.
 */
class WarningListener
{
  public:
    /// Is called with the text of a warning; returns whether it is to be printed.
    using Hear = std::function<bool(const std::string& text)>;

    /// @param hear is called for each warning
    explicit WarningListener(Hear hear);
    ~WarningListener();

    WarningListener(const WarningListener&) = delete;
    WarningListener& operator=(const WarningListener&) = delete;

  private:
    friend void Warn(const std::string& text);

    Hear m_hear;
    WarningListener* m_before; //!< who heard until then, or null
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WARNING_H
