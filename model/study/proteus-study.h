/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_H
#define PROTEUS_STUDY_H

#include <cstddef>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Studies: one program, run at every combination of the values of some axes.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Options of a program: values by names without dashes.
using StudyOptions = std::map<std::string, std::string>;

/// @ingroup proteus
/// One value of an axis.
struct StudyValue
{
    std::string label;    //!< what tables call it; no other value of the axis has it
    StudyOptions options; //!< that it sets; may be none
};

/// @ingroup proteus
/// What is varied.
struct StudyAxis
{
    std::string name;               //!< column of tables
    std::vector<StudyValue> values; //!< at least one
    bool isSpread{false}; //!< throws of the same thing (streams, seeds): not compared, but
                          //!< their least and most are shown
};

/// @ingroup proteus
/// Labels by names of axes, of which a point has all.
using StudyFilter = std::map<std::string, std::string>;

/// @ingroup proteus
/// A number that was measured elsewhere, to stand beside those of a study.
struct StudyPublished
{
    std::string name;   //!< what tables call it
    StudyFilter at;     //!< points that it is about: labels by axis
    std::string column; //!< of the study's table, which it is compared with
    double value{0};    //!< the number, above 0
};

/// @ingroup proteus
/// A study as its file has it.
struct Study
{
    std::string name;                      //!< title of the page
    std::string program;                   //!< e.g. "proteus-run"
    StudyOptions options;                  //!< of all points
    std::vector<StudyAxis> axes;           //!< the last one varies fastest
    std::vector<StudyFilter> skips;        //!< points that are left out
    std::string table;                     //!< of the program's --json; empty: its --summary
    StudyFilter row;                       //!< which row of the table: columns and their values
    std::string measure{"iteration_s"};    //!< column that is compared
    bool isMostBest{false};                //!< whether more of it is better
    std::string cost{"network_ports"};     //!< column that it is weighed against
    std::string prices;                    //!< file with a table of prices; empty: the usual one
    std::vector<StudyPublished> published; //!< numbers to compare with
    std::string publishedSource;           //!< where they are from
    std::string folder{"."};               //!< where relative paths in it begin
    std::string file;                      //!< where it stands, for messages; may be empty
};

/// @ingroup proteus
/// One run of the program.
struct StudyPoint
{
    std::size_t number{0};           //!< position among all points of the study, from 1
    std::vector<std::string> labels; //!< by axis
    StudyOptions options;            //!< all that it sets, without those for results
};

/// @ingroup proteus
/// @param study with the axes @param labels of a point, by axis @param filter labels by axis
/// @return whether the point has all of them
bool HasLabels(const Study& study,
               const std::vector<std::string>& labels,
               const StudyFilter& filter);

/**
 * @ingroup proteus
 * @param study any
 * @return its points, those that are left out left out, in the order of the axes' values
 * @throw std::invalid_argument if none is left, or there are more than MAX_STUDY_POINTS
 */
std::vector<StudyPoint> ListPoints(const Study& study);

/// @ingroup proteus
/// Most points of a study.
constexpr std::size_t MAX_STUDY_POINTS = 1000000;

/// @ingroup proteus
/// A part of the points, for one of several machines.
struct StudyShard
{
    std::size_t index{1}; //!< which part, from 1
    std::size_t count{1}; //!< of how many

    /// @param position of a point in ListPoints() @return whether it belongs to the part
    bool Has(std::size_t position) const
    {
        return position % count == index - 1;
    }
};

/**
 * @ingroup proteus
 * @param text "2/8", the second of eight
 * @return the part
 * @throw std::invalid_argument if it is none
 */
StudyShard ParseShard(const std::string& text);

/**
 * @ingroup proteus
 * Whole numbers as a text has them: "1-20", "3", "1-4,8,16".
 * @param text of numbers and ranges, separated by commas
 * @return the numbers, in order of the text
 * @throw std::invalid_argument if it is none, a range goes down, or a number is there twice
 */
std::vector<std::size_t> ParseNumbers(const std::string& text);

/**
 * @ingroup proteus
 * What the result of a point depends on, as a text: two points with the same text have the same
 * result.
 * @param study that it belongs to
 * @param point of it
 * @param version of the programs
 * @param digests of the files that its options name, by option
 * @return lines
 */
std::string DescribeContent(const Study& study,
                            const StudyPoint& point,
                            const std::string& version,
                            const std::map<std::string, std::string>& digests);

/// @ingroup proteus
/// @param text any @return 128 bits that tell it from others, as 32 hexadecimal digits (two FNV-1a
/// sums of 64 bits; for names of files, not against attackers)
std::string Digest(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_H
