/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_XML_H
#define PROTEUS_XML_H

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What readers of XML files share.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// An element of an XML file.
struct XmlElement
{
    std::string name;                                            //!< tag
    std::string path;                                            //!< e.g. "/system/cpu[1]/pci[0]"
    uint64_t line{0};                                            //!< where it begins, from 1
    std::vector<std::pair<std::string, std::string>> attributes; //!< in order
    std::vector<XmlElement> children;                            //!< in order

    /// @param attribute name @return its value, or null
    const std::string* Find(const std::string& attribute) const;
};

/// @ingroup proteus
/// What there can be in an element of a format.
struct XmlElementFormat
{
    std::set<std::string> attributes; //!< names
    std::set<std::string> children;   //!< names of elements right below it
};

/// @ingroup proteus
/// A format's elements by their names.
using XmlFormat = std::map<std::string, XmlElementFormat>;

/**
 * @ingroup proteus
 * A parsed XML file of elements with attributes. Comments and the XML declaration are
 * skipped, and so is text between elements, which DescribeUnknown() names; a document type is
 * refused, since entities of its own could make a short file endless.
 */
class XmlDocument
{
  public:
    /**
     * Reads to the end.
     * @param input the text
     * @param fileName for errors
     * @throw std::invalid_argument "FILE:LINE: cause" for bad syntax, and for a file of more than
     * 16 MiB or elements nested more than 32 deep
     */
    XmlDocument(std::istream& input, const std::string& fileName);

    /// @return the outermost element
    const XmlElement& GetRoot() const
    {
        return m_root;
    }

    /**
     * @param element where
     * @param cause what is wrong there
     * @throw std::invalid_argument "FILE:LINE: /path: cause"
     */
    [[noreturn]] void Fail(const XmlElement& element, const std::string& cause) const;

    /**
     * @param name that the outermost element must have
     * @param written by whom, for the message: "as in what NCCL_TOPO_DUMP_FILE writes"
     * @throw std::invalid_argument if it has another one, with what such a file is, if that is
     * known
     */
    void RequireRoot(const std::string& name, const std::string& written) const;

    /**
     * @param element where
     * @param attribute that it must have
     * @return its value
     * @throw std::invalid_argument if it is not there, with the one that may be meant for it
     */
    const std::string& Get(const XmlElement& element, const std::string& attribute) const;

    /**
     * Finds what a reader passes over because its format has no such thing, for a warning.
     * @param format names that there are, whether they mean something to the reader or not
     * @return "line 3: attribute color of gpu, line 7: element fan, line 9: element gpu in cpu", at
     * most three of them; empty if there is nothing
     */
    std::string DescribeUnknown(const XmlFormat& format) const;

  private:
    std::string m_fileName;
    XmlElement m_root;
    uint64_t m_textLine{0}; //!< of the first text between elements; 0 if there is none
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_XML_H
