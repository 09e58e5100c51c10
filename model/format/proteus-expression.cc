/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-expression.h"

#include <cctype>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Nested parentheses that are still no attack on the stack.
constexpr uint32_t MAX_DEPTH = 100;

/// Recursive descent.
class Parser
{
  public:
    /// @param text to read @param find value of a name @param isComputed whether numbers count, or
    /// only how the text is written
    Parser(const std::string& text,
           const std::function<int64_t(const std::string&)>& find,
           bool isComputed)
        : m_text(text),
          m_find(find),
          m_isComputed(isComputed)
    {
    }

    int64_t ParseAll()
    {
        const int64_t value = ParseComparison();
        if (Peek() != '\0')
        {
            Fail(std::string("unexpected '") + Peek() + "'");
        }
        return value;
    }

  private:
    [[noreturn]] void Fail(const std::string& cause) const
    {
        throw std::invalid_argument("expression \"" + m_text + "\": " + cause);
    }

    char Peek()
    {
        while (m_at < m_text.size() && m_text[m_at] == ' ')
        {
            ++m_at;
        }
        return m_at < m_text.size() ? m_text[m_at] : '\0';
    }

    bool Take(char c)
    {
        if (Peek() != c)
        {
            return false;
        }
        ++m_at;
        return true;
    }

    int64_t ParseComparison()
    {
        const int64_t left = ParseSum();
        if (Take('>'))
        {
            return left > ParseSum() ? 1 : 0;
        }
        if (Take('<'))
        {
            return left < ParseSum() ? 1 : 0;
        }
        if (Take('='))
        {
            if (!Take('='))
            {
                Fail("a comparison is written ==");
            }
            return left == ParseSum() ? 1 : 0;
        }
        return left;
    }

    int64_t ParseSum()
    {
        int64_t value = ParseProduct();
        while (Peek() == '+' || Peek() == '-')
        {
            const bool isPlus = m_text[m_at++] == '+';
            const int64_t other = ParseProduct();
            const bool overflows = isPlus ? __builtin_add_overflow(value, other, &value)
                                          : __builtin_sub_overflow(value, other, &value);
            if (overflows && m_isComputed)
            {
                Fail("a number is too large");
            }
        }
        return value;
    }

    int64_t ParseProduct()
    {
        int64_t value = ParseTerm();
        while (Peek() == '*' || Peek() == '/')
        {
            const bool isTimes = m_text[m_at++] == '*';
            const int64_t other = ParseTerm();
            if (!m_isComputed)
            {
                continue;
            }
            if (isTimes)
            {
                if (__builtin_mul_overflow(value, other, &value))
                {
                    Fail("a number is too large");
                }
                continue;
            }
            if (other <= 0 || value % other != 0)
            {
                Fail(std::to_string(value) + " cannot be divided by " + std::to_string(other) +
                     " without a remainder");
            }
            value /= other;
        }
        return value;
    }

    int64_t ParseTerm()
    {
        if (++m_depth > MAX_DEPTH)
        {
            Fail("too many parentheses");
        }
        const int64_t value = ParseInner();
        --m_depth;
        return value;
    }

    int64_t ParseInner()
    {
        const char c = Peek();
        if (Take('('))
        {
            const int64_t value = ParseComparison();
            if (!Take(')'))
            {
                Fail("a parenthesis is not closed");
            }
            return value;
        }
        std::string word;
        while (m_at < m_text.size() &&
               (std::isalnum(static_cast<unsigned char>(m_text[m_at])) || m_text[m_at] == '_'))
        {
            word += m_text[m_at++];
        }
        if (word.empty())
        {
            Fail(c == '\0' ? "ends too early" : std::string("unexpected '") + c + "'");
        }
        if (std::isdigit(static_cast<unsigned char>(word[0])))
        {
            int64_t value = 0;
            for (const char digit : word)
            {
                if (!std::isdigit(static_cast<unsigned char>(digit)) ||
                    __builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, digit - '0', &value))
                {
                    Fail("\"" + word + "\" is no whole number of 63 bits");
                }
            }
            return value;
        }
        if (word == "pad" && Take('('))
        {
            const int64_t value = ParseComparison();
            if (!Take(','))
            {
                Fail("pad needs two arguments");
            }
            const int64_t multiple = ParseComparison();
            int64_t sum = 0;
            if (!Take(')') || (m_isComputed && (multiple <= 0 ||
                                                __builtin_add_overflow(value, multiple - 1, &sum))))
            {
                Fail("pad needs two arguments, the second at least 1");
            }
            return m_isComputed ? sum / multiple * multiple : value;
        }
        return m_find(word);
    }

    const std::string& m_text;
    const std::function<int64_t(const std::string&)>& m_find;
    const bool m_isComputed;
    std::size_t m_at{0};
    uint32_t m_depth{0};
};

} // namespace

int64_t
EvaluateExpression(const std::string& text, const std::function<int64_t(const std::string&)>& find)
{
    return Parser(text, find, true).ParseAll();
}

void
CheckExpression(const std::string& text, const std::function<void(const std::string&)>& check)
{
    const std::function<int64_t(const std::string&)> find = [&check](const std::string& name) {
        check(name);
        return int64_t{1};
    };
    Parser(text, find, false).ParseAll();
}

} // namespace proteus
} // namespace ns3
