/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_CHECK_H
#define PROTEUS_STUDY_CHECK_H

#include "proteus-command-line-program.h"
#include "proteus-option-list.h"

#include "ns3/proteus-study-json.h"

#include <memory>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What a study may ask of a program: its options, as the program itself checks them, without those
 * that the study sets.
 */
class StudyProgram
{
  public:
    /// @param name of the program @param workloads the folder workloads/
    /// @param folder of the study, where the program runs
    /// @throw std::invalid_argument if there is none, or it has no results that a study can read
    StudyProgram(const std::string& name, const std::string& workloads, const std::string& folder);

    /// @param name as it is typed @return the name of the option, if it is an alias
    const std::string& GetName(const std::string& name) const
    {
        return m_options->Resolve(name);
    }

    /// @param name of an option @param value of it @return the same text for all values that mean
    /// the same
    /// @throw std::invalid_argument if the program does not take it, or the study sets it
    std::string CheckOption(const std::string& name, const std::string& value) const;

    /// @return whether it writes a summary of a run
    bool HasSummary() const
    {
        return m_options->Has("summary");
    }

    /// @param name of an option @return whether it has it
    bool Has(const std::string& name) const
    {
        return m_options->Has(name);
    }

  private:
    std::unique_ptr<CommandLineProgram> m_program; //!< whose variables the options name
    std::unique_ptr<OptionList> m_options;         //!< of it
    std::string m_folder;                          //!< where it runs
};

/// @ingroup proteus
/// @param program that a study names, made as soon as that is read; has to outlive the result
/// @param workloads the folder workloads/ @param fileName of the study
/// @return what a reader of the study asks
StudyCheck MakeStudyCheck(std::unique_ptr<StudyProgram>& program,
                          const std::string& workloads,
                          const std::string& fileName);

/// @ingroup proteus
/// What stands for the number of a point in the value of an option.
constexpr const char* POINT_MARK = "{point}";

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_CHECK_H
