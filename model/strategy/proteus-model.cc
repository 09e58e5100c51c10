/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model.h"

#include "proteus-operator-kinds.h"

#include "ns3/proteus-comma-list.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

uint32_t
ModelOperator::FindDimension(const std::string& dimension) const
{
    for (uint32_t i = 0; i < dimensions.size(); ++i)
    {
        if (dimensions[i].name == dimension || std::to_string(i) == dimension)
        {
            return i;
        }
    }
    return NO_ID;
}

namespace
{

/// @param tensors of a model @param isCounted which parameters are meant @return their elements
template <typename Predicate>
uint64_t
CountElements(const std::vector<ModelTensor>& tensors, Predicate&& isCounted)
{
    uint64_t count = 0;
    for (const ModelTensor& tensor : tensors)
    {
        if (tensor.role == TensorRole::PARAMETER && isCounted(tensor))
        {
            uint64_t elements = 1;
            for (const uint64_t extent : tensor.shape)
            {
                elements *= extent;
            }
            count += elements;
        }
    }
    return count;
}

/// @param op an operator @return FLOPs of the matrix products of its forward pass
double
CountProductFlops(const ModelOperator& op)
{
    double flops = 0;
    for (const Work& work : op.forward.flops)
    {
        double points = op.forward.isMatrixProduct ? work.perPoint : 0;
        for (const IterationAxis axis : work.extents)
        {
            points *= static_cast<double>(op.dimensions[axis].extent);
        }
        flops += points;
    }
    return flops;
}

/// @param model to look at
/// @return for each of its operators what part of its work is of tokens that there are: less than 1
/// for experts all of which are as busy as the busiest (MakeDispatch())
std::vector<double>
FindNeededParts(const Model& model)
{
    std::vector<double> ofTensor(model.GetTensors().size(), 1);
    std::vector<double> parts;
    for (const ModelOperator& op : model.GetOperators())
    {
        double part = op.reads.empty() || op.kind == "combine" ? 1 : ofTensor[op.reads[0].tensor];
        parts.push_back(part);
        part = op.routing.experts > 0 ? model.GetNeededPart(op) : part;
        for (const Access& write : op.writes)
        {
            ofTensor[write.tensor] = part;
        }
    }
    return parts;
}

} // namespace

uint64_t
Model::CountParameters() const
{
    return CountElements(m_tensors, [](const ModelTensor&) { return true; });
}

uint64_t
Model::CountTrainedParameters() const
{
    return CountElements(m_tensors, [](const ModelTensor& tensor) { return tensor.needsGradient; });
}

uint64_t
Model::GetBatch() const
{
    for (const ModelTensor& tensor : m_tensors)
    {
        for (std::size_t i = 0; i < tensor.shape.size() && tensor.role == TensorRole::INPUT; ++i)
        {
            if (tensor.dimensions[i] == "batch")
            {
                return tensor.shape[i];
            }
        }
    }
    return 1;
}

uint64_t
Model::GetSequence() const
{
    for (const ModelTensor& tensor : m_tensors)
    {
        for (std::size_t i = 0; i < tensor.shape.size() && tensor.role == TensorRole::INPUT; ++i)
        {
            if (tensor.dimensions[i] == "sequence")
            {
                return tensor.shape[i];
            }
        }
    }
    return 1;
}

double
Model::GetNeededPart(const ModelOperator& dispatch) const
{
    const auto count = [this](const Access& access) {
        const std::vector<uint64_t>& shape = GetTensor(access.tensor).shape;
        return static_cast<double>(shape[0] * shape[1]);
    };
    return count(dispatch.reads[0]) * static_cast<double>(dispatch.routing.top) /
           count(dispatch.writes[0]);
}

double
Model::CountForwardFlops() const
{
    const std::vector<double> parts = FindNeededParts(*this);
    double flops = 0;
    for (std::size_t i = 0; i < m_operators.size(); ++i)
    {
        flops += parts[i] * CountProductFlops(m_operators[i]);
    }
    return flops;
}

