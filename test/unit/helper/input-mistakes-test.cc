/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "small-job.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace ns3::proteus;

TEST(InputMistakes, ErrorsInFilesNameTheirOption)
{
    const Folder folder;
    const std::string file = folder.Write("f.json", R"({"format": "x", "version": 1})");
    const std::string other = folder.Write("g.json", R"({"format": "x", "version": 1})");
    for (const std::string option : {"--calibration=", "--strategy=", "--framework="})
    {
        std::vector<std::string> words = Small({option + file});
        if (option != "--strategy=")
        {
            words.emplace_back("--strategy=dp=2");
        }
        ExpectRefusal(Start("run", words), "error: " + option + file + ": /format: must be");
    }
    ExpectRefusal(Start("collective", {"--kernelCosts=" + file}),
                  "error: --kernelCosts=" + file + ": /format: must be");
    ExpectRefusal(Start("flows", {"--cluster=" + file, "--flows=" + other}),
                  "error: --cluster=" + file + ": /format: must be");
    // Which of the two is wrong is not known.
    ExpectRefusal(Start("flows", {"--cluster=" + file, "--flows=" + file}),
                  "error: " + file + ": /format: must be");
}

TEST(InputMistakes, OutputsOverWhatIsReadOrWritten)
{
    const Folder folder;
    const std::string options = folder.Write("c.json", R"({"nodes": 1})");
    ExpectRefusal(
        Start("run", Small({"--strategy=dp=2", "--config=" + options, "--json=" + options})),
        "--json=" + options + " would write over the file that --config reads");
    const std::string file = folder.Write("a.csv", "");
    const std::string link = folder.Get() + "/b";
    std::filesystem::create_symlink(file, link);
    ExpectRefusal(Start("run", Small({"--strategy=dp=2", "--csv=" + file, "--summary=" + link})),
                  "--csv and --summary would both write " + link);
}

TEST(InputMistakes, OutputsOverWhatAFileNames)
{
    const Folder folder;
    const std::string base = folder.Write("base.json", R"({"format": "proteus-model", "version": 1,
 "name": "m", "let": {"width": 64},
 "inputs": [{"name": "x", "shape": ["batch", 64]}, {"name": "y", "shape": ["batch"], "element": "index"}],
 "layers": [{"op": "linear", "name": "fc", "outputs": "width", "in": "x"},
  {"op": "cross-entropy", "name": "loss", "in": ["fc", "y"]}]})");
    const std::string model = folder.Write(
        "m.json",
        R"({"format": "proteus-model", "version": 1, "name": "n", "base": "base.json"})");
    std::vector<std::string> words{"--model=" + model,
                                   "--strategy=dp=2",
                                   "--executor=flow",
                                   "--quiet",
                                   "--json=" + base};
    const std::string cause =
        "base.json: is read, and " + words.back() + " would write over it: give that another name";
    ExpectRefusal(Start("run", words), cause);
    const std::string link = folder.Get() + "/link.json";
    std::filesystem::create_symlink(base, link);
    words.back() = "--json=" + link;
    ExpectRefusal(Start("run", words), "is read, and --json=" + link + " would write");
    words.back() = "--json=" + folder.Get() + "/other.json";
    EXPECT_EQ(Start("run", words).code, 0); // the plan went with its program
    // Among the files of a folder.
    const std::string sizes = folder.Write("links.csv", "bytes,part\n1000,1\n");
    const std::string scenario = folder.Write(
        "s.json",
        R"({"format": "proteus-scenario", "version": 1, "traffic": [{"kind": "poisson",)"
        R"( "sizes": "links.csv", "load": 0.1, "from": "0"}]})");
    ExpectRefusal(Start("run",
                        Small({"--strategy=dp=2",
                               "--nodes=2",
                               "--scenario=" + scenario,
                               "--tables=" + folder.Get()})),
                  "is read, and --tables=" + folder.Get() + " would write over it");
}

