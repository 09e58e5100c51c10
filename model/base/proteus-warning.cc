/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-warning.h"

#include "proteus-held-warnings.h"
#include "proteus-output-follower.h"

#include <algorithm>
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
/// What keeps warnings, or null.
HeldWarnings* g_held = nullptr;
/// Of threads that compile or simulate.
std::mutex g_mutex;

/// @param text of a warning
void
PrintWarning(const std::string& text)
{
    std::cerr << "warning: " << text << std::endl;
}

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
    const std::lock_guard<std::mutex> lock(g_mutex);
    const bool isToPrint = g_listener == nullptr || g_listener->m_hear(text);
    if (!isToPrint || OutputFollower::IsThere())
    {
        return;
    }
    if (g_held != nullptr)
    {
        g_held->m_texts.push_back(text);
        return;
    }
    PrintWarning(text);
}

HeldWarnings::HeldWarnings()
{
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_held = g_held == nullptr ? this : g_held;
}

HeldWarnings::~HeldWarnings()
{
    Print();
}

void
HeldWarnings::Print()
{
    const std::lock_guard<std::mutex> lock(g_mutex);
    std::for_each(m_texts.begin(), m_texts.end(), PrintWarning);
    m_texts.clear();
    g_held = g_held == this ? nullptr : g_held;
}

void
HeldWarnings::Drop()
{
    const std::lock_guard<std::mutex> lock(g_mutex);
    m_texts.clear();
}

} // namespace proteus
} // namespace ns3
