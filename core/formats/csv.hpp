// Comma-separated values (RFC 4180) under a header, also with another delimiter. The twin is
// tests/support/twins/csv.py.
//
// A number stays a number: the feature is named as its column. Any other value becomes the feature "column=value", as
// do the numbers of a categorical column. Empty, NA, NaN and null, in any case, are missing: there is no such feature,
// or "column=missing" where that is asked for. A column may hold the weights of examples; where one is missing, it
// is 1. Blanks around a value count for nothing, unless it is quoted: then they count in texts, and for models from
// before in all. A field that begins with a quote ends with one; within, two quotes stand for one, and
// delimiters and newlines are plain text. Elsewhere quotes are refused; in files where they mean nothing they are plain
// text, and a line is a record.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/label.hpp"
#include "formats/lines.hpp"
#include "formats/numbers.hpp"

namespace perceptive {

struct CsvDialect {
    char delimiter = ',';
    bool quotes = true;  // whether they mean something
};

// A field from p on: where it ends (at a delimiter, a newline or `end`).
struct CsvField {
    const char *begin, *end;  // of the value, without the quotes around it
    const char* stop;
    bool quoted, doubled;  // between quotes; with two quotes for one within
    bool closed;           // false where the last quote is missing
};

inline CsvField csv_field(const char* p, const char* end, CsvDialect dialect) {
    const auto stops = [&](char c) { return c == dialect.delimiter || c == '\n'; };
    if (p == end || *p != '"' || !dialect.quotes) {
        const char* const stop = std::find_if(p, end, stops);
        return {p, stop, stop, false, false, true};
    }
    bool doubled = false;
    for (const char* q = p + 1;; q += 2, doubled = true) {
        q = std::find(q, end, '"');
        if (q == end) return {p + 1, end, end, true, doubled, false};
        if (q + 1 == end || q[1] != '"') return {p + 1, q, std::find_if(q + 1, end, stops), true, doubled, true};
    }
}

// The newline that ends the record at p, or nullptr.
inline const char* csv_record_end(const char* p, const char* end, CsvDialect dialect) {
    const auto size = static_cast<std::size_t>(end - p);
    const auto* const newline = static_cast<const char*>(std::memchr(p, '\n', size));
    const std::size_t line = newline ? static_cast<std::size_t>(newline - p) : size;
    if (!dialect.quotes || !std::memchr(p, '"', line)) return newline;
    while (true) {
        const CsvField field = csv_field(p, end, dialect);
        if (field.stop == end) return nullptr;
        if (*field.stop == '\n') return field.stop;
        p = field.stop + 1;
    }
}

// How many bytes the whole records of a text have.
inline std::size_t csv_whole(std::string_view text, CsvDialect dialect) {
    if (!dialect.quotes || text.find('"') == std::string_view::npos)
        return text.rfind('\n') + 1;  // none: npos + 1 is 0
    const char *p = text.data(), *const end = p + text.size();
    while (const char* const newline = csv_record_end(p, end, dialect)) p = newline + 1;
    return static_cast<std::size_t>(p - text.data());
}

enum class CsvColumn { any, categorical, text, label, weight, ignored };

struct CsvOptions {
    FeatureOptions features;
    std::optional<TextReading> text;
    CsvDialect dialect;
    std::vector<std::pair<std::string, CsvColumn>> columns;
    LabelReading labels = LabelReading::typed;
};

// The value of a field; `unquoted` holds it where it is not in the text as such.
inline std::string_view csv_value(const CsvField& field, std::string& unquoted) {
    const std::string_view text(field.begin, static_cast<std::size_t>(field.end - field.begin));
    if (!field.quoted) return trim(text);
    if (!field.doubled) return text;
    unquoted.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        unquoted += text[i];
        if (text[i] == '"') ++i;
    }
    return unquoted;
}

