// The parsers of all formats: text in, examples out.
#include "bindings/formats/parsing.hpp"
#include "formats/csv.hpp"
#include "formats/json_lines.hpp"
#include "formats/labelled_text.hpp"
#include "formats/svmlight.hpp"
#include "formats/vw.hpp"

using namespace nb::literals;

namespace perceptive {

namespace {

CsvColumn column_of(const std::string& kind) {
    if (kind == "any") return CsvColumn::any;
    if (kind == "categorical") return CsvColumn::categorical;
    if (kind == "text") return CsvColumn::text;
    if (kind == "label") return CsvColumn::label;
    require(kind == "ignored", "a column is any, categorical, text, label or ignored");
    return CsvColumn::ignored;
}

char delimiter_of(const std::string& delimiter) {
    require(delimiter.size() == 1 && delimiter != "\"" && delimiter != "\n" && delimiter != "\r",
            "a delimiter is one byte, and neither a quote nor the end of a line");
    return delimiter[0];
}

template <template <class> class Parser, class Options>
void def_parse(nb::class_<Options>& format) {
    format.def(
        "parse",
        [](const Options& options, const nb::object& text, bool single, bool skip) {
            return parse<Parser>(text, options, single, skip);
        },
        "text"_a, "single"_a, "skip"_a,
        "Parse whole lines: labels, which, weight, qid, indptr, indices, data, gaps, lines, skipped, complaints, "
        "names.");
}

}  // namespace

void bind_formats(nb::module_& m) {
    nb::class_<FeatureOptions>(m, "FeatureOptions", "How named features are hashed, and which of them interact.")
        .def(
            "__init__",
            [](FeatureOptions* self, int bits, std::uint32_t seed, bool with_signs, bool remember, bool all_pairs,
               std::vector<std::pair<std::string, std::string>> pairs) {
                require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
                new (self) FeatureOptions{{bits, seed, with_signs}, remember, all_pairs, std::move(pairs)};
            },
            "bits"_a, "seed"_a, "signed"_a, "remember"_a, "all_pairs"_a, "pairs"_a);
    nb::class_<SvmlightOptions> svmlight(m, "Svmlight", "A parser of svmlight (libsvm) files.");
    svmlight.def(
        "__init__",
        [](SvmlightOptions* self, bool zero_based, std::optional<i64> n_features, std::optional<FeatureOptions> hashed,
           bool queries) {
            require(!n_features || *n_features >= 0, "n_features must not be negative");
            new (self) SvmlightOptions{zero_based, n_features.value_or(-1), hashed.has_value(),
                                       hashed.value_or(FeatureOptions{}), queries};
        },
        "zero_based"_a, "n_features"_a.none(), "hashed"_a.none(), "queries"_a = false);
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
           bool only_text) {
            require_same_kernel(features, text);
            new (self)
                JsonOptions{std::move(features), std::move(text), std::move(label), std::move(text_key), only_text};
        },
        "features"_a, "text"_a, "label"_a, "text_key"_a, "only_text"_a);
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
        [](const nb::object& text, const std::string& delimiter) {
            return csv_whole(Text(text), delimiter_of(delimiter));
        },
        "text"_a, "delimiter"_a, "How many bytes the whole records have.");
    m.def(
        "csv_delimiter",
        [](const nb::object& text, bool whole) -> std::optional<std::string> {
            const char found = csv_delimiter(Text(text), whole);
            return found ? std::optional(std::string(1, found)) : std::nullopt;
        },
        "text"_a, "whole"_a, "What the first record is delimited by; None where it is not whole, unless all is there.");
    m.def(
        "csv_header",
        [](const nb::object& object, const std::string& delimiter) {
            const Text text(object);
            const std::string_view all = text;
            try {
                CsvHeader header = csv_header(all, delimiter_of(delimiter));
                return nb::make_tuple(std::move(header.names), header.size);
            } catch (const BadLine& bad) {
                const Complaint where = complain(bad, all.data(), 1, all.data());
                throw std::invalid_argument(std::to_string(where.line) + ":" + std::to_string(where.column) + ": " +
                                            where.message);
            }
        },
        "text"_a, "delimiter"_a, nb::sig("def csv_header(text: object, delimiter: str) -> tuple[list[str], int]"),
        "The names in the first record, and how many bytes it has.");
    nb::class_<CsvOptions> csv(m, "Csv", "A parser of comma-separated values, below the header.");
    csv.def(
        "__init__",
        [](CsvOptions* self, FeatureOptions features, std::optional<TextReading> text, const std::string& delimiter,
           const std::vector<std::pair<std::string, std::string>>& columns) {
            CsvOptions options{std::move(features), std::move(text), delimiter_of(delimiter), {}};
            if (options.text) require_same_kernel(options.features, *options.text);
            for (const auto& [name, kind] : columns) {
                options.columns.emplace_back(name, column_of(kind));
                require(options.text || kind != "text", "a column of text needs text options");
            }
            new (self) CsvOptions(std::move(options));
        },
        "features"_a, "text"_a.none(), "delimiter"_a, "columns"_a);
    def_parse<CsvParser>(csv);
}

}  // namespace perceptive
