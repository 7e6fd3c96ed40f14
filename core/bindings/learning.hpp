// The call into a task's loop: arguments checked, the GIL released, rows and weights of any type.
#pragma once

#include "arrays.hpp"
#include "epoch.hpp"

namespace perceptive {

// The arrays of one problem, as Python keeps them.
struct Problem {
    Any z;
    std::optional<Any> sum, sigma;
    Any z_bias, sum_bias, sigma_bias;
    std::optional<Any> ids;
    i64 n_features, stride, n_classes;
    Options options;
    Progress run;
    nb::object journal;
};

constexpr i64 CACHED_BYTES = i64{1} << 24;  // weights beyond this size wait for memory, not for a cache

template <template <class, bool> class Task, class W>
void learn(Problem& problem, const CheckedRows& data, const Vector<const i64>& order, const Lessons& lessons) {
    Weights<W> w;
    const i64 size = problem.n_features * problem.stride, classes = problem.n_classes;
    w.z = data_of<W>(problem.z, size, "z");
    w.sum = data_of<W>(problem.sum, size, "sum");
    w.sigma = data_of<W>(problem.sigma, size, "sigma");
    w.z_bias = data_of<double>(problem.z_bias, classes, "z_bias");
    w.sum_bias = data_of<double>(problem.sum_bias, classes, "sum_bias");
    w.sigma_bias = data_of<double>(problem.sigma_bias, classes, "sigma_bias");
    w.ids = data_of<double>(problem.ids, data.n * classes, "ids");
    w.n_features = problem.n_features;
    w.stride = problem.stride;
    w.n_classes = classes;
    w.n_rows = data.n;
    require(data.d <= problem.n_features, "the rows have more features than the weights");
    require(w.sigma || problem.options.rule.name != RuleName::arow, "AROW needs sigma");
    Journal<W>* journal = problem.journal.is_none() ? nullptr : nb::cast<Journal<W>*>(problem.journal);
    const bool prefetch = size * static_cast<i64>(sizeof(W)) > CACHED_BYTES;
    const i64* first = order.data();
    const i64 count = static_cast<i64>(order.size());

    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& rows) {
            if (w.sum) {
                Task<W, true> task{w, problem.options, lessons, problem.run, journal};
                epoch(rows, first, count, task, prefetch);
            } else {
                Task<W, false> task{w, problem.options, lessons, problem.run, journal};
                epoch(rows, first, count, task, prefetch);
            }
        },
        data.rows);
}

template <template <class, bool> class Task>
void learn_any(Problem& problem, const CheckedRows& data, const Vector<const i64>& order,
               const Vector<const int>& targets, const std::optional<Vector<const double>>& weights, const double* cost,
               int lowest, int highest) {
    require(static_cast<i64>(targets.size()) == data.n, "targets and rows differ in number");
    require(!weights || static_cast<i64>(weights->size()) == data.n, "sample weights and rows differ in number");
    for (size_t t = 0; t < order.size(); ++t) {
        const i64 i = order.data()[t];
        require(i >= 0 && i < data.n, "order names a row that is not there");
        require(targets.data()[i] >= lowest && targets.data()[i] <= highest, "a target is out of range");
    }
    const Lessons lessons{targets.data(), weights ? weights->data() : nullptr, cost};
    if (problem.z.dtype() == nb::dtype<float>())
        learn<Task, float>(problem, data, order, lessons);
    else
        learn<Task, double>(problem, data, order, lessons);
}

}  // namespace perceptive
