#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turns files into a C++ source file: embed.py OUTPUT FILE...

Both build systems run it; see GetResource() in proteus-resources.h."""

import os
import sys


def literal(text):
    """The lines of a text as C++ string literals."""
    lines = []
    for line in text.splitlines(keepends=True):
        quoted = ''
        for byte in line.encode('utf-8'):
            char = chr(byte)
            if char == '\n':
                quoted += '\\n'
            elif char in '"\\?':
                quoted += '\\' + char
            elif 32 <= byte < 127:
                quoted += char
            else:
                quoted += '\\%03o' % byte
        lines.append('     "%s"' % quoted)
    return '\n'.join(lines) or '     ""'


def main(output, files):
    entries = []
    for path in files:
        with open(path, encoding='utf-8', newline='') as file:
            entries.append('    {"%s",\n%s},\n' % (os.path.basename(path), literal(file.read())))
    with open(output, 'w', encoding='ascii') as file:
        file.write('''// Written by model/report/resources/embed.py.

#include "ns3/proteus-resources.h"

#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

std::string
GetResource(const std::string& name)
{
    static const std::map<std::string, const char*> RESOURCES{
%s    };
    const auto found = RESOURCES.find(name);
    if (found == RESOURCES.end())
    {
        throw std::invalid_argument("there is no resource '" + name + "'");
    }
    return found->second;
}

} // namespace proteus
} // namespace ns3
''' % ''.join(entries))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
