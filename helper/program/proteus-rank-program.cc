/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rank-program.h"

#include "proteus-error-line.h"
#include "proteus-held-output.h"
#include "proteus-program-options.h"

#include "ns3/proteus-ranks.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param program name @param body what it does, on every rank @return the exit code
int
RunTogether(const std::string& program, const std::function<void()>& body)
{
    std::string error;
    HeldOutput held;
    try
    {
        body();
        HeldOutput::Release();
        std::cout.flush();
        if (!std::cout)
        {
            throw std::runtime_error("standard output cannot be written");
        }
    }
    catch (const RanksGone&)
    {
        held.Drop();
        return 1; // which the others have waited for
    }
    catch (const RankFailure& failure)
    {
        WriteErrorLine(program, "MPI rank " + std::to_string(GetRank()) + ": " + failure.what());
        RankSession::Abort(1);
    }
    catch (const std::exception& exception)
    {
        if (dynamic_cast<const std::invalid_argument*>(&exception) != nullptr)
        {
            held.Drop(); // which belongs to what was refused
        }
        error = exception.what();
    }
    const int first = RankSession::Agree(error.empty());
    if (first == RankSession::ALONE)
    {
        WriteErrorLine(program, "MPI rank " + std::to_string(GetRank()) + ": " + error);
        RankSession::Abort(1);
    }
    if (!error.empty() && first == static_cast<int>(GetRank()))
    {
        WriteErrorLine(program, error);
    }
    return first == RankSession::ALL_WELL ? 0 : 1;
}

/// @param line of a rank @return it, or what stands for none
std::string
ShowLine(const std::string& line)
{
    return line.empty() ? "nothing" : line;
}

} // namespace

void
RequireSameOnRanks(const std::vector<std::string>& what)
{
    std::string own;
    for (const std::string& line : what)
    {
        own += line + '\0';
    }
    std::string rest = GetFirstTextOfRanks(own); // that of the first rank, which has some
    std::vector<std::string> first;
    for (std::size_t end = rest.find('\0'); end != std::string::npos; end = rest.find('\0'))
    {
        first.push_back(rest.substr(0, end));
        rest.erase(0, end + 1);
    }
    first.resize(std::max(first.size(), what.size()));
    std::string difference;
    for (std::size_t i = 0; i < first.size() && difference.empty(); ++i)
    {
        const std::string line = i < what.size() ? what[i] : "";
        if (line != first[i])
        {
            difference = "MPI ranks have to be started alike, and rank " +
                         std::to_string(GetRank()) + " has " + ShowLine(line) +
                         " where rank 0 has " + ShowLine(first[i]);
        }
    }
    const std::string common = GetFirstTextOfRanks(difference);
    if (!common.empty())
    {
        throw std::invalid_argument(common);
    }
}

int
RunOnRanks(const std::string& program, int argc, char* argv[], const std::function<void()>& body)
{
    std::unique_ptr<RankSession> session;
    try
    {
        session = std::make_unique<RankSession>(argc, argv);
    }
    catch (const std::exception& error)
    {
        WriteErrorLine(program, error.what());
        return 1;
    }
    return GetNRanks() > 1 ? RunTogether(program, body) : RunProgram(program, body);
}

} // namespace proteus
} // namespace ns3
