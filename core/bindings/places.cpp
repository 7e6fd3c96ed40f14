#include "places.hpp"

#include <type_traits>

#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

// The same rows with place(feature) for each feature. Values, and where rows start, are shared where they can be.
template <class Place>
CheckedRows placed(const Places& places, const CheckedRows& data, Place place) {
    require(data.d <= places.n_features(), "the rows have more features than there can be");
    return std::visit(
        [&](const auto& rows) {
            using Row = std::decay_t<decltype(rows[0])>;
            CheckedRows out{rows, data.arrays, data.hashes, data.n, 0, data.stored};
            if constexpr (Row::dense) {
                using V = std::decay_t<decltype(rows[0].value(0))>;
                std::vector<i64> starts{0};
                std::vector<std::int32_t> index;
                std::vector<V> values;
                {
                    nb::gil_scoped_release release;
                    for (i64 i = 0; i < rows.n; ++i) {
                        const auto x = rows[i];
                        for (i64 p = 0; p < x.size(); ++p)
                            if (x.value(p) != 0) index.push_back(place(p)), values.push_back(x.value(p));
                        starts.push_back(static_cast<i64>(index.size()));
                    }
                }
                out.stored = static_cast<i64>(index.size());
                out.arrays = {kept(std::move(starts)), kept(std::move(index)), kept(std::move(values))};
                out.rows = CsrRows<V>{RowStarts(static_cast<const i64*>(out.arrays[0].data())),
                                      static_cast<const std::int32_t*>(out.arrays[1].data()),
                                      static_cast<const V*>(out.arrays[2].data()), rows.n, 0};
            } else {
                std::vector<std::int32_t> index(static_cast<size_t>(rows.starts[rows.n]));
                {
                    nb::gil_scoped_release release;
                    for (i64 p = rows.starts[0]; p < rows.starts[rows.n]; ++p) index[p] = place(rows.indices[p]);
                }
                out.arrays.push_back(kept(std::move(index)));
                auto moved = rows;
                moved.indices = static_cast<const std::int32_t*>(out.arrays.back().data());
                out.rows = moved;
            }
            out.d = places.size();
            std::visit([&](auto& any) { any.d = out.d; }, out.rows);
            return out;
        },
        data.rows);
}

Places from_features(i64 n_features, const Vector<const std::int32_t>& features) {
    Places places(n_features);
    for (size_t i = 0; i < features.size(); ++i) {
        const i64 feature = features.data()[i];
        require(feature >= 0 && feature < n_features && places.find(feature) == 0, "places of features do not fit");
        places.meet(feature);
    }
    return places;
}

}  // namespace

void bind_places(nb::module_& m) {
    nb::class_<Places>(m, "Places",
                       "Where the weights of hashed features lie, in the order in which they were met; place 0 is that "
                       "of all that were not.")
        .def(
            "__init__",
            [](Places* self, i64 n_features) {
                require(n_features >= 0 && n_features <= (i64{1} << 30), "there are too many features");
                new (self) Places(n_features);
            },
            "n_features"_a)
        .def_static("from_features", &from_features, "n_features"_a, "features"_array, "The same, of those met before.")
        .def("__len__", &Places::size, "Places there are, place 0 included.")
        .def_prop_ro("n_features", &Places::n_features)
        .def_prop_ro(
            "features", [](const Places& self) { return to_numpy(self.features()); }, nb::rv_policy::automatic,
            "The feature of each place; that of place 0 is −1.")
        .def("forget", &Places::forget, "size"_a, "Forget what was met since there were so many places.")
        .def(
            "meet",
            [](Places& self, const CheckedRows& rows) {
                return placed(self, rows, [&](i64 feature) { return self.meet(feature); });
            },
            "rows"_a, "Rows by place; features that are new get theirs.")
        .def(
            "find",
            [](const Places& self, const CheckedRows& rows) {
                return placed(self, rows, [&](i64 feature) { return self.find(feature); });
            },
            "rows"_a, "Rows by place; features that were never met are at place 0.");
}

}  // namespace perceptive
