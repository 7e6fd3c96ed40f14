// The trellis of a sentence, and the path through it that scores most (Viterbi 1967; Collins 2002 for the perceptron).
//
//   score(y) = Σ_t unary[t][y_t] + Σ_{t≥1} edge_t[y_{t−1}][y_t] + Σ_{t≥2} triple[y_{t−2}][y_{t−1}][y_t]
//
// What may not be is −∞: labels that the sentence may not begin or end with, pairs that may not follow each other,
// labels other than a forced one. Ties go to the lowest label, from the end backwards (colexicographic).
//
// Rows of labels are padded to blocks of 8. The sums are float; every RESCALE tokens the largest is taken away, so that
// a sentence of 100,000 tokens keeps its digits. The way back is found by doing the last additions again, which give
// the same bits: cheaper than keeping pointers, as the forward loop is then two instructions for 8 labels.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "rows.hpp"

namespace perceptive {

constexpr int BLOCK = 8;
constexpr i64 RESCALE = 128;
constexpr float NEVER = -std::numeric_limits<float>::infinity();

inline i64 padded(i64 n_labels) { return (n_labels + BLOCK - 1) / BLOCK * BLOCK; }

typedef float Eight __attribute__((vector_size(BLOCK * sizeof(float))));

inline Eight load_eight(const float* from) {
    Eight eight;
    std::memcpy(&eight, from, sizeof eight);
    return eight;
}
inline void store_eight(float* to, Eight eight) { std::memcpy(to, &eight, sizeof eight); }
inline Eight all_eight(float x) { return Eight{x, x, x, x, x, x, x, x}; }

// One set of instructions for every machine, wider ones where the processor has them: the same bits, as only additions
// and comparisons of single numbers are involved. Sanitizers do not go with the choice at load time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERCEPTIVE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PERCEPTIVE_CLONES
#endif

struct Trellis {
    i64 n = 0;                            // tokens
    i64 L = 0;                            // labels
    i64 S = 0;                            // labels, padded
    const float* unary = nullptr;         // n × S
    const float* edge = nullptr;          // L × S
    const float* const* edges = nullptr;  // edge_t where it differs from place to place, or null
    const float* triple = nullptr;        // L × L × S, or null: first order
    const float* start = nullptr;         // S: 0 or −∞; −∞ for the padding
    const float* stop = nullptr;          // S: 0 or −∞
    i64 beam = 0;                         // states kept at a token; 0: all

    const float* edge_at(i64 t) const { return edges && edges[t] ? edges[t] : edge; }
};

// to[y] = max_p (from[p] + edge[p][y]) over the rows p with from[p] > −∞
PERCEPTIVE_CLONES inline void best_step(const float* from, i64 rows, const float* edge, i64 S, float* to) {
    for (i64 c = 0; c < S; c += 3 * BLOCK) {  // three blocks at a time stay in registers
        const i64 blocks = std::min<i64>(3, (S - c) / BLOCK);
        Eight a = all_eight(NEVER), b = a, d = a;
        if (blocks == 3) {
            for (i64 p = 0; p < rows; ++p) {
                const Eight x = all_eight(from[p]);
                const float* row = edge + p * S + c;
                const Eight u = x + load_eight(row), v = x + load_eight(row + BLOCK),
                            w = x + load_eight(row + 2 * BLOCK);
                a = u > a ? u : a;
                b = v > b ? v : b;
                d = w > d ? w : d;
            }
        } else {
            for (i64 p = 0; p < rows; ++p) {
                const Eight x = all_eight(from[p]);
                const float* row = edge + p * S + c;
                const Eight u = x + load_eight(row);
                a = u > a ? u : a;
                if (blocks == 2) {
                    const Eight v = x + load_eight(row + BLOCK);
                    b = v > b ? v : b;
                }
            }
        }
        store_eight(to + c, a);
        if (blocks > 1) store_eight(to + c + BLOCK, b);
        if (blocks > 2) store_eight(to + c + 2 * BLOCK, d);
    }
}

// Keep the `beam` largest of n numbers (the earlier of equals), make the others −∞.
inline void keep_best(float* values, i64 n, i64 beam, std::vector<i64>& scratch) {
    if (beam <= 0 || beam >= n) return;
    scratch.resize(static_cast<std::size_t>(n));
    for (i64 i = 0; i < n; ++i) scratch[i] = i;
    std::nth_element(scratch.begin(), scratch.begin() + beam, scratch.end(),
                     [&](i64 a, i64 b) { return values[a] > values[b] || (values[a] == values[b] && a < b); });
    for (i64 i = beam; i < n; ++i) values[scratch[i]] = NEVER;
}

class Viterbi {
  public:
    // The best path into `path`; its score, −∞ if there is no path at all.
    double operator()(const Trellis& x, int* path) {
        if (x.n == 0) return 0.0;
        const double score = x.triple && x.n > 1 ? second_order(x, path) : first_order(x, path);
        if (score > NEVER || x.beam == 0) return score;
        Trellis whole = x;  // the beam ran into a dead end
        whole.beam = 0;
        return (*this)(whole, path);
    }

    // Whether the beam kept a state of the trellis decoded last: a label, or a pair of labels in the second order.
    bool kept(const Trellis& x, i64 t, i64 before, i64 y) const {
        const i64 state = x.triple && x.n > 1 ? t * x.L * x.S + before * x.S + y : t * x.S + y;
        return alpha_[static_cast<std::size_t>(state)] > NEVER;
    }

