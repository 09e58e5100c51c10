/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-plan-nodes.h"

#include <algorithm>
#include <cctype>

namespace ns3
{
namespace proteus
{

bool
SplitNumber(const std::string& text, std::string& name, uint32_t& number)
{
    std::size_t end = text.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(text[end - 1])))
    {
        --end;
    }
    if (end == text.size() || text.size() - end > 8)
    {
        return false;
    }
    name = text.substr(0, end);
    number = static_cast<uint32_t>(std::stoul(text.substr(end)));
    return true;
}

StrategyNode&
FindNode(StrategyNode& root, const std::string& path)
{
    StrategyNode* node = &root;
    std::size_t begin = 0;
    while (begin <= path.size())
    {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        std::string part = path.substr(begin, end - begin);
        std::string block;
        uint32_t number = 0;
        if (end < path.size() && SplitNumber(part, block, number))
        {
            part = block + "*";
        }
        node = &node->GetChild(part);
        begin = end + 1;
    }
    return *node;
}

} // namespace proteus
} // namespace ns3
