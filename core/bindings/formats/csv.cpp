#include "formats/csv.hpp"

#include "bindings/formats/parsing.hpp"

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

}  // namespace

void bind_csv(nb::module_& m) {
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
                const char* from = all.data();
                i64 line = 1;
                for (const char* q = from; q < bad.at; ++q)
                    if (*q == '\n') ++line, from = q + 1;
                throw std::invalid_argument(std::to_string(line) + ":" + std::to_string(bad.at - from + 1) + ": " +
                                            bad.message);
            }
        },
        "text"_a, "delimiter"_a, nb::sig("def csv_header(text: object, delimiter: str) -> tuple[list[str], int]"),
        "The names in the first record, and how many bytes it has.");
    nb::class_<CsvOptions>(m, "Csv", "A parser of comma-separated values, below the header.")
        .def(
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
            "features"_a, "text"_a.none(), "delimiter"_a, "columns"_a)
        .def(
            "parse",
            [](const CsvOptions& options, const nb::object& text, bool single, bool skip) {
                return parse<CsvParser>(text, options, single, skip);
            },
            "text"_a, "single"_a, "skip"_a, PARSE_DOC);
}

}  // namespace perceptive
