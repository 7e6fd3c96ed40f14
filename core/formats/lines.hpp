// A block of whole lines, each of which a parser takes or refuses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/numbers.hpp"
#include "rows.hpp"
#include "text/utf8.hpp"

namespace perceptive {

// Thrown by a parser at the byte where a line went wrong.
struct BadLine {
    const char* at;
    std::string message;
};

[[noreturn]] inline void refuse(const char* at, const std::string& message) { throw BadLine{at, message}; }

// What was wrong, where: the line and the byte in the block, counted from 0, and the byte in its line, from 1.
struct Complaint {
    i64 line, byte, column;
    std::string message;
};

// `bad` is in the line, or in one of the lines, from p on.
inline Complaint complain(const BadLine& bad, const char* block, i64 line, const char* p) {
    const char* from = p;
    for (const char* q = p; q < bad.at; ++q)
        if (*q == '\n') ++line, from = q + 1;
    return {line, bad.at - block, bad.at - from + 1, bad.message};
}

// Something odd, and no error: how many lines have it, where the first of them has it, and what is said of that one.
struct Oddity {
    i64 lines = 0;
    const char* first = nullptr;
    std::string said;

    template <class Say>
    void note(const char* at, Say say) {
        if (lines++ == 0) first = at, said = say();
    }
};

struct Report {
    i64 lines = 0, skipped = 0;
    std::vector<Complaint> complaints;  // the first few
    std::vector<i64> gaps;              // of each line that gave no example, the number of examples before it
};

constexpr std::size_t MOST_COMPLAINTS = 10;

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline const char* skip_blanks(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    return p;
}

inline std::string_view token_at(const char* p, const char* end) {
    return {p, static_cast<std::size_t>(std::find_if(p, end, is_blank) - p)};
}

// The start of a token, as ASCII.
inline std::string shown(std::string_view token) {
    std::string text;
    for (const char c : token.substr(0, 40)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 32 && byte < 127)
            text += c;
        else
            text += {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    }
    return text + (token.size() > 40 ? "…" : "");
}

template <class V>
constexpr const char* type_name = std::is_same_v<V, float> ? "float32" : "float64";

// Whether a token is one of some words in lower case, whatever its own case.
inline bool is_one_of(std::string_view token, std::initializer_list<std::string_view> words) {
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return std::equal(token.begin(), token.end(), word.begin(), word.end(), same);
    });
}

inline bool is_not_finite(std::string_view token) {
    if (!token.empty() && (token[0] == '+' || token[0] == '-')) token.remove_prefix(1);
    return is_one_of(token, {"nan", "inf", "infinity"});
}

// Says what is wrong with a token that should have been a number; `at` is where it was written, if not where it is.
[[noreturn]] inline void refuse_number(std::string_view token, const char* what, const char* cure, const char* type,
                                       const char* at = nullptr) {
    if (!at) at = token.data();
    const std::string text = std::string(what) + " '" + shown(token) + "' is ";
    if (is_not_finite(token)) refuse(at, text + "not finite; drop or impute such examples first");
    double x;
    const char* const end = token.data() + token.size();
    if (read_decimal(token.data(), end, x) == end) refuse(at, text + "too large for " + type + "; rescale");
    refuse(at, text + "not a number; " + cure);
}

inline double number_in(std::string_view token, const char* what, const char* cure) {
    double x;
    const char* const end = token.data() + token.size();
    if (read_decimal(token.data(), end, x) != end || std::isinf(x)) refuse_number(token, what, cure, "float64");
    return x;
}

inline std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

// A word that is shown to people as it was written.
inline void require_utf8(std::string_view word, const char* at, const char* what) {
    if (!is_utf8(word)) refuse(at, std::string(what) + " '" + shown(word) + "' is not UTF-8; convert the file to it");
}

// Lines that are not UTF-8, each at its first byte that is not.
inline Oddity broken_utf8(std::string_view text) {
    Oddity found;
    const auto *const begin = reinterpret_cast<const unsigned char*>(text.data()), *const end = begin + text.size();
    for (const unsigned char* p = begin; p < end;) {
        for (std::uint64_t some; end - p >= 8; p += 8) {
            std::memcpy(&some, p, 8);
            if (some & 0x8080808080808080u) break;
        }
        if (p == end) break;
        const Decoded c = decode_utf8(p, end);
        p += c.length;
        if (c.sound) continue;
        const char* const at = reinterpret_cast<const char*>(p - c.length);
        found.note(at, [&] { return "the byte '" + shown({at, 1}) + "' is not UTF-8"; });
        p = std::find(p, end, static_cast<unsigned char>('\n'));
    }
    return found;
}

// A name that becomes part of many others: a line of them must not take time without bound.
inline void require_short(std::string_view name, const char* at) {
    if (name.size() > 4096)
        refuse(at, "the name '" + shown(name) + "' is longer than 4096 bytes and would be part of others; shorten it");
}

// What parsers of formats derive from where a line is an example.
struct OneLine {
    static constexpr bool many_lines = false, tells_broken_utf8 = false;
    static const char* line_end(const char* p, const char* end) {
        return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    }
};

// Gives each line, without its end, to parser.line(begin, end), which may throw BadLine; parser.drop() then takes back
// what the line has left. The first bad line ends the block, unless lines may be skipped. Where lines end, the parser
// knows: at a newline, or nullptr where the text ends before.
template <class Parser>
Report parse_lines(std::string_view text, Parser& parser, bool skip) {
    Report report;
    const char *p = text.data(), *const begin = p, *const end = p + text.size();
    while (p < end) {
        const char* const newline = parser.line_end(p, end);
        const char *const next = newline ? newline : end, *stop = next;
        if (stop > p && stop[-1] == '\r') --stop;
        const std::size_t before = parser.examples.which.size();
        try {
            parser.line(p, stop);
        } catch (const BadLine& bad) {
            parser.drop();
            ++report.skipped;
            if (report.complaints.size() < MOST_COMPLAINTS)
                report.complaints.push_back(complain(bad, begin, report.lines, p));
            if (!skip) return report;
        }
        if (parser.examples.which.size() == before) report.gaps.push_back(static_cast<i64>(before));
        report.lines += 1 + (Parser::many_lines ? std::count(p, next, '\n') : 0);
        p = newline ? newline + 1 : end;
    }
    return report;
}

}  // namespace perceptive
