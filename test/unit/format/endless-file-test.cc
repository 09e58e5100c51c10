/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-input-file.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-text-reader.h"

#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// A file of one character without end, after a beginning.
class EndlessBuffer : public std::streambuf
{
  public:
    EndlessBuffer(std::string begin, char c)
        : m_begin(std::move(begin)),
          m_block(1 << 16, c)
    {
        setg(m_begin.data(), m_begin.data(), m_begin.data() + m_begin.size());
    }

  protected:
    int_type underflow() override
    {
        setg(m_block.data(), m_block.data(), m_block.data() + m_block.size());
        return traits_type::to_int_type(*gptr());
    }

  private:
    std::string m_begin;
    std::string m_block;
};

/// @return what a reader says of a file without end
std::string
Read(const std::string& begin, char c, const std::function<void(std::istream&)>& read)
{
    EndlessBuffer buffer(begin, c);
    std::istream input(&buffer);
    input.exceptions(std::ios::badbit); // what a buffer throws passes
    try
    {
        read(input);
    }
    catch (const std::exception& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(EndlessFile, IsRefusedByReadersOfLines)
{
    for (const char c : {'\n', ' ', '\0'})
    {
        const std::string said = Read("1\n", c, [](std::istream& input) {
            TextReader reader(input, "file");
            std::vector<std::string> words;
            while (reader.ReadWords(words))
            {
            }
        });
        EXPECT_NE(said.find("file"), std::string::npos) << static_cast<int>(c);
    }
}

TEST(EndlessFile, IsRefusedByReadersOfJson)
{
    for (const std::string begin : {"", "{\"format\": "})
    {
        const std::string said = Read(begin, '\n', [](std::istream& input) {
            InputFile file(input, "file");
            const JsonDocument document(file.GetStream(), "file");
        });
        EXPECT_NE(said.find("one and the same character"), std::string::npos) << said;
    }
}

TEST(EndlessFile, IsNoFileWithManyAlikeCharacters)
{
    const std::string said = Read(std::string(1 << 20, 'a'), 'b', [](std::istream& input) {
        InputFile file(input, "file");
        for (std::size_t i = 0; i < std::size_t{3} << 20; ++i)
        {
            file.GetStream().rdbuf()->sbumpc();
        }
    });
    EXPECT_EQ(said, "");
}
