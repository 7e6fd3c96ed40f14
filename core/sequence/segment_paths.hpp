// More than the best segmentation: the k best ones, and for each token and label the best one through it.
#pragma once

#include <algorithm>
#include <vector>

#include "sequence/paths.hpp"
#include "sequence/segments.hpp"

namespace perceptive {

// Σ of the potentials along a path and of its segments' scores, in double.
inline double path_score(const Trellis& x, const SegmentTypes& types, SegmentScores scores, const int* path) {
    double total = path_score(x, path);
    each_segment(types, path, x.n,
                 [&](i64 X, i64 begin, i64 end) { total += static_cast<double>(scores.at(begin, end - begin, X)); });
    return total;
}

// The k best segmentations, the best first; fewer if there are not so many. Equal ones in colexicographic order. The
// additions are those of SegmentViterbi, so that the first is its path. O(n·k·(L² + longest·types)).
class SegmentKBest {
  public:
    std::vector<ScoredPath> operator()(const Trellis& x, const SegmentTypes& types, SegmentScores scores, i64 k) {
        if (x.n == 0) return {{{}, 0.0}};
        k_ = k;
        enter_.clear(), end_.clear();
        std::vector<i64> begun(static_cast<std::size_t>(x.L), -1), gone_on(begun);  // label → type that it is B or I of
        for (i64 X = 0; X < types.size(); ++X) {
            begun[types.begin[X]] = X;
            if (types.inside[X] >= 0) gone_on[types.inside[X]] = X;
        }
        for (i64 t = 0; t < x.n; ++t) {
            for (i64 y = 0; y < x.L; ++y) {
                if (begun[y] >= 0 || y == types.outside) enter(x, t, y);
                enter_.close();
            }
            for (i64 y = 0; y < x.L; ++y) {
                sources_.clear();
                if (y == types.outside) add(enter_, t * x.L + y, 1, 0.0, 0.0, 0.0);
                if (begun[y] >= 0)
                    add(enter_, t * x.L + y, 1, static_cast<double>(scores.at(t, 1, begun[y])), 0.0, 0.0);
                if (gone_on[y] >= 0) go_on(x, types, scores, t, gone_on[y]);
                take(end_, 0.0);
                end_.close();
            }
        }
        return paths(x, types, scores, gone_on);
    }

  private:
    struct Way {
        double score;
        std::int32_t from, rank;  // the label before a segment, or the length of one; which of the ways there
    };
    // Sorted ways for each token and label, side by side.
    struct Lists {
        std::vector<Way> ways;
        std::vector<i64> first{0};
        void clear() { ways.clear(), first.assign(1, 0); }
        void close() { first.push_back(static_cast<i64>(ways.size())); }
    };
    // A sorted list that ways are taken from: [at, end) are still to come, and score a, b and c more here.
    struct Source {
        std::int32_t from;
        i64 begin, at, end;
        double a, b, c, score;
    };

    void add(const Lists& lists, i64 list, i64 from, double a, double b, double c) {
        const i64 begin = lists.first[list], end = lists.first[list + 1];
        if (begin == end) return;
        const double score = lists.ways[begin].score + a + b + c;
        if (score > static_cast<double>(NEVER))
            sources_.push_back({static_cast<std::int32_t>(from), begin, begin, end, a, b, c, score});
        from_ = &lists;
    }

    // The k best of the sources, the first of equals; `more` is added to each.
    void take(Lists& to, double more) {
        for (i64 taken = 0; taken < k_ && !sources_.empty(); ++taken) {
            std::size_t best = 0;
            for (std::size_t i = 1; i < sources_.size(); ++i)
                if (sources_[i].score > sources_[best].score) best = i;
            Source& source = sources_[best];
            if (!(source.score + more > static_cast<double>(NEVER))) return;
            to.ways.push_back({source.score + more, source.from, static_cast<std::int32_t>(source.at - source.begin)});
            if (++source.at < source.end)
                source.score = from_->ways[source.at].score + source.a + source.b + source.c;
            else
                source.score = static_cast<double>(NEVER);
        }
    }

    static double unary(const Trellis& x, i64 t, i64 y) { return static_cast<double>(x.unary[t * x.S + y]); }

    // Ways to begin a segment with label y at t.
    void enter(const Trellis& x, i64 t, i64 y) {
        if (t == 0) {
            const double score = static_cast<double>(x.start[y]) + unary(x, 0, y);
            if (score > static_cast<double>(NEVER)) enter_.ways.push_back({score, -1, 0});
            return;
        }
        sources_.clear();
        const float* edge = x.edge_at(t);
        for (i64 p = 0; p < x.L; ++p) add(end_, (t - 1) * x.L + p, p, static_cast<double>(edge[p * x.S + y]), 0.0, 0.0);
        take(enter_, unary(x, t, y));
    }

