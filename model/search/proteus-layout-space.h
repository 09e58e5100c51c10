/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_SPACE_H
#define PROTEUS_LAYOUT_SPACE_H

#include "proteus-layout-cost.h"
#include "proteus-layout-problem.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-model.h"
#include "ns3/proteus-placement.h"
#include "ns3/proteus-signature.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The layouts that the operators of a model can have on a mesh, and what they cost.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A way to compute an operator on one mesh axis.
struct AxisRule
{
    uint32_t dimension{NO_ID}; //!< of the iteration space that the axis splits; NO_ID: none
    Signature signature;       //!< states of what is read and written
};

/**
 * @ingroup proteus
 * @param op an operator
 * @return the signatures of GetSignatures(), in their order, and last the one that replicates
 * everything
 */
std::vector<AxisRule> GetAxisRules(const ModelOperator& op);

/// @ingroup proteus
/// A way to compute an operator on a mesh.
struct LayoutCandidate
{
    std::vector<uint32_t> rules;               //!< by mesh axis: of GetAxisRules()
    std::vector<std::vector<MeshAxis>> splits; //!< by dimension of the iteration space
    std::vector<Layout> reads;                 //!< by read: how it is needed
    std::vector<Layout> writes;                //!< by write: how it is made
    std::vector<Layout> gradients;             //!< by read: how its gradient is made
    double computeCost{0};                     //!< forward and backward kernels
    double forwardCost{0};                     //!< of them, the forward kernel
    double gradientCost{0};                    //!< reduction of the gradients of parameters
    double memoryBytes{0}; //!< parameters, their gradients and state; all the time
    double savedBytes{0};  //!< results, of a micro-batch
};

/// @ingroup proteus
/// The pipeline in whose stages the operators are. Every stage has a mesh like that of the layouts.
struct LayoutPipeline
{
    std::vector<uint32_t> stages; //!< by operator; empty: all are in one
    uint32_t ranks{1};            //!< device groups; stage s is on group s % ranks
    DeviceId stride{0};           //!< from a device to its neighbour in the next stage
    std::vector<double> inFlight; //!< by device group: micro-batches whose results are kept
    std::vector<bool> isRepeated; //!< by operator: whether it is computed again
    std::vector<bool> isDropped;  //!< by operator: whether its results are not kept for that
};

/// @ingroup proteus
/// What the layouts and their costs depend on.
struct LayoutSpaceOptions
{
    MeshPtr mesh;                                    //!< whose axes are given to dimensions
    const CommunicationCost* communication{nullptr}; //!< required; must outlive the space
    /// Time of a kernel in picoseconds, as CompileOptions::kernelTime; none: computing is free.
    std::function<int64_t(const KernelDescription&)> kernelTime;
    PrecisionSpec precision;       //!< number formats
    bool mayReplicate{true};       //!< whether an axis may replicate an operator
    bool mayKeepPartialSums{true}; //!< whether operators may read partial sums
    /// Whether what the backward pass reads of the forward pass is brought to its layout once more,
    /// as the compiler does; AutoDDL's cost leaves it out.
    bool isReadAgain{false};
    LayoutPipeline pipeline;           //!< none: one stage
    bool sharesState{false};           //!< whether replicas share the optimizer's state: ZeRO 1
    double overlapSlowdown{0};         //!< see PlanEstimator
    double bucketBytes{0};             //!< of gradients that are reduced together; 0: each alone
    double gradientWeight{1};          //!< reductions of gradients per micro-batch
    double stateBytesPerParameter{12}; //!< of the optimizer; for memory
    double memoryBytes{0}; //!< a candidate that takes more alone is left out; 0: none is
    /// Told the bytes of what is left out for that; may be empty.
    std::function<void(double bytes)> heedTooMuch;
    /// Dimension by which results that nobody reads are wanted, as by a loss that samples share;
    /// NO_ID: as they are made.
    uint32_t resultDimension{NO_ID};
};

/// @ingroup proteus
/// Choices that experts would make, to begin with.
enum class LayoutStart : uint8_t
{
    ALL_DATA,   //!< samples are split over all axes
    ALL_TENSOR, //!< what the model says that tensor parallelism splits, or results, over all axes
    MEGATRON,   //!< on the last axis products split results and sums in turns, samples on others
    CLASSIFIER, //!< convolutions split samples; of the linear layers behind them, every two split
                //!< features, results and sums in turns, a third one samples (Krizhevsky 2014)
};

/// @ingroup proteus
/// @param model any @return whether it has convolutions and linear layers behind them
bool HasClassifier(const Model& model);