  private:
    double first_order(const Trellis& x, int* path) {
        const i64 S = x.S, n = x.n;
        alpha_.resize(static_cast<std::size_t>(n * S));
        float* alpha = alpha_.data();
        double taken = 0.0;
        for (i64 y = 0; y < S; ++y) alpha[y] = x.start[y] + x.unary[y];
        keep_best(alpha, x.L, x.beam, scratch_);
        for (i64 t = 1; t < n; ++t) {
            float* now = alpha + t * S;
            best_step(now - S, x.L, x.edge_at(t), S, now);
            add(now, x.unary + t * S, S);
            keep_best(now, x.L, x.beam, scratch_);
            if (t % RESCALE == 0) taken += rescale(now, S);
        }
        const float* last = alpha + (n - 1) * S;
        i64 y = 0;
        for (i64 c = 1; c < x.L; ++c)
            if (last[c] + x.stop[c] > last[y] + x.stop[y]) y = c;
        const double score = static_cast<double>(last[y] + x.stop[y]) + taken;
        path[n - 1] = static_cast<int>(y);
        for (i64 t = n - 1; t > 0; --t) {
            const float *from = alpha + (t - 1) * S, *edge = x.edge_at(t);
            i64 best = 0;
            float value = from[0] + edge[y];
            for (i64 p = 1; p < x.L; ++p) {
                const float other = from[p] + edge[p * S + y];
                if (other > value) value = other, best = p;
            }
            path[t - 1] = static_cast<int>(y = best);
        }
        return score;
    }

    // States are pairs (y_{t−1}, y_t): alpha[t] is a matrix L × S, and from the first token there is one row.
    double second_order(const Trellis& x, int* path) {
        const i64 S = x.S, L = x.L, n = x.n, size = L * S;
        alpha_.resize(static_cast<std::size_t>(n * size));
        from_.resize(static_cast<std::size_t>(L));
        float* alpha = alpha_.data();
        double taken = 0.0;
        for (i64 y = 0; y < S; ++y) alpha[y] = x.start[y] + x.unary[y];
        for (i64 t = 1; t < n; ++t) {
            float *now = alpha + t * size, *before = now - size;
            const float *edge = x.edge_at(t), *unary = x.unary + t * S;
            for (i64 p = 0; p < L; ++p) {
                float* row = now + p * S;
                if (t == 1) {
                    for (i64 y = 0; y < S; ++y) row[y] = before[p];
                } else {
                    for (i64 q = 0; q < L; ++q) from_[q] = before[q * S + p];
                    best_step_strided(from_.data(), L, x.triple + p * S, L * S, S, row);
                }
                add(row, edge + p * S, S);
                add(row, unary, S);
            }
            keep_best(now, size, x.beam, scratch_);
            if (t % RESCALE == 0) taken += rescale(now, size);
        }
        const float* last = alpha + (n - 1) * size;
        i64 y = 0, p = 0;
        float value = last[0] + x.stop[0];
        for (i64 c = 0; c < L; ++c)  // the lowest last label first, then the lowest before it
            for (i64 q = 0; q < L; ++q)
                if (last[q * S + c] + x.stop[c] > value) value = last[q * S + c] + x.stop[c], y = c, p = q;
        path[n - 1] = static_cast<int>(y);
        path[n - 2] = static_cast<int>(p);
        for (i64 t = n - 1; t > 1; --t) {
            const float *before = alpha + (t - 1) * size, *triple = x.triple + p * S + y;
            i64 best = 0;
            float top = before[p] + triple[0];
            for (i64 q = 1; q < L; ++q) {
                const float other = before[q * S + p] + triple[q * L * S];
                if (other > top) top = other, best = q;
            }
            y = p;
            path[t - 2] = static_cast<int>(p = best);
        }
        return static_cast<double>(value) + taken;
    }

    // best_step where the rows lie `stride` apart
    static void best_step_strided(const float* from, i64 rows, const float* edge, i64 stride, i64 S, float* to) {
        for (i64 c = 0; c < S; c += BLOCK) {
            Eight a = all_eight(NEVER);
            for (i64 p = 0; p < rows; ++p) {
                const Eight u = all_eight(from[p]) + load_eight(edge + p * stride + c);
                a = u > a ? u : a;
            }
            store_eight(to + c, a);
        }
    }

    static void add(float* to, const float* from, i64 S) {
        for (i64 c = 0; c < S; c += BLOCK) store_eight(to + c, load_eight(to + c) + load_eight(from + c));
    }

  public:
    static double rescale(float* values, i64 n) {
        const float top = *std::max_element(values, values + n);
        if (!(top > NEVER)) return 0.0;
        for (i64 i = 0; i < n; ++i) values[i] -= top;
        return static_cast<double>(top);
    }

  private:
    std::vector<float> alpha_, from_;
    std::vector<i64> scratch_;
};

// Σ of the potentials along a path, in double.
inline double path_score(const Trellis& x, const int* path) {
    double score = 0.0;
    for (i64 t = 0; t < x.n; ++t) {
        score += static_cast<double>(x.unary[t * x.S + path[t]]);
        if (t > 0) score += static_cast<double>(x.edge_at(t)[path[t - 1] * x.S + path[t]]);
        if (t > 1 && x.triple)
            score += static_cast<double>(x.triple[(path[t - 2] * x.L + path[t - 1]) * x.S + path[t]]);
    }
    return score;
}

}  // namespace perceptive
