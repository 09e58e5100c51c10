/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Operator cost against measured training iterations: reads ../shared/data/training in place,
// prints the error of every group, fits the parameters anew and cross-validates them.

#include "../calibration/training-data.h"
#include "../strategy/gpt-oracle.h"

#include "ns3/proteus-kernel-cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::training;

namespace
{

constexpr double PS_PER_S = 1e12;

/// Seconds of the parts of an iteration, for one micro-batch, forward and backward.
struct Pieces
{
    double layer;
    double head; //!< what comes after the last layer
    double embedding;
};

/**
 * The time of a job: operators one after the other in each pass, tensor-parallel communication
 * between them, that of input gradients beside the weight gradient's product as in MakeGptGraph(),
 * 1F1B over the stages, then gradients, then the optimizer.
 */
class JobTime
{
  public:
    JobTime(const Job& job, const KernelCostModel& model)
        : m_job(job),
          m_model(model),
          m_rows(job.microBatch * job.sequence),
          m_activation(2.0 * static_cast<double>(m_rows * job.hidden)),
          m_vocabulary(PadGptVocabulary(static_cast<uint32_t>(job.vocabulary),
                                        static_cast<uint32_t>(job.tp)) /
                       job.tp),
          m_shards(job.sequenceParallel ? job.tp : 1)
    {
    }

    double LayerForward() const
    {
        const uint64_t h = m_job.hidden;
        const uint64_t t = m_job.tp;
        double time = Norm(KernelPass::FORWARD);
        time += Gather();
        time += Forward(h, 3 * h / t);
        time += Core(KernelPass::FORWARD);
        time += Forward(h / t, h) + Reduce();
        time += DropoutAdd(KernelPass::FORWARD);
        time += Norm(KernelPass::FORWARD) + Gather();
        time += Forward(h, 4 * h / t);
        time += Elementwise(8 * m_activation / static_cast<double>(t));
        time += Forward(4 * h / t, h) + Reduce();
        time += DropoutAdd(KernelPass::FORWARD);
        return time;
    }

    double LayerBackward() const
    {
        const uint64_t h = m_job.hidden;
        const uint64_t t = m_job.tp;
        double time = DropoutAdd(KernelPass::BACKWARD);
        time += Gather();
        time += InputGradient(4 * h / t, h) + WeightGradient(4 * h / t, h);
        time += Elementwise(12 * m_activation / static_cast<double>(t));
        time += ColumnBackward(4 * h / t);
        time += Norm(KernelPass::BACKWARD);
        time += DropoutAdd(KernelPass::BACKWARD);
        time += Gather();
        time += InputGradient(h / t, h) + WeightGradient(h / t, h);
        if (m_job.recompute == Recompute::SELECTIVE && !m_job.fusedAttention)
        {
            time += Core(KernelPass::FORWARD);
        }
        time += Core(KernelPass::BACKWARD);
        time += ColumnBackward(3 * h / t);
        time += Norm(KernelPass::BACKWARD);
        if (m_job.recompute == Recompute::FULL)
        {
            time += LayerForward();
        }
        return time;
    }

    /// Final norm, output layer, cross entropy; forward and backward.
    double Head() const
    {
        const uint64_t h = m_job.hidden;
        const double logits = static_cast<double>(m_rows * m_vocabulary);
        double time = Norm(KernelPass::FORWARD) + Gather();
        time += Forward(h, m_vocabulary);
        time += Elementwise(10 * logits) + Scalars();
        time += Elementwise(20 * logits) + 2 * Scalars();
        time += Elementwise(8 * logits);
        time += Elementwise(14 * logits);
        time += ColumnBackward(m_vocabulary);
        time += Norm(KernelPass::BACKWARD);
        return time;
    }

    double Embedding() const
    {
        const double shard = m_activation / static_cast<double>(m_shards);
        double time = Time(
            MakeEmbeddingWork(m_rows, m_job.hidden, m_vocabulary, KernelPass::FORWARD, m_job.type));
        time += Reduce();
        time += Elementwise(3.5 * shard);
        time += Elementwise(2.5 * shard) + Gather();
        time += Time(MakeEmbeddingWork(m_rows,
                                       m_job.hidden,
                                       m_vocabulary,
                                       KernelPass::BACKWARD,
                                       m_job.type,
                                       static_cast<uint32_t>(m_job.gradientBytes)));
        return time;
    }

    Pieces GetPieces() const
    {
        return {LayerForward() + LayerBackward(), Head(), Embedding()};
    }

