/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STRATEGY_ERROR_H
#define PROTEUS_STRATEGY_ERROR_H

#include <stdexcept>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is wrong with a strategy for a model, in one line. Who knows its file adds that.
class StrategyError : public std::invalid_argument
{
  public:
    using std::invalid_argument::invalid_argument;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STRATEGY_ERROR_H
