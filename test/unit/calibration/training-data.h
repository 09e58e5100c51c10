/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRAINING_DATA_H
#define PROTEUS_TRAINING_DATA_H

// Measured training iterations, read in place from ../shared/data/training, and what is said of
// predictions of them.

#include "../strategy/gpt-oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{
namespace training
{

/// Communication among the GPUs of one server, as NCCL's rings behave there: a constant and a time
/// per step, both from the small messages of the nccl-tests tables, and the bus bandwidth of the
/// large ones.
struct Fabric
{
    double constant;  //!< seconds
    double step;      //!< seconds per step of a ring
    double bandwidth; //!< bytes per second
};

/// A100 with NVSwitch: vtrain_a100_2_ar.csv and vtrain_a100_8_ar.csv: 1 MiB takes 44 us on 2 and 93
/// us on 8 GPUs, large messages reach 195 and 227 GB/s.
constexpr Fabric A100_SERVER{25e-6, 4.5e-6, 220e9};

/// H100 with NVSwitch: small messages as in dgxh100_8_ar.csv; rings reach the same share of
/// NVLink's 450 GB/s as those of A100 do of 300.
constexpr Fabric H100_SERVER{12e-6, 3e-6, 350e9};

/// A 400 Gb/s port of InfiniBand per GPU, at the nine tenths of its rate that nccl-tests reach.
constexpr Fabric NDR_NETWORK{25e-6, 10e-6, 45e9};

/// One training iteration of a GPT: what is computed, and how it is shared.
struct Job
{
    std::string gpu{"A100-SXM4-80GB"};
    uint64_t hidden{0};
    uint64_t heads{0};
    uint64_t layers{0};
    uint64_t sequence{0};
    uint64_t vocabulary{50257};
    uint64_t tp{1};
    uint64_t dp{1};
    uint64_t pp{1};
    uint64_t virtualStages{1};
    uint64_t globalBatch{1};
    uint64_t microBatch{1};
    DataType type{DataType::FP16};
    Recompute recompute{Recompute::NONE};
    bool sequenceParallel{false};
    bool fusedAttention{false};
    bool overlapGradients{false};
    uint64_t gradientBytes{2};
    Fabric fabric{A100_SERVER};  //!< of a server
    Fabric network{A100_SERVER}; //!< between servers, if there are several
    double measured{0};          //!< seconds

