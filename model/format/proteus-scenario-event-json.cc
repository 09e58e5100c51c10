/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-json.h"
#include "proteus-scenario-reader.h"

#include "ns3/proteus-enum-names.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double MAX_FACTOR = 1000;

/// What an event of a kind is read from.
struct KindOfEvent
{
    const char* name;
    ScenarioEvent::Kind kind;
    std::vector<const char*> keys; //!< besides kind, at and until
};

const std::vector<KindOfEvent>&
GetKinds()
{
    static const std::vector<KindOfEvent> kinds{
        {"link-down", ScenarioEvent::Kind::DOWN, {"link"}},
        {"switch-down", ScenarioEvent::Kind::DOWN, {"switch"}},
        {"nic-down", ScenarioEvent::Kind::DOWN, {"nic"}},
        {"degraded",
         ScenarioEvent::Kind::DEGRADED,
         {"link", "switch", "nic", "rate_share", "loss_probability", "bit_error_rate"}},
        {"pfc-storm", ScenarioEvent::Kind::PFC_STORM, {"nic"}},
        {"slow-gpu", ScenarioEvent::Kind::SLOW_GPU, {"servers", "gpus", "factor"}},
        {"slow-host", ScenarioEvent::Kind::SLOW_HOST, {"servers", "launch_interval"}}};
    return kinds;
}

/// @return the kind of an event
const KindOfEvent&
ReadKind(const JsonValue& json)
{
    const JsonValue kind = json.Get("kind");
    const std::string& name = kind.AsName();
    return *kind.Check([&name]() -> const KindOfEvent* {
        std::vector<std::string> names;
        for (const KindOfEvent& known : GetKinds())
        {
            if (name == known.name)
            {
                return &known;
            }
            names.emplace_back(known.name);
        }
        FailUnknownName("kind of event", name, names);
    });
}

/// Reads what is left of links.
void
ReadDegraded(const JsonValue& json, ScenarioEvent& event)
{
    if (const auto rate = json.Find("rate_share"))
    {
        event.rateShare = rate->AsNumber(0, 1);
        if (*event.rateShare == 0)
        {
            rate->Fail("must be above 0: a link without rate is 'link-down'");
        }
    }
    if (const auto loss = json.Find("loss_probability"))
    {
        event.lossProbability = loss->AsNumber(0, 1);
    }
    if (const auto error = json.Find("bit_error_rate"))
    {
        event.bitErrorRate = error->AsNumber(0, 1);
    }
    for (const char* key : {"loss_probability", "bit_error_rate"})
    {
        const auto probability = json.Find(key);
        if (probability && !event.until && probability->AsNumber(0, 1) == 1)
        {
            probability->Fail("must be below 1 where it has no 'until': a link that loses "
                              "everything for ever is 'link-down'");
        }
    }
    if (!event.rateShare && !event.lossProbability && !event.bitErrorRate)
    {
        json.Fail("needs 'rate_share', 'loss_probability' or 'bit_error_rate'");
    }
}

/// Reads who pauses whom.
void
ReadStorm(const JsonValue& json, const ScenarioReader& reader, ScenarioEvent& event)
{
    event.storming = reader.ReadVertex(json.Get("nic"));
    for (const LinkId link : event.links)
    {
        if (reader.GetCluster().GetLinks()[link].technology != LinkTechnology::ROCE)
        {
            json.Get("nic").Fail("its link is infiniband, which has credits and no PFC: take RoCE");
        }
    }
    if (!event.until)
    {
        json.FailMissing("until", "a storm without end would keep the job from ending");
    }
}

/// Reads who is slow, and how.
void
ReadSlow(const JsonValue& json, const ScenarioReader& reader, ScenarioEvent& event)
{
    if (!json.Has("servers") && !json.Has("gpus"))
    {
        json.FailMissing("servers", "a list of numbers of servers");
    }
    event.gpus = reader.ReadGpus(json);
    if (event.kind == ScenarioEvent::Kind::SLOW_GPU)
    {
        const JsonValue factor = json.Get("factor");
        event.factor = factor.AsNumber(1, MAX_FACTOR);
    }
    else
    {
        event.launchIntervalPs = ScenarioReader::ReadPs(json.Get("launch_interval"));
    }
    event.name += std::to_string(event.gpus.size()) + (event.gpus.size() == 1 ? " GPU" : " GPUs");
}

} // namespace

ScenarioEvent
ReadScenarioEvent(const JsonValue& json, const ScenarioReader& reader)
{
    const KindOfEvent& kind = ReadKind(json);
    std::vector<const char*> keys{"kind", "at", "until"};
    keys.insert(keys.end(), kind.keys.begin(), kind.keys.end());
    json.AllowKeys(std::string("an event of kind ") + kind.name, keys);
    ScenarioEvent event;
    event.kind = kind.kind;
    json.Get("at"); // has to be there
    ScenarioReader::ReadTimes(json, "at", event.at, event.until);
    switch (event.kind)
    {
    case ScenarioEvent::Kind::DOWN:
        event.links = reader.ReadLinks(json, event.name);
        break;
    case ScenarioEvent::Kind::DEGRADED:
        event.links = reader.ReadLinks(json, event.name);
        ReadDegraded(json, event);
        break;
    case ScenarioEvent::Kind::PFC_STORM:
        event.links = reader.ReadLinks(json, event.name);
        ReadStorm(json, reader, event);
        break;
    case ScenarioEvent::Kind::SLOW_GPU:
    case ScenarioEvent::Kind::SLOW_HOST:
        ReadSlow(json, reader, event);
        break;
    }
    event.name = std::string(kind.name) + " " + event.name;
    return event;
}

} // namespace proteus
} // namespace ns3
