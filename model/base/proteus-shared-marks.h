/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SHARED_MARKS_H
#define PROTEUS_SHARED_MARKS_H

#include <atomic>

/**
 * @file
 * @ingroup proteus
 * Marks that the processes share which a program forks to simulate in.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * To be called before a process forks whose children are to set the mark.
 * @return a mark that is not set, for as long as the process lives; of more than 65,536 the first
 * ones are given anew
 * @throw std::runtime_error if there is no memory that processes share
 */
std::atomic<bool>& TakeSharedMark();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SHARED_MARKS_H
