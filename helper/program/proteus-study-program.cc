/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-child-processes.h"
#include "proteus-command-line-program.h"
#include "proteus-fabric-flags.h"
#include "proteus-name-lists.h"
#include "proteus-page-name.h"
#include "proteus-program-list.h"
#include "proteus-programs.h"
#include "proteus-stop-signals.h"
#include "proteus-study-check.h"
#include "proteus-study-run.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-network-cost.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-prices-json.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-study-comparison.h"
#include "ns3/proteus-study-idle.h"
#include "ns3/proteus-study-page.h"
#include "ns3/proteus-study-published.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

/**
 * @file
 * @ingroup proteus
 * Runs a program at all points of a study.
 */

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_PRINTED = 20; //!< groups on standard output
constexpr int64_t MAX_JOBS = 4096;

/// What the user asked for.
struct Options
{
    CommandLineText study;
    CommandLineText folder;
    CommandLineText csv;
    CommandLineText html;
    CommandLineText published;
    int64_t jobs{1};
    std::string shard{"1/1"};
    bool retryFailed{false};
    bool quiet{false};
};

/// @return the folders of --folder, or the usual one, next to the study
std::vector<std::string>
ListFolders(const Options& options)
{
    if (options.folder.empty())
    {
        if (!std::filesystem::is_regular_file(options.study.c_str()))
        {
            throw std::invalid_argument("--study=" + options.study +
                                        ": is no file on a disk, next to which results could be "
                                        "kept: add --folder=FOLDER");
        }
        return {std::filesystem::path(options.study.c_str()).replace_extension(".points").string()};
    }
    const auto folders = SplitOnce("--folder=" + options.folder, options.folder);
    std::map<std::string, std::string> places;
    for (const std::string& folder : folders)
    {
        const auto [place, isNew] = places.emplace(FindRealPath(folder), folder);
        if (!isNew)
        {
            throw std::invalid_argument("--folder=" + options.folder + ": " + place->second +
                                        " and " + folder + " are one folder");
        }
    }
    return folders;
}

/// @param study of a file @param fileName of it @param workloads the folder workloads/
/// @return the prices that it names, or the usual ones
PriceTable
LoadPrices(const Study& study, const std::string& fileName, const std::string& workloads)
{
    const bool isNamed = !study.prices.empty();
    const std::string path = isNamed ? (std::filesystem::path(study.folder) / study.prices).string()
                                     : workloads + "/prices.json";
    try
    {
        InputFile file(path);
        return ReadPricesJson(file.GetStream(), path);
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument((isNamed ? fileName + ": /prices: " : "") + error.what());
    }
}

/// Says what the networks of points take.
class BillMaker
{
  public:
    /// @param study whose points it is about @param prices of what they take
    BillMaker(const Study& study, PriceTable prices)
        : m_folder(study.folder),
          m_prices(std::move(prices))
    {
    }

    /// @param point of a study of proteus-run or proteus-gpt3 @return GetBillColumns()
    std::vector<Cell> Make(const StudyPoint& point)
    {
        ProgramOptions options;
        OptionList list("proteus-study");
        list.AddValue("cluster", "", options.cluster);
        list.AddValue("nodes", "", options.nodes);
        options.AddFabricTo(list);
        list.AddValue("bundles", "", options.bundles);
        std::vector<std::string> words{"proteus-study"};
        std::string key;
        for (const auto& [name, value] : point.options)
        {
            if (list.Has(name))
            {
                words.push_back("--" + name + "=" + Place(name, value));
                key += words.back() + '\n';
            }
        }
        const auto [place, isNew] = m_bills.try_emplace(key);
        if (isNew)
        {
            list.Parse(words, std::cout);
            const Cluster cluster = options.BuildCluster();
            const NetworkBill bill = CountNetwork(cluster);
            place->second = {bill.switches, bill.ports, bill.cables};
            AddPrice(cluster, place->second);
        }
        return place->second;
    }

  private:
    /// Adds price and power, if the table has all that it takes.
    void AddPrice(const Cluster& cluster, std::vector<Cell>& cells) const
    {
        try
        {
            double price = 0;
            double powerW = 0;
            for (const BillLine& line : MakeBill(cluster, m_prices))
            {
                price += line.price;
                powerW += line.powerW;
            }
            cells.insert(cells.end(), {Cell(price), Cell(powerW)});
        }
        catch (const std::invalid_argument& error)
        {
            Warn(cluster.GetName() + ": " + error.what());
        }
    }

