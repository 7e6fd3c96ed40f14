// The call into a task's loop: arguments checked, the GIL released, rows and weights of any type.
#pragma once

#include "bindings/arrays.hpp"
#include "epoch.hpp"
#include "tasks/row_updates.hpp"

namespace perceptive {

// The weights of one model, as Python keeps them: arrays, or for many classes rows without zeros.
struct LinearModel {
    std::optional<Any> z, sum, sigma;  // n_features × stride
    std::variant<std::monostate, SparseWeights<float>*, SparseWeights<double>*> sparse;
    nb::object owner;    // of these
    bool single = true;  // whether they are float32
    Any z_bias, sum_bias, sigma_bias;
    std::optional<Any> ids, pending;
    i64 n_features = 0, stride = 0, n_classes = 0;
    i64 width = 0;  // features in use: there may be room for more
    Options options;
    Progress run;
    nb::object journal;
};

// What a learner has recorded of its examples: the sum of their hashes, how many they were, and their id features.
struct Tally {
    std::uint64_t fingerprint = 0;
    i64 played = 0, ids = 0;

    void add(std::uint64_t hash, i64 examples, i64 new_ids) {
        fingerprint += hash;
        played += examples;
        ids += new_ids;
    }
};

template <class W>
Weights<W> weights_of(const LinearModel& model, i64 n_rows) {
    Weights<W> w;
    const i64 size = model.n_features * model.stride, classes = model.n_classes;
    const auto* sparse = std::get_if<SparseWeights<W>*>(&model.sparse);
    w.sparse = sparse ? *sparse : nullptr;
    w.z = data_of<W>(model.z, size, "z");
    w.sum = data_of<W>(model.sum, size, "sum");
    w.pending = data_of<double>(model.pending, n_rows * classes, "pending");
    w.sigma = data_of<W>(model.sigma, size, "sigma");
    w.z_bias = data_of<double>(model.z_bias, classes, "z_bias");
    w.sum_bias = data_of<double>(model.sum_bias, classes, "sum_bias");
    w.sigma_bias = data_of<double>(model.sigma_bias, classes, "sigma_bias");
    w.ids = data_of<double>(model.ids, n_rows * classes, "ids");
    w.n_features = model.n_features;
    w.stride = model.stride;
    w.n_classes = classes;
    w.n_rows = n_rows;
    const bool adaptive = w.sparse ? w.sparse->sigma.has_value() : w.sigma != nullptr;
    require(adaptive || model.options.rule.name != RuleName::arow, "AROW needs sigma");
    return w;
}

// play(task) with the task of this model's types
template <template <class, bool> class Task, class W, class Data, class Play>
void with_task(LinearModel& model, i64 n_rows, const Data& data, Play play) {
    const Weights<W> w = weights_of<W>(model, n_rows);
    RowJournal<W>* journal = model.journal.is_none() ? nullptr : nb::cast<RowJournal<W>*>(model.journal);
    if (w.averaged()) {
        Task<W, true> task{w, model.options, data, model.run, journal};
        play(task);
    } else {
        Task<W, false> task{w, model.options, data, model.run, journal};
        play(task);
    }
}

template <template <class, bool> class Task, class Data, class Play>
void with_task(LinearModel& model, i64 n_rows, const Data& data, Play play) {
    with_type(model.single, [&](auto w) { with_task<Task, decltype(w)>(model, n_rows, data, play); });
}

template <template <class, bool> class Task>
void learn(LinearModel& model, const CheckedRows& data, const Vector<const i64>& order,
           const Vector<const int>& targets, const Maybe<double>& weights, const double* cost) {
    require(length(targets) == data.n, "targets and rows differ in number");
    require_length(weights, data.n, "sample weights and rows differ in number");
    require_below(order, data.n, "order contains an unknown row");
    require(data.d <= model.n_features, "the rows have more features than the weights");
    const Labels labels{targets.data(), data_of(weights), cost};
    const std::optional<Any> ids = model.ids, pending = model.pending;  // alive, whatever another thread begins
    with_task<Task>(model, data.n, labels, [&](auto& task) {
        data.visit([&](const auto& rows) { epoch(rows, order.data(), length(order), task); });
    });
}

}  // namespace perceptive