    double Iteration(const Pieces& pieces) const
    {
        const uint64_t p = m_job.pp;
        const double layers = static_cast<double>(m_job.layers / p);
        const double send = p > 1 ? 20e-6 + m_activation / 240e9 : 0;
        std::vector<double> stages(p, layers * pieces.layer);
        stages.front() += pieces.embedding;
        stages.back() += pieces.head;
        const double longest = *std::max_element(stages.begin(), stages.end());
        const double once = std::accumulate(stages.begin(), stages.end(), 0.0);
        const double microBatches = static_cast<double>(m_job.GetNMicroBatches());
        // With v chunks per device, the pipeline fills in a v-th of the time.
        double time = microBatches * longest +
                      (once - longest) / static_cast<double>(m_job.virtualStages) +
                      2 * send * (static_cast<double>(p - 1) + microBatches - 1);
        const double h = static_cast<double>(m_job.hidden);
        const double parameters = layers * (12 * h * h + 13 * h) / static_cast<double>(m_job.tp) +
                                  static_cast<double>(m_vocabulary) * h;
        const double gradients = static_cast<double>(m_job.gradientBytes) * parameters;
        if (!m_job.overlapGradients)
        {
            time += AllReduce(m_job.fabric, m_job.dp, gradients);
        }
        if (p > 1)
        {
            time += AllReduce(m_job.fabric,
                              2,
                              static_cast<double>(m_job.gradientBytes * m_vocabulary) * h);
        }
        // Adam: gradient, master weight and two moments in and out, parameter out; shared among
        // the replicas where gradients are overlapped (distributed optimizer).
        const double share = m_job.overlapGradients ? static_cast<double>(m_job.dp) : 1;
        time += Time(
            MakeOptimizerWork(static_cast<uint64_t>((gradients + (24 + 2) * parameters) / share)));
        return time;
    }

  private:
    double Time(const KernelWork& work) const
    {
        return static_cast<double>(m_model.GetTime(work).GetPs()) / PS_PER_S;
    }

    double Elementwise(double bytes) const
    {
        return Time(
            MakeElementwiseWork(static_cast<uint64_t>(bytes), KernelPass::FORWARD, m_job.type));
    }

    double DropoutAdd(KernelPass pass) const
    {
        return Elementwise((pass == KernelPass::FORWARD ? 3.5 : 2.5) * m_activation /
                           static_cast<double>(m_shards));
    }

    double Norm(KernelPass pass) const
    {
        return Time(MakeNormalizationWork(m_rows / m_shards,
                                          m_job.hidden,
                                          pass,
                                          m_job.type,
                                          pass == KernelPass::BACKWARD));
    }

    double Core(KernelPass pass) const
    {
        const uint64_t matrices = m_job.microBatch * m_job.heads / m_job.tp;
        const uint64_t s = m_job.sequence;
        const uint64_t head = m_job.hidden / m_job.heads;
        return Time(m_job.fusedAttention
                        ? MakeFusedAttentionWork(matrices, s, s, head, pass, m_job.type)
                        : MakeAttentionWork(matrices, s, s, head, pass, m_job.type));
    }

    double Forward(uint64_t in, uint64_t out) const
    {
        return Time(MakeLinearForwardWork(m_rows, in, out, m_job.type));
    }

    double InputGradient(uint64_t in, uint64_t out) const
    {
        return Time(MakeLinearInputGradientWork(m_rows, in, out, m_job.type));
    }

    double WeightGradient(uint64_t in, uint64_t out) const
    {
        return Time(MakeLinearWeightGradientWork(m_rows,
                                                 in,
                                                 out,
                                                 m_job.type,
                                                 static_cast<uint32_t>(m_job.gradientBytes)));
    }

    /// Backward pass of a layer whose input every rank has: the reduction of the input's gradient
    /// runs beside the weight gradient. With sequence parallelism the input is gathered again,
    /// beside the input gradient.
    double ColumnBackward(uint64_t out) const
    {
        return std::max(InputGradient(m_job.hidden, out), Gather()) +
               std::max(WeightGradient(m_job.hidden, out), Reduce());
    }

    /// After a layer whose result is a sum over the ranks.
    double Reduce() const
    {
        const double time = AllReduce(m_job.fabric, m_job.tp, m_activation);
        return m_job.sequenceParallel ? time / 2 : time;
    }

    /// Before a layer that needs the whole sequence.
    double Gather() const
    {
        return m_job.sequenceParallel ? AllReduce(m_job.fabric, m_job.tp, m_activation) / 2 : 0;
    }

    double Scalars() const
    {
        return AllReduce(m_job.fabric, m_job.tp, 4.0 * static_cast<double>(m_rows));
    }

