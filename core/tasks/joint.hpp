// K classes at once: δ = φ(x, y*) − φ(x, ŷ), K weights per feature side by side.
#pragma once

#include <vector>

#include "tasks/row_delta.hpp"

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

// scores[c] = w_c·x for all (padded) classes, in blocks that fit the registers; the stride has room for more
template <class W, class Row>
inline void class_scores(const W* w, i64 stride, i64 padded, const Row& x, double* scores) {
    i64 left = padded;
    for (; left > 24; w += 24, scores += 24, left -= 24) block_scores<6>(w, stride, x, scores);
    switch (left / 4) {
        case 1: return block_scores<1>(w, stride, x, scores);
        case 2: return block_scores<2>(w, stride, x, scores);
        case 3: return block_scores<3>(w, stride, x, scores);
        case 4: return block_scores<4>(w, stride, x, scores);
        case 5: return block_scores<5>(w, stride, x, scores);
        default: return block_scores<6>(w, stride, x, scores);
    }
}

// The same of weights without zeros. There is room for `width` sums.
template <class W, class Row>
inline void class_scores(const SparseRows<W>& w, i64 padded, const Row& x, W* sums, double* scores) {
    std::fill_n(sums, w.width(), W{0});
    for (i64 p = 0; p < x.size(); ++p)
        if (const W value = static_cast<W>(x.value(p)); value != 0) w.add_to(x.index(p), value, sums);
    for (i64 c = 0; c < padded; ++c) scores[c] = static_cast<double>(sums[c]);
}

template <class W, bool Averaged>
struct JointTask {
    Weights<W> w;
    const Options& options;
    Labels labels;
    Progress& run;
    RowJournal<W>* journal;
    std::vector<double> scores = std::vector<double>(static_cast<size_t>(w.padded()));
    std::vector<W> sums = std::vector<W>(static_cast<size_t>(w.sparse ? w.sparse->width() : 0));

    bool far() const { return w.bytes() > (i64{1} << 19); }  // with so much to add up, asking early always pays
    PERCEPTIVE_PREFETCH void prefetch_label(i64 i) const {
        labels.prefetch(i);
        if (Averaged && w.pending) __builtin_prefetch(w.pending + i * w.n_classes, 1);
    }

    template <class Row>
    PERCEPTIVE_PREFETCH void prefetch(const Row& x) const {
        if constexpr (!Row::dense) {
            if (w.sparse) {
                for (i64 p = 0; p < x.size(); ++p) w.sparse->z.prefetch_entries(x.index(p));
                return;
            }
            for (i64 p = 0; p < x.size(); ++p) {
                const W* at = w.z + x.index(p) * w.stride;
                for (i64 c = 0; c < w.padded(); c += 64 / sizeof(W)) __builtin_prefetch(at + c);
            }
        }
    }

    template <class Row>
    PERCEPTIVE_INLINE void round(const Row& x, i64 i) {
        const int y = labels.label[i];
        const double weight = labels.weight ? labels.weight[i] : 1.0;
        if (y < 0 || y >= w.n_classes || weight == 0.0) return;
        const Round<Averaged, RowJournal<W>> round{options.rule, options.average_mistakes, run, journal};
        round.begin();
        if (w.n_classes < 2) return;  // there is no competitor, so nothing to learn

        const double row_scale = row_scale_of(x, options.normalize);
        if (w.sparse)
            class_scores(w.sparse->z, w.padded(), x, sums.data(), scores.data());
        else
            class_scores(w.z, w.stride, w.padded(), x, scores.data());
        for (i64 c = 0; c < w.n_classes; ++c) {
            scores[c] = row_scale * scores[c] + options.bias * w.z_bias[c];
            if (w.ids) scores[c] += options.delta * w.ids[i * w.n_classes + c];
            scores[c] *= run.scale;
        }
        i64 rival = best_rival(y, nullptr);
        double m = scores[y] - scores[rival];
        const bool mistake = errs(m);
        if (mistake) round.mistake(m);
        double cost = 1.0;
        if (labels.cost) {
            const double* costs = labels.cost + y * w.n_classes;
            rival = best_rival(y, costs);
            cost = costs[rival];
            m = scores[y] - scores[rival];
        }
        if (!round.wants_update(m, mistake, cost)) return;
        round.update(
            m, cost, weight,
            RowDelta<Averaged, 2, W, Row>{w, options, run, journal, x, i, row_scale, {{{y, 1.0}, {rival, -1.0}}}});
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
};

}  // namespace perceptive
