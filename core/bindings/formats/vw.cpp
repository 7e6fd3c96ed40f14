#include "formats/vw.hpp"

#include "bindings/formats/parsing.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_vw(nb::module_& m) {
    nb::class_<VwOptions>(m, "Vw", "A parser of Vowpal Wabbit's text format.")
        .def(
            "__init__", [](VwOptions* self, FeatureOptions features) { new (self) VwOptions{std::move(features)}; },
            "features"_a)
        .def(
            "parse",
            [](const VwOptions& options, const nb::object& text, bool single, bool skip) {
                return parse<VwParser>(text, options, single, skip);
            },
            "text"_a, "single"_a, "skip"_a, PARSE_DOC);
}

}  // namespace perceptive
