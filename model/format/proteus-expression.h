/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXPRESSION_H
#define PROTEUS_EXPRESSION_H

#include <cstdint>
#include <functional>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Whole-number expressions in files, e.g. "4 * hidden".
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Evaluates an expression of whole numbers, names, + - * /, parentheses, comparison (== > <, which
 * give 1 or 0), and pad(a, b), the smallest multiple of b that is not less than a.
 *
 * @param text the expression
 * @param find value of a name
 * @return the value
 * @throw std::invalid_argument that shows the expression: bad syntax, a division that leaves a
 * remainder, a number beyond 63 bits, and what `find` throws
 */
int64_t EvaluateExpression(const std::string& text,
                           const std::function<int64_t(const std::string&)>& find);

/**
 * @ingroup proteus
 * Checks how an expression is written, where the values of its names are not known.
 *
 * @param text the expression
 * @param check is called with every name in it
 * @throw std::invalid_argument that shows the expression: bad syntax, and what `check` throws
 */
void CheckExpression(const std::string& text, const std::function<void(const std::string&)>& check);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXPRESSION_H
