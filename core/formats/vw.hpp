// Vowpal Wabbit's text format: one example a line,
//
//   [label [importance [base]]] ['tag]|namespace[:weight] name[:value] … |namespace …
//
// A feature's name is "namespace^name", or "name" alone where the namespace has none. What touches the first bar, or
// begins with an apostrophe before it, is a tag and is left out, as is the base. The twin is tests/support/twins/vw.py.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/lines.hpp"
#include "formats/numbers.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace perceptive {

struct VwOptions {
    FeatureOptions features;
};

template <class V>
class VwParser : public FeatureParser<V> {
  public:
    using FeatureParser<V>::examples, FeatureParser<V>::features;

    VwParser(std::string_view text, const VwOptions& options)
        : FeatureParser<V>(options.features), text_end_(text.data() + text.size()) {}

    void line(const char* p, const char* end) {
        p = skip_blanks(p, end);
        if (p == end) return;
        const auto* const bar = static_cast<const char*>(std::memchr(p, '|', static_cast<std::size_t>(end - p)));
        if (!bar) refuse(p, "there is no '|' in the line; write label | name:value …");
        double numbers[3] = {0.0, 1.0, 0.0};
        const char* const label = p;
        const int given = head(p, bar, numbers);
        for (p = bar; p < end;) p = space(p + 1, end);
        features.end(examples, end);
        examples.weight.push_back(numbers[1] + 0.0);  // −0 is 0
        examples.end_row(given ? examples.labels.find(LabelTable::numeral(numbers[0], token_at(label, bar)))
                               : UNLABELLED);
    }

  private:
    // Reads the numbers before the first bar, and says how many there are.
    static int head(const char* p, const char* bar, double* numbers) {
        static constexpr const char* WHAT[] = {"label", "importance", "base"};
        int given = 0;
        while ((p = skip_blanks(p, bar)) < bar) {
            const std::string_view token = token_at(p, bar);
            const char* const next = skip_blanks(p + token.size(), bar);
            if (next == bar && (*p == '\'' || p + token.size() == bar)) break;  // a tag
            if (given == 3) refuse(p, "'" + shown(token) + "' is too much; write label importance base | features");
            numbers[given] = number_in(token, WHAT[given], "write label importance base | features");
            if (given == 1 && numbers[1] < 0.0)
                refuse(p, "importance '" + shown(token) + "' is negative; give 0 or more");
            ++given;
            p = next;
        }
        return given;
    }

    // A namespace, from after its bar to the next bar.
    const char* space(const char* p, const char* end) {
        double weight = 1.0;
        std::string_view space;
        if (p < end && *p == ':') refuse(p, "the namespace has no name; write |name:weight, or a space after the bar");
        if (const char* const stop = name_end(p, end); stop > p) {
            space = {p, static_cast<std::size_t>(stop - p)};
            require_short(space, p);
            p = stop;
            if (p < end && *p == ':') {
                const std::string_view token = value_at(p + 1, end);
                weight = number_in(token, "weight of a namespace", "write |name:weight");
                p = token.data() + token.size();
            }
        }
        prefix_.assign(space);
        if (!space.empty()) prefix_ += '^';
        while ((p = skip_blanks(p, end)) < end && *p != '|') p = feature(p, end, weight, space);
        return p;
    }

    const char* feature(const char* p, const char* end, double weight, std::string_view space) {
        const char *const stop = name_end(p, end), *q = stop;
        if (stop == p) refuse(p, "'" + shown(value_at(p, end)) + "' has no name before the colon; write name:value");
        double x = 1.0;
        if (stop < end && *stop == ':') {
            q = nullptr;
            if (text_end_ - stop > QUICK) {
                const int length = quick_decimal(stop + 1, 0, others_in(stop + 1), x);
                if (length && stop + 1 + length <= end && ends(stop + 1 + length, end)) q = stop + 1 + length;
            }
            if (!q) q = read_decimal(stop + 1, end, x);
            if (!q || !ends(q, end) || std::isinf(static_cast<V>(x)))
                refuse_number(value_at(stop + 1, end), "value", "write name:value, features separated by spaces",
                              type_name<V>);
        }
        x *= weight;
        std::string_view name(p, static_cast<std::size_t>(stop - p));
        if (!space.empty()) name = name_.assign(prefix_).append(name);
        if (q != stop) x = features.number(name, x);  // a name without a number is no number
        if (std::isinf(static_cast<V>(x)))
            refuse(p, "'" + shown(value_at(p, end)) + "' times the weight of its namespace is too large for " +
                          type_name<V> + "; rescale");
        features.add(name, x, space, space.empty() && text_end_ - stop >= 4);
        return q;
    }

    static bool is_special(char c) { return is_blank(c) || c == ':' || c == '|'; }
    static bool ends(const char* p, const char* end) { return p == end || is_blank(*p) || *p == '|'; }

    const char* name_end(const char* p, const char* end) const {
#if defined(__SSE2__)
        for (; text_end_ - p >= 16 && p < end; p += 16) {
            const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
            const auto is = [&](char c) { return _mm_cmpeq_epi8(x, _mm_set1_epi8(c)); };
            const int found =
                _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(is(' '), is(':')), _mm_or_si128(is('|'), is('\t'))));
            if (found) return std::min(p + __builtin_ctz(static_cast<unsigned>(found)), end);
        }
        if (p >= end) return end;
#endif
        return std::find_if(p, end, is_special);
    }

    static std::string_view value_at(const char* p, const char* end) { return token_at(p, std::find(p, end, '|')); }

    const char* text_end_;
    std::string prefix_, name_;
};

}  // namespace perceptive