double
Model::CountTrainingFlops() const
{
    const bool isWhole = CountTrainedParameters() == CountParameters();
    const std::vector<double> parts = FindNeededParts(*this);
    double flops = 0;
    for (std::size_t i = 0; i < m_operators.size(); ++i)
    {
        const ModelOperator& op = m_operators[i];
        // Of the two products of the backward pass one is the gradient of the weights, or of an
        // operator without weights both are that of what it reads.
        bool hasParameters = false;
        bool isWeightTrained = false;
        bool isInputTrained = false;
        for (const Access& read : op.reads)
        {
            const ModelTensor& tensor = m_tensors[read.tensor];
            const bool isParameter = tensor.role == TensorRole::PARAMETER;
            hasParameters = hasParameters || isParameter;
            (isParameter ? isWeightTrained : isInputTrained) |= read.isDifferentiable;
        }
        const int nBackward = isWhole          ? 2
                              : hasParameters  ? int{isWeightTrained} + int{isInputTrained}
                              : isInputTrained ? 2
                                               : 0;
        flops += parts[i] * (1 + nBackward) * CountProductFlops(op);
    }
    return flops;
}

ModelBuilder::ModelBuilder(const std::string& name)
{
    m_model.m_name = name;
}

ModelBuilder::ModelBuilder(const Model& model)
    : m_model(model)
{
    for (TensorId id = 0; id < model.GetTensors().size(); ++id)
    {
        m_tensorOf.emplace(model.GetTensor(id).name, id);
    }
    for (OperatorId id = 0; id < model.GetOperators().size(); ++id)
    {
        m_operatorOf.emplace(model.GetOperator(id).name, id);
    }
}

TensorId
ModelBuilder::AddTensor(ModelTensor tensor)
{
    const auto id = static_cast<TensorId>(m_model.m_tensors.size());
    if (!m_tensorOf.emplace(tensor.name, id).second)
    {
        throw std::invalid_argument("model " + m_model.m_name + ": two tensors are called \"" +
                                    tensor.name + "\"");
    }
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    {
        if (tensor.shape[i] == 0)
        {
            throw std::invalid_argument("model " + m_model.m_name + ": dimension " +
                                        std::to_string(i) + " (" + tensor.dimensions[i] +
                                        ") of tensor \"" + tensor.name + "\" is 0");
        }
    }
    m_model.m_tensors.push_back(std::move(tensor));
    return id;
}

TensorId
ModelBuilder::AddInput(const std::string& name,
                       const Shape& shape,
                       const std::vector<std::string>& dimensions,
                       ElementKind element)
{
    if (shape.size() != dimensions.size())
    {
        throw std::invalid_argument("model " + m_model.m_name + ": input \"" + name + "\" has " +
                                    std::to_string(shape.size()) + " dimensions and " +
                                    std::to_string(dimensions.size()) + " names for them");
    }
    return AddTensor({name, shape, dimensions, element, TensorRole::INPUT, NO_ID});
}

namespace
{

/// Refuses attributes that a kind of operator does not know.
void
CheckAttributes(const OperatorDraft& draft,
                const OperatorKind& kind,
                const OperatorAttributes& attributes)
{
    std::vector<std::string> names;
    for (const auto& [attribute, values] : attributes.numbers)
    {
        names.push_back(attribute);
    }
    for (const auto& [attribute, word] : attributes.words)
    {
        names.push_back(attribute);
    }
    for (const std::string& name : names)
    {
        const std::string unknown = DescribeUnknownAttribute(kind, name);
        if (!unknown.empty())
        {
            draft.Fail(unknown);
        }
    }
}

/// Where a tensor has several elements per point, parts of points have to be equal.
void
FindUneven(const std::vector<ModelTensor>& tensors, ModelOperator& op)
{
    for (const std::vector<Access>* accesses : {&op.reads, &op.writes})
    {
        for (const Access& access : *accesses)
        {
            const Shape& shape = tensors[access.tensor].shape;
            for (std::size_t i = 0; i < shape.size(); ++i)
            {
                for (const IterationAxis axis : access.map[i])
                {
                    if (op.dimensions[axis].extent != shape[i])
                    {
                        op.dimensions[axis].isUnevenAllowed = false;
                    }
                }
            }
        }
    }
}

} // namespace

