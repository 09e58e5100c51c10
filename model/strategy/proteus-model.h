/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_H
#define PROTEUS_MODEL_H

#include "proteus-expert-dispatch.h"
#include "proteus-layout.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * A neural network: tensors, and operators over iteration spaces with their backward passes.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Position of a tensor in its model.
using TensorId = uint32_t;
/// @ingroup proteus
/// Position of an operator in its model.
using OperatorId = uint32_t;
/// @ingroup proteus
/// Position of a dimension in the iteration space of its operator.
using IterationAxis = uint8_t;

/// @ingroup proteus
/// What an element is; how many bytes it has depends on the precision of the training.
enum class ElementKind : uint8_t
{
    COMPUTE, //!< activations and parameters: fp32, or 2 bytes in mixed precision
    FP32,    //!< 4 bytes whatever the precision, e.g. of a loss
    MASK,    //!< 1 byte, e.g. of dropout
    INDEX,   //!< 4 bytes: a token, a label
};

/// @ingroup proteus
/// Where a tensor comes from.
enum class TensorRole : uint8_t
{
    INPUT,      //!< samples and labels; there before the iteration
    PARAMETER,  //!< trained, or frozen (ModelTensor::needsGradient)
    ACTIVATION, //!< an operator's result
    SAVED,      //!< a by-product that only the backward pass of its producer reads
};

/// @ingroup proteus
/// A tensor of the model. Gradients are not listed: each differentiable tensor has one.
struct ModelTensor
{
    std::string name;                          //!< path, e.g. "layer3.qkv.weight"
    Shape shape;                               //!< elements per dimension
    std::vector<std::string> dimensions;       //!< their names, e.g. "batch"
    ElementKind element{ElementKind::COMPUTE}; //!< bytes per element
    TensorRole role{TensorRole::ACTIVATION};   //!< where it comes from
    OperatorId producer{NO_ID};                //!< who writes it, if an operator does
    /// Whether it gets a gradient if who reads it makes one: not a parameter that is frozen, nor
    /// what depends on no parameter that is trained.
    bool needsGradient{true};
};

/// @ingroup proteus
/// A dimension of the iteration space of an operator.
struct IterationDimension
{
    std::string name;        //!< e.g. "batch", "out", "in", "heads"
    uint64_t extent{0};      //!< points
    bool isSplittable{true}; //!< whether devices may share it
    /// Whether its parts may be of unequal size; not where a tensor has several elements per point.
    bool isUnevenAllowed{true};
};

/// @ingroup proteus
/// By dimension of a tensor: the dimensions of the iteration space that run through it, major
/// first.
using DimensionMap = std::vector<std::vector<IterationAxis>>;

/// @ingroup proteus
/// A tensor that an operator reads or writes.
struct Access
{
    TensorId tensor{0};           //!< which one
    DimensionMap map;             //!< how the iteration space runs through it
    bool isDifferentiable{false}; //!< read: whether the backward pass makes its gradient
    bool isLinear{false};         //!< read: whether the result is linear in it alone
    double traffic{1};            //!< how much of it moves through device memory
    /// Write: positions among the reads of those that are summed over the dimensions it lacks.
    std::vector<uint8_t> summands;
};

/// @ingroup proteus
/// Something that an operator or its backward pass reads.
struct DataReference
{
    /// What the index counts.
    enum class Kind : uint8_t
    {
        READ,     //!< reads of the operator
        WRITE,    //!< writes of the operator
        GRADIENT, //!< writes of the operator, whose gradients are meant
    };

    Kind kind{Kind::READ}; //!< what the index counts
    uint8_t index{0};      //!< position
};

/// @ingroup proteus
/// A gradient that a backward part writes.
struct GradientWrite
{
    uint8_t read{0};                     //!< of which read of the operator
    std::vector<DataReference> summands; //!< those that are summed over the dimensions it lacks
    double traffic{1};                   //!< how much of it moves through device memory
    /// Of a sparse gradient: the dimensions whose points list an element each; none if it has all.
    std::vector<IterationAxis> listed{};
};

