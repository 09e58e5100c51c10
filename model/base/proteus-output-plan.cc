/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-output-plan.h"

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// The newest that lives, or null.
OutputPlan* g_plan = nullptr;
/// Whether the folders of plans are as they are, not about to change.
std::atomic<bool> g_foldersRest{true};

} // namespace

std::string
FindRealPath(const std::string& path)
{
    std::error_code unknown; // of what cannot be looked at, the name counts
    std::filesystem::path whole = std::filesystem::absolute(path);
    constexpr int MOST_LINKS = 40; // as of Linux
    for (int i = 0; i < MOST_LINKS && std::filesystem::is_symlink(whole, unknown) &&
                    !std::filesystem::exists(whole, unknown);
         ++i) // to what is not there yet
    {
        whole = whole.parent_path() / std::filesystem::read_symlink(whole, unknown);
    }
    const std::filesystem::path real = std::filesystem::weakly_canonical(whole, unknown);
    std::string text = (unknown ? whole.lexically_normal() : real).string();
    while (text.size() > 1 && text.back() == '/')
    {
        text.pop_back();
    }
    return text;
}

OutputPlan::OutputPlan()
    : m_before(g_plan)
{
    g_plan = this;
}

OutputPlan::~OutputPlan()
{
    RemoveEmptyFolders();
    g_foldersRest = false;
    g_plan = m_before;
    m_folders.clear();
    g_foldersRest = true;
}

void
OutputPlan::Add(Finder find)
{
    if (g_plan)
    {
        g_plan->m_finders.push_back(std::move(find));
    }
}

void
OutputPlan::AddFolder(const std::string& folder)
{
    std::error_code none; // who makes it says what is wrong
    g_foldersRest = false;
    for (std::filesystem::path path = FindRealPath(folder);
         g_plan && !std::filesystem::exists(path, none) && path != path.parent_path();
         path = path.parent_path())
    {
        g_plan->m_folders.push_back(path);
    }
    g_foldersRest = true;
}

void
OutputPlan::RemoveEmptyFolders() noexcept
{
    if (!g_plan || !g_foldersRest)
    {
        return;
    }
    for (const std::filesystem::path& folder : g_plan->m_folders)
    {
        const int isUsed = rmdir(folder.c_str()); // what is not empty stays
        static_cast<void>(isUsed);
    }
}

void
OutputPlan::CheckInput(const std::string& path)
{
    std::error_code none;
    if (!g_plan || g_plan->m_finders.empty() || !std::filesystem::is_regular_file(path, none))
    {
        return;
    }
    const std::string real = FindRealPath(path);
    for (const Finder& find : g_plan->m_finders)
    {
        const std::string output = find(real);
        if (!output.empty())
        {
            throw std::invalid_argument(path + ": is read, and " + output +
                                        " would write over it: give that another name");
        }
    }
}

} // namespace proteus
} // namespace ns3
