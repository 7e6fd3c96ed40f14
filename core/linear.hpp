// What a linear problem is made of: its weights, its options, and the lazy average.
//
// The vector that predicts is v = scale·z. The average is lazy: with clock = Σ_t scale_t over the rounds played, an
// update Δz at some round adds clock·Δz to `sum`, and at any moment Σ_t v_t = clock·z − sum. Only what an update
// touches is ever written.
//
// It is lazier still where the rows are at hand for some time: Δz is a multiple of a row, so its share of the sum is
// one number, which waits in `pending` for the row. add_pending() then adds each row once, in the order of the rows,
// however often the row erred in whatever order: averaging costs a pass over the rows that erred, not a second set of
// weights in the cache. (Measured on 500,000 × 2²⁰: see benchmarks/README.md.)
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "round.hpp"
#include "sparse_weights.hpp"
#include "vectors.hpp"

namespace perceptive {

constexpr i64 PENDING_AHEAD = 8;  // rows that are asked for while their average is added up

// Updates that weights in float32 take: 2²⁴ equal steps later a step no longer changes a weight.
constexpr i64 FLOAT32_UPDATES = i64{1} << 23;

template <class W>
struct Weights {
    W* z;             // n_features × stride; the classes of one feature lie side by side
    W* sum;           // the average's accumulator, n_features × stride, or null
    double* pending;  // n_rows × n_classes: what add_pending() is to add to the sum, or null: sums are written at once
    W* sigma;         // AROW's Σ, n_features × stride, or null
    SparseWeights<W>* sparse;  // instead of z, sum and sigma, where classes are many, or null
    double* z_bias;            // one per class
    double* sum_bias;          // one per class
    double* sigma_bias;        // one per class
    double* ids;               // Δ-trick: n_rows × n_classes weights of the id features, or null
    i64 n_features;
    i64 stride;     // room for classes: a multiple of 4 that holds all of them; 1 for two classes
    i64 n_classes;  // 1 for two classes
    i64 n_rows;     // rows that ids and pending have room for

    i64 padded() const { return (n_classes + 3) / 4 * 4; }  // classes that are scored at once
    i64 bytes() const { return n_features * stride * static_cast<i64>(sizeof(W)); }
    bool averaged() const { return sparse ? sparse->sum.has_value() : sum != nullptr; }
};

// Weights that lie side by side as features × classes, as SparseRows are.
template <class W>
struct DenseWeights {
    W* first;
    i64 stride;
    W& at(i64 feature, i64 c) const { return first[feature * stride + c]; }
};

struct Options {
    Rule rule;
    double bias = 1.0;
    double delta = 0.0;
    bool normalize = false;
    bool ties_positive = false;     // a score of 0 predicts +1
    bool average_mistakes = false;  // the clock ticks on updates, not on examples
};

// The training data beside the rows.
struct Labels {
    const int* label;      // two classes: ±1, 0 = not in this problem; joint: the class; no class = not in it
    const double* weight;  // of the examples, or null
    const double* cost;    // joint: n_classes × n_classes, or null

