/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_RUN_H
#define PROTEUS_STUDY_RUN_H

#include "ns3/proteus-study-result.h"
#include "ns3/proteus-study.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Results of points in folders, a file each. A file appears only when it is whole; its name is a
 * digest of all that the result depends on (DescribeContent()), and the text of that stands in it.
 */
class StudyStore
{
  public:
    /// @param folders where to look, all of which must be there but the first, which is made and
    /// written to
    /// @throw std::invalid_argument if one is not there
    explicit StudyStore(const std::vector<std::string>& folders);

    /// @param content of a point, see DescribeContent() @return its result, if there is one
    std::optional<StudyResult> Load(const std::string& content) const;

    /// @param content of a point @param result of it @param wallS seconds that it took
    /// @throw std::invalid_argument if it cannot be written
    void Save(const std::string& content, const StudyResult& result, double wallS) const;

    /// @return the folder that is written to
    const std::string& GetFolder() const
    {
        return m_folders.front();
    }

  private:
    std::vector<std::string> m_folders; //!< the first is written to
};

/// @ingroup proteus
/// @param options of a program, by name @param folder that relative paths are in; empty: the one of
/// the process @param workloads the folder workloads/, for models and frameworks that are named
/// @return by option, a digest of the files that its value names, of a folder of traces, and of
/// files that texts in a file of JSON name in turn
std::map<std::string, std::string> DigestFiles(const StudyOptions& options,
                                               const std::string& folder,
                                               const std::string& workloads);

/// @ingroup proteus
/// How a study is run.
struct StudyRunOptions
{
    std::string executable;       //!< that becomes the program of the study
    std::string workloads;        //!< folder workloads/
    std::size_t jobs{1};          //!< processes at once
    StudyShard shard;             //!< which points
    bool retriesFailed{false};    //!< whether points that the program refused run again
    bool quiet{false};            //!< no progress
    std::vector<std::string> set; //!< options for results that the program gets, "{file}" in them
};

/// @ingroup proteus
/// What came of it.
struct StudyOutcome
{
    std::vector<StudyPoint> points;      //!< of the shard
    std::vector<StudyResult> results;    //!< of each
    std::size_t ran{0};                  //!< now
    std::size_t found{0};                //!< there already
    std::size_t retried{0};              //!< there already, refused, and to be run again
    std::size_t failed{0};               //!< of both, refused by the program
    std::vector<std::string> unfinished; //!< why points have no result
};

/**
 * @ingroup proteus
 * Runs the points of a study that have no result yet, each in a process of its own, several at
 * once, and keeps every result as soon as it is there.
 * @param study to run
 * @param store of results
 * @param options how
 * @return what came of it
 * @throw std::invalid_argument, std::runtime_error if files cannot be read or written, or no
 * process can be started
 */
StudyOutcome RunStudy(const Study& study, const StudyStore& store, const StudyRunOptions& options);

/// @ingroup proteus
/// @param study that has run @param outcome of it
/// @throw std::runtime_error that names study and point if points have no result, or the program
/// has refused every one
void RequireResults(const Study& study, const StudyOutcome& outcome);

/// @ingroup proteus
/// In StudyRunOptions::set: the file that the program writes its results to.
constexpr const char* RESULT_MARK = "{file}";

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_RUN_H
