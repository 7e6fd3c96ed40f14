// What a linear problem is made of: its weights, its options, and the numbers of the run so far.
//
// The vector that predicts is v = scale·z. The average is lazy: with clock = Σ_t scale_t over the rounds played, an
// update Δz at some round adds clock·Δz to `sum`, and at any moment Σ_t v_t = clock·z − sum. Only what an update
// touches is ever written.
//
// It is lazier still where the rows are at hand for some time: Δz is a multiple of a row, so its share of the sum is
// one number, which waits in `pending` for the row. settle() then adds each row once, in the order of the rows, however
// often the row erred in whatever order: averaging costs a pass over the rows that erred, not a second set of weights
// in the cache. (Measured on 500,000 × 2²⁰: see benchmarks/README.md.)
#pragma once

#include "rows.hpp"
#include "rules.hpp"

namespace perceptive {

template <class W>
struct Weights {
    W* z;                // n_features × stride; the classes of one feature lie side by side
    W* sum;              // the average's accumulator, n_features × stride, or null
    double* pending;     // n_rows × n_classes: what settle() is to add to the sum, or null: sums are written at once
    W* sigma;            // AROW's Σ, n_features × stride, or null
    double* z_bias;      // one per class
    double* sum_bias;    // one per class
    double* sigma_bias;  // one per class
    double* ids;         // Δ-trick: n_rows × n_classes weights of the id features, or null
    i64 n_features;
    i64 stride;     // n_classes padded to a multiple of 4; 1 for two classes
    i64 n_classes;  // 1 for two classes
    i64 n_rows;     // rows that ids and pending have room for

    i64 bytes() const { return n_features * stride * static_cast<i64>(sizeof(W)); }
};

struct Options {
    Rule rule;
    double bias = 1.0;
    double delta = 0.0;
    bool normalize = false;
    bool ties_positive = false;     // a score of 0 predicts +1
    bool average_mistakes = false;  // the clock ticks on updates, not on examples
};

struct Progress {
    i64 rounds = 0;
    i64 mistakes = 0;
    i64 updates = 0;
    i64 touched = 0;         // weights written
    double criterion = 0.0;  // Σ −m over the mistakes, as they happened
    double radius2 = 0.0;    // largest (weight·‖δ‖)² over the updates
    double norm2 = 0.0;      // ‖v‖²
    double scale = 1.0;
    double clock = 0.0;
};

// The training data beside the rows.
struct Lessons {
    const int* targets;     // two classes: ±1, 0 = not in this problem; joint: the class; no class = not in it
    const double* weights;  // sample weights, or null
    const double* cost;     // joint: n_classes × n_classes, or null

    PERCEPTIVE_PREFETCH void prefetch(i64 i) const {
        __builtin_prefetch(targets + i);
        if (weights) __builtin_prefetch(weights + i);
    }
};

}  // namespace perceptive
