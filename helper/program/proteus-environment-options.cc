/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-environment-options.h"

#include "ns3/proteus-split.h"

#include <cstdlib>

namespace ns3
{
namespace proteus
{

std::vector<EnvironmentOption>
TakeEnvironmentOptions()
{
    std::vector<EnvironmentOption> options;
    for (const char* variable : {"NS_ATTRIBUTE_DEFAULT", "NS_GLOBAL_VALUE"})
    {
        const char* text = std::getenv(variable);
        if (text == nullptr)
        {
            continue;
        }
        for (const std::string& part : SplitList(text, ';'))
        {
            const std::size_t equals = part.find('=');
            if (!part.empty())
            {
                options.push_back({variable,
                                   part.substr(0, equals),
                                   equals == std::string::npos ? "" : part.substr(equals + 1)});
            }
        }
        unsetenv(variable);
    }
    return options;
}

bool
TakeIdleLog()
{
#ifdef NS3_LOG_ENABLE
    return false;
#else
    const char* log = std::getenv("NS_LOG");
    const bool isSet = log != nullptr && *log != '\0';
    unsetenv("NS_LOG");
    return isSet;
#endif
}

} // namespace proteus
} // namespace ns3
