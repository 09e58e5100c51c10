/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rank-program.h"

#include "proteus-program-options.h"

#include "ns3/proteus-ranks.h"

#include <iostream>
#include <memory>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Says what has gone wrong. @param program that ends @param what has
void
SayError(const std::string& program, const std::string& what)
{
    std::cout.flush();
    std::cerr << program << ": error: " << what << std::endl;
}

/// @param program name @param body what it does, on every rank @return the exit code
int
RunTogether(const std::string& program, const std::function<void()>& body)
{
    std::string error;
    try
    {
        body();
        std::cout.flush();
        if (!std::cout)
        {
            throw std::runtime_error("standard output cannot be written");
        }
    }
    catch (const RanksGone&)
    {
        return 1; // which the others have waited for
    }
    catch (const RankFailure& failure)
    {
        SayError(program, "MPI rank " + std::to_string(GetRank()) + ": " + failure.what());
        RankSession::Abort(1);
    }
    catch (const std::exception& exception)
    {
        error = exception.what();
    }
    const int first = RankSession::Agree(error.empty());
    if (first == RankSession::ALONE)
    {
        SayError(program, "MPI rank " + std::to_string(GetRank()) + ": " + error);
        RankSession::Abort(1);
    }
    if (!error.empty() && first == static_cast<int>(GetRank()))
    {
        SayError(program, error);
    }
    return first == RankSession::ALL_WELL ? 0 : 1;
}

} // namespace

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
        SayError(program, error.what());
        return 1;
    }
    return GetNRanks() > 1 ? RunTogether(program, body) : RunProgram(program, body);
}

} // namespace proteus
} // namespace ns3
