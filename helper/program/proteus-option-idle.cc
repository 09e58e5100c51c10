/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What OptionList says of options that do nothing in a run.

#include "proteus-option-list.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

void
OptionList::AddIdle(const std::string& name, std::function<std::string()> reason)
{
    m_idle[name].reasons.push_back(std::move(reason));
}

void
OptionList::AddIdleParts(const std::string& name,
                         std::function<std::vector<std::string>()> parts,
                         const std::string& reason)
{
    m_idle[name].parts = std::move(parts);
    m_idle[name].reasonOfParts = reason;
}

std::vector<std::string>
OptionList::FindIdle() const
{
    std::vector<std::string> lines = m_repeated;
    for (const auto& [name, value] : m_configuration)
    {
        const auto found = m_idle.find(name);
        if (found == m_idle.end())
        {
            continue;
        }
        const Idle& idle = found->second;
        std::string why;
        for (std::size_t i = 0; i < idle.reasons.size() && why.empty(); ++i)
        {
            why = idle.reasons[i]();
        }
        if (!why.empty())
        {
            lines.push_back("--" + name + "=" + value + " has no effect: " + why);
        }
        else if (idle.parts)
        {
            for (const std::string& part : idle.parts())
            {
                lines.push_back(
                    "--" + name + ": " + part +
                    (idle.reasonOfParts.empty() ? "" : " has no effect: " + idle.reasonOfParts));
            }
        }
    }
    return lines;
}

const std::vector<std::string>&
OptionList::NoteIdle()
{
    m_idleNotes = FindIdle();
    return m_idleNotes;
}

std::vector<std::string>
OptionList::GetNotes() const
{
    std::vector<std::string> notes = m_idleNotes;
    const auto more = m_notes ? m_notes() : std::vector<std::string>();
    notes.insert(notes.end(), more.begin(), more.end());
    return notes;
}

void
OptionList::NoteRepeated(const std::vector<Word>& words, const std::vector<std::string>& checked)
{
    const auto show = [](const Word& word) {
        return "--" + word.name + (word.hasValue ? "=" + word.value : "");
    };
    m_repeated.clear();
    for (std::size_t i = 0; i < words.size(); ++i)
    {
        std::size_t last = i;
        for (std::size_t j = i + 1; j < words.size(); ++j)
        {
            last = words[j].name == words[i].name ? j : last;
        }
        const std::string line = show(words[i]) +
                                 " has no effect: it is given again, and the last one counts, " +
                                 show(words[last]);
        if (checked[i] != checked[last] &&
            std::find(m_repeated.begin(), m_repeated.end(), line) == m_repeated.end())
        {
            m_repeated.push_back(line);
        }
    }
}

} // namespace proteus
} // namespace ns3
