/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-spread.h"
#include "ns3/proteus-study-chart.h"
#include "ns3/proteus-study-check.h"
#include "ns3/proteus-study-comparison.h"
#include "ns3/proteus-study-json.h"
#include "ns3/proteus-study-page.h"
#include "ns3/proteus-study-published.h"
#include "ns3/proteus-study-result.h"
#include "ns3/proteus-study.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

const std::string WORKLOADS = PROTEUS_SOURCE_DIR "/workloads";

/// @return what a file says, checked by the program itself
Study
Read(const std::string& text, const std::string& fileName = "s.json")
{
    std::unique_ptr<StudyProgram> program;
    std::istringstream input(text);
    return ReadStudyJson(input, fileName, MakeStudyCheck(program, WORKLOADS, fileName));
}

const std::string HEAD = R"({"format": "proteus-study", "version": 1, "program": "proteus-run", )";
const std::string AXES = R"("axes": [{"name": "fabric", "values": ["fat-tree", "leaf-spine"]}])";

/// A wrong file, and what the one line about it has to say.
struct Wrong
{
    std::string text;
    std::string hint;
};

const std::vector<Wrong> WRONG{
    {R"({"format": "proteus-study", "version": 1,})", "s.json:1:"},
    {R"({"format": "proteus-graph", "version": 1})", "/format"},
    {R"({"format": "proteus-study", "version": 2})", "/version"},
    {R"({"format": "proteus-study", "version": 1, )" + AXES + "}", "program"},
    {R"({"format": "proteus-study", "version": 1, "program": "proteus-rum", )" + AXES + "}",
     "s.json: /program: there is no program 'proteus-rum': did you mean proteus-run?"},
    {R"({"format": "proteus-study", "version": 1, "program": "proteus-fabrics", )" + AXES + "}",
     "/program: proteus-fabrics has neither --summary nor --tables"},
    {HEAD + R"("options": {"fabrik": "fat-tree"}, )" + AXES + "}",
     "/options/fabrik: --fabrik: there is no such option; did you mean --fabric?"},
    {HEAD + R"("options": {"nodes": 1.5}, )" + AXES + "}",
     "/options/nodes: --nodes=1.5: must be a whole number"},
    {HEAD + R"("options": {"nodes": null}, )" + AXES + "}", "/options/nodes: must be a text"},
    {HEAD + R"("options": {"summary": "x.json"}, )" + AXES + "}",
     "/options/summary: --summary is set by the study"},
    {HEAD + R"("options": {"report": "x.html"}, )" + AXES + "}",
     "/options/report: --report=x.html: every point would write this file: put {point}"},
    {HEAD + R"("options": {"ns3::proteus::Fabric::Routing": "Best"}, )" + AXES + "}",
     "/options/ns3::proteus::Fabric::Routing"},
    {HEAD + R"("axes": []})", "/axes: needs at least one axis"},
    {HEAD + R"("axes": [{"name": "stream", "values": "1-3", "spread": true}]})",
     "/axes: needs an axis that is no spread"},
    {HEAD + R"("axes": [{"name": "fabric", "values": []}]})",
     "/axes/0/values: needs at least one value"},
    {HEAD + R"("axes": [{"name": "stream", "values": "3-1"}]})",
     "/axes/0/values: '3-1': the range 3-1 goes down"},
    {HEAD + R"("axes": [{"name": "stream", "values": ["1", "2", "1"]}]})",
     "/axes/0/values/2: the axis stream has '1' already"},
    {HEAD + R"("axes": [{"name": "point", "values": ["1"]}]})",
     "/axes/0/name: 'point' is the name of another column"},
    {HEAD + R"("axes": [{"name": "a", "values": [{"label": "x"}]}]})",
     "/axes/0/values/0: needs either 'value' or 'options'"},
    {HEAD + R"("axes": [{"name": "a", "values": [{"label": "x", "options": {"nodes": "x"}}]}]})",
     "/axes/0/values/0/options/nodes: --nodes=x: must be a whole number"},
    {HEAD + R"("options": {"fabric": "torus-2d"}, )" + AXES + "}",
     "/axes/0: the axis fabric sets --fabric, which stands in 'options'"},
    {HEAD + R"("axes": [{"name": "a", "option": "nodes", "values": [2]}, {"name": "b", "option": )"
            R"("nodes", "values": [3]}]})",
     "/axes/1: the axis b sets --nodes, as the axis a does"},
    {HEAD + AXES + R"(, "skip": [{"fabrik": "fat-tree"}]})", "/skip/0: there is no axis 'fabrik'"},
    {HEAD + AXES + R"(, "skip": [{"fabric": "fat-tree"}, {"fabric": "fat-tree"}]})",
     "/skip/1: leaves out the same points as one before it"},
    {HEAD + AXES + R"(, "prices": ""})", "/prices: names no file"},
    {HEAD + AXES + R"(, "table": ""})", "/table: names no table"},
    {HEAD + AXES + R"(, "table": "t", "measure": "m", "cost": "c", "prices": "p.json"})",
     "/prices: is of networks, which a study with 'table' does not count"},
    {HEAD + AXES + R"(, "table": "t", "measure": "m", "cost": "network_price"})",
     "/cost: is of networks, which a study with 'table' does not count"},
    {HEAD + AXES +
         R"(, "skip": [{"fabric": "fat-tree"}], "published": {"source": "s", "values": )"
         R"([{"name": "p", "at": {"fabric": "fat-tree"}, "value": 1}]}})",
     "/published/values/0/at: every point of these values is left out by 'skip'"},
    {HEAD + AXES + R"(, "published": {"values": []}})", "/published"},
    {HEAD + AXES + R"(, "published": {"source": "s", "values": []}})",
     "/published/values: needs at least one number"},
    {HEAD + AXES + R"(, "published": {"source": "", "values": []}})",
     "/published/source: is empty: say where the numbers are from"},
    {HEAD + AXES + R"(, "published": {"source": "s", "values": [{"name": ""}]}})",
     "/published/values/0/name: is empty"},
    {HEAD + AXES + R"(, "name": ""})", "/name: is empty: leave it out for the program"},
    {HEAD + AXES + R"(, "cost": "iteration_s"})", "/cost: is the measure, too"},
    {HEAD + R"("axes": [{"name": "a", "values": [{"label": "", "options": {"nodes": 2}}]}]})",
     "/axes/0/values/0/label: is empty"},
    {HEAD + AXES +
         R"(, "published": {"source": "s", "values": [{"name": "p", "at": {"fabric": "torus"}, )"
         R"("value": 1}]}})",
     "/published/values/0/at/fabric: the axis fabric has no value 'torus'"},
    {HEAD + AXES +
         R"(, "published": {"source": "s", "values": [{"name": "p", "at": {}, "value": 0}]}})",
     "/published/values/0/value"},
    {HEAD + AXES +
         R"(, "published": {"source": "s", "values": [)"
         R"({"name": "p", "at": {"fabric": "fat-tree"}, "value": 2},)"
         R"({"name": "p", "at": {"fabric": "fat-tree"}, "value": 3}]}})",
     "/published/values/1: 'p' is published for these values already"},
    {HEAD + R"("axes": [{"name": "a", "option": "nodes", "values": [{"label": "x", "value": 2}, )"
            R"({"label": "y", "options": {"nodes": "2"}}]}]})",
     "/axes/0/values/1: 'y' sets the same as 'x', so that the two are one point"},
    {HEAD + R"("axes": [{"name": "oversubscription", "values": [1, 2, 2.0]}]})",
     "/axes/0/values/2: '2.0' sets the same as '2'"},
    {HEAD + R"("axes": [{"name": "oversubscription", "values": ["2:1", "2"]}]})",
     "/axes/0/values/1: '2' sets the same as '2:1'"},
    {HEAD + R"("axes": [{"name": "launchInterval", "values": ["1ms", "1000us"]}]})",
     "/axes/0/values/1: '1000us' sets the same as '1ms'"},
    {HEAD + R"("axes": [{"name": "strategy", "values": ["tp=2,dp=8", "dp=8,tp=2"]}]})",
     "/axes/0/values/1: 'dp=8,tp=2' sets the same as 'tp=2,dp=8'"},
    {HEAD +
         R"("axes": [{"name": "strategy", "values": ["tp=2,dp=8", "{\"dp\": 8.0, \"tp\": 2}"]}]})",
     "sets the same as 'tp=2,dp=8'"},
    {HEAD + R"("axes": [{"name": "model", "values": ["gpt3-125m", "GPT3_125M"]}]})",
     "/axes/0/values/1: 'GPT3_125M' sets the same as 'gpt3-125m'"},
    {HEAD + R"("axes": [{"name": "model", "values": ["gpt3-125m", ")" + WORKLOADS +
         R"(/models/gpt3-125m.json"]}]})",
     "gpt3-125m.json' sets the same as 'gpt3-125m'"},
    {HEAD + R"("axes": [{"name": "model", "values": ["gpt3-125n"]}]})",
     "/axes/0/values/0: --model=gpt3-125n: did you mean gpt3-125m?"},
    {R"({"format": "proteus-study", "version": 1, "program": "proteus-gpt3", "axes": )"
     R"([{"name": "model", "values": ["125M", "gpt3-125m"]}]})",
     "/axes/0/values/1: 'gpt3-125m' sets the same as '125M'"},
    {HEAD + R"("axes": [{"name": "cluster", "values": ["dgx-h100", "DGX_H100"]}]})",
     "/axes/0/values/1: 'DGX_H100' sets the same as 'dgx-h100'"},
    {HEAD + R"("axes": [{"name": "cluster", "values": ["dgx-h100:nodes=2,leafs=2", )"
            R"("dgx-h100:leafs=2,nodes=2"]}]})",
     "/axes/0/values/1: 'dgx-h100:leafs=2,nodes=2' sets the same as"},
    {HEAD + R"("axes": [{"name": "cluster", "values": [")" + WORKLOADS +
         R"(/clusters/2-x-dgx-a100.json", ")" + WORKLOADS + R"(/./clusters/2-x-dgx-a100.json"]}]})",
     "/./clusters/2-x-dgx-a100.json' sets the same as"},
    {HEAD + R"("axes": [{"name": "framework", "values": ["fsdp1", "FSDP1"]}]})",
     "/axes/0/values/1: 'FSDP1' sets the same as 'fsdp1'"},
    {HEAD + R"("axes": [{"name": "protocol", "values": ["LL", "ll"]}]})",
     "/axes/0/values/1: 'll' sets the same as 'LL'"},
    {HEAD + R"("axes": [{"name": "ncclVersion", "values": ["2.18.3", "2.18"]}]})",
     "/axes/0/values/1: '2.18' sets the same as '2.18.3'"},
    {HEAD + R"("axes": [{"name": "algorithm", "values": ["ring", "Ring"]}]})",
     "/axes/0/values/1: 'Ring' sets the same as 'ring'"},
    {HEAD + R"("axes": [{"name": "algorithm", "values": ["rnig"]}]})",
     "/axes/0/values/0: --algorithm=rnig: did you mean ring?"},
    {R"({"format": "proteus-study", "version": 1, "program": "proteus-collective", "axes": )"
     R"([{"name": "collective", "values": ["all-reduce", "all_reduce"]}]})",
     "/axes/0/values/1: 'all_reduce' sets the same as 'all-reduce'"},
    {R"({"format": "proteus-study", "version": 1, "program": "proteus-collective", "axes": )"
     R"([{"name": "pluginLatency", "values": ["35", "35us"]}]})",
     "/axes/0/values/1: '35us' sets the same as '35'"},
    {HEAD + AXES + R"(, "skip": [{"fabric": "torus"}]})",
     "/skip/0/fabric: the axis fabric has no value 'torus'"},
    {HEAD + AXES + R"(, "skip": [{"fabric": "fat-tree"}, {"fabric": "leaf-spine"}]})",
     "nothing is left of the study"},
    {HEAD + AXES + R"(, "better": "faster"})", "/better: must be 'less' or 'more'"},
    {HEAD + AXES + R"(, "table": "links"})", "measure"},
    {HEAD + AXES + R"(, "row": {"a": 1}})", "/row: belongs to 'table'"},
    {HEAD + AXES + R"(, "goal": "time"})", "goal"}};

