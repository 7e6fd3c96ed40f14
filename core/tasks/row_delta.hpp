// δ of a row x: φ(x, y) has x, the bias and the id feature in the place of class y.
//
//   two classes   δ = y·φ(x)                   one part: class 0, sign y
//   joint         δ = φ(x, y*) − φ(x, ŷ)       two parts: y* with +1, ŷ with −1
#pragma once

#include <array>

#include "linear.hpp"
#include "tasks/row_updates.hpp"

namespace perceptive {

// One part of δ: sign·φ(x) in the place of a class.
struct SignedClass {
    i64 label;
    double sign;
};

template <bool Averaged, std::size_t Parts, class W, class Row>
struct RowDelta {
    static constexpr bool has_sigma = true, keeps_norm = true, has_romma = true;
    // Weights in float32 (of models that were made so) move by more than ‖v‖² is to be known by.
    static constexpr double precise = sizeof(W) == sizeof(double) ? PRECISE : 1e-5;

    const Weights<W>& w;
    const Options& options;
    Progress& run;
    RowJournal<W>* journal;
    const Row& x;
    i64 i;             // the number of the row
    double row_scale;  // 1, or 1/‖x‖
    std::array<SignedClass, Parts> parts;

    double squared_norm() const {
        const double bias = options.bias, delta = options.delta;
        return Parts * (row_scale * row_scale * perceptive::squared_norm(x) + bias * bias + delta * delta);
    }

    double measured_norm() const { return perceptive::squared_norm(w, run.scale); }

    void apply(const Step& step) const {
        if (step.a != 1.0) shrink(w, run, step.a);
        for (const auto& [c, sign] : parts) {
            const double along_x = sign * step.tau * row_scale, along_bias = sign * step.tau * options.bias;
            add(c, along_x / run.scale, along_bias / run.scale);
            if (w.ids) w.ids[i * w.n_classes + c] += sign * step.tau * options.delta / run.scale;
        }
        if (journal) record(step.tau);
    }

    double variance() const {
        double variance = 0.0, of_bias = 0.0;
        if constexpr (Parts == 1) {
            variance = weighted_squared_norm(w.sigma, x);
        } else {
            double sums[Parts] = {};
            const auto add_up = [&](auto sigma) {
                for (i64 p = 0; p < x.size(); ++p) {
                    const double value = x.value(p);
                    for (std::size_t k = 0; k < Parts; ++k)
                        sums[k] += static_cast<double>(sigma(x.index(p), parts[k].label)) * (value * value);
                }
            };
            if (w.sparse)
                add_up([&](i64 j, i64 c) { return w.sparse->sigma->get(j, c); });
            else
                add_up([&](i64 j, i64 c) { return w.sigma[j * w.stride + c]; });
            for (const double sum : sums) variance += sum;
        }
        for (const SignedClass& part : parts) of_bias += w.sigma_bias[part.label];
        return row_scale * row_scale * variance + of_bias * (options.bias * options.bias);
    }

    void apply_arow(double tau, double shrinkage) const {
        if (journal) record_arow(tau);
        for (const auto& [c, sign] : parts) {
            const double step = sign * tau * row_scale;
            const auto adapt = [&](double value, W& z, W* sum, W& own) {
                const double sigma = own, change = step * (sigma * value), sx = sigma * (row_scale * value);
                z += static_cast<W>(change);
                if constexpr (Averaged) *sum += static_cast<W>(run.clock * change);
                own -= static_cast<W>(shrinkage * (sx * sx));
            };
            if (is_sparse()) {
                SparseWeights<W>& s = *w.sparse;
                for (i64 p = 0; p < x.size(); ++p)
                    if (const i64 j = x.index(p); x.value(p) != 0)
                        adapt(x.value(p), s.z.at(j, c), Averaged ? &s.sum->at(j, c) : nullptr, s.sigma->at(j, c));
            } else {
                for (i64 p = 0; p < x.size(); ++p) {
                    const i64 at = x.index(p) * stride() + c;
                    adapt(x.value(p), w.z[at], Averaged ? w.sum + at : nullptr, w.sigma[at]);
                }
            }
            const double bias_step = sign * tau * options.bias * w.sigma_bias[c], sx = w.sigma_bias[c] * options.bias;
            w.z_bias[c] += bias_step;
            if constexpr (Averaged) w.sum_bias[c] += run.clock * bias_step;
            w.sigma_bias[c] -= shrinkage * (sx * sx);
            run.touched += (Averaged ? 3 : 2) * x.size();
        }
    }

  private:
    // What goes into the journal is kept out of the hot loops.
    __attribute__((noinline)) void record(double tau) const {
        const std::int32_t vector = journal->updates.store(x, i);
        for (const auto& [c, sign] : parts)
            journal->updates.add_entry(c, vector, sign * tau * row_scale, sign * tau * options.bias);
    }

    __attribute__((noinline)) void record_arow(double tau) const {
        for (const auto& [c, sign] : parts) {
            const double step = sign * tau * row_scale;
            for (i64 p = 0; p < x.size(); ++p) {
                const i64 j = x.index(p);
                const double sigma = is_sparse() ? w.sparse->sigma->get(j, c) : w.sigma[j * stride() + c];
                const double change = step * (sigma * static_cast<double>(x.value(p)));
                if (change != 0.0) journal->updates.append(j, static_cast<W>(change));
            }
            const std::int32_t vector = journal->updates.close_vector();
            journal->updates.add_entry(c, vector, 1.0, sign * tau * options.bias * w.sigma_bias[c]);
        }
    }

    i64 stride() const { return Parts == 1 ? 1 : w.stride; }  // known to the compiler for two classes
    bool is_sparse() const { return Parts > 1 && w.sparse; }

    void add(i64 c, double step, double bias_step) const {
        if (is_sparse())
            axpy(w.sparse->z, c, step, x);
        else
            axpy(w.z + c, step, x, stride());
        w.z_bias[c] += bias_step;
        run.touched += x.size();
        if constexpr (Averaged) {
            w.sum_bias[c] += run.clock * bias_step;
            if (w.pending) {
                w.pending[i * w.n_classes + c] += run.clock * step;
            } else {
                if (is_sparse())
                    axpy(*w.sparse->sum, c, run.clock * step, x);
                else
                    axpy(w.sum + c, run.clock * step, x, stride());
                run.touched += x.size();
            }
        }
    }
};

}  // namespace perceptive
