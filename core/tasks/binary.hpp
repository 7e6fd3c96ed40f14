// Two classes: δ = y·x, one weight per feature.
#pragma once

#include <cmath>
#include <vector>

#include "journal.hpp"
#include "linear.hpp"
#include "vectors.hpp"

namespace perceptive {

// v ← a·v for rules that shrink: in `scale` alone, except where it would run out of range.
template <class W>
void shrink(const Weights<W>& w, Progress& run, double a) {
    const i64 n_ids = w.ids ? w.n_rows * w.n_classes : 0;
    const i64 size = w.n_features * w.stride;
    run.scale *= a;
    if (run.scale > 1e-2 && run.scale < 1e2) return;
    // Every weight is written: what the average owes to the past goes into the sum, and the clock starts again.
    for (i64 j = 0; j < size; ++j) {
        if (w.sum) w.sum[j] -= static_cast<W>(run.clock * static_cast<double>(w.z[j]));
        w.z[j] = static_cast<W>(run.scale * static_cast<double>(w.z[j]));
    }
    for (i64 c = 0; c < w.n_classes; ++c) {
        w.sum_bias[c] -= run.clock * w.z_bias[c];
        w.z_bias[c] *= run.scale;
    }
    for (i64 i = 0; i < n_ids; ++i) w.ids[i] *= run.scale;
    run.clock = 0.0;
    run.scale = 1.0;
    run.touched += size;
}

// Add what is pending to the sum: each row once, for all its classes.
template <class Rows, class W>
void settle(const Rows& rows, const Weights<W>& w, Progress& run) {
    std::vector<i64> label(static_cast<size_t>(w.n_classes));
    std::vector<W> share(static_cast<size_t>(w.n_classes));
    for (i64 i = 0; i < rows.n; ++i) {
        double* pending = w.pending + i * w.n_classes;
        i64 count = 0;
        for (i64 c = 0; c < w.n_classes; ++c) {
            if (pending[c] == 0.0) continue;
            label[count] = c;
            share[count++] = static_cast<W>(pending[c]);
            pending[c] = 0.0;
        }
        if (count == 0) continue;
        const auto x = rows[i];
        run.touched += count * x.size();
        if (w.stride == 1) {
            axpy(w.sum, static_cast<double>(share[0]), x);
            continue;
        }
        for (i64 p = 0; p < x.size(); ++p) {
            const W value = static_cast<W>(x.value(p));
            if (value == 0) continue;
            W* at = w.sum + x.index(p) * w.stride;
            for (i64 k = 0; k < count; ++k) at[label[k]] += share[k] * value;
        }
    }
}

template <class W, bool Averaged>
struct BinaryTask {
    Weights<W> w;
    const Options& options;
    Lessons lessons;
    Progress& run;
    Journal<W>* journal;

    bool far() const { return w.bytes() > (i64{1} << 24); }  // a third-level cache is near enough
    PERCEPTIVE_PREFETCH void prefetch_lesson(i64 i) const {
        lessons.prefetch(i);
        if (Averaged && w.pending) __builtin_prefetch(w.pending + i, 1);
    }

    template <class Row>
    PERCEPTIVE_PREFETCH void prefetch(const Row& x) const {
        if constexpr (!Row::dense)
            for (i64 p = 0; p < x.size(); ++p) __builtin_prefetch(w.z + x.index(p));
    }

    // One round of the game on row i.
    template <class Row>
    void round(const Row& x, i64 i) {
        const int y = lessons.targets[i];
        const double weight = lessons.weights ? lessons.weights[i] : 1.0;
        if (y == 0 || weight == 0.0) return;
        ++run.rounds;
        if (journal) journal->predicted();
        if (Averaged && !options.average_mistakes) run.clock += run.scale;

        const double length2 = options.normalize ? squared_norm(x) : 0.0;
        const double row_scale = length2 > 0.0 ? 1.0 / std::sqrt(length2) : 1.0;
        double score = row_scale * dot(w.z, x) + options.bias * w.z_bias[0];
        if (w.ids) score += options.delta * w.ids[i];
        score *= run.scale;

        const double m = y * score;
        const bool mistake = options.ties_positive ? (score >= 0) != (y > 0) : m <= 0;
        if (mistake) {
            ++run.mistakes;
            run.criterion -= m;
        }
        if (options.rule.wants_update(m, mistake)) update(x, i, y, m, row_scale, weight);
    }

