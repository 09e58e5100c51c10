/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-dimension-names.h"
#include "proteus-operator-kinds.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nearest-name.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

DimensionMap
ToMap(const OperatorDraft::Axes& axes)
{
    DimensionMap map;
    for (const IterationAxis axis : axes)
    {
        map.push_back({axis});
    }
    return map;
}

} // namespace

DataReference
ReadOf(uint8_t index)
{
    return {DataReference::Kind::READ, index};
}

DataReference
WriteOf(uint8_t index)
{
    return {DataReference::Kind::WRITE, index};
}

DataReference
GradientOf(uint8_t index)
{
    return {DataReference::Kind::GRADIENT, index};
}

const std::vector<OperatorKind>&
GetOperatorKinds()
{
    static const std::vector<OperatorKind> kinds = [] {
        std::vector<OperatorKind> all;
        for (auto get : {GetDenseKinds,
                         GetElementwiseKinds,
                         GetAttentionKinds,
                         GetLossKinds,
                         GetShapeKinds,
                         GetImageKinds,
                         GetExpertKinds})
        {
            std::vector<OperatorKind> some = get();
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }();
    return kinds;
}

const OperatorKind&
FindOperatorKind(const std::string& name)
{
    std::string known;
    for (const OperatorKind& kind : GetOperatorKinds())
    {
        if (kind.name == name)
        {
            return kind;
        }
        AppendName(known, std::string(kind.name));
    }
    throw std::invalid_argument("unknown kind of operator \"" + name + "\": choose one of " +
                                known);
}

const std::set<std::string>&
GetOwnDimensionNames()
{
    static const std::set<std::string> names = [] {
        std::set<std::string> all;
        for (const OperatorKind& kind : GetOperatorKinds())
        {
            all.insert(kind.dimensions.begin(), kind.dimensions.end());
        }
        return all;
    }();
    return names;
}

std::string
DescribeUnknownAttribute(const OperatorKind& kind, const std::string& attribute)
{
    std::vector<std::string> names{"tensorParallel"};
    names.insert(names.end(), kind.attributes.begin(), kind.attributes.end());
    if (std::find(names.begin(), names.end(), attribute) != names.end())
    {
        return "";
    }
    const std::string known = ListNames(names);
    const std::string nearest = FindNearest(attribute, names);
    return "a " + std::string(kind.name) + " has no attribute \"" + attribute + "\", but " + known +
           (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

OperatorDraft::OperatorDraft(ModelBuilder& builder,
                             const std::string& name,
                             const std::string& kind,
                             const std::vector<TensorId>& inputs,
                             const OperatorAttributes& attributes,
                             const std::map<std::string, TensorId>& shared)
    : m_builder(builder),
      m_inputs(inputs),
      m_attributes(attributes),
      m_shared(shared)
{
    m_operator.name = name;
    m_operator.kind = kind;
}

void
OperatorDraft::Fail(const std::string& cause) const
{
    throw std::invalid_argument("operator \"" + m_operator.name + "\" (" + m_operator.kind +
                                "): " + cause);
}

void
OperatorDraft::CheckInputs(std::size_t least, std::size_t most) const
{
    if (m_inputs.size() < least || m_inputs.size() > most)
    {
        Fail("takes " + std::to_string(least) +
             (most == least ? "" : " to " + std::to_string(most)) + " inputs, not " +
             std::to_string(m_inputs.size()));
    }
}

const ModelTensor&
OperatorDraft::GetInput(std::size_t input) const
{
    if (input >= m_inputs.size())
    {
        Fail("input " + std::to_string(input + 1) + " is missing");
    }
    return m_builder.GetTensor(m_inputs[input]);
}

uint64_t
OperatorDraft::GetNumber(const std::string& name) const
{
    const std::vector<uint64_t> numbers = GetNumbers(name);
    if (numbers.size() != 1)
    {
        Fail("attribute \"" + name + "\" must be one number");
    }
    return numbers[0];
}

uint64_t
OperatorDraft::GetNumber(const std::string& name, uint64_t otherwise) const
{
    return m_attributes.numbers.count(name) ? GetNumber(name) : otherwise;
}

bool
OperatorDraft::IsOn(const std::string& name, bool otherwise) const
{
    const uint64_t number = GetNumber(name, otherwise ? 1 : 0);
    if (number > 1)
    {
        Fail("attribute \"" + name + "\" is " + std::to_string(number) + ", must be 0 or 1");
    }
    return number == 1;
}

std::vector<uint64_t>
OperatorDraft::GetNumbers(const std::string& name) const
{
    const auto found = m_attributes.numbers.find(name);
    std::vector<uint64_t> numbers;
    if (found != m_attributes.numbers.end())
    {
        for (const int64_t number : found->second)
        {
            if (number < 0)
            {
                Fail("attribute \"" + name + "\" is " + std::to_string(number) +
                     ", must not be negative");
            }
            numbers.push_back(static_cast<uint64_t>(number));
        }
    }
    return numbers;
}

IterationAxis
OperatorDraft::AddDimension(const std::string& name, uint64_t extent, bool isSplittable)
{
    if (extent == 0)
    {
        Fail("dimension " + name + " has no elements");
    }
    m_operator.dimensions.push_back({name, extent, isSplittable, true});
    return static_cast<IterationAxis>(m_operator.dimensions.size() - 1);
}

OperatorDraft::Axes
OperatorDraft::AddDimensionsOf(std::size_t input, std::size_t number)
{
    const ModelTensor& tensor = GetInput(input);
    if (tensor.shape.size() < number)
    {
        Fail("input \"" + tensor.name + "\" has " + std::to_string(tensor.shape.size()) +
             " dimensions, needs at least " + std::to_string(number));
    }
    Axes axes;
    for (std::size_t i = 0; i < number; ++i)
    {
        axes.push_back(AddDimension(tensor.dimensions[i], tensor.shape[i]));
    }
    return axes;
}

uint8_t
OperatorDraft::Read(const Axes& axes, bool isDifferentiable, bool isLinear)
{
    return ReadMap(ToMap(axes), isDifferentiable, isLinear);
}

uint8_t
OperatorDraft::ReadMap(const DimensionMap& map, bool isDifferentiable, bool isLinear)
{
    const ModelTensor& tensor = GetInput(m_nRead);
    if (map.size() != tensor.shape.size())
    {
        Fail("input \"" + tensor.name + "\" has " + std::to_string(tensor.shape.size()) +
             " dimensions, must have " + std::to_string(map.size()));
    }
    Access access;
    access.tensor = m_inputs[m_nRead++];
    access.map = map;
    // Samples and labels get no gradient, whoever reads them.
    access.isDifferentiable = isDifferentiable && tensor.role != TensorRole::INPUT &&
                              tensor.element == ElementKind::COMPUTE && tensor.needsGradient;
    access.isLinear = isLinear;
    m_operator.reads.push_back(access);
    return static_cast<uint8_t>(m_operator.reads.size() - 1);
}

uint8_t
OperatorDraft::Parameter(const std::string& suffix, const Axes& axes, bool isLinear)
{
    Shape shape;
    for (const IterationAxis axis : axes)
    {
        shape.push_back(m_operator.dimensions[axis].extent);
    }
    return ParameterOf(suffix, shape, axes, isLinear);
}

uint8_t
OperatorDraft::ParameterOf(const std::string& suffix,
                           const Shape& shape,
                           const Axes& axes,
                           bool isLinear)
{
    m_parameters.push_back(suffix);
    Access access;
    access.map = ToMap(axes);
    access.isDifferentiable = !m_attributes.isFrozen;
    access.isLinear = isLinear;
    const auto shared = m_shared.find(suffix);
    if (shared != m_shared.end())
    {
        const ModelTensor& tensor = m_builder.GetTensor(shared->second);
        if (tensor.role != TensorRole::PARAMETER || tensor.shape != shape)
        {
            Fail("shares \"" + tensor.name + "\" as its " + suffix +
                 ", which is no parameter of the shape it needs");
        }
        access.tensor = shared->second;
        access.isDifferentiable = tensor.needsGradient;
    }
    else
    {
        ModelTensor tensor;
        tensor.name = m_operator.name + "." + suffix;
        tensor.shape = shape;
        for (const IterationAxis axis : axes)
        {
            tensor.dimensions.push_back(m_operator.dimensions[axis].name);
        }
        tensor.role = TensorRole::PARAMETER;
        tensor.needsGradient = access.isDifferentiable;
        access.tensor = m_builder.AddTensor(std::move(tensor));
    }
    m_operator.reads.push_back(access);
    return static_cast<uint8_t>(m_operator.reads.size() - 1);
}

uint8_t
OperatorDraft::Write(const std::string& suffix,
                     const Shape& shape,
                     const DimensionMap& map,
                     const std::vector<uint8_t>& summands,
                     ElementKind element,
                     TensorRole role)
{
    ModelTensor tensor;
    tensor.name = m_operator.name + (suffix.empty() ? "" : "." + suffix);
    tensor.shape = shape;
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        tensor.dimensions.push_back(map[i].empty() ? "" : m_operator.dimensions[map[i][0]].name);
    }
    tensor.element = element;
    tensor.role = role;
    Access access;
    access.map = map;
    access.summands = summands;
    access.tensor = m_builder.AddTensor(std::move(tensor));
    m_operator.writes.push_back(access);
    return static_cast<uint8_t>(m_operator.writes.size() - 1);
}

uint8_t
OperatorDraft::WriteAxes(const Axes& axes, const std::vector<uint8_t>& summands)
{
    Shape shape;
    for (const IterationAxis axis : axes)
    {
        shape.push_back(m_operator.dimensions[axis].extent);
    }
    return Write("", shape, ToMap(axes), summands);
}

uint8_t
OperatorDraft::Save(const std::string& suffix, const Axes& axes, ElementKind element)
{
    Shape shape;
    for (const IterationAxis axis : axes)
    {
        shape.push_back(m_operator.dimensions[axis].extent);
    }
    return Write(suffix, shape, ToMap(axes), {}, element, TensorRole::SAVED);
}

OperatorDraft::Axes
OperatorDraft::All() const
{
    Axes axes(m_operator.dimensions.size());
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

void
OperatorDraft::Backward(OperatorPart part)
{
    // A part whose gradients nobody asks for has nothing to do.
    auto& writes = part.writes;
    writes.erase(std::remove_if(writes.begin(),
                                writes.end(),
                                [&](const GradientWrite& write) {
                                    return !m_operator.reads[write.read].isDifferentiable;
                                }),
                 writes.end());
    if (!writes.empty())
    {
        m_operator.backward.push_back(std::move(part));
    }
}

void
OperatorDraft::ElementwiseBackward(double flopsPerPoint,
                                   const std::vector<DataReference>& references,
                                   const std::vector<uint8_t>& reads,
                                   const std::vector<Work>& bytes)
{
    OperatorPart part;
    part.name = "backward";
    part.reads = references;
    part.flops = {{flopsPerPoint, All()}};
    part.bytes = bytes;
    for (const uint8_t read : reads)
    {
        part.writes.push_back({read, references, 1});
    }
    Backward(part);
}

void
OperatorDraft::PassGradient(uint8_t write, const std::vector<uint8_t>& reads)
{
    OperatorPart part;
    part.name = "backward";
    part.reads = {GradientOf(write)};
    part.isView = true;
    for (const uint8_t read : reads)
    {
        part.writes.push_back({read, part.reads, 1});
    }
    Backward(part);
}

} // namespace proteus
} // namespace ns3
