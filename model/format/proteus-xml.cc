/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-xml.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-foreign-files.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::size_t MAX_BYTES = std::size_t{16} << 20; // of a file
constexpr std::size_t MAX_DEPTH = 32;
constexpr std::size_t MAX_NAME = 64; // characters, of an element or an attribute

/**
 * Checks the text before the parser gets it, for two reasons: the parser recurses without a limit
 * into nested elements, and it does not tell the lines of elements. Accepts what programs write:
 * elements and attributes whose names are of letters, digits and "_:.-", quoted values, text,
 * comments and processing instructions.
 */
class Scanner
{
  public:
    Scanner(const std::string& text, const std::string& fileName)
        : m_text(text),
          m_fileName(fileName)
    {
    }

    /// @return the line of each element, in the order in which they begin
    std::vector<uint64_t> Scan()
    {
        while (m_at < m_text.size())
        {
            if (m_text[m_at] != '<')
            {
                const auto byte = static_cast<unsigned char>(m_text[m_at]);
                const bool isByteOrderMark = m_at < 3 && byte > 0x7f;
                if (m_lines.empty() && std::isspace(byte) == 0 && !isByteOrderMark)
                {
                    Fail("this is no XML, which begins with '<', but begins with " +
                         QuotedText(m_text.substr(m_at)));
                }
                if (!m_lines.empty() && m_open.empty() && std::isspace(byte) == 0)
                {
                    Fail("behind the end of the outermost element stands " +
                         QuotedText(m_text.substr(m_at)) + ": leave it out");
                }
                if (m_textLine == 0 && std::isspace(byte) == 0 && !isByteOrderMark)
                {
                    m_textLine = m_line;
                }
                Advance(1);
            }
            else if (IsAt("<!--"))
            {
                SkipPast("-->", "a comment");
            }
            else if (IsAt("<?"))
            {
                SkipPast("?>", "a processing instruction");
            }
            else if (IsAt("<!"))
            {
                const std::string type = "<!DOCTYPE ";
                const std::size_t name = m_at + (IsAt(type.c_str()) ? type.size() : 0);
                const std::string foreign = DescribeForeignFile(
                    {"<" + m_text.substr(name, m_text.find_first_of(" \t\r\n[>", name) - name)});
                Fail("document types and CDATA sections are not allowed" +
                     (foreign.empty() ? "" : "; " + foreign));
            }
            else
            {
                IsAt("</") ? ScanEnd() : ScanBegin();
            }
        }
        if (!m_open.empty())
        {
            Fail("the file ends inside " + DescribeOpen());
        }
        if (m_lines.empty())
        {
            Fail("there is no element");
        }
        return std::move(m_lines);
    }

    /// @param cause what is wrong where the scanner is @throw std::invalid_argument
    [[noreturn]] void Fail(const std::string& cause) const
    {
        throw std::invalid_argument(m_fileName + ":" + std::to_string(m_line) + ": " + cause);
    }

    /// @param what should be where the scanner is @throw std::invalid_argument
    [[noreturn]] void FailExpecting(const std::string& what) const
    {
        Fail(m_at < m_text.size()
                 ? "expected " + what
                 : "the file ends where " + what + " is expected: it may have been cut off");
    }

    /// @return the line of the first text between elements; 0 if there is none
    uint64_t GetTextLine() const
    {
        return m_textLine;
    }

  private:
    /// @return name and line of the innermost element that has begun
    std::string DescribeOpen() const
    {
        return "'" + m_open.back().first + "' of line " + std::to_string(m_open.back().second);
    }

    /// Passes "<name ...>"
    void ScanBegin()
    {
        if (m_open.empty() && !m_lines.empty())
        {
            Fail("there is a second outermost element");
        }
        m_lines.push_back(m_line);
        Advance(1);
        const std::string name = SkipName("the name of an element");
        if (ScanAttributes())
        {
            m_open.emplace_back(name, m_lines.back());
        }
        if (m_open.size() > MAX_DEPTH)
        {
            Fail("elements are nested more than " + std::to_string(MAX_DEPTH) + " deep");
        }
    }

    /// Passes "</name>"
    void ScanEnd()
    {
        Advance(2);
        const std::string name = SkipName("the name of an element");
        if (m_open.empty() || m_open.back().first != name)
        {
            Fail("'" + name + "' ends here, but " +
                 (m_open.empty() ? "nothing has begun" : DescribeOpen() + " has not"));
        }
        SkipSpace();
        Expect('>');
        m_open.pop_back();
    }

