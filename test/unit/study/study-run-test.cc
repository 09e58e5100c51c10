/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-program-options.h"
#include "ns3/proteus-study-run.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;
namespace fs = std::filesystem;

namespace
{

/// A program that says in a file beside it that it was started, takes a while, and writes a
/// summary: a script that stands for proteus-run. Where --nodes=13 it refuses; where --nodes=7 it
/// kills itself.
const char* const SCRIPT = R"(#!/bin/sh
for word; do
  case $word in
    --nodes=*) nodes=${word#--nodes=};;
    --summary=*) file=${word#--summary=};;
  esac
done
echo $nodes >> ${0%/*}/log
[ $nodes = 13 ] && { echo "proteus-run: error: thirteen" >&2; exit 1; }
[ $nodes = 7 ] && kill -9 $$
sleep 0.02
echo "{\"iteration_s\": $nodes}" > $file
)";

/// A folder of a test, with the script.
class StudyRun : public testing::Test
{
  protected:
    void SetUp() override
    {
        m_folder = fs::temp_directory_path() / ("study-run-test-" + std::to_string(getpid()));
        fs::remove_all(m_folder);
        fs::create_directories(m_folder);
        std::ofstream(m_folder / "program") << SCRIPT;
        fs::permissions(m_folder / "program", fs::perms::owner_all);
        m_study.name = "test";
        m_study.program = "proteus-run";
        m_study.folder = m_folder;
        m_study.file = "test.json";
        const char* scratch = std::getenv("TMPDIR");
        m_scratch = scratch == nullptr ? "" : scratch;
        setenv("TMPDIR", m_folder.c_str(), 1); // what is killed leaves its scratch folder there
    }

    void TearDown() override
    {
        m_scratch.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", m_scratch.c_str(), 1);
        fs::remove_all(m_folder);
    }

    /// @param first number of an axis @param last number of it
    void SetAxis(std::size_t first, std::size_t last)
    {
        StudyAxis axis{"nodes", {}, false};
        for (std::size_t i = first; i <= last; ++i)
        {
            axis.values.push_back({std::to_string(i), {{"nodes", std::to_string(i)}}});
        }
        m_study.axes = {axis};
    }

    /// @return what came of the study
    StudyOutcome Run(const std::string& folders = "points",
                     StudyShard shard = {},
                     bool retriesFailed = false) const
    {
        std::vector<std::string> paths;
        std::stringstream stream(folders);
        for (std::string name; std::getline(stream, name, ',');)
        {
            paths.push_back(m_folder / name);
        }
        StudyRunOptions options;
        options.executable = m_folder / "program";
        options.jobs = 3;
        options.shard = shard;
        options.retriesFailed = retriesFailed;
        options.quiet = true;
        options.set = {"--summary={file}"};
        return RunStudy(m_study, StudyStore(paths), options);
    }

    /// @return the CSV of an outcome
    std::string Write(const StudyOutcome& outcome) const
    {
        std::ostringstream csv;
        WriteTableCsv(MakeStudyTable(m_study, outcome.points, outcome.results), csv);
        return csv.str();
    }

    /// @return how often every point was started
    std::map<std::string, int> CountStarts() const
    {
        std::map<std::string, int> starts;
        std::ifstream log(m_folder / "log");
        for (std::string line; std::getline(log, line);)
        {
            ++starts[line];
        }
        return starts;
    }

    /// @return files of results
    std::set<std::string> ListResults() const
    {
        std::set<std::string> names;
        if (fs::is_directory(m_folder / "points"))
        {
            for (const auto& entry : fs::directory_iterator(m_folder / "points"))
            {
                if (entry.path().extension() == ".json")
                {
                    names.insert(entry.path().filename());
                }
            }
        }
        return names;
    }

    fs::path m_folder;
    std::string m_scratch; //!< TMPDIR of the environment, or empty
    Study m_study;
};

} // namespace

TEST_F(StudyRun, RunsEveryPointOnceAndFindsThemAgain)
{
    SetAxis(1, 6);
    const StudyOutcome first = Run();
    EXPECT_EQ(first.ran, 6u);
    EXPECT_EQ(first.found, 0u);
    const StudyOutcome second = Run();
    EXPECT_EQ(second.ran, 0u);
    EXPECT_EQ(second.found, 6u);
    EXPECT_EQ(Write(first), Write(second));
    SetAxis(1, 8); // point 7 kills itself, point 8 is new
    const StudyOutcome third = Run();
    EXPECT_EQ(third.ran, 1u);
    EXPECT_EQ(third.found, 6u);
    ASSERT_EQ(third.unfinished.size(), 1u);
    EXPECT_EQ(third.unfinished[0], "point 7 was ended by signal 9");
    for (const auto& [point, starts] : CountStarts())
    {
        EXPECT_EQ(starts, 1) << point;
    }
}

TEST_F(StudyRun, WhatAProgramRefusesIsAResult)
{
    SetAxis(12, 14);
    const StudyOutcome first = Run();
    EXPECT_EQ(first.failed, 1u);
    EXPECT_EQ(first.results[1].error, "thirteen");
    EXPECT_NO_THROW(RequireResults(m_study, first));
    EXPECT_EQ(first.retried, 0u);
    EXPECT_EQ(Run().found, 3u);
    const StudyOutcome again = Run("points", {}, true);
    EXPECT_EQ(again.ran, 1u);
    EXPECT_EQ(again.retried, 1u);
    EXPECT_EQ(CountStarts()["13"], 2);
    EXPECT_EQ(CountStarts()["12"], 1);
    SetAxis(13, 13);
    try
    {
        RequireResults(m_study, Run());
        ADD_FAILURE() << "nothing but refusals";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_STREQ(error.what(),
                     "test.json: study 'test': every point failed, the first, point 1 (nodes 13): "
                     "thirteen");
    }
}

TEST_F(StudyRun, DamagedResultsRunAgain)
{
    SetAxis(1, 2);
    Run();
    for (const std::string& name : ListResults())
    {
        std::ofstream(m_folder / "points" / name) << "{";
    }
    EXPECT_EQ(Run().ran, 2u);
}

TEST_F(StudyRun, FilesThatAFileNamesDecideToo)
{
    fs::create_directories(m_folder / "frameworks");
    fs::create_directories(m_folder / "trace");
    const auto write = [this](const std::string& name, const std::string& text) {
        std::ofstream(m_folder / name) << text;
    };
    write("large.json", R"({"base": "small.json", "layers": [{"name": "no file"}]})");
    write("small.json", R"({"variables": {"layers": 2}})");
    write("jobs.json", R"({"jobs": [{"model": "large.json"}, {"graph": "jobs.json"}]})");
    write("frameworks/mine.json", "{}");
    write("trace/rank0.json", "[]");
    const StudyOptions options{{"model", "large.json"},
                               {"framework", "mine:attention=other"},
                               {"scenario", "jobs.json"},
                               {"trace", "trace"},
                               {"fabrics", "leaf-spine,small.json"},
                               {"nodes", "2"}};
    const auto find = [&]() { return DigestFiles(options, m_folder, m_folder); };
    const auto before = find();
    EXPECT_EQ(before.size(), 5u);
    EXPECT_EQ(before.count("nodes"), 0u);
    const auto listChanged = [&](const std::string& name, const std::string& text) {
        write(name, text);
        std::set<std::string> changed;
        for (const auto& [option, digest] : find())
        {
            if (digest != before.at(option))
            {
                changed.insert(option);
            }
        }
        return changed;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(listChanged("small.json", "{}"), (Names{"fabrics", "model", "scenario"}));
    EXPECT_EQ(listChanged("small.json", R"({"variables": {"layers": 2}})"), Names());
    EXPECT_EQ(listChanged("frameworks/mine.json", "{ }"), Names{"framework"});
    EXPECT_EQ(listChanged("trace/rank1.json", "[]"), (Names{"framework", "trace"}));
}

TEST_F(StudyRun, ShardsTogetherAreTheWholeStudy)
{
    SetAxis(20, 30);
    const std::string whole = Write(Run("whole"));
    EXPECT_EQ(Run("one", {1, 2}).ran, 6u);
    EXPECT_EQ(Run("two", {2, 2}).ran, 5u);
    const StudyOutcome merged = Run("merged,one,two");
    EXPECT_EQ(merged.ran, 0u);
    EXPECT_EQ(Write(merged), whole);
    for (const auto& [point, starts] : CountStarts())
    {
        EXPECT_EQ(starts, 2) << point; // once whole, once in a shard
    }
}

TEST_F(StudyRun, KilledAtAnyMomentItLosesNothingAndRunsNoFinishedPointTwice)
{
    SetAxis(20, 49);
    std::set<std::string> finished;
    for (int attempt = 0; attempt < 100 && finished.size() < 30; ++attempt)
    {
        const auto before = CountStarts();
        const pid_t process = fork();
        ASSERT_GE(process, 0);
        if (process == 0)
        {
            Run();
            _exit(0);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20 + 37 * attempt % 90));
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(30)); // for children to be gone
        const std::set<std::string> now = ListResults();
        EXPECT_TRUE(std::includes(now.begin(), now.end(), finished.begin(), finished.end()));
        // At most so many points began as were not finished.
        std::size_t began = 0;
        for (const auto& [point, starts] : CountStarts())
        {
            const auto place = before.find(point);
            began += static_cast<std::size_t>(starts - (place == before.end() ? 0 : place->second));
        }
        EXPECT_LE(began, 30 - finished.size());
        finished = now;
    }
    const auto before = CountStarts();
    const StudyOutcome last = Run();
    EXPECT_EQ(last.ran + last.found, 30u);
    EXPECT_EQ(last.found, finished.size());
    std::size_t began = 0;
    for (const auto& [point, starts] : CountStarts())
    {
        const auto place = before.find(point);
        began += static_cast<std::size_t>(starts - (place == before.end() ? 0 : place->second));
    }
    EXPECT_EQ(began, last.ran); // none of the finished ones
    for (std::size_t i = 0; i < last.results.size(); ++i)
    {
        EXPECT_NE(last.results[i].output.find(last.points[i].labels[0]), std::string::npos);
    }
}

TEST_F(StudyRun, ASignalEndsItAndWhatHasEndedIsKept)
{
    SetAxis(20, 49);
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0)
    {
        _exit(RunProgram("proteus-study", [this]() {
            const StudyOutcome outcome = Run();
            if (!outcome.unfinished.empty())
            {
                throw std::runtime_error(outcome.unfinished.front());
            }
        }));
    }
    while (ListResults().empty())
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(process, SIGINT);
    int status = 0;
    waitpid(process, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
    const std::size_t kept = ListResults().size();
    EXPECT_LT(kept, 30u);
    EXPECT_EQ(Run().found, kept);
}
