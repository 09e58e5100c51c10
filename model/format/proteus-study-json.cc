/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-json.h"

#include "ns3/proteus-json.h"
#include "ns3/proteus-study-result.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-study";
constexpr uint32_t VERSION = 1;

constexpr double LEAST_PUBLISHED = 1e-18; //!< a published number is above 0
constexpr double MOST_PUBLISHED = 1e30;

/// Names of columns that every study has, which an axis cannot have too.
const std::set<std::string> COLUMNS{"point", "status", "error"};

/// @param json a text, a number, true or false @return it as a command line has it
std::string
ReadScalar(const JsonValue& json)
{
    if (json.IsString())
    {
        return json.AsName();
    }
    const std::string text = json.Shown();
    if (json.IsList() || json.IsObject() || text == "null")
    {
        json.Fail("must be a text, a number, true or false");
    }
    return text;
}

/// Reads studies.
class Reader
{
  public:
    explicit Reader(const StudyCheck& check)
        : m_check(check)
    {
    }

    /// @param root of the file @return the study
    Study Read(const JsonValue& root)
    {
        root.AllowKeys("a study",
                       {"format",
                        "version",
                        "name",
                        "program",
                        "options",
                        "axes",
                        "skip",
                        "table",
                        "row",
                        "measure",
                        "better",
                        "cost",
                        "prices",
                        "published"});
        const JsonValue program = root.Get("program");
        m_study.program = program.AsName();
        program.Check([&] { m_check.program(m_study.program); });
        m_study.name = root.Has("name") ? ReadNotEmpty(root.Get("name"),
                                                       "is empty: leave it out for the program")
                                        : m_study.program;
        if (const auto options = root.Find("options"))
        {
            m_study.options = ReadOptions(*options);
        }
        ReadTable(root);
        const JsonValue axes = root.Get("axes");
        if (axes.Size() == 0)
        {
            axes.Fail("needs at least one axis");
        }
        for (std::size_t i = 0; i < axes.Size(); ++i)
        {
            ReadAxis(axes.At(i));
        }
        if (std::all_of(m_study.axes.begin(), m_study.axes.end(), [](const StudyAxis& axis) {
                return axis.isSpread;
            }))
        {
            axes.Fail("needs an axis that is no spread: nothing is compared");
        }
        ReadSkips(root);
        root.Check([&] { m_points = ListPoints(m_study); });
        ReadPublished(root);
        return m_study;
    }

  private:
    /// Reads where the results are, and which count.
    void ReadTable(const JsonValue& root)
    {
        if (const auto table = root.Find("table"))
        {
            m_study.table = ReadNotEmpty(*table, "names no table: leave it out for the summary");
        }
        if (const auto row = root.Find("row"))
        {
            if (m_study.table.empty())
            {
                row->Fail("belongs to 'table'");
            }
            for (const std::string& column : row->GetKeys())
            {
                m_study.row[column] = ReadScalar(row->Get(column.c_str()));
            }
        }
        if (const auto measure = root.Find("measure"))
        {
            m_study.measure = measure->AsName();
        }
        else if (!m_study.table.empty())
        {
            root.FailMissing("measure", "the column of 'table' that is compared");
        }
        if (const auto better = root.Find("better"))
        {
            if (better->AsName() != "less" && better->AsName() != "more")
            {
                better->Fail("must be 'less' or 'more'");
            }
            m_study.isMostBest = better->AsName() == "more";
        }
        if (const auto prices = root.Find("prices"))
        {
            m_study.prices =
                ReadNotEmpty(*prices, "names no file: leave it out for the usual prices");
        }
        if (const auto cost = root.Find("cost"))
        {
            m_study.cost = cost->AsName();
            if (m_study.cost == m_study.measure)
            {
                cost->Fail("is the measure, too: what it is weighed against is another column");
            }
        }
        const auto bill = GetBillColumns();
        const bool isOfBill = std::any_of(bill.begin(), bill.end(), [this](const Column& column) {
            return column.name == m_study.cost;
        });
        for (const char* key : {"prices", "cost"})
        {
            if (!m_study.table.empty() && root.Has(key) &&
                (isOfBill || key == std::string("prices")))
            {
                root.Get(key).Fail("is of networks, which a study with 'table' does not count: "
                                   "leave it out");
            }
        }
    }

    /// @param json a name @param cause why an empty one fails @return the name
    static std::string ReadNotEmpty(const JsonValue& json, const std::string& cause)
    {
        if (json.AsName().empty())
        {
            json.Fail(cause);
        }
        return json.AsName();
    }

