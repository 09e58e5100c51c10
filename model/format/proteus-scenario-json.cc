/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-json.h"

#include "proteus-scenario-reader.h"

#include "ns3/proteus-json.h"
#include "ns3/proteus-split.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-scenario";
constexpr uint32_t VERSION = 1;
constexpr uint32_t MAX_ITERATIONS = 10000;

/// @param json a placement @param reader of names @return it
JobPlacement
ReadPlacement(const JsonValue& json, const ScenarioReader& reader)
{
    json.AllowKeys("a placement", {"kind", "servers", "gpus", "rank_order"});
    JobPlacement placement;
    placement.isAsked = true;
    const JsonValue kind = json.Get("kind");
    const std::string& text = kind.AsName();
    placement.kind = kind.Check([&] { return PlacementKindFromString(text); });
    const bool isList = placement.kind == PlacementKind::LIST;
    if (const auto order = json.Find("rank_order"))
    {
        if (isList)
        {
            order->Fail("the order of a list is that of 'gpus'");
        }
        const std::string& name = order->AsName();
        placement.order = order->Check([&] { return RankOrderFromString(name); });
    }
    if (isList)
    {
        if (json.Has("servers"))
        {
            json.Get("servers").Fail("belongs to other kinds: a list has 'gpus'");
        }
        const JsonValue gpus = json.Get("gpus");
        std::set<VertexId> once;
        for (std::size_t i = 0; i < gpus.Size(); ++i)
        {
            placement.gpus.push_back(reader.ReadGpu(gpus.At(i)));
            if (!once.insert(placement.gpus.back()).second)
            {
                gpus.At(i).Fail("stands in the list twice");
            }
        }
        return placement;
    }
    if (json.Has("gpus"))
    {
        json.Get("gpus").Fail("belongs to the kind 'list'");
    }
    if (const auto servers = json.Find("servers"))
    {
        placement.servers = reader.ReadServers(*servers);
    }
    return placement;
}

/// Reads what the program's job and its neighbours have in common.
void
ReadPlace(const JsonValue& json, const ScenarioReader& reader, ScenarioJob& job)
{
    if (const auto name = json.Find("name"))
    {
        job.name = name->AsName();
    }
    if (job.name.empty() || job.name.find('/') != std::string::npos)
    {
        json.Get("name").Fail("must not be empty, and have no '/'");
    }
    if (const auto start = json.Find("start"))
    {
        job.startPs = ScenarioReader::ReadPs(*start);
    }
    if (const auto placement = json.Find("placement"))
    {
        job.placement = ReadPlacement(*placement, reader);
    }
}

/// @param json a neighbour @param reader of names @return it
ScenarioJob
ReadJob(const JsonValue& json, const ScenarioReader& reader)
{
    json.AllowKeys(
        "a job",
        {"name", "model", "strategy", "variables", "graph", "start", "iterations", "placement"});
    ScenarioJob job;
    job.name = json.Get("name").AsName();
    ReadPlace(json, reader, job);
    if (json.Has("model") == json.Has("graph"))
    {
        json.Fail("needs either 'model' and 'strategy', or 'graph'");
    }
    if (const auto graph = json.Find("graph"))
    {
        job.graph = reader.GetPath(graph->AsName());
    }
    for (const auto& [key, field] : {std::make_pair("model", &job.model),
                                     std::make_pair("strategy", &job.strategy),
                                     std::make_pair("variables", &job.variables)})
    {
        if (const auto value = json.Find(key))
        {
            if (!job.graph.empty())
            {
                value->Fail("belongs to a model, not to 'graph'");
            }
            *field = value->AsName();
        }
    }
    if (job.graph.empty() && job.strategy.empty())
    {
        json.FailMissing("strategy", "as --strategy of proteus-run, e.g. \"tp=8,dp=2\"");
    }
    if (const auto iterations = json.Find("iterations"))
    {
        job.iterations = static_cast<uint32_t>(iterations->AsWhole(1, MAX_ITERATIONS));
    }
    return job;
}

