/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-layers.h"

#include "proteus-model-adapters.h"

#include "ns3/proteus-dimension-names.h"
#include "ns3/proteus-model.h"

#include <set>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

/// Checks the layers of one file.
class LayerChecker
{
  public:
    /// @param blocks by name @param variables of the model
    LayerChecker(const std::optional<JsonValue>& blocks, const ModelVariables& variables)
        : m_blocks(blocks),
          m_variables(variables)
    {
    }

    /// @param list of layers, which may hand variables to blocks
    void AddNamesForBlocks(const JsonValue& list);
    /// @param list of inputs or layers, whose names tensors may have
    void AddTensorNames(const JsonValue& list);
    /// @param list of inputs, whose dimensions operators may have
    void AddDimensionNames(const JsonValue& list);
    /// @param list of layers
    void Check(const JsonValue& list) const;

  private:
    void CheckLayer(const JsonValue& value) const;
    void CheckOperator(const JsonValue& value) const;
    /// Numbers and expressions, or lists of them.
    void CheckNumbers(const JsonValue& value) const;
    /// @param name of an input of a layer, of which a part has to be that of a layer or an input
    void CheckTensorName(const JsonValue& name) const;
    /// @param name of a dimension of some operator
    void CheckDimensionName(const JsonValue& name) const;

    const std::optional<JsonValue>& m_blocks;
    const ModelVariables& m_variables;
    std::set<std::string> m_names{"index"}; //!< of variables that blocks have besides
    std::set<std::string> m_tensors;        //!< names of inputs and layers of the whole file
    std::set<std::string> m_dimensions{"batch", "sequence", "feature"}; //!< of inputs
};

void
LayerChecker::CheckLayer(const JsonValue& value) const
{
    if (value.Has("block"))
    {
        value.AllowKeys("a block", {"block", "name", "in", "when", "repeat", "with"});
        const JsonValue block = value.Get("block");
        if (!m_blocks || !m_blocks->Has(block.AsName().c_str()))
        {
            block.Fail("there is no such block in \"blocks\"");
        }
    }
    else
    {
        CheckOperator(value);
    }
    for (const char* key : {"when", "repeat", "frozen"})
    {
        if (const auto number = value.Find(key))
        {
            m_variables.Check(*number, m_names);
        }
    }
    if (const auto with = value.Find("with"))
    {
        for (const std::string& name : with->GetKeys())
        {
            m_variables.Check(with->Get(name.c_str()), m_names);
        }
    }
    for (const JsonValue& name : ListLayerInputs(value))
    {
        CheckTensorName(name);
    }
    const auto share = value.Find("share");
    for (const std::string& parameter : share ? share->GetKeys() : std::vector<std::string>())
    {
        CheckTensorName(share->Get(parameter.c_str()));
    }
}

void
LayerChecker::CheckDimensionName(const JsonValue& name) const
{
    const std::string& text = name.AsName();
    const bool isNumber = text.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber && m_dimensions.count(text) == 0 && GetOwnDimensionNames().count(text) == 0)
    {
        name.Fail("no operator has a dimension of that name");
    }
}

void
LayerChecker::CheckTensorName(const JsonValue& name) const
{
    // A result is NAME or NAME.NUMBER, behind the names of the blocks it stands in. What a block is
    // given is input, input1 and so on.
    std::istringstream parts(name.AsName());
    for (std::string part; std::getline(parts, part, '.');)
    {
        const std::string stem = part.substr(0, part.find_last_not_of("0123456789") + 1);
        if (stem == "input" || m_tensors.count(part) > 0 || m_tensors.count(stem) > 0)
        {
            return;
        }
    }
    name.Fail("there is no tensor of that name before this layer");
}

void
LayerChecker::CheckOperator(const JsonValue& value) const
{
    const JsonValue op = value.Get("op");
    const std::string& kind = op.AsName();
    op.Check([&] { ModelBuilder::CheckKind(kind); });
    for (const char* key : {"adapterShared", "adapterDropout", "adapterWide"})
    {
        if (value.Has(key) && !value.Has("adapter"))
        {
            value.Get(key).Fail("belongs to an adapter: add \"adapter\", its rank");
        }
    }
    for (const std::string& key : value.GetKeys())
    {
        const JsonValue field = value.Get(key.c_str());
        if (IsAdapterField(key) && kind != "linear")
        {
            field.Fail("only a linear layer has an adapter");
        }
        if (IsLayerField(key) || IsAdapterField(key) || key == "share")
        {
            continue;
        }
        const std::string unknown =
            value.Check([&] { return ModelBuilder::DescribeUnknown(kind, key); });
        if (!unknown.empty())
        {
            field.Fail(unknown);
        }
        if (key == "tensorParallel")
        {
            CheckDimensionName(field);
        }
        else
        {
            CheckNumbers(field);
        }
    }
    value.Get("name").AsName();
}

void
LayerChecker::CheckNumbers(const JsonValue& value) const
{
    if (!value.IsList())
    {
        m_variables.Check(value, m_names);
        return;
    }
    for (std::size_t i = 0; i < value.Size(); ++i)
    {
        m_variables.Check(value.At(i), m_names);
    }
}

void
LayerChecker::AddNamesForBlocks(const JsonValue& list)
{
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        if (const auto with = list.At(i).Find("with"))
        {
            const std::vector<std::string> keys = with->GetKeys();
            m_names.insert(keys.begin(), keys.end());
        }
    }
}

void
LayerChecker::AddTensorNames(const JsonValue& list)
{
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        if (const auto name = list.At(i).Find("name"))
        {
            // Layers may be called as dotted parts of a name are: embedding.word.
            std::istringstream parts(name->AsName());
            for (std::string part; std::getline(parts, part, '.');)
            {
                m_tensors.insert(part);
            }
        }
    }
}

void
LayerChecker::AddDimensionNames(const JsonValue& list)
{
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        const auto names = list.At(i).Find("dimensions");
        for (std::size_t k = 0; names && k < names->Size(); ++k)
        {
            m_dimensions.insert(names->At(k).AsName());
        }
    }
}

void
LayerChecker::Check(const JsonValue& list) const
{
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        CheckLayer(list.At(i));
    }
}

} // namespace

bool
IsLayerField(const std::string& key)
{
    return key == "op" || key == "name" || key == "in" || key == "when" || key == "frozen";
}

std::vector<JsonValue>
ListLayerInputs(const JsonValue& value)
{
    std::vector<JsonValue> names;
    if (const auto in = value.Find("in"); in && !in->IsList())
    {
        names.push_back(*in);
    }
    else if (in)
    {
        for (std::size_t i = 0; i < in->Size(); ++i)
        {
            names.push_back(in->At(i));
        }
    }
    return names;
}

void
CheckModelLayers(const JsonValue& inputs,
                 const std::optional<JsonValue>& blocks,
                 const JsonValue& layers,
                 const ModelVariables& variables)
{
    std::vector<JsonValue> lists;
    for (const std::string& name : blocks ? blocks->GetKeys() : std::vector<std::string>())
    {
        lists.push_back(blocks->Get(name.c_str()));
    }
    lists.push_back(layers);
    LayerChecker checker(blocks, variables);
    checker.AddTensorNames(inputs);
    checker.AddDimensionNames(inputs);
    for (const JsonValue& list : lists)
    {
        checker.AddNamesForBlocks(list);
        checker.AddTensorNames(list);
    }
    for (const JsonValue& list : lists)
    {
        checker.Check(list);
    }
}

} // namespace proteus
} // namespace ns3
