/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-json.h"

#include "proteus-model-adapters.h"
#include "proteus-model-doubts.h"
#include "proteus-model-files.h"
#include "proteus-model-layers.h"
#include "proteus-model-unused.h"
#include "proteus-model-variables.h"

#include "ns3/proteus-adapters.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MAX_REPEAT = 100000;
/// Layers and rounds of blocks; blocks that repeat each other must not run for ever.
constexpr uint64_t MAX_LAYERS = 200000;
/// Blocks within blocks that are still no mistake.
constexpr std::size_t MAX_BLOCK_DEPTH = 20;

/// Where names are looked for.
struct Scope
{
    const Scope* outer{nullptr};
    std::string prefix;           //!< of the names of its operators, e.g. "layer3."
    std::vector<TensorId> inputs; //!< what the block reads
};

/// @return variables that every model has
const std::map<std::string, int64_t>&
GetCommonVariables()
{
    static const std::map<std::string, int64_t> variables{{"batch", 1},
                                                          {"tensorParallel", 1},
                                                          {"fusesAttention", 0},
                                                          {"fusesLoss", 0},
                                                          {"sharesHeads", 0}};
    return variables;
}

/// Reads one model.
class Reader
{
  public:
    Reader(const std::string& name, const std::map<std::string, int64_t>& given)
        : m_builder(name),
          m_given(given)
    {
        for (const auto& [variable, value] : GetCommonVariables())
        {
            m_variables.SetValue(variable, value);
        }
    }

    /// @param root whose variables, and whose "frozen", override those that are there
    void AddVariables(const JsonValue& root)
    {
        if (const auto let = root.Find("let"))
        {
            for (const std::string& name : let->GetKeys())
            {
                const JsonValue value = let->Get(name.c_str());
                if (!value.IsString()) // also where the user sets another one
                {
                    m_variables.Evaluate(value);
                }
                m_variables.SetExpression(name, value);
            }
        }
        if (const auto frozen = root.Find("frozen"))
        {
            m_frozen = *frozen;
        }
    }

    Model Read(const JsonValue& root);

    /// @return where a block stands that is repeated 0 times, of blocks that run nowhere else
    std::vector<std::string> ListIdleBlocks() const;

    /// @param name of a variable @return its value, where none is read from a layer
    int64_t GetVariable(const std::string& name)
    {
        TakeGiven();
        return m_variables.Find(name);
    }

  private:
    void TakeGiven()
    {
        for (const auto& [name, value] : m_given)
        {
            m_variables.SetValue(name, value);
        }
    }

    void ReadInput(const JsonValue& value);
    void ReadLayers(const JsonValue& list, const Scope& scope, const ModelVariables& variables);
    void ReadBlock(const JsonValue& value, const Scope& scope, const ModelVariables& variables);
    void CheckGiven(const JsonValue& root) const;
    /// Checks what the file says of its variables.
    void CheckRequirements(const JsonValue& root) const;
    void CountLayer(const JsonValue& value);
    void ReadOperator(const JsonValue& value, const Scope& scope, const ModelVariables& variables);
    /// @param value an operator @return its attributes
    static OperatorAttributes ReadAttributes(const JsonValue& value,
                                             const ModelVariables& variables);
    std::vector<TensorId> FindInputs(const JsonValue& value, const Scope& scope) const;
    TensorId FindTensor(const JsonValue& name, const Scope& scope) const;

    ModelBuilder m_builder;
    const std::map<std::string, int64_t>& m_given;
    ModelVariables m_variables;
    std::optional<JsonValue> m_blocks;
    std::size_t m_depth{0};
    uint64_t m_nLayers{0};
    std::optional<JsonValue> m_frozen;      //!< whether operators are frozen that do not say it
    std::map<TensorId, TensorId> m_adapted; //!< what adapters put in the place of a result
    TensorId m_current{NO_ID};              //!< result of the layer before
    std::set<std::string> m_run;            //!< blocks that run at least once
    std::vector<std::pair<std::string, JsonValue>> m_never; //!< block and "repeat" that is 0
};

