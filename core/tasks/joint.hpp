// K classes at once: δ = φ(x, y*) − φ(x, ŷ), K weights per feature side by side.
#pragma once

#include <cmath>
#include <vector>

#include "journal.hpp"
#include "linear.hpp"
#include "tasks/binary.hpp"
#include "vectors.hpp"

namespace perceptive {

// scores[c] = Σ_p x_p·w[p][c] for 4·Q classes from w on: each class a plain sum in the order of the row
template <int Q, class W, class Row>
inline void block_scores(const W* w, i64 stride, const Row& x, double* scores) {
    Quad<W> s[Q] = {};
    for (i64 p = 0; p < x.size(); ++p) {
        const W value = static_cast<W>(x.value(p));
        if (Row::dense && value == 0) continue;
        const W* at = w + x.index(p) * stride;
        for (int q = 0; q < Q; ++q) s[q] += load_quad<W>(at + 4 * q) * value;
    }
    for (int q = 0; q < Q; ++q)
        for (int c = 0; c < 4; ++c) scores[4 * q + c] = static_cast<double>(s[q][c]);
}

// scores[c] = w_c·x for all (padded) classes, in blocks that fit the registers
template <class W, class Row>
inline void class_scores(const W* w, i64 stride, const Row& x, double* scores) {
    i64 left = stride;
    for (; left > 24; w += 24, scores += 24, left -= 24) block_scores<6>(w, stride, x, scores);
    switch (left / 4) {
        case 1:
            return block_scores<1>(w, stride, x, scores);
        case 2:
            return block_scores<2>(w, stride, x, scores);
        case 3:
            return block_scores<3>(w, stride, x, scores);
        case 4:
            return block_scores<4>(w, stride, x, scores);
        case 5:
            return block_scores<5>(w, stride, x, scores);
        default:
            return block_scores<6>(w, stride, x, scores);
    }
}

template <class W, bool Averaged>
struct JointTask {
    Weights<W> w;
    const Options& options;
    Lessons lessons;
    Progress& run;
    Journal<W>* journal;
    std::vector<double> scores = std::vector<double>(static_cast<size_t>(w.stride));

    bool far() const { return w.bytes() > (i64{1} << 19); }  // with so much to add up, asking early always pays
    PERCEPTIVE_PREFETCH void prefetch_lesson(i64 i) const {
        lessons.prefetch(i);
        if (Averaged && w.pending) __builtin_prefetch(w.pending + i * w.n_classes, 1);
    }

    template <class Row>
    PERCEPTIVE_PREFETCH void prefetch(const Row& x) const {
        if constexpr (!Row::dense)
            for (i64 p = 0; p < x.size(); ++p) {
                const W* at = w.z + x.index(p) * w.stride;
                for (i64 c = 0; c < w.stride; c += 64 / sizeof(W)) __builtin_prefetch(at + c);
            }
    }

    template <class Row>
    void round(const Row& x, i64 i) {
        const int y = lessons.targets[i];
        const double weight = lessons.weights ? lessons.weights[i] : 1.0;
        if (y < 0 || y >= w.n_classes || weight == 0.0) return;
        ++run.rounds;
        if (journal) journal->predicted();
        if (Averaged && !options.average_mistakes) run.clock += run.scale;
        if (w.n_classes < 2) return;  // nobody to lose to, nothing to learn

        const double length2 = options.normalize ? squared_norm(x) : 0.0;
        const double row_scale = length2 > 0.0 ? 1.0 / std::sqrt(length2) : 1.0;
        class_scores(w.z, w.stride, x, scores.data());
        for (i64 c = 0; c < w.n_classes; ++c) {
            scores[c] = row_scale * scores[c] + options.bias * w.z_bias[c];
            if (w.ids) scores[c] += options.delta * w.ids[i * w.n_classes + c];
            scores[c] *= run.scale;
        }
        i64 rival = best_rival(y, nullptr);
        double m = scores[y] - scores[rival];
        const bool mistake = m <= 0;
        if (mistake) {
            ++run.mistakes;
            run.criterion -= m;
        }
        double cost = 1.0;
        if (lessons.cost) {
            const double* costs = lessons.cost + y * w.n_classes;
            rival = best_rival(y, costs);
            cost = costs[rival];
            m = scores[y] - scores[rival];
        }
        if (options.rule.wants_update(m, mistake, cost)) update(x, i, y, rival, m, cost, row_scale, weight);
    }

  private:
    // argmax over c ≠ y of the score (plus cost), ties to the lowest index
    i64 best_rival(i64 y, const double* costs) const {
        i64 best = y == 0 ? 1 : 0;
        double best_score = scores[best] + (costs ? costs[best] : 0.0);
        for (i64 c = best + 1; c < w.n_classes; ++c) {
            const double score = scores[c] + (costs ? costs[c] : 0.0);
            if (c != y && score > best_score) {
                best = c;
                best_score = score;
            }
        }
        return best;
    }

