// The svmlight (libsvm) format: one example a line, "label [qid:n] index:value … [# comment]".
//
// The straight way reads sound lines; at the first token that is not as it should be, refuse_… look at it again and say
// what is wrong. The twin is tests/support/twins/svmlight.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/lines.hpp"
#include "formats/numbers.hpp"
#include "rows.hpp"

namespace perceptive {

struct SvmlightOptions {
    bool zero_based = false;
    i64 n_features = -1;           // -1: as many as there are
    bool hashed = false;           // the name of a feature is its index as written
    FeatureOptions features = {};  // where it is hashed
    bool queries = false;          // whether every line must name one
};

template <class V>
class SvmlightParser : public FeatureParser<V> {
  public:
    using FeatureParser<V>::examples, FeatureParser<V>::features;

    // text must be below 2³¹ bytes: so are the entries, of which each takes four.
    SvmlightParser(std::string_view text, const SvmlightOptions& options)
        : FeatureParser<V>(options.features),
          options_(options),
          base_(options.zero_based ? 0 : 1),
          most_(options.hashed ? MAX_HASHED : MAX_COLUMN),
          limit_(most_ + 1),
          text_end_(text.data() + text.size()) {
        if (options.n_features >= 0) limit_ = std::min(limit_, static_cast<std::uint64_t>(options.n_features));
        const size_t most = text.size() / 4 + 1;  // what is never written costs nothing
        examples.indices.room(most);
        examples.data.room(most);
    }

    void line(const char* p, const char* end) {
        p = skip_blanks(p, end);
        if (p == end || *p == '#') return;
        double y;
        const char *grade = p, *q = read_decimal(p, end, y);
        if (!q || !ends(q, end) || std::isinf(y)) refuse_label(token(p, end));
        p = skip_blanks(q, end);
        i64 group = -1;
        if (end - p >= 4 && std::memcmp(p, "qid:", 4) == 0) {
            std::uint64_t id = 0;
            q = read_digits(p + 4, end, id);
            if (q == p + 4 || q - p - 4 > MAX_DIGITS || !ends(q, end) || id >> 63) refuse_qid(p, end);
            group = static_cast<i64>(id);
            p = skip_blanks(q, end);
        } else if (options_.queries) {
            refuse(grade, "this line names no query; to rank, write qid:n right after the grade");
        }
        if (options_.hashed)
            entries<true>(p, end);
        else
            entries<false>(p, end);
        examples.qid.push_back(group);
        const bool exact = std::abs(y) < static_cast<double>(EXACT);
        examples.end_row(exact ? examples.labels.number(y)
                               : examples.labels.find(LabelTable::numeral(y, token(grade, end))));
    }

  private:
    static constexpr std::uint64_t MAX_COLUMN = (std::uint64_t{1} << 31) - 2;
    static constexpr std::uint64_t MAX_HASHED = (std::uint64_t{1} << 62) - 1;

    static bool ends(const char* p, const char* end) { return p == end || is_blank(*p) || *p == '#'; }

    template <bool hashed>
    void entries(const char* p, const char* end) {
        i64 last = -1;
        const auto most = static_cast<std::size_t>(end - p) / 4 + 1;
        std::int32_t* index = examples.indices.room(hashed ? 0 : most);
        V* value = examples.data.room(hashed ? 0 : most);
        std::size_t stored = 0;
        const auto store = [&](std::string_view name, i64 column, double x) {
            last = column;
            if constexpr (hashed) {
                add(name, x);
            } else {
                index[stored] = static_cast<std::int32_t>(column);
                value[stored++] = static_cast<V>(x);
            }
        };
        while (p < end && *p != '#') {
            while (text_end_ - p >= WINDOW) {  // entries such as "1234:0.0567 ", one after the other
                const char* const before = p;
                for (PlainEntries some(p); some.read(); p = some.next) {
                    const std::uint64_t column = std::uint64_t{some.index} - base_;
                    if (column >= limit_ || static_cast<i64>(column) <= last) break;
                    store(name_of(p, p + some.length), static_cast<i64>(column), some.value);
                }
                if (p == before) break;
            }
            p = skip_blanks(p, end);
            if (p == end || *p == '#') break;
            double x;
            std::uint64_t number;
            const char *colon, *q = nullptr;
            if (text_end_ - p >= QUICK) {  // the short way, for what most entries look like
                const std::uint32_t others = others_in(p);
                const int digits = others ? __builtin_ctz(others) : 32;
                if (digits && digits <= 8 && p[digits] == ':') {
                    number = some_digits(p, digits);
                    colon = p + digits;
                    const int stop = quick_decimal(p, digits + 1, others, x);
                    if (stop && p + stop <= end && ends(p + stop, end)) q = p + stop;
                }
            }
            if (!q) {
                number = 0;
                colon = read_digits(p, end, number);
                if (colon == p || colon - p > MAX_DIGITS || colon == end || *colon != ':') refuse_index(p, end, last);
            }
            const std::uint64_t column = number - base_;  // 0 − 1 is beyond every limit
            if (column >= limit_ || static_cast<i64>(column) <= last) refuse_index(p, end, last);
            if (!q) {
                q = read_decimal(colon + 1, end, x);
                if (!q || !ends(q, end) || std::isinf(static_cast<V>(x)))
                    refuse_number(token(colon + 1, end), "value", "write index:value, entries separated by spaces",
                                  type_name<V>);
            }
            store(name_of(p, colon), static_cast<i64>(column), x);
            p = skip_blanks(q, end);
        }
        if constexpr (hashed) {
            features.end(examples, p);
        } else {
            if (options_.features.scaling || features.measures)
                for (std::size_t k = 0; k < stored; ++k)
                    value[k] = finite(static_cast<V>(features.number(name_of(index[k]), value[k])), end);
            examples.indices.advance(stored);
            examples.data.advance(stored);
            features.keep();
        }
    }

