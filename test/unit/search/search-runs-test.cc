/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-programs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

// What a search proposes compiles, fits, and runs.

using namespace ns3::proteus;

namespace
{

namespace fs = std::filesystem;

const std::string WORKLOADS = PROTEUS_SOURCE_DIR "/workloads";
constexpr double GBYTE = 1e9;
constexpr std::size_t TOP = 20;
constexpr std::size_t LEAST = 6; //!< strategies that each search finds

/// A search.
struct Subject
{
    std::string name;
    double memory; //!< GB of a GPU
    std::vector<std::string> options;
};

std::ostream&
operator<<(std::ostream& out, const Subject& subject)
{
    return out << subject.name;
}

/// Small models, on one or two servers each, some with little memory.
const std::vector<Subject> SUBJECTS{
    {"Gpt", 80, {"--model=gpt3-125m", "--variables=layers=2", "--cluster=dgx-a100", "--nodes=1"}},
    {"GptTight",
     1,
     {"--model=gpt3-125m", "--variables=layers=4", "--cluster=dgx-a100", "--nodes=1"}},
    {"GptServers",
     1,
     {"--model=gpt2-small", "--variables=layers=2", "--cluster=pcie-v100x4", "--nodes=2"}},
    {"Gpt2V100",
     2,
     {"--model=gpt2-small", "--variables=layers=2", "--cluster=dgx1-v100", "--nodes=1"}},
    {"T5", 16, {"--model=t5-small", "--variables=layers=2", "--cluster=pcie-v100x4", "--nodes=1"}},
    {"Bert",
     2,
     {"--model=bert-base", "--variables=layers=2", "--cluster=pcie-v100x4", "--nodes=2"}},
    {"Llama", 8, {"--model=llama2-7b", "--variables=layers=2", "--cluster=dgx-h100", "--nodes=1"}},
    {"Experts",
     40,
     {"--model=mixtral-8x7b", "--variables=layers=1", "--cluster=dgx-h100", "--nodes=1"}},
    {"Vgg", 12, {"--model=vgg16", "--cluster=titanxp-pcie", "--nodes=1", "--dataType=fp32"}},
    {"ResNet", 1, {"--model=resnet50", "--cluster=pcie-v100x4", "--nodes=1", "--dataType=fp32"}}};

/// Runs a program in this process. @return what it prints
std::string
Start(std::unique_ptr<CommandLineProgram> program, std::vector<std::string> words)
{
    words.insert(words.begin(), "proteus");
    std::vector<char*> argv;
    for (std::string& word : words)
    {
        argv.push_back(word.data());
    }
    std::ostringstream out;
    std::streambuf* const old = std::cout.rdbuf(out.rdbuf());
    const int code = program->Main(static_cast<int>(argv.size()), argv.data());
    std::cout.rdbuf(old);
    EXPECT_EQ(code, 0) << out.str();
    return out.str();
}

/// @param text that a search printed @return the option that gives its framework
std::string
FindFramework(const std::string& text)
{
    const auto at = text.find("--framework=");
    return at == std::string::npos ? "--framework=megatron-2022"
                                   : text.substr(at, text.find(' ', at) - at);
}

/// @param line of a CSV file @return its fields
std::vector<std::string>
Split(const std::string& line)
{
    std::vector<std::string> fields(1);
    bool isQuoted = false;
    for (char c : line)
    {
        isQuoted = isQuoted != (c == '"');
        if (c == ',' && !isQuoted)
        {
            fields.emplace_back();
        }
        else if (c != '"')
        {
            fields.back() += c;
        }
    }
    return fields;
}

/// @param path of a CSV file @return its rows, by the names of columns
std::vector<std::map<std::string, std::string>>
ReadRows(const fs::path& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    const auto names = Split(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(file, line))
    {
        const auto fields = Split(line);
        rows.emplace_back();
        for (std::size_t i = 0; i < std::min(names.size(), fields.size()); ++i)
        {
            rows.back()[names[i]] = fields[i];
        }
    }
    return rows;
}

class SearchRuns : public ::testing::TestWithParam<Subject>
{
  protected:
    SearchRuns()
        : m_folder(fs::temp_directory_path() /
                   ("proteus-search-runs-" + std::to_string(std::random_device()())))
    {
        fs::create_directories(m_folder);
    }

    ~SearchRuns() override
    {
        fs::remove_all(m_folder);
    }

    fs::path m_folder;
};

} // namespace

TEST_P(SearchRuns, TheBestTwentyCompileFitAndRun)
{
    const Subject& subject = GetParam();
    std::vector<std::string> options = subject.options;
    options.insert(options.end(),
                   {"--globalBatch=16",
                    "--memory=" + std::to_string(subject.memory) + "GB",
                    "--flows=" + std::to_string(TOP),
                    "--packets=0",
                    "--layoutPlans=0",
                    "--vary=zero,recompute,sequence,virtualStages",
                    "--quiet",
                    "--csv=" + (m_folder / "plans.csv").string(),
                    "--output=" + (m_folder / "plans").string()});
    const std::string text = Start(MakeSearchProgram(WORKLOADS), options);
    EXPECT_EQ(text.find("compiled: does not compile"), std::string::npos) << text;
    const auto rows = ReadRows(m_folder / "plans.csv");
    std::size_t found = 0;
    for (std::size_t i = 0; i < rows.size() && i < TOP; ++i)
    {
        ++found;
        EXPECT_GT(std::stod(rows[i].at("flow_s")), 0) << rows[i].at("strategy");
        EXPECT_LE(std::stod(rows[i].at("peak_memory_bytes")), subject.memory * GBYTE)
            << rows[i].at("strategy");
        EXPECT_TRUE(fs::exists(m_folder / "plans" / (std::to_string(i + 1) + ".json")));
    }
    EXPECT_GE(found, LEAST) << text; // a model without blocks has few plans
    // The first and the last of them, from their files.
    for (const std::size_t i : {std::size_t{0}, found - 1})
    {
        std::vector<std::string> run{
            "--strategy=" + (m_folder / "plans" / (std::to_string(i + 1) + ".json")).string(),
            "--executor=flow",
            FindFramework(text),
            "--quiet",
            "--summary=" + (m_folder / "run.json").string()};
        for (const std::string& option : subject.options)
        {
            const bool isOfSearch = option.find("--dataType") == 0 || option.find("--vary") == 0;
            run.insert(run.end(), isOfSearch ? 0 : 1, option);
        }
        Start(MakeRunInputProgram(WORKLOADS), run);
        std::ifstream file(m_folder / "run.json");
        const double seconds = nlohmann::json::parse(file)["iteration_s"];
        EXPECT_NEAR(seconds / std::stod(rows[i].at("flow_s")), 1, 0.02) << rows[i].at("strategy");
    }
}

INSTANTIATE_TEST_SUITE_P(Subjects,
                         SearchRuns,
                         ::testing::ValuesIn(SUBJECTS),
                         [](const ::testing::TestParamInfo<Subject>& info) {
                             return info.param.name;
                         });
