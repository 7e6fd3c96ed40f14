// The two verbs of every linear hot loop, dot and axpy, in a fixed order of operations: entry p of a row is added to
// lane p mod 8 and the lanes are summed at the end, so that every machine (and the Python twin) rounds alike.
#pragma once

#include <type_traits>

#include "rows.hpp"

namespace perceptive {

constexpr int LANES = 8;

// float only where both operands are
template <class V, class W>
using Accumulator = std::conditional_t<std::is_same_v<V, float> && std::is_same_v<W, float>, float, double>;

template <class A>
inline double sum_lanes(const A* s) {
    return static_cast<double>(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
}

// Σ_p term(p), in lanes
template <class A, class Term>
inline double lane_sum(i64 count, Term term) {
    A s[LANES] = {};
    i64 p = 0;
    for (; p + LANES <= count; p += LANES)
        for (int l = 0; l < LANES; ++l) s[l] += term(p + l);
    for (int l = 0; p < count; ++p, ++l) s[l] += term(p);
    return sum_lanes(s);
}

template <class W, class Row>
inline double dot(const W* w, const Row& x) {
    using A = Accumulator<typename Row::Value, W>;
    return lane_sum<A>(x.size(), [&](i64 p) { return static_cast<A>(w[x.index(p)]) * static_cast<A>(x.value(p)); });
}

template <class Row>
inline double squared_norm(const Row& x) {
    return lane_sum<double>(x.size(), [&](i64 p) {
        const double value = x.value(p);
        return value * value;
    });
}

// Σ_j σ_j x_j²: the variance of the score under a diagonal Σ
template <class W, class Row>
inline double weighted_squared_norm(const W* sigma, const Row& x) {
    return lane_sum<double>(x.size(), [&](i64 p) {
        const double value = x.value(p);
        return static_cast<double>(sigma[x.index(p)]) * (value * value);
    });
}

// w ← w + step·x, where the weights of one feature lie `stride` apart
template <class W, class Row>
inline void axpy(W* w, double step, const Row& x, i64 stride = 1) {
    using A = Accumulator<typename Row::Value, W>;
    const A a = static_cast<A>(step);
    for (i64 p = 0; p < x.size(); ++p) w[x.index(p) * stride] += static_cast<W>(a * static_cast<A>(x.value(p)));
}

}  // namespace perceptive
