// Ranking: the best of a list is to have the highest score, δ = x_ℓ − x_ℓ̂ (Collins 2002; the notes' findBest, §3).
//
// A list is a run of rows; each row has a grade, and a pair (i, j) with grade_i > grade_j is to have v·x_i > v·x_j.
// Which pairs count is `Pairs`: the best of the best against the best of the rest; the pair that is most wrong; or all
// that are wrong, whose mean is δ. A list makes at most one update. See reference/ranking.py, which this follows step
// by step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "linear.hpp"
#include "tasks/row_updates.hpp"

namespace perceptive {

enum class Pairs { best, worst, all };

constexpr double NO_LENGTH = 1e-12;  // of the terms it is the sum of: a δ that is shorter is their rounding

// The training data beside the rows.
struct Lists {
    const i64* starts;      // list t is the rows [starts[t], starts[t + 1])
    const double* grades;   // one per row
    const double* gains;    // c of the costs c_i − c_j, one per row, or null: every cost is 1
    const double* weights;  // one per list, or null
    Pairs pairs;
};

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
        if (pairs == Pairs::all) {
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
    ClosestPair closest_pair_;
};

// Σ share·x over some rows, as one row.
template <class Rows>
class RowCombination {
  public:
    static constexpr bool dense = Rows::Row::dense;
    using Row = std::conditional_t<dense, DenseRow<double>, SparseRow<double>>;

    explicit RowCombination(const Rows& rows) : rows_(rows) {}

    void clear() {
        index_.clear();
        value_.assign(dense ? static_cast<size_t>(rows_.d) : 0, 0.0);
    }

    // Indices rise in every row, so that adding one is a merge.
    void add(i64 row, double share) {
        const auto x = rows_[row];
        if constexpr (dense) {
            for (i64 p = 0; p < x.size(); ++p) value_[p] += share * static_cast<double>(x.value(p));
        } else {
            merged_index_.clear();
            merged_value_.clear();
            size_t at = 0;
            for (i64 p = 0; p < x.size(); ++p) {
                const i64 j = x.index(p);
                while (at < index_.size() && index_[at] < j) keep(at++);
                const double change = share * static_cast<double>(x.value(p));
                const bool shared = at < index_.size() && index_[at] == j;
                merged_index_.push_back(static_cast<std::int32_t>(j));
                merged_value_.push_back(shared ? value_[at++] + change : change);
            }
            while (at < index_.size()) keep(at++);
            index_.swap(merged_index_);
            value_.swap(merged_value_);
        }
    }

    Row row() const {
        if constexpr (dense)
            return {value_.data(), rows_.d};
        else
            return {value_.data(), index_.data(), static_cast<i64>(index_.size())};
    }

  private:
    void keep(size_t at) {
        merged_index_.push_back(index_[at]);
        merged_value_.push_back(value_[at]);
    }

    const Rows& rows_;
    std::vector<std::int32_t> index_, merged_index_;
    std::vector<double> value_, merged_value_;
};

// δ of a list: the shares of its candidates in δ, and δ as one row.
template <bool Averaged, class W, class Rows>
struct ListDelta {
    static constexpr bool has_sigma = false, keeps_norm = true, has_romma = false;

    const Weights<W>& w;
    const Options& options;
    Progress& run;
    RowJournal<W>* journal;
    const Rows& rows;
    i64 t, begin;  // the list, and its first row
    const std::vector<double>& shares;
    const std::vector<double>& scales;  // 1, or 1/‖x‖
    typename RowCombination<Rows>::Row row;
    double floor;  // a δ that is no longer is the rounding of its terms

    double squared_norm() const {
        const double length2 = perceptive::squared_norm(row);
        return (length2 > floor * floor ? length2 : 0.0) + options.delta * options.delta;
    }

    void apply(const Step& step) const {
        axpy(w.z, step.tau, row);
        if constexpr (Averaged) axpy(w.sum, run.clock * step.tau, row);
        run.touched += (Averaged ? 2 : 1) * row.size();
        if (w.ids) w.ids[t] += step.tau * options.delta;
        if (journal) record(step.tau);
    }

  private:
    __attribute__((noinline)) void record(double tau) const {
        for (i64 j = 0; j < static_cast<i64>(shares.size()); ++j)
            if (shares[j] != 0.0)
                journal->updates.add_entry(0, journal->updates.store(rows[begin + j], begin + j),
                                           tau * shares[j] * scales[j], 0.0);
    }
};

template <class W, bool Averaged>
struct RankTask {
    Weights<W> w;
    const Options& options;
    Lists lists;
    Progress& run;
    RowJournal<W>* journal;
    std::vector<double> scores = {}, scales = {};
    ListPairs pairs = {};

    bool far() const { return w.bytes() > (i64{1} << 19); }

