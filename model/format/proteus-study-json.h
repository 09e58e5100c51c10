/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_JSON_H
#define PROTEUS_STUDY_JSON_H

#include "ns3/proteus-study.h"

#include <functional>
#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Studies as JSON files.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a reader of studies asks about programs.
struct StudyCheck
{
    /// @param program of a study @throw std::invalid_argument if there is no such program, or its
    /// results cannot be read
    std::function<void(const std::string& program)> program;
    /// @param name of an option @return the one that it is another name of, or itself
    std::function<std::string(const std::string& name)> name;
    /// @param name of an option @param value of it
    /// @return the same text for all values that mean the same
    /// @throw std::invalid_argument if the program does not take it
    std::function<std::string(const std::string& name, const std::string& value)> option;
};

/// @ingroup proteus
/// @param fileName of a study @return the folder where its programs run, and paths in it begin
std::string FindStudyFolder(const std::string& fileName);

/**
 * @ingroup proteus
 * Reads a study; doc/studies.rst has the fields.
 * @param input the file
 * @param fileName for errors and FindStudyFolder()
 * @param check asked about the program, and every option and value
 * @return the study
 * @throw std::invalid_argument of one line, "FILE: /axes/0/values/1: cause"
 */
Study ReadStudyJson(std::istream& input, const std::string& fileName, const StudyCheck& check);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_JSON_H