    // Segments of two tokens or more that end at t; of equals the lower path comes first, seen from the end.
    void go_on(const Trellis& x, const SegmentTypes& types, SegmentScores scores, i64 t, i64 X) {
        const int B = types.begin[X], I = types.inside[X];
        double inner = 0.0;
        for (i64 length = 2; length <= std::min(scores.longest, t + 1); ++length) {
            const i64 b = t - length + 1;
            inner += unary(x, b + 1, I) + (length > 2 ? static_cast<double>(x.edge_at(b + 2)[I * x.S + I]) : 0.0);
            add(enter_, b * x.L + B, length, static_cast<double>(x.edge_at(b + 1)[B * x.S + I]), inner,
                static_cast<double>(scores.at(b, length, X)));
        }
        if (B > I) std::reverse(sources_.begin(), sources_.end());
    }

    std::vector<ScoredPath> paths(const Trellis& x, const SegmentTypes& types, SegmentScores scores,
                                  const std::vector<i64>& gone_on) {
        sources_.clear();
        for (i64 y = 0; y < x.L; ++y) add(end_, (x.n - 1) * x.L + y, y, static_cast<double>(x.stop[y]), 0.0, 0.0);
        Lists last;
        take(last, 0.0);
        std::vector<ScoredPath> found;
        for (const Way& way : last.ways) {
            ScoredPath path{std::vector<int>(static_cast<std::size_t>(x.n)), 0.0};
            i64 y = way.from, rank = way.rank;
            for (i64 t = x.n - 1; t >= 0;) {
                const Way& segment = end_.ways[end_.first[t * x.L + y] + rank];
                const i64 b = t - segment.from + 1;
                std::fill(path.labels.begin() + b, path.labels.begin() + t + 1, static_cast<int>(y));
                if (segment.from > 1) path.labels[b] = types.begin[gone_on[y]];
                const Way& before = enter_.ways[enter_.first[b * x.L + path.labels[b]] + segment.rank];
                y = before.from, rank = before.rank;
                t = b - 1;
            }
            path.score = path_score(x, types, scores, path.labels.data());
            found.push_back(std::move(path));
        }
        return found;
    }

    i64 k_ = 1;
    Lists enter_, end_;
    const Lists* from_ = nullptr;
    std::vector<Source> sources_;
};

// best[t·L + y] = the score of the best segmentation with y_t = y, −∞ if there is none. O(n·(L² + longest·types)).
inline std::vector<double> max_marginals(const Trellis& x, const SegmentTypes& types, SegmentScores scores) {
    const i64 n = x.n, L = x.L;
    const double never = static_cast<double>(NEVER);
    std::vector<double> best(static_cast<std::size_t>(n * L), never);
    if (n == 0) return best;
    SegmentViterbi ahead;
    ahead.forward(x, types, scores);
    // behind[t][y]: what is best added behind a segment that ends at t with y; rest[y]: from one that begins here with
    // y
    std::vector<double> behind(best), rest(static_cast<std::size_t>(L)), through;
    for (i64 y = 0; y < L; ++y) behind[(n - 1) * L + y] = static_cast<double>(x.stop[y]);
    const auto raise = [](double& to, double value) { to = std::max(to, value); };
    for (i64 b = n - 1; b >= 0; --b) {
        std::fill(rest.begin(), rest.end(), never);
        if (types.outside >= 0) rest[types.outside] = behind[b * L + types.outside];
        for (i64 X = 0; X < types.size(); ++X) {
            const int B = types.begin[X], I = types.inside[X];
            raise(rest[B], static_cast<double>(scores.at(b, 1, X)) + behind[b * L + B]);
            if (I < 0) continue;
            through.clear();
            double inner = 0.0;
            for (i64 length = 2; length <= std::min(scores.longest, n - b); ++length) {
                const i64 last = b + length - 1;
                const float* edge = x.edge_at(last);
                inner += static_cast<double>(x.unary[last * x.S + I]) +
                         static_cast<double>(edge[(length == 2 ? B : I) * x.S + I]);
                through.push_back(inner + static_cast<double>(scores.at(b, length, X)) + behind[last * L + I]);
                raise(rest[B], through.back());
            }
            double longer = never;  // the best of the segments that reach at least so far
            for (i64 length = static_cast<i64>(through.size()) + 1; length >= 2; --length) {
                raise(longer, through[length - 2]);
                raise(best[(b + length - 1) * L + I], ahead.entered(x, b, B) + longer);
            }
        }
        for (i64 y = 0; y < L; ++y) raise(best[b * L + y], ahead.entered(x, b, y) + rest[y]);
        if (b == 0) break;
        const float* edge = x.edge_at(b);
        for (i64 y = 0; y < L; ++y) {
            if (rest[y] == never) continue;
            const double more = rest[y] + static_cast<double>(x.unary[b * x.S + y]);
            for (i64 p = 0; p < L; ++p) raise(behind[(b - 1) * L + p], static_cast<double>(edge[p * x.S + y]) + more);
        }
    }
    return best;
}

}  // namespace perceptive
