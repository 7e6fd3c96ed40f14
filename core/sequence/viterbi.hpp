// The path through a trellis that scores most (Viterbi 1967; Collins 2002 for the perceptron).
//
// The sums are float; every RESCALE tokens the largest is taken away, so that a sentence of 100,000 tokens keeps its
// digits. The way back is found by doing the last additions again, which give the same bits: cheaper than keeping
// pointers, as the forward loop is then two instructions for 8 labels.
//
// Of many labels only some can be on the best path (compare Esposito & Radicioni 2009). With α_t(y) the best score of a
// path that ends in y at t, y is left out at t where some z does better whatever follows:
//
//   α_t(y) + max_s edge(y, s) < α_t(z) + min_s edge(z, s)
//
// by more than rounding takes. Nothing is lost: the path is the same, ties included. Under constraints y and z are
// compared if the same labels may follow them (followers.hpp), over these. A beam leaves out more, and may lose the
// best path.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sequence/beam.hpp"
#include "sequence/trellis.hpp"

namespace perceptive {

// to[y] = max_p (from[p] + edge[p][y]) over the rows p with from[p] > −∞, which lie `stride` apart
PERCEPTIVE_CLONES inline void best_step(const float* from, i64 rows, const float* edge, i64 stride, i64 S, float* to) {
    for (i64 c = 0; c < S; c += 3 * BLOCK) {  // three blocks at a time stay in registers
        const i64 blocks = std::min<i64>(3, (S - c) / BLOCK);
        Eight a = all_eight(NEVER), b = a, d = a;
        if (blocks == 3) {
            for (i64 p = 0; p < rows; ++p) {
                const Eight x = all_eight(from[p]);
                const float* row = edge + p * stride + c;
                const Eight u = x + load_eight(row), v = x + load_eight(row + BLOCK),
                            w = x + load_eight(row + 2 * BLOCK);
                a = u > a ? u : a;
                b = v > b ? v : b;
                d = w > d ? w : d;
            }
        } else {
            for (i64 p = 0; p < rows; ++p) {
                const Eight x = all_eight(from[p]);
                const float* row = edge + p * stride + c;
                const Eight u = x + load_eight(row);
                a = u > a ? u : a;
                if (blocks == 2) {
                    const Eight v = x + load_eight(row + BLOCK);
                    b = v > b ? v : b;
                }
            }
        }
        store_eight(to + c, a);
        if (blocks > 1) store_eight(to + c + BLOCK, b);
        if (blocks > 2) store_eight(to + c + 2 * BLOCK, d);
    }
}

// The same over some rows, in ascending order.
PERCEPTIVE_CLONES inline void best_step_of(const float* from, const std::vector<std::int32_t>& rows, i64 begin,
                                           const float* edge, i64 S, float* to) {
    const std::int32_t *first = rows.data() + begin, *last = rows.data() + rows.size();
    for (i64 c = 0; c < S; c += 4 * BLOCK) {
        const i64 blocks = std::min<i64>(4, (S - c) / BLOCK);
        Eight a = all_eight(NEVER), b = a, d = a, e = a;
        for (const std::int32_t* p = first; p < last; ++p) {
            const Eight x = all_eight(from[*p]);
            const float* row = edge + *p * S + c;
            const Eight u = x + load_eight(row);
            a = u > a ? u : a;
            if (blocks < 4) {
                if (blocks > 1) {
                    const Eight v = x + load_eight(row + BLOCK);
                    b = v > b ? v : b;
                }
                if (blocks > 2) {
                    const Eight w = x + load_eight(row + 2 * BLOCK);
                    d = w > d ? w : d;
                }
                continue;
            }
            const Eight v = x + load_eight(row + BLOCK), w = x + load_eight(row + 2 * BLOCK),
                        z = x + load_eight(row + 3 * BLOCK);
            b = v > b ? v : b;
            d = w > d ? w : d;
            e = z > e ? z : e;
        }
        store_eight(to + c, a);
        if (blocks > 1) store_eight(to + c + BLOCK, b);
        if (blocks > 2) store_eight(to + c + 2 * BLOCK, d);
        if (blocks > 3) store_eight(to + c + 3 * BLOCK, e);
    }
}

// max_i (a[i] + b[i]) of S numbers
PERCEPTIVE_CLONES inline float largest_sum(const float* a, const float* b, i64 S) {
    Eight top = all_eight(NEVER);
    for (i64 c = 0; c < S; c += BLOCK) {
        const Eight u = load_eight(a + c) + load_eight(b + c);
        top = u > top ? u : top;
    }
    float found = NEVER;
    for (int i = 0; i < BLOCK; ++i) found = std::max(found, top[i]);
    return found;
}

// The places i < S with a[i] > −∞ and not a[i] + b[i] < bound, behind those that are there; b may be null: 0.
PERCEPTIVE_CLONES inline void places_above(const float* a, const float* b, float bound, i64 S,
                                           std::vector<std::int32_t>& places) {
    const Eight never = all_eight(NEVER), least = all_eight(bound);
    for (i64 c = 0; c < S; c += BLOCK) {
        const Eight x = load_eight(a + c);
        const auto some = (x > never) & ~((b ? x + load_eight(b + c) : x) < least);
        std::int64_t any[BLOCK / 2];
        std::memcpy(any, &some, sizeof any);
        if (!(any[0] | any[1] | any[2] | any[3])) continue;
        for (int i = 0; i < BLOCK; ++i)
            if (some[i]) places.push_back(static_cast<std::int32_t>(c + i));
    }
}

class Viterbi {
  public:
    // The best path into `path`; its score, −∞ if there is no path at all.
    double operator()(const Trellis& x, int* path) {
        if (x.n == 0) return 0.0;
        double score = 0.0;
        if (x.triple && x.n > 1)
            score = second_order(x, path);
        else if (x.beam > 0 || x.pair->bounded())
            score = some_states(x, path);
        else
            score = first_order(x, path);
        if (score > NEVER || x.beam == 0) return score;
        Trellis whole = x;  // the beam ran into a dead end
        whole.beam = 0;
        return (*this)(whole, path);
    }

