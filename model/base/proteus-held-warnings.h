/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HELD_WARNINGS_H
#define PROTEUS_HELD_WARNINGS_H

#include "proteus-warning.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Warnings before it is known whether there will be a result.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * While it lives, what Warn() would print is kept: what ends in a refusal has one message. There
 * can be one object at a time; a second one does nothing.
 */
class HeldWarnings
{
  public:
    HeldWarnings();
    /// Print().
    ~HeldWarnings();

    HeldWarnings(const HeldWarnings&) = delete;
    HeldWarnings& operator=(const HeldWarnings&) = delete;

    /// Prints what is kept, and all that follows at once.
    void Print();

    /// Forgets what is kept.
    void Drop();

  private:
    friend void Warn(const std::string& text);

    std::vector<std::string> m_texts; //!< what is kept, in order
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HELD_WARNINGS_H
