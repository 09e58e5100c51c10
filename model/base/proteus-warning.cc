/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-warning.h"

#include "proteus-output-follower.h"

#include <iostream>
#include <mutex>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Who hears warnings, or null. As standard error does, it belongs to the process as a whole.
WarningListener* g_listener = nullptr;

} // namespace

WarningListener::WarningListener(Hear hear)
    : m_hear(std::move(hear)),
      m_before(g_listener)
{
    g_listener = this;
}

WarningListener::~WarningListener()
{
    g_listener = m_before;
}

void
Warn(const std::string& text)
{
    static std::mutex mutex; // of threads that compile or simulate
    const std::lock_guard<std::mutex> lock(mutex);
    const bool isToPrint = g_listener == nullptr || g_listener->m_hear(text);
    if (isToPrint && !OutputFollower::IsThere())
    {
        std::cerr << "warning: " << text << std::endl;
    }
}

} // namespace proteus
} // namespace ns3