    // Whether the beam kept a state of the trellis decoded last: a label, or a pair of labels in the second order.
    bool kept(const Trellis& x, i64 t, i64 before, i64 y) const {
        const i64 state = x.triple && x.n > 1 ? t * x.L * x.S + before * x.S + y : t * x.S + y;
        return alpha_[static_cast<std::size_t>(state)] > NEVER;
    }

    static double rescale(float* values, i64 n) {
        const float top = *std::max_element(values, values + n);
        if (!(top > NEVER)) return 0.0;
        for (i64 i = 0; i < n; ++i) values[i] -= top;
        return static_cast<double>(top);
    }

  private:
    double first_order(const Trellis& x, int* path) {
        const i64 S = x.S, n = x.n;
        alpha_.resize(static_cast<std::size_t>(n * S));
        float* alpha = alpha_.data();
        double taken = 0.0;
        for (i64 y = 0; y < S; ++y) alpha[y] = x.start[y] + x.unary[y];
        for (i64 t = 1; t < n; ++t) {
            float* now = alpha + t * S;
            best_step(now - S, x.L, x.edge_at(t), S, S, now);
            add(now, x.unary + t * S, S);
            if (t % RESCALE == 0) taken += rescale(now, S);
        }
        const double score = best_end(x, path) + taken;
        i64 y = path[n - 1];
        for (i64 t = n - 1; t > 0; --t) {
            const float *from = alpha + (t - 1) * S, *edge = x.edge_at(t);
            i64 best = 0;
            float value = from[0] + edge[y];
            for (i64 p = 1; p < x.L; ++p) {
                const float other = from[p] + edge[p * S + y];
                if (other > value) value = other, best = p;
            }
            path[t - 1] = static_cast<int>(y = best);
        }
        return score;
    }