    [[gnu::noinline]] void add(std::string_view name, double x) {  // inlined twice it is slower
        features.add(name, finite(features.number(name, x), name.data()), {}, text_end_ - name.end() >= 4);
    }

    // The name of a column that is not hashed: its index as files have it.
    std::string name_of(std::int32_t column) const {
        return std::to_string(static_cast<std::uint64_t>(column) + base_);
    }

    static std::string_view name_of(const char* p, const char* colon) {
        return {p, static_cast<std::size_t>(colon - p)};
    }

    template <class T>
    static T finite(T x, const char* at) {
        if (!std::isfinite(static_cast<V>(x)))
            refuse(at, std::string("a value is too large for ") + type_name<V> + " when it is scaled; rescale");
        return x;
    }

    // ------------------------------------------------------------ errors

    static std::string_view token(const char* p, const char* end) { return token_at(p, std::find(p, end, '#')); }

    static bool whole(std::string_view token) {
        return !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
    }

    [[noreturn]] void refuse_label(std::string_view label) const {
        if (options_.queries)
            refuse_number(label, "grade", "write grade qid:n index:value …, with the grade 0 if it is not known",
                          "float64");
        refuse_number(label, "label", "write classes as numbers, one per example", "float64");
    }

    [[noreturn]] void refuse_qid(const char* p, const char* end) const {
        refuse(p,
               "qid '" + shown(token(p + 4, end)) + "' is not a whole number from 0 to 2⁶³ − 1; renumber the queries");
    }

    [[noreturn]] void refuse_index(const char* p, const char* end, i64 last) const {
        const std::string_view entry = token(p, end), digits = entry.substr(0, entry.find(':'));
        const std::string index = shown(digits);
        if (digits.size() == entry.size())
            refuse(p, "'" + index + "' is not an entry; write index:value, entries separated by spaces");
        if (digits == "qid") refuse(p, "qid must come right after the label; move it there");
        const std::string text = "feature index " + index;
        if (digits.substr(0, 1) == "-" && whole(digits.substr(1)))
            refuse(p, text + ": indices must not be negative; renumber the features");
        if (!whole(digits)) refuse(p, "feature index '" + index + "' is not a whole number; write index:value");
        std::uint64_t number = 0;
        read_digits(digits.data(), digits.data() + digits.size(), number);
        if (static_cast<i64>(digits.size()) > MAX_DIGITS || number > most_ + base_)
            refuse(p, text + ": the largest is " + std::to_string(most_ + base_) + "; hash the features into fewer");
        if (number < base_) refuse(p, text + ": indices start at 1, unless the file is read as zero-based");
        const i64 column = static_cast<i64>(number - base_);
        if (column == last) refuse(p, text + " twice: give each feature once; add up or drop duplicates");
        if (column < last)
            refuse(p, text + " after " + std::to_string(last + static_cast<i64>(base_)) +
                          ": indices must rise; sort the entries of each line");
        refuse(p, text + ": beyond the " + std::to_string(options_.n_features) + " features; allow more, or hash them");
    }

    const SvmlightOptions& options_;
    std::uint64_t base_, most_, limit_;
    const char* text_end_;
};

}  // namespace perceptive
