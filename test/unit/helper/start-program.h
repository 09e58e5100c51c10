/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TEST_START_PROGRAM_H
#define PROTEUS_TEST_START_PROGRAM_H

#include "ns3/config.h"
#include "ns3/proteus-cluster-program.h"
#include "ns3/proteus-programs.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Programs that run inside a test.
 */

namespace ns3
{
namespace proteus
{

/// Folder of data.
inline const std::string WORKLOADS = PROTEUS_SOURCE_DIR "/workloads";

/// Makes a program, with the folder of data.
using Maker = std::function<std::unique_ptr<CommandLineProgram>(const std::string&)>;

/// The programs by what follows "proteus-" in their names.
inline const std::map<std::string, Maker> PROGRAMS{
    {"calibrate", MakeCalibrateProgram},
    {"cluster", MakeClusterProgram},
    {"collective", MakeNcclTestsProgram},
    {"compile", MakeCompileProgram},
    {"evaluate", MakeEvaluateProgram},
    {"fabrics", MakeFabricsProgram},
    {"flows", MakeFlowsProgram},
    {"gpt3", MakeGpt3Program},
    {"run", MakeRunInputProgram},
    {"schedule", MakeScheduleProgram},
    {"search", MakeSearchProgram},
    {"study", [](const std::string& workloads) { return MakeStudyProgram(workloads, "none"); }},
    {"validate", MakeValidateProgram}};

/// Begins of words that many mistakes have.
inline const std::string MODEL = "--model=gpt3-125m";
inline const std::string PLAN = "--strategy=tp=4,dp=4";
inline const std::string NETWORK = "--ns3::proteus::PacketNetwork::";
inline const std::string FABRIC = "--ns3::proteus::Fabric::";
inline const std::string TRANSPORT = "--ns3::proteus::Transport::";

/// What somebody types, and what the line that answers it has to say.
struct Mistake
{
    std::string program;
    std::vector<std::string> arguments;
    std::string hint;
};

/// What a program printed, and its exit code.
struct Outcome
{
    int code{0};
    std::string out;
    std::string error;
};

/// Runs a program in this process.
inline Outcome
Start(const std::string& program, const std::vector<std::string>& arguments)
{
    std::vector<std::string> words{"proteus-" + program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words)
    {
        argv.push_back(word.data());
    }
    std::ostringstream out;
    std::ostringstream error;
    std::streambuf* const oldOut = std::cout.rdbuf(out.rdbuf());
    std::streambuf* const oldError = std::cerr.rdbuf(error.rdbuf());
    Outcome outcome;
    outcome.code =
        PROGRAMS.at(program)(WORKLOADS)->Main(static_cast<int>(argv.size()), argv.data());
    std::cout.rdbuf(oldOut);
    std::cerr.rdbuf(oldError);
    ns3::Config::Reset(); // of attributes that options stand for
    outcome.out = out.str();
    outcome.error = error.str();
    return outcome;
}

/// @param mostBytes maxBytes of it @return an MSCCL schedule, an all-gather of two ranks
inline std::string
MakePairSchedule(const std::string& mostBytes)
{
    return R"(<algo name="pair" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2"
 coll="allgather" inplace="1" minBytes="1024" maxBytes=")" +
           mostBytes + R"(">
  <gpu id="0" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
    <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb></gpu>
  <gpu id="1" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
    <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb></gpu>
</algo>)";
}

/// A folder of a test, which is gone after it.
class Folder
{
  public:
    Folder()
        : m_path(std::filesystem::temp_directory_path() /
                 ("proteus-inputs-" + std::to_string(getpid())))
    {
        std::filesystem::create_directories(m_path);
    }

    ~Folder()
    {
        std::filesystem::remove_all(m_path);
    }

    /// @param name of a file @param text of it @return its path
    std::string Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(m_path / name, std::ios::binary) << text;
        return (m_path / name).string();
    }

    /// @return its path
    std::string Get() const
    {
        return m_path.string();
    }

  private:
    std::filesystem::path m_path;
};

/// Expects one line of error that has a hint, and exit code 1.
inline void
ExpectRefusal(const Outcome& outcome, const std::string& hint)
{
    EXPECT_EQ(outcome.code, 1) << hint << ": " << outcome.out;
    EXPECT_NE(outcome.error.find(hint), std::string::npos) << hint << ": " << outcome.error;
    EXPECT_EQ(outcome.error.find('\n'), outcome.error.size() - 1) << outcome.error;
}

/// Expects a warning, once, and the same as a note of the results.
inline void
ExpectNote(const Outcome& outcome, const std::string& hint)
{
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    const std::size_t first = outcome.error.find(hint);
    EXPECT_NE(first, std::string::npos) << hint << ": " << outcome.error;
    EXPECT_EQ(outcome.error.find(hint, first + 1), std::string::npos) << outcome.error;
    const std::size_t note = outcome.out.find("Note: ");
    EXPECT_NE(outcome.out.find(hint, note), std::string::npos) << hint << ": " << outcome.out;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TEST_START_PROGRAM_H
