// The parsers of all formats: text in, examples out.

#include <memory>

#include "bindings/formats/parsing.hpp"
#include "formats/csv.hpp"
#include "formats/json_lines.hpp"
#include "formats/labelled_text.hpp"
#include "formats/svmlight.hpp"
#include "formats/vw.hpp"

namespace perceptive {

namespace {

CsvColumn column_of(const std::string& kind) {
    return by_name<CsvColumn>(kind, {"any", "categorical", "text", "label", "weight", "ignored"},
                              "a column is any, categorical, text, label, weight or ignored");
}

LabelReading labels_of(const std::string& how) {
    return by_name<LabelReading>(how, {"before", "typed", "numbers", "words"},
                                 "labels are read as before, typed, numbers or words");
}

CsvDialect dialect_of(const std::string& delimiter, bool quotes) {
    require(delimiter.size() == 1 && delimiter != "\"" && delimiter != "\n" && delimiter != "\r",
            "a delimiter is one byte, and neither a quote nor the end of a line");
    return {delimiter[0], quotes};
}

// What a parser does; one of named features also measures them.
template <template <class> class Parser, class Options>
void def_parse(nb::class_<Options>& format) {
    format.def(
        "parse",
        [](const Options& options, const nb::object& text, bool single, bool skip) {
            return parse<Parser>(text, options, single, skip);
        },
        "text"_a, "single"_a, "skip"_a,
        "Parse whole lines: labels, which, weight, qid, indptr, indices, data, gaps, odd, codes, lines, skipped, "
        "complaints, names.");
    if constexpr (std::is_base_of_v<FeatureParser<double>, Parser<double>>)
        format.def(
            "measure",
            [](const Options& options, const nb::object& object) {
                const Text text(object);
                Measures measures;
                nb::gil_scoped_release release;
                Parser<double> parser(text, options);
                parser.features.measures = &measures;
                parse_lines(text, parser, true);
                measures.rows = length(parser.examples.which);
                return measures;
            },
            "text"_a, "How large the numbers of whole lines are, by column; broken lines count for nothing.");
}

using Factors = std::vector<std::tuple<std::string, double, double>>;  // name, shift, factor

std::shared_ptr<const Scaling> scaling_of(const Factors& factors) {
    if (factors.empty()) return nullptr;
    auto scaling = std::make_shared<Scaling>();
    for (const auto& [name, shift, factor] : factors) {
        require(std::isfinite(shift) && std::isfinite(factor), "columns are scaled by finite numbers");
        require(!scaling->find(name), "a column is scaled once");
        scaling->add(name) = {shift, factor};
    }
    return scaling;
}

using Columns = std::vector<std::pair<std::string, std::int32_t>>;

std::shared_ptr<const NamedColumns> columns_of(const std::optional<Columns>& columns, std::int32_t others, int bits) {
    if (!columns) return nullptr;
    auto named = std::make_shared<NamedColumns>();
    named->others = others;
    require(others < 0 || others >> bits == 0, "columns must be below 2^bits");
    for (const auto& [name, column] : *columns) {
        require(column >= 0 && column >> bits == 0, "columns must be from 0 to 2^bits - 1");
        named->known.add(name) = column;
    }
    return named;
}

// A row of seven numbers for each column.
auto table_of(const Measures& measures) {
    std::vector<double> table;
    for (const std::string& name : measures.columns.names()) {
        const Measure& m = *measures.columns.find(name);
        for (const double x :
             {static_cast<double>(m.n), static_cast<double>(m.nonzero), m.mean, m.spread, m.squares, m.low, m.high})
            table.push_back(x);
    }
    return to_numpy(std::move(table));
}

}  // namespace

void bind_formats(nb::module_& m) {
    nb::class_<Measures>(m, "Measures", "How large the numbers of named columns are.")
        .def(nb::init<>())
        .def_ro("rows", &Measures::rows)
        .def("merge", &Measures::merge, "other"_a, "Add those of later rows.")
        .def_prop_ro("names",
                     [](const Measures& self) {
                         const auto& names = self.columns.names();
                         return std::vector<std::string>(names.begin(), names.end());
                     })
        .def_prop_ro(
            "codes",
            [](const Measures& self) { return std::vector<std::string>(self.codes.begin(), self.codes.end()); })
        .def_prop_ro(
            "words",
            [](const Measures& self) {
                std::vector<std::tuple<std::string, i64, std::vector<nb::bytes>>> words;
                for (const std::string& name : self.words.names()) {
                    const WordCount& found = *self.words.find(name);
                    std::vector<nb::bytes> first;
                    for (const std::string& word : found.first) first.emplace_back(word.data(), word.size());
                    words.emplace_back(name, found.n, std::move(first));
                }
                return words;
            },
            "Of each column with words its name, how many there are, and the first two that differ.")
        .def("table", &table_of,
             "Of each column one after the other: numbers, non-zeros, mean, Σ(x − mean)², Σx², smallest, largest.");
    m.def(
        "meant",
        [](const std::string& value) {
            std::string room;
            const std::string_view word = trim(value);
            return std::string(is_missing(word) ? "" : meant(word, room));
        },
        "value"_a, "The word that a value of a table stands for, however it is written; '' is missing.");
    nb::class_<FeatureOptions>(m, "FeatureOptions",
                               "How named features are scaled and hashed, or given columns, and which interact.")
        .def(
            "__init__",
            [](FeatureOptions* self, int bits, std::uint32_t seed, bool with_signs, bool remember, bool all_pairs,
               std::vector<std::pair<std::string, std::string>> pairs, const Factors& scaling, bool missing, bool apart,
               bool alike, const std::optional<Columns>& columns, std::int32_t others) {
                require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
                new (self) FeatureOptions{{bits, seed, with_signs},
                                          remember,
                                          all_pairs,
                                          std::move(pairs),
                                          scaling_of(scaling),
                                          missing,
                                          apart,
                                          alike,
                                          columns_of(columns, others, bits)};
            },
            "bits"_a, "seed"_a, "signed"_a, "remember"_a, "all_pairs"_a, "pairs"_a, "scaling"_a = Factors(),
            "missing"_a = false, "apart"_a = false, "alike"_a = false, "columns"_a.none() = nb::none(),
            "others"_a = -1);
    nb::class_<SvmlightOptions> svmlight(m, "Svmlight", "A parser of svmlight (libsvm) files.");
    svmlight.def(
        "__init__",
        [](SvmlightOptions* self, bool zero_based, std::optional<i64> n_features, std::optional<FeatureOptions> hashed,
           bool queries, const Factors& scaling) {
            require(!n_features || *n_features >= 0, "n_features must not be negative");
            FeatureOptions features = hashed.value_or(FeatureOptions{});
            if (!hashed) features.scaling = scaling_of(scaling);
            new (self)
                SvmlightOptions{zero_based, n_features.value_or(-1), hashed.has_value(), std::move(features), queries};
        },
        "zero_based"_a, "n_features"_a.none(), "hashed"_a.none(), "queries"_a = false, "scaling"_a = Factors());
    def_parse<SvmlightParser>(svmlight);
    nb::class_<VwOptions> vw(m, "Vw", "A parser of Vowpal Wabbit's text format.");
    vw.def(
        "__init__", [](VwOptions* self, FeatureOptions features) { new (self) VwOptions{std::move(features)}; },
        "features"_a);
    def_parse<VwParser>(vw);
    nb::class_<JsonOptions> json_lines(m, "JsonLines", "A parser of JSON lines.");
    json_lines.def(
        "__init__",
        [](JsonOptions* self, FeatureOptions features, TextReading text, std::string label, std::string text_key,
           std::string weight, std::optional<std::vector<std::string>> columns, bool numerals,
           const std::vector<std::string>& words, const std::string& labels, const std::vector<std::string>& ignored) {
            require_same_kernel(features, text);
            std::optional<std::unordered_set<std::string>> known;
            if (columns) known.emplace(columns->begin(), columns->end());
            new (self) JsonOptions{std::move(features),
                                   std::move(text),
                                   std::move(label),
                                   std::move(text_key),
                                   std::move(weight),
                                   std::move(known),
                                   numerals,
                                   {words.begin(), words.end()},
                                   labels_of(labels),
                                   {ignored.begin(), ignored.end()}};
        },
        "features"_a, "text"_a, "label"_a, "text_key"_a, "weight"_a = "weight", "columns"_a.none() = nb::none(),
        "numerals"_a = false, "words"_a = std::vector<std::string>(), "labels"_a = "typed",
        "ignored"_a = std::vector<std::string>());
    def_parse<JsonParser>(json_lines);
    nb::class_<LabelledTextOptions> labelled_text(m, "LabelledText",
                                                  "A parser of lines of text, with labels or without.");
    labelled_text.def(
        "__init__",
        [](LabelledTextOptions* self, TextReading text, bool labelled, bool remember) {
            new (self) LabelledTextOptions{std::move(text), labelled, remember};
        },
        "text"_a, "labelled"_a, "remember"_a);
    def_parse<LabelledTextParser>(labelled_text);
    m.def(
        "csv_whole",
        [](const nb::object& text, const std::string& delimiter, bool quotes) {
            return csv_whole(Text(text), dialect_of(delimiter, quotes));
        },
        "text"_a, "delimiter"_a, "quotes"_a = true, "How many bytes the whole records have.");
    m.def(
        "csv_delimiter",
        [](const nb::object& text, bool whole, bool quotes) -> std::optional<std::string> {
            const char found = csv_delimiter(Text(text), whole, quotes);
            return found ? std::optional(std::string(1, found)) : std::nullopt;
        },
        "text"_a, "whole"_a, "quotes"_a = true,
        "What the first record is delimited by; None where it is not whole, unless all is there.");
    m.def(
        "csv_header",
        [](const nb::object& object, const std::string& delimiter, bool quotes) {
            const Text text(object);
            const std::string_view all = text;
            try {
                CsvHeader header = csv_header(all, dialect_of(delimiter, quotes));
                return nb::make_tuple(std::move(header.names), header.size);
            } catch (const BadLine& bad) {
                const Complaint where = complain(bad, all.data(), 1, all.data());
                throw std::invalid_argument(std::to_string(where.line) + ":" + std::to_string(where.column) + ": " +
                                            where.message);
            }
        },
        "text"_a, "delimiter"_a, "quotes"_a = true,
        nb::sig("def csv_header(text: object, delimiter: str, quotes: bool = True) -> tuple[list[str], int]"),
        "The names in the first record, and how many bytes it has.");
    nb::class_<CsvOptions> csv(m, "Csv", "A parser of comma-separated values, below the header.");
    csv.def(
        "__init__",
        [](CsvOptions* self, FeatureOptions features, std::optional<TextReading> text, const std::string& delimiter,
           const std::vector<std::pair<std::string, std::string>>& columns, const std::string& labels, bool quotes) {
            const CsvDialect dialect = dialect_of(delimiter, quotes);
            CsvOptions options{std::move(features), std::move(text), dialect, {}, labels_of(labels)};
            if (options.text) require_same_kernel(options.features, *options.text);
            for (const auto& [name, kind] : columns) {
                options.columns.emplace_back(name, column_of(kind));
                require(options.text || kind != "text", "a column of text needs text options");
            }
            new (self) CsvOptions(std::move(options));
        },
        "features"_a, "text"_a.none(), "delimiter"_a, "columns"_a, "labels"_a = "typed", "quotes"_a = true);
    def_parse<CsvParser>(csv);
}

}  // namespace perceptive
