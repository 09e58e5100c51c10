/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-output-ending.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::function<void(const std::string& value)>
MustEndIn(const std::string& ending)
{
    return [ending](const std::string& value) {
        static const std::set<std::string> FORMATS{
            ".bz2", ".csv",     ".dot", ".gz",  ".htm",  ".html", ".json", ".jsonl",
            ".md",  ".parquet", ".pb",  ".pdf", ".png",  ".svg",  ".toml", ".tsv",
            ".xls", ".xlsx",    ".xml", ".xz",  ".yaml", ".yml",  ".zip",  ".zst"};
        std::string own = std::filesystem::path(value).extension().string();
        std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        if (own != ending && FORMATS.count(own) > 0)
        {
            throw std::invalid_argument("is no " + own + " file: the name must end in " + ending);
        }
    };
}

} // namespace proteus
} // namespace ns3
