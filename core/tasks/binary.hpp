// Two classes: δ = y·x, one weight per feature.
#pragma once

#include "tasks/row_delta.hpp"

namespace perceptive {

template <class W, bool Averaged>
struct BinaryTask {
    Weights<W> w;
    const Options& options;
    Labels labels;
    Progress& run;
    RowJournal<W>* journal;

    bool far() const { return w.bytes() > (i64{1} << 24); }  // a third-level cache is near enough
    PERCEPTIVE_PREFETCH void prefetch_label(i64 i) const {
        labels.prefetch(i);
        if (Averaged && w.pending) __builtin_prefetch(w.pending + i, 1);
    }

    template <class Row>
    PERCEPTIVE_PREFETCH void prefetch(const Row& x) const {
        if constexpr (!Row::dense)
            for (i64 p = 0; p < x.size(); ++p) __builtin_prefetch(w.z + x.index(p));
    }

    // One round of the game on row i.
    template <class Row>
    PERCEPTIVE_INLINE void round(const Row& x, i64 i) {
        const int y = labels.label[i];
        const double weight = labels.weight ? labels.weight[i] : 1.0;
        if (y == 0 || weight == 0.0) return;
        const Round<Averaged, RowJournal<W>> round{options.rule, options.average_mistakes, run, journal};
        round.begin();

        const double row_scale = row_scale_of(x, options.normalize);
        double score = row_scale * dot(w.z, x) + options.bias * w.z_bias[0];
        if (w.ids) score += options.delta * w.ids[i];
        score *= run.scale;

        const double m = y * score;
        const bool mistake = options.ties_positive ? (score >= 0) != (y > 0) : errs(m);
        if (mistake) round.mistake(m);
        if (!round.wants_update(m, mistake, 1.0)) return;
        round.update(m, 1.0, weight,
                     RowDelta<Averaged, 1, W, Row>{w, options, run, journal, x, i, row_scale, {{{0, double(y)}}}});
    }
};

}  // namespace perceptive