    /// Passes "attribute=value ...>" @return whether the element has content and an end of its own
    bool ScanAttributes()
    {
        std::set<std::string> names;
        while (true)
        {
            const bool hasSpace = SkipSpace();
            if (IsAt("/>"))
            {
                Advance(2);
                return false;
            }
            if (IsAt(">"))
            {
                Advance(1);
                return true;
            }
            if (!hasSpace)
            {
                FailExpecting("white space, '>' or '/>'");
            }
            const std::string name = SkipName("the name of an attribute");
            if (!names.insert(name).second)
            {
                Fail("the attribute '" + name + "' stands there twice");
            }
            SkipSpace();
            Expect('=');
            SkipSpace();
            if (!IsAt("\"") && !IsAt("'"))
            {
                Fail("the value of an attribute must be in quotes");
            }
            const char quote = m_text[m_at];
            Advance(1);
            while (m_at < m_text.size() && m_text[m_at] != quote && m_text[m_at] != '<')
            {
                CheckReference();
                Advance(1);
            }
            Expect(quote);
        }
    }

    /// Refuses an '&' that stands for no character: without a document type there are five by name
    /// (XML 1.0, 4.6), and those by number.
    void CheckReference() const
    {
        if (m_text[m_at] != '&')
        {
            return;
        }
        const std::string name = m_text.substr(m_at + 1, m_text.find(';', m_at) - m_at - 1);
        static const std::set<std::string> known{"amp", "lt", "gt", "quot", "apos"};
        if (known.count(name) == 0 && (name.size() < 2 || name[0] != '#'))
        {
            Fail("'&' in a value must begin one of &amp; &lt; &gt; &quot; &apos; or &#NUMBER;: for "
                 "itself it is written &amp;");
        }
    }

    bool IsAt(const char* what) const
    {
        return m_text.compare(m_at, std::char_traits<char>::length(what), what) == 0;
    }

    void Advance(std::size_t count)
    {
        for (std::size_t i = 0; i < count && m_at < m_text.size(); ++i)
        {
            m_line += m_text[m_at] == '\n' ? 1 : 0;
            ++m_at;
        }
    }

    void SkipPast(const char* end, const char* what)
    {
        const std::size_t found = m_text.find(end, m_at);
        if (found == std::string::npos)
        {
            Fail(std::string(what) + " does not end");
        }
        Advance(found + std::char_traits<char>::length(end) - m_at);
    }

    bool SkipSpace()
    {
        const std::size_t start = m_at;
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t' ||
                                        m_text[m_at] == '\r' || m_text[m_at] == '\n'))
        {
            Advance(1);
        }
        return m_at > start;
    }

    std::string SkipName(const char* what)
    {
        const std::size_t start = m_at;
        while (m_at < m_text.size() &&
               ((m_text[m_at] >= 'a' && m_text[m_at] <= 'z') ||
                (m_text[m_at] >= 'A' && m_text[m_at] <= 'Z') ||
                (m_text[m_at] >= '0' && m_text[m_at] <= '9') || m_text[m_at] == '_' ||
                m_text[m_at] == ':' || m_text[m_at] == '.' || m_text[m_at] == '-'))
        {
            Advance(1);
        }
        if (m_at == start)
        {
            FailExpecting(what);
        }
        if (m_at - start > MAX_NAME)
        {
            Fail(std::string(what) + " is longer than " + std::to_string(MAX_NAME));
        }
        return m_text.substr(start, m_at - start);
    }

    void Expect(char c)
    {
        if (m_at == m_text.size() || m_text[m_at] != c)
        {
            FailExpecting(std::string("'") + c + "'");
        }
        Advance(1);
    }

    const std::string& m_text;
    const std::string& m_fileName;
    std::size_t m_at{0};
    uint64_t m_line{1};
    uint64_t m_textLine{0};
    std::vector<std::pair<std::string, uint64_t>> m_open; //!< name and line of elements
    std::vector<uint64_t> m_lines;                        //!< see Scan()
};

/// DescribeUnknown(), all of it, one after the other.
void
ListUnknown(const XmlElement& element, const XmlFormat& format, std::vector<std::string>& found)
{
    const std::string line = "line " + std::to_string(element.line) + ": ";
    const auto known = format.find(element.name);
    if (known == format.end())
    {
        found.push_back(line + "element " + element.name);
        return;
    }
    for (const auto& [attribute, value] : element.attributes)
    {
        if (known->second.attributes.count(attribute) == 0)
        {
            found.push_back(line + "attribute " + attribute + " of " + element.name);
        }
    }
    for (const XmlElement& child : element.children)
    {
        if (format.count(child.name) == 1 && known->second.children.count(child.name) == 0)
        {
            found.push_back("line " + std::to_string(child.line) + ": element " + child.name +
                            " in " + element.name);
            continue;
        }
        ListUnknown(child, format, found);
    }
}