    // The first order, from the states alone that a best path can go on from.
    double some_states(const Trellis& x, int* path) {
        const i64 S = x.S, n = x.n;
        alpha_.resize(static_cast<std::size_t>(n * S));
        states_.clear(), first_.assign(1, 0);
        float* alpha = alpha_.data();
        double taken = 0.0;
        for (i64 y = 0; y < S; ++y) alpha[y] = x.start[y] + x.unary[y];
        for (i64 t = 0; t < n; ++t) {
            float* now = alpha + t * S;
            if (t > 0) {
                step_of_some(x, t, now);
                add(now, x.unary + t * S, S);
            }
            if (x.beam > 0 && x.beam < x.L) {
                beam_.begin(x.beam);
                beam_.see(now, S);
                beam_.cut(now, S);
            }
            if (t > 0 && t % RESCALE == 0) taken += rescale(now, S);
            if (t + 1 == n) break;
            const PairWeights& next = x.pairs_at(t + 1);
            if (next.followers) {
                keep_by_group(now, next, x.L);
            } else {
                float bound = NEVER;
                if (next.bounded()) bound = rounded_down(largest_sum(now, next.least.data(), S), next);
                places_above(now, next.bounded() ? next.most.data() : nullptr, bound, S, states_);
            }
            first_.push_back(static_cast<i64>(states_.size()));
        }
        const double score = best_end(x, path) + taken;
        i64 y = path[n - 1];
        for (i64 t = n - 1; t > 0; --t) {
            const float *from = alpha + (t - 1) * S, *edge = x.edge_at(t);
            i64 best = 0;
            float value = NEVER;
            for (i64 i = first_[t - 1]; i < first_[t]; ++i) {
                const i64 p = states_[i];
                const float other = from[p] + edge[p * S + y];
                if (other > value) value = other, best = p;
            }
            path[t - 1] = static_cast<int>(y = best);
        }
        return score;
    }

    static float rounded_down(float bound, const PairWeights& pairs) {
        return bound - FLOAT_ROUNDING * (std::abs(bound) + pairs.largest);
    }

    // The states that a best path can go on from, each compared with those of its group.
    void keep_by_group(const float* now, const PairWeights& next, i64 L) {
        const std::int32_t* group = next.followers->group.data();
        bounds_.assign(next.followers->few.size(), NEVER);
        for (i64 y = 0; y < L; ++y) bounds_[group[y]] = std::max(bounds_[group[y]], now[y] + next.allowed[y]);
        for (float& bound : bounds_) bound = rounded_down(bound, next);
        for (i64 y = 0; y < L; ++y)
            if (now[y] > NEVER && !(now[y] + next.most[y] < bounds_[group[y]]))
                states_.push_back(static_cast<std::int32_t>(y));
    }

    // The step to token t from the states that were kept; of those with few followers to these alone.
    void step_of_some(const Trellis& x, i64 t, float* now) {
        const PairWeights& pairs = x.pairs_at(t);
        const float *from = now - x.S, *edge = pairs.edge.data();
        if (!pairs.followers) return best_step_of(from, states_, first_[t - 1], edge, x.S, now);
        const Followers& followers = *pairs.followers;
        wide_.clear();
        for (i64 i = first_[t - 1]; i < first_[t]; ++i)
            if (followers.few[followers.group[states_[i]]].empty()) wide_.push_back(states_[i]);
        best_step_of(from, wide_, 0, edge, x.S, now);
        for (i64 i = first_[t - 1]; i < first_[t]; ++i) {
            const i64 p = states_[i];
            for (const std::int32_t y : followers.few[followers.group[p]])
                now[y] = std::max(now[y], from[p] + edge[p * x.S + y]);
        }
    }

    // The last label of the best path, and its score.
    double best_end(const Trellis& x, int* path) const {
        const float* last = alpha_.data() + (x.n - 1) * x.S;
        i64 y = 0;
        for (i64 c = 1; c < x.L; ++c)
            if (last[c] + x.stop[c] > last[y] + x.stop[y]) y = c;
        path[x.n - 1] = static_cast<int>(y);
        return static_cast<double>(last[y] + x.stop[y]);
    }