/// Reads the jobs of a scenario.
void
ReadJobs(const JsonValue& root, const ScenarioReader& reader, Scenario& scenario)
{
    std::set<std::string> names;
    if (const auto job = root.Find("job"))
    {
        job->AllowKeys("the job of the program", {"name", "start", "placement"});
        ReadPlace(*job, reader, scenario.job);
    }
    names.insert(scenario.job.name);
    const auto jobs = root.Find("jobs");
    for (std::size_t i = 0; jobs && i < jobs->Size(); ++i)
    {
        scenario.jobs.push_back(ReadJob(jobs->At(i), reader));
        if (!names.insert(scenario.jobs.back().name).second)
        {
            jobs->At(i).Get("name").Fail("another job has this name");
        }
    }
}

/// Sets one value. @param change "/place=value" @param fileName for errors @param root of the file
void
ChangeValue(const std::string& change, const std::string& fileName, nlohmann::json& root)
{
    const auto fail = [&](const std::string& cause) {
        throw std::invalid_argument("--scenarioSet=" + change + ": " + cause);
    };
    const std::size_t equals = change.find('=');
    if (change.empty() || change.front() != '/' || equals == std::string::npos)
    {
        fail("must be /PLACE=VALUE, e.g. /jobs/0/start=3ms; several separated by semicolons");
    }
    const std::string place = change.substr(0, equals);
    nlohmann::json* value = nullptr;
    try
    {
        value = &root.at(nlohmann::json::json_pointer(place));
    }
    catch (const nlohmann::json::exception&)
    {
        fail("there is no '" + place + "' in " + fileName + ": only what is there can be set");
    }
    const std::string text = change.substr(equals + 1);
    if (value->is_string())
    {
        *value = text;
        return;
    }
    nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
    const bool isSameKind =
        parsed.type() == value->type() || (parsed.is_number() && value->is_number());
    if (!isSameKind)
    {
        fail(std::string("the value must be of the kind that is there, ") + value->type_name());
    }
    *value = std::move(parsed);
}

} // namespace

std::string
ChangeScenarioJson(std::istream& input, const std::string& fileName, const std::string& changes)
{
    const std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
    std::istringstream copy(text);
    const JsonDocument check(copy, fileName); // whose errors say where in the file as it stands
    nlohmann::json root = nlohmann::json::parse(text);
    std::set<std::string> places;
    for (const std::string& change : SplitList(changes, ';'))
    {
        if (!places.insert(change.substr(0, change.find('='))).second)
        {
            throw std::invalid_argument("--scenarioSet=" + change + ": this place is set twice");
        }
        ChangeValue(change, fileName, root);
    }
    return root.dump();
}

Scenario
ReadScenarioJson(std::istream& input, const std::string& fileName, const Cluster& cluster)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    const JsonValue root = document.GetRoot();
    root.AllowKeys(
        "a scenario",
        {"format", "version", "name", "seed", "job", "jobs", "events", "traffic", "compare_alone"});
    const ScenarioReader reader(cluster, std::filesystem::path(fileName).parent_path().string());
    Scenario scenario;
    scenario.name = root.Has("name") ? root.Get("name").AsName() : "";
    if (const auto seed = root.Find("seed"))
    {
        scenario.seed = seed->AsUnsigned(0, UINT32_MAX);
    }
    if (const auto alone = root.Find("compare_alone"))
    {
        scenario.comparesAlone = alone->AsBool();
    }
    ReadJobs(root, reader, scenario);
    const auto events = root.Find("events");
    for (std::size_t i = 0; events && i < events->Size(); ++i)
    {
        scenario.events.push_back(ReadScenarioEvent(events->At(i), reader));
    }
    const auto traffic = root.Find("traffic");
    for (std::size_t i = 0; traffic && i < traffic->Size(); ++i)
    {
        scenario.traffic.push_back(ReadScenarioTraffic(traffic->At(i), reader));
    }
    if (const auto seed = root.Find("seed"); seed && !scenario.IsRandom())
    {
        Warn(seed->Describe("has no effect: no placement or order of ranks is 'random', and no "
                            "traffic 'poisson'"));
    }
    if (!root.Find("job") && scenario.jobs.empty() && scenario.events.empty() &&
        scenario.traffic.empty())
    {
        Warn(root.Describe("has no effect: there is no job, event or traffic in it"));
    }
    return scenario;
}

