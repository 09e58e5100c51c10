/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_OPERATOR_KINDS_H
#define PROTEUS_OPERATOR_KINDS_H

#include "proteus-model.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The kinds of operators. A new kind is one function that fills a draft, and one line in the list
 * of its file.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * An operator in the making: what the function of a kind fills.
 */
class OperatorDraft
{
  public:
    /// The dimension map of a run of dimensions, each with one of the iteration space.
    using Axes = std::vector<IterationAxis>;

    /**
     * @param builder of the model
     * @param name of the operator
     * @param kind of the operator
     * @param inputs its inputs
     * @param attributes what its description says
     * @param shared parameters that it does not make itself
     */
    OperatorDraft(ModelBuilder& builder,
                  const std::string& name,
                  const std::string& kind,
                  const std::vector<TensorId>& inputs,
                  const OperatorAttributes& attributes,
                  const std::map<std::string, TensorId>& shared);

    /// @param cause what is wrong @throw std::invalid_argument always, with the operator's name
    [[noreturn]] void Fail(const std::string& cause) const;

    /// @return number of inputs
    std::size_t GetNInputs() const
    {
        return m_inputs.size();
    }

    /// @param least @param most number of inputs allowed @throw std::invalid_argument
    void CheckInputs(std::size_t least, std::size_t most) const;

    /// @param input its position @return the tensor @throw if there is none
    const ModelTensor& GetInput(std::size_t input) const;

    /// @param name of an attribute @return its number, at least 1 @throw if it is missing
    uint64_t GetNumber(const std::string& name) const;
    /// @param name of an attribute @param otherwise value where it is missing @return its number
    uint64_t GetNumber(const std::string& name, uint64_t otherwise) const;
    /// @param name of an attribute that is 0 or 1 @param otherwise value where it is missing
    /// @return whether it is 1 @throw std::invalid_argument if it is another number
    bool IsOn(const std::string& name, bool otherwise) const;
    /// @param name of an attribute @return its numbers, none where it is missing
    std::vector<uint64_t> GetNumbers(const std::string& name) const;

    /// Adds a dimension of the iteration space. @param name @param extent
    /// @param isSplittable whether devices may share it @return its position
    IterationAxis AddDimension(const std::string& name, uint64_t extent, bool isSplittable = true);

    /// Adds one dimension for each of an input's. @param input its position @param number how many
    /// of its dimensions, from the first @return the dimensions
    Axes AddDimensionsOf(std::size_t input, std::size_t number);

    /**
     * Says how the iteration space runs through an input; inputs are read in their order.
     * @param axes by dimension of the input
     * @param isDifferentiable whether it gets a gradient
     * @param isLinear whether the result is linear in it
     * @return its position among the reads
     */
    uint8_t Read(const Axes& axes, bool isDifferentiable = true, bool isLinear = false);
    /// As above. @param map by dimension of the input @param isDifferentiable @param isLinear
    /// @return its position among the reads
    uint8_t ReadMap(const DimensionMap& map, bool isDifferentiable = true, bool isLinear = false);

    /**
     * Adds a parameter, or takes the shared one of that name.
     * @param suffix e.g. "weight"
     * @param axes of the iteration space, whose extents are its shape
     * @param isLinear whether the result is linear in it
     * @return its position among the reads
     */
    uint8_t Parameter(const std::string& suffix, const Axes& axes, bool isLinear = false);
    /// As above with a shape of its own. @param suffix @param shape @param axes @param isLinear
    /// @return its position among the reads
    uint8_t ParameterOf(const std::string& suffix,
                        const Shape& shape,
                        const Axes& axes,
                        bool isLinear = false);

    /**
     * Adds a result.
     * @param suffix "" for the main one
     * @param shape of it
     * @param map by dimension
     * @param summands reads that are summed over the dimensions it lacks
     * @param element what an element is
     * @param role ACTIVATION or SAVED
     * @return its position among the writes
     */
    uint8_t Write(const std::string& suffix,
                  const Shape& shape,
                  const DimensionMap& map,
                  const std::vector<uint8_t>& summands = {},
                  ElementKind element = ElementKind::COMPUTE,
                  TensorRole role = TensorRole::ACTIVATION);

    /// A result whose shape is that of the axes. @param axes of the iteration space @param summands
    /// @return its position among the writes
    uint8_t WriteAxes(const Axes& axes, const std::vector<uint8_t>& summands = {});

    /// A by-product for the backward pass. @param suffix @param axes of the iteration space
    /// @param element what an element is @return its position among the writes
    uint8_t Save(const std::string& suffix, const Axes& axes, ElementKind element);

