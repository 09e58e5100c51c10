/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dcqcn-use.h"

#include "ns3/proteus-shared-marks.h"

namespace ns3
{
namespace proteus
{

void
DcqcnUse::Forget()
{
    for (std::atomic<bool>* mark : {&cuts, &timer, &bytes, &additives, &hypers, &minimum})
    {
        *mark = false;
    }
}

DcqcnUse&
GetDcqcnUse()
{
    static DcqcnUse use{TakeSharedMark(),
                        TakeSharedMark(),
                        TakeSharedMark(),
                        TakeSharedMark(),
                        TakeSharedMark(),
                        TakeSharedMark()};
    return use;
}

} // namespace proteus
} // namespace ns3
