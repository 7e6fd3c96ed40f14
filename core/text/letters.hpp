// Characters in UTF-8: what kind each is, its lower case, and where characters begin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/unicode_tables.hpp"

namespace perceptive::letters {

enum Kind : std::uint8_t { other, upper, lower, digit, letter, punctuation };

inline Kind kind_of(std::uint32_t code) {
    const LetterRun* after = std::upper_bound(std::begin(letter_runs), std::end(letter_runs), code,
                                              [](std::uint32_t c, const LetterRun& run) { return c < run.first; });
    return static_cast<Kind>((after - 1)->kind);
}

inline std::uint32_t lower_of(std::uint32_t code) {
    const LowerRange* after =
        std::upper_bound(std::begin(lower_ranges), std::end(lower_ranges), code,
                         [](std::uint32_t c, const LowerRange& range) { return c < range.first; });
    if (after == std::begin(lower_ranges)) return code;
    const LowerRange& range = *(after - 1);
    if (code > range.last || (code - range.first) % range.step != 0) return code;
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(code) + range.delta);
}

// The character at text[at], and `at` moved behind it. A byte that begins none is itself, as 0xDC00 + byte.
inline std::uint32_t next(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(at);
    if (first < 0x80) return ++at, first;
    const int more = first >= 0xF0 && first < 0xF5 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : 0;
    if (first >= 0xF5 || more == 0 || at + static_cast<std::size_t>(more) >= text.size()) return ++at, 0xDC00u + first;
    std::uint32_t code = first & (0x3Fu >> more);
    for (int i = 1; i <= more; ++i) {
        const std::uint8_t continued = byte(at + static_cast<std::size_t>(i));
        if ((continued & 0xC0) != 0x80) return ++at, 0xDC00u + first;
        code = (code << 6) | (continued & 0x3Fu);
    }
    at += static_cast<std::size_t>(more) + 1;
    return code;
}

inline void append(std::string& text, std::uint32_t code) {
    if (code >= 0xDC80 && code <= 0xDCFF) {
        text += static_cast<char>(code - 0xDC00);
    } else if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xC0 | (code >> 6));
        text += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        text += static_cast<char>(0xE0 | (code >> 12));
        text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        text += static_cast<char>(0xF0 | (code >> 18));
        text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
        text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (code & 0x3F));
    }
}

}  // namespace perceptive::letters
