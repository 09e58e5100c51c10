/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-run.h"

#include "proteus-child-processes.h"
#include "proteus-name-lists.h"
#include "proteus-progress.h"
#include "proteus-stop-signals.h"
#include "proteus-study-check.h"
#include "proteus-table-options.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-resources.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

namespace fs = std::filesystem;

constexpr const char* FORMAT = "proteus-study-point";
constexpr std::chrono::milliseconds POLL(20); //!< between two looks for children that have ended
constexpr std::size_t MAX_ERROR = 500;        //!< characters of an error

/// @return the content of a file; empty if it cannot be read
std::string
ReadAll(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// @return a text with all marks replaced
std::string
Replace(std::string text, const std::string& mark, const std::string& by)
{
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
    {
        text.replace(at, mark.size(), by);
        at += by.size();
    }
    return text;
}

/// @return the line in which a program says what is wrong
std::string
FindError(const std::string& text, const std::string& program)
{
    const std::string mark = program + ": error: ";
    const std::size_t at = text.rfind(mark);
    const std::size_t begin = at == std::string::npos ? 0 : at + mark.size();
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    return line.empty() ? "it ended with an error and said nothing" : line.substr(0, MAX_ERROR);
}

/// @param point of a study @return where it is: its label on every axis
std::string
DescribePlace(const Study& study, const StudyPoint& point)
{
    std::string text;
    for (std::size_t i = 0; i < study.axes.size(); ++i)
    {
        AppendName(text, study.axes[i].name + " " + point.labels[i]);
    }
    return text;
}

/// @return seconds as hours, minutes and seconds
std::string
FormatClock(double seconds)
{
    const auto whole = static_cast<unsigned long>(seconds + 0.5);
    char text[32];
    std::snprintf(text, sizeof(text), "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    return text;
}

/// Digests what the value of an option leads to: a file, each file of a folder or of a list, a
/// model or framework by its name, and files that texts in such a file of JSON name.
class FileDigester
{
  public:
    /// @param folder that relative paths are in @param workloads the folder workloads/
    FileDigester(fs::path folder, fs::path workloads)
        : m_folder(std::move(folder)),
          m_workloads(std::move(workloads))
    {
    }

    /// @param name of the option @param value of it @return the digest; empty: it leads to no file
    std::string Find(const std::string& name, const std::string& value)
    {
        AddValue(name, value, m_folder);
        return m_seen.size() < 2 ? m_found : Digest(m_found);
    }

  private:
    static constexpr std::size_t MAX_PATH = 4096; //!< characters; what is longer is no path
    /// Bytes of a file that may name others; graphs and traces are larger.
    static constexpr std::size_t MAX_NAMING = std::size_t{4} << 20;
    static constexpr std::size_t MAX_DEPTH = 100; //!< deeper, readers refuse a file

    /// @param name of an option, or key in a file @param value a text there @param folder where the
    /// file is
    void AddValue(const std::string& name, const std::string& value, const fs::path& folder)
    {
        if (value.empty() || value.size() >= MAX_PATH || AddFile(folder / value) ||
            AddFile(m_folder / value))
        {
            return;
        }
        std::error_code none; // what cannot be looked at is no folder
        if (name == "trace" && fs::is_directory(folder / value, none))
        {
            std::set<fs::path> files;
            for (const auto& entry : fs::directory_iterator(folder / value, none))
            {
                files.insert(entry.path());
            }
            std::for_each(files.begin(), files.end(), [this](const fs::path& path) {
                AddFile(path);
            });
            return;
        }
        if (name == "base" && AddFile(m_workloads / "frameworks" / value))
        {
            return;
        }
        for (const char* kind : {"model", "framework"})
        {
            const fs::path named = m_workloads / (std::string(kind) + "s");
            if (name == kind)
            {
                const std::string alias = value.substr(0, value.find(':')); // settings may follow
                AddFile(named / (FindAlias(alias, ListJsonFiles(named.string())) + ".json"));
                return;
            }
        }
        const std::size_t end = value.find_first_of(",;");
        if (end != std::string::npos)
        {
            AddValue("", value.substr(0, end), folder);
            AddValue("", value.substr(end + 1), folder);
        }
    }

    /// @param path of what may be a file @return whether it is one
    bool AddFile(const fs::path& path)
    {
        std::error_code none;
        if (!fs::is_regular_file(path, none))
        {
            return false;
        }
        if (m_seen.insert(fs::weakly_canonical(path, none)).second)
        {
            const std::string text = ReadAll(path);
            m_found += Digest(text);
            const std::size_t first = text.find_first_not_of(" \t\r\n");
            if (text.size() < MAX_NAMING && first != std::string::npos && text[first] == '{')
            {
                AddTexts("", nlohmann::json::parse(text, nullptr, false), path.parent_path(), 0);
            }
        }
        return true;
    }

    /// @param name key of a value @param json the value, or what is discarded
    /// @param folder where its file is @param depth of the value in the file
    void AddTexts(const std::string& name,
                  const nlohmann::json& json,
                  const fs::path& folder,
                  std::size_t depth)
    {
        if (json.is_string())
        {
            AddValue(name, json.get<std::string>(), folder);
        }
        if (json.is_structured() && depth < MAX_DEPTH)
        {
            for (const auto& entry : json.items())
            {
                AddTexts(json.is_object() ? entry.key() : name, entry.value(), folder, depth + 1);
            }
        }
    }

    fs::path m_folder;
    fs::path m_workloads;
    std::set<fs::path> m_seen;
    std::string m_found; //!< digests of files, one after the other
};

/// A folder for files that are needed for a moment; deleted when this object goes.
class ScratchFolder
{
  public:
    ScratchFolder()
    {
        std::string name = (fs::temp_directory_path() / "proteus-study-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
        {
            throw std::runtime_error(name + ": this folder cannot be made");
        }
        m_path = name;
    }

    ~ScratchFolder()
    {
        std::error_code error;
        fs::remove_all(m_path, error);
    }

    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    /// @return path of a file in it
    std::string Get(const std::string& name) const
    {
        return (m_path / name).string();
    }

  private:
    fs::path m_path;
};

/// Runs the points of a study.
class StudyRunner
{
  public:
    StudyRunner(const Study& study, const StudyStore& store, const StudyRunOptions& options)
        : m_study(study),
          m_store(store),
          m_options(options),
          m_progress("study")
    {
        const std::vector<StudyPoint> all = ListPoints(study);
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            if (options.shard.Has(i))
            {
                m_outcome.points.push_back(all[i]);
            }
        }
        m_outcome.results.resize(m_outcome.points.size());
        const std::string version = GetResource("VERSION");
        for (std::size_t i = 0; i < m_outcome.points.size(); ++i)
        {
            const StudyPoint& point = m_outcome.points[i];
            m_contents.push_back(
                DescribeContent(study,
                                point,
                                version.substr(0, version.find('\n')),
                                DigestFiles(point.options, study.folder, options.workloads)));
            const auto found = store.Load(m_contents.back());
            if (found && (found->error.empty() || !options.retriesFailed))
            {
                m_outcome.results[i] = *found;
                ++m_outcome.found;
            }
            else
            {
                m_outcome.retried += found ? 1 : 0;
                m_waiting.push_back(i);
            }
        }
    }

    StudyOutcome Run()
    {
        m_total = m_waiting.size();
        while (!m_waiting.empty() || m_children.GetCount() > 0)
        {
            if (StopSignals::Obey()) // points that run are lost; those that have ended are kept
            {
                break;
            }
            while (!m_waiting.empty() && m_children.GetCount() < m_options.jobs)
            {
                Start(m_waiting.front());
                m_waiting.pop_front();
            }
            if (const auto ended = m_children.Poll())
            {
                Finish(*ended);
                continue;
            }
            ShowProgress();
            std::this_thread::sleep_for(POLL);
        }
        m_outcome.failed = static_cast<std::size_t>(
            std::count_if(m_outcome.results.begin(),
                          m_outcome.results.end(),
                          [](const StudyResult& result) { return !result.error.empty(); }));
        return std::move(m_outcome);
    }

  private:
    std::string GetResultFile(std::size_t i) const
    {
        return m_scratch.Get(std::to_string(i) + ".json");
    }

    std::string GetErrorFile(std::size_t i) const
    {
        return m_scratch.Get(std::to_string(i) + ".txt");
    }

    /// @param i position of a point that is to run
    void Start(std::size_t i)
    {
        const StudyPoint& point = m_outcome.points[i];
        std::vector<std::string> command{m_options.executable, m_study.program};
        for (const auto& [name, value] : point.options)
        {
            command.push_back("--" + name + "=" +
                              Replace(value, POINT_MARK, std::to_string(point.number)));
        }
        for (const std::string& option : m_options.set)
        {
            command.push_back(Replace(option, RESULT_MARK, GetResultFile(i)));
        }
        m_children.Start(i, command, m_study.folder, GetErrorFile(i));
    }

    /// @param ended a point's process
    void Finish(const EndedChild& ended)
    {
        StudyResult& result = m_outcome.results[ended.key];
        const StudyPoint& point = m_outcome.points[ended.key];
        const std::string errors = ReadAll(GetErrorFile(ended.key));
        const std::string written = ReadAll(GetResultFile(ended.key));
        std::error_code error;
        fs::remove(GetErrorFile(ended.key), error);
        fs::remove(GetResultFile(ended.key), error);
        m_wallS += ended.wallS;
        ++m_ended;
        if (ended.signal != 0 || (ended.exitCode != 0 && ended.exitCode != 1))
        {
            if (StopSignals::Get() != 0) // which a terminal sends to all processes
            {
                return;
            }
            // Not what the program says of the point: the machine, or somebody, has ended it.
            m_outcome.unfinished.push_back(
                "point " + std::to_string(point.number) +
                (ended.signal != 0 ? " was ended by signal " + std::to_string(ended.signal)
                                   : " ended with code " + std::to_string(ended.exitCode)));
            Warn(m_outcome.unfinished.back());
            return;
        }
        result.isDone = true;
        ++m_outcome.ran;
        if (ended.exitCode != 0 || written.empty())
        {
            result.error = FindError(errors, m_study.program);
        }
        else
        {
            result.output = written;
        }
        m_store.Save(m_contents[ended.key], result, ended.wallS);
    }

    void ShowProgress()
    {
        if (m_options.quiet)
        {
            return;
        }
        std::string text = std::to_string(m_outcome.found + m_ended) + " of " +
                           std::to_string(m_outcome.points.size()) + " points, " +
                           std::to_string(m_children.GetCount()) + " running";
        if (m_ended > 0)
        {
            const double each = m_wallS / static_cast<double>(m_ended);
            const auto left = static_cast<double>(m_total - m_ended);
            text += ", " + FormatClock(each * left / static_cast<double>(m_options.jobs)) + " left";
        }
        m_progress.Say(text);
    }

    const Study& m_study;
    const StudyStore& m_store;
    const StudyRunOptions& m_options;
    ProgressLine m_progress;
    ScratchFolder m_scratch;
    StudyOutcome m_outcome;
    std::vector<std::string> m_contents; //!< by position
    std::deque<std::size_t> m_waiting;   //!< positions of points to run
    ChildProcesses m_children;
    std::size_t m_total{0}; //!< points to run
    std::size_t m_ended{0}; //!< of them
    double m_wallS{0};      //!< that those took, all together
};

} // namespace

std::map<std::string, std::string>
DigestFiles(const StudyOptions& options, const std::string& folder, const std::string& workloads)
{
    std::map<std::string, std::string> digests;
    for (const auto& [name, value] : options)
    {
        const std::string digest = FileDigester(folder, workloads).Find(name, value);
        if (!digest.empty())
        {
            digests[name] = digest;
        }
    }
    return digests;
}

StudyStore::StudyStore(const std::vector<std::string>& folders)
    : m_folders(folders)
{
    MakeFolder(m_folders.at(0));
    for (const std::string& folder : m_folders)
    {
        if (!fs::is_directory(folder))
        {
            throw std::invalid_argument("--folder: " + folder + ": there is no such folder");
        }
    }
}

std::optional<StudyResult>
StudyStore::Load(const std::string& content) const
{
    for (const std::string& folder : m_folders)
    {
        const fs::path path = fs::path(folder) / (Digest(content) + ".json");
        const std::string text = ReadAll(path);
        if (text.empty())
        {
            continue;
        }
        const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
        if (!json.is_object() || json.value("format", "") != FORMAT ||
            json.value("content", "") != content || !json.contains("error") ||
            !json.contains("output"))
        {
            Warn(path.string() + ": is no result of its point, which runs again");
            continue;
        }
        StudyResult result;
        result.isDone = true;
        result.error = json["error"].is_string() ? json["error"].get<std::string>() : "";
        result.output = result.error.empty() ? json["output"].dump() : "";
        return result;
    }
    return {};
}

void
StudyStore::Save(const std::string& content, const StudyResult& result, double wallS) const
{
    using Json = nlohmann::ordered_json;
    const Json output = result.error.empty() ? Json::parse(result.output, nullptr, false) : Json();
    if (output.is_discarded())
    {
        throw std::runtime_error("what the program wrote is no JSON: " +
                                 result.output.substr(0, MAX_ERROR));
    }
    const Json json{{"format", FORMAT},
                    {"version", 1},
                    {"content", content},
                    {"wall_s", wallS},
                    {"error", result.error.empty() ? Json() : Json(result.error)},
                    {"output", output}};
    const fs::path path = fs::path(GetFolder()) / (Digest(content) + ".json");
    WriteFile(path.string(), [&json](std::ostream& out) {
        out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
    });
}

StudyOutcome
RunStudy(const Study& study, const StudyStore& store, const StudyRunOptions& options)
{
    return StudyRunner(study, store, options).Run();
}

void
RequireResults(const Study& study, const StudyOutcome& outcome)
{
    const std::string place = study.file.empty() ? "" : study.file + ": ";
    if (!outcome.unfinished.empty())
    {
        throw std::runtime_error(place + "study " + QuotedText(study.name) + ": " +
                                 FormatThings(outcome.unfinished.size(), "point") +
                                 " not finished, the first: " + outcome.unfinished.front() +
                                 "; start the study again to go on");
    }
    if (outcome.failed > 0 && outcome.failed == outcome.points.size())
    {
        const StudyPoint& first = outcome.points.front();
        throw std::runtime_error(place + "study " + QuotedText(study.name) +
                                 ": every point failed, the first, point " +
                                 std::to_string(first.number) + " (" + DescribePlace(study, first) +
                                 "): " + outcome.results.front().error);
    }
}

} // namespace proteus
} // namespace ns3
