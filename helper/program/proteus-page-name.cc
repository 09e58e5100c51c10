/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-page-name.h"

#include <filesystem>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
RequirePageName(const std::string& option, const std::string& path)
{
    const std::string ending = std::filesystem::path(path).extension().string();
    if (!ending.empty() && ending != ".html" && ending != ".htm")
    {
        throw std::invalid_argument("--" + option + "=" + path +
                                    ": is a page: the name must end in .html");
    }
}

} // namespace proteus
} // namespace ns3
