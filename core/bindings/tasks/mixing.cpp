#include "mixing.hpp"

#include "bindings/tasks/learning.hpp"

using namespace nb::literals;

namespace perceptive {

namespace {

template <class W>
void depart(const LinearModel& start, LinearModel& end, double weight) {
    const i64 columns = end.stride, stride = start.stride;
    const Weights<W> before = weights_of<W>(start, 0), after = weights_of<W>(end, 0);
    const Departure<W> each{static_cast<W>(end.run.clock), static_cast<W>(weight)};
    const auto from = [](auto* array, i64 at) { return array ? array + at : nullptr; };
    in_pieces(end.n_features, columns, stride, 1, [&](i64 row, i64 column, i64 n) {
        const i64 there = row * stride + column, here = row * columns + column;
        each(before.z + there, after.z + here, from(after.sum, here), from(before.sigma, there),
             from(after.sigma, here), n);
        return 0.0;
    });
    const Departure<double> biases{end.run.clock, weight};
    biases(before.z_bias, after.z_bias, after.sum ? after.sum_bias : nullptr, before.sigma_bias,
           after.sigma ? after.sigma_bias : nullptr, end.n_classes);
}

template <class W>
double move(LinearModel& model, const Any& step, const std::optional<Any>& spread, const std::optional<Any>& gain,
            const std::vector<Any>& biases, double weight, int threads) {
    const i64 columns = static_cast<i64>(step.shape(1)), stride = model.stride, size = model.width * columns;
    const Weights<W> w = weights_of<W>(model, 0);
    const W *steps = data_of<W>(step, size, "step"), *spreads = data_of<W>(spread, size, "spread"),
            *gains = data_of<W>(gain, size, "gain");
    require(columns <= stride, "a step has more classes than the weights");
    require(!w.sum == !spreads && !w.sigma == !gains, "a mixture must have the parts of its weights");
    const Move<W> each{static_cast<W>(model.run.clock), static_cast<W>(weight)};
    const auto from = [](auto* array, i64 at) { return array ? array + at : nullptr; };
    const double norm2 = in_pieces(model.width, columns, stride, threads, [&](i64 row, i64 column, i64 n) {
        const i64 there = row * stride + column, here = row * columns + column;
        return each(w.z + there, from(w.sum, there), from(w.sigma, there), steps + here, from(spreads, here),
                    from(gains, here), n);
    });
    const auto bias = [&](std::size_t part) {
        return part < biases.size() ? data_of<double>(biases[part], model.n_classes, "bias") : nullptr;
    };
    const double *bias_spread = w.sum ? bias(1) : nullptr, *bias_gain = w.sigma ? bias(biases.size() - 1) : nullptr;
    require(biases.size() == 1u + !!w.sum + !!w.sigma, "a mixture must have the parts of its bias weights");
    const Move<double> of_bias{model.run.clock, weight};
    return norm2 + of_bias(w.z_bias, w.sum ? w.sum_bias : nullptr, w.sigma ? w.sigma_bias : nullptr, bias(0),
                           bias_spread, bias_gain, model.n_classes);
}

}  // namespace

void bind_mixing(nb::module_& m) {
    m.def(
        "depart",
        [](const LinearModel& start, LinearModel& end, double weight) {
            require(start.z.dtype() == end.z.dtype(), "a replica has weights of its model's type");
            require(
                end.n_features <= start.n_features && end.stride <= start.stride && end.n_classes == start.n_classes,
                "a replica has the shape of its model");
            require(start.sum.has_value() || !end.sum, "a replica has the averages of its model");
            with_dtype(end, [&](auto w) {
                nb::gil_scoped_release release;
                depart<decltype(w)>(start, end, weight);
            });
        },
        "start"_a, "end"_a, "weight"_a,
        "Make the weights of a replica what it has become since the start: step, spread and gain, in their places.");
    m.def(
        "move",
        [](LinearModel& model, const Any& step, const std::optional<Any>& spread, const std::optional<Any>& gain,
           const std::vector<Any>& biases, double weight, int threads) {
            require(step.ndim() == 2, "a step must be features × classes");
            model.run.norm2 = model.run.norm2_error = with_dtype(model, [&](auto w) {
                nb::gil_scoped_release release;
                return move<decltype(w)>(model, step, spread, gain, biases, weight, threads);
            });
        },
        "model"_a, "step"_array, "spread"_array.none(), "gain"_array.none(), "biases"_a, "weight"_a, "threads"_a,
        "Move by what shards have become together; those of the bias weights stand in the same order.");
}

}  // namespace perceptive