/// @return a study of two axes and three throws
Study
MakeStudy()
{
    Study study;
    study.name = "a & b";
    study.program = "proteus-run";
    study.axes = {{"fabric", {{"f", {{"fabric", "f"}}}, {"l", {{"fabric", "l"}}}}, false},
                  {"size", {{"1", {{"nodes", "1"}}}, {"2", {{"nodes", "2"}}}}, false},
                  {"stream",
                   {{"1", {{"stream", "1"}}}, {"2", {{"stream", "2"}}}, {"3", {{"stream", "3"}}}},
                   true}};
    return study;
}

/// @return results of all points: times by a rule, the ports of a fabric by another
std::vector<StudyResult>
MakeResults(const std::vector<StudyPoint>& points)
{
    std::vector<StudyResult> results;
    for (const StudyPoint& point : points)
    {
        const double time = (point.labels[0] == "f" ? 10 : 11) * std::stod(point.labels[1]) +
                            std::stod(point.labels[2]);
        StudyResult result;
        result.isDone = true;
        result.output = R"({"iteration_s": )" + std::to_string(time) + R"(, "notes": ["n"]})";
        const uint64_t ports = point.labels[0] == "f" ? 20 : 10;
        result.bill = {uint64_t{1}, ports, ports};
        results.push_back(result);
    }
    return results;
}

} // namespace