void
Reader::ReadInput(const JsonValue& value)
{
    value.AllowKeys("an input", {"name", "shape", "dimensions", "element"});
    static const std::vector<std::string> usual{"batch", "sequence", "feature"};
    Shape shape;
    const JsonValue list = value.Get("shape");
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        const int64_t extent = m_variables.Evaluate(list.At(i));
        if (extent <= 0)
        {
            list.At(i).Fail("an extent must be at least 1, not " + std::to_string(extent));
        }
        shape.push_back(static_cast<uint64_t>(extent));
    }
    std::vector<std::string> dimensions;
    if (const auto names = value.Find("dimensions"))
    {
        for (std::size_t i = 0; i < names->Size(); ++i)
        {
            dimensions.push_back(names->At(i).AsName());
        }
    }
    else
    {
        for (std::size_t i = 0; i < shape.size(); ++i)
        {
            dimensions.push_back(i < usual.size() ? usual[i] : std::to_string(i));
        }
    }
    ElementKind element = ElementKind::COMPUTE;
    if (const auto text = value.Find("element"))
    {
        const std::map<std::string, ElementKind> known{{"compute", ElementKind::COMPUTE},
                                                       {"fp32", ElementKind::FP32},
                                                       {"mask", ElementKind::MASK},
                                                       {"index", ElementKind::INDEX}};
        const auto found = known.find(text->AsName());
        if (found == known.end())
        {
            text->Fail("choose one of compute, fp32, mask, index");
        }
        element = found->second;
    }
    const std::string name = value.Get("name").AsName();
    const TensorId id =
        value.Check([&] { return m_builder.AddInput(name, shape, dimensions, element); });
    m_current = m_current == NO_ID ? id : m_current;
}

TensorId
Reader::FindTensor(const JsonValue& name, const Scope& scope) const
{
    const std::string& text = name.AsName();
    for (const Scope* inside = &scope; inside; inside = inside->outer)
    {
        if (text.rfind("input", 0) == 0 && inside->outer)
        {
            const std::string number = text.substr(5);
            for (std::size_t i = 0; i < inside->inputs.size(); ++i)
            {
                if (number == (i == 0 ? "" : std::to_string(i)))
                {
                    return inside->inputs[i];
                }
            }
        }
        const TensorId id = m_builder.FindTensor(inside->prefix + text);
        if (id != NO_ID)
        {
            const auto adapted = m_adapted.find(id);
            return adapted == m_adapted.end() ? id : adapted->second;
        }
    }
    name.Fail("there is no tensor of that name before this layer");
}

std::vector<TensorId>
Reader::FindInputs(const JsonValue& value, const Scope& scope) const
{
    if (!value.Has("in"))
    {
        return {m_current};
    }
    std::vector<TensorId> inputs;
    for (const JsonValue& name : ListLayerInputs(value))
    {
        inputs.push_back(FindTensor(name, scope));
    }
    return inputs;
}

void
Reader::CountLayer(const JsonValue& value)
{
    if (++m_nLayers > MAX_LAYERS)
    {
        value.Fail("the model has more than " + std::to_string(MAX_LAYERS) + " layers");
    }
}

OperatorAttributes
Reader::ReadAttributes(const JsonValue& value, const ModelVariables& variables)
{
    OperatorAttributes attributes;
    for (const std::string& key : value.GetKeys())
    {
        const JsonValue field = value.Get(key.c_str());
        if (IsLayerField(key) || IsAdapterField(key) || key == "share")
        {
            continue;
        }
        if (key == "tensorParallel")
        {
            attributes.words[key] = field.AsName();
        }
        else if (field.IsList())
        {
            std::vector<int64_t>& numbers = attributes.numbers[key];
            for (std::size_t i = 0; i < field.Size(); ++i)
            {
                numbers.push_back(variables.Evaluate(field.At(i)));
            }
        }
        else
        {
            attributes.numbers[key] = {variables.Evaluate(field)};
        }
    }
    return attributes;
}

void
Reader::ReadOperator(const JsonValue& value, const Scope& scope, const ModelVariables& variables)
{
    const std::string kind = value.Get("op").AsName();
    const std::string name = scope.prefix + value.Get("name").AsName();
    OperatorAttributes attributes = ReadAttributes(value, variables);
    const auto own = value.Find("frozen");
    const auto& frozen = own ? own : m_frozen;
    attributes.isFrozen = frozen && variables.Evaluate(*frozen) != 0;
    std::map<std::string, TensorId> shared;
    if (const auto share = value.Find("share"))
    {
        for (const std::string& parameter : share->GetKeys())
        {
            shared[parameter] = FindTensor(share->Get(parameter.c_str()), scope);
        }
    }
    const std::vector<TensorId> inputs = FindInputs(value, scope);
    const std::vector<TensorId> results =
        value.Check([&] { return m_builder.Add(kind, name, inputs, attributes, shared); });
    const auto spec = results.empty() ? std::nullopt : ReadAdapterSpec(value, variables);
    const std::vector<TensorId> adapted = spec ? value.Get("adapter").Check([&] {
        return AddAdapters(m_builder, name, inputs[0], results, *spec);
    })
                                               : results;
    for (std::size_t i = 0; i < results.size(); ++i)
    {
        if (adapted[i] != results[i])
        {
            m_adapted[results[i]] = adapted[i];
        }
    }
    m_current = adapted.empty() ? m_current : adapted[0];
}