    const Job& m_job;
    const KernelCostModel& m_model;
    uint64_t m_rows;
    double m_activation;   //!< bytes
    uint64_t m_vocabulary; //!< of a rank
    uint64_t m_shards;     //!< over which norms and dropout are shared
};

/// @return predicted seconds of each job
std::vector<double>
Predict(const std::vector<Job>& jobs, const KernelCostParameters& parameters)
{
    using Shape = std::tuple<std::string, uint64_t, uint64_t, uint64_t, Recompute, bool>;
    std::map<std::string, KernelCostModel> models;
    std::map<Shape, Pieces> pieces;
    std::vector<double> times;
    for (const Job& job : jobs)
    {
        const auto model = models.try_emplace(job.gpu, FindGpuDatasheet(job.gpu), parameters).first;
        const JobTime time(job, model->second);
        const Shape shape(job.gpu,
                          job.hidden,
                          job.tp,
                          job.microBatch,
                          job.recompute,
                          job.sequenceParallel);
        auto found = pieces.find(shape);
        if (found == pieces.end())
        {
            found = pieces.emplace(shape, time.GetPieces()).first;
        }
        times.push_back(time.Iteration(found->second));
    }
    return times;
}

/// @return parameters with these fitted ones; the others keep their defaults
KernelCostParameters
SetFitted(const std::vector<double>& values)
{
    KernelCostParameters parameters;
    parameters.matrixEfficiency = values[0];
    parameters.memoryEfficiency = values[1];
    parameters.hostPerKernelPs = std::llround(values[2]);
    return parameters;
}

/**
 * Fits by a pattern search from a fixed start, so that it gives the same numbers everywhere.
 * Minimises the mean squared logarithmic error of the rows plus `weight` times that of each point.
 */
KernelCostParameters
Fit(const std::vector<Job>& rows, const std::vector<Job>& points, double weight)
{
    auto squares = [](const std::vector<Job>& jobs, const KernelCostParameters& parameters) {
        const std::vector<double> times = Predict(jobs, parameters);
        double sum = 0;
        for (std::size_t i = 0; i < jobs.size(); ++i)
        {
            sum += std::pow(std::log(times[i] / jobs[i].measured), 2);
        }
        return sum;
    };
    auto loss = [&](const std::vector<double>& values) {
        if (std::max(values[0], values[1]) > 0.95)
        {
            return std::numeric_limits<double>::infinity();
        }
        const KernelCostParameters parameters = SetFitted(values);
        return squares(rows, parameters) / static_cast<double>(rows.size()) +
               weight * squares(points, parameters);
    };
    std::vector<double> values{0.6, 0.6, 100e6};
    std::vector<double> steps(values.size(), 0.2);
    double least = loss(values);
    while (*std::max_element(steps.begin(), steps.end()) > 1e-3)
    {
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            bool better = false;
            for (double factor : {1 + steps[i], 1 / (1 + steps[i])})
            {
                std::vector<double> next = values;
                next[i] *= factor;
                const double found = loss(next);
                if (found < least)
                {
                    least = found;
                    values = next;
                    better = true;
                    break;
                }
            }
            steps[i] *= better ? 1.3 : 0.5;
        }
    }
    return SetFitted(values);
}

/// The weight of a point in the fit, in all rows: each of the two counts as a fifth of them.
constexpr double POINT_WEIGHT = 0.2;

/// @return the points that are fitted: those on the GPU of the rows
std::vector<Job>
Fitted(const std::vector<Job>& points)
{
    std::vector<Job> fitted;
    for (const Job& job : points)
    {
        if (job.gpu == "A100-SXM4-80GB")
        {
            fitted.push_back(job);
        }
    }
    return fitted;
}

/// A way to tell rows apart.
struct Grouping
{
    const char* name;
    uint64_t (*key)(const Job& job);
};

constexpr Grouping GROUPINGS[] = {
    {"tensor parallel", [](const Job& job) { return job.tp; }},
    {"pipeline parallel", [](const Job& job) { return job.pp; }},
    {"data parallel", [](const Job& job) { return job.dp; }},
    {"hidden size", [](const Job& job) { return job.hidden; }},
    {"layers", [](const Job& job) { return job.layers; }},
    {"micro-batch", [](const Job& job) { return job.microBatch; }},
};

class OperatorFit : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (!std::filesystem::exists(TRAINING))
        {
            GTEST_SKIP() << "the measurements are not there: " << TRAINING;
        }
        rows = ReadRows();
        points = ReadPoints();
        ASSERT_EQ(rows.size(), 272u);
        ASSERT_EQ(points.size(), 3u);
    }

    std::vector<Job> rows;
    std::vector<Job> points;
};

} // namespace

