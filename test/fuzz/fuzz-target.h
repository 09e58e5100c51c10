/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

/**
 * @file
 * What the fuzz targets of this folder share.
 */

/// What the fuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

/// What is read is called so.
const char* const INPUT = "input";

/// Ends the program, as the fuzzer wants it, unless a condition holds.
/// @param condition that must hold @param what it means if it does not
inline void
Demand(bool condition, const std::string& what)
{
    if (!condition)
    {
        std::fprintf(stderr, "fuzz target: %s\n", what.c_str());
        std::abort();
    }
}

/// @param read reads what the fuzzer made up, and may refuse it in one line
/// @param name that the line begins with @return whether it was taken
template <typename F>
bool
IsTaken(F read, const std::string& name = INPUT)
{
    try
    {
        read();
    }
    catch (const std::invalid_argument& error)
    {
        const std::string message = error.what();
        Demand(!message.empty(), "a message is empty");
        Demand(message.compare(0, name.size(), name) == 0, "a message does not name the file");
        Demand(message.find('\n') == std::string::npos, "a message has more than one line");
        return false;
    }
    return true;
}

#endif // FUZZ_TARGET_H
