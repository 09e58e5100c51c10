/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BENCH_PROCESS_H
#define PROTEUS_BENCH_PROCESS_H

#include "proteus-bench-tables.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

/**
 * @file
 * @ingroup proteus
 * Runs of proteus-bench in processes of their own, and what they take.
 */

namespace ns3
{
namespace proteus
{

/// @return CPU time of this process in seconds
inline double
GetCpuS()
{
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// @param key a line of /proc/self/status @return its value in bytes, 0 where there is none
inline uint64_t
GetMemory(const std::string& key)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind(key + ":", 0) == 0)
        {
            return std::stoull(line.substr(key.size() + 1)) * 1024;
        }
    }
    return 0;
}

/**
 * Runs something in a process of its own.
 * @param name of it, for messages
 * @param result gets what came out; its member `error` says what went wrong
 * @param run what to run; returns a result
 * @throw std::runtime_error if something went wrong
 */
template <typename RUN>
void
RunInChild(const std::string& name, Result& result, RUN run)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    }
    std::cout.flush();
    const pid_t child = fork();
    if (child < 0)
    {
        throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    }
    if (child == 0)
    {
        Result made;
        try
        {
            made = run();
        }
        catch (const std::exception& error)
        {
            std::strncpy(made.error, error.what(), sizeof(made.error) - 1);
        }
        const bool written = write(ends[1], &made, sizeof(made)) == sizeof(made);
        _exit(written ? 0 : 1);
    }
    close(ends[1]);
    std::size_t got = 0;
    for (ssize_t n = 1; n > 0 && got < sizeof(result); got += static_cast<std::size_t>(n))
    {
        n = read(ends[0], reinterpret_cast<char*>(&result) + got, sizeof(result) - got);
        n = n < 0 ? 0 : n;
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (got != sizeof(result))
    {
        throw std::runtime_error("case " + name + ": the process that ran it died");
    }
    if (result.error[0] != 0)
    {
        throw std::runtime_error("case " + name + ": " + result.error);
    }
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BENCH_PROCESS_H
