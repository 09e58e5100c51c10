/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-manual.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text any @return it as troff prints it: no line of it is a request
std::string
EscapeTroff(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
    {
        const bool begins = escaped.empty() || escaped.back() == '\n';
        if (begins && (c == '.' || c == '\''))
        {
            escaped += "\\&";
        }
        escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '"' ? "\\(dq" : std::string(1, c);
    }
    return escaped;
}

/// Completes the word under the cursor; the options of each program stand in _proteus_options, the
/// values that are known in _proteus_values.
const char* const COMPLETION = R"bash(
_proteus_complete() {
    [[ -n ${ZSH_VERSION-} ]] && emulate -L ksh
    local line="${COMP_LINE:0:$COMP_POINT}" program= word at
    line=${line//[\"\']/ }
    for word in $line; do
        word=${word##*/}
        if [[ $word == ns3.*-proteus-* ]]; then
            word=proteus-${word#*-proteus-}
            word=${word%-*}
        fi
        if [[ " $_proteus_programs " == *" $word "* ]]; then
            program=$word
        elif [[ " $_proteus_programs " == *" proteus-$word "* ]]; then
            program=proteus-$word
        fi
    done
    word=${line##*[[:space:]]}
    COMPREPLY=()
    if [[ -z $program ]]; then
        case $line in
        *" run "*) COMPREPLY=($(compgen -W "$_proteus_programs" -- "$word")) ;;
        *) COMPREPLY=($(compgen -W "run test build help" -- "$word")) ;;
        esac
    elif [[ $word == --*=* ]]; then
        at=${word%%=*}
        COMPREPLY=($(compgen -W "${_proteus_values[$program$at]-}" -- "${word#*=}"))
        ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "${word#*=}"))
        [[ -z ${ZSH_VERSION-} ]] || COMPREPLY=("${COMPREPLY[@]/#/$at=}")
    else
        COMPREPLY=($(compgen -W "${_proteus_options[$program]}" -- "$word"))
        if [[ ${COMPREPLY[0]-} == *= && ${#COMPREPLY[@]} == 1 && -z ${ZSH_VERSION-} ]]; then
            compopt -o nospace
        fi
    fi
}
)bash";

} // namespace

void
OptionManual::WriteManualPage(std::ostream& out) const
{
    const auto write = [&out](const std::string& option, const std::string& help) {
        out << ".TP\n.B " << EscapeTroff(option) << '\n' << EscapeTroff(help) << '\n';
    };
    std::string title = program;
    std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) {
        return static_cast<char>(std::toupper(c));
    });
    const std::string brief = usage.substr(0, usage.find_first_of(".,:"));
    out << ".TH " << title << " 1\n.SH NAME\n"
        << EscapeTroff(program) << " \\- " << EscapeTroff(brief)
        << "\n.SH SYNOPSIS\n.B ./ns3 run \\(dq" << EscapeTroff(program)
        << " [\\-\\-OPTION[=VALUE]]...\\(dq\n.SH DESCRIPTION\n.nf\n"
        << EscapeTroff(usage) << "\n.fi\n";
    std::vector<std::string> groups;
    for (const OptionList::Entry& entry : entries)
    {
        if (std::find(groups.begin(), groups.end(), entry.group) == groups.end())
        {
            groups.push_back(entry.group);
        }
    }
    for (const std::string& group : groups)
    {
        out << ".SH " << (group.empty() ? "OPTIONS" : '"' + group + '"') << '\n';
        for (const OptionList::Entry& entry : entries)
        {
            if (entry.group == group)
            {
                const std::string value = entry.GetPlaceholder();
                const bool hasDefault = !value.empty() && !entry.value.empty();
                write("--" + entry.name + (value.empty() ? "" : "=" + value),
                      entry.help + (hasDefault ? " [" + entry.value + "]" : ""));
            }
        }
    }
    out << ".SH \"All programs\"\n";
    for (const auto& [question, help] : questions)
    {
        write("--" + question, help);
    }
    out << ".SH \"EXIT STATUS\"\n0: done. 1: a mistake, which is named in one line. 129, 130, "
           "143: ended by SIGHUP, SIGINT or SIGTERM; results are marked as partial.\n";
}

void
OptionManual::WriteCompletion(const std::string& shell, std::ostream& out) const
{
    if (!shell.empty() && shell != "bash" && shell != "zsh")
    {
        throw std::invalid_argument("--completion=" + shell + ": must be bash or zsh");
    }
    out << "# Options of " << program << " for " << (shell.empty() ? "bash" : shell)
        << ": source <("
        << "./ns3 run \"" << program << " --completion" << (shell.empty() ? "" : "=" + shell)
        << "\")\n";
    if (shell == "zsh")
    {
        out << "autoload -U +X compinit && compinit -u\n"
               "autoload -U +X bashcompinit && bashcompinit\n"
               "typeset -gA _proteus_options _proteus_values\n";
    }
    else
    {
        out << "declare -gA _proteus_options _proteus_values\n";
    }
    out << "_proteus_programs=\"${_proteus_programs-} " << program << "\"\n_proteus_options["
        << program << "]=\"";
    for (const OptionList::Entry& entry : entries)
    {
        out << "--" << entry.name << (entry.kind == OptionKind::FLAG ? " " : "= ");
    }
    out << "--config=";
    for (const auto& question : questions)
    {
        out << " --" << question.first;
    }
    out << "\"\n";
    for (const OptionList::Entry& entry : entries)
    {
        if (!entry.choices.empty())
        {
            out << "_proteus_values[" << program << "--" << entry.name << "]=\"";
            for (const std::string& choice : entry.choices)
            {
                out << (&choice == &entry.choices.front() ? "" : " ") << choice;
            }
            out << "\"\n";
        }
    }
    out << COMPLETION << "complete -F _proteus_complete ns3 ./ns3 " << program << '\n';
}

} // namespace proteus
} // namespace ns3
