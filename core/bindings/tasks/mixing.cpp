#include "mixing.hpp"

#include "bindings/arrays.hpp"

namespace perceptive {

namespace {

// An array of weights by feature and class; bias weights have one class.
struct Shape {
    i64 rows, columns;
    explicit Shape(const Any& array)
        : rows(static_cast<i64>(array.shape(0))), columns(array.ndim() == 2 ? static_cast<i64>(array.shape(1)) : 1) {
        require(array.ndim() <= 2, "weights must be features × classes");
    }
    i64 size() const { return rows * columns; }
};

template <class T>
T* from(T* array, i64 at) {
    return array ? array + at : nullptr;
}

void depart(const Any& before_z, const Any& z, const std::optional<Any>& sum, const std::optional<Any>& before_sigma,
            const std::optional<Any>& sigma, double clock, double weight) {
    const Shape there(before_z), here(z);
    require(before_z.dtype() == z.dtype(), "a replica has weights of its model's type");
    require(here.rows <= there.rows && here.columns <= there.columns, "a replica has the shape of its model");
    require(before_sigma.has_value() == sigma.has_value(), "a replica has the parts of its model");
    with_type(z.dtype() == nb::dtype<float>(), [&](auto type) {
        using W = decltype(type);
        const W *before = data_of<W>(before_z, there.size(), "z"),
                *sigma_before = data_of<W>(before_sigma, there.size(), "sigma");
        W *mine = data_of<W>(z, here.size(), "z"), *mine_sum = data_of<W>(sum, here.size(), "sum"),
          *mine_sigma = data_of<W>(sigma, here.size(), "sigma");
        const Departure<W> each{static_cast<W>(clock), static_cast<W>(weight)};
        nb::gil_scoped_release release;
        in_pieces(here.rows, here.columns, there.columns, 1, [&](i64 row, i64 column, i64 n) {
            const i64 from_there = row * there.columns + column, at = row * here.columns + column;
            each(before + from_there, mine + at, from(mine_sum, at), from(sigma_before, from_there),
                 from(mine_sigma, at), n);
            return 0.0;
        });
    });
}

double move(const Any& z, const std::optional<Any>& sum, const std::optional<Any>& sigma, const Any& step,
            const std::optional<Any>& spread, const std::optional<Any>& gain, double clock, double weight,
            int threads) {
    const Shape here(z), there(step);
    require(there.rows == here.rows && there.columns <= here.columns, "a step has the shape of its weights");
    require(sum.has_value() == spread.has_value() && sigma.has_value() == gain.has_value(),
            "a mixture must have the parts of its weights");
    return with_type(z.dtype() == nb::dtype<float>(), [&](auto type) {
        using W = decltype(type);
        W *mine = data_of<W>(z, here.size(), "z"), *mine_sum = data_of<W>(sum, here.size(), "sum"),
          *mine_sigma = data_of<W>(sigma, here.size(), "sigma");
        const W *steps = data_of<W>(step, there.size(), "step"), *spreads = data_of<W>(spread, there.size(), "spread"),
                *gains = data_of<W>(gain, there.size(), "gain");
        const Move<W> each{static_cast<W>(clock), static_cast<W>(weight)};
        nb::gil_scoped_release release;
        return in_pieces(here.rows, there.columns, here.columns, threads, [&](i64 row, i64 column, i64 n) {
            const i64 at = row * here.columns + column, from_there = row * there.columns + column;
            return each(mine + at, from(mine_sum, at), from(mine_sigma, at), steps + from_there,
                        from(spreads, from_there), from(gains, from_there), n);
        });
    });
}

}  // namespace

void bind_mixing(nb::module_& m) {
    m.def("depart", &depart, "before_z"_array, "z"_array, "sum"_array.none(), "before_sigma"_array.none(),
          "sigma"_array.none(), "clock"_a, "weight"_a,
          "Make the weights of a replica what it has become since the start: step, spread and gain.");
    m.def("move", &move, "z"_array, "sum"_array.none(), "sigma"_array.none(), "step"_array, "spread"_array.none(),
          "gain"_array.none(), "clock"_a, "weight"_a, "threads"_a = 1,
          "Move by what shards have become together; returns ‖v‖².");
}

}  // namespace perceptive