TEST(Study, PathsBeginInTheFolderOfTheFile)
{
    // also where the file is named without a folder
    EXPECT_EQ(Read(HEAD + AXES + "}").folder, std::filesystem::current_path());
}

TEST(Study, InputsAreLookedForWhereThePointsRun)
{
    const auto read = [](const std::string& scenario) {
        return Read(HEAD + R"("options": {"scenario": ")" + scenario + R"("}, )" + AXES + "}",
                    WORKLOADS + "/studies/s.json");
    };
    EXPECT_EQ(read("../scenarios/slow-gpu.json").folder, WORKLOADS + "/studies");
    EXPECT_NO_THROW(read(WORKLOADS + "/scenarios/slow-gpu.json"));
    EXPECT_NO_THROW(read("scenario-{point}.json")); // which one is known at the point only
    EXPECT_NE(
        ErrorOf([&] { read("slow-gpu.json"); }).find("--scenario=slow-gpu.json: cannot be read"),
        std::string::npos);
}

TEST(Study, ThoseOfTheManualAreTaken)
{
    for (const auto& entry : std::filesystem::directory_iterator(WORKLOADS + "/studies"))
    {
        if (entry.is_directory()) // points of a study that somebody ran
        {
            continue;
        }
        std::ifstream file(entry.path());
        const std::string text(std::istreambuf_iterator<char>(file), {});
        EXPECT_NO_THROW(Read(text, entry.path().string())) << entry.path();
    }
}

