/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-held-output.h"

#include <atomic>
#include <iostream>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// What holds the output, or null. Threads, too, say that something runs.
std::atomic<HeldOutput*> g_held{nullptr};

} // namespace

HeldOutput::HeldOutput()
{
    HeldOutput* none = nullptr;
    if (g_held.compare_exchange_strong(none, this))
    {
        m_out = std::cout.rdbuf(&m_buffer);
        m_tied = std::cerr.tie(nullptr); // a warning is no wish to read what is kept
    }
}

HeldOutput::~HeldOutput()
{
    if (g_held == this)
    {
        Release();
    }
}

void
HeldOutput::Release()
{
    HeldOutput* const held = g_held.exchange(nullptr);
    if (held != nullptr)
    {
        std::cerr.tie(held->m_tied);
        std::cout.rdbuf(held->m_out);
        held->m_warnings.Print();
        std::cout << held->m_buffer.str() << std::flush;
        held->m_buffer.str("");
    }
}

void
HeldOutput::Drop()
{
    m_warnings.Drop();
    m_buffer.str("");
}

} // namespace proteus
} // namespace ns3