    // One round of the game on list t.
    template <class Rows>
    void round(const Rows& rows, i64 t, RowCombination<Rows>& sum) {
        const i64 begin = lists.starts[t], n = lists.starts[t + 1] - begin;
        const double weight = lists.weights ? lists.weights[t] : 1.0;
        const double* grades = lists.grades + begin;
        if (weight == 0.0 || all_equal(grades, n)) return;  // no pair to learn from
        const Round<Averaged, RowJournal<W>> round{options.rule, options.average_mistakes, run, journal};
        round.begin();

        score(rows, begin, n);
        const double extra = w.ids ? options.delta * w.ids[t] : 0.0;
        const double* gains = lists.gains ? lists.gains + begin : nullptr;
        const bool wanted = pairs.choose(options.rule, lists.pairs, grades, scores.data(), gains, n, extra);
        if (pairs.mistake()) round.mistake(pairs.lead);
        if (!wanted) return;
        const std::vector<double>& shares = pairs.shares;
        double m = extra, terms = 0.0;
        sum.clear();
        for (i64 j = 0; j < n; ++j) {
            if (shares[j] == 0.0) continue;
            const double share = shares[j] * scales[j];
            m += shares[j] * scores[j];
            sum.add(begin + j, share);
            // a single pair of equals differs by 0 exactly
            if (lists.pairs == Pairs::all) terms += std::abs(share) * std::sqrt(squared_norm(rows[begin + j]));
        }
        const ListDelta<Averaged, W, Rows> delta{w,      options, run,       journal,          rows, t, begin,
                                                 shares, scales,  sum.row(), NO_LENGTH * terms};
        round.update(m, pairs.cost, weight, delta);
    }

  private:
    template <class Rows>
    void score(const Rows& rows, i64 begin, i64 n) {
        scores.resize(static_cast<size_t>(n));
        scales.resize(static_cast<size_t>(n));
        const bool ask_early = far();
        for (i64 j = 0; j < n; ++j) {
            const auto x = rows[begin + j];
            if constexpr (!Rows::Row::dense) {
                if (ask_early && begin + j + 1 < rows.n) {
                    const auto next = rows[begin + j + 1];
                    for (i64 p = 0; p < next.size(); ++p) __builtin_prefetch(w.z + next.index(p));
                }
            }
            scales[j] = row_scale_of(x, options.normalize);
            scores[j] = scales[j] * dot(w.z, x);
        }
    }
};

// Play the lists in the given order. The rows of a list lie side by side, where the hardware sees them coming.
template <class Rows, class Task>
void play_lists(const Rows& rows, const i64* order, i64 count, Task& task) {
    RowCombination<Rows> sum(rows);
    for (i64 at = 0; at < count; ++at) {
        if (at + 2 < count) rows.prefetch_bounds(task.lists.starts[order[at + 2]]);
        if (at + 1 < count) rows.template prefetch_row<false>(task.lists.starts[order[at + 1]]);
        task.round(rows, order[at], sum);
    }
}

// out[t] = the smallest margin of list t under these scores, whichever of the best is chosen; ∞ where none is better.
inline void list_margins(const double* scores, const i64* starts, i64 n_lists, const double* grades, Pairs pairs,
                         double* out) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ClosestPair closest_pair;
    for (i64 t = 0; t < n_lists; ++t) {
        const i64 begin = starts[t], end = starts[t + 1];
        out[t] = infinity;
        if (all_equal(grades + begin, end - begin)) continue;
        if (pairs != Pairs::best) {
            const RankPair pair = closest_pair(grades + begin, scores + begin, nullptr, end - begin, pairs);
            out[t] = scores[begin + pair.better] - scores[begin + pair.worse];
            continue;
        }
        const double top = *std::max_element(grades + begin, grades + end);
        double weakest = infinity, rival = -infinity;
        for (i64 j = begin; j < end; ++j)
            if (grades[j] == top)
                weakest = std::min(weakest, scores[j]);
            else
                rival = std::max(rival, scores[j]);
        out[t] = weakest - rival;
    }
}

// Of the pairs of each list: the shortest ‖x_i − x_j‖² above 0, the longest, and how many are 0.
template <class Rows>
void list_lengths(const Rows& rows, const i64* starts, i64 n_lists, const double* grades, Pairs pairs, bool normalize,
                  double* shortest, double* longest, i64* equal) {
    RowCombination<Rows> delta(rows);
    for (i64 t = 0; t < n_lists; ++t) {
        const i64 begin = starts[t], end = starts[t + 1];
        const double top = *std::max_element(grades + begin, grades + end);
        double low = std::numeric_limits<double>::infinity(), high = 0.0;
        equal[t] = 0;
        for (i64 i = begin; i < end; ++i) {
            if (pairs == Pairs::best && grades[i] != top) continue;
            const double scale = row_scale_of(rows[i], normalize);
            for (i64 j = begin; j < end; ++j) {
                if (!(grades[i] > grades[j])) continue;
                delta.clear();
                delta.add(i, scale);
                delta.add(j, -row_scale_of(rows[j], normalize));
                const double length2 = squared_norm(delta.row());
                if (length2 > 0.0)
                    low = std::min(low, length2);
                else
                    ++equal[t];
                high = std::max(high, length2);
            }
        }
        shortest[t] = std::isinf(low) ? 0.0 : low;
        longest[t] = high;
    }
}

}  // namespace perceptive