TEST(InputMistakes, TablesOfAnEarlierRunAreNamed)
{
    const Folder folder;
    const std::string tables = "--tables=" + folder.Get();
    const std::string warning = tables + ": not of this run, and left as before: ";
    std::vector<std::string> both = Small({"--strategy=dp=2", tables});
    both[3] = "--executor=both";
    const Outcome first = Start("run", both);
    EXPECT_EQ(first.error.find(warning), std::string::npos) << first.error;
    const std::string other = folder.Write("other.csv", "a,b\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Outcome second = Start("run", Small({"--strategy=dp=2", tables}));
    EXPECT_NE(second.error.find(warning + "comparison.csv, other.csv\n"), std::string::npos)
        << second.error;
}

TEST(InputMistakes, OutputsAmongTheFilesOfOthers)
{
    const Folder folder;
    const std::string tables = folder.Get() + "/t";
    std::vector<std::string> words =
        Small({"--strategy=dp=2", "--tables=" + tables, "--csv=" + tables + "/spans.csv"});
    words[3] = "--executor=both";
    std::filesystem::create_directory(tables);
    EXPECT_EQ(Start("run", words).code, 0); // no table has that name
    std::size_t nFiles = 0;
    for (const auto& entry : std::filesystem::directory_iterator(tables))
    {
        const std::string file = entry.path().string();
        if (entry.path().stem() != "spans")
        {
            ++nFiles;
            ExpectRefusal(
                Start("run", Small({"--strategy=dp=2", "--csv=" + file, "--tables=" + tables})),
                "--tables=" + tables + " would write " + file + ", which --csv writes, too");
        }
    }
    EXPECT_GT(nFiles, 10U);
    std::filesystem::remove_all(tables);

    const auto refuse =
        [&](const std::string& program, const std::string& several, const std::string& one) {
            for (const auto& arguments : {std::vector<std::string>{several, one}, {one, several}})
            {
                ExpectRefusal(Start(program, arguments),
                              several + " would write " + one.substr(one.find('=') + 1) +
                                  ", which " + one.substr(0, one.find('=')) + " writes, too");
            }
        };
    refuse("run", "--tables=" + tables + "/", "--csv=" + tables + "/summary.csv");
    refuse("run", "--timeline=" + tables + "/", "--summary=" + tables + "/rank7.json");
    refuse("gpt3", "--pcap=" + tables, "--csv=" + tables + "-12-0.pcap");
    refuse("compile", "--chakra=" + tables, "--inventory=" + tables + "/trace.3.et");
    refuse("compile", "--tables=" + tables, "--layouts=" + tables + "/memory.csv");
    refuse("search", "--saveStrategies=" + tables, "--report=" + tables + "/1.json");
    refuse("schedule", "--timelines=" + tables, "--csv=" + tables + "/packet-p3.csv");
    refuse("cluster", "--tables=" + tables, "--svg=" + tables + "/links.csv");
    refuse("collective", "--tables=" + tables, "--measuredCsv=" + tables + "/notes.csv");

    // Links to the folder, and in it.
    std::filesystem::create_directory(tables);
    const std::string link = folder.Get() + "/link";
    std::filesystem::create_directory_symlink(tables, link);
    ExpectRefusal(Start("run", {"--tables=" + link, "--csv=" + tables + "/run.csv"}),
                  "would write " + tables + "/run.csv, which --csv writes, too");
    const std::string plan = folder.Write("plan.json", R"({"dp": 2})");
    std::filesystem::create_symlink(plan, tables + "/links.csv");
    ExpectRefusal(Start("run", Small({"--strategy=" + plan, "--tables=" + tables})),
                  "would write " + tables + "/links.csv, which --strategy reads");
    ExpectRefusal(Start("run", {"--trace=" + tables, "--timeline=" + link + "/"}),
                  "would write into the folder whose traces --trace reads");
}

TEST(InputMistakes, NamesAndSourcesAreTexts)
{
    const Folder folder;
    const std::string plan = folder.Write("p.json", R"({"name": 3, "dp": 2})");
    ExpectRefusal(Start("run", Small({"--strategy=" + plan})), "p.json: /name: must be a string");
    const std::string prices = folder.Write("prices.json",
                                            R"({"format": "proteus-prices", "version": 1,
 "currency": "USD", "layout": {"servers_per_rack": 4, "source": {}}})");
    ExpectRefusal(Start("cluster", {"--cluster=dgx-a100", "--prices=" + prices}),
                  "prices.json: /layout/source: must be a string");
}