    // States are pairs (y_{t−1}, y_t): alpha[t] is a matrix L × S, and from the first token there is one row.
    double second_order(const Trellis& x, int* path) {
        const i64 S = x.S, L = x.L, n = x.n, size = L * S;
        const bool beam = x.beam > 0 && x.beam < size;
        alpha_.resize(static_cast<std::size_t>(n * size));
        from_.resize(static_cast<std::size_t>(L));
        float* alpha = alpha_.data();
        double taken = 0.0;
        for (i64 y = 0; y < S; ++y) alpha[y] = x.start[y] + x.unary[y];
        for (i64 t = 1; t < n; ++t) {
            float *now = alpha + t * size, *before = now - size;
            const float *edge = x.edge_at(t), *unary = x.unary + t * S;
            if (beam) {
                step_of_beam(x, t, before, now);
            } else {
                for (i64 p = 0; p < L; ++p) {
                    float* row = now + p * S;
                    if (t == 1) {
                        for (i64 y = 0; y < S; ++y) row[y] = before[p];
                    } else {
                        for (i64 q = 0; q < L; ++q) from_[q] = before[q * S + p];
                        best_step(from_.data(), L, x.triple + p * S, size, S, row);
                    }
                    add(row, edge + p * S, S);
                    add(row, unary, S);
                }
            }
            if (t % RESCALE == 0) taken += rescale(now, size);
        }
        const float* last = alpha + (n - 1) * size;
        i64 y = 0, p = 0;
        float value = last[0] + x.stop[0];
        for (i64 c = 0; c < L; ++c)  // the lowest last label first, then the lowest before it
            for (i64 q = 0; q < L; ++q)
                if (last[q * S + c] + x.stop[c] > value) value = last[q * S + c] + x.stop[c], y = c, p = q;
        path[n - 1] = static_cast<int>(y);
        path[n - 2] = static_cast<int>(p);
        for (i64 t = n - 1; t > 1; --t) {
            const float *before = alpha + (t - 1) * size, *triple = x.triple + p * S + y;
            i64 best = 0;
            float top = before[p] + triple[0];
            for (i64 q = 1; q < L; ++q) {
                const float other = before[q * S + p] + triple[q * L * S];
                if (other > top) top = other, best = q;
            }
            y = p;
            path[t - 2] = static_cast<int>(p = best);
        }
        return static_cast<double>(value) + taken;
    }

    // The step to token t of the second order, from the states alone that the beam kept; and what it keeps now.
    void step_of_beam(const Trellis& x, i64 t, const float* before, float* now) {
        const i64 S = x.S, L = x.L;
        std::fill(now, now + L * S, NEVER);
        if (t == 1) {
            states_.resize(static_cast<std::size_t>(L));
            for (i64 p = 0; p < L; ++p) states_[p] = static_cast<std::int32_t>(p);
        }
        reached_.assign(static_cast<std::size_t>(L), 0);
        for (const std::int32_t state : states_) {
            const i64 p = state % S;
            const Eight from = all_eight(before[state]);
            const float* triple = t == 1 ? nullptr : x.triple + (state / S * L + p) * S;
            float* row = now + p * S;
            reached_[p] = 1;
            for (i64 c = 0; c < S; c += BLOCK) {
                const Eight u = triple ? from + load_eight(triple + c) : from, old = load_eight(row + c);
                store_eight(row + c, u > old ? u : old);
            }
        }
        beam_.begin(x.beam);
        for (i64 p = 0; p < L; ++p) {
            if (!reached_[p]) continue;
            float* row = now + p * S;
            add(row, x.edge_at(t) + p * S, S);
            add(row, x.unary + t * S, S);
            beam_.see(row, S);
        }
        states_.clear();
        for (i64 p = 0; p < L; ++p) {
            if (!reached_[p]) continue;
            float* row = now + p * S;
            beam_.cut(row, S);
            for (i64 y = 0; y < L; ++y)
                if (row[y] > NEVER) states_.push_back(static_cast<std::int32_t>(p * S + y));
        }
    }

    static void add(float* to, const float* from, i64 S) {
        for (i64 c = 0; c < S; c += BLOCK) store_eight(to + c, load_eight(to + c) + load_eight(from + c));
    }

    Beam beam_;
    std::vector<float> alpha_, from_, bounds_;
    std::vector<std::int32_t> states_, wide_;
    std::vector<i64> first_;  // token → where its states begin
    std::vector<char> reached_;
};

}  // namespace perceptive
