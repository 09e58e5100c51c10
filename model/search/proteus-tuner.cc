/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tuner.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-registry.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

double
TunerDimension::GetValue(double share) const
{
    double value =
        isLogarithmic ? least * std::pow(most / least, share) : least + (most - least) * share;
    if (step > 0)
    {
        value = step * std::round(value / step);
    }
    return std::clamp(value, least, most);
}

TunerPoint
UniformNumbers::DrawPoint(std::size_t dimensions)
{
    TunerPoint point(dimensions);
    std::generate(point.begin(), point.end(), [this]() { return Draw(); });
    return point;
}

TunerRegistration::TunerRegistration(const std::string& name, TunerFactory factory)
{
    Registry<TunerFactory>::Registration(name, std::move(factory));
}

std::vector<std::string>
GetTunerMethods()
{
    return Registry<TunerFactory>::Get().GetNames();
}

TunerResult
Tune(const std::vector<TunerDimension>& dimensions,
     const std::function<double(const std::vector<double>&)>& cost,
     const std::string& method,
     const TunerSettings& settings)
{
    const TunerFactory* makeMethod = Registry<TunerFactory>::Get().Find(method);
    if (makeMethod == nullptr)
    {
        throw std::invalid_argument("there is no search method '" + method + "': use one of " +
                                    ListNames(GetTunerMethods()));
    }
    if (dimensions.empty() || settings.evaluations == 0)
    {
        throw std::invalid_argument("a search needs something to look for and at least one "
                                    "evaluation");
    }
    for (const TunerDimension& dimension : dimensions)
    {
        if (!(dimension.least <= dimension.most) ||
            (dimension.isLogarithmic && !(dimension.least > 0)))
        {
            throw std::invalid_argument("a search for '" + dimension.name + "' from " +
                                        std::to_string(dimension.least) + " to " +
                                        std::to_string(dimension.most) +
                                        ": give the smaller value first, and one above 0 if ratios "
                                        "count");
        }
    }
    const std::unique_ptr<TunerMethod> proposer = (*makeMethod)(dimensions.size(), settings);
    std::map<std::vector<double>, double> known;
    TunerResult result;
    while (result.trials.size() < settings.evaluations)
    {
        TunerTrial trial;
        trial.point = proposer->Propose(result.trials);
        if (trial.point.empty())
        {
            break;
        }
        for (std::size_t i = 0; i < dimensions.size(); ++i)
        {
            trial.values.push_back(dimensions[i].GetValue(trial.point[i]));
        }
        const auto before = known.find(trial.values);
        trial.cost = before != known.end() ? before->second : cost(trial.values);
        known.emplace(trial.values, trial.cost);
        result.trials.push_back(std::move(trial));
        if (result.trials.back().cost < result.trials[result.best].cost)
        {
            result.best = result.trials.size() - 1;
        }
    }
    return result;
}

} // namespace proteus
} // namespace ns3