TEST(Study, WrongFilesAreRefusedInOneLine)
{
    for (const Wrong& wrong : WRONG)
    {
        try
        {
            Read(wrong.text);
            FAIL() << "taken: " << wrong.text;
        }
        catch (const std::invalid_argument& error)
        {
            const std::string what = error.what();
            EXPECT_NE(what.find(wrong.hint), std::string::npos) << what << "\n" << wrong.text;
            EXPECT_EQ(what.rfind("s.json", 0), 0u) << what;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        }
    }
}

// A program in which --output is another name of --saveStrategies.
TEST(Study, OtherNamesOfAnOptionAreThatOption)
{
    StudyCheck check;
    check.program = [](const std::string& /* program */) {};
    check.name = [](const std::string& name) {
        return name == "output" ? std::string("saveStrategies") : name;
    };
    check.option = [](const std::string& /* name */, const std::string& value) { return value; };
    const auto read = [&check](const std::string& text) {
        std::istringstream input(HEAD + text + "}");
        return ReadStudyJson(input, "s.json", check);
    };
    const auto errorOf = [&read](const std::string& text) { return ErrorOf([&] { read(text); }); };
    const Study study = read(R"("axes": [{"name": "output", "values": ["a", "b"]}])");
    EXPECT_EQ(study.axes[0].name, "output");
    EXPECT_EQ(study.axes[0].values[1].options, (StudyOptions{{"saveStrategies", "b"}}));
    EXPECT_EQ(errorOf(R"("axes": [{"name": "a", "option": "output", "values": ["a"]}, )"
                      R"({"name": "b", "option": "saveStrategies", "values": ["b"]}])"),
              "s.json: /axes/1: the axis b sets --saveStrategies, as the axis a does");
    EXPECT_EQ(errorOf(R"("options": {"output": "a", "saveStrategies": "b"}, )" + AXES),
              "s.json: /options/saveStrategies: --saveStrategies stands there already, by its "
              "other name");
    EXPECT_EQ(errorOf(R"("axes": [{"name": "a", "values": [{"label": "x", "options": {"output": )"
                      R"("c"}}, {"label": "y", "options": {"saveStrategies": "c"}}]}])"),
              "s.json: /axes/0/values/1: 'y' sets the same as 'x', so that the two are one point");
}