TEST(InputMistakes, OptionsBelowZeroAndFilesOfFiles)
{
    const Folder folder;
    ExpectRefusal(Start("search", {"--model=gpt3-125m", "--budget=-5"}), "--budget: must not be");
    ExpectRefusal(Start("run", {"--config=" + folder.Write("c.json", R"({"help": true})")}),
                  "c.json: /help: --help prints something instead of a run");
    ExpectRefusal(Start("run", {"--config=" + folder.Write("c.json", R"({"config": "d.json"})")}),
                  "/config: options are read from one file");
}

TEST(InputMistakes, ACalibrationHasNoOptionsOfRuns)
{
    const Folder folder;
    for (const std::string option : {"--json=x.json",
                                     "--report=x.html",
                                     "--csv=x.csv",
                                     "--scenario=x.json",
                                     "--executor=flow",
                                     "--iterations=3",
                                     "--computeTime=3ms",
                                     "--columns"})
    {
        ExpectRefusal(Start("calibrate", {option}), "there is no such option");
    }
    ExpectRefusal(Start("calibrate", {"--sizes=64K,65536"}), "65536 stands there twice");
    const std::string lone = R"({"format": "proteus-cluster", "version": 1, "vertices": [
 {"name": "g", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"}], "links": []})";
    ExpectRefusal(Start("calibrate",
                        {"--cluster=" + folder.Write("one.json", lone),
                         "--saveCalibration=" + folder.Get() + "/c.json"}),
                  "needs GPUs that communicate");
}

TEST(InputMistakes, OutputsThatEndAsAnotherFormat)
{
    ExpectRefusal(Start("cluster", {"--output=x.yaml"}),
                  "--output=x.yaml: is no .yaml file: the name must end in .json");
    ExpectRefusal(Start("cluster", {"--output=x.XML"}), "is no .xml file");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--csv=x.csv.gz"})),
                  "is no .gz file: the name must end in .csv");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--summary=x.csv"})),
                  "--summary=x.csv: is no .csv file: the name must end in .json");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--timeline=x.csv"})),
                  "--timeline=x.csv: is no .csv file: the name must end in .json");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--ascii=x.gz"})), "is no .gz file");
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--tables=x.csv"})),
                  "--tables=x.csv: is a folder, and no .csv file: leave the ending out");
    ExpectRefusal(Start("compile", {MODEL, PLAN, "--chakra=x.json"}), "is a folder, and no .json");
    EXPECT_EQ(Start("cluster", {"--output=/dev/null"}).code, 0);
}

TEST(InputMistakes, FilesThatAreNotThereNameTheirOption)
{
    const Folder folder;
    const std::string link = folder.Get() + "/link.json";
    std::filesystem::create_symlink("/nowhere/x.json", link);
    for (const std::string option : {"--strategy=", "--cluster=", "--framework=", "--scenario="})
    {
        ExpectRefusal(Start("run", Small({"--strategy=dp=8", option + link})),
                      option + link + ": cannot be read: it is a link to /nowhere/x.json: No such");
    }
    ExpectRefusal(Start("run", {"--model=" + link, "--strategy=dp=8"}),
                  "--model=" + link + ": cannot be read: it is a link to /nowhere/x.json");
    ExpectRefusal(Start("run", Small({"--strategy=./none.json"})),
                  "--strategy=./none.json: cannot be read: No such file");
    const std::string endless(5000, 'a'); // no name of a file is so long
    ExpectRefusal(Start("run", Small({"--strategy=dp=8", "--cluster=" + endless})), "--cluster=");
    ExpectRefusal(Start("run", Small({"--strategy=" + endless})), "--strategy=");
}

// As "--strategy=<(jq ... plan.json)" of a shell; programs read files several times.
TEST(InputMistakes, APipeIsReadAsAFileIs)
{
    const auto start = [](const std::string& option, const std::string& text) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(ends[1]);
        const Outcome outcome =
            Start("run",
                  Small({"--strategy=dp=8", option + "=/dev/fd/" + std::to_string(ends[0])}));
        close(ends[0]);
        return outcome;
    };
    const std::string plan = R"({"format": "proteus-strategy", "version": 1, "tp": 2, "dp": 4})";
    const Outcome piped = start("--strategy", plan);
    EXPECT_EQ(piped.code, 0) << piped.error;
    EXPECT_NE(piped.out.find("8 devices"), std::string::npos) << piped.out;
    EXPECT_EQ(start("--cluster", TwoGpus("")).code, 1); // which are too few
    EXPECT_EQ(start("--scenario", R"({"format": "proteus-scenario", "version": 1})").code, 0);
}