using Tree = boost::property_tree::ptree;

/**
 * @param name of the element
 * @param path of it
 * @param tree its content
 * @param lines of all elements
 * @param next first of its lines; then that of what follows it
 * @return the element
 */
XmlElement
Convert(const std::string& name,
        const std::string& path,
        const Tree& tree,
        const std::vector<uint64_t>& lines,
        std::size_t& next)
{
    XmlElement element;
    element.name = name;
    element.path = path;
    element.line = lines.at(next++);
    std::map<std::string, std::size_t> count; // of children, by name
    for (const auto& [key, child] : tree)
    {
        if (key == "<xmlattr>")
        {
            for (const auto& [attribute, value] : child)
            {
                element.attributes.emplace_back(attribute, value.data());
            }
        }
        else
        {
            const std::string position = "[" + std::to_string(count[key]++) + "]";
            element.children.push_back(
                Convert(key, path + "/" + key + position, child, lines, next));
        }
    }
    return element;
}

} // namespace

const std::string*
XmlElement::Find(const std::string& attribute) const
{
    for (const auto& [key, value] : attributes)
    {
        if (key == attribute)
        {
            return &value;
        }
    }
    return nullptr;
}

XmlDocument::XmlDocument(std::istream& input, const std::string& fileName)
    : m_fileName(fileName)
{
    std::string text;
    char buffer[4096];
    while (input.read(buffer, sizeof(buffer)), input.gcount() > 0)
    {
        text.append(buffer, static_cast<std::size_t>(input.gcount()));
        if (text.size() > MAX_BYTES)
        {
            throw std::invalid_argument(fileName + ":1: the file has more than " +
                                        std::to_string(MAX_BYTES) + " bytes");
        }
    }
    if (text.compare(0, 2, "\xff\xfe") == 0 || text.compare(0, 2, "\xfe\xff") == 0)
    {
        throw std::invalid_argument(fileName + ":1: the file is UTF-16: save it as UTF-8");
    }
    const std::size_t zero = text.find('\0');
    if (zero != std::string::npos)
    {
        throw std::invalid_argument(
            fileName + ":" +
            std::to_string(1 + std::count(text.begin(), text.begin() + zero, '\n')) +
            ": there is a zero byte; this is no XML text");
    }
    Scanner scanner(text, fileName);
    const std::vector<uint64_t> lines = scanner.Scan();
    m_textLine = scanner.GetTextLine();
    Tree tree;
    try
    {
        std::istringstream stream(text);
        boost::property_tree::read_xml(stream, tree, boost::property_tree::xml_parser::no_comments);
    }
    catch (const boost::property_tree::xml_parser_error& error)
    {
        throw std::invalid_argument(fileName + ":" + std::to_string(std::max(error.line(), 1ul)) +
                                    ": " + error.message());
    }
    std::size_t next = 0;
    const auto& [name, content] = tree.front();
    m_root = Convert(name, "/" + name, content, lines, next);
}

void
XmlDocument::Fail(const XmlElement& element, const std::string& cause) const
{
    throw std::invalid_argument(m_fileName + ":" + std::to_string(element.line) + ": " +
                                element.path + ": " + cause);
}

void
XmlDocument::RequireRoot(const std::string& name, const std::string& written) const
{
    if (m_root.name != name)
    {
        const std::string foreign = DescribeForeignFile({"<" + m_root.name});
        Fail(m_root,
             "the outermost element must be '" + name + "'" +
                 (foreign.empty() ? ", " + written : ": " + foreign));
    }
}

const std::string&
XmlDocument::Get(const XmlElement& element, const std::string& attribute) const
{
    if (const std::string* value = element.Find(attribute))
    {
        return *value;
    }
    std::vector<std::string> names;
    for (const auto& entry : element.attributes)
    {
        names.push_back(entry.first);
    }
    const std::string near = FindNearest(attribute, names);
    Fail(element,
         "has no attribute \"" + attribute + "\"" +
             (near.empty() ? "" : "; is it meant by \"" + near + "\"?"));
}

std::string
XmlDocument::DescribeUnknown(const XmlFormat& format) const
{
    std::vector<std::string> found;
    if (m_textLine > 0)
    {
        found.push_back("line " + std::to_string(m_textLine) + ": text between elements");
    }
    ListUnknown(m_root, format, found);
    return ListSome(found);
}

} // namespace proteus
} // namespace ns3