TEST(Study, PointsAreAllCombinationsTheLastAxisFastest)
{
    const Study study =
        Read(HEAD + R"("options": {"model": "gpt3-125m"}, "axes": [)"
                    R"({"name": "fabric", "values": ["fat-tree", {"label": "thin", "options": )"
                    R"({"fabric": "leaf-spine", "oversubscription": 4}}]},)"
                    R"({"name": "path", "option": "stream", "values": "1-2,7", "spread": true}],)"
                    R"("skip": [{"fabric": "fat-tree", "path": 2}]})");
    const std::vector<StudyPoint> points = ListPoints(study);
    ASSERT_EQ(points.size(), 5u);
    EXPECT_EQ(points[0].labels, (std::vector<std::string>{"fat-tree", "1"}));
    EXPECT_EQ(points[1].labels, (std::vector<std::string>{"fat-tree", "7"}));
    EXPECT_EQ(points[2].labels, (std::vector<std::string>{"thin", "1"}));
    EXPECT_EQ(points[4].number, 5u);
    EXPECT_EQ(points[4].options,
              (StudyOptions{{"fabric", "leaf-spine"},
                            {"model", "gpt3-125m"},
                            {"oversubscription", "4"},
                            {"stream", "7"}}));
    EXPECT_TRUE(study.axes[1].isSpread);
}

TEST(Study, ShardsShareThePointsOut)
{
    for (const std::size_t count : {1, 2, 3, 7})
    {
        for (std::size_t position = 0; position < 20; ++position)
        {
            std::size_t owners = 0;
            for (std::size_t index = 1; index <= count; ++index)
            {
                const auto shard = ParseShard(std::to_string(index) + "/" + std::to_string(count));
                owners += shard.Has(position) ? 1 : 0;
            }
            EXPECT_EQ(owners, 1u);
        }
    }
    for (const char* text : {"", "1", "0/2", "3/2", "1/0", "1/2/3", "-1/2", "a/b", "1/"})
    {
        EXPECT_THROW(ParseShard(text), std::invalid_argument) << text;
    }
}

TEST(Study, NumbersAreListsAndRanges)
{
    EXPECT_EQ(ParseNumbers("1-3"), (std::vector<std::size_t>{1, 2, 3}));
    EXPECT_EQ(ParseNumbers("5,1-2,9"), (std::vector<std::size_t>{5, 1, 2, 9}));
    for (const char* text :
         {"", "1-", "-1", "1--2", "2-1", "1,1", "1-3,2", "x", "1 2", "1.5", "1,", ",1", "1,,2"})
    {
        EXPECT_THROW(ParseNumbers(text), std::invalid_argument) << text;
    }
}

TEST(Study, ContentTellsPointsFilesAndVersionsApart)
{
    const Study study = MakeStudy();
    std::set<std::string> digests;
    for (const StudyPoint& point : ListPoints(study))
    {
        digests.insert(Digest(DescribeContent(study, point, "1", {})));
        digests.insert(Digest(DescribeContent(study, point, "2", {})));
        digests.insert(Digest(DescribeContent(study, point, "1", {{"cluster", Digest("a")}})));
        digests.insert(Digest(DescribeContent(study, point, "1", {{"cluster", Digest("b")}})));
    }
    EXPECT_EQ(digests.size(), 48u);
}

TEST(Study, TableHasARowPerPointAndExecutor)
{
    const Study study = MakeStudy();
    std::vector<StudyPoint> points = ListPoints(study);
    points.resize(4);
    std::vector<StudyResult> results(4);
    results[0] = {true, "", R"({"packet": {"iteration_s": 1}, "flow": {"iteration_s": 2}})", {}};
    results[1] = {true, "no such thing", "", {}};
    results[3] = {
        true,
        "",
        R"({"iteration_s": 3, "losses": {"pauses": 7}, "busiest_links": [{"name": "x"}]})",
        {uint64_t{1}, uint64_t{2}, uint64_t{3}}};
    const Table table = MakeStudyTable(study, points, results);
    ASSERT_EQ(table.rows.size(), 4u); // the third is not done
    const auto get = [&table](std::size_t row, const std::string& column) {
        return ToText(table.rows[row][FindColumn(table, column)]);
    };
    for (const auto& row : table.rows)
    {
        EXPECT_EQ(row.size(), table.columns.size());
    }
    EXPECT_EQ(get(0, "executor") + get(1, "executor"), "flowpacket");
    EXPECT_EQ(get(0, "iteration_s") + get(1, "iteration_s"), "21");
    EXPECT_EQ(get(2, "status") + get(2, "error"), "failedno such thing");
    EXPECT_EQ(get(3, "point") + get(3, "fabric") + get(3, "stream"), "4f1");
    EXPECT_EQ(get(3, "pauses") + get(3, "busiest_link") + get(3, "network_ports"), "7x2");
    EXPECT_THROW(FindColumn(table, "iteration"), std::invalid_argument);
    results[0].output = "[";
    EXPECT_THROW(MakeStudyTable(study, points, results), std::invalid_argument);
}

