/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-output-file.h"
#include "ns3/proteus-partial-file.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

std::string
ReadText(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace

TEST(OutputFile, IsWholeOrNotThere)
{
    const TemporaryFolder folder;
    const std::string path = folder / "a.txt";
    const auto write = [](const std::string& text) {
        return [text](std::ostream& out) { out << text; };
    };
    WriteFile(path, write("one\r\n"));
    EXPECT_EQ(ReadText(path), "one\r\n");
    WriteFile(path, write("two"));
    EXPECT_EQ(ReadText(path), "two");

    // An error leaves what was there, and nothing else.
    const std::string error = ErrorOf([&] {
        WriteFile(path, [](std::ostream& out) {
            out << std::string(100000, 'x');
            throw std::runtime_error("the cat is on the table");
        });
    });
    EXPECT_EQ(error, path + ": cannot be written: the cat is on the table");
    EXPECT_EQ(ReadText(path), "two");
    // While it is written the old content is still there.
    WriteFile(path, [&](std::ostream& out) {
        out << std::string(100000, 'x');
        EXPECT_EQ(ReadText(path), "two");
        EXPECT_EQ(folder.CountFiles(), 2U);
    });
    EXPECT_EQ(ReadText(path).size(), 100000U);
    EXPECT_EQ(folder.CountFiles(), 1U);
    // A stream that its writer found bad, without a cause of the system.
    ExpectContains(ErrorOf([&] {
                       WriteFile(path, [](std::ostream& out) { out.setstate(std::ios::failbit); });
                   }),
                   path + ": cannot be written: ");
    EXPECT_EQ(folder.CountFiles(), 1U);

    const std::string nowhere = folder / "no/such/b.txt";
    EXPECT_EQ(ErrorOf([&] { WriteFile(nowhere, write("x")); }),
              nowhere + ": cannot be written: No such file or directory");
    const std::string directory = folder / "directory";
    std::filesystem::create_directory(directory);
    EXPECT_EQ(ErrorOf([&] { WriteFile(directory, write("x")); }),
              directory + ": cannot be written: it is a directory");
    ExpectContains(ErrorOf([&] { WriteFile("", write("x")); }), ": cannot be written: ");
    EXPECT_EQ(folder.CountFiles(), 2U);
}

TEST(PartialFile, GetsItsNameWhenItIsWhole)
{
    const TemporaryFolder folder;
    const std::string path = folder / "trace.tr";
    std::ofstream(path) << "of before";
    {
        const PartialFile cut(path);
        EXPECT_FALSE(cut.IsDirect());
        std::ofstream(cut.GetPath()) << "half";
        EXPECT_EQ(folder.CountFiles(), 2U);
    }
    EXPECT_EQ(folder.CountFiles(), 1U);
    EXPECT_EQ(ReadText(path), "of before");
    {
        PartialFile whole(path);
        std::ofstream(whole.GetPath()) << "all";
        EXPECT_EQ(ReadText(path), "of before");
        whole.Finish();
        EXPECT_EQ(ReadText(path), "all");
    }
    EXPECT_EQ(folder.CountFiles(), 1U);
    EXPECT_EQ(ReadText(path), "all");
    EXPECT_TRUE(PartialFile("/dev/null").IsDirect());
    EXPECT_EQ(PartialFile("/dev/null").GetPath(), "/dev/null");
}

TEST(OutputFile, IsCheckedBeforehand)
{
    const TemporaryFolder folder;
    const std::string path = folder / "a.txt";
    CheckWritable(path);
    EXPECT_EQ(folder.CountFiles(), 0U) << "nothing is left behind";
    std::ofstream(path) << "kept";
    CheckWritable(path);
    EXPECT_EQ(ReadText(path), "kept");
    CheckWritable("/dev/null");
    const std::string nowhere = folder / "no/such/b.txt";
    EXPECT_EQ(ErrorOf([&] { CheckWritable(nowhere); }),
              nowhere + ": cannot be written: No such file or directory");
    EXPECT_EQ(ErrorOf([&] { CheckWritable(folder / "."); }),
              std::string(folder / ".") + ": cannot be written: it is a directory");
    ExpectContains(ErrorOf([] { CheckWritable(""); }), "the name is empty");
}

TEST(OutputFile, LinksAndDevices)
{
    const TemporaryFolder folder;
    const auto write = [](std::ostream& out) { out << "text"; };
    std::ofstream(folder / "real.txt") << "old";
    std::filesystem::create_symlink(folder / "real.txt", folder / "link.txt");
    WriteFile(folder / "link.txt", write);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
    EXPECT_EQ(ReadText(folder / "real.txt"), "text");
    EXPECT_EQ(folder.CountFiles(), 2U);

    // A link to what is not there yet is followed, too, also by way of another one.
    std::filesystem::create_symlink("new.txt", folder / "early.txt");
    std::filesystem::create_symlink("early.txt", folder / "earlier.txt");
    WriteFile(folder / "earlier.txt", write);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "earlier.txt"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "early.txt"));
    EXPECT_EQ(ReadText(folder / "new.txt"), "text");

    // A device stays a device, and a full one is an error with the system's cause.
    WriteFile("/dev/null", write);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    if (std::filesystem::is_character_file("/dev/full"))
    {
        EXPECT_EQ(ErrorOf([&] { WriteFile("/dev/full", write); }),
                  "/dev/full: cannot be written: No space left on device");
        EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
        // Many blocks, so that it shows before the end.
        ExpectContains(ErrorOf([&] {
                           WriteFile("/dev/full",
                                     [](std::ostream& out) { out << std::string(1 << 20, 'x'); });
                       }),
                       "No space left on device");
    }
}

} // namespace proteus
} // namespace ns3
