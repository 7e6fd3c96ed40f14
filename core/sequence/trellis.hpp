// The trellis of a sentence.
//
//   score(y) = Σ_t unary[t][y_t] + Σ_{t≥1} edge_t[y_{t−1}][y_t] + Σ_{t≥2} triple[y_{t−2}][y_{t−1}][y_t]
//
// What may not be is −∞: labels that the sentence may not begin or end with, pairs that may not follow each other,
// labels other than a forced one. Ties go to the lowest label, from the end backwards (colexicographic).
//
// Rows of labels are padded to blocks of 8.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "rows.hpp"
#include "sequence/followers.hpp"

namespace perceptive {

constexpr int BLOCK = 8;
constexpr i64 RESCALE = 128;             // tokens after which the largest sum is taken away from all
constexpr float FLOAT_ROUNDING = 1e-6f;  // some 16 times what an addition of float is off by
constexpr float NEVER = -std::numeric_limits<float>::infinity();

inline i64 padded(i64 n_labels) { return (n_labels + BLOCK - 1) / BLOCK * BLOCK; }

typedef float Eight __attribute__((vector_size(BLOCK * sizeof(float))));

// Always inlined: with the wider instructions (below) such a vector is passed in another way than without them.
PERCEPTIVE_INLINE Eight load_eight(const float* from) {
    Eight eight;
    std::memcpy(&eight, from, sizeof eight);
    return eight;
}
PERCEPTIVE_INLINE void store_eight(float* to, Eight eight) { std::memcpy(to, &eight, sizeof eight); }
PERCEPTIVE_INLINE Eight all_eight(float x) { return Eight{x, x, x, x, x, x, x, x}; }

// One set of instructions for every machine, wider ones where the processor has them: the same bits, as only additions
// and comparisons of single numbers are involved. Sanitizers do not go with the choice at load time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERCEPTIVE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PERCEPTIVE_CLONES
#endif

// The weights of pairs of labels: L × S, −∞ where constraints forbid and in the padding. Of many labels also bounds: no
// pair that begins with p is worth more than most[p] or less than least[p], and none more than `largest` in absolute
// value, if it is finite. Under constraints none that is allowed is worth less than allowed[p].
struct PairWeights {
    std::vector<float> edge, most = {}, least = {}, allowed = {};
    float largest = 0.0f;
    const Followers* followers = nullptr;  // of many labels under constraints

    bool bounded() const { return !most.empty(); }
    void bound(i64 L, i64 S) {
        most.assign(static_cast<std::size_t>(S), NEVER);
        least.assign(static_cast<std::size_t>(S), -NEVER);
        largest = 0.0f;
        allowed.clear();
        for (i64 p = 0; p < L; ++p)
            for (i64 y = 0; y < L; ++y) meet(p, edge[p * S + y]);
        std::fill(least.begin() + L, least.end(), 0.0f);
        if (!followers) return;
        allowed.assign(static_cast<std::size_t>(L), -NEVER);
        for (i64 p = 0; p < L; ++p)
            for (i64 y = 0; y < L; ++y)
                if (edge[p * S + y] > NEVER) allowed[p] = std::min(allowed[p], edge[p * S + y]);
    }
    // A pair that begins with p is worth this now. Bounds only widen, which keeps them true.
    void meet(i64 p, float weight) {
        most[p] = std::max(most[p], weight);
        least[p] = std::min(least[p], weight);
        if (!allowed.empty()) allowed[p] = std::min(allowed[p], weight);
        if (std::abs(weight) <= FLT_MAX) largest = std::max(largest, std::abs(weight));
    }
};

struct Trellis {
    i64 n = 0;                                  // tokens
    i64 L = 0;                                  // labels
    i64 S = 0;                                  // labels, padded
    const float* unary = nullptr;               // n × S
    const PairWeights* pair = nullptr;          // edge, where it is the same at all tokens
    const PairWeights* const* pairs = nullptr;  // edge_t where it differs from place to place, or null
    const float* triple = nullptr;              // L × L × S, or null: first order
    const float* start = nullptr;               // S: 0 or −∞; −∞ for the padding
    const float* stop = nullptr;                // S: 0 or −∞
    i64 beam = 0;                               // states kept at a token; 0: all

    const PairWeights& pairs_at(i64 t) const { return pairs && pairs[t] ? *pairs[t] : *pair; }
    const float* edge_at(i64 t) const { return pairs_at(t).edge.data(); }
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
