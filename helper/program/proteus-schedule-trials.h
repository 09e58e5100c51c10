/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCHEDULE_TRIALS_H
#define PROTEUS_SCHEDULE_TRIALS_H

#include "proteus-command-line-text.h"
#include "proteus-model-options.h"
#include "proteus-plot-option.h"
#include "proteus-program-options.h"
#include "proteus-server-options.h"
#include "proteus-table-options.h"

#include "ns3/proteus-communication-scheduler.h"
#include "ns3/proteus-tuner.h"
#include "ns3/proteus-wire-classes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What proteus-schedule is asked to compare: policies, and places where they order communications.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Names of places where communications are put into order.
namespace schedule_place
{
constexpr const char* SENDER = "sender";
constexpr const char* WIRE = "wire";
constexpr const char* BOTH = "both";
} // namespace schedule_place

/// @ingroup proteus
/// What the user asked for; what ProgramOptions has beyond these options keeps its defaults.
struct ScheduleTrialOptions : ProgramOptions
{
    ScheduleTrialOptions()
    {
        executor = "flow";
    }

    ModelOptions model; //!< what is trained, and how
    /// Names of orders, separated by commas.
    std::string policies{"arrival,buckets,priority,p3,critical-path,fair"};
    // ByteScheduler's defaults with parameter servers: a million parameters, and four.
    int64_t partition{4000000};                       //!< bytes of a part
    int64_t credit{16000000};                         //!< bytes under way
    double messageUs{0};                              //!< from a decision until others know it
    bool serial{false};                               //!< one part after the other
    std::string priorityOn{schedule_place::SENDER};   //!< places, separated by commas
    int64_t wireClasses{4};                           //!< traffic classes on the wire
    std::string wireWeights;                          //!< of them, separated by commas
    int64_t iterations{4};                            //!< how often the job runs
    std::string crossIteration{"tensor"};             //!< what an iteration waits for
    ServerOptions servers;                            //!< parameter servers
    bool tune{false};                                 //!< look for the best sizes
    std::string method{"bayesian"};                   //!< of that search
    int64_t evaluations{TunerSettings().evaluations}; //!< of that search, at most
    int64_t seed{1};                                  //!< of that search
    CommandLineText csv;                              //!< file for the table
    TableOptions tables;                              //!< files for all tables
    PlotOption plot;                                  //!< file for a drawing
    CommandLineText save;                             //!< file for what the search finds
    CommandLineText timelines;                        //!< folder for those of all rows
};

/// @ingroup proteus
/// One way to order the communications of a job.
struct ScheduleTrial
{
    ScheduleSettings settings;       //!< policy and sizes
    std::optional<WireClasses> wire; //!< none: the sender alone decides
    std::string name;                //!< of its timeline; empty: it has none
};

/**
 * @ingroup proteus
 * @param options of the user
 * @param policy that orders or not
 * @param place where it does
 * @return its settings; only what orders communications cuts them
 * @throw std::invalid_argument for sizes that make no sense
 */
ScheduleSettings MakeScheduleSettings(const ScheduleTrialOptions& options,
                                      const std::string& policy,
                                      const std::string& place = schedule_place::SENDER);

/// @ingroup proteus
/// @param options of the user @param isWanted asked about policies @return whether it wants one of
/// --policies
bool HasPolicy(const ScheduleTrialOptions& options,
               const std::function<bool(const SchedulingPolicy& policy)>& isWanted);

/// @ingroup proteus
/// @param policy any @return whether it puts communications into an order of its own
bool Orders(const SchedulingPolicy& policy);

/// @ingroup proteus
/// @param options of the user @return whether some policy orders, or a search does
bool OrdersAnything(const ScheduleTrialOptions& options);

/// @ingroup proteus
/// @param options of the user @param places of --priorityOn @return whether something orders there
bool OrdersOn(const ScheduleTrialOptions& options, const std::set<std::string>& places);

/**
 * @ingroup proteus
 * @param options of the user
 * @return every policy, at every place where it can put communications into order
 * @throw std::invalid_argument that names a wrong option
 */
std::vector<ScheduleTrial> MakeScheduleTrials(const ScheduleTrialOptions& options);

/**
 * @ingroup proteus
 * @param options of the user
 * @param trials to run
 * @param executors that run them
 * @throw std::invalid_argument if some of them know no traffic classes
 */
void CheckWire(const ScheduleTrialOptions& options,
               const std::vector<ScheduleTrial>& trials,
               const std::vector<std::string>& executors);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCHEDULE_TRIALS_H