TEST_F(OperatorFit, DefaultsMeetTheMeasurements)
{
    const KernelCostParameters parameters;
    const std::vector<double> times = Predict(rows, parameters);
    const Errors all = Measure(rows, times);
    const double rank = RankCorrelation(rows, times);
    Print("all", all);
    std::printf("  rank correlation %.4f\n", rank);
    for (const Grouping& grouping : GROUPINGS)
    {
        std::set<uint64_t> values;
        for (const Job& job : rows)
        {
            values.insert(grouping.key(job));
        }
        for (uint64_t value : values)
        {
            const std::string what = std::string(grouping.name) + " " + std::to_string(value);
            const Errors errors =
                Measure(rows, times, [&](const Job& job) { return grouping.key(job) == value; });
            Print(what.c_str(), errors);
            EXPECT_LE(errors.meanAbsolute, 0.11) << what;
        }
    }
    EXPECT_LE(all.meanAbsolute, 0.08);
    EXPECT_LE(std::abs(all.mean), 0.03);
    EXPECT_GE(rank, 0.95);

    KernelCostParameters busy = parameters;
    busy.duty.products = 0.8; // what Compile() finds of GPT-3 175B; A100s have no use for it
    const std::vector<double> large = Predict(points, busy);
    for (std::size_t i = 0; i < points.size(); ++i)
    {
        std::printf(
            "  %lu layers of %lu on %s, recomputation %s: %.3f s, measured %.3f, %+.1f %%\n",
            static_cast<unsigned long>(points[i].layers),
            static_cast<unsigned long>(points[i].hidden),
            points[i].gpu.c_str(),
            ToString(points[i].recompute),
            large[i],
            points[i].measured,
            100 * (large[i] / points[i].measured - 1));
        EXPECT_NEAR(large[i] / points[i].measured, 1, 0.1) << points[i].gpu;
    }
}

// A fit to every second row finds numbers that are as good as the defaults on the rows that it saw,
// and the defaults are as good as they on those that it did not see: the valley is flat along
// higher rates of products with lower ones of memory.
TEST_F(OperatorFit, FittingHalfOfTheRowsIsNoBetterThanTheDefaults)
{
    std::vector<Job> halves[2];
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
        halves[i % 2].push_back(rows[i]);
    }
    const KernelCostParameters found = Fit(halves[0], Fitted(points), POINT_WEIGHT);
    std::printf(
        "  fitted to even rows: matrixEfficiency %.4f, memoryEfficiency %.4f, hostPerKernel "
        "%.2f us\n",
        found.matrixEfficiency,
        found.memoryEfficiency,
        static_cast<double>(found.hostPerKernelPs) / 1e6);
    for (const auto& [half, what] : {std::pair{0, "even rows"}, std::pair{1, "odd rows"}})
    {
        const Errors fitted = Measure(halves[half], Predict(halves[half], found));
        const Errors defaults =
            Measure(halves[half], Predict(halves[half], KernelCostParameters()));
        Print((std::string(what) + ", that fit").c_str(), fitted);
        Print((std::string(what) + ", defaults").c_str(), defaults);
        EXPECT_LE(fitted.meanAbsolute, 0.068) << what;
        EXPECT_LE(defaults.meanAbsolute, fitted.meanAbsolute + 0.003) << what;
    }
}

TEST_F(OperatorFit, CarriesToRowsThatWereNotFitted)
{
    auto validate = [this](const std::string& what,
                           const std::vector<std::size_t>& fold,
                           double most) {
        const std::set<std::size_t> values(fold.begin(), fold.end());
        double sum = 0;
        for (std::size_t value : values)
        {
            std::vector<Job> train;
            std::vector<Job> test;
            for (std::size_t i = 0; i < rows.size(); ++i)
            {
                (fold[i] == value ? test : train).push_back(rows[i]);
            }
            const KernelCostParameters parameters = Fit(train, Fitted(points), POINT_WEIGHT);
            const Errors errors = Measure(test, Predict(test, parameters));
            const Errors fitted = Measure(train, Predict(train, parameters));
            std::printf("  without %-22s %4zu: fitted %4.1f %%, not fitted %4.1f %% (%zu rows)\n",
                        what.c_str(),
                        value,
                        100 * fitted.meanAbsolute,
                        100 * errors.meanAbsolute,
                        errors.count);
            sum += errors.meanAbsolute * static_cast<double>(errors.count);
        }
        const double mean = sum / static_cast<double>(rows.size());
        std::printf("  not fitted, mean over %s: %.1f %%\n", what.c_str(), 100 * mean);
        EXPECT_LE(mean, most) << what;
    };
    std::vector<std::size_t> fold(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
        fold[i] = i % 5;
    }
    validate("fifth", fold, 0.08);
    for (const Grouping& grouping : GROUPINGS)
    {
        std::transform(rows.begin(), rows.end(), fold.begin(), grouping.key);
        validate(grouping.name, fold, 0.09);
    }
}
