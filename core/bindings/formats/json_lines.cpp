#include "formats/json_lines.hpp"

#include "bindings/formats/parsing.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_json_lines(nb::module_& m) {
    nb::class_<JsonOptions>(m, "JsonLines", "A parser of JSON lines.")
        .def(
            "__init__",
            [](JsonOptions* self, FeatureOptions features, TextReading text, std::string label, std::string text_key,
               bool only_text) {
                require_same_kernel(features, text);
                new (self)
                    JsonOptions{std::move(features), std::move(text), std::move(label), std::move(text_key), only_text};
            },
            "features"_a, "text"_a, "label"_a, "text_key"_a, "only_text"_a)
        .def(
            "parse",
            [](const JsonOptions& options, const nb::object& text, bool single, bool skip) {
                return parse<JsonParser>(text, options, single, skip);
            },
            "text"_a, "single"_a, "skip"_a, PARSE_DOC);
}

}  // namespace perceptive
