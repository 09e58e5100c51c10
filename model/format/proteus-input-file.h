/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_INPUT_FILE_H
#define PROTEUS_INPUT_FILE_H

#include <cstddef>
#include <istream>
#include <memory>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Files that may be compressed.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A file to be read from its beginning to its end, plain or compressed by gzip (RFC 1952), which
 * its first two bytes tell, without the byte order mark that UTF-8 may begin with. Memory does not
 * depend on its length.
 */
class InputFile
{
  public:
    /**
     * @param path of the file
     * @throw std::invalid_argument if it cannot be opened
     */
    explicit InputFile(const std::string& path);

    /**
     * @param in what stands for the file; outlives this object
     * @param name what messages call it
     */
    InputFile(std::istream& in, const std::string& name);

    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// @return what messages call it
    const std::string& GetName() const
    {
        return m_name;
    }

    /**
     * @return the content, plain. Reading throws std::invalid_argument "FILE: byte N: cause" where
     * the compressed data are damaged or cut off (N counts what is in the file), and "FILE: cannot
     * be read" where the system says so.
     */
    std::istream& GetStream()
    {
        return *m_stream;
    }

  private:
    class Buffer;

    /// Begins to read.
    void Begin(std::streambuf* source);

    std::string m_name;
    std::unique_ptr<std::istream> m_file; //!< null if another has it
    std::unique_ptr<Buffer> m_buffer;
    std::unique_ptr<std::istream> m_stream;
};

/**
 * @ingroup proteus
 * Opens a file that is read, as it is. What came out of a pipe is kept, so that it can be opened
 * more than once, as a file can.
 * @param path of it
 * @return its content
 * @throw std::invalid_argument "PATH: cause" if it cannot be read, or is to be written over
 */
std::unique_ptr<std::istream> OpenInput(const std::string& path);

/**
 * @ingroup proteus
 * @param input to read to its end
 * @param fileName for errors
 * @param most bytes that it may have, so that memory does not grow with a file that has no end
 * @return all of it
 * @throw std::invalid_argument if there is more
 */
std::string ReadWhole(std::istream& input, const std::string& fileName, std::size_t most);

/// @ingroup proteus
/// @param path a path @return whether it is that of a folder
bool IsFolder(const std::string& path);

/// @ingroup proteus
/// @param text e.g. the name of a file @param end e.g. ".json" @return whether the text ends so,
/// and has something before
bool EndsWith(const std::string& text, const std::string& end);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_INPUT_FILE_H
