#include "tasks/predict.hpp"

#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

template <class W>
void votes_of(const CheckedRows& data, const RowJournal<W>& journal, const Vector<const i64>& survival,
              const Matrix& initial, double bias, bool normalize, const MatrixOf<i64>& out) {
    const i64 classes = extent(out, 1);
    require(length(survival) == journal.voters(), "give one survival per voter");
    require(extent(out, 0) == data.n && classes > 0, "out has the wrong shape");
    require(initial.shape(0) == out.shape(0) && initial.shape(1) == out.shape(1), "initial has the wrong shape");
    for (const Entry& entry : journal.updates.entries)
        require(entry.label < classes, "the journal has more classes than out");
    data.visit([&](const auto& rows) {
        votes(rows, journal, survival.data(), initial.data(), bias, classes, normalize, out.data());
    });
}

}  // namespace

void bind_predict(nb::module_& m) {
    m.def(
        "squared_norms",
        [](const CheckedRows& data, const Vector<double>& out) {
            require(length(out) == data.n, "out has the wrong shape");
            data.visit([&](const auto& rows) {
                for (i64 i = 0; i < rows.n; ++i) out.data()[i] = squared_norm(rows[i]);
            });
        },
        "rows"_a, "out"_array, "out[i] = ‖x_i‖².");
    m.def(
        "linear_scores",
        [](const CheckedRows& data, const Floats& w, bool normalize, const Matrix& out, int threads) {
            const i64 classes = extent(out, 1), stride = extent(w, 1);
            require(extent(out, 0) == data.n, "out has the wrong shape");
            require(stride == 1 ? classes == 1 : stride % 4 == 0 && classes <= stride,
                    "the stride must be 1, or a multiple of 4 that holds all classes");
            require(extent(w, 0) >= data.d, "the rows have more features than the weights");
            with_floats(w, [&](const auto* first) {
                data.visit([&](const auto& rows) {
                    using W = std::decay_t<decltype(*first)>;
                    const SparseRows<W>* const none = nullptr;
                    linear_scores(rows, first, none, stride, classes, normalize, threads, out.data());
                });
            });
        },
        "rows"_a, "w"_array, "normalize"_a, "out"_array, "threads"_a = 1, "out[i, c] = w_c·x_i, without bias.");
    m.def("votes", &votes_of<float>, "rows"_a, "journal"_a, "survival"_array, "initial"_array, "bias"_a, "normalize"_a,
          "out"_array);
    m.def("votes", &votes_of<double>, "rows"_a, "journal"_a, "survival"_array, "initial"_array, "bias"_a, "normalize"_a,
          "out"_array, "Votes of the journal's voters: two classes Σ m_k sign(score), joint Σ m_k [k votes for c].");
}

}  // namespace perceptive
