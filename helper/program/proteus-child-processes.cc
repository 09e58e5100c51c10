/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-child-processes.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int CANNOT_RUN = 127; //!< exit code of a child that could not become the program

double
GetSeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Becomes the program; only between fork() and exec(). @param parent process that started this one
[[noreturn]] void
Become(pid_t parent, char* const* arguments, const char* folder, const char* errors)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) // it is gone already
    {
        _exit(CANNOT_RUN);
    }
    const int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int error = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0 || error < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(error, STDERR_FILENO) < 0 ||
        chdir(folder) != 0)
    {
        _exit(CANNOT_RUN);
    }
    execv(arguments[0], arguments);
    _exit(CANNOT_RUN);
}

} // namespace

ChildProcesses::~ChildProcesses()
{
    for (const auto& [process, child] : m_children)
    {
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
    }
}

void
ChildProcesses::Start(std::size_t key,
                      const std::vector<std::string>& command,
                      const std::string& folder,
                      const std::string& errors)
{
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    for (std::string& word : words)
    {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process < 0)
    {
        throw std::runtime_error("no process can be started: " + std::string(strerror(errno)));
    }
    if (process == 0)
    {
        Become(parent, arguments.data(), folder.c_str(), errors.c_str());
    }
    m_children[process] = {key, GetSeconds()};
}

std::optional<EndedChild>
ChildProcesses::Poll()
{
    for (const auto& [process, child] : m_children)
    {
        int status = 0;
        const pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR))
        {
            continue;
        }
        EndedChild result{child.key, 0, 0, GetSeconds() - child.startSeconds};
        if (ended > 0 && WIFSIGNALED(status))
        {
            result.signal = WTERMSIG(status);
        }
        else
        {
            result.exitCode = ended > 0 ? WEXITSTATUS(status) : CANNOT_RUN;
        }
        m_children.erase(process);
        return result;
    }
    return {};
}

std::string
GetOwnPath(const std::string& fallback)
{
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::absolute(fallback).string() : path.string();
}

} // namespace proteus
} // namespace ns3