TEST(Study, TableOfAnotherProgramIsARowOfItsTable)
{
    Study study = MakeStudy();
    study.table = "collectives";
    study.row = {{"bytes", "8"}};
    std::vector<StudyPoint> points = ListPoints(study);
    points.resize(1);
    const std::string columns = R"("columns": [{"name": "bytes", "unit": "B", "description": ""},)"
                                R"({"name": "busbw", "unit": "B/s", "description": "d"}])";
    std::vector<StudyResult> results{
        {true,
         "",
         R"({"tables": {"collectives": {)" + columns +
             R"(, "rows": [{"bytes": 4, "busbw": 1.5}, {"bytes": 8, "busbw": 2.5}]}}})",
         {}}};
    const Table table = MakeStudyTable(study, points, results);
    ASSERT_EQ(table.rows.size(), 1u);
    EXPECT_EQ(ToText(table.rows[0][FindColumn(table, "busbw")]), "2.5");
    study.row = {{"size", "8"}};
    EXPECT_EQ(
        ErrorOf([&] { MakeStudyTable(study, points, results); }),
        "point 1: result of proteus-run: 'row' of the study: there is no column 'size'; there "
        "are bytes, busbw");
    study.row = {};
    EXPECT_THROW(MakeStudyTable(study, points, results), std::invalid_argument);
    study.table = "links";
    EXPECT_THROW(MakeStudyTable(study, points, results), std::invalid_argument);
}

TEST(Study, PublishedNumbersStandBesideThoseThatAreFound)
{
    const Study study = Read(HEAD + AXES +
                             R"(, "published": {"source": "a paper", "values": [)"
                             R"({"name": "measured", "at": {"fabric": "fat-tree"}, "value": 2},)"
                             R"({"name": "measured", "at": {"fabric": "leaf-spine"}, "value": 4},)"
                             R"({"name": "tokens", "at": {"fabric": "fat-tree"}, )"
                             R"("column": "tokens_per_s", "value": 10}]}})");
    const std::vector<StudyPoint> points = ListPoints(study);
    std::vector<StudyResult> results(2);
    results[0].isDone = true;
    results[0].output = R"({"iteration_s": 2.5, "tokens_per_s": 9})";
    results[1].isDone = true;
    results[1].error = "refused";
    const Table table = MakeStudyTable(study, points, results);
    const Table compared = ComparePublished(study, table);
    ASSERT_EQ(compared.rows.size(), 3u);
    EXPECT_EQ(compared.columns.back().name, "error");
    EXPECT_DOUBLE_EQ(std::get<double>(compared.rows[0].back()), 0.25);
    EXPECT_EQ(ToText(compared.rows[1].back()), "");
    EXPECT_NEAR(std::get<double>(compared.rows[2].back()), -0.1, 1e-12);
    std::ostringstream text;
    PrintPublished(study, table, text);
    EXPECT_NE(text.str().find("measured: mean error 25.0 %, largest 25.0 %, 1 numbers"),
              std::string::npos)
        << text.str();
    EXPECT_NE(text.str().find("Published: a paper"), std::string::npos);
    EXPECT_NE(text.str().find("measured        2.000 s    2.500 s   25.0 %"), std::string::npos)
        << text.str();
}

TEST(Study, PublishedNumbersNeedAColumnOfNumbers)
{
    const auto errorOf = [](const std::string& column) {
        Study study = MakeStudy();
        study.published = {{"p", {{"fabric", "f"}, {"size", "1"}}, column, 2}};
        const std::vector<StudyPoint> points = ListPoints(study);
        const Table table = MakeStudyTable(study, points, MakeResults(points));
        return ErrorOf([&] { ComparePublished(study, table); });
    };
    EXPECT_EQ(errorOf("iteration_s"), "");
    EXPECT_EQ(errorOf("iteration").rfind("there is no column 'iteration'; there are point, ", 0),
              0u);
    EXPECT_EQ(errorOf("size"),
              "column 'size' has '1', which is no number to compare a published "
              "one with");
}

