/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plot-option.h"

#include "ns3/proteus-output-file.h"
#include "ns3/proteus-split.h"

#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace ns3
{
namespace proteus
{

namespace
{

/// Makes bitmaps of SVG; of Debian's package librsvg2-bin.
const char* const CONVERTER = "rsvg-convert";

bool
IsInstalled(const std::string& program)
{
    const char* const path = std::getenv("PATH");
    for (const std::string& folder : SplitList(path ? path : "", ':'))
    {
        if (access((folder + "/" + program).c_str(), X_OK) == 0)
        {
            return true;
        }
    }
    return false;
}

std::string
GetExtension(const std::string& path)
{
    return std::filesystem::path(path).extension().string();
}

/// @param svg file to read @param png file to write @throw std::invalid_argument if that fails
void
Convert(const std::string& svg, const std::string& png)
{
    // Twice as many pixels as units, for paper.
    std::vector<std::string> words{CONVERTER, "--zoom=2", "--output=" + png, svg};
    std::vector<char*> arguments;
    for (std::string& word : words)
    {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t process = 0;
    int status = -1;
    if (posix_spawnp(&process, CONVERTER, nullptr, nullptr, arguments.data(), environ) != 0 ||
        waitpid(process, &status, 0) != process || status != 0)
    {
        throw OutputError(png, std::string("cannot be written: ") + CONVERTER + " failed");
    }
}

} // namespace

void
PlotOption::AddTo(OptionList& command)
{
    command.AddOutput("plot", "draw the results to this .svg or .png file", path);
}

void
PlotOption::Check() const
{
    if (path.empty())
    {
        return;
    }
    const std::string extension = GetExtension(path);
    if (extension != ".svg" && extension != ".png")
    {
        throw std::invalid_argument("--plot=" + path + ": the name must end in .svg or .png");
    }
    if (extension == ".png" && !IsInstalled(CONVERTER))
    {
        throw std::invalid_argument("--plot=" + path + ": " + CONVERTER +
                                    " makes it, which is not installed (Debian: librsvg2-bin); or "
                                    "take a name that ends in .svg");
    }
    CheckWritable(path);
}

void
PlotOption::Write(const std::function<void(std::ostream&)>& write) const
{
    if (path.empty())
    {
        return;
    }
    if (GetExtension(path) == ".svg")
    {
        WriteFile(path, write);
        return;
    }
    const std::string svg = path + ".svg";
    WriteFile(svg, write);
    Convert(svg, path);
    std::filesystem::remove(svg);
}

} // namespace proteus
} // namespace ns3