// What else may be wrong with quotes: they have no special meaning, or another mark separates what looks like a single
// column.
inline std::string csv_quote_cure(std::string_view only_column = {}) {
    const std::size_t at = only_column.find_first_of("|;:");
    if (at == std::string_view::npos)
        return "; if quotes have no special meaning, give --quote none (Python: quote=None)";
    const std::string mark = std::string("'") + only_column[at] + "'";
    return "; if " + mark + " separates the columns, give --delimiter " + mark + " (Python: delimiter=" + mark + ")";
}

// Throws if the quotes of a field that begins at p are not as they should be.
inline void csv_check(const char* p, const CsvField& field, CsvDialect dialect, const std::string& cure) {
    if (!dialect.quotes) return;
    if (!field.closed) refuse(p, "the quote that opens here is never closed; close it, or double it" + cure);
    const char* const after = field.quoted ? field.end + 1 : std::find(field.begin, field.end, '"');
    if (after == field.stop) return;
    if (field.quoted) refuse(after, "there is more after the closing quote; double the quotes within a value" + cure);
    refuse(after, "there is a quote within a value; put the value in quotes, and double those within" + cure);
}

// How many bytes the byte order mark of UTF-8 takes at the start of a text.
inline std::size_t mark_size(std::string_view text) {
    static constexpr std::string_view MARK = "\xEF\xBB\xBF";
    return text.substr(0, MARK.size()) == MARK ? MARK.size() : 0;
}

struct CsvHeader {
    std::vector<std::string> names;
    std::size_t size;  // bytes, with the newline
};

// The names in the first record of a file; only the empty one may occur twice. Throws BadLine.
inline CsvHeader csv_header(std::string_view text, CsvDialect dialect) {
    const char *p = text.data() + mark_size(text), *end = text.data() + text.size();
    CsvHeader header;
    const char* const newline = csv_record_end(p, end, dialect);
    header.size = static_cast<std::size_t>((newline ? newline + 1 : end) - text.data());
    if (newline) end = newline;
    if (end > p && end[-1] == '\r') --end;
    if (skip_blanks(p, end) == end) refuse(p, "the first line is empty; it must name the columns");
    std::string unquoted;
    const std::string cure = csv_quote_cure();
    std::unordered_set<std::string> met;
    while (true) {
        const CsvField field = csv_field(p, end, dialect);
        csv_check(p, field, dialect, cure);
        const std::string_view name = csv_value(field, unquoted);
        require_short(name, p);
        require_utf8(name, p, "the name of a column");
        if (!name.empty() && !met.emplace(name).second)
            refuse(p, "there are two columns '" + shown(name) + "'; rename one");
        header.names.emplace_back(name);
        if (field.stop == end) return header;
        p = field.stop + 1;
    }
}

// Of , TAB and ; the one that divides the first record into most fields; the earlier of equals. '\0' where the text
// holds no whole record yet.
inline char csv_delimiter(std::string_view text, bool whole, bool quotes = true) {
    std::size_t most = 0;
    char found = '\0';
    for (const char delimiter : {',', '\t', ';'}) {
        const char *p = text.data() + mark_size(text), *end = text.data() + text.size();
        const CsvDialect dialect{delimiter, quotes};
        const char* const newline = csv_record_end(p, end, dialect);
        if (!newline && !whole) continue;
        if (newline) end = newline;
        std::size_t fields = 1;
        while ((p = csv_field(p, end, dialect).stop) < end) ++p, ++fields;
        if (fields > most) most = fields, found = delimiter;
    }
    return found;
}

constexpr std::ptrdiff_t FEW_LINES = 3;  // of a value, which nobody needs to be told of

template <class V>
class CsvParser : public FeatureParser<V> {
  public:
    static constexpr bool many_lines = true, tells_broken_utf8 = true;
    using FeatureParser<V>::examples, FeatureParser<V>::features;

    CsvParser(std::string_view, const CsvOptions& options)
        : FeatureParser<V>(options.features),
          options_(options),
          cure_(csv_quote_cure(options.columns.size() == 1 ? options.columns[0].first : "")) {
        if (options.text) text_.emplace(options.text->options, options.text->idf);
        for (const auto& [name, kind] : options.columns) {
            scales_.push_back(features.scale_of(name));
            weighted_ |= kind == CsvColumn::weight;
        }
    }