/// @ingroup proteus
/// An amount of work that is the same for every point of some dimensions.
struct Work
{
    double perPoint{0};                 //!< operations or bytes
    std::vector<IterationAxis> extents; //!< the points are the product of these dimensions
};

/// @ingroup proteus
/// A kernel of an operator: its forward pass, or a piece of its backward pass.
struct OperatorPart
{
    std::string name;                  //!< e.g. "weight-gradient"; "" for the forward pass
    std::vector<DataReference> reads;  //!< backward: what it reads
    std::vector<GradientWrite> writes; //!< backward: what it writes
    std::vector<Work> flops;           //!< floating point operations
    std::vector<Work> bytes;           //!< memory traffic besides that of what it reads and writes
    bool isMatrixProduct{false};       //!< whether the matrix units run it
    bool isWeightGradient{false};      //!< whether nothing but the optimizer waits for it
    bool isView{false};                //!< no kernel: what it writes is what it reads
};

/// @ingroup proteus
/// Features of a head of an attention.
struct HeadWidths
{
    uint64_t key{0};   //!< of queries and keys
    uint64_t value{0}; //!< of values and the result
};

/// @ingroup proteus
/// An operator.
struct ModelOperator
{
    std::string name;                           //!< path in the module tree, e.g. "layer3.qkv"
    std::string kind;                           //!< of GetOperatorKinds()
    std::vector<IterationDimension> dimensions; //!< the iteration space
    std::vector<Access> reads;                  //!< inputs, then parameters
    std::vector<Access> writes;                 //!< results, then what is saved
    OperatorPart forward;                       //!< its forward pass
    std::vector<OperatorPart> backward;         //!< in order; empty where nothing is differentiable
    bool isView{false};                         //!< no kernel: the results are the first input
    bool isExchange{false};                     //!< what it reads is always exchanged all-to-all
    ExpertRouting routing;                      //!< of a dispatch: which experts tokens may get
    std::string tensorParallel;                 //!< dimension that tensor parallelism splits, or ""
    HeadWidths head;                            //!< of an attention
    bool hasDropout{false};                     //!< of an attention that keeps its scores
    bool hasMask{true};    //!< of an attention: whether some scores are left out
    bool isCausal{true};   //!< of an attention: whether tokens see only themselves and those before
    uint64_t documents{1}; //!< of an attention: equal parts of a sequence that see only themselves
    /// Of linear layers of experts: whether the probability of a row's token multiplies its bias.
    bool hasWeightedBias{false};
    /// Of a fused attention: tokens that a token sees, itself and those before it; 0: all before
    /// it.
    uint64_t window{0};

    /// @param name of a dimension, or its number @return its position, NO_ID if there is none
    uint32_t FindDimension(const std::string& name) const;
};

/**
 * @ingroup proteus
 * A model: operators in an order in which they can run. Immutable; made by a ModelBuilder.
 */
class Model
{
  public:
    /// @return its name
    const std::string& GetName() const
    {
        return m_name;
    }

    /// @return the tensors, by TensorId
    const std::vector<ModelTensor>& GetTensors() const
    {
        return m_tensors;
    }

    /// @param id a tensor @return the tensor
    const ModelTensor& GetTensor(TensorId id) const
    {
        return m_tensors[id];
    }

    /// @return the operators, by OperatorId
    const std::vector<ModelOperator>& GetOperators() const
    {
        return m_operators;
    }

    /// @param id an operator @return the operator
    const ModelOperator& GetOperator(OperatorId id) const
    {
        return m_operators[id];
    }

    /// @return elements of all parameters
    uint64_t CountParameters() const;

    /// @return elements of the parameters that are trained
    uint64_t CountTrainedParameters() const;

    /// @return samples of a micro-batch, all replicas together: the extent of "batch" of the inputs
    uint64_t GetBatch() const;

    /// @return tokens of a sample: the extent of "sequence" of the first input that has one, or 1
    uint64_t GetSequence() const;