void
Reader::ReadBlock(const JsonValue& value, const Scope& scope, const ModelVariables& variables)
{
    const JsonValue block = value.Get("block");
    const JsonValue layers = m_blocks->Get(block.AsName().c_str());
    if (++m_depth > MAX_BLOCK_DEPTH)
    {
        block.Fail("blocks use each other more than " + std::to_string(MAX_BLOCK_DEPTH) + " deep");
    }
    const auto times = value.Find("repeat");
    const int64_t repeat = times ? variables.Evaluate(*times) : 1;
    if (repeat < 0 || static_cast<uint64_t>(repeat) > MAX_REPEAT)
    {
        times->Fail("a block can be repeated 0 to " + std::to_string(MAX_REPEAT) + " times, not " +
                    std::to_string(repeat));
    }
    if (repeat == 0)
    {
        m_never.emplace_back(block.AsName(), *times);
    }
    else
    {
        m_run.insert(block.AsName());
    }
    const auto name = value.Find("name");
    std::vector<TensorId> inputs = FindInputs(value, scope);
    for (int64_t i = 0; i < repeat; ++i)
    {
        CountLayer(value);
        ModelVariables inner(&variables);
        inner.SetValue("index", i);
        if (const auto with = value.Find("with"))
        {
            for (const std::string& key : with->GetKeys())
            {
                inner.SetValue(key, variables.Evaluate(with->Get(key.c_str())));
            }
        }
        Scope inside;
        inside.outer = &scope;
        inside.prefix = scope.prefix;
        if (name)
        {
            inside.prefix += name->AsName() + (times ? std::to_string(i) : "") + ".";
        }
        inside.inputs = inputs;
        m_current = inputs.empty() ? m_current : inputs[0];
        ReadLayers(layers, inside, inner);
        if (!inputs.empty())
        {
            inputs[0] = m_current;
        }
    }
    --m_depth;
}

void
Reader::ReadLayers(const JsonValue& list, const Scope& scope, const ModelVariables& variables)
{
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        const JsonValue value = list.At(i);
        CountLayer(value);
        const auto when = value.Find("when");
        if (when && variables.Evaluate(*when) == 0)
        {
            continue;
        }
        if (value.Has("block"))
        {
            ReadBlock(value, scope, variables);
        }
        else
        {
            ReadOperator(value, scope, variables);
        }
    }
}

/// Checks that what is to be overridden is there.
void
Reader::CheckGiven(const JsonValue& root) const
{
    const std::set<std::string> known = m_variables.GetNames();
    for (const auto& [name, value] : m_given)
    {
        if (known.count(name) == 0 && GetCommonVariables().count(name) == 0)
        {
            const std::string meant = Suggest(name, {known.begin(), known.end()});
            throw UnknownVariable(
                name,
                root.Describe("has no variable " + name + (meant.empty() ? "" : "; " + meant)));
        }
    }
}

void
Reader::CheckRequirements(const JsonValue& root) const
{
    const auto switches = root.Find("switches");
    for (std::size_t i = 0; switches && i < switches->Size(); ++i)
    {
        const JsonValue name = switches->At(i);
        const int64_t value = name.Check([&] { return m_variables.Find(name.AsName()); });
        if (value != 0 && value != 1)
        {
            name.Fail(ShownName(name.AsName()) + " is 0 or 1, not " + std::to_string(value));
        }
    }
    const auto conditions = root.Find("requires");
    for (std::size_t i = 0; conditions && i < conditions->Size(); ++i)
    {
        const JsonValue condition = conditions->At(i);
        condition.AllowKeys("what a model requires", {"holds", "otherwise"});
        const std::string text = condition.Get("otherwise").AsString();
        if (m_variables.Evaluate(condition.Get("holds")) == 0)
        {
            condition.Fail(text);
        }
    }
}

