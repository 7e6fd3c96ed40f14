// The journal of a run: how long each v_k survived, and every update as it was, so that every v_k can be had again
// and can vote.
//
// Voter 0 is the initial vector; step k makes voter k + 1 of voter k. survival[k] is m_k, the number of examples that
// voter k predicted. What a step holds is up to the payload: RowUpdates (tasks/row_updates.hpp) for rows of features,
// WeightUpdates (sequence/weight_updates.hpp) for sequences, SupportUpdates (dual/dual_journal.hpp) for kernels. A
// payload has
//
//   close_step(a)        the entries added since the last step are one update, v ← a·v + Σ entries
//   merge_steps(keep)    keep[k] says whether voter k stays; the steps from one that stays to the next become one
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace perceptive {

// What payloads share whose steps are sums: those of merged steps lie side by side.
struct SummedTerms {
    std::vector<i64> first{0};  // terms of step k: [first[k], first[k + 1])

    void end_step(std::size_t terms) { first.push_back(static_cast<i64>(terms)); }
    void merge_steps(const std::vector<char>& keep) {
        std::vector<i64> begins{0};
        for (std::size_t k = 1; k < keep.size(); ++k)
            if (keep[k]) begins.push_back(first[k]);
        first = std::move(begins);
    }
};

template <class Updates>
struct Journal {
    i64 max_voters = 0;            // 0: all
    std::vector<i64> survival{0};  // one per voter, the present one included
    Updates updates = {};

    i64 voters() const { return static_cast<i64>(survival.size()); }
    void predicted() { ++survival.back(); }

    void close_step(double a) {
        updates.close_step(a);
        survival.push_back(0);
        if (max_voters > 0 && voters() > 2 * max_voters + 2) thin();
    }

    // Keep the max_voters longest survivors (the earlier of equals) and the present voter; merge the steps between.
    // A voter that has erred survives no longer, so thinning now and then gives the same as thinning once at the end.
    void thin() {
        if (max_voters <= 0 || voters() <= max_voters) return;
        std::vector<i64> order(static_cast<std::size_t>(voters() - 1));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return survival[a] > survival[b]; });
        order.resize(static_cast<std::size_t>(std::min<i64>(max_voters, voters() - 1)));
        std::vector<char> keep(survival.size(), 0);
        for (const i64 k : order) keep[k] = 1;
        keep.back() = 1;
        updates.merge_steps(keep);
        std::vector<i64> kept{keep[0] ? survival[0] : 0};
        for (std::size_t k = 1; k < survival.size(); ++k)
            if (keep[k]) kept.push_back(survival[k]);
        survival = std::move(kept);
    }
};

}  // namespace perceptive