ScenarioTime
ParseScenarioTime(const std::string& text, bool allowsShare)
{
    static const std::vector<std::pair<std::string, double>> units{{"%", 0.01},
                                                                   {"ps", 1},
                                                                   {"ns", 1e3},
                                                                   {"us", 1e6},
                                                                   {"ms", 1e9},
                                                                   {"s", 1e12}};
    const std::size_t digits = text.find_first_not_of("0123456789.");
    const std::string number = text.substr(0, digits);
    std::string unit = digits == std::string::npos ? "" : text.substr(digits);
    unit.erase(0,
               unit.find_first_not_of(' ') == std::string::npos ? 0 : unit.find_first_not_of(' '));
    double value = -1;
    if (!number.empty() && std::count(number.begin(), number.end(), '.') <= 1 && number != ".")
    {
        value = std::strtod(number.c_str(), nullptr); // infinite, if it has too many digits
    }
    ScenarioTime time;
    const auto place = std::find_if(units.begin(), units.end(), [&](const auto& known) {
        return known.first == unit && (allowsShare || unit != "%");
    });
    const bool isZero = value == 0 && unit.empty();
    if (value < 0 || (place == units.end() && !isZero) ||
        (!isZero && !(value * place->second <= 9e18)))
    {
        throw std::invalid_argument(
            std::string("must be a time with its unit, such as \"12.5us\" or \"3ms\", ") +
            (allowsShare ? "or a part of the time of the first job alone, such as \"30%\", " : "") +
            "not '" + text + "'");
    }
    if (isZero)
    {
        return time;
    }
    time.isShare = unit == "%";
    time.share = time.isShare ? value * place->second : 0;
    time.ps = time.isShare ? 0 : std::llround(value * place->second);
    return time;
}

std::string
ScenarioReader::GetPath(const std::string& path) const
{
    return (std::filesystem::path(m_folder) / path).string();
}

VertexId
ScenarioReader::ReadVertex(const JsonValue& json) const
{
    const std::string& name = json.AsName();
    return json.Check([&] {
        try
        {
            return m_cluster.FindVertex(name);
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument(std::string(error.what()) + " in the cluster '" +
                                        m_cluster.GetName() + "', e.g. '" +
                                        m_cluster.GetVertices().front().name + "' and '" +
                                        m_cluster.GetVertices().back().name + "'");
        }
    });
}

VertexId
ScenarioReader::ReadGpu(const JsonValue& json) const
{
    const VertexId id = ReadVertex(json);
    if (m_cluster.GetVertices()[id].kind != VertexKind::GPU)
    {
        json.Fail("'" + m_cluster.GetVertices()[id].name + "' is no GPU");
    }
    return id;
}

std::vector<int32_t>
ScenarioReader::ReadServers(const JsonValue& json) const
{
    std::vector<int32_t> servers;
    const auto add = [&](const JsonValue& element, uint64_t number) {
        if (number >= m_cluster.GetNServers())
        {
            element.Fail("there is no server " + std::to_string(number) + ": the cluster has " +
                         std::to_string(m_cluster.GetNServers()));
        }
        if (std::find(servers.begin(), servers.end(), number) != servers.end())
        {
            element.Fail("server " + std::to_string(number) + " is there twice");
        }
        servers.push_back(static_cast<int32_t>(number));
    };
    for (std::size_t i = 0; i < json.Size(); ++i)
    {
        const JsonValue element = json.At(i);
        if (!element.IsString())
        {
            add(element, element.AsWhole(0, MAX_SERVERS - 1));
            continue;
        }
        const std::string& text = element.AsName();
        const std::size_t dash = text.find('-');
        const std::string first = text.substr(0, dash);
        const std::string last = dash == std::string::npos ? "" : text.substr(dash + 1);
        const auto isNumber = [](const std::string& part) {
            return !part.empty() && part.size() < 7 &&
                   part.find_first_not_of("0123456789") == std::string::npos;
        };
        if (!isNumber(first) || !isNumber(last) || std::stoul(last) < std::stoul(first))
        {
            element.Fail("must be the number of a server, or a range such as \"2-5\"");
        }
        for (uint64_t number = std::stoul(first); number <= std::stoul(last); ++number)
        {
            add(element, number);
        }
    }
    if (servers.empty())
    {
        json.Fail("needs at least one server");
    }
    return servers;
}