    const char* line_end(const char* p, const char* end) const { return csv_record_end(p, end, options_.dialect); }

    void line(const char* p, const char* end) {
        if (skip_blanks(p, end) == end && options_.dialect.delimiter != '\t') return;
        if (p == end) return;
        const char* const begin = p;
        label_ = std::nullopt;
        weight_ = 1.0;
        std::size_t i = 0;
        for (;; ++i) {
            const CsvField field = csv_field(p, end, options_.dialect);
            csv_check(p, field, options_.dialect, cure_);
            if (field.quoted) note_span(p, field);
            if (i < options_.columns.size()) cell(i, p, csv_value(field, unquoted_));
            if (field.stop == end) break;
            p = field.stop + 1;
        }
        if (i + 1 != options_.columns.size())
            refuse(begin, "the row has " + fields(i + 1) + ", the header " + std::to_string(options_.columns.size()) +
                              "; check the delimiter and the quotes");
        features.end(examples, end);
        if (weighted_) examples.weight.push_back(weight_);
        examples.end_row(examples.labels.find(label_));
    }

  private:
    static std::string fields(std::size_t n) { return std::to_string(n) + (n == 1 ? " field" : " fields"); }

    // Notes a value that has lines of the file within its quotes, as it seems: those of other records.
    void note_span(const char* p, const CsvField& field) {
        const auto size = static_cast<std::size_t>(field.end - field.begin);
        if (!std::memchr(field.begin, '\n', size) || !std::memchr(field.begin, options_.dialect.delimiter, size))
            return;
        const auto lines = 1 + std::count(field.begin, field.end, '\n');
        if (lines <= FEW_LINES && options_.dialect.delimiter != '\t') return;
        examples.spans.note(p, [&] { return "a value in quotes has " + std::to_string(lines) + " lines"; });
    }

    void cell(std::size_t i, const char* at, std::string_view value) {
        const auto& [name, kind] = options_.columns[i];
        if (kind == CsvColumn::ignored) return;
        if (kind == CsvColumn::text) return features.add_text(*text_, value);
        const bool weight = kind == CsvColumn::weight;
        if (kind == CsvColumn::label) return void(label_ = label_of(examples, value, options_.labels, false, at));
        if (options_.features.alike) value = trim(value);
        if (is_missing(value)) {
            if (!weight) features.add_missing(name, name);
            return;
        }
        if (kind == CsvColumn::categorical) return features.add_word(name, value, name);
        double x = 0.0;
        const bool number = reads_as_number(value, x);
        if (weight) return weigh(value, number, x, at);
        const double scaled = number ? scaled_number(i, x) : x;
        if (number ? !std::isfinite(static_cast<V>(scaled)) : is_not_finite(value))
            refuse_number(value, "value", "", type_name<V>, at);
        if (number)
            features.add_number(name, scaled, name);
        else
            features.add_word(name, value, name);
    }

    double scaled_number(std::size_t i, double x) const {
        if (features.measures) features.measures->add(options_.columns[i].first, x);
        return scales_[i](x);
    }

    void weigh(std::string_view value, bool number, double x, const char* at) {
        if (!number || std::isinf(x)) refuse_number(value, "weight", "give 0 or more", "float64", at);
        if (x < 0.0) refuse(at, "weight '" + shown(value) + "' is negative; give 0 or more");
        weight_ = x + 0.0;  // −0 is 0
    }

    const CsvOptions& options_;
    const std::string cure_;  // of broken quotes
    std::optional<TextFeatures> text_;
    std::optional<LabelTable::Value> label_;
    std::string unquoted_;
    std::vector<Scale> scales_;  // of each column
    bool weighted_ = false;
    double weight_ = 1.0;
};

}  // namespace perceptive
