/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MODEL_JSON_H
#define PROTEUS_MODEL_JSON_H

#include "ns3/proteus-model.h"

#include <cstdint>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Models as JSON.
 *
 * The file is one object. Fields in brackets may be left out; any other field is an error. Wherever
 * a number is expected, an expression may stand (EvaluateExpression()).
 *
 * - format: "proteus-model"; version: 1; [name]
 * - [base]: another model file, next to this one, whose inputs, blocks and layers are used; its
 *   variables are overridden by those here
 * - [let]: object of variables. There without being named: "batch" (samples of a micro-batch, all
 *   replicas together) and "tensorParallel", as 1, and what a framework fuses where it is named,
 *   "fusesAttention" and "fusesLoss", and whether several devices may have a head of keys and
 *   values in common, "sharesHeads" (ReadFrameworkJson()), as 0
 * - [switches: list of variables that are 0 or 1; requires: list of objects with holds, a number
 *   that must not be 0, and otherwise, a text that says what is wrong if it is]
 * - [frozen: 1 if no parameter is trained but those of adapters, and of operators with "frozen": 0]
 * - inputs: list of objects with name, shape, [dimensions: their names, by default "batch",
 *   "sequence", "feature"], [element: "compute", "fp32", "mask" or "index"]
 * - [blocks]: object of lists of layers
 * - layers: list of objects
 *
 * A layer is an operator, {"op": KIND, "name": NAME, ...}, with the attributes of its kind as
 * further fields, or a block, {"block": BLOCK, ...}, with [name], [repeat: how often] and [with:
 * object of variables]. Both may have [in: name of the tensor it reads, or a list] and [when: a
 * number, 0 to leave it out]. Without "in" it reads the result of the layer before it.
 *
 * A block with a name is a node of the module tree: its operators are called NAME.OPERATOR, or, if
 * it is repeated, NAME0.OPERATOR and so on, with the variable "index" counting. Inside a block
 * "input" is what the block reads, "input1" the second of several; other names are looked for in
 * the block, then in the one around it. The results of an operator that has several are NAME.0,
 * NAME.1, ... (see the kind). An operator takes parameters of another one by [share: object from
 * its own parameter, e.g. "weight", to the other's path]. Its own parameters are not trained with
 * [frozen: 1].
 *
 * A linear layer may have low-rank adapters (AddAdapters()), which are trained: [adapter: their
 * rank, or a list of one for each result; 0 for none], [adapterShared: 1 if one adapter, of the
 * highest rank, is for all results together], [adapterDropout: 1 if they drop some of what they
 * read], [adapterWide: 1 if they are in fp32 and nothing is autocast]. Whoever reads its results
 * reads them with what the adapters add.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A variable that a model is to get, and has not.
class UnknownVariable : public std::invalid_argument
{
  public:
    /// @param name of it @param text the message
    UnknownVariable(std::string name, const std::string& text)
        : std::invalid_argument(text),
          m_name(std::move(name))
    {
    }

    /// @return its name
    const std::string& GetName() const
    {
        return m_name;
    }

  private:
    std::string m_name;
};

/**
 * @ingroup proteus
 * Reads a model without a base.
 * @param input the text
 * @param fileName for errors
 * @param variables override those of the file, which has to have them
 * @return the model
 * @throw std::invalid_argument of one line: "FILE: /layers/3/outputs: cause"; UnknownVariable
 */
Model ReadModelJson(std::istream& input,
                    const std::string& fileName,
                    const std::map<std::string, int64_t>& variables = {});

/**
 * @ingroup proteus
 * Reads a model and its base. A config.json of Hugging Face transformers is read, too, see
 * TranslateModelConfig(); what is not as it says is warned of.
 * @param path of the file
 * @param variables override those of the file or its base, one of which has to have them
 * @param folder where a base is looked for that is not beside its file; empty: nowhere else. The
 * base of a config.json is there, whatever lies beside it
 * @return the model
 * @throw std::invalid_argument as ReadModelJson(), or if a file cannot be opened
 */
Model LoadModel(const std::string& path,
                const std::map<std::string, int64_t>& variables = {},
                const std::string& folder = "");

/**
 * @ingroup proteus
 * @param path of a model
 * @param folder as LoadModel() has it
 * @return the files that LoadModel() reads: this one, its base, the base of that, and so on
 * @throw std::invalid_argument as LoadModel()
 */
std::vector<std::string> ListModelFiles(const std::string& path, const std::string& folder = "");

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MODEL_JSON_H
