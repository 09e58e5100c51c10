/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-model-files.h"

#include "proteus-base-file.h"
#include "proteus-input-file.h"
#include "proteus-model-config.h"
#include "proteus-model-json.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Refuses what is read of the last base alone.
/// @param root of the file of a model that has a base
void
CheckDerived(const JsonValue& root)
{
    for (const char* key : {"switches", "requires", "inputs", "blocks", "layers"})
    {
        if (const auto field = root.Find(key))
        {
            field->Fail("a file with a \"base\" has the base's; it may set variables (\"let\") and "
                        "what is \"frozen\". Without \"base\", this file is a model of its own");
        }
    }
}

} // namespace

void
CheckModelFields(const JsonDocument& document)
{
    document.CheckFormat("proteus-model", 1);
    document.GetRoot().AllowKeys("a model",
                                 {"format",
                                  "version",
                                  "name",
                                  "source",
                                  "base",
                                  "let",
                                  "switches",
                                  "requires",
                                  "frozen",
                                  "inputs",
                                  "blocks",
                                  "layers"});
}

ModelFiles
OpenModelFiles(const std::string& path,
               const std::string& folder,
               const std::map<std::string, int64_t>& variables)
{
    ModelFiles files;
    auto& documents = files.documents;
    std::string next = path;
    while (!next.empty())
    {
        const auto read = [&documents, &next]() {
            InputFile file(next);
            documents.push_back(std::make_unique<JsonDocument>(file.GetStream(), next));
        };
        CheckBases(next, documents.size());
        if (documents.empty())
        {
            read();
        }
        else
        {
            documents.back()->GetRoot().Get("base").Check(read);
        }
        files.paths.push_back(next);
        const bool isConfig = documents.size() == 1 && IsModelConfig(documents[0]->GetRoot());
        if (isConfig)
        {
            documents[0] =
                TranslateModelConfig(documents[0]->GetRoot(), path, variables, files.notes);
        }
        CheckModelFields(*documents.back());
        const auto base = documents.back()->GetRoot().Find("base");
        if (base)
        {
            CheckDerived(documents.back()->GetRoot());
        }
        // What a config.json becomes has the module's base, whatever lies beside it.
        const std::string place = isConfig && !folder.empty() ? folder + "/" : next;
        next = !base ? "" : FindBaseFile(place, base->AsName(), folder);
    }
    return files;
}

std::vector<std::string>
ListModelFiles(const std::string& path, const std::string& folder)
{
    return OpenModelFiles(path, folder, {}).paths;
}

} // namespace proteus
} // namespace ns3