    /// @param json an option's value @param name of it @return the value, checked
    std::string ReadValue(const JsonValue& json, const std::string& name)
    {
        const std::string value = ReadScalar(json);
        m_meanings[{name, value}] = json.Check([&] { return m_check.option(name, value); });
        return value;
    }

    /// @param options that are checked @return what they mean
    StudyOptions GetMeanings(StudyOptions options) const
    {
        for (auto& [name, value] : options)
        {
            value = m_meanings.at({name, value});
        }
        return options;
    }

    /// @param json options by name @return them, without other names of theirs
    StudyOptions ReadOptions(const JsonValue& json)
    {
        StudyOptions options;
        for (const std::string& name : json.GetKeys())
        {
            const JsonValue value = json.Get(name.c_str());
            const std::string option = m_check.name(name);
            if (!options.emplace(option, ReadValue(value, option)).second)
            {
                value.Fail("--" + option + " stands there already, by its other name");
            }
        }
        return options;
    }

    /// @param json a value of an axis @param option that it sets @return it
    StudyValue ReadAxisValue(const JsonValue& json, const std::string& option)
    {
        if (!json.IsObject())
        {
            const std::string value = ReadValue(json, option);
            return {value, {{option, value}}};
        }
        json.AllowKeys("a value of an axis", {"label", "value", "options"});
        StudyValue value{ReadNotEmpty(json.Get("label"), "is empty: rows of tables have it"), {}};
        if (json.Has("value") == json.Has("options"))
        {
            json.Fail("needs either 'value' or 'options'");
        }
        if (const auto options = json.Find("options"))
        {
            value.options = ReadOptions(*options);
        }
        else
        {
            value.options[option] = ReadValue(json.Get("value"), option);
        }
        return value;
    }

    /// @param json "values" of an axis @param option that they set @param axis to fill
    void ReadValues(const JsonValue& json, const std::string& option, StudyAxis& axis)
    {
        if (json.IsString())
        {
            const std::string& text = json.AsName();
            for (const std::size_t number : json.Check([&] { return ParseNumbers(text); }))
            {
                const std::string value = std::to_string(number);
                json.Check([&] { m_check.option(option, value); });
                axis.values.push_back({value, {{option, value}}});
            }
            return;
        }
        for (std::size_t i = 0; i < json.Size(); ++i)
        {
            const JsonValue element = json.At(i);
            const StudyValue value = ReadAxisValue(element, option);
            if (std::any_of(axis.values.begin(), axis.values.end(), [&](const StudyValue& other) {
                    return other.label == value.label;
                }))
            {
                element.Fail("the axis " + axis.name + " has '" + value.label + "' already");
            }
            const auto same =
                std::find_if(axis.values.begin(), axis.values.end(), [&](const StudyValue& other) {
                    return GetMeanings(other.options) == GetMeanings(value.options);
                });
            if (same != axis.values.end())
            {
                element.Fail("'" + value.label + "' sets the same as '" + same->label +
                             "', so that the two are one point");
            }
            axis.values.push_back(value);
        }
        if (axis.values.empty())
        {
            json.Fail("needs at least one value");
        }
    }

    /// @param json an axis, which is added to the study
    void ReadAxis(const JsonValue& json)
    {
        json.AllowKeys("an axis", {"name", "option", "values", "spread"});
        StudyAxis axis;
        const JsonValue name = json.Get("name");
        axis.name = name.AsName();
        if (COLUMNS.count(axis.name) == 1 || axis.name.empty())
        {
            name.Fail("'" + axis.name + "' is the name of another column: choose another one");
        }
        if (std::any_of(m_study.axes.begin(), m_study.axes.end(), [&](const StudyAxis& other) {
                return other.name == axis.name;
            }))
        {
            name.Fail("there is an axis of this name already");
        }
        axis.isSpread = json.Has("spread") && json.Get("spread").AsBool();
        const std::string option =
            m_check.name(json.Has("option") ? json.Get("option").AsName() : axis.name);
        ReadValues(json.Get("values"), option, axis);
        for (const StudyValue& value : axis.values)
        {
            for (const auto& [set, text] : value.options)
            {
                CheckIsFree(json, set, axis.name);
            }
        }
        for (const StudyValue& value : axis.values)
        {
            for (const auto& [set, text] : value.options)
            {
                m_setBy[set] = axis.name;
            }
        }
        m_study.axes.push_back(axis);
    }

