#include "sparse_weights.hpp"

#include "bindings/arrays.hpp"
#include "tasks/predict.hpp"

namespace perceptive {

namespace {

template <class W>
nb::object cells_of(const SparseWeights<W>& weights, i64 stride) {
    require(stride > 0, "a stride must be positive");
    Cells<W> cells;
    {
        nb::gil_scoped_release release;
        cells = weights.cells(stride);
    }
    nb::dict values;
    values["z"] = to_numpy(std::move(cells.z));
    if (weights.sum) values["sum"] = to_numpy(std::move(cells.sum));
    if (weights.sigma) values["sigma"] = to_numpy(std::move(cells.sigma));
    return nb::make_tuple(to_numpy(std::move(cells.at)), values);
}

template <class W>
void set(SparseWeights<W>& weights, i64 stride, const Vector<const i64>& at, const Vector<const W>& z,
         const Maybe<W>& sum, const Maybe<W>& sigma) {
    const auto n = at.size();
    require(z.size() == n && (!sum || sum->size() == n) && (!sigma || sigma->size() == n), "cells differ in number");
    require(sum.has_value() == weights.sum.has_value() && sigma.has_value() == weights.sigma.has_value(),
            "cells have other parts than the weights");
    require(stride > 0 && stride <= weights.width(), "there is no room for so many classes");
    const i64* const cell = at.data();
    for (std::size_t i = 0; i < n; ++i)
        require(cell[i] >= 0 && cell[i] / stride < (i64{1} << 31) && (i == 0 || cell[i] > cell[i - 1]),
                "cells must rise, and be in range");
    nb::gil_scoped_release release;
    for (std::size_t begin = 0, end = 0; begin < n; begin = end) {  // a feature
        const i64 feature = cell[begin] / stride;
        while (end < n && cell[end] / stride == feature) ++end;
        const auto put = [&](SparseRows<W>& rows, const W* values) {
            rows.set(
                feature, static_cast<i64>(end - begin), [&](i64 i) { return cell[begin + i] - feature * stride; },
                [&](i64 i) { return values[begin + i]; });
        };
        put(weights.z, z.data());
        if (sum) put(*weights.sum, sum->data());
        if (sigma) put(*weights.sigma, sigma->data());
    }
}

template <class W>
void scores_of(const SparseWeights<W>& weights, const CheckedRows& data, bool of_sum, bool normalize, const Matrix& out,
               int threads) {
    const i64 classes = extent(out, 1);
    require(extent(out, 0) == data.n && classes <= weights.width(), "out has the wrong shape");
    require(!of_sum || weights.sum.has_value(), "there is no sum");
    const SparseRows<W>* rows_of = of_sum ? &*weights.sum : &weights.z;
    const W* const none = nullptr;
    data.visit([&](const auto& rows) {
        linear_scores(rows, none, rows_of, weights.width(), classes, normalize, threads, out.data());
    });
}

void require_width(i64 width) {
    require(width > 0 && width < (i64{1} << 31) && width % 4 == 0, "a width must be a multiple of 4");
}

template <class W>
void bind_weights(nb::module_& m, const char* name) {
    nb::class_<SparseWeights<W>>(m, name,
                                 "The weights of many classes: of each feature only those of the classes that have "
                                 "erred on it.")
        .def(
            "__init__",
            [](SparseWeights<W>* self, i64 width, bool averaged, bool adaptive) {
                require_width(width);
                new (self) SparseWeights<W>(width, averaged, adaptive);
            },
            "width"_a, "averaged"_a = false, "adaptive"_a = false)
        .def_prop_ro("width", &SparseWeights<W>::width, "Room for classes.")
        .def(
            "widen",
            [](SparseWeights<W>& self, i64 width) {
                require_width(width);
                require(width >= self.width(), "weights cannot have less room");
                self.change([width](SparseRows<W>& rows) { rows.widen(width); });
            },
            "width"_a, "Have room for more classes.")
        .def(
            "relabel",
            [](SparseWeights<W>& self, const Vector<const i64>& new_label) {
                const i64 n = length(new_label);
                std::vector<bool> taken(new_label.size());
                require(n <= self.width(), "there are more classes than weights");
                for (i64 c = 0; c < n; ++c) {
                    const i64 to = new_label.data()[c];
                    require(to >= 0 && to < n && !taken[to], "classes must be numbered anew, each with its own number");
                    taken[to] = true;
                }
                self.change([&](SparseRows<W>& rows) { rows.relabel(new_label.data(), n); });
            },
            "new_label"_a, "Class c is now new_label[c]; there are no weights of other classes.")
        .def("cells", &cells_of<W>, "stride"_a,
             nb::sig("def cells(self, stride: int) -> tuple[numpy.typing.NDArray, dict[str, numpy.typing.NDArray]]"),
             "The weights that are not at their start: feature · stride + class of each, rising, and the values there.")
        .def("set", &set<W>, "stride"_a, "at"_a, "z"_a.noconvert(), "sum"_a.noconvert().none() = nb::none(),
             "sigma"_a.noconvert().none() = nb::none(), "Have these values in these cells.")
        .def("scores", &scores_of<W>, "rows"_a, "of_sum"_a, "normalize"_a, "out"_array, "threads"_a = 1,
             "out[i, c] = w_c·x_i, without bias, of the weights or of their sum.");
}

}  // namespace

void bind_sparse_weights(nb::module_& m) {
    m.attr("WIDEST_VECTOR") = WIDEST_VECTOR;
    bind_weights<float>(m, "SparseWeights32");
    bind_weights<double>(m, "SparseWeights64");
}

}  // namespace perceptive
