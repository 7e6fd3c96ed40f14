// How a v_k votes by scores that were replayed update by update: v_k·x is a sum of x·δ_1, x·δ_2, …, and rounding must
// not decide where the terms cancel.
//
// A sum whose partial sums are s_1, …, s_n is wrong by at most u·Σ(2|s_i| + |s_i−1|) < ROUNDING·Σ|s_i|, u = 2⁻⁵³ being
// the rounding of one sum or product (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.3): each
// score has this bound beside it, and scores nearer to each other than theirs are equal.
#pragma once

#include <cmath>
#include <limits>

#include "rows.hpp"

namespace perceptive {

constexpr double ROUNDING = 2.0 * std::numeric_limits<double>::epsilon();

// score += by, where `by` may be wrong by by_error
inline void add_term(double& score, double& error, double by, double by_error) {
    score += by;
    error += ROUNDING * std::abs(score) + by_error;
}

// 1, −1, or 0 where nothing but rounding speaks
inline i64 sign_of(double score, double error) {
    return static_cast<i64>(score > error) - static_cast<i64>(score < -error);
}

// The highest of scores that come one by one (ties: the first), and whether all were equal.
struct Choice {
    i64 best = 0;
    double score = 0.0, error = 0.0;
    bool all_equal = true;

    void meet(i64 i, double s, double s_error) {
        const i64 sign = sign_of(s - score, error + s_error);
        if (sign != 0) all_equal = false;
        if (sign > 0) best = i, score = s, error = s_error;
    }
};

}  // namespace perceptive