    /// @throw std::invalid_argument if an option is set by something else, which would be lost
    void CheckIsFree(const JsonValue& json, const std::string& option, const std::string& axis)
    {
        const auto other = m_setBy.find(option);
        if (other != m_setBy.end())
        {
            json.Fail("the axis " + axis + " sets --" + option + ", as the axis " + other->second +
                      " does");
        }
        if (m_study.options.count(option) == 1)
        {
            json.Fail("the axis " + axis + " sets --" + option +
                      ", which stands in 'options' of the study, too");
        }
    }

    /// Reads which points are left out.
    void ReadSkips(const JsonValue& root)
    {
        const auto skips = root.Find("skip");
        for (std::size_t i = 0; skips && i < skips->Size(); ++i)
        {
            const JsonValue json = skips->At(i);
            StudyFilter filter;
            for (const std::string& name : json.GetKeys())
            {
                const JsonValue label = json.Get(name.c_str());
                filter[name] = ReadScalar(label);
                CheckLabel(json, label, name, filter[name]);
            }
            if (filter.empty())
            {
                json.Fail("would leave all points out: name an axis and a value");
            }
            if (std::find(m_study.skips.begin(), m_study.skips.end(), filter) !=
                m_study.skips.end())
            {
                json.Fail("leaves out the same points as one before it");
            }
            m_study.skips.push_back(filter);
        }
    }

    /// Reads numbers that were measured elsewhere.
    void ReadPublished(const JsonValue& root)
    {
        const auto published = root.Find("published");
        if (!published)
        {
            return;
        }
        published->AllowKeys("published numbers", {"source", "values"});
        m_study.publishedSource =
            ReadNotEmpty(published->Get("source"), "is empty: say where the numbers are from");
        const JsonValue values = published->Get("values");
        if (values.Size() == 0)
        {
            values.Fail("needs at least one number");
        }
        for (std::size_t i = 0; i < values.Size(); ++i)
        {
            const JsonValue json = values.At(i);
            json.AllowKeys("a published number", {"name", "at", "column", "value"});
            StudyPublished number;
            number.name = ReadNotEmpty(json.Get("name"), "is empty: rows of tables have it");
            number.column = json.Has("column") ? json.Get("column").AsName() : m_study.measure;
            const JsonValue at = json.Get("at");
            for (const std::string& name : at.GetKeys())
            {
                const JsonValue label = at.Get(name.c_str());
                number.at[name] = ReadScalar(label);
                CheckLabel(at, label, name, number.at[name]);
            }
            if (std::none_of(m_points.begin(), m_points.end(), [&](const StudyPoint& point) {
                    return HasLabels(m_study, point.labels, number.at);
                }))
            {
                at.Fail("every point of these values is left out by 'skip', so that there is "
                        "nothing to compare with");
            }
            number.value = json.Get("value").AsNumber(LEAST_PUBLISHED, MOST_PUBLISHED);
            if (std::any_of(m_study.published.begin(),
                            m_study.published.end(),
                            [&](const StudyPublished& other) {
                                return other.name == number.name && other.at == number.at &&
                                       other.column == number.column;
                            }))
            {
                json.Fail("'" + number.name + "' is published for these values already");
            }
            m_study.published.push_back(number);
        }
    }

    /// @throw std::invalid_argument if an axis has no such label
    void CheckLabel(const JsonValue& object,
                    const JsonValue& json,
                    const std::string& name,
                    const std::string& label)
    {
        const auto axis = std::find_if(m_study.axes.begin(),
                                       m_study.axes.end(),
                                       [&](const StudyAxis& other) { return other.name == name; });
        if (axis == m_study.axes.end())
        {
            object.Fail("there is no axis '" + name + "'");
        }
        if (std::none_of(axis->values.begin(), axis->values.end(), [&](const StudyValue& value) {
                return value.label == label;
            }))
        {
            json.Fail("the axis " + name + " has no value '" + label + "'");
        }
    }

    const StudyCheck& m_check;
    /// What StudyCheck::option has said of names and values.
    std::map<std::pair<std::string, std::string>, std::string> m_meanings;
    Study m_study;
    std::vector<StudyPoint> m_points;           //!< those that are not left out
    std::map<std::string, std::string> m_setBy; //!< axis by option
};

} // namespace

std::string
FindStudyFolder(const std::string& fileName)
{
    return std::filesystem::absolute(fileName).parent_path().string();
}

Study
ReadStudyJson(std::istream& input, const std::string& fileName, const StudyCheck& check)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    Study study = Reader(check).Read(document.GetRoot());
    study.folder = FindStudyFolder(fileName);
    study.file = fileName;
    return study;
}

} // namespace proteus
} // namespace ns3
