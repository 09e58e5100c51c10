/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRACE_TEXTS_H
#define PROTEUS_TRACE_TEXTS_H

#include "../error-of.h"

#include "ns3/proteus-trace-file.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Traces that tests write down, whatever their format.
 */

namespace ns3
{
namespace proteus
{

/// @param texts of the files of a trace @return the files, "f0", "f1", ...
inline std::vector<TraceFile>
MakeTraceFiles(const std::vector<std::string>& texts)
{
    std::vector<TraceFile> files;
    for (const std::string& text : texts)
    {
        files.push_back({"f" + std::to_string(files.size()),
                         [text]() { return std::make_unique<std::istringstream>(text); }});
    }
    return files;
}

/// @param read reads a trace @return what is wrong with it, in one line; "" if nothing is
inline std::string
TraceErrorOf(const std::function<void()>& read)
{
    const std::string error = ErrorOf(read);
    EXPECT_EQ(error.find('\n'), std::string::npos);
    return error;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRACE_TEXTS_H