    /// @return a value, with the path of a file as this process sees it
    std::string Place(const std::string& name, const std::string& value) const
    {
        const auto path = std::filesystem::path(m_folder) / value;
        std::error_code error;
        const bool isFile = name == "cluster" &&
                            std::filesystem::is_regular_file(GetClusterPath(path.string()), error);
        return isFile ? path.string() : value;
    }

    std::string m_folder;
    PriceTable m_prices;
    std::map<std::string, std::vector<Cell>> m_bills; //!< by options
};

/// The program.
class StudyProgramOfAll : public CommandLineProgram
{
  public:
    StudyProgramOfAll(const std::string& workloads, std::string executable)
        : CommandLineProgram(workloads),
          m_executable(std::move(executable))
    {
    }

  private:
    std::string GetName() const override
    {
        return "proteus-study";
    }

    std::string FindNoSimulation() const override
    {
        return "the program of the study simulates, and gets what its file says in 'options'";
    }

    bool SendsPackets() const override
    {
        return false; // the program that is studied may
    }

    void AddTo(OptionList& command) override
    {
        command.Usage(
            "Runs a program at all combinations of the values of some axes, and says what is best\n"
            "and why. Points that have run are kept: a study that was stopped goes on where it\n"
            "was. For example:\n"
            "  proteus-study --study=workloads/studies/rails.json --jobs=4 --csv=rails.csv "
            "--html=rails.html");
        command.AddValue("study", "the study, a JSON file", m_options.study);
        command.AddInput("study");
        command.AddValue("folder",
                         "folder for the results of points (default: next to the study, NAME."
                         "points); of several, separated by commas, the first is written to, and "
                         "results are looked for in all",
                         m_options.folder);
        command.AddParts("folder", R"(/[0-9a-f]+\.json)");
        command.AddOutput("csv",
                          "write a row per point and executor to this file",
                          m_options.csv,
                          ".csv");
        command.AddOutput("html",
                          "write a page with tables and charts to this file",
                          m_options.html);
        command.AddOutput("published",
                          "write the study's published numbers beside those that are found to this "
                          "file, as CSV",
                          m_options.published,
                          ".csv");
        command.AddValue("jobs",
                         "processes at once (0: as many as there are processors)",
                         m_options.jobs);
        command.AddValue("shard", "i/n: run only the i-th of n parts", m_options.shard);
        command.AddValue("retryFailed",
                         "run points again that the program refused",
                         m_options.retryFailed);
        command.AddValue("quiet", "no progress line", m_options.quiet);
    }

    std::vector<Table> DescribeTables() override
    {
        Study study;
        study.name = "results";
        return {MakeStudyTable(study, {}, {})};
    }

    /// @return the study
    Study Load()
    {
        std::unique_ptr<StudyProgram> program;
        InputFile file(m_options.study);
        Study study = ReadStudyJson(file.GetStream(),
                                    m_options.study,
                                    MakeStudyCheck(program, GetWorkloads(), m_options.study));
        if (study.table.empty() && !program->HasSummary())
        {
            throw std::invalid_argument(m_options.study + ": " + study.program +
                                        " has no --summary: 'table' is missing, the name of a "
                                        "table of its --json");
        }
        m_set = {study.table.empty() ? "--summary={file}" : "--json={file}"};
        if (program->Has("quiet"))
        {
            m_set.emplace_back("--quiet");
        }
        if (study.table.empty())
        {
            CheckColumns(study);
        }
        return study;
    }

    /// @throw std::invalid_argument if the columns that a study names are none
    void CheckColumns(const Study& study) const
    {
        const Table table = MakeStudyTable(study, {}, {});
        std::vector<std::pair<std::string, std::string>> named{{"measure", study.measure},
                                                               {"cost", study.cost}};
        for (std::size_t i = 0; i < study.published.size(); ++i)
        {
            named.emplace_back("published/values/" + std::to_string(i) + "/column",
                               study.published[i].column);
        }
        for (const auto& [key, column] : named)
        {
            try
            {
                if (FindColumn(table, column) <= FindColumn(table, "error"))
                {
                    throw std::invalid_argument(
                        "the column '" + column +
                        "' tells the points apart, and is no result of one");
                }
            }
            catch (const std::invalid_argument& error)
            {
                throw std::invalid_argument(m_options.study + ": /" + key + ": " + error.what());
            }
        }
    }

