// The two verbs of every linear hot loop, dot and axpy, in a fixed order of operations: entry p of a row is added to
// lane p mod 8 and the lanes are summed at the end, so that every machine (and the Python twin) rounds alike.
//
// Arithmetic is done in the type of the weights; only the gathering dot widens to double where the row is double,
// because converting the weight is cheaper there than narrowing the value.
#pragma once

#include <cstring>

#include "rows.hpp"
#include "sparse_rows.hpp"

namespace perceptive {

constexpr int LANES = 8;

// Four numbers side by side.
template <class T>
struct QuadOf {
    typedef T type __attribute__((vector_size(4 * sizeof(T))));
};
template <class T>
using Quad = typename QuadOf<T>::type;

// Four numbers from any address, as numbers of type A.
template <class A, class T>
inline Quad<A> load_quad(const T* from) {
    Quad<T> four;
    std::memcpy(&four, from, sizeof four);
    return __builtin_convertvector(four, Quad<A>);
}

template <class A>
inline double sum_lanes(const A* s) {
    return static_cast<double>(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
}

// Σ_p term(p), in lanes. Always inlined: called, it takes a quarter more instructions for a row.
template <class A, class Term>
__attribute__((always_inline)) inline double lane_sum(i64 count, Term term) {
    A s[LANES] = {};
    i64 p = 0;
    for (; p + LANES <= count; p += LANES)
        for (int l = 0; l < LANES; ++l) s[l] += term(p + l);
    switch (count - p) {  // unrolled, so that the lanes stay in registers
        case 7: s[6] += term(p + 6); [[fallthrough]];
        case 6: s[5] += term(p + 5); [[fallthrough]];
        case 5: s[4] += term(p + 4); [[fallthrough]];
        case 4: s[3] += term(p + 3); [[fallthrough]];
        case 3: s[2] += term(p + 2); [[fallthrough]];
        case 2: s[1] += term(p + 1); [[fallthrough]];
        case 1: s[0] += term(p);
    }
    return sum_lanes(s);
}

template <class W, class V>
inline double dot(const W* w, const SparseRow<V>& x) {
    using A = decltype(W{} * V{});
    return lane_sum<A>(x.size(), [&](i64 p) { return static_cast<A>(w[x.index(p)]) * static_cast<A>(x.value(p)); });
}

template <class W, class V>
inline double dot(const W* w, const DenseRow<V>& x) {
    static_assert(LANES == 8);
    Quad<W> low{}, high{};
    i64 p = 0;
    for (; p + LANES <= x.count; p += LANES) {
        low += load_quad<W>(w + p) * load_quad<W>(x.x + p);
        high += load_quad<W>(w + p + 4) * load_quad<W>(x.x + p + 4);
    }
    W s[LANES];
    std::memcpy(s, &low, sizeof low);
    std::memcpy(s + 4, &high, sizeof high);
    for (int l = 0; p < x.count; ++p, ++l) s[l] += w[p] * static_cast<W>(x.x[p]);
    return sum_lanes(s);
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
    const W a = static_cast<W>(step);
    if (Row::dense && stride == 1) {  // side by side: vectors, no questions
        for (i64 p = 0; p < x.size(); ++p) w[p] += a * static_cast<W>(x.value(p));
        return;
    }
    for (i64 p = 0; p < x.size(); ++p) {
        const W value = static_cast<W>(x.value(p));
        if (Row::dense && value == 0) continue;
        w[x.index(p) * stride] += a * value;
    }
}

// The same of class c, where the weights of a feature are kept without their zeros.
template <class W, class Row>
void axpy(SparseRows<W>& w, i64 c, double step, const Row& x) {
    const W a = static_cast<W>(step);
    for (i64 p = 0; p < x.size(); ++p) {
        const W value = static_cast<W>(x.value(p));
        if (value != 0) w.at(x.index(p), c) += a * value;
    }
}

}  // namespace perceptive