std::vector<VertexId>
ScenarioReader::ReadGpus(const JsonValue& json) const
{
    std::vector<VertexId> gpus;
    if (const auto servers = json.Find("servers"))
    {
        const std::vector<int32_t> numbers = ReadServers(*servers);
        for (const int32_t number : numbers)
        {
            for (VertexId id = 0; id < m_cluster.GetVertices().size(); ++id)
            {
                const Vertex& vertex = m_cluster.GetVertices()[id];
                if (vertex.kind == VertexKind::GPU && vertex.server == number)
                {
                    gpus.push_back(id);
                }
            }
        }
    }
    if (const auto list = json.Find("gpus"))
    {
        for (std::size_t i = 0; i < list->Size(); ++i)
        {
            const VertexId gpu = ReadGpu(list->At(i));
            if (std::find(gpus.begin(), gpus.end(), gpu) != gpus.end())
            {
                list->At(i).Fail("'" + m_cluster.GetVertices()[gpu].name + "' is there twice");
            }
            gpus.push_back(gpu);
        }
        if (list->Size() == 0)
        {
            list->Fail("needs at least one GPU");
        }
    }
    if (gpus.empty() && !json.Has("servers") && !json.Has("gpus"))
    {
        gpus = m_cluster.GetGpus();
    }
    return gpus;
}

std::vector<LinkId>
ScenarioReader::FindNetworkLinks(VertexId nic) const
{
    std::vector<LinkId> links;
    for (const Port& port : m_cluster.GetPorts(nic))
    {
        if (m_cluster.GetVertices()[port.neighbor].kind == VertexKind::SWITCH)
        {
            links.push_back(port.link);
        }
    }
    return links;
}

std::vector<LinkId>
ScenarioReader::ReadLinks(const JsonValue& json, std::string& name) const
{
    if (json.Has("link") + json.Has("switch") + json.Has("nic") != 1)
    {
        json.Fail("needs one of 'link', with the names of both ends, 'switch' and 'nic'");
    }
    std::vector<LinkId> links;
    const auto& vertices = m_cluster.GetVertices();
    if (const auto link = json.Find("link"))
    {
        if (link->Size() != 2)
        {
            link->Fail("must be the names of both ends, [\"leaf0\", \"spine1\"]");
        }
        const VertexId a = ReadVertex(link->At(0));
        const VertexId b = ReadVertex(link->At(1));
        for (const Port& port : m_cluster.GetPorts(a))
        {
            if (port.neighbor == b)
            {
                links.push_back(port.link);
            }
        }
        if (links.empty())
        {
            link->Fail("there is no link between " + vertices[a].name + " and " + vertices[b].name);
        }
        name = vertices[a].name + " - " + vertices[b].name;
        return links;
    }
    const bool isSwitch = json.Has("switch");
    const JsonValue at = json.Get(isSwitch ? "switch" : "nic");
    const VertexId vertex = ReadVertex(at);
    name = vertices[vertex].name;
    if (isSwitch && vertices[vertex].kind != VertexKind::SWITCH &&
        vertices[vertex].kind != VertexKind::NVSWITCH)
    {
        at.Fail("'" + name + "' is no switch");
    }
    links = FindNetworkLinks(vertex);
    if (isSwitch)
    {
        links.clear();
        for (const Port& port : m_cluster.GetPorts(vertex))
        {
            links.push_back(port.link);
        }
    }
    else if (links.empty() || vertices[vertex].kind == VertexKind::SWITCH)
    {
        at.Fail("'" + name + "' is no NIC or host with a link to a network switch");
    }
    return links;
}

ScenarioTime
ScenarioReader::ReadTime(const JsonValue& json)
{
    const std::string& text = json.AsName();
    return json.Check([&] { return ParseScenarioTime(text); });
}

int64_t
ScenarioReader::ReadPs(const JsonValue& json)
{
    const std::string& text = json.AsName();
    return json.Check([&] { return ParseScenarioTime(text, false).ps; });
}

void
ScenarioReader::ReadTimes(const JsonValue& json,
                          const char* begin,
                          ScenarioTime& from,
                          std::optional<ScenarioTime>& until)
{
    if (const auto time = json.Find(begin))
    {
        from = ReadTime(*time);
    }
    const auto end = json.Find("until");
    if (!end)
    {
        return;
    }
    until = ReadTime(*end);
    if (until->isShare == from.isShare &&
        (until->isShare ? until->share <= from.share : until->ps <= from.ps))
    {
        end->Fail(std::string("must be later than '") + begin + "'");
    }
}

} // namespace proteus
} // namespace ns3
