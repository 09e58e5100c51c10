/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-input-file.h"

#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-readable-file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>
#include <map>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <sys/stat.h>
#include <utility>
#include <vector>
#include <zlib.h>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes that are read from the file at a time.
constexpr std::size_t SOURCE_BYTES = 1 << 16;
/// Bytes that are decompressed at a time.
constexpr std::size_t PLAIN_BYTES = 1 << 18;
/// Bytes of one and the same character, one after the other, in a file.
constexpr std::size_t MOST_ALIKE_BYTES = std::size_t{4} << 20;
/// First two bytes of a gzip file (RFC 1952).
constexpr unsigned char GZIP_MAGIC[] = {0x1f, 0x8b};
/// What UTF-8 may have at its beginning. A graph as protobuf cannot begin so, and a Chakra trace
/// only with metadata of more than 2 MB.
constexpr char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";
constexpr std::size_t MARK_BYTES = 3;
/// What may tell a binary file of another program.
constexpr std::size_t MOST_MAGIC_BYTES = 512;
/// inflateInit2(): largest window, and a gzip header.
constexpr int GZIP_WINDOW_BITS = 15 + 16;
/// What is kept of a pipe.
constexpr std::size_t MOST_PIPE_BYTES = std::size_t{1} << 30;

/// A pipe gives its bytes once, and a program may read a file more than once: what came out of it
/// is kept. @param path of a file that can be read @return its content
std::unique_ptr<std::istream>
Open(const std::string& path)
{
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode))
    {
        return std::make_unique<std::ifstream>(path, std::ios::binary);
    }
    static std::map<std::pair<dev_t, ino_t>, std::string> pipes;
    const auto [kept, isNew] = pipes.try_emplace({status.st_dev, status.st_ino});
    if (isNew)
    {
        std::ifstream pipe(path, std::ios::binary);
        kept->second = ReadWhole(pipe, path, MOST_PIPE_BYTES);
    }
    return std::make_unique<std::istringstream>(kept->second);
}

} // namespace

/// Decompresses what it takes from another buffer, or hands it through.
class InputFile::Buffer : public std::streambuf
{
  public:
    Buffer(std::streambuf* source, const std::string& name)
        : m_source(source),
          m_name(name),
          m_input(SOURCE_BYTES)
    {
        Refill();
        m_isCompressed =
            m_available >= 2 && m_input[0] == GZIP_MAGIC[0] && m_input[1] == GZIP_MAGIC[1];
        if (m_isCompressed)
        {
            m_plain.resize(PLAIN_BYTES);
            Start();
        }
    }

    ~Buffer() override
    {
        if (m_isStarted)
        {
            inflateEnd(&m_zlib);
        }
    }

  protected:
    int_type underflow() override
    {
        std::size_t n = m_isCompressed ? Inflate() : Copy();
        if (m_isFirst && n >= MARK_BYTES && std::memcmp(gptr(), BYTE_ORDER_MARK, MARK_BYTES) == 0)
        {
            n -= MARK_BYTES;
            setg(eback(), gptr() + MARK_BYTES, egptr());
        }
        if (m_isFirst && n > 0)
        {
            const std::string what = DescribeForeignBegin({gptr(), std::min(n, MOST_MAGIC_BYTES)});
            if (!what.empty())
            {
                throw std::invalid_argument(m_name + ": " + what);
            }
        }
        m_isFirst = false;
        if (n == 0)
        {
            return traits_type::eof();
        }
        CheckEndless(gptr(), n);
        return traits_type::to_int_type(*gptr());
    }

  private:
    /// Refuses what no file of sense is: /dev/zero, or empty lines without end, which readers would
    /// skip for ever. @param begin of what comes next @param n how many bytes, at least one
    void CheckEndless(const char* begin, std::size_t n)
    {
        const bool isUniform = *begin == m_last && std::memcmp(begin, begin + 1, n - 1) == 0;
        m_alike = isUniform ? m_alike + n : 0;
        m_last = begin[n - 1];
        if (m_alike > MOST_ALIKE_BYTES)
        {
            Fail("more than " + std::to_string(MOST_ALIKE_BYTES >> 20) +
                 " MiB of one and the same character: this is no file to be read");
        }
    }

    [[noreturn]] void Fail(const std::string& cause) const
    {
        throw std::invalid_argument(m_name + ": byte " + std::to_string(m_consumed - m_available) +
                                    ": " + cause);
    }