void
ModelBuilder::CheckKind(const std::string& kind)
{
    FindOperatorKind(kind);
}

std::string
ModelBuilder::DescribeUnknown(const std::string& kind, const std::string& attribute)
{
    return DescribeUnknownAttribute(FindOperatorKind(kind), attribute);
}

std::vector<TensorId>
ModelBuilder::Add(const std::string& kind,
                  const std::string& name,
                  const std::vector<TensorId>& inputs,
                  const OperatorAttributes& attributes,
                  const std::map<std::string, TensorId>& shared)
{
    const auto id = static_cast<OperatorId>(m_model.m_operators.size());
    OperatorDraft draft(*this, name, kind, inputs, attributes, shared);
    if (!m_operatorOf.emplace(name, id).second)
    {
        draft.Fail("another operator has the same name");
    }
    const OperatorKind& found = FindOperatorKind(kind);
    CheckAttributes(draft, found, attributes);
    found.make(draft);
    ModelOperator& op = draft.Get();
    if (draft.m_nRead != inputs.size())
    {
        draft.Fail("a " + kind + " takes " + std::to_string(draft.m_nRead) + " inputs, not " +
                   std::to_string(inputs.size()));
    }
    for (const auto& [parameter, tensor] : shared)
    {
        const auto& known = draft.m_parameters;
        if (std::find(known.begin(), known.end(), parameter) == known.end())
        {
            draft.Fail("shares \"" + parameter + "\", which is none of its parameters" +
                       (known.empty() ? "" : ": " + ListNames(known)));
        }
    }
    const auto word = attributes.words.find("tensorParallel");
    if (word != attributes.words.end())
    {
        op.tensorParallel = word->second;
        if (op.FindDimension(op.tensorParallel) == NO_ID)
        {
            draft.Fail("tensorParallel names the dimension \"" + op.tensorParallel +
                       "\", which it does not have");
        }
    }
    FindUneven(m_model.GetTensors(), op);
    std::vector<TensorId> results;
    const bool isTrained = std::any_of(op.reads.begin(), op.reads.end(), [](const Access& read) {
        return read.isDifferentiable;
    });
    for (const Access& write : op.writes)
    {
        ModelTensor& tensor = m_model.m_tensors[write.tensor];
        tensor.producer = id;
        tensor.needsGradient = isTrained;
        if (tensor.role == TensorRole::ACTIVATION)
        {
            results.push_back(write.tensor);
        }
    }
    m_model.m_operators.push_back(op);
    return results;
}

void
ModelBuilder::Keep(OperatorId id, const std::string& suffix, ElementKind element)
{
    ModelOperator& op = m_model.m_operators[id];
    if (op.backward.empty())
    {
        return;
    }
    ModelTensor tensor;
    Access access;
    tensor.name = op.name + "." + suffix;
    tensor.element = element;
    tensor.role = TensorRole::SAVED;
    tensor.producer = id;
    for (IterationAxis axis = 0; axis < op.dimensions.size(); ++axis)
    {
        tensor.shape.push_back(op.dimensions[axis].extent);
        tensor.dimensions.push_back(op.dimensions[axis].name);
        access.map.push_back({axis});
    }
    access.tensor = AddTensor(std::move(tensor));
    op.backward.front().reads.push_back(
        {DataReference::Kind::WRITE, static_cast<uint8_t>(op.writes.size())});
    op.writes.push_back(access);
}

TensorId
ModelBuilder::FindTensor(const std::string& name) const
{
    const auto found = m_tensorOf.find(name);
    return found == m_tensorOf.end() ? NO_ID : found->second;
}

Model
ModelBuilder::Build()
{
    if (m_model.m_operators.empty())
    {
        throw std::invalid_argument("model " + m_model.m_name + " has no operators");
    }
    Model model = std::move(m_model);
    m_model = Model();
    m_tensorOf.clear();
    m_operatorOf.clear();
    return model;
}

} // namespace proteus
} // namespace ns3