    /// @return all dimensions so far
    Axes All() const;

    /// @param part of the backward pass
    void Backward(OperatorPart part);

    /// The backward pass of a kernel that works element by element on what it reads.
    /// @param flopsPerPoint operations @param references what it reads
    /// @param reads whose gradients it writes @param bytes traffic besides that of the tensors
    void ElementwiseBackward(double flopsPerPoint,
                             const std::vector<DataReference>& references,
                             const std::vector<uint8_t>& reads,
                             const std::vector<Work>& bytes = {});

    /// The gradient of a result is the gradient of an input as it stands.
    /// @param write the result @param reads the inputs
    void PassGradient(uint8_t write, const std::vector<uint8_t>& reads);

    /// @return the operator
    ModelOperator& Get()
    {
        return m_operator;
    }

  private:
    friend class ModelBuilder;

    ModelBuilder& m_builder;
    std::vector<TensorId> m_inputs;
    const OperatorAttributes& m_attributes;
    const std::map<std::string, TensorId>& m_shared;
    std::vector<std::string> m_parameters; //!< suffixes of those that it has, its own or shared
    ModelOperator m_operator;
    std::size_t m_nRead{0}; //!< inputs read so far
};

/// @ingroup proteus
/// @param index of a read of the operator @return reference to it
DataReference ReadOf(uint8_t index);
/// @ingroup proteus
/// @param index of a write of the operator @return reference to it
DataReference WriteOf(uint8_t index);
/// @ingroup proteus
/// @param index of a write of the operator @return reference to its gradient
DataReference GradientOf(uint8_t index);

/// @ingroup proteus
/// Name of the backward pass of a table whose gradient lists the rows that were asked for.
constexpr const char* SPARSE_BACKWARD = "sparse-backward";

/// @ingroup proteus
/// A kind of operator.
struct OperatorKind
{
    const char* name;                    //!< as files write it
    std::vector<const char*> attributes; //!< those that it understands
    void (*make)(OperatorDraft& draft);  //!< fills a draft
    /// Names of dimensions that it adds to those of its inputs.
    std::vector<const char*> dimensions{};
};

/// @ingroup proteus
/// @return all kinds
const std::vector<OperatorKind>& GetOperatorKinds();
/// @ingroup proteus
/// @param name of a kind @return the kind @throw std::invalid_argument that lists the known ones
const OperatorKind& FindOperatorKind(const std::string& name);

/// @ingroup proteus
/// @param kind of an operator @param attribute that it may have @return empty if it may, else what
/// there is in its place, for an error
std::string DescribeUnknownAttribute(const OperatorKind& kind, const std::string& attribute);

/// @ingroup proteus
/// y = f(x) element by element. @param draft of the operator @param flops for an element
/// @param backwardFlops for one in the backward pass @param readsResult whether that reads y with
/// the gradient, and not x
void MakeUnary(OperatorDraft& draft, double flops, double backwardFlops, bool readsResult);

/// @ingroup proteus
/// @return linear layers, matrix products, convolutions, embeddings
std::vector<OperatorKind> GetDenseKinds();
/// @ingroup proteus
/// @return normalisations, activations, dropout, sums, pooling
std::vector<OperatorKind> GetElementwiseKinds();
/// @ingroup proteus
/// @return attention and softmax
std::vector<OperatorKind> GetAttentionKinds();
/// @ingroup proteus
/// @return losses
std::vector<OperatorKind> GetLossKinds();
/// @ingroup proteus
/// @return reshape, permute, concat, split, interaction
std::vector<OperatorKind> GetShapeKinds();
/// @ingroup proteus
/// @return what networks of images have besides: sigmoid, silu, their kinds of straight lines,
/// means of channels, scales
std::vector<OperatorKind> GetImageKinds();
/// @ingroup proteus
/// @return routing, dispatch, experts and combination
std::vector<OperatorKind> GetExpertKinds();

/**
 * @ingroup proteus
 * @param window tokens that a token sees, see ModelOperator::window; 0: all before it
 * @param keys tokens of the sequence
 * @return what it leaves of the scores of causal attention, 0 to 1: all but the triangle beyond it
 */
inline double
GetWindowShare(uint64_t window, uint64_t keys)
{
    if (window == 0 || window >= keys)
    {
        return 1;
    }
    const double beyond = 1 - static_cast<double>(window) / static_cast<double>(keys);
    return 1 - beyond * beyond;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_OPERATOR_KINDS_H
