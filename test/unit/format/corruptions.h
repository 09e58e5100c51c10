/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CORRUPTIONS_H
#define PROTEUS_CORRUPTIONS_H

#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * Cuts a file off before every byte, or changes that byte. It must be read as another valid file,
 * or be refused in one line that begins with its name.
 *
 * @param text of the file
 * @param name of the file
 * @param rounds how often each byte is changed
 * @param read reads a damaged file, and checks what it got; throws std::invalid_argument
 */
template <typename Read>
void
CorruptAnywhere(const std::string& text, const std::string& name, int rounds, Read read)
{
    std::mt19937 random(5);
    for (std::size_t at = 0; at < text.size(); ++at)
    {
        for (int round = 0; round <= rounds; ++round)
        {
            std::string bad = round == 0 ? text.substr(0, at) : text;
            if (round > 0)
            {
                bad[at] = static_cast<char>(random());
            }
            try
            {
                read(bad);
            }
            catch (const std::invalid_argument& error)
            {
                const std::string message = error.what();
                EXPECT_EQ(message.substr(0, name.size() + 1), name + ":") << at;
                EXPECT_EQ(message.find('\n'), std::string::npos) << message;
            }
        }
    }
}

/**
 * Changes one to three bytes of a file anywhere.
 *
 * @param text of the file
 * @param times how often
 * @param read reads a damaged file; throws nothing
 */
template <typename Read>
void
DamageAtRandom(const std::string& text, int times, Read read)
{
    std::mt19937 random(1);
    for (int i = 0; i < times; ++i)
    {
        std::string damaged = text;
        for (int k = 0; k < 1 + i % 3; ++k)
        {
            damaged[random() % damaged.size()] = static_cast<char>(random());
        }
        read(damaged);
    }
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CORRUPTIONS_H
