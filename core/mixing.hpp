// Parameter mixing (McDonald, Hall & Mann 2010): what a shard's weights have become, and moving by what all have.
// `learners/mixture.py` has the definitions of step, spread and gain.
#pragma once

#include "linear.hpp"
#include "parallel.hpp"

namespace perceptive {

constexpr i64 MIXED_AT_ONCE = i64{1} << 16;  // weights

// z ← step = ω·ρ·(v_i − v), sum ← spread = clock·(v_i − v) − sum, sigma ← gain = ω·(ρ − 1), where ρ is 1, or of AROW
// the quotient of the variances.
template <class W>
struct Departure {
    W clock, weight;

    void operator()(const W* before, W* z, W* sum, const W* before_sigma, W* sigma, i64 n) const {
        for (i64 j = 0; j < n; ++j) z[j] -= before[j];
        if (sum)
            for (i64 j = 0; j < n; ++j) sum[j] = z[j] * clock - sum[j];
        if (sigma)
            for (i64 j = 0; j < n; ++j) {
                const W rho = before_sigma[j] / sigma[j];
                z[j] *= rho;
                sigma[j] = (rho - 1) * weight;
            }
        if (weight != 1)
            for (i64 j = 0; j < n; ++j) z[j] *= weight;
    }
};

// v ← v + Δ with Δ = step/(Σ ω + gain); with it sum ← sum + clock·Δ − spread, where Σ_t v_t = clock·v − sum, and
// sigma ← sigma·Σ ω/(Σ ω + gain). Returns ‖v‖² of these weights.
template <class W>
struct Move {
    W clock, weight;

    double operator()(W* z, W* sum, W* sigma, const W* step, const W* spread, const W* gain, i64 n) const {
        if (sum || sigma || gain)
            for (i64 j = 0; j < n; ++j) {
                const W total = gain ? gain[j] + weight : weight, before = z[j];
                z[j] += step[j] / total;
                if (sum) sum[j] += (z[j] - before) * clock - spread[j];
                if (sigma) sigma[j] *= weight / total;
            }
        else  // nothing but v, as where averages are deferred: plain loops become vectors
            for (i64 j = 0; j < n; ++j) z[j] += step[j] / weight;
        const auto square = [z](i64 j) { return static_cast<double>(z[j]) * static_cast<double>(z[j]); };
        double lanes[4] = {};
        i64 j = 0;
        for (; j + 4 <= n; j += 4)
            for (i64 lane = 0; lane < 4; ++lane) lanes[lane] += square(j + lane);
        for (; j < n; ++j) lanes[j % 4] += square(j);
        return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
};

// each(row, column, n) for pieces of a matrix whose rows are `stride` apart in one place and side by side in another,
// in several threads; its results are added up in the order of the pieces.
template <class Each>
double in_pieces(i64 rows, i64 columns, i64 stride, int threads, const Each& each) {
    if (stride == columns) columns *= rows, rows = 1;
    const i64 rows_at_once = std::max<i64>(1, MIXED_AT_ONCE / std::max<i64>(1, columns));
    const i64 pieces =
        rows == 1 ? (columns + MIXED_AT_ONCE - 1) / MIXED_AT_ONCE : (rows + rows_at_once - 1) / rows_at_once;
    std::vector<double> found(static_cast<size_t>(pieces));
    in_parallel(pieces, threads, [&] {
        return [&](i64 piece) {
            if (rows == 1) {
                const i64 begin = piece * MIXED_AT_ONCE;
                found[piece] = each(0, begin, std::min(MIXED_AT_ONCE, columns - begin));
                return;
            }
            for (i64 r = piece * rows_at_once; r < std::min(rows, (piece + 1) * rows_at_once); ++r)
                found[piece] += each(r, 0, columns);
        };
    });
    double total = 0.0;
    for (const double one : found) total += one;
    return total;
}

}  // namespace perceptive
