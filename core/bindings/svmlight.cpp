#include "svmlight.hpp"

#include "arrays.hpp"

namespace perceptive {

namespace {

template <class V>
nb::tuple parse(std::string_view text, const SvmlightOptions& options) {
    auto rows = [&] {
        nb::gil_scoped_release release;
        return SvmlightRows<V>(text, options);
    }();
    return nb::make_tuple(to_numpy(std::move(rows.label)), to_numpy(std::move(rows.qid)),
                          to_numpy(std::move(rows.indptr)), to_numpy(std::move(rows.indices)),
                          to_numpy(std::move(rows.data)), rows.lines);
}

}  // namespace

void bind_svmlight(nb::module_& m) {
    m.def(
        "parse_svmlight",
        [](const nb::bytes& text, const std::string& name, i64 first_line, bool zero_based,
           std::optional<i64> n_features, bool single) {
            require(text.size() < size_t{1} << 31, "a block must be below 2 GiB; a line may be no longer");
            require(!n_features || *n_features >= 0, "n_features must not be negative");
            const SvmlightOptions options{name, first_line, zero_based, n_features.value_or(-1)};
            const std::string_view view(text.c_str(), text.size());
            return single ? parse<float>(view, options) : parse<double>(view, options);
        },
        nb::arg("text"), nb::arg("name"), nb::arg("first_line"), nb::arg("zero_based"), nb::arg("n_features").none(),
        nb::arg("single"),
        nb::sig("def parse_svmlight(text: bytes, name: str, first_line: int, zero_based: bool, n_features: int | None, "
                "single: bool) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray, int]"),
        "Parse whole lines: label, qid, indptr, indices, data, and the number of lines.");
}

}  // namespace perceptive
