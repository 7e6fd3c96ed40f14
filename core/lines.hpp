// A block of whole lines, each of which a parser takes or refuses.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace perceptive {

// Thrown by a parser at the byte where a line went wrong.
struct BadLine {
    const char* at;
    std::string message;
};

// What was wrong, where: the line and the byte in the block, counted from 0, and the byte in its line, from 1.
struct Complaint {
    i64 line, byte, column;
    std::string message;
};

struct Report {
    i64 lines = 0, skipped = 0;
    std::vector<Complaint> complaints;  // the first few
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

// Gives each line, without its end, to parser.line(begin, end), which may throw BadLine; parser.drop() then takes back
// what the line has left. The first bad line ends the block, unless lines may be skipped.
template <class Parser>
Report parse_lines(std::string_view text, Parser& parser, bool skip) {
    Report report;
    const char *p = text.data(), *const begin = p, *const end = p + text.size();
    for (; p < end; ++report.lines) {
        const char* const newline = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
        const char* stop = newline ? newline : end;
        if (stop > p && stop[-1] == '\r') --stop;
        try {
            parser.line(p, stop);
        } catch (const BadLine& bad) {
            parser.drop();
            ++report.skipped;
            if (report.complaints.size() < MOST_COMPLAINTS)
                report.complaints.push_back({report.lines, bad.at - begin, bad.at - p + 1, bad.message});
            if (!skip) return report;
        }
        p = newline ? newline + 1 : end;
    }
    return report;
}

}  // namespace perceptive
