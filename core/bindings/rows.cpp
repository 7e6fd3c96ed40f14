#include "bindings/arrays.hpp"
#include "example_hash.hpp"

namespace perceptive {

namespace {

template <class V>
CheckedRows dense(const ReadOnly& x, bool fingerprint) {
    const i64 n = extent(x, 0), d = extent(x, 1);
    const DenseRows<V> rows{static_cast<const V*>(x.data()), n, d};
    CheckedRows checked{rows, {x}, std::vector<std::uint64_t>(fingerprint ? n : 0), n, d, n * d};
    nb::gil_scoped_release release;
    inspect(rows, fingerprint ? checked.hashes.data() : nullptr);
    return checked;
}

template <class V, class I>
std::optional<CheckedRows> csr(const ReadOnly& indptr, const ReadOnly& indices, const ReadOnly& data, i64 d,
                               bool fingerprint) {
    const i64 n = length(indptr) - 1, stored = length(data);
    require(n >= 0, "indptr is empty; the sparse matrix is damaged, rebuild it");
    const I *const starts = static_cast<const I*>(indptr.data()), *const j = static_cast<const I*>(indices.data());
    const V* const x = static_cast<const V*>(data.data());
    std::vector<std::uint64_t> hashes(fingerprint ? n : 0);
    std::vector<std::int32_t> narrow;  // of indices that are wider than they need be
    {
        nb::gil_scoped_release release;
        if (!inspect(starts, j, x, n, d, length(indices), stored, fingerprint ? hashes.data() : nullptr))
            return std::nullopt;
        if constexpr (sizeof(I) > sizeof(std::int32_t)) narrow.assign(j, j + stored);
    }
    const ReadOnly index = sizeof(I) > sizeof(std::int32_t) ? kept(std::move(narrow)) : indices;
    const CsrRows<V> rows{RowStarts(starts), static_cast<const std::int32_t*>(index.data()), x, n, d};
    return CheckedRows{rows, {indptr, index, data}, std::move(hashes), n, d, stored};
}

CheckedRows part(const CheckedRows& whole, const nb::slice& which) {
    const auto [begin, end, step, n] = which.compute(static_cast<size_t>(whole.n));
    require(step == 1, "rows are taken one after the other");
    return std::visit(
        [&, begin = static_cast<i64>(begin), n = static_cast<i64>(n)](const auto& rows) {
            const auto some = rows.part(begin, begin + n);
            std::vector<std::uint64_t> hashes;
            if (!whole.hashes.empty()) hashes.assign(whole.hashes.begin() + begin, whole.hashes.begin() + begin + n);
            return CheckedRows{some, whole.arrays, std::move(hashes), n, whole.d, some.stored()};
        },
        whole.rows);
}

}  // namespace

void bind_rows(nb::module_& m) {
    // With the GIL: some thousand examples take less time than to get it back.
    m.def(
        "example_hashes",
        [](const Vector<const std::uint64_t>& rows, const Vector<const std::uint64_t>& labels,
           const Vector<const i64>& which, const Maybe<double>& weights) {
            require(length(which) == length(rows), "every row needs a label");
            require_below(which, length(labels), "there is no such label");
            require_length(weights, length(rows), "every row needs a weight");
            std::vector<std::uint64_t> hashes(rows.size());
            for (std::size_t i = 0; i < hashes.size(); ++i)
                hashes[i] = example_hash(rows.data()[i], labels.data()[which.data()[i]],
                                         weights ? weights->data() + i : nullptr);
            return to_numpy(std::move(hashes));
        },
        "rows"_a, "labels"_a, "which"_a, "weights"_a = nb::none(),
        "64 bits of each row with its label, and weight: their sum does not depend on the order.");
    nb::class_<CheckedRows>(m, "Rows",
                            "Rows of examples that have been checked; arrays are not copied, but for indices of int64.")
        .def_ro("n", &CheckedRows::n)
        .def_ro("d", &CheckedRows::d)
        .def_ro("stored", &CheckedRows::stored, "Number of stored entries.")
        .def("__getitem__", &part, "which"_a, "Some of the rows, not copied.")
        .def_prop_ro("hashes", [](const CheckedRows& rows) { return to_numpy(rows.hashes); }, nb::rv_policy::automatic);
    m.def(
        "dense_rows",
        [](const ReadOnly& x, bool fingerprint) {
            require(x.ndim() == 2, "X must have two dimensions");
            if (x.dtype() == nb::dtype<float>()) return dense<float>(x, fingerprint);
            require(x.dtype() == nb::dtype<double>(), "X must be float32 or float64");
            return dense<double>(x, fingerprint);
        },
        "x"_array, "fingerprint"_a);
    m.def(
        "csr_rows",
        [](const ReadOnly& indptr, const ReadOnly& indices, const ReadOnly& data, i64 n_features, bool fingerprint) {
            require(n_features >= 0 && n_features < (i64{1} << 31),
                    "n_features must be below 2³¹; hash the features into fewer");
            require(indptr.dtype() == indices.dtype(), "indptr and indices must be of one dtype");
            const bool narrow = indices.dtype() == nb::dtype<std::int32_t>(),
                       single = data.dtype() == nb::dtype<float>();
            require(narrow || indices.dtype() == nb::dtype<i64>(), "indices must be int32 or int64");
            require(single || data.dtype() == nb::dtype<double>(), "data must be float32 or float64");
            if (narrow && single) return csr<float, std::int32_t>(indptr, indices, data, n_features, fingerprint);
            if (narrow) return csr<double, std::int32_t>(indptr, indices, data, n_features, fingerprint);
            if (single) return csr<float, i64>(indptr, indices, data, n_features, fingerprint);
            return csr<double, i64>(indptr, indices, data, n_features, fingerprint);
        },
        "indptr"_array, "indices"_array, "data"_array, "n_features"_a, "fingerprint"_a,
        "Check a CSR matrix; None where a row's indices do not rise strictly: sort and sum duplicates, then ask "
        "again.");
}

}  // namespace perceptive