  private:
    template <class Row>
    void update(const Row& x, i64 i, int y, double m, double row_scale, double weight) {
        const double bias = options.bias, delta = options.delta;
        const double q = row_scale * row_scale * squared_norm(x) + bias * bias + delta * delta;
        if (q == 0.0) return;
        if (Averaged && options.average_mistakes) run.clock += run.scale;
        if (options.rule.name == RuleName::arow) {
            update_arow(x, y, m, row_scale, weight);
        } else {
            const Step step = options.rule.step(m, q, run.norm2, 1.0, weight);
            if (step.a != 1.0) shrink(w, run, step.a);
            const double along_x = y * step.tau * row_scale, along_bias = y * step.tau * bias;
            add(x, i, along_x / run.scale, along_bias / run.scale);
            if (w.ids) w.ids[i] += y * step.tau * delta / run.scale;
            run.norm2 = step.a * step.a * run.norm2 + 2.0 * step.a * step.tau * m + step.tau * step.tau * q;
            run.norm2 = std::max(0.0, run.norm2);  // rounding
            if (journal) {
                journal->add_entry(0, journal->store(x, i), along_x, along_bias);
                journal->close_step(step.a);
            }
        }
        ++run.updates;
        run.radius2 = std::max(run.radius2, weight * weight * q);
    }

    template <class Row>
    void add(const Row& x, i64 i, double step, double bias_step) {
        axpy(w.z, step, x);
        w.z_bias[0] += bias_step;
        run.touched += x.size();
        if constexpr (Averaged) {
            w.sum_bias[0] += run.clock * bias_step;
            if (w.pending) {
                w.pending[i] += run.clock * step;
            } else {
                axpy(w.sum, run.clock * step, x);
                run.touched += x.size();
            }
        }
    }

    // v ← v + τ·y·Σx, Σ ← Σ − (Σx)²/(xᵀΣx + r)
    template <class Row>
    void update_arow(const Row& x, int y, double m, double row_scale, double weight) {
        const double bias = options.bias;
        double variance = row_scale * row_scale * weighted_squared_norm(w.sigma, x);
        variance += w.sigma_bias[0] * (bias * bias);
        const double tau = options.rule.step(m, variance, run.norm2, 1.0, weight).tau;
        const double shrinkage = 1.0 / (variance + options.rule.r / weight);
        const double step = y * tau * row_scale;
        for (i64 p = 0; p < x.size(); ++p) {
            const i64 j = x.index(p);
            const double value = x.value(p), sigma = w.sigma[j];
            const double change = step * (sigma * value), sx = sigma * (row_scale * value);
            w.z[j] += static_cast<W>(change);
            if constexpr (Averaged) w.sum[j] += static_cast<W>(run.clock * change);
            w.sigma[j] -= static_cast<W>(shrinkage * (sx * sx));
            if (journal && change != 0.0) journal->append(j, static_cast<W>(change));
        }
        const double bias_step = y * tau * bias * w.sigma_bias[0], sx = w.sigma_bias[0] * bias;
        w.z_bias[0] += bias_step;
        if constexpr (Averaged) w.sum_bias[0] += run.clock * bias_step;
        w.sigma_bias[0] -= shrinkage * (sx * sx);
        run.touched += (Averaged ? 3 : 2) * x.size();
        if (journal) {
            journal->add_entry(0, journal->close_vector(), 1.0, bias_step);
            journal->close_step(1.0);
        }
    }
};

}  // namespace perceptive