TEST(Study, AMeasureIsANumber)
{
    Study study = MakeStudy();
    const std::vector<StudyPoint> points = ListPoints(study);
    study.measure = "size";
    const Table table = MakeStudyTable(study, points, MakeResults(points));
    EXPECT_EQ(ErrorOf([&] { CompareStudy(study, table); }),
              "/measure: the column 'size' has '1', which is no number to compare");
}

TEST(Study, QuantitiesBecomeColumns)
{
    Study study = MakeStudy();
    study.table = "summary";
    std::vector<StudyPoint> points = ListPoints(study);
    points.resize(1);
    const std::string columns =
        R"("columns": [{"name": "quantity", "unit": "", "description": ""},)"
        R"({"name": "value", "unit": "", "description": ""},)"
        R"({"name": "unit", "unit": "", "description": ""}])";
    const std::vector<StudyResult> results{
        {true,
         "",
         R"({"tables": {"summary": {)" + columns +
             R"(, "rows": [{"quantity": "last byte", "value": 0.5, "unit": "s"},)"
             R"({"quantity": "wall time", "value": 3, "unit": "s"}]}}})",
         {}}};
    const Table table = MakeStudyTable(study, points, results);
    EXPECT_EQ(ToText(table.rows[0][FindColumn(table, "last_byte_s")]), "0.5");
    EXPECT_THROW(FindColumn(table, "wall_time_s"), std::invalid_argument);
}

TEST(Spread, MedianLeastMost)
{
    const Spread odd = FindSpread({3, 1, 2});
    EXPECT_EQ(odd.count, 3u);
    EXPECT_EQ(odd.median, 2);
    EXPECT_EQ(odd.least, 1);
    EXPECT_EQ(odd.most, 3);
    EXPECT_EQ(FindSpread({4, 1, 2, 3}).median, 2.5);
    EXPECT_THROW(FindSpread({}), std::invalid_argument);
    EXPECT_TRUE(IsWithinSpread(odd, FindSpread({3, 9})));
    EXPECT_FALSE(IsWithinSpread(odd, FindSpread({3.5, 9})));
    EXPECT_FALSE(IsWithinSpread(FindSpread({1}), FindSpread({1}))); // nothing was thrown
}

TEST(Study, GroupsAreComparedWithTheirSpread)
{
    const Study study = MakeStudy();
    const std::vector<StudyPoint> points = ListPoints(study);
    const Table table = MakeStudyTable(study, points, MakeResults(points));
    const StudyComparison comparison = CompareStudy(study, table);
    EXPECT_EQ(comparison.axes, (std::vector<std::string>{"fabric", "size"}));
    ASSERT_EQ(comparison.groups.size(), 4u);
    const StudyGroup& best = comparison.groups[0];
    EXPECT_EQ(best.labels, (std::vector<std::string>{"f", "1"})); // 11, 12, 13
    EXPECT_EQ(best.measure.count, 3u);
    EXPECT_EQ(best.measure.median, 12);
    EXPECT_EQ(best.measure.most, 13);
    EXPECT_EQ(comparison.groups[1].labels, (std::vector<std::string>{"l", "1"})); // 12, 13, 14
    EXPECT_TRUE(IsWithinSpread(best.measure, comparison.groups[1].measure));
    EXPECT_FALSE(IsWithinSpread(best.measure, comparison.groups[2].measure));
    // By cost: l at 13, then f at 12; what is slower at equal cost is not worth it.
    EXPECT_EQ(comparison.pareto, (std::vector<std::size_t>{1, 0}));
    Study most = study;
    most.isMostBest = true;
    EXPECT_EQ(CompareStudy(most, table).groups[0].labels, (std::vector<std::string>{"l", "2"}));
    most.measure = "busiest_link";
    EXPECT_TRUE(CompareStudy(most, table).groups.empty());
    most.measure = "fabric";
    EXPECT_THROW(CompareStudy(most, table), std::invalid_argument);
}

