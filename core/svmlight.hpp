// The svmlight (libsvm) format: one example a line, "label [qid:n] index:value … [# comment]".
//
// A block of whole lines becomes rows in one pass. The straight way reads sound lines; at the first token that is not
// as it should be, refuse_… look at it again and say what is wrong. The twin is reference/svmlight.py.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rows.hpp"

namespace perceptive {

// ---------------------------------------------------------------- numbers

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Appends decimal digits to w, which holds 19 of them and wraps beyond.
inline const char* read_digits(const char* p, const char* end, std::uint64_t& w) {
    for (; p < end && is_digit(*p); ++p) w = w * 10 + static_cast<std::uint64_t>(*p - '0');
    return p;
}

constexpr i64 MAX_DIGITS = 19;

constexpr double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What from_chars leaves open when a number without sign is out of range: 0, or infinity.
inline double beyond_range(const char* p, const char* end, i64 exponent) {
    const char* point = std::find_if_not(p, end, is_digit);
    const char* lead = std::find_if(p, end, [](char c) { return c != '0' && c != '.'; });
    if (lead == end || !is_digit(*lead)) return 0.0;
    const i64 magnitude = lead < point ? point - lead : point + 1 - lead;
    return magnitude + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

// Reads [+-] digits [. digits] [e [+-] digits], correctly rounded; ±∞ where it is too large, nullptr where there is
// none.
//
// w·10^e with w ≤ 2⁵³ and |e| ≤ 22 has two exact factors, so one operation rounds it correctly (Clinger 1990).
inline const char* read_decimal(const char* p, const char* end, double& number) {
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* const first = p;
    std::uint64_t w = 0;
    p = read_digits(p, end, w);
    i64 digits = p - first, fraction = 0, exponent = 0;
    if (digits > 0 && digits <= 15 && (p == end || *p == ' ')) {  // a whole number, the most common of all
        number = negative ? -static_cast<double>(w) : static_cast<double>(w);
        return p;
    }
    if (p < end && *p == '.') {
        const char* const point = ++p;
        p = read_digits(p, end, w);
        fraction = p - point;
        digits += fraction;
    }
    if (digits == 0) return nullptr;
    if (p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        const bool shrinks = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        if (p == end || !is_digit(*p)) return nullptr;
        for (; p < end && is_digit(*p); ++p)
            if (exponent < i64{1} << 50) exponent = exponent * 10 + (*p - '0');
        if (shrinks) exponent = -exponent;
    }
    const i64 e = exponent - fraction;
    double x = static_cast<double>(w);
    if (digits <= MAX_DIGITS && w <= std::uint64_t{1} << 53 && e >= -22 && e <= 22) {
        x = e < 0 ? x / POWERS_OF_TEN[-e] : x * POWERS_OF_TEN[e];
    } else if (std::from_chars(first, p, x).ec == std::errc::result_out_of_range) {
        x = beyond_range(first, p, exponent);
    }
    number = negative ? -x : x;
    return p;
}

// ---------------------------------------------------------------- lines

struct SvmlightOptions {
    std::string name;  // of the file, for errors
    i64 first_line;
    bool zero_based;
    i64 n_features;  // -1: as many as there are
};

template <class V>
class SvmlightRows {
  public:
    std::vector<double> label;
    std::vector<i64> qid;  // -1 where there is none
    std::vector<std::int32_t> indptr{0}, indices;
    std::vector<V> data;
    i64 lines = 0;

    // text must be below 2³¹ bytes: so are the entries, of which each takes four.
    SvmlightRows(std::string_view text, const SvmlightOptions& options)
        : options_(options), base_(options.zero_based ? 0 : 1), limit_(MAX_COLUMN + 1) {
        if (options.n_features >= 0) limit_ = std::min(limit_, static_cast<std::uint64_t>(options.n_features));
        const size_t most = text.size() / 4 + 1;
        indices.reserve(most);  // what is never written costs nothing
        data.reserve(most);
        const char *p = text.data(), *const end = p + text.size();
        for (; p < end; ++lines) {
            const char* const newline = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
            const char* stop = newline ? newline : end;
            if (stop > p && stop[-1] == '\r') --stop;
            const void* const comment = std::memchr(p, '#', static_cast<size_t>(stop - p));
            read_line(p, comment ? static_cast<const char*>(comment) : stop);
            p = newline ? newline + 1 : end;
        }
    }

  private:
    static constexpr std::uint64_t MAX_COLUMN = (std::uint64_t{1} << 31) - 2;

    static bool is_blank(char c) { return c == ' ' || c == '\t'; }
    static const char* skip_blanks(const char* p, const char* end) {
        while (p < end && is_blank(*p)) ++p;
        return p;
    }
    static bool ends(const char* p, const char* end) { return p == end || is_blank(*p); }

    void read_line(const char* p, const char* end) {
        const char* const line = p;
        p = skip_blanks(p, end);
        if (p == end) return;
        double y;
        const char* q = read_decimal(p, end, y);
        if (!q || !ends(q, end) || std::isinf(y))
            refuse_number(line, p, end, "label", "write classes as numbers, one per example", "float64");
        p = skip_blanks(q, end);
        i64 group = -1;
        if (end - p >= 4 && std::memcmp(p, "qid:", 4) == 0) {
            std::uint64_t id = 0;
            q = read_digits(p + 4, end, id);
            if (q == p + 4 || q - p - 4 > MAX_DIGITS || !ends(q, end) || id >> 63) refuse_qid(line, p, end);
            group = static_cast<i64>(id);
            p = skip_blanks(q, end);
        }
        i64 last = -1;
        while (p < end) {
            std::uint64_t index = 0;
            q = read_digits(p, end, index);
            const std::uint64_t column = index - base_;  // 0 − 1 is beyond every limit
            if (q == p || q - p > MAX_DIGITS || q == end || *q != ':' || column >= limit_ ||
                static_cast<i64>(column) <= last)
                refuse_index(line, p, end, last);
            const char* const value = q + 1;
            double x;
            q = read_decimal(value, end, x);
            if (!q || !ends(q, end) || std::isinf(static_cast<V>(x)))
                refuse_number(line, value, end, "value", "write index:value, entries separated by spaces",
                              std::is_same_v<V, float> ? "float32" : "float64");
            last = static_cast<i64>(column);
            indices.push_back(static_cast<std::int32_t>(column));
            data.push_back(static_cast<V>(x));
            p = skip_blanks(q, end);
        }
        label.push_back(y);
        qid.push_back(group);
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
    }

    // ------------------------------------------------------------ errors

    static std::string_view token(const char* p, const char* end) {
        return {p, static_cast<size_t>(std::find_if(p, end, is_blank) - p)};
    }

    static bool whole(std::string_view token) {
        return !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
    }

    // The start of a token, as ASCII.
    static std::string shown(std::string_view token) {
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

    [[noreturn]] void refuse(const char* line, const char* at, const std::string& message) const {
        throw std::invalid_argument(options_.name + ":" + std::to_string(options_.first_line + lines) + ":" +
                                    std::to_string(at - line + 1) + ": " + message);
    }

    [[noreturn]] void refuse_number(const char* line, const char* p, const char* end, const char* what,
                                    const char* cure, const char* type) const {
        const std::string_view whole_token = token(p, end);
        const std::string text = std::string(what) + " '" + shown(whole_token) + "' is ";
        std::string word(whole_token.substr(0, 10));
        for (char& c : word)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
        if (!word.empty() && (word[0] == '+' || word[0] == '-')) word.erase(0, 1);
        if (word == "nan" || word == "inf" || word == "infinity")
            refuse(line, p, text + "not finite; drop or impute such examples first");
        double x;
        const char* const q = read_decimal(p, end, x);
        if (q && ends(q, end)) refuse(line, p, text + "too large for " + type + "; rescale");
        refuse(line, p, text + "not a number; " + cure);
    }

    [[noreturn]] void refuse_qid(const char* line, const char* p, const char* end) const {
        refuse(line, p,
               "qid '" + shown(token(p + 4, end)) + "' is not a whole number from 0 to 2⁶³ − 1; renumber the queries");
    }

    [[noreturn]] void refuse_index(const char* line, const char* p, const char* end, i64 last) const {
        const std::string_view entry = token(p, end), digits = entry.substr(0, entry.find(':'));
        const std::string index = shown(digits);
        if (digits.size() == entry.size())
            refuse(line, p, "'" + index + "' is not an entry; write index:value, entries separated by spaces");
        if (digits == "qid") refuse(line, p, "qid must stand right after the label; move it there");
        const std::string text = "feature index " + index;
        if (digits.substr(0, 1) == "-" && whole(digits.substr(1)))
            refuse(line, p, text + ": indices must not be negative; renumber the features");
        if (!whole(digits)) refuse(line, p, "feature index '" + index + "' is not a whole number; write index:value");
        std::uint64_t number = 0;
        read_digits(digits.data(), digits.data() + digits.size(), number);
        if (static_cast<i64>(digits.size()) > MAX_DIGITS || number > MAX_COLUMN + base_)
            refuse(line, p,
                   text + ": the largest is " + std::to_string(MAX_COLUMN + base_) + "; hash the features into fewer");
        if (number < base_) refuse(line, p, text + ": indices start at 1; pass zero_based=True");
        const i64 column = static_cast<i64>(number - base_);
        if (column == last) refuse(line, p, text + " twice: give each feature once; add up or drop duplicates");
        if (column < last)
            refuse(line, p,
                   text + " after " + std::to_string(last + static_cast<i64>(base_)) +
                       ": indices must rise; sort the entries of each line");
        refuse(line, p,
               text + ": beyond n_features=" + std::to_string(options_.n_features) + "; raise it or leave it out");
    }

    const SvmlightOptions& options_;
    std::uint64_t base_, limit_;
};

}  // namespace perceptive
