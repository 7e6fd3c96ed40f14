#include "formats/svmlight.hpp"

#include "bindings/formats/parsing.hpp"

using namespace nb::literals;

namespace perceptive {

void bind_svmlight(nb::module_& m) {
    nb::class_<FeatureOptions>(m, "FeatureOptions", "How named features are hashed, and which of them interact.")
        .def(
            "__init__",
            [](FeatureOptions* self, int bits, std::uint32_t seed, bool with_signs, bool remember, bool all_pairs,
               std::vector<std::pair<std::string, std::string>> pairs) {
                require(bits >= 1 && bits <= 30, "bits must be 1 … 30");
                new (self) FeatureOptions{{bits, seed, with_signs}, remember, all_pairs, std::move(pairs)};
            },
            "bits"_a, "seed"_a, "signed"_a, "remember"_a, "all_pairs"_a, "pairs"_a);
    nb::class_<SvmlightOptions>(m, "Svmlight", "A parser of svmlight (libsvm) files.")
        .def(
            "__init__",
            [](SvmlightOptions* self, bool zero_based, std::optional<i64> n_features,
               std::optional<FeatureOptions> hashed, bool queries) {
                require(!n_features || *n_features >= 0, "n_features must not be negative");
                new (self) SvmlightOptions{zero_based, n_features.value_or(-1), std::move(hashed), queries};
            },
            "zero_based"_a, "n_features"_a.none(), "hashed"_a.none(), "queries"_a = false)
        .def(
            "parse",
            [](const SvmlightOptions& options, const nb::object& text, bool single, bool skip) {
                return parse<SvmlightParser>(text, options, single, skip);
            },
            "text"_a, "single"_a, "skip"_a, PARSE_DOC);
}

}  // namespace perceptive