    uint64_t GetNMicroBatches() const
    {
        return globalBatch / (dp * microBatch);
    }
};

/// Seconds of a ring's all-reduce; half of it is a reduce-scatter or an all-gather.
inline double
AllReduce(const Fabric& fabric, uint64_t ranks, double bytes)
{
    if (ranks == 1)
    {
        return 0;
    }
    const double n = static_cast<double>(ranks);
    return fabric.constant + 2 * (n - 1) * fabric.step + bytes * 2 * (n - 1) / n / fabric.bandwidth;
}

/// Reads a table of comma-separated values. @return by row, value by column name
inline std::vector<std::map<std::string, std::string>>
ReadTable(const std::filesystem::path& path)
{
    std::ifstream file(path);
    std::vector<std::string> names;
    std::vector<std::map<std::string, std::string>> rows;
    for (std::string line; std::getline(file, line);)
    {
        if (!line.empty() && line.back() == '\r')
        {
            line.pop_back();
        }
        std::vector<std::string> cells;
        std::stringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');)
        {
            cells.push_back(cell);
        }
        if (names.empty())
        {
            names = cells;
            continue;
        }
        std::map<std::string, std::string> row;
        for (std::size_t i = 0; i < cells.size() && i < names.size(); ++i)
        {
            row[names[i]] = cells[i];
        }
        rows.push_back(row);
    }
    return rows;
}

inline const std::filesystem::path TRAINING =
    std::filesystem::path(PROTEUS_SOURCE_DIR) / ".." / "shared" / "data" / "training";

/// @return the measured iterations of one server; none where the data are not there
inline std::vector<Job>
ReadRows()
{
    std::vector<Job> jobs;
    for (const auto& row : ReadTable(TRAINING / "gpt_a100_single_node.csv"))
    {
        Job job;
        job.hidden = std::stoull(row.at("hidden"));
        job.heads = std::stoull(row.at("heads"));
        job.layers = std::stoull(row.at("layers"));
        job.sequence = std::stoull(row.at("seq"));
        job.tp = std::stoull(row.at("tp"));
        job.dp = std::stoull(row.at("dp"));
        job.pp = std::stoull(row.at("pp"));
        job.globalBatch = std::stoull(row.at("global_batch"));
        job.microBatch = std::stoull(row.at("micro_batch"));
        job.measured = std::stod(row.at("iteration_ms")) / 1000;
        jobs.push_back(job);
    }
    return jobs;
}

/// @return the measured iterations of larger models
inline std::vector<Job>
ReadPoints()
{
    std::vector<Job> jobs;
    for (const auto& row : ReadTable(TRAINING / "points.csv"))
    {
        Job job;
        const bool is22B = row.at("model").rfind("GPT 22B", 0) == 0;
        const bool is175B = row.at("model") == "GPT-3 175B";
        if (!is22B && !is175B)
        {
            continue;
        }
        job.hidden = is22B ? 6144 : 12288;
        job.heads = is22B ? 64 : 96;
        job.layers = is22B ? 48 : 96;
        job.gpu = is22B ? "A100-SXM4-80GB" : "H100-SXM5-80GB";
        job.fabric = is22B ? A100_SERVER : H100_SERVER;
        job.network = is22B ? A100_SERVER : NDR_NETWORK;
        job.vocabulary = 51200;
        job.sequence = std::stoull(row.at("seq"));
        job.tp = std::stoull(row.at("tp"));
        job.dp = std::stoull(row.at("dp"));
        job.pp = std::stoull(row.at("pp"));
        job.virtualStages = std::stoull(row.at("virtual_stages"));
        job.globalBatch = std::stoull(row.at("global_batch"));
        job.microBatch = std::stoull(row.at("micro_batch"));
        job.type = DataTypeFromString(row.at("precision"));
        const std::string& recompute = row.at("recompute");
        job.recompute = RecomputeFromString(recompute.substr(0, recompute.find('+')));
        job.sequenceParallel = is175B || recompute.find("sequence-parallel") != std::string::npos;
        // MLPerf 3.1: Transformer Engine with fused attention, distributed optimizer, overlapped.
        job.fusedAttention = is175B;
        job.overlapGradients = is175B;
        job.gradientBytes = is175B ? 2 : 4;
        job.measured = std::stod(row.at("iteration_s"));
        jobs.push_back(job);
    }
    return jobs;
}

/// Relative errors, their mean, and what else is said of them.
struct Errors
{
    double meanAbsolute{0};
    double mean{0};
    double worst{0};
    std::size_t count{0};
};

inline Errors
Measure(
    const std::vector<Job>& jobs,
    const std::vector<double>& times,
    const std::function<bool(const Job&)>& choose = [](const Job&) { return true; })
{
    Errors errors;
    for (std::size_t i = 0; i < jobs.size(); ++i)
    {
        if (choose(jobs[i]))
        {
            const double error = times[i] / jobs[i].measured - 1;
            errors.meanAbsolute += std::abs(error);
            errors.mean += error;
            errors.worst = std::max(errors.worst, std::abs(error));
            ++errors.count;
        }
    }
    if (errors.count > 0)
    {
        errors.meanAbsolute /= static_cast<double>(errors.count);
        errors.mean /= static_cast<double>(errors.count);
    }
    return errors;
}

/// @return position of each value when sorted; equal values share the mean
inline std::vector<double>
Rank(const std::vector<double>& values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return values[a] < values[b];
    });
    std::vector<double> ranks(values.size());
    for (std::size_t i = 0; i < order.size();)
    {
        std::size_t end = i;
        while (end < order.size() && values[order[end]] == values[order[i]])
        {
            ++end;
        }
        for (std::size_t j = i; j < end; ++j)
        {
            ranks[order[j]] = static_cast<double>(i + end - 1) / 2;
        }
        i = end;
    }
    return ranks;
}

/// @return Spearman's rank correlation of prediction and measurement
inline double
RankCorrelation(const std::vector<Job>& jobs, const std::vector<double>& times)
{
    std::vector<double> measured;
    for (const Job& job : jobs)
    {
        measured.push_back(job.measured);
    }
    const std::vector<double> x = Rank(times);
    const std::vector<double> y = Rank(measured);
    const double mean = static_cast<double>(x.size() - 1) / 2;
    double xy = 0;
    double xx = 0;
    double yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xy / std::sqrt(xx * yy);
}

inline void
Print(const char* what, const Errors& errors)
{
    std::printf("  %-34s %4zu rows   mean |error| %5.1f %%   mean %+5.1f %%   worst %5.1f %%\n",
                what,
                errors.count,
                100 * errors.meanAbsolute,
                100 * errors.mean,
                100 * errors.worst);
}

} // namespace training
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRAINING_DATA_H