    /// Takes more from the source when all is used; m_available is 0 at its end.
    void Refill()
    {
        if (m_available > 0)
        {
            return;
        }
        try
        {
            m_available = static_cast<std::size_t>(
                m_source->sgetn(reinterpret_cast<char*>(m_input.data()), SOURCE_BYTES));
        }
        catch (const std::ios_base::failure&)
        {
            throw std::invalid_argument(m_name + ": cannot be read");
        }
        m_consumed += m_available;
        m_next = m_input.data();
    }

    /// @return bytes handed through
    std::size_t Copy()
    {
        Refill();
        const std::size_t n = m_available;
        auto* begin = reinterpret_cast<char*>(m_next);
        setg(begin, begin, begin + n);
        m_available = 0;
        return n;
    }

    void Start()
    {
        m_zlib = z_stream();
        if (inflateInit2(&m_zlib, GZIP_WINDOW_BITS) != Z_OK)
        {
            throw std::invalid_argument(m_name + ": no memory to decompress it");
        }
        m_isStarted = true;
    }

    /// @return bytes decompressed; 0 at the end of the file
    std::size_t Inflate()
    {
        for (;;)
        {
            Refill();
            if (!m_isStarted)
            {
                if (m_available == 0)
                {
                    return 0;
                }
                Start(); // files may be several compressed ones, one after the other
            }
            if (m_available == 0)
            {
                Fail("the compressed data end too early; the file was cut off");
            }
            m_zlib.next_in = m_next;
            m_zlib.avail_in = static_cast<unsigned>(m_available);
            m_zlib.next_out = m_plain.data();
            m_zlib.avail_out = static_cast<unsigned>(m_plain.size());
            const int result = inflate(&m_zlib, Z_NO_FLUSH);
            m_next = m_zlib.next_in;
            m_available = m_zlib.avail_in;
            if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            {
                Fail(std::string("the compressed data are damaged") +
                     (m_zlib.msg ? std::string(" (") + m_zlib.msg + ")" : ""));
            }
            if (result == Z_STREAM_END)
            {
                inflateEnd(&m_zlib);
                m_isStarted = false;
            }
            const std::size_t n = m_plain.size() - m_zlib.avail_out;
            if (n > 0)
            {
                auto* begin = reinterpret_cast<char*>(m_plain.data());
                setg(begin, begin, begin + n);
                return n;
            }
        }
    }

    char m_last{0};         //!< character that was handed out last
    std::size_t m_alike{0}; //!< bytes that were all that, in whole blocks
    std::streambuf* m_source;
    const std::string& m_name;
    std::vector<unsigned char> m_input; //!< as it is in the file
    unsigned char* m_next{nullptr};     //!< what is not used of it
    std::size_t m_available{0};         //!< how much that is
    uint64_t m_consumed{0};             //!< bytes taken from the source
    std::vector<unsigned char> m_plain; //!< decompressed
    bool m_isFirst{true};               //!< whether nothing has been handed out
    bool m_isCompressed{false};
    bool m_isStarted{false}; //!< whether m_zlib is in use
    z_stream m_zlib;
};

InputFile::InputFile(const std::string& path)
    : m_name(path),
      m_file(OpenInput(path))
{
    Begin(m_file->rdbuf());
}

InputFile::InputFile(std::istream& in, const std::string& name)
    : m_name(name)
{
    Begin(in.rdbuf());
}

InputFile::~InputFile() = default;

void
InputFile::Begin(std::streambuf* source)
{
    m_buffer = std::make_unique<Buffer>(source, m_name);
    m_stream = std::make_unique<std::istream>(m_buffer.get());
    // So that what the buffer throws comes through.
    m_stream->exceptions(std::ios::badbit);
}

std::unique_ptr<std::istream>
OpenInput(const std::string& path)
{
    if (IsFolder(path))
    {
        throw std::invalid_argument(path + ": cannot be read: it is a directory");
    }
    if (!IsReadable(path))
    {
        throw std::invalid_argument(path + ": cannot be read: " + DescribeUnreadable(path));
    }
    auto file = Open(path);
    OutputPlan::CheckInput(path);
    return file;
}

std::string
ReadWhole(std::istream& input, const std::string& fileName, std::size_t most)
{
    std::string text;
    std::vector<char> block(SOURCE_BYTES);
    while (true)
    {
        const std::streamsize n =
            input.rdbuf()->sgetn(block.data(), static_cast<std::streamsize>(block.size()));
        if (n <= 0)
        {
            return text;
        }
        if (text.size() + static_cast<std::size_t>(n) > most)
        {
            throw std::invalid_argument(fileName + ": is longer than " + std::to_string(most) +
                                        " bytes");
        }
        text.append(block.data(), static_cast<std::size_t>(n));
    }
}

bool
IsFolder(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool
EndsWith(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace proteus
} // namespace ns3