    void Run() override
    {
        if (m_options.study.empty())
        {
            throw std::invalid_argument("--study=FILE is missing; workloads/studies/ has some");
        }
        StudyRunOptions run;
        run.jobs = ToCount(m_options.jobs, "jobs", 0, MAX_JOBS);
        run.jobs = run.jobs > 0 ? run.jobs : std::max(1U, std::thread::hardware_concurrency());
        run.shard = ParseShard(m_options.shard);
        for (const CommandLineText* path : {&m_options.csv, &m_options.html, &m_options.published})
        {
            if (!path->empty())
            {
                CheckWritable(*path);
            }
        }
        RequirePageName("html", m_options.html);
        const Study study = Load();
        if (!m_options.published.empty() && study.published.empty())
        {
            throw std::invalid_argument("--published=" + m_options.published + ": " +
                                        m_options.study + " has no published numbers");
        }
        run.executable = m_executable;
        run.workloads = GetWorkloads();
        run.retriesFailed = m_options.retryFailed;
        run.quiet = m_options.quiet;
        run.set = m_set;
        BillMaker bills(study, LoadPrices(study, m_options.study, GetWorkloads()));
        const StudyStore store(ListFolders(m_options));
        StudyOutcome outcome = RunStudy(study, store, run);
        if (m_options.retryFailed && outcome.retried == 0)
        {
            Warn("--retryFailed has no effect: no point had failed");
        }
        Report(study, store, bills, outcome);
    }

    void Report(const Study& study,
                const StudyStore& store,
                BillMaker& bills,
                StudyOutcome& outcome) const
    {
        for (std::size_t i = 0; i < outcome.points.size() && study.table.empty(); ++i)
        {
            if (outcome.results[i].IsGood())
            {
                outcome.results[i].bill = bills.Make(outcome.points[i]);
            }
        }
        const Table table = MakeStudyTable(study, outcome.points, outcome.results);
        // Of points that all failed there is nothing to compare.
        const bool isComparable =
            std::any_of(outcome.results.begin(),
                        outcome.results.end(),
                        [](const StudyResult& result) { return result.IsGood(); });
        if (isComparable) // what is no number is said before anything is written
        {
            ReadNamed(m_options.study, [&] { return CompareStudy(study, table); });
        }
        const std::string partial =
            DescribeStop(outcome.ran + outcome.found, outcome.points.size(), "points");
        WriteCsvFile(m_options.csv, [&](std::ostream& out) { WriteTableCsv(table, out); });
        std::cout << study.name << ": " << FormatThings(outcome.points.size(), "point") << ", "
                  << outcome.ran << " run now, " << outcome.found << " found in "
                  << store.GetFolder() << ", " << outcome.failed << " failed\n\n";
        if (isComparable)
        {
            PrintStudy(study, table, MAX_PRINTED, std::cout);
            PrintPublished(study, table, std::cout);
        }
        std::vector<std::string> notes;
        for (const auto& [note, count] : CountNotes(outcome.results).List())
        {
            notes.push_back(FormatThings(count, "point") + ": " + note);
            std::cout << "Note: " << notes.back() << '\n';
        }
        if (isComparable)
        {
            for (const std::string& line : FindIdleValues(study, table))
            {
                notes.push_back(line);
                std::cout << "Note: " << line << '\n';
            }
            WriteCsvFile(m_options.published, [&](std::ostream& out) {
                WriteTableCsv(ComparePublished(study, table), out);
            });
        }
        if (isComparable && !m_options.html.empty())
        {
            Study titled = study;
            titled.name +=
                partial.empty() ? "" : " (" + partial.substr(0, partial.size() - 1) + ")";
            WriteFile(m_options.html,
                      [&](std::ostream& out) { WriteStudyPage(titled, table, notes, out); });
        }
        std::cout << partial;
        RequireResults(study, outcome);
    }

    std::string m_executable;       //!< that becomes the programs
    Options m_options;              //!< of the command line
    std::vector<std::string> m_set; //!< StudyRunOptions::set
};

} // namespace

std::unique_ptr<CommandLineProgram>
MakeStudyProgram(const std::string& workloads, const std::string& executable)
{
    return std::make_unique<StudyProgramOfAll>(workloads, executable);
}

int
RunStudyMain(int argc, char* argv[], const std::string& workloads)
{
    if (argc > 1 && GetPrograms().count(argv[1]) == 1)
    {
        return MakeProgram(argv[1], workloads)->Main(argc - 1, argv + 1);
    }
    return MakeStudyProgram(workloads, GetOwnPath(argv[0]))->Main(argc, argv);
}

} // namespace proteus
} // namespace ns3