    PERCEPTIVE_PREFETCH void prefetch(i64 i) const {
        __builtin_prefetch(label + i);
        if (weight) __builtin_prefetch(weight + i);
    }
};

// 1/‖x‖ where rows are normalized, else 1
template <class Row>
inline double row_scale_of(const Row& x, bool normalize) {
    const double length2 = normalize ? squared_norm(x) : 0.0;
    return length2 > 0.0 ? 1.0 / std::sqrt(length2) : 1.0;
}

// The same, of weights without their zeros, in the same blocks and lanes.
template <class W>
double squared_norm(const SparseRows<W>& z, i64 stride, i64 block) {
    double total = 0.0, lanes[4] = {};
    i64 now = 0;
    const auto add_up = [&] {
        total += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        std::fill_n(lanes, 4, 0.0);
    };
    for (i64 r = 0; r < z.size(); ++r)
        z.each(r, [&](i64 c, W weight) {
            const i64 at = r * stride + c;
            const double value = static_cast<double>(weight);
            if (at / block != now) add_up(), now = at / block;
            lanes[at % 4] += value * value;
        });
    add_up();
    return total;
}

// ‖v‖² from the weights, summed in blocks so that its rounding does not grow with the dimension.
template <class W>
double squared_norm(const Weights<W>& w, double scale) {
    constexpr i64 BLOCK = 4096;
    const i64 size = w.n_features * w.stride, n_ids = w.ids ? w.n_rows * w.n_classes : 0;
    double total = 0.0;
    const auto add = [&total](const auto* values, i64 n) {
        for (i64 begin = 0; begin < n; begin += BLOCK) {
            double lanes[4] = {};
            for (i64 j = begin; j < std::min(n, begin + BLOCK); ++j) {
                const double value = static_cast<double>(values[j]);
                lanes[j % 4] += value * value;
            }
            total += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        }
    };
    if (w.sparse)
        total += squared_norm(w.sparse->z, w.stride, BLOCK);
    else
        add(w.z, size);
    add(w.z_bias, w.n_classes);
    add(w.ids, n_ids);
    return scale * scale * total;
}

// v ← a·v for rules that shrink: in `scale` alone, except where it would run out of range.
template <class W>
void shrink(const Weights<W>& w, Progress& run, double a) {
    const i64 n_ids = w.ids ? w.n_rows * w.n_classes : 0;
    run.scale *= a;
    if (run.scale > 1e-2 && run.scale < 1e2) return;
    // Every weight is written: what the average owes to the past goes into the sum, and the clock starts again.
    const auto settle = [&run](W& z, W* sum) {
        if (sum) *sum -= static_cast<W>(run.clock * static_cast<double>(z));
        z = static_cast<W>(run.scale * static_cast<double>(z));
    };
    i64 size = w.sparse ? 0 : w.n_features * w.stride;
    for (i64 j = 0; j < size; ++j) settle(w.z[j], w.sum ? w.sum + j : nullptr);
    for (i64 r = 0; w.sparse && r < w.sparse->z.size(); ++r)
        w.sparse->z.change_each(r, [&](i64 c, W& z) {
            settle(z, w.sparse->sum ? &w.sparse->sum->at(r, c) : nullptr);
            ++size;
        });
    for (i64 c = 0; c < w.n_classes; ++c) {
        w.sum_bias[c] -= run.clock * w.z_bias[c];
        w.z_bias[c] *= run.scale;
    }
    for (i64 i = 0; i < n_ids; ++i) w.ids[i] *= run.scale;
    run.clock = 0.0;
    run.scale = 1.0;
    run.touched += size;
}

// Add what is pending of the rows first, first + step, … to a sum, which is DenseWeights or SparseRows: each row once,
// for all its classes. Returns how many weights were written.
template <class Rows, class W, class Sum>
i64 add_pending(const Rows& rows, const Weights<W>& w, Sum& sum, i64 first = 0, i64 step = 1) {
    std::vector<i64> label(static_cast<size_t>(w.n_classes));
    std::vector<W> share(static_cast<size_t>(w.n_classes));
    const auto waits = [&w](i64 i) {
        const double* pending = w.pending + i * w.n_classes;
        return std::any_of(pending, pending + w.n_classes, [](double share) { return share != 0.0; });
    };
    i64 touched = 0;
    for (i64 i = first; i < rows.n; i += step) {
        const i64 coming = i + PENDING_AHEAD * step;
        if (coming < rows.n && waits(coming)) rows.template prefetch_row<true>(coming);
        const double* pending = w.pending + i * w.n_classes;
        i64 count = 0;
        for (i64 c = 0; c < w.n_classes; ++c) {
            if (pending[c] == 0.0) continue;
            label[count] = c;
            share[count++] = static_cast<W>(pending[c]);
        }
        if (count == 0) continue;
        const auto x = rows[i];
        touched += count * x.size();
        if constexpr (std::is_same_v<Sum, DenseWeights<W>>)
            if (w.stride == 1) {
                axpy(sum.first, static_cast<double>(share[0]), x);
                continue;
            }
        for (i64 p = 0; p < x.size(); ++p) {
            const W value = static_cast<W>(x.value(p));
            if (value == 0) continue;
            for (i64 k = 0; k < count; ++k) sum.at(x.index(p), label[k]) += share[k] * value;
        }
    }
    return touched;
}

// Nothing is pending any more.
template <class W>
void clear_pending(const Weights<W>& w) {
    std::fill_n(w.pending, w.n_rows * w.n_classes, 0.0);
}

}  // namespace perceptive
