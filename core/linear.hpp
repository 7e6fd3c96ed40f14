// What a linear problem is made of: its weights, its options, and the numbers of the run so far.
//
// The vector that predicts is v = scale·z. The average is lazy: with clock = Σ_t scale_t over the rounds played, an
// update Δz at some round adds clock·Δz to `sum`, and at any moment Σ_t v_t = clock·z − sum. Only what an update
// touches is ever written.
//
// The accumulator lies beside its weight: feature j has `stride` weights at z + j·pitch and, if averaged, as many sums
// right behind them, so that an update that must fetch one has the other (measured: 4.4 against 4.9 ns per non-zero).
#pragma once

#include "rows.hpp"
#include "rules.hpp"

namespace perceptive {

template <class W>
struct Weights {
    W* z;                // n_features records of `pitch`; the classes of one feature lie side by side
    W* sigma;            // AROW's Σ, n_features × stride, or null
    double* z_bias;      // one per class
    double* sum_bias;    // one per class
    double* sigma_bias;  // one per class
    double* ids;         // Δ-trick: n_rows × n_classes weights of the id features, or null
    i64 n_features;
    i64 stride;     // n_classes padded to a multiple of 4; 1 for two classes
    bool averaged;  // whether sums lie behind the weights
    i64 n_classes;  // 1 for two classes
    i64 n_rows;     // rows that ids has room for

    i64 pitch() const { return averaged ? 2 * stride : stride; }
    i64 bytes() const { return n_features * pitch() * static_cast<i64>(sizeof(W)); }
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
