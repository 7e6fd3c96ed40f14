// The pairs (i, j) of a list with grade_i > grade_j that a ranker is to set right: which of them are wrong, and their
// shares in δ. See reference/ranking.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rows.hpp"
#include "rules.hpp"

namespace perceptive {

enum class Pairs { best, worst, all };

// A pair of rows, counted within the list; none where no candidate is better than another.
struct RankPair {
    i64 better = -1, worse = -1;
};

// The pair of a list with the smallest margin, costs (if any) taken off; the first of equals.
class ClosestPair {
  public:
    RankPair operator()(const double* grades, const double* scores, const double* gains, i64 n, Pairs pairs) {
        const auto key = [&](i64 j) { return gains ? scores[j] - gains[j] : scores[j]; };
        return pairs == Pairs::best ? best_against_rest(grades, scores, n, key) : of_all(grades, n, key);
    }

  private:
    template <class Key>
    static RankPair best_against_rest(const double* grades, const double* scores, i64 n, Key key) {
        const double top = *std::max_element(grades, grades + n);
        RankPair found;
        for (i64 j = 0; j < n; ++j) {
            if (grades[j] == top) {
                if (found.better < 0 || scores[j] > scores[found.better]) found.better = j;
            } else if (found.worse < 0 || key(j) > key(found.worse)) {
                found.worse = j;
            }
        }
        return found;
    }

    // In the order of the grades, the best first: the weakest so far is the closest superior of all that follow.
    template <class Key>
    RankPair of_all(const double* grades, i64 n, Key key) {
        order_.resize(static_cast<size_t>(n));
        std::iota(order_.begin(), order_.end(), i64{0});
        std::stable_sort(order_.begin(), order_.end(), [&](i64 a, i64 b) { return grades[a] > grades[b]; });
        RankPair found;
        double smallest = 0.0;
        i64 weakest = -1;
        for (i64 begin = 0, end; begin < n; begin = end) {  // levels of equal grade
            for (end = begin; end < n && grades[order_[end]] == grades[order_[begin]]; ++end) {
                if (weakest < 0) continue;
                const double margin = key(weakest) - key(order_[end]);
                if (found.better < 0 || margin < smallest) {
                    smallest = margin;
                    found = {weakest, order_[end]};
                }
            }
            for (i64 at = begin; at < end; ++at)
                if (weakest < 0 || key(order_[at]) < key(weakest)) weakest = order_[at];
        }
        return found;
    }

    std::vector<i64> order_;
};

// How many of some whole numbers below n are smaller than another, as they come and go (Fenwick 1994).
class SmallerCount {
  public:
    explicit SmallerCount(std::size_t n) : sums_(n + 1) {}
    void add(std::size_t i, i64 by) {
        for (++i; i < sums_.size(); i += i & -i) sums_[i] += by;
    }
    i64 below(std::size_t i) const {
        i64 sum = 0;
        for (; i > 0; i &= i - 1) sum += sums_[i];
        return sum;
    }

  private:
    std::vector<i64> sums_;
};

inline bool all_equal(const double* grades, i64 n) {
    return std::all_of(grades, grades + n, [&](double grade) { return grade == grades[0]; });
}

// The pairs of one list under its scores: the closest of them, and those that the rule learns from.
class ListPairs {
  public:
    std::vector<double> shares;  // of each candidate in δ, where there is something to learn
    double lead = 0.0;           // of the closest pair
    double cost = 0.0;           // mean cost of the pairs that are learned from

    bool mistake() const { return errs(lead); }

    // Returns whether the rule wants to learn; `extra` is what the id feature of the list adds to every margin.
    bool choose(const Rule& rule, Pairs pairs, const double* grades, const double* scores, const double* gains, i64 n,
                double extra) {
        const bool hinge = rule.name != RuleName::perceptron, costs = gains && hinge;
        RankPair closest = closest_pair_(grades, scores, nullptr, n, pairs);
        lead = scores[closest.better] - scores[closest.worse] + extra;
        const auto wanted = [&](i64 i, i64 j) {
            const double m = scores[i] - scores[j] + extra;
            return rule.wants_update(m, errs(m), costs ? gains[i] - gains[j] : 1.0);
        };
        shares.assign(static_cast<size_t>(n), 0.0);
        cost = 0.0;
        i64 count = 0;
        const auto take = [&](i64 i, i64 j) {
            const double step = gains && !hinge ? gains[i] - gains[j] : 1.0;
            shares[i] += step;
            shares[j] -= step;
            cost += costs ? gains[i] - gains[j] : 1.0;
            ++count;
        };
        if (pairs == Pairs::all && !gains && n > FEW && std::all_of(scores, scores + n, finite)) {
            count = count_wrong(grades, scores, n, wanted);
            cost = static_cast<double>(count);
        } else if (pairs == Pairs::all) {
            for (i64 i = 0; i < n; ++i)
                for (i64 j = 0; j < n; ++j)
                    if (grades[i] > grades[j] && wanted(i, j)) take(i, j);
        } else {
            if (costs) closest = closest_pair_(grades, scores, gains, n, pairs);
            if (wanted(closest.better, closest.worse)) take(closest.better, closest.worse);
        }
        if (count == 0) return false;
        for (double& share : shares) share /= static_cast<double>(count);
        cost /= static_cast<double>(count);
        return true;
    }

  private:
    static constexpr i64 FEW = 32;  // candidates, whose pairs are soon looked at one by one
    static bool finite(double score) { return std::isfinite(score); }

    // All wrong pairs into the shares, and how many they are, in O(n log n). What is wanted with a margin is wanted
    // with a smaller one, and rounding keeps the order of differences: by rising score, the j that are wrong beside i
    // are the last ones, fewer with every i; and the i that are wrong beside j are the first ones, more with every j.
    template <class Wanted>
    i64 count_wrong(const double* grades, const double* scores, i64 n, Wanted wanted) {
        std::vector<double> levels(grades, grades + n);
        std::sort(levels.begin(), levels.end());
        levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
        std::vector<std::size_t> level(static_cast<std::size_t>(n));
        for (i64 i = 0; i < n; ++i)
            level[i] =
                static_cast<std::size_t>(std::lower_bound(levels.begin(), levels.end(), grades[i]) - levels.begin());
        std::vector<i64> rising(static_cast<std::size_t>(n));
        std::iota(rising.begin(), rising.end(), i64{0});
        std::sort(rising.begin(), rising.end(), [&](i64 a, i64 b) { return scores[a] < scores[b]; });
        SmallerCount worse(levels.size()), better(levels.size());
        for (i64 i = 0; i < n; ++i) worse.add(level[i], 1);
        i64 count = 0, first = 0, end = 0;
        for (const i64 at : rising) {
            for (; first < n && !wanted(at, rising[first]); ++first) worse.add(level[rising[first]], -1);
            for (; end < n && wanted(rising[end], at); ++end) better.add(level[rising[end]], 1);
            const i64 wins = worse.below(level[at]), losses = end - better.below(level[at] + 1);
            shares[at] = static_cast<double>(wins - losses);
            count += wins;
        }
        return count;
    }

    ClosestPair closest_pair_;
};

}  // namespace perceptive
