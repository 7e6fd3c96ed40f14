// Semi-Markov decoding (Sarawagi & Cohen 2004): beside the chain of labels every segment has a score of its own.
//
//   score(y) = the chain's score + Σ over the segments [b, e) of type X of segment[b][e − b][X]
//
// Labels are B-X, I-X and O. A segment is a label B-X and those of I-X that follow it; none is longer than `longest`.
// end[t][y] is the best score of a path whose last segment ends at t with label y: O(n·(L² + longest·types)).
#pragma once

#include <algorithm>
#include <vector>

#include "sequence/trellis.hpp"

namespace perceptive {

struct SegmentTypes {
    i64 longest = 0;                 // 0: no segments, a plain chain
    std::vector<int> begin, inside;  // labels B-X and I-X of each type; inside −1: there is none
    int outside = -1;                // label O, or −1

    bool on() const { return longest > 0; }
    i64 size() const { return static_cast<i64>(begin.size()); }
};

// What a segment of the present sentence scores: of type X, from b, of length l.
struct SegmentScores {
    const float* scores = nullptr;  // n × longest × types
    i64 longest = 0;                // no segment of this sentence is longer
    i64 types = 0;
    float at(i64 b, i64 length, i64 X) const { return scores[(b * longest + length - 1) * types + X]; }
};

// each(type, begin, end) for the segments of a path that keeps to the scheme
template <class Each>
void each_segment(const SegmentTypes& types, const int* path, i64 n, Each each) {
    for (i64 t = 0; t < n; ++t)
        for (i64 X = 0; X < types.size(); ++X) {
            if (path[t] != types.begin[X]) continue;
            i64 end = t + 1;
            while (end < n && path[end] == types.inside[X]) ++end;
            each(X, t, end);
        }
}

class SegmentViterbi {
  public:
    // The best ways to begin and to end segments at each token.
    void forward(const Trellis& x, const SegmentTypes& types, SegmentScores scores) {
        const i64 n = x.n, L = x.L;
        const double never = static_cast<double>(NEVER);
        end_.assign(static_cast<std::size_t>(n * L), never);
        length_.assign(static_cast<std::size_t>(n * L), 0);
        enter_.assign(static_cast<std::size_t>(n * L), never);
        from_.assign(static_cast<std::size_t>(n * L), -1);
        for (i64 t = 0; t < n; ++t) {
            for (i64 X = 0; X < types.size(); ++X) enter(x, t, types.begin[X]);
            if (types.outside >= 0) {
                enter(x, t, types.outside);
                close(at(x, t, types.outside), enter_[at(x, t, types.outside)], 1);
            }
            for (i64 X = 0; X < types.size(); ++X) {
                const int B = types.begin[X], I = types.inside[X];
                close(at(x, t, B), enter_[at(x, t, B)] + static_cast<double>(scores.at(t, 1, X)), 1);
                if (I < 0) continue;
                // Of equal paths the lower one wins, seen from the end: the shorter segment where B-X comes before I-X.
                double inner = 0.0;
                for (i64 length = 2; length <= std::min(scores.longest, t + 1); ++length) {
                    const i64 b = t - length + 1;
                    inner +=
                        unary(x, b + 1, I) + (length > 2 ? static_cast<double>(x.edge_at(b + 2)[I * x.S + I]) : 0.0);
                    const double score = enter_[at(x, b, B)] + static_cast<double>(x.edge_at(b + 1)[B * x.S + I]) +
                                         inner + static_cast<double>(scores.at(b, length, X));
                    close(at(x, t, I), score, length, B > I);
                }
            }
        }
    }
    // Of the paths that begin a segment (or O) with label y at t, what the best scores up to and with y.
    double entered(const Trellis& x, i64 t, i64 y) const { return enter_[at(x, t, y)]; }

    // The best path into `path`; its score, −∞ if there is none (`path` is then all 0).
    double operator()(const Trellis& x, const SegmentTypes& types, SegmentScores scores, int* path) {
        const i64 n = x.n, L = x.L;
        const double never = static_cast<double>(NEVER);
        if (n == 0) return 0.0;
        forward(x, types, scores);
        i64 y = 0;
        double best = never;
        for (i64 c = 0; c < L; ++c) {
            const double score = end_[at(x, n - 1, c)] + static_cast<double>(x.stop[c]);
            if (score > best) best = score, y = c;
        }
        if (!(best > never)) {
            std::fill(path, path + n, 0);
            return best;
        }
        for (i64 t = n - 1; t >= 0;) {
            const i64 length = length_[at(x, t, y)], b = t - length + 1;
            i64 first = y;
            if (length > 1)
                for (i64 X = 0; X < types.size(); ++X)
                    if (types.inside[X] == y) first = types.begin[X];
            for (i64 s = b + 1; s <= t; ++s) path[s] = static_cast<int>(y);
            path[b] = static_cast<int>(first);
            y = from_[at(x, b, first)];
            t = b - 1;
        }
        return best;
    }

  private:
    static std::size_t at(const Trellis& x, i64 t, i64 y) { return static_cast<std::size_t>(t * x.L + y); }
    static double unary(const Trellis& x, i64 t, i64 y) { return static_cast<double>(x.unary[t * x.S + y]); }

    // The best way to begin a segment with label y at t.
    void enter(const Trellis& x, i64 t, i64 y) {
        const std::size_t here = at(x, t, y);
        if (t == 0) {
            enter_[here] = static_cast<double>(x.start[y]) + unary(x, 0, y);
            return;
        }
        const float* edge = x.edge_at(t);
        for (i64 p = 0; p < x.L; ++p) {
            const double score = end_[at(x, t - 1, p)] + static_cast<double>(edge[p * x.S + y]);
            if (score > enter_[here]) enter_[here] = score, from_[here] = static_cast<int>(p);
        }
        enter_[here] += unary(x, t, y);
    }

    void close(std::size_t here, double score, i64 length, bool longer_wins = false) {
        if (score > end_[here] || (longer_wins && score == end_[here] && score > static_cast<double>(NEVER)))
            end_[here] = score, length_[here] = length;
    }

    std::vector<double> end_, enter_;
    std::vector<i64> length_;
    std::vector<int> from_;
};

}  // namespace perceptive
