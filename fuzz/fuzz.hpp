// What the fuzzers of all parsers share. The first byte of an input chooses options; the rest is the file.
//
// Besides crashing, hanging and reading out of bounds, a parser may not: make rows that are not sorted or not finite,
// count lines wrongly, or read other examples where the file is cut into blocks.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "formats/examples.hpp"
#include "formats/features.hpp"
#include "formats/lines.hpp"

namespace perceptive {

inline void demand(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

inline FeatureOptions feature_options(unsigned choice) {
    FeatureOptions options{
        {choice & 1 ? 3 : 20, choice & 2 ? 7u : 0u, (choice & 4) != 0}, (choice & 8) != 0, false, {}};
    options.all_pairs = (choice & 48) == 16;
    if ((choice & 48) == 32) options.pairs = {{"a", "b"}, {"", "a"}};
    if (choice & 2) {
        auto scaling = std::make_shared<Scaling>();
        scaling->add("a") = {1.5, 0.25};
        scaling->add("1") = {-1e300, 1e30};
        options.scaling = std::move(scaling);
        options.missing = options.apart = options.alike = true;
    }
    return options;
}

inline TextReading text_reading(unsigned choice) {
    TextOptions options;
    options.words_most = choice & 16 ? 2 : 1;
    if (choice & 32) options.chars_least = 2, options.chars_most = 3;
    options.weighting = choice & 64 ? Weighting::log_tf : Weighting::tf;
    options.kernel = feature_options(choice).kernel;
    return {options, nullptr, nullptr};
}

template <class T>
void append(std::string& all, T value) {
    all.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Everything that a parser says about a text, as bytes.
template <class Parser, class Options>
std::string told(std::string_view text, const Options& options, Report& report) {
    Parser parser(text, options);
    report = parse_lines(text, parser, true);
    const auto& e = parser.examples;
    const std::size_t n = e.which.size();
    demand(e.indptr.size() == n + 1, "one bound more than rows");
    demand(e.weight.size() == 0 || e.weight.size() == n, "a weight for each row");
    demand(e.qid.size() == 0 || e.qid.size() == n, "a query for each row");
    demand(static_cast<std::size_t>(e.indptr.back()) == e.indices.size(), "the rows hold all entries");
    demand(e.indices.size() == e.data.size(), "an index for each value");
    demand(report.skipped + static_cast<i64>(n) <= report.lines, "no more rows than lines");
    std::string all;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t label = e.which.data()[i];
        demand(label >= UNLABELLED && label < static_cast<std::int32_t>(e.labels.values().size()), "labels are known");
        if (label >= 0) {
            const LabelTable::Value& value = e.labels.values()[static_cast<std::size_t>(label)];
            if (const double* const number = std::get_if<double>(&value))
                append(all, *number);
            else if (const WholeNumber* const whole = std::get_if<WholeNumber>(&value))
                all += whole->digits;
            else
                all += std::get<std::string>(value);
        }
        if (e.weight.size()) {
            demand(e.weight.data()[i] >= 0.0 && std::isfinite(e.weight.data()[i]), "weights are finite, 0 or more");
            append(all, e.weight.data()[i]);
        }
        for (auto p = e.indptr.data()[i]; p < e.indptr.data()[i + 1]; ++p) {
            demand(p == e.indptr.data()[i] || e.indices.data()[p - 1] < e.indices.data()[p], "indices rise");
            demand(e.indices.data()[p] >= 0 && std::isfinite(e.data.data()[p]), "entries are sound");
            append(all, e.indices.data()[p]);
            append(all, e.data.data()[p]);
        }
        all += "\n";
    }
    return all;
}

template <class Parser, class Options>
Measures measured(std::string_view text, const Options& options) {
    Measures measures;
    Parser parser(text, options);
    parser.features.measures = &measures;
    parse_lines(text, parser, true);
    return measures;
}

// Columns measured in two parts are as they are measured in one.
template <class Parser, class Options>
void fuzz_measures(std::string_view text, std::string_view begin, std::string_view rest, const Options& options) {
    const Measures whole = measured<Parser>(text, options);
    Measures parts = measured<Parser>(begin, options);
    parts.merge(measured<Parser>(rest, options));
    demand(parts.columns.size() == whole.columns.size() && parts.words.size() == whole.words.size() &&
               parts.codes == whole.codes,
           "blocks have the same columns as the file");
    for (const std::string& name : whole.columns.names())
        demand(parts.columns.find(name)->n == whole.columns.find(name)->n, "blocks have as many numbers as the file");
    for (const std::string& name : whole.words.names()) {
        const WordCount &one = *parts.words.find(name), &other = *whole.words.find(name);
        demand(one.n == other.n && one.first == other.first, "blocks have the same words as the file");
    }
}

template <class Parser, class Options, class Cut>
int fuzz_as(std::string_view text, const Options& options, Cut cut) {
    Report whole, first, second;
    const std::string all = told<Parser>(text, options, whole);
    const std::size_t middle = cut(text.substr(0, text.size() / 2));
    const std::string begin(text.substr(0, middle)), rest(text.substr(middle));  // so that reading past an end is seen
    const std::string parts = told<Parser>(begin, options, first) + told<Parser>(rest, options, second);
    demand(parts == all, "blocks hold the same examples as the file");
    demand(first.lines + second.lines == whole.lines, "blocks hold as many lines as the file");
    demand(first.skipped + second.skipped == whole.skipped, "blocks hold as many bad lines as the file");
    if constexpr (std::is_base_of_v<FeatureParser<float>, Parser> || std::is_base_of_v<FeatureParser<double>, Parser>)
        fuzz_measures<Parser>(text, begin, rest, options);
    return 0;
}

// cut(text): how many bytes its whole lines have.
template <template <class> class Parser, class Options, class Cut>
int fuzz(std::string_view text, const Options& options, Cut cut) {
    return text.size() % 2 ? fuzz_as<Parser<float>>(text, options, cut) : fuzz_as<Parser<double>>(text, options, cut);
}

inline std::size_t whole_lines(std::string_view text) { return text.rfind('\n') + 1; }

inline std::string_view text_of(const unsigned char* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data) + 1, size - 1};
}

}  // namespace perceptive
