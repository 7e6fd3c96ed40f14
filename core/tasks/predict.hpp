// Scores of rows under one weight vector, under the lazy average, and the votes of a whole journal.
#pragma once

#include <algorithm>
#include <vector>

#include "ballot.hpp"
#include "parallel.hpp"
#include "tasks/joint.hpp"

namespace perceptive {

constexpr i64 SCORED_AT_ONCE = 4096;  // rows that a thread takes

// out[i·n_classes + c] = w_c·x_i, without bias. stride 1: two classes. Of many classes `sparse` has the weights.
template <class Rows, class W>
void linear_scores(const Rows& rows, const W* w, const SparseRows<W>* sparse, i64 stride, i64 n_classes, bool normalize,
                   int threads, double* out) {
    const i64 padded = (n_classes + 3) / 4 * 4;
    in_parallel((rows.n + SCORED_AT_ONCE - 1) / SCORED_AT_ONCE, threads, [&] {
        return [&, scores = std::vector<double>(static_cast<size_t>(padded)),
                sums = std::vector<W>(static_cast<size_t>(sparse ? stride : 0))](i64 part) mutable {
            const i64 end = std::min(rows.n, (part + 1) * SCORED_AT_ONCE);
            for (i64 i = part * SCORED_AT_ONCE; i < end; ++i) {
                const auto x = rows[i];
                if (i + 4 < end) rows.template prefetch_row<true>(i + 4);
                const double scale = row_scale_of(x, normalize);
                if (stride == 1) {
                    out[i] = scale * dot(w, x);
                } else {
                    if (sparse)
                        class_scores(*sparse, padded, x, sums.data(), scores.data());
                    else
                        class_scores(w, stride, padded, x, scores.data());
                    for (i64 c = 0; c < n_classes; ++c) out[i * n_classes + c] = scale * scores[c];
                }
            }
        };
    });
}

// Scores of the journal's voters for a block of rows at a time: each stored vector meets WIDTH rows at once, then the
// run is replayed in scores. vote(k, begin, width, scores, errors) is called for every voter k with a survival (0 = no
// vote; the caller may have thinned them); scores[c·WIDTH + l] is row begin + l's for class c, and errors has what
// rounding may have done to it. initial: scores of v_0, with its bias, n × classes.
constexpr i64 WIDTH = 8;

template <class Rows, class W, class Vote>
void replay_scores(const Rows& rows, const RowJournal<W>& journal, const i64* survival, const double* initial,
                   double bias, i64 n_classes, bool normalize, Vote vote) {
    const RowUpdates<W>& updates = journal.updates;
    // Only features that the journal knows matter: number them 0, 1, …
    std::vector<std::int32_t> known(updates.index);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    const auto place = [&](i64 j) {
        const auto found = std::lower_bound(known.begin(), known.end(), j);
        return found != known.end() && *found == j ? static_cast<i64>(found - known.begin()) : i64{-1};
    };
    std::vector<std::int32_t> compact(updates.index.size());
    for (size_t p = 0; p < compact.size(); ++p) compact[p] = static_cast<std::int32_t>(place(updates.index[p]));
    std::vector<double> block(known.size() * WIDTH);  // the rows of a block, transposed
    const auto fill = [&](i64 row, i64 lane, double scale) {
        const auto x = rows[row];
        for (i64 p = 0; p < x.size(); ++p) {
            const i64 at = place(x.index(p));
            if (at >= 0) block[at * WIDTH + lane] = scale * static_cast<double>(x.value(p));
        }
    };
    // A dot product of n terms is wrong by at most n·ROUNDING·‖δ‖·‖x‖.
    std::vector<double> dot_error(static_cast<size_t>(updates.vectors()));
    for (i64 v = 0; v < updates.vectors(); ++v) {
        const i64 first = updates.vector_start[v], end = updates.vector_start[v + 1];
        double squares = 0.0;
        for (i64 p = first; p < end; ++p) squares += std::pow(static_cast<double>(updates.value[p]), 2);
        dot_error[v] = static_cast<double>(end - first) * ROUNDING * std::sqrt(squares);
    }
    std::vector<double> dots(static_cast<size_t>(updates.vectors() * WIDTH));
    std::vector<double> scores(static_cast<size_t>(n_classes * WIDTH)), errors(scores.size());
    for (i64 begin = 0; begin < rows.n; begin += WIDTH) {
        const i64 width = std::min(WIDTH, rows.n - begin);
        double length[WIDTH] = {};  // of the rows
        for (i64 l = 0; l < width; ++l) {
            const auto x = rows[begin + l];
            const double scale = row_scale_of(x, normalize);
            fill(begin + l, l, scale);
            for (i64 p = 0; p < x.size(); ++p) length[l] += std::pow(scale * static_cast<double>(x.value(p)), 2);
            length[l] = std::sqrt(length[l]);
        }
        for (i64 v = 0; v < updates.vectors(); ++v) {
            double s[WIDTH] = {};
            for (i64 p = updates.vector_start[v]; p < updates.vector_start[v + 1]; ++p) {
                const double value = static_cast<double>(updates.value[p]);
                const double* at = block.data() + static_cast<i64>(compact[p]) * WIDTH;
                for (i64 l = 0; l < WIDTH; ++l) s[l] += value * at[l];
            }
            std::copy(s, s + WIDTH, dots.begin() + v * WIDTH);
        }
        for (i64 c = 0; c < n_classes; ++c)
            for (i64 l = 0; l < width; ++l) scores[c * WIDTH + l] = initial[(begin + l) * n_classes + c];
        std::fill(errors.begin(), errors.end(), 0.0);
        for (i64 k = 0; k < journal.voters(); ++k) {
            if (k > 0) {
                const i64 step = k - 1;
                if (updates.scale[step] != 1.0)
                    for (size_t i = 0; i < scores.size(); ++i) {
                        scores[i] *= updates.scale[step];
                        errors[i] = std::abs(updates.scale[step]) * errors[i] + ROUNDING * std::abs(scores[i]);
                    }
                for (i64 e = updates.first_entry[step]; e < updates.first_entry[step + 1]; ++e) {
                    const Entry& entry = updates.entries[e];
                    const double* d = dots.data() + static_cast<i64>(entry.vector) * WIDTH;
                    double* s = scores.data() + static_cast<i64>(entry.label) * WIDTH;
                    double* s_error = errors.data() + static_cast<i64>(entry.label) * WIDTH;
                    const double constant = bias * entry.bias, constant_error = ROUNDING * std::abs(constant);
                    const double error = std::abs(entry.coefficient) * dot_error[entry.vector];
                    for (i64 l = 0; l < WIDTH; ++l)
                        add_term(s[l], s_error[l], entry.coefficient * d[l] + constant,
                                 error * length[l] + constant_error);
                }
            }
            if (survival[k] != 0) vote(k, begin, width, scores.data(), errors.data());
        }
        for (i64 l = 0; l < width; ++l) fill(begin + l, l, 0.0);
    }
}

// Votes of the journal's voters: two classes Σ m_k sign(score); joint Σ m_k [k votes for c].
template <class Rows, class W>
void votes(const Rows& rows, const RowJournal<W>& journal, const i64* survival, const double* initial, double bias,
           i64 n_classes, bool normalize, i64* out) {
    const bool binary = n_classes == 1;
    std::fill(out, out + rows.n * n_classes, i64{0});
    replay_scores(rows, journal, survival, initial, bias, n_classes, normalize,
                  [&](i64 k, i64 begin, i64 width, const double* scores, const double* errors) {
                      for (i64 l = 0; l < width; ++l) {
                          if (binary) {
                              out[begin + l] += survival[k] * sign_of(scores[l], errors[l]);
                              continue;
                          }
                          Choice choice{0, scores[l], errors[l]};
                          for (i64 c = 1; c < n_classes; ++c)
                              choice.meet(c, scores[c * WIDTH + l], errors[c * WIDTH + l]);
                          if (!choice.all_equal) out[(begin + l) * n_classes + choice.best] += survival[k];
                      }
                  });
}

// Votes of the journal's voters for the best of each list: a voter whose scores are all equal abstains. list[i] is the
// list that row i belongs to; the lists lie one after the other.
template <class Rows, class W>
void rank_votes(const Rows& rows, const RowJournal<W>& journal, const i64* survival, const double* initial,
                const i64* list, bool normalize, i64* out) {
    std::vector<Choice> choices(static_cast<size_t>(journal.voters()));  // in the list that is being read
    std::fill(out, out + rows.n, i64{0});
    replay_scores(rows, journal, survival, initial, 0.0, 1, normalize,
                  [&](i64 k, i64 begin, i64 width, const double* scores, const double* errors) {
                      Choice& choice = choices[k];
                      for (i64 l = 0; l < width; ++l) {
                          const i64 i = begin + l;
                          if (i == 0 || list[i] != list[i - 1])
                              choice = {i, scores[l], errors[l]};
                          else
                              choice.meet(i, scores[l], errors[l]);
                          const bool last = i + 1 == rows.n || list[i + 1] != list[i];
                          if (last && !choice.all_equal) out[choice.best] += survival[k];
                      }
                  });
}

}  // namespace perceptive
