/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HELD_OUTPUT_H
#define PROTEUS_HELD_OUTPUT_H

#include "ns3/proteus-held-warnings.h"

#include <ostream>
#include <sstream>
#include <streambuf>

/**
 * @file
 * @ingroup proteus
 * What a program prints before it runs.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * While it lives, std::cout and warnings are kept until something runs, see Release(): what is
 * refused before has printed nothing that looks like a result, and nothing beside what is wrong.
 * There can be one object at a time; a second one does nothing.
 */
class HeldOutput
{
  public:
    HeldOutput();
    /// Prints what is kept, unless it was dropped.
    ~HeldOutput();

    HeldOutput(const HeldOutput&) = delete;
    HeldOutput& operator=(const HeldOutput&) = delete;

    /// Something runs, and can come to an end that is no refusal: prints what is kept, and all
    /// that follows at once.
    static void Release();

    /// For what is refused: forgets what is kept.
    void Drop();

  private:
    /// A flush is a wish to be read at once.
    class Buffer : public std::stringbuf
    {
      protected:
        int sync() override
        {
            Release();
            return 0;
        }
    };

    Buffer m_buffer;
    std::streambuf* m_out{nullptr}; //!< of std::cout; null when nothing is held
    std::ostream* m_tied{nullptr};  //!< to std::cerr
    HeldWarnings m_warnings;        //!< what was warned of
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HELD_OUTPUT_H
