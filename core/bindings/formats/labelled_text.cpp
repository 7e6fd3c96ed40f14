#include "formats/labelled_text.hpp"

#include "bindings/formats/parsing.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_labelled_text(nb::module_& m) {
    nb::class_<LabelledTextOptions>(m, "LabelledText", "A parser of lines of text, with labels or without.")
        .def(
            "__init__",
            [](LabelledTextOptions* self, TextReading text, bool labelled, bool remember) {
                new (self) LabelledTextOptions{std::move(text), labelled, remember};
            },
            "text"_a, "labelled"_a, "remember"_a)
        .def(
            "parse",
            [](const LabelledTextOptions& options, const nb::object& text, bool single, bool skip) {
                return parse<LabelledTextParser>(text, options, single, skip);
            },
            "text"_a, "single"_a, "skip"_a, PARSE_DOC);
}

}  // namespace perceptive