    /// @param dispatch one of its operators that hands tokens to experts (ModelOperator::routing)
    /// @return what part of the tokens that experts get are there: 1 if all experts get what the
    /// mean one does, less if they get as many as those of the busiest device do
    double GetNeededPart(const ModelOperator& dispatch) const;

    /// @return FLOPs of the matrix products of a forward pass of a micro-batch
    double CountForwardFlops() const;

    /// @return FLOPs of the matrix products of a micro-batch forward and backward: a backward pass
    /// has two for each of the forward pass, less what frozen parameters spare
    double CountTrainingFlops() const;

  private:
    friend class ModelBuilder;

    std::string m_name;
    std::vector<ModelTensor> m_tensors;
    std::vector<ModelOperator> m_operators;
};

/**
 * @ingroup proteus
 * What the description of an operator says besides its inputs: numbers, lists of them, and words.
 */
struct OperatorAttributes
{
    std::map<std::string, std::vector<int64_t>> numbers; //!< e.g. "outputs": {4096}
    std::map<std::string, std::string> words;            //!< e.g. "tensorParallel": "out"
    bool isFrozen{false}; //!< whether its own parameters are not trained
};

/**
 * @ingroup proteus
 * Makes a model, operator by operator.
 */
class ModelBuilder
{
  public:
    /// @param name of the model
    explicit ModelBuilder(const std::string& name);

    /// @param model to add to
    explicit ModelBuilder(const Model& model);

    /**
     * Adds samples or labels.
     * @param name of the tensor
     * @param shape of a micro-batch of all replicas together
     * @param dimensions their names; the first is usually "batch"
     * @param element what an element is
     * @return the tensor
     */
    TensorId AddInput(const std::string& name,
                      const Shape& shape,
                      const std::vector<std::string>& dimensions,
                      ElementKind element = ElementKind::COMPUTE);

    /**
     * Adds an operator behind those that are there.
     * @param kind one of GetOperatorKinds()
     * @param name path in the module tree, distinct
     * @param inputs tensors
     * @param attributes as the kind has them
     * @param shared parameters of other operators to use, by the last part of their names, e.g.
     * "weight"
     * @return its results, without those that are only saved
     * @throw std::invalid_argument that names the operator and what is wrong with it
     */
    std::vector<TensorId> Add(const std::string& kind,
                              const std::string& name,
                              const std::vector<TensorId>& inputs,
                              const OperatorAttributes& attributes = {},
                              const std::map<std::string, TensorId>& shared = {});

    /**
     * Lets an operator keep more for its backward pass: an element per point of its iteration
     * space, which the first kernel of the backward pass reads. Nothing if it has none.
     * @param id the operator
     * @param suffix of the tensor's name behind the operator's
     * @param element what an element is
     */
    void Keep(OperatorId id, const std::string& suffix, ElementKind element);

    /// @param kind of an operator
    /// @throw std::invalid_argument that lists the kinds if there is none of that name
    static void CheckKind(const std::string& kind);

    /**
     * @param kind one of GetOperatorKinds()
     * @param attribute of an operator of that kind
     * @return empty if such operators have it, else what they have in its place, for an error
     * @throw std::invalid_argument that lists the kinds if there is none of that name
     */
    static std::string DescribeUnknown(const std::string& kind, const std::string& attribute);

    /// @param id a tensor @return the tensor
    const ModelTensor& GetTensor(TensorId id) const
    {
        return m_model.m_tensors[id];
    }

    /// @param name path of a tensor @return its id, NO_ID if there is none
    TensorId FindTensor(const std::string& name) const;

    /// @return the model; the builder is empty afterwards
    /// @throw std::invalid_argument if it has no operator
    Model Build();

  private:
    friend class OperatorDraft;

    TensorId AddTensor(ModelTensor tensor);

    Model m_model;
    std::map<std::string, TensorId> m_tensorOf; //!< by path
    std::map<std::string, OperatorId> m_operatorOf;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_H
