// The dual perceptron (Aizerman, Braverman & Rozonoer 1964; Freund & Schapire 1999): w = Σ_i α_i φ(x_i).
//
// Scores of a block of coming examples are made outside, by one matrix product for the supports so far. scan() plays
// the block from where it stands to the next example that is learned from; the caller then adds K(x_i, ·)·step to the
// scores of the others. So the result is that of playing one example after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "round.hpp"

namespace perceptive {

// One output for two classes (targets ±1); a problem per output (one-vs-rest) or all outputs in one (joint), targets
// being classes.
enum class DualTask { binary, rest, joint };

struct DualBlock {
    const double* scores;  // n × outputs
    const std::int32_t* target;
    const double* q;       // K(x, x) with bias and id feature
    const double* weight;  // or null
    i64 n, outputs;
};

struct DualStep {
    double* step;    // per output: what x adds to the coefficients
    double* margin;  // per problem: m as it was before
    double* tau;     // per problem: how far along δ
    i64* mistakes;   // per problem, counted up
    double* criterion;
    i64 problems;
};

struct Stop {
    i64 row, rounds;  // the row that is learned from (n: none), and the rounds played up to and with it
};

// What was learned in a block: row and round of each update, its steps (per output), margins and τ (per problem).
struct DualUpdates {
    std::vector<i64> row, at;
    std::vector<double> step, margin, tau;
};

struct DualPlayer {
    DualTask task;
    Rule rule;
    bool ties_positive;

    // Play from `begin` to the next row that is learned from.
    Stop scan(const DualBlock& block, i64 begin, const DualStep& out) const {
        const i64 outputs = block.outputs;
        i64 rounds = 0;
        for (i64 i = begin; i < block.n; ++i) {
            const double weight = block.weight ? block.weight[i] : 1.0;
            if (weight == 0.0) continue;
            ++rounds;
            const double* f = block.scores + i * outputs;
            const std::int32_t y = block.target[i];
            bool update = false;
            if (task == DualTask::joint) {
                if (outputs < 2) continue;  // there is no competitor
                i64 rival = y == 0 ? 1 : 0;
                for (i64 c = rival + 1; c < outputs; ++c)
                    if (c != y && f[c] > f[rival]) rival = c;
                const double m = f[y] - f[rival];
                update = round(m, errs(m), 2.0 * block.q[i], weight, 0, out);
                if (update) {
                    std::fill(out.step, out.step + outputs, 0.0);
                    out.step[y] = out.tau[0];
                    out.step[rival] = -out.tau[0];
                }
            } else {
                for (i64 c = 0; c < outputs; ++c) {
                    const double sign = task == DualTask::binary ? y : (c == y ? 1.0 : -1.0);
                    const double m = sign * f[c];
                    const bool mistake = ties_positive ? (f[c] >= 0.0) != (sign > 0.0) : errs(m);
                    update |= round(m, mistake, block.q[i], weight, c, out);
                    out.step[c] = sign * out.tau[c];
                }
            }
            if (update) return {i, rounds};
        }
        return {block.n, rounds};
    }

    // Play a whole block: table[i·n + j] is K(x_i, x_j) of its examples. After an update the scores of the rows to
    // come, or (`whole`) of all rows, are updated. Returns the rounds played.
    template <class T>
    i64 play(const DualBlock& block, double* scores, const T* table, bool whole, const DualStep& made,
             DualUpdates& out) const {
        i64 rounds = 0;
        for (i64 begin = 0;;) {
            const Stop stop = scan(block, begin, made);
            rounds += stop.rounds;
            if (stop.row == block.n) return rounds;
            out.row.push_back(stop.row);
            out.at.push_back(rounds);
            out.step.insert(out.step.end(), made.step, made.step + block.outputs);
            out.margin.insert(out.margin.end(), made.margin, made.margin + made.problems);
            out.tau.insert(out.tau.end(), made.tau, made.tau + made.problems);
            begin = stop.row + 1;
            const T* values = table + stop.row * block.n;
            for (i64 c = 0; c < block.outputs; ++c) {
                const double step = made.step[c];
                if (step == 0.0) continue;
                for (i64 j = whole ? 0 : begin; j < block.n; ++j)
                    scores[j * block.outputs + c] += step * static_cast<double>(values[j]);
            }
        }
    }

  private:
    // m = v·δ for problem c, and τ; returns whether there is an update.
    bool round(double m, bool mistake, double q, double weight, i64 c, const DualStep& out) const {
        if (mistake) ++out.mistakes[c], out.criterion[c] -= m;
        const bool wanted = q > 0.0 && rule.wants_update(m, mistake);
        out.margin[c] = m;
        out.tau[c] = wanted ? rule.step(m, q, 0.0, 1.0, weight).tau : 0.0;
        return out.tau[c] != 0.0;
    }
};

// out[j, c] += Σ_i coefficient[i, c]·K[i, j]: K is supports × examples, most coefficients are 0. Sums are in double, in
// the order of the supports.
template <class T>
void dual_scores(const T* K, i64 supports, i64 n, const double* coefficient, i64 outputs, double* out) {
    std::vector<double> sums(static_cast<std::size_t>(outputs * n), 0.0);
    for (i64 i = 0; i < supports; ++i) {
        const T* values = K + i * n;
        for (i64 c = 0; c < outputs; ++c) {
            const double a = coefficient[i * outputs + c];
            if (a == 0.0) continue;
            double* sum = sums.data() + c * n;
            for (i64 j = 0; j < n; ++j) sum[j] += a * static_cast<double>(values[j]);
        }
    }
    for (i64 c = 0; c < outputs; ++c)
        for (i64 j = 0; j < n; ++j) out[j * outputs + c] += sums[static_cast<std::size_t>(c * n + j)];
}

}  // namespace perceptive
