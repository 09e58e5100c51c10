/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-charts.h"

#include "ns3/proteus-bar-svg.h"
#include "ns3/proteus-credit-window.h"
#include "ns3/proteus-tables.h"
#include "ns3/proteus-trial-svg.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// @param row of the table @return where the policy puts communications into order
std::string
NamePlace(const ScheduleResult& row)
{
    if (row.wireClasses == 0)
    {
        return "";
    }
    return row.settings.creditBytes == CreditWindow::UNLIMITED ? " on the wire"
                                                               : " at the sender and on the wire";
}

} // namespace

void
DrawSchedules(const ScheduleChartHead& head,
              const std::vector<ScheduleResult>& rows,
              std::ostream& out)
{
    constexpr double S_PER_PS = 1e-12;
    BarChart chart;
    chart.title = head.model + ": order of communication";
    chart.subtitle = "Steady iteration, " + head.where;
    chart.parts = {"kernels, host and waiting", "exposed communication"};
    chart.mark = head.boundS;
    chart.markText = "least time of any order";
    for (const ScheduleResult& row : rows)
    {
        const double steadyS = static_cast<double>(row.times.steadyPs) * S_PER_PS;
        chart.bars.push_back({row.settings.policy + NamePlace(row) + " (" + row.executor + ")",
                              {steadyS - row.exposedS, row.exposedS},
                              FormatTime(steadyS)});
    }
    WriteBarSvg(chart, out);
}

void
DrawTrials(const ScheduleChartHead& head, const ScheduleSearch& search, std::ostream& out)
{
    TrialChart chart;
    chart.title = head.model + ": size of a part and credit";
    chart.subtitle =
        "Steady iteration, policy priority, " + head.where + ", search " + search.method;
    chart.xName = "partition";
    chart.yName = "credit";
    for (const TunerTrial& trial : search.result.trials)
    {
        chart.trials.push_back({trial.values[0], trial.values[1], trial.cost});
    }
    WriteTrialSvg(chart, out);
}

} // namespace proteus
} // namespace ns3