/**
 * @ingroup proteus
 * The operators of a model with their candidates, and the problem that they make.
 *
 * A node costs its kernels and the reduction of the gradients of its parameters; an edge the
 * boxing of the tensor from how it is made to how it is needed, and of its gradient the other way
 * round. Where several operators read a tensor, each has an edge of its own. A parameter that
 * several operators read is kept as the first of them has it. What goes from stage to stage is sent
 * from how it is made to how it is needed there; copies of a parameter in other stages cost the sum
 * of their gradients.
 */
class LayoutSpace
{
  public:
    /**
     * @param model what is trained; must outlive this object
     * @param options see there
     * @throw std::invalid_argument if mesh or communication is missing, or an operator has no
     * candidate
     */
    LayoutSpace(const Model& model, const LayoutSpaceOptions& options);

    /// @param op an operator @return its candidates
    const std::vector<LayoutCandidate>& GetCandidates(OperatorId op) const
    {
        return *m_candidates[op];
    }

    /**
     * @param memoryWeight what a byte of memory costs in addition
     * @return the problem; node i is operator i
     */
    LayoutProblem MakeProblem(double memoryWeight = 0) const;

    /// @param start of the kind @return a choice: where an operator has no such candidate, the
    /// nearest one
    LayoutChoice MakeStart(LayoutStart start) const;

    /// @param choice a choice @return bytes of memory of the fullest device
    double GetMemoryBytes(const LayoutChoice& choice) const;

    /// @param op an operator @return the device group of the pipeline where it is
    uint32_t GetRank(OperatorId op) const
    {
        const std::vector<uint32_t>& stages = m_options.pipeline.stages;
        return stages.empty() ? 0 : stages[op] % m_options.pipeline.ranks;
    }

    /// @return what is trained
    const Model& GetModel() const
    {
        return m_model;
    }

    /// @return see LayoutSpaceOptions
    const LayoutSpaceOptions& GetOptions() const
    {
        return m_options;
    }

  private:
    using Candidates = std::vector<LayoutCandidate>;

    /// A tensor between operators.
    struct Use
    {
        OperatorId from{0};
        uint32_t made{0}; //!< its write; of a parameter, its read
        OperatorId to{0};
        uint32_t read{0};
        bool isParameter{false};
        bool isTransfer{false}; //!< whether it goes from one stage to another
    };

    std::string DescribeClass(const ModelOperator& op) const;
    Candidates MakeCandidates(const ModelOperator& op) const;
    std::vector<uint32_t> FindRules(const ModelOperator& op,
                                    const std::vector<AxisRule>& rules) const;
    bool Split(const ModelOperator& op,
               const std::vector<AxisRule>& rules,
               LayoutCandidate& candidate) const;
    void LayOut(PlacedOperator& placed,
                const std::vector<AxisRule>& rules,
                LayoutCandidate& candidate) const;
    bool IsFirstReader(const ModelOperator& op, const Access& read) const;
    bool HasGradient(const Access& read) const;
    void AddCosts(const ModelOperator& op, LayoutCandidate& candidate) const;
    void AddComputeCost(const ModelOperator& op, LayoutCandidate& candidate) const;
    double GetKernelCost(const ModelOperator& op,
                         const OperatorPart& part,
                         const LayoutCandidate& candidate) const;
    double CountTraffic(const ModelOperator& op,
                        const OperatorPart& part,
                        const LayoutCandidate& candidate) const;
    double GetLocalBytes(TensorId tensor, const Layout& layout, double elementBytes) const;
    double GetElementBytes(TensorId tensor) const;
    double GetGradientBytes() const;
    void AddUses(OperatorId id);
    CostMatrixPtr MakeEdge(const Use& use) const;
    double GetUseCost(const Use& use, const LayoutCandidate& a, const LayoutCandidate& b) const;
    double GetTransferCost(const Use& use, const Layout& made, const LayoutCandidate& b) const;
    double GetMemoryBytes(OperatorId op, const LayoutCandidate& candidate) const;
    static bool ReadsAgain(const ModelOperator& op, uint32_t read);

    const Model& m_model;
    LayoutSpaceOptions m_options;
    MeshPtr m_nextMesh;                     //!< of the next stage
    std::vector<OperatorId> m_firstReaders; //!< by tensor: of a parameter
    std::vector<uint32_t> m_classes;        //!< by operator: those with the same number are alike
    std::vector<std::shared_ptr<const Candidates>> m_candidates; //!< by operator
    std::vector<Use> m_uses;
    std::vector<CostMatrixPtr> m_matrices; //!< by use
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_SPACE_H