TEST(Study, PageHasEveryGroupEscapedAndSaysTheSpread)
{
    const Study study = MakeStudy();
    const std::vector<StudyPoint> points = ListPoints(study);
    std::vector<StudyResult> results = MakeResults(points);
    results.back() = {true, "out of <memory>", "", {}};
    std::ostringstream page;
    const Table table = MakeStudyTable(study, points, results);
    WriteStudyPage(study, table, {"3 points: a < b"}, page);
    EXPECT_NE(page.str().find("<li>3 points: a &lt; b</li>"), std::string::npos);
    const std::string text = page.str();
    for (const char* part : {"<h1>a &amp; b</h1>",
                             "within the spread: chance may be all of it",
                             "1 point could not run: out of &lt;memory&gt;",
                             "median of 3",
                             "iteration_s over size",
                             "iteration_s against network_ports"})
    {
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(text.find("http"), std::string::npos); // needs no network
    EXPECT_EQ(text.find("nan"), std::string::npos);
    EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(Study, ChartsNumberLabelsThatWouldMeet)
{
    const ChartLine line{"a", {FindSpread({1.0}), FindSpread({2.0}), FindSpread({3.0})}};
    std::ostringstream words;
    WriteLineChart("x", {"one", "two", "three"}, "m", "s", {line}, words);
    EXPECT_NE(words.str().find(">three</text>"), std::string::npos);
    EXPECT_EQ(words.str().find("<ol"), std::string::npos);
    const std::string longer = "a label of a configuration, with <all> it has";
    std::ostringstream numbers;
    WriteLineChart("x", {longer, "two", "three"}, "m", "s", {line}, numbers);
    EXPECT_NE(numbers.str().find(">3</text>"), std::string::npos);
    EXPECT_NE(numbers.str().find("<li>a label of a configuration, with &lt;all&gt; it has</li>"),
              std::string::npos);
}

TEST(Study, PageDrawsNoCostThatIsOne)
{
    const Study study = MakeStudy();
    const std::vector<StudyPoint> points = ListPoints(study);
    std::vector<StudyResult> results = MakeResults(points);
    for (StudyResult& result : results)
    {
        result.bill = results.front().bill;
    }
    std::ostringstream page;
    WriteStudyPage(study, MakeStudyTable(study, points, results), {}, page);
    EXPECT_EQ(page.str().find("Notes"), std::string::npos);
    EXPECT_NE(page.str().find("All have the same network_ports"), std::string::npos);
    EXPECT_EQ(page.str().find("iteration_s against network_ports"), std::string::npos);
}

TEST(StudyResult, CountsNotesAndLosses)
{
    const auto make = [](const std::string& output) {
        StudyResult result;
        result.isDone = true;
        result.output = output;
        return result;
    };
    const std::string idle = "--a=1 has no effect: there is no b";
    const std::string rough = "flow: c is not modelled";
    const std::string lost = "packet: packets did not arrive, or were sent again: 3 packets";
    const std::string slower = "kernels beside communication took 1 ms longer on the mean GPU";
    const auto counts = CountNotes(
        {make(R"({"iteration_s": 1, "notes": [")" + slower + R"(", ")" + idle + R"("]})"),
         make(R"({"flow": {"notes": [")" + rough + R"("]}, "packet": {"notes": [")" + idle +
              R"("]}})"),
         // A table of notes; facts among those of a run, most of which are no notes.
         make(R"({"tables": {"notes": {"rows": [{"note": ")" + lost + R"("}]},
                  "run": {"rows": [{"fact": "note", "value": ")" +
              rough + R"("},
                                   {"fact": "note", "value": "12 kernels take the interval"},
                                   {"fact": "GPU", "value": "a"}]}}})"),
         make(R"({"iteration_s": 1, "out_of_memory": true,
                  "losses": {"dropped_packets": 0, "repeated_packets": 7, "timeouts": 1}})"),
         make(R"({"iteration_s": 1, "out_of_memory": false, "losses": {"dropped_packets": 0}})"),
         make(R"({"notes": ["7 kernels take the interval"]})"),
         make(R"([{"quantity": "x"}])"),
         make("")});
    const std::vector<std::pair<std::string, uint32_t>> expected{
        {"12 kernels take the interval; others with other numbers", 2},
        {idle, 2},
        {"a GPU needs more memory than it has (column out_of_memory)", 1},
        {rough, 2},
        {lost, 1},
        {"packets did not arrive, or were sent again (columns repeated_packets, timeouts)", 1}};
    EXPECT_EQ(counts.List(), expected);
}