    template <class Row>
    void update(const Row& x, i64 i, i64 y, i64 rival, double m, double cost, double row_scale, double weight) {
        const double bias = options.bias, delta = options.delta;
        const double q = 2.0 * (row_scale * row_scale * squared_norm(x) + bias * bias + delta * delta);
        if (q == 0.0) return;
        if (Averaged && options.average_mistakes) run.clock += run.scale;
        if (options.rule.name == RuleName::arow) {
            update_arow(x, y, rival, m, row_scale, weight);
        } else {
            const Step step = options.rule.step(m, q, run.norm2, cost, weight);
            if (step.a != 1.0) shrink(w, run, step.a);
            const double along_x = step.tau * row_scale, along_bias = step.tau * bias;
            add(x, i, y, rival, along_x / run.scale, along_bias / run.scale);
            if (w.ids) {
                w.ids[i * w.n_classes + y] += step.tau * delta / run.scale;
                w.ids[i * w.n_classes + rival] -= step.tau * delta / run.scale;
            }
            run.norm2 = step.a * step.a * run.norm2 + 2.0 * step.a * step.tau * m + step.tau * step.tau * q;
            run.norm2 = std::max(0.0, run.norm2);  // rounding
            if (journal) {
                const std::int32_t vector = journal->store(x, i);
                journal->add_entry(y, vector, along_x, along_bias);
                journal->add_entry(rival, vector, -along_x, -along_bias);
                journal->close_step(step.a);
            }
        }
        ++run.updates;
        run.radius2 = std::max(run.radius2, weight * weight * q);
    }

    template <class Row>
    void add(const Row& x, i64 i, i64 y, i64 rival, double step, double bias_step) {
        axpy(w.z + y, step, x, w.stride);
        axpy(w.z + rival, -step, x, w.stride);
        w.z_bias[y] += bias_step;
        w.z_bias[rival] -= bias_step;
        run.touched += 2 * x.size();
        if constexpr (Averaged) {
            w.sum_bias[y] += run.clock * bias_step;
            w.sum_bias[rival] -= run.clock * bias_step;
            if (w.pending) {
                w.pending[i * w.n_classes + y] += run.clock * step;
                w.pending[i * w.n_classes + rival] -= run.clock * step;
            } else {
                axpy(w.sum + y, run.clock * step, x, w.stride);
                axpy(w.sum + rival, -run.clock * step, x, w.stride);
                run.touched += 2 * x.size();
            }
        }
    }

    template <class Row>
    void update_arow(const Row& x, i64 y, i64 rival, double m, double row_scale, double weight) {
        const double bias = options.bias;
        double right = 0.0, wrong = 0.0;
        for (i64 p = 0; p < x.size(); ++p) {
            const double value = x.value(p);
            const W* sigma = w.sigma + x.index(p) * w.stride;
            right += static_cast<double>(sigma[y]) * (value * value);
            wrong += static_cast<double>(sigma[rival]) * (value * value);
        }
        double variance = row_scale * row_scale * (right + wrong);
        variance += (w.sigma_bias[y] + w.sigma_bias[rival]) * (bias * bias);
        const double tau = options.rule.step(m, variance, run.norm2, 1.0, weight).tau;
        const double shrinkage = 1.0 / (variance + options.rule.r / weight);
        move_arow(x, y, tau, shrinkage, row_scale);
        move_arow(x, rival, -tau, shrinkage, row_scale);
        run.touched += 2 * (Averaged ? 3 : 2) * x.size();
        if (journal) journal->close_step(1.0);
    }

    // v_c ← v_c + τ·Σ_c x, Σ_c ← Σ_c − shrinkage·(Σ_c x)²
    template <class Row>
    void move_arow(const Row& x, i64 c, double tau, double shrinkage, double row_scale) {
        const double step = tau * row_scale;
        for (i64 p = 0; p < x.size(); ++p) {
            const i64 at = x.index(p) * w.stride + c;
            const double value = x.value(p), sigma = w.sigma[at];
            const double change = step * (sigma * value), sx = sigma * (row_scale * value);
            w.z[at] += static_cast<W>(change);
            if constexpr (Averaged) w.sum[at] += static_cast<W>(run.clock * change);
            w.sigma[at] -= static_cast<W>(shrinkage * (sx * sx));
            if (journal && change != 0.0) journal->append(x.index(p), static_cast<W>(change));
        }
        const double bias_step = tau * options.bias * w.sigma_bias[c], sx = w.sigma_bias[c] * options.bias;
        w.z_bias[c] += bias_step;
        if constexpr (Averaged) w.sum_bias[c] += run.clock * bias_step;
        w.sigma_bias[c] -= shrinkage * (sx * sx);
        if (journal) journal->add_entry(c, journal->close_vector(), 1.0, bias_step);
    }
};

}  // namespace perceptive