std::vector<std::string>
Reader::ListIdleBlocks() const
{
    std::vector<std::string> idle;
    for (const auto& [block, times] : m_never)
    {
        if (m_run.count(block) == 0)
        {
            idle.push_back(times.Describe("is 0, and nothing else runs the block " + block +
                                          ": the model is without it"));
        }
    }
    return idle;
}

Model
Reader::Read(const JsonValue& root)
{
    CheckGiven(root);
    TakeGiven();
    const JsonValue inputs = root.Get("inputs");
    for (std::size_t i = 0; i < inputs.Size(); ++i)
    {
        ReadInput(inputs.At(i));
    }
    CheckRequirements(root);
    m_blocks = root.Find("blocks");
    const JsonValue layers = root.Get("layers");
    CheckModelLayers(inputs, m_blocks, layers, m_variables);
    ReadLayers(layers, Scope(), m_variables);
    Model model = root.Check([&] { return m_builder.Build(); });
    if (model.CountParameters() > 0 && model.CountTrainedParameters() == 0)
    {
        (m_frozen ? *m_frozen : root).Fail("all parameters are frozen: there is nothing to train");
    }
    return model;
}

std::string
GetModelName(const JsonDocument& document, const std::string& fileName)
{
    const auto name = document.GetRoot().Find("name");
    return name ? name->AsName() : fileName;
}

} // namespace

Model
ReadModelJson(std::istream& input,
              const std::string& fileName,
              const std::map<std::string, int64_t>& variables)
{
    const JsonDocument document(input, fileName);
    CheckModelFields(document);
    if (const auto base = document.GetRoot().Find("base"))
    {
        base->Fail("a base can be read from a file only");
    }
    Reader reader(GetModelName(document, fileName), variables);
    reader.AddVariables(document.GetRoot());
    return reader.Read(document.GetRoot());
}

Model
LoadModel(const std::string& path,
          const std::map<std::string, int64_t>& variables,
          const std::string& folder,
          const ModelDoubt& doubt)
{
    const ModelFiles files = OpenModelFiles(path, folder, variables);
    const auto& documents = files.documents;
    for (const std::string& note : files.notes)
    {
        doubt(note);
    }
    for (const std::string& unused : FindUnusedInModel(documents))
    {
        doubt(unused + " is used nowhere");
    }
    Reader reader(GetModelName(*documents[0], path), variables);
    // What a base cannot take is the fault of the file that has it.
    const auto readBase = [&documents](const JsonDocument& document, auto read) {
        try
        {
            return read(document.GetRoot());
        }
        catch (const UnknownVariable&) // which --variables names
        {
            throw;
        }
        catch (const std::invalid_argument& error)
        {
            if (&document == documents[0].get())
            {
                throw;
            }
            throw std::invalid_argument(documents[0]->GetFileName() + ": its base " + error.what());
        }
    };
    for (std::size_t i = documents.size(); i-- > 0;)
    {
        const auto let = documents[i]->GetRoot().Find("let");
        for (const char* name : {"batch", "tensorParallel"})
        {
            if (let && let->Has(name) && variables.count(name) > 0)
            {
                doubt(documents[i]->GetFileName() + ": /let/" + name +
                      ": has no effect: it follows from the strategy");
            }
        }
        if (let && let->Has("index"))
        {
            doubt(documents[i]->GetFileName() +
                  ": /let/index: has no effect in blocks, where it counts their repetitions");
        }
        readBase(*documents[i], [&reader](const JsonValue& root) { reader.AddVariables(root); });
    }
    Model model =
        readBase(*documents.back(), [&reader](const JsonValue& root) { return reader.Read(root); });
    for (const std::string& idle : reader.ListIdleBlocks())
    {
        doubt(idle);
    }
    return model;
}

Model
LoadModel(const std::string& path,
          const std::map<std::string, int64_t>& variables,
          const std::string& folder)
{
    return LoadModel(path, variables, folder, &Warn);
}

int64_t
GetModelVariable(const std::string& path,
                 const std::map<std::string, int64_t>& variables,
                 const std::string& folder,
                 const std::string& name)
{
    const ModelFiles files = OpenModelFiles(path, folder, variables);
    Reader reader(GetModelName(*files.documents[0], path), variables);
    for (std::size_t i = files.documents.size(); i-- > 0;)
    {
        reader.AddVariables(files.documents[i]->GetRoot());
    }
    return reader.GetVariable(name);
}

} // namespace proteus
} // namespace ns3
