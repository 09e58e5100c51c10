/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-heap-pages.h"

#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Huge pages for the heap of a program.
 */

namespace
{

/// Variable of the environment that has a fresh process ask for huge pages.
constexpr const char* ASKS = "PROTEUS_TEST_ASKS_FOR_HUGE_PAGES";

/// @return KiB of this process in huge pages; -1 if the system does not say
int64_t
GetHugeKib()
{
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string line; std::getline(file, line);)
    {
        if (line.rfind("AnonHugePages:", 0) == 0)
        {
            return std::stoll(line.substr(14));
        }
    }
    return -1;
}

/// @return whether the system has huge pages for those who ask
bool
AreThereHugePages()
{
    std::string modes;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), modes);
    return modes.find("[madvise]") != std::string::npos ||
           modes.find("[always]") != std::string::npos;
}

/// @param body what a process of its own does @return its exit code, -1 if it has none
int
RunApart(const std::function<int()>& body)
{
    const pid_t child = fork();
    if (child == 0)
    {
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// @return MiB of 64 MiB in small blocks that are in huge pages
int
GetHugeMibOfSmallBlocks()
{
    const int64_t before = GetHugeKib();
    std::vector<std::vector<char>> blocks;
    for (int i = 0; i < 1 << 16; ++i)
    {
        blocks.emplace_back(1 << 10, 'x');
    }
    return static_cast<int>((GetHugeKib() - before) >> 10);
}

/// Not a test: what a fresh process does that HoldSmallBlocks begins, since the heap of this one is
/// as other tests have left it.
TEST(HeapPages, DISABLED_FreshProcess)
{
    if (std::getenv(ASKS) != nullptr)
    {
        ns3::proteus::UseHugePagesForHeap();
    }
    _exit(GetHugeMibOfSmallBlocks());
}

/// @param asks whether it asks for huge pages @return what GetHugeMibOfSmallBlocks() says in a
/// fresh process
int
RunFresh(bool asks)
{
    return RunApart([asks]() {
        if (asks)
        {
            setenv(ASKS, "1", 1);
        }
        unsetenv("GTEST_TOTAL_SHARDS"); // which may leave the only test out
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execl("/proc/self/exe",
              "heap-pages-test",
              "--gtest_filter=HeapPages.DISABLED_FreshProcess",
              "--gtest_also_run_disabled_tests",
              nullptr);
        return 255;
    });
}

TEST(HeapPages, HoldSmallBlocks)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "a sanitizer has a heap of its own";
#endif
    if (!AreThereHugePages() || GetHugeKib() < 0 || RunFresh(false) != 0)
    {
        GTEST_SKIP() << "this system gives no huge pages, or gives them to all";
    }
    const int mib = RunFresh(true);
    EXPECT_GE(mib, 48);
    EXPECT_LE(mib, 128);
}

TEST(HeapPages, AreAHintOnly)
{
    EXPECT_EQ(RunApart([]() {
                  // As "ulimit -v": fewer addresses than are asked for.
                  std::ifstream file("/proc/self/statm");
                  rlim_t pages = 0;
                  file >> pages;
                  const rlim_t bytes = pages * sysconf(_SC_PAGESIZE) + (rlim_t{200} << 20);
                  const rlimit limit{bytes, bytes};
                  if (setrlimit(RLIMIT_AS, &limit) != 0)
                  {
                      return 1;
                  }
                  ns3::proteus::UseHugePagesForHeap();
                  const std::vector<char> small(10 << 20, 'x');
                  const std::vector<char> large(100 << 20, 'x');
                  return small.back() == 'x' && large.back() == 'x' ? 0 : 2;
              }),
              0);
}

} // namespace
